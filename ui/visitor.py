"""Who is looking at the page: the browser's or the user's owner key, and the language of the interface."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Protocol

from assistant.api.access.caller import ANYBODY, Caller
from assistant.schema import Language

VISITOR_COOKIE = "advisor_visitor"
LANGUAGE_COOKIE = "advisor_language"
_KEY = re.compile(r"[A-Za-z0-9_-]{20,64}")


class Requested(Protocol):
    """What is read of a request, Starlette's or Gradio's."""

    @property
    def cookies(self) -> Mapping[str, str]:
        """Cookies by name."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers by lower-case name."""

    @property
    def query_params(self) -> Mapping[str, str]:
        """Parameters of the URL."""


def new_key() -> str:
    """A visitor's key that nobody can guess."""
    return secrets.token_urlsafe(24)


def visitor_key(cookies: Mapping[str, str]) -> str | None:
    """The key that the browser was given before."""
    key = cookies.get(VISITOR_COOKIE, "")
    return key if _KEY.fullmatch(key) else None


def owner(request: Requested) -> str:
    """Whose conversations these are: the signed-in user's, or else this browser's.

    A request that brings neither gets a key of its own, so that it never sees what belongs to others.
    """
    known = caller(request)
    return known.owner if known.is_authenticated else f"visitor:{visitor_key(request.cookies) or new_key()}"


def caller(request: Requested) -> Caller:
    """What whoever asks may do and read; anybody may all while access is off."""
    connection = getattr(request, "request", request)  # Gradio wraps Starlette's
    user = getattr(connection, "scope", {}).get("user")
    return user if isinstance(user, Caller) else ANYBODY


def may_edit(request: Requested) -> bool:
    """Whether whoever asks may change documents, and run evaluations."""
    return "documents:write" in caller(request).scopes


def language(request: Requested) -> Language:
    """Chosen in the URL or before, or else the browser's first that is spoken here."""
    for chosen in (request.query_params.get("lang"), request.cookies.get(LANGUAGE_COOKIE)):
        if chosen in ("zh", "en"):
            return "zh" if chosen == "zh" else "en"
    for part in request.headers.get("accept-language", "").lower().split(","):
        name = part.split(";")[0].strip()
        if name.startswith(("zh", "en")):
            return "zh" if name.startswith("zh") else "en"
    return "en"
