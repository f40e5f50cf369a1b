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


def test_a_turn_can_be_asked_anew(conversations: Conversations) -> None:
    identity = new_conversation_id()
    for turn in (1, 2, 3):
        conversations.add(answer(identity, f"question {turn}", turn), owner="a")
    with pytest.raises(ConversationNotFound):
        conversations.truncate(identity, 1, owner="b")
    assert conversations.truncate(identity, 1, owner="a")
    conversations.add(answer(identity, "another", 4), owner="a")
    assert [a.question for a in conversations.answers(identity)] == ["question 1", "another"]
    assert not conversations.truncate(identity, 0, owner="a")
    assert not conversations.exists(identity)


def test_a_title_is_changed_by_its_owner_alone(conversations: Conversations) -> None:
    identity = new_conversation_id()
    conversations.add(answer(identity, "x"), owner="a")
    with pytest.raises(ConversationNotFound):
        conversations.rename(identity, "stolen", owner="b")
    conversations.rename(identity, "  a new\ntitle " + "y" * 100, owner="a")
    assert conversations.summaries("a")[0].title.startswith("a new title y")


def test_all_of_one_owner_are_deleted_and_no_other(conversations: Conversations) -> None:
    first, second, other = (new_conversation_id() for _ in range(3))
    for identity, owner in ((first, "a"), (second, "a"), (other, "b")):
        conversations.add(answer(identity, "x"), owner=owner)
    assert conversations.delete_all("a") == 2
    assert conversations.summaries("a") == [] and len(conversations.summaries("b")) == 1


def test_feedback_keeps_the_answer_and_the_last_opinion(conversations: Conversations, tmp_path: Path) -> None:
    identity = new_conversation_id()
    rated = answer(identity, "x")
    conversations.add(rated, owner="a")
    conversations.rate(rated, "up", "", {"program": "1"}, owner="a")
    conversations.rate(rated, "down", "wrong price", {"program": "1"}, owner="a")
    conversations.rate(rated, "up", "", {"program": "1"}, owner="b")
    conversations.delete(identity)
    other = Conversations.in_folder(tmp_path)
    assert [(f.rating, f.reason, f.answer, f.versions) for f in other.feedback("down")] == [
        ("down", "wrong price", rated, {"program": "1"})
    ]
    assert len(other.feedback()) == 2
    other.close()
