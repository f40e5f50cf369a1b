from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.conversations import Conversations, new_conversation_id
from assistant.errors import ConversationNotFound
from assistant.schema import Answer
from knowledge.errors import StoreError


@pytest.fixture
def conversations(tmp_path: Path) -> Iterator[Conversations]:
    stored = Conversations.in_folder(tmp_path)
    yield stored
    stored.close()


def answer(conversation_id: str, question: str, turn: int = 1) -> Answer:
    return Answer(
        id=f"{conversation_id}-{turn}",
        conversation_id=conversation_id,
        question=question,
        language="en",
        status="not_covered",
        text="No.",
        state={"turn": turn},
    )


def test_turns_come_back_in_order_in_another_process(conversations: Conversations, tmp_path: Path) -> None:
    identity = new_conversation_id()
    for turn in (1, 2, 3):
        conversations.add(answer(identity, f"question {turn}", turn))
    other = Conversations.in_folder(tmp_path)
    assert [a.question for a in other.answers(identity)] == ["question 1", "question 2", "question 3"]
    assert other.last(identity).state == {"turn": 3}
    other.close()


def test_the_list_is_by_owner_and_newest_first(conversations: Conversations) -> None:
    first, second = new_conversation_id(), new_conversation_id()
    conversations.add(answer(first, "  how\nlong?  "), owner="a")
    conversations.add(answer(second, "how much?"), owner="a")
    conversations.add(answer(first, "and then?", 2), owner="a")
    assert [(c.id, c.title, c.turns) for c in conversations.summaries("a")] == [
        (first, "how long?", 2),
        (second, "how much?", 1),
    ]
    assert conversations.summaries("b") == []


def test_another_owner_finds_nothing(conversations: Conversations) -> None:
    identity = new_conversation_id()
    conversations.add(answer(identity, "secret"), owner="a")
    with pytest.raises(ConversationNotFound):
        conversations.last(identity, owner="b")
    with pytest.raises(ConversationNotFound):
        conversations.delete(identity, owner="b")
    assert conversations.last(identity, owner="a").question == "secret"


def test_a_deleted_conversation_is_gone(conversations: Conversations) -> None:
    identity = new_conversation_id()
    conversations.add(answer(identity, "x"))
    conversations.delete(identity)
    with pytest.raises(ConversationNotFound, match=identity):
        conversations.answers(identity)


def test_a_folder_that_cannot_hold_them_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "conversations.sqlite3").write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError, match=r"conversations\.sqlite3: file is not a database") as error:
        Conversations.in_folder(tmp_path)
    assert "\n" not in str(error.value)
