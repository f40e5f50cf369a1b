"""Keys and collections on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assistant.api.access.keys import Keys
from assistant.api.database import Database
from assistant.api.problems import Refused
from assistant.cli import main
from assistant.settings import Settings


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def run_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json"))


def test_a_key_is_made_listed_and_revoked(data: Path) -> None:
    made = run_json("keys", "create", "help desk", "--role", "editor", "--scope", "ask", "--group", "hr", "--days", "9")
    keys = Keys(Database(Settings(data_dir=data).database))
    assert keys.caller(made["key"]).groups == {"hr"}
    (listed,) = run_json("keys", "list")
    assert "key" not in listed and (listed["scopes"], listed["state"]) == (["ask"], "active")
    assert made["key"] not in run("keys", "list")
    with pytest.raises(Refused):
        keys.caller(made["key"][:-1] + "!")
    run("keys", "revoke", made["id"])
    assert run_json("keys", "list")[0]["state"] == "revoked"
    with pytest.raises(Refused, match="revoked"):
        keys.caller(made["key"])
    secret = made["key"][-20:]
    assert not any(secret.encode() in file.read_bytes() for file in data.iterdir())
    assert run_json("keys", "audit") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("keys", "revoke", "nope"), "There is no key nope"),
        (("keys", "create", "k", "--scope", "admin"), "role reader has no scope admin"),
        (("keys", "create", " "), "needs a name"),
        (("serve", "--host", "0.0.0.0"), "access control is off"),
    ],
)
def test_mistakes_are_said_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    assert message in run(*arguments, code=1)


def test_a_collection_is_indexed_and_shared(tmp_path: Path) -> None:
    file = tmp_path / "pay.md"
    file.write_text("# Pay\n\nSalaries are paid on the 25th.\n")
    run("index", str(file), "--collection", "hr", "--group", "hr")
    run("index", str(file))
    assert [row["collection"] for row in run_json("docs", "list")] == ["hr", "default"]
    run("docs", "share", "hr", "--group", "hr", "--group", "boards")
    assert run_json("docs", "collections")[1] == {"name": "hr", "groups": ["boards", "hr"], "documents": 1}
    assert "no collection 'nope'" in run("docs", "share", "nope", "--group", "x", code=1)
