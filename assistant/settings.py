"""Settings, from the environment (prefix `ADVISOR_`). Read once, by the composition root."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TypeVar

from platformdirs import user_data_path
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from assistant.errors import InvalidInput
from knowledge.documents.limits import Limits

_LIMITS = Limits()
SettingsKind = TypeVar("SettingsKind", bound=BaseSettings)


class Settings(BaseSettings):
    """All that can be set. `advisor doctor` shows the values in force."""

    model_config = SettingsConfigDict(env_prefix="ADVISOR_", env_ignore_empty=True, frozen=True)

    data_dir: Path = Field(default_factory=lambda: user_data_path("cloud-training-advisor", appauthor=False))
    """The folder of the store."""
    encoder: str = "default"
    """`default`, a sentence-transformers name or path, or `openai:URL#MODEL`."""
    max_question_characters: int = Field(default=8_000, ge=1)
    passages: int = Field(default=12, ge=1, le=100)
    """Passages that an answer is composed from."""
    coverage_threshold: float = Field(default=0.4, ge=0, le=1)
    """Calibrated probability below which the answer is `not_covered`."""
    max_bytes: int = Field(default=_LIMITS.max_bytes, ge=1)
    max_unpacked_bytes: int = Field(default=_LIMITS.max_unpacked_bytes, ge=1)
    max_pages: int = Field(default=_LIMITS.max_pages, ge=1)
    max_lines: int = Field(default=_LIMITS.max_lines, ge=1)
    max_characters: int = Field(default=_LIMITS.max_characters, ge=1)
    max_seconds: int = Field(default=_LIMITS.max_seconds, ge=1)
    """Of one document; a larger one is refused, and the refusal names the setting."""
    allow_private_urls: bool = False
    """Whether web pages of private networks may be indexed."""
    price_file: Path | None = None
    """A company's own prices (CSV or XLSX); its rows override the catalog's."""
    max_price_age_days: int = Field(default=180, ge=1)
    """Prices older than this are named in every answer that uses them."""

    @property
    def limits(self) -> Limits:
        """What one document may take at most."""
        return Limits(**{field.name: getattr(self, field.name) for field in fields(Limits)})


def load_settings() -> Settings:
    """Read the settings.

    Raises:
        InvalidInput: a variable holds a value that isn't accepted; the message names it.
    """
    return read_settings(Settings)


def read_settings(kind: type[SettingsKind]) -> SettingsKind:
    """Read settings of any kind from the environment.

    Raises:
        InvalidInput: a variable is missing, or holds a value that isn't accepted; the message names it.
    """
    try:
        return kind()
    except ValidationError as error:
        first = error.errors()[0]
        name = kind.model_config.get("env_prefix", "") + "_".join(str(part) for part in first["loc"]).upper()
        if first["type"] == "missing":
            raise InvalidInput(f"{name} is not set, and nothing works without it.") from error
        raise InvalidInput(f"{name} = {first['input']!r}: {first['msg']}. Correct or unset the variable.") from error
