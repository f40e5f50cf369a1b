"""API keys: made once, stored as a hash, limited in what they may do, read and how long they hold."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from assistant.api.access.caller import CHALLENGE, ROLE_SCOPES, Caller, Role, Scope
from assistant.api.database import Database, now
from assistant.api.problems import Refused
from assistant.errors import InvalidInput

PREFIX = "adv"
_KEY = re.compile(rf"{PREFIX}_([0-9a-f]{{12}})_([A-Za-z0-9_-]{{43}})")
_MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is stored of a key."""

    id: str
    name: str
    role: Role
    scopes: frozenset[Scope]
    groups: frozenset[str]
    created: datetime
    expires: datetime | None
    revoked: datetime | None

    @property
    def state(self) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= datetime.now(UTC) else "active"

    def caller(self) -> Caller:
        """Whoever holds the key."""
        return Caller(f"key:{self.id}", self.role, self.scopes, self.groups)


class Keys:
    """The stored keys."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        name: str,
        role: Role,
        *,
        scopes: Collection[Scope] = (),
        groups: Collection[str] = (),
        lifetime: timedelta | None = None,
    ) -> tuple[ApiKey, str]:
        """Make a key.

        Args:
            name: what it is for.
            role: what it may do at most.
            scopes: what it may do, out of its role's scopes; empty for all of them.
            groups: whose collections it may read, besides those for everybody.
            lifetime: until it expires; None: never.

        Returns:
            What is stored, and the key itself, which can't be shown again.

        Raises:
            InvalidInput: the name is empty or too long, or a scope goes beyond the role.
        """
        if not 0 < len(name.strip()) <= _MAX_NAME:
            raise InvalidInput(f"A key needs a name of 1 to {_MAX_NAME} characters that says what it is for.")
        beyond = set(scopes) - ROLE_SCOPES[role]
        if beyond:
            held = ", ".join(sorted(ROLE_SCOPES[role]))
            raise InvalidInput(f"The role {role} has no scope {', '.join(sorted(beyond))}. It has: {held}.")
        created = datetime.now(UTC)
        key = ApiKey(
            id=secrets.token_hex(6),
            name=name.strip(),
            role=role,
            scopes=frozenset(scopes) or ROLE_SCOPES[role],
            groups=frozenset(groups),
            created=created,
            expires=created + lifetime if lifetime is not None else None,
            revoked=None,
        )
        secret = secrets.token_urlsafe(32)
        self._database.insert(
            "api_keys",
            id=key.id,
            name=key.name,
            secret_hash=_hashed(secret),
            role=role,
            scopes=json.dumps(sorted(key.scopes)),
            group_names=json.dumps(sorted(key.groups), ensure_ascii=False),
            created=_iso(created),
            expires=_iso(key.expires) if key.expires else None,
        )
        return key, f"{PREFIX}_{key.id}_{secret}"

    def list(self) -> list[ApiKey]:
        """All keys, newest first."""
        return [_read(row) for row in self._database.rows("SELECT * FROM api_keys ORDER BY created DESC, id")]

    def revoke(self, key_id: str) -> None:
        """Make a key worthless from now on.

        Raises:
            InvalidInput: there is no such key.
        """
        changed = self._database.change(
            (
                "UPDATE api_keys SET revoked = coalesce(revoked, :now) WHERE id = :id",
                {"now": now(), "id": key_id},
            )
        )
        if not changed:
            raise InvalidInput(f"There is no key {key_id}. `advisor keys list` shows those that there are.")

    def caller(self, key: str) -> Caller:
        """Whoever holds this key.

        Raises:
            Refused: it isn't a key, or has expired or been revoked.
        """
        match = _KEY.fullmatch(key)
        rows = self._database.rows("SELECT * FROM api_keys WHERE id = :id", id=match[1]) if match else []
        if match is None or not rows or not hmac.compare_digest(rows[0]["secret_hash"], _hashed(match[2])):
            raise Refused(
                401, "invalid_key", "This key is not known here. `advisor keys create` makes one.", headers=CHALLENGE
            )
        found = _read(rows[0])
        if found.state != "active":
            raise Refused(
                401, f"{found.state}_key", f"The key {found.id} is {found.state}. Ask for a new one.", headers=CHALLENGE
            )
        return found.caller()


def is_key(token: str) -> bool:
    """Whether a bearer token is one of these keys, by its form."""
    return token.startswith(f"{PREFIX}_")


def _hashed(secret: str) -> str:
    """SHA-256: with 256 random bits there is nothing to guess, so a slow hash would only cost time."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _read(row: Mapping[str, Any]) -> ApiKey:
    return ApiKey(
        id=row["id"],
        name=row["name"],
        role=row["role"],
        scopes=frozenset(json.loads(row["scopes"])),
        groups=frozenset(json.loads(row["group_names"])),
        created=datetime.fromisoformat(row["created"]),
        expires=datetime.fromisoformat(row["expires"]) if row["expires"] else None,
        revoked=datetime.fromisoformat(row["revoked"]) if row["revoked"] else None,
    )


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="microseconds")
