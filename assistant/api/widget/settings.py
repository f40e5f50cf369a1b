"""Settings of the widget, from the environment (prefix `ADVISOR_WIDGET_`)."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from assistant.errors import InvalidInput

MIN_SECRET = 32


class WidgetSettings(BaseSettings):
    """All that can be set of the widget. Without origins there is no widget."""

    model_config = SettingsConfigDict(
        env_prefix="ADVISOR_WIDGET_", env_ignore_empty=True, frozen=True, extra="ignore", use_attribute_docstrings=True
    )

    origins: str = ""
    """Web pages that may show it, as `https://HOST[:PORT]`, separated by commas; empty: none."""
    secret: str = Field(default="", repr=False)
    """What hosts' back ends send in place of an API key, and what tokens are signed with; empty: API keys alone."""
    token_seconds: int = Field(default=900, ge=30, le=86_400)
    session_questions: int = Field(default=40, ge=1)
    """Of one token."""
    visitor_questions: int = Field(default=200, ge=1)
    address_questions: int = Field(default=1_000, ge=1)
    day_questions: int = Field(default=20_000, ge=1)
    """A day: of one visitor, of one address (a company's visitors may share one), and of all together."""
    visitor_rate: str = "10/minute"

    @property
    def allowed(self) -> frozenset[str]:
        """The origins."""
        return frozenset(part.strip().rstrip("/").lower() for part in self.origins.split(",") if part.strip())


def load_widget_settings() -> WidgetSettings:
    """Read the settings.

    Raises:
        InvalidInput: a variable holds a value that isn't accepted.
    """
    try:
        settings = WidgetSettings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "ADVISOR_WIDGET_" + "_".join(str(part) for part in first["loc"]).upper()
        raise InvalidInput(f"{name} = {first['input']!r}: {first['msg']}. Correct or unset the variable.") from error
    for origin in settings.allowed:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or f"{parts.scheme}://{parts.netloc}" != origin or not parts.hostname:
            raise InvalidInput(
                f"ADVISOR_WIDGET_ORIGINS: {origin!r} is no origin. Write https://HOST or https://HOST:PORT."
            )
    if settings.secret and len(settings.secret) < MIN_SECRET:
        raise InvalidInput(
            f"ADVISOR_WIDGET_SECRET has fewer than {MIN_SECRET} characters. `openssl rand -hex 32` makes one."
        )
    return settings
