"""Settings, from the environment (prefix `ADVISOR_`). Read once, by the composition root."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Literal, TypeVar

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from assistant.errors import InvalidInput
from knowledge.limits import Limits

_LIMITS = Limits()
SettingsKind = TypeVar("SettingsKind", bound=BaseSettings)


class Settings(BaseSettings):
    """All that can be set. `advisor doctor` shows the values in force."""

    model_config = SettingsConfigDict(
        env_prefix="ADVISOR_", env_ignore_empty=True, frozen=True, use_attribute_docstrings=True
    )

    data_dir: Path = Field(default_factory=lambda: user_data_path("cloud-training-advisor", appauthor=False))
    """The folder of the store."""
    database_url: SecretStr = SecretStr("")
    """PostgreSQL database of conversations, feedback, keys and the audit log, for several servers together; empty:
    SQLite in the data folder."""
    encoder: str = "default"
    """`default`, `adapter:PATH`, a sentence-transformers name or path, or `openai:URL#MODEL`."""
    max_question_characters: int = Field(default=8_000, ge=1)
    """A longer question is refused."""
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
    glossary: Path | None = None
    """A company's own words (CSV: concept, language, form, kind), beside the shipped ones."""
    allow_private_urls: bool = False
    """Whether web pages of private networks may be indexed."""
    model: str = ""
    """A chat model as `vendor:name` (openai, anthropic, ollama, deepseek); empty: answers are composed without one."""
    model_base_url: str | None = None
    """Of an OpenAI-compatible server, or of the vendor's own kind where the vendor isn't openai."""
    model_api_key: SecretStr | None = None
    """Instead of the vendor's own variable."""
    model_api_key_file: Path | None = None
    """A file that holds the key alone."""
    model_temperature: float | None = Field(default=0.0, ge=0, le=2)
    """0 for the likeliest words; empty: the vendor's own."""
    model_context_tokens: int = Field(default=32_000, ge=4_000)
    """What the model can read; the conversation is shortened to fit."""
    model_max_output_tokens: int = Field(default=2_000, ge=64)
    """Of one model call."""
    model_max_steps: int = Field(default=6, ge=1, le=50)
    """Model calls for one question; the last must answer."""
    model_max_tokens: int = Field(default=100_000, ge=1_000)
    """Read and written for one question."""
    model_max_seconds: float = Field(default=120.0, gt=0)
    """For one question, waiting included."""
    model_silence_seconds: float = Field(default=45.0, gt=0)
    """After which a model that sends nothing has failed."""
    model_retries: int = Field(default=2, ge=0, le=10)
    """Of one failed call: refused for its rate, a server's error, a broken connection."""
    model_input_price: float | None = Field(default=None, ge=0)
    model_output_price: float | None = Field(default=None, ge=0)
    """USD for a million tokens, by your contract; both are needed for `usage.cost` and the limits on cost."""
    model_max_cost: float | None = Field(default=None, gt=0)
    """USD for one question."""
    model_max_tokens_per_day: int | None = Field(default=None, ge=1)
    model_max_cost_per_day: float | None = Field(default=None, gt=0)
    """Of all questions of a day, in UTC."""
    tracing_endpoint: str | None = None
    """Where OpenTelemetry spans go (OTLP over HTTP, "http://host:4318"); unset: none are made."""
    price_file: Path | None = None
    """A company's own prices (CSV or XLSX); its rows override the catalog's."""
    max_price_age_days: int = Field(default=180, ge=1)
    """Prices older than this are named in every answer that uses them."""
    contact: str = ""
    """Whom to ask when the documents don't answer, such as "#gpu-help, gpu-help@example.com"; stands in the answer."""
    contact_zh: str = ""
    """The same for answers in Chinese; unset: `contact`."""
    keep_questions: Literal["full", "redacted", "none"] = "full"
    """What the review list keeps of questions that were not answered or rated down: all of it, all but addresses,
    numbers and keys, or nothing but counts."""

    @property
    def database(self) -> str:
        """SQLAlchemy's URL of the database of conversations."""
        url = self.database_url.get_secret_value()
        for scheme in ("postgresql://", "postgres://"):
            if url.startswith(scheme):
                return f"postgresql+psycopg://{url.removeprefix(scheme)}"
        return url or f"sqlite:///{self.data_dir / 'conversations.sqlite3'}"

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
