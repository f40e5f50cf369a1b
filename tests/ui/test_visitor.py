"""Whose conversations, which language."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from assistant.api.access.caller import ROLE_SCOPES, Caller
from ui.visitor import LANGUAGE_COOKIE, VISITOR_COOKIE, caller, language, may_edit, new_key, owner


def request(headers: dict[str, str], query: str = "") -> Request:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "headers": raw, "query_string": query.encode(), "path": "/", "method": "GET"})


@pytest.mark.parametrize(
    ("headers", "query", "expected"),
    [
        ({"accept-language": "zh-CN,zh;q=0.9,en;q=0.8"}, "", "zh"),
        ({"accept-language": "en-GB,en;q=0.9,zh;q=0.8"}, "", "en"),
        ({"accept-language": "fr-FR,zh-TW;q=0.7,en;q=0.5"}, "", "zh"),
        ({"accept-language": "fr-FR"}, "", "en"),
        ({}, "", "en"),
        ({"accept-language": "en", "cookie": f"{LANGUAGE_COOKIE}=zh"}, "", "zh"),
        ({"cookie": f"{LANGUAGE_COOKIE}=zh"}, "lang=en", "en"),
        ({"cookie": f"{LANGUAGE_COOKIE}=xx", "accept-language": "zh"}, "lang=yy", "zh"),
    ],
)
def test_language(headers: dict[str, str], query: str, expected: str) -> None:
    assert language(request(headers, query)) == expected


def test_owner_is_the_browsers_key() -> None:
    key = new_key()
    assert owner(request({"cookie": f"{VISITOR_COOKIE}={key}"})) == f"visitor:{key}"


def test_owner_is_the_caller_where_access_is_on() -> None:
    asked = request({"cookie": f"{VISITOR_COOKIE}={new_key()}"})
    assert may_edit(asked) and caller(asked).groups is None
    asked.scope["user"] = Caller("user:ada", "reader", ROLE_SCOPES["reader"], frozenset({"staff"}))
    assert owner(asked) == "user:ada" and caller(asked).groups == {"staff"} and not may_edit(asked)


@pytest.mark.parametrize("cookie", ["", f"{VISITOR_COOKIE}=short", f"{VISITOR_COOKIE}=" + "x" * 80])
def test_without_a_sound_key_nothing_is_shared(cookie: str) -> None:
    asked = request({"cookie": cookie} if cookie else {})
    assert owner(asked) != owner(asked)
