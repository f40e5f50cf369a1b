"""Conversations and feedback of several processes in PostgreSQL; backups of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.advisor import Advisor
from assistant.backup import create, restore
from assistant.conversations import Conversations
from assistant.errors import InvalidInput
from assistant.schema import Answer
from assistant.settings import Settings
from tests.service.postgres import binaries, postgres
from tests.service.serving import serving

FIRST = "64 张 H100 训 7B 模型、2T token 要多久？"
SECOND = "那换成 A100 呢？"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    programs = binaries()
    if programs is None:
        pytest.skip("PostgreSQL isn't installed: apt-get install postgresql")
    with postgres(programs) as running:
        yield running


@pytest.fixture
def settings(url: str, data: Path) -> Settings:
    return Settings.model_validate({"data_dir": data, "database_url": url})


def turn(conversation: str, number: int) -> Answer:
    return Answer(
        id=f"{conversation}-{number}",
        conversation_id=conversation,
        question=f"question {number}\0",
        language="en",
        status="answered",
        text="text \0 更多",
    )


def test_threads_and_processes_write_at_once(settings: Settings) -> None:
    opened = [Conversations(settings.database) for _ in range(4)]
    faults: list[Exception] = []

    def write(conversations: Conversations, number: int) -> None:
        try:
            conversations.add(turn("shared", number))
            conversations.rate(turn("rated", 1), "up", str(number), {}, owner="a")
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=write, args=(opened[n % 4], n)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert sorted(a.id for a in opened[0].answers("shared")) == sorted(f"shared-{n}" for n in range(20))
    assert len([f for f in opened[1].feedback() if f.answer.conversation_id == "rated"]) == 1
    for conversations in opened:
        conversations.close()


def test_a_backup_goes_to_sqlite_and_back(settings: Settings, tmp_path: Path) -> None:
    advisor = Advisor(settings)
    first = advisor.ask(FIRST)
    advisor.rate(first, "down", "why?", "")
    create(settings, tmp_path / "backup.tar.gz")
    alone = Advisor(Settings(data_dir=tmp_path / "alone"))
    restore(alone.settings, tmp_path / "backup.tar.gz", replace=False)
    second = alone.ask(SECOND, first.conversation_id)
    assert second.tool_runs[0].inputs["tokens"].value == 2e12
    create(alone.settings, tmp_path / "again.tar.gz")
    with pytest.raises(InvalidInput, match="--replace"):
        restore(settings.model_copy(update={"data_dir": tmp_path / "third"}), tmp_path / "again.tar.gz", replace=False)
    restore(settings.model_copy(update={"data_dir": tmp_path / "third"}), tmp_path / "again.tar.gz", replace=True)
    assert [a.id for a in advisor.conversations.answers(first.conversation_id)] == [first.id, second.id]
    kept = [f for f in advisor.conversations.feedback("down") if f.answer.id == first.id]
    assert [f.reason for f in kept] == ["why?"] and kept[0].created.tzinfo is not None
    assert advisor.ask(SECOND, first.conversation_id).status == "answered"


def test_two_servers_share_and_killing_one_loses_nothing(url: str, data: Path) -> None:
    with serving(data, ADVISOR_DATABASE_URL=url) as one, serving(data, ADVISOR_DATABASE_URL=url) as other:
        one.ready(), other.ready()
        first = one.post("/v1/ask", {"question": FIRST}).json()
        rated = one.post("/v1/feedback", feedback(first))
        assert rated.status_code < 300, rated.text
        second = other.post("/v1/ask", {"question": SECOND, "conversation_id": first["conversation_id"]}).json()
        assert second["tool_runs"][0]["inputs"]["tokens"]["value"] == 2e12
        one.process.kill()
        one.process.wait()
        third = other.post(
            "/v1/ask", {"question": "如果用 128 张呢？", "conversation_id": first["conversation_id"]}
        ).json()
        assert third["tool_runs"][0]["inputs"]["gpu_count"]["value"] == 128
    conversations = Conversations(Settings.model_validate({"database_url": url}).database)
    assert [a.id for a in conversations.answers(first["conversation_id"])] == [first["id"], second["id"], third["id"]]
    assert first["id"] in [f.answer.id for f in conversations.feedback("up")]
    conversations.close()


def feedback(answer: dict[str, str]) -> dict[str, str]:
    return {"answer_id": answer["id"], "conversation_id": answer["conversation_id"], "rating": "up"}


@pytest.mark.parametrize("address", ["nonsense", "postgresql+nothing://x/y"])
def test_an_address_that_is_none_is_said_in_a_line(address: str) -> None:
    with pytest.raises(InvalidInput, match="ADVISOR_DATABASE_URL"):
        Conversations(Settings.model_validate({"database_url": address}).database)
