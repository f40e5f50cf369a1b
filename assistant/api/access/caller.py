"""Who is calling, and what they may do and read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from fastapi import Request, Security
from fastapi.security import HTTPBearer, SecurityScopes

from assistant.api.problems import Refused

Role = Literal["reader", "editor", "admin"]
Scope = Literal["ask", "search", "tools", "documents:read", "documents:write", "admin"]
"""ask: questions, conversations, feedback. tools: calculators and catalog. admin: groups of collections, audit log."""

SCOPES: tuple[Scope, ...] = get_args(Scope)
_READER: frozenset[Scope] = frozenset({"ask", "search", "tools", "documents:read"})
ROLE_SCOPES: dict[Role, frozenset[Scope]] = {
    "reader": _READER,
    "editor": _READER | {"documents:write"},
    "admin": frozenset(SCOPES),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a key, a user whom a proxy or a token names, or anybody while access is off."""

    owner: str
    """Whose conversations: `key:ID`, `user:NAME`; empty while access is off."""
    role: Role
    scopes: frozenset[Scope]
    groups: frozenset[str] | None
    """Which collections may be read; None, while access is off: all."""

    @property
    def is_authenticated(self) -> bool:
        """Whether it is known who this is; False while access is off."""
        return self.groups is not None

    @property
    def identity(self) -> str:
        """Starlette's name for `owner`."""
        return self.owner


def role_of(groups: Collection[str], editors: Collection[str], admins: Collection[str]) -> Role:
    """The role that a user's groups give."""
    if any(group in admins for group in groups):
        return "admin"
    return "editor" if any(group in editors for group in groups) else "reader"


_BEARER = HTTPBearer(auto_error=False, description="An API key of `advisor keys create`, or an OIDC token.")


def _current(request: Request, needed: SecurityScopes, _shown: Annotated[Any, Security(_BEARER)]) -> Caller:
    caller = request.scope.get("user")
    if not isinstance(caller, Caller):
        raise Refused(401, "unauthenticated", NO_KEY, headers=CHALLENGE)
    for scope in needed.scopes:
        if scope not in caller.scopes:
            raise Refused(
                403, "forbidden", f"This needs the scope {scope}, which {caller.owner} does not have. Ask an admin."
            )
    return caller


def requires(scope: Scope) -> Any:
    """A dependency that gives the `Caller`, or refuses one without the scope.

    Raises:
        Refused: 401 for nobody known, 403 without the scope.
    """
    return Security(_current, scopes=[scope])


CHALLENGE = {"www-authenticate": "Bearer"}
NO_KEY = "No key was sent. Send `Authorization: Bearer KEY`; `advisor keys create` makes one."


ANYBODY = Caller("", "admin", frozenset(SCOPES), None)
"""Every caller while access is off."""
