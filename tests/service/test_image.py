"""The image: its steps run in a clean folder, and the files that describe it say what the program understands."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from assistant.api.settings import ServiceSettings
from assistant.settings import Settings
from tests.service.serving import ROOT, environment, serving_with

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
KNOWN = {f"ADVISOR_{name.upper()}" for kind in (Settings, ServiceSettings) for name in kind.model_fields}
OF_A_SERVICE = {
    "build", "image", "environment", "ports", "volumes", "depends_on", "stop_grace_period", "restart", "read_only",
    "tmpfs", "cap_drop", "security_opt", "healthcheck",
}  # fmt: skip
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def filled(text: str) -> str:
    """With the values that variables have when only the password is set."""
    return VARIABLE.sub(lambda found: found[3] if found[2] == "-" else "secret", text)


def test_compose_has_the_form_of_the_specification() -> None:
    assert set(COMPOSE) == {"services", "volumes"}
    for service in COMPOSE["services"].values():
        assert set(service) <= OF_A_SERVICE
        assert all(isinstance(value, str) for value in service["environment"].values())
        for volume in service["volumes"]:
            source, target = filled(volume).removesuffix(":ro").rsplit(":", 1)
            assert target.startswith("/") and (source in COMPOSE["volumes"] or source.startswith("./"))
        for other, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"} and "healthcheck" in COMPOSE["services"][other]
    assert filled(COMPOSE["services"]["advisor"]["ports"][0]) == "127.0.0.1:7860:7860"


def test_compose_sets_what_the_program_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {name: filled(value) for name, value in COMPOSE["services"]["advisor"]["environment"].items()}
    assert set(values) <= KNOWN
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    database = COMPOSE["services"]["database"]["environment"]
    assert Settings().database == (
        f"postgresql+psycopg://{database['POSTGRES_USER']}:secret@database/{database['POSTGRES_DB']}"
    )
    assert ServiceSettings().reindex == ("/documents",) and ServiceSettings().access == "keys"
    grace = int(COMPOSE["services"]["advisor"]["stop_grace_period"].removesuffix("s"))
    assert grace > ServiceSettings().shutdown_seconds


def test_dockerfile_runs_the_script_and_sets_what_the_program_reads() -> None:
    assert "RUN /source/deploy/install.sh /opt/advisor\n" in DOCKERFILE
    assert set(re.findall(r"(ADVISOR_\w+)=", DOCKERFILE)) <= KNOWN
    assert "\nUSER advisor\n" in DOCKERFILE and os.access(ROOT / "deploy" / "install.sh", os.X_OK)
    kept = {
        line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[0] == "!"
    }
    assert all((ROOT / name).exists() for name in kept)


@pytest.mark.long
def test_the_steps_make_a_program_that_answers(tmp_path: Path) -> None:
    place = tmp_path / "advisor"
    subprocess.run([ROOT / "deploy" / "install.sh", place], cwd=tmp_path, check=True)
    installed = {"XDG_CACHE_HOME": str(place / "cache"), "HOME": str(tmp_path / "nobody")}
    done = subprocess.run(
        [place / "bin" / "advisor", "keys", "create", "--help"],
        env=environment(tmp_path / "data", installed),
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert b"Usage" in done.stdout
    with serving_with([str(place / "bin" / "advisor")], tmp_path / "data", **installed) as server:
        answer = server.ready().post("/v1/ask", {"question": "怎么防止云上训练的账单失控？"}).json()
    assert answer["status"] == "answered" and answer["citations"]
    assert str(place) in answer["citations"][0]["location"]
