"""Tokens of the widget: signed by this service for one visitor of one origin, and worthless soon after."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from assistant.api.database import Database
from assistant.api.problems import Refused

_ALGORITHM = "HS256"
_AUDIENCE = "advisor-widget"
_NEEDED = ("exp", "iat", "aud", "sub", "jti", "origin")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whoever holds a token."""

    owner: str
    """Whose conversations: `widget:` and a hash of the host and of its name for the visitor."""
    session: str
    """Of the token itself."""
    origin: str
    groups: frozenset[str] | None
    """Which collections may be read: those of the key that the token was exchanged for."""


class Tokens:
    """Signs and reads tokens."""

    def __init__(self, database: Database, secret: str, lifetime: timedelta) -> None:
        """`secret` is the operator's; with an empty one, a random one is kept in the database."""
        self._database = database
        self._given = secret
        self._kept: str | None = None
        self.lifetime = lifetime

    def issue(self, host: str, visitor: str, origin: str, groups: frozenset[str] | None) -> str:
        """A token for the visitor of a host's page."""
        import jwt

        at = datetime.now(UTC)
        claims = {
            "aud": _AUDIENCE,
            "sub": hashlib.sha256(f"{host}\0{visitor}".encode()).hexdigest()[:32],
            "jti": secrets.token_urlsafe(12),
            "origin": origin,
            "groups": sorted(groups) if groups is not None else None,
            "iat": at,
            "exp": at + self.lifetime,
        }
        return jwt.encode(claims, self._secret, algorithm=_ALGORITHM)

    def read(self, token: str, origin: str) -> Visitor:
        """Whose token it is.

        Raises:
            Refused: 401 `expired_token` or `invalid_token`; 403 when it was made out for another origin.
        """
        import jwt

        try:
            claims: Mapping[str, Any] = jwt.decode(
                token, self._secret, algorithms=[_ALGORITHM], audience=_AUDIENCE, options={"require": list(_NEEDED)}
            )
        except jwt.ExpiredSignatureError:
            raise Refused(
                401, "expired_token", "The token has expired. Fetch a new one from the host's page."
            ) from None
        except jwt.InvalidTokenError:
            raise Refused(401, "invalid_token", "This token wasn't made here, or was changed.") from None
        if claims["origin"] != origin:
            raise Refused(403, "wrong_origin", f"The token is for {claims['origin']}, not for {origin}.")
        groups = claims["groups"]
        return Visitor(
            owner=f"widget:{claims['sub']}",
            session=claims["jti"],
            origin=origin,
            groups=frozenset(groups) if groups is not None else None,
        )

    @property
    def _secret(self) -> str:
        """Hashed, so that what a host's back end knows is not what signs."""
        if self._given:
            return hashlib.sha256(f"sign\0{self._given}".encode()).hexdigest()
        if self._kept is None:
            self._database.insert("widget_secret", id=1, secret=secrets.token_hex(32))  # the first one stays
            self._kept = str(self._database.rows("SELECT secret FROM widget_secret WHERE id = 1")[0]["secret"])
        return self._kept
