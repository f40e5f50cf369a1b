"""Settings of the service, from the environment (prefix `ADVISOR_`): access, limits, addresses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from assistant.errors import InvalidInput

AccessMode = Literal["off", "keys", "header", "oidc"]


def _rate(text: str) -> str:
    from limits import parse

    if text:
        parse(text)
    return text


Rate = Annotated[str, AfterValidator(_rate)]


class ServiceSettings(BaseSettings):
    """All that can be set of the HTTP service. Lists are separated by commas."""

    model_config = SettingsConfigDict(
        env_prefix="ADVISOR_", env_ignore_empty=True, frozen=True, extra="ignore", use_attribute_docstrings=True
    )

    access: AccessMode = "off"
    """`off`; `keys`: API keys alone; `header`, `oidc`: API keys, and people whom a proxy or a token names."""
    trusted_proxies: str = ""
    """Addresses or networks of proxies whose `X-Forwarded-*` and user headers are believed."""
    user_header: str = "X-Forwarded-User"
    groups_header: str = "X-Forwarded-Groups"
    """What a trusted proxy calls the user and, separated by commas, their groups."""
    oidc_issuer: str = ""
    oidc_audience: str = ""
    """Whose bearer tokens are taken, and for whom they must be made out."""
    oidc_user_claim: str = "sub"
    oidc_groups_claim: str = "groups"
    editor_groups: str = ""
    admin_groups: str = ""
    """People of these groups are editors and admins; everybody else is a reader."""
    cors_origins: str = ""
    """Web pages of other origins that may call the API, as `https://HOST`."""
    rate_limit_key: Rate = "600/minute"
    rate_limit_address: Rate = "1200/minute"
    """Requests of one caller and of one address; empty for no limit. This machine has none while access is off."""
    max_request_bytes: int = Field(default=1_000_000, ge=1_000)
    max_upload_bytes: int = Field(default=1_000_000_000, ge=1_000)
    """Of one request: JSON, and uploads of several files."""

    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    """`info` writes a line for each request and each answer."""
    log_questions: bool = False
    """Whether logs hold what was asked, and the words of errors that may quote it."""
    shutdown_seconds: int = Field(default=30, ge=0)
    """How long answers may take to finish once the server is told to end."""
    reindex: tuple[str, ...] = ()
    """A JSON list of folders, files and web addresses that are indexed again while the server runs."""
    reindex_minutes: float = Field(default=60, gt=0)

    def listed(self, name: str) -> tuple[str, ...]:
        """The values of a list."""
        return tuple(part.strip() for part in getattr(self, name).split(",") if part.strip())


def load_service_settings() -> ServiceSettings:
    """Read the settings, and refuse those that would let people in whom nobody has checked.

    Raises:
        InvalidInput: a variable holds a value that isn't accepted, or one that is needed is missing.
    """
    try:
        settings = ServiceSettings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "ADVISOR_" + "_".join(str(part) for part in first["loc"]).upper()
        raise InvalidInput(f"{name} = {first['input']!r}: {first['msg']}. Correct or unset the variable.") from error
    if settings.access == "header" and not settings.listed("trusted_proxies"):
        raise InvalidInput(
            "ADVISOR_ACCESS=header needs ADVISOR_TRUSTED_PROXIES: the addresses of the proxies that name the user."
        )
    if settings.access == "oidc" and not (settings.oidc_issuer and settings.oidc_audience):
        raise InvalidInput("ADVISOR_ACCESS=oidc needs ADVISOR_OIDC_ISSUER and ADVISOR_OIDC_AUDIENCE.")
    return settings
