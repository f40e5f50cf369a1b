"""People in the web app: named by a trusted proxy's headers, or by an OIDC token that the proxy or a client sends."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers

from assistant.api.access.caller import CHALLENGE, ROLE_SCOPES, Caller, role_of
from assistant.api.problems import Refused
from assistant.api.settings import ServiceSettings

if TYPE_CHECKING:
    from jwt import PyJWKClient

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a public key only: a secret that is shared with the issuer is none of this program's business."""
LEEWAY_SECONDS = 30
_TIMEOUT_SECONDS = 10
_MAX_NAME = 200


class People:
    """Turns what names a user into a `Caller`."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings

    def of_headers(self, headers: Headers) -> Caller | None:
        """The user whom a trusted proxy names; None where it names nobody."""
        name = headers.get(self._settings.user_header, "").strip()
        if not 0 < len(name) <= _MAX_NAME:
            return None
        groups = headers.get(self._settings.groups_header, "")
        return self._caller(name, [group.strip() for group in groups.split(",") if group.strip()])

    def of_token(self, token: str) -> Caller:
        """The user whom an OIDC token names.

        Raises:
            Refused: 401 for a token that isn't valid, 503 where the issuer's keys can't be read.
        """
        import jwt

        settings = self._settings
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._keys.get_signing_key_from_jwt(token),
                algorithms=list(ALGORITHMS),
                audience=settings.oidc_audience,
                issuer=settings.oidc_issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWKClientConnectionError as error:
            raise Refused(503, "issuer_unavailable", "The issuer's keys can't be read. Try again later.") from error
        except (jwt.PyJWTError, ValueError) as error:
            raise Refused(
                401, "invalid_token", f"The token isn't valid: {error}. Sign in again.", headers=CHALLENGE
            ) from error
        name, groups = claims.get(settings.oidc_user_claim), claims.get(settings.oidc_groups_claim, [])
        if not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME:
            detail = f"The token has no claim {settings.oidc_user_claim}. Set ADVISOR_OIDC_USER_CLAIM."
            raise Refused(401, "invalid_token", detail, headers=CHALLENGE)
        return self._caller(name, [g for g in groups if isinstance(g, str)] if isinstance(groups, list) else [])

    def _caller(self, name: str, groups: Collection[str]) -> Caller:
        settings = self._settings
        role = role_of(groups, settings.listed("editor_groups"), settings.listed("admin_groups"))
        return Caller(f"user:{name}", role, ROLE_SCOPES[role], frozenset(groups))

    @cached_property
    def _keys(self) -> PyJWKClient:
        """The issuer's public keys, found as OpenID Connect Discovery 1.0 says, and kept for some minutes."""
        import httpx
        import jwt

        address = f"{self._settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            found = httpx.get(address, timeout=_TIMEOUT_SECONDS).raise_for_status().json()
            return jwt.PyJWKClient(str(found["jwks_uri"]), timeout=_TIMEOUT_SECONDS)
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise Refused(
                503, "issuer_unavailable", "The issuer's keys can't be found. Check ADVISOR_OIDC_ISSUER."
            ) from error
