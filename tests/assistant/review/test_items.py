"""What gets on the review list, and what is kept of it."""

from __future__ import annotations

import pytest

from assistant.advisor import Advisor
from assistant.conversations import Conversations
from assistant.review.items import ItemNotFound
from assistant.settings import Settings

UNKNOWN = "Who approves the Lindenbaum cluster's maintenance window?"
KNOWN = "When is a spot instance taken back?"


def kinds(advisor: Advisor) -> list[tuple[str, str]]:
    return [(item.kind, item.question) for item in advisor.reviews.items(["open"])]


def test_questions_without_an_answer_collect_and_the_same_one_once(advisor: Advisor) -> None:
    assert advisor.ask(UNKNOWN).status == "not_covered"
    assert advisor.ask(KNOWN).status == "answered"
    assert advisor.ask(UNKNOWN.lower().replace("?", " ?"), owner="slack:C1").status == "not_covered"
    [item] = advisor.reviews.items()
    assert (item.kind, item.asked, item.surfaces) == ("not_covered", 2, ["slack", "terminal"])
    assert item.before and item.state == "open"


def test_what_was_asked_for_and_given_is_not_on_the_list(advisor: Advisor) -> None:
    first = advisor.ask("How long does it take to move 40 TB?")
    assert first.status == "needs_input"
    assert kinds(advisor) == [("needs_input", "How long does it take to move 40 TB?")]
    assert advisor.ask("over 500 Mbps", first.conversation_id).status == "answered"
    assert kinds(advisor) == []


def test_a_thumb_down_puts_a_question_on_the_list_with_its_reasons(advisor: Advisor) -> None:
    first = advisor.ask("40 TB over 500 Mbps, how many days?")
    answer = advisor.ask("and with a 2 Gbps line?", first.conversation_id)
    advisor.rate(answer, "down", "too slow", "a")
    advisor.rate(answer, "down", "wrong line", "b")
    [item] = advisor.reviews.items()
    assert item.kind == "down" and sorted(item.reasons) == ["too slow", "wrong line"]
    assert item.turns == [first.question, answer.question] and item.before == answer.text
    advisor.rate(answer, "up", "", "a")
    advisor.rate(answer, "up", "", "b")
    assert advisor.reviews.items() == []


def test_a_question_that_fails_again_after_it_was_done_is_open_again(advisor: Advisor) -> None:
    advisor.ask(UNKNOWN)
    advisor.reviews.set_state(advisor.reviews.items()[0], "done")
    assert advisor.reviews.items(["open"]) == []
    advisor.ask(UNKNOWN)
    [item] = advisor.reviews.items(["open"])
    assert item.asked == 2
    advisor.reviews.set_state(item, "done")
    assert advisor.reviews.items(["open"]) == []


def test_items_are_found_by_the_start_of_an_id(advisor: Advisor) -> None:
    answer = advisor.ask(UNKNOWN)
    assert advisor.reviews.find(answer.id[:6]).question == UNKNOWN
    for wrong in ("", "nope"):
        with pytest.raises(ItemNotFound):
            advisor.reviews.find(wrong)


@pytest.mark.parametrize(
    ("keep", "question"), [("redacted", "Who approves [mail] for the Lindenbaum?"), ("none", None)]
)
def test_what_is_kept_is_a_setting(advisor: Advisor, keep: str, question: str | None) -> None:
    private = Advisor(Settings.model_validate({"data_dir": advisor.settings.data_dir, "keep_questions": keep}))
    private.encoder, private.store = advisor.encoder, advisor.store  # type: ignore[misc]
    answer = private.ask("Who approves li@example.com for the Lindenbaum?")
    assert answer.status == "not_covered"
    private.rate(answer, "down", "", "a")
    assert [item.question for item in private.reviews.items()] == ([question] if question else [])
    [entry] = private.journal.entries()
    assert entry.question == question
    [rated] = private.conversations.feedback()
    assert "li@example.com" not in rated.answer.model_dump_json()
    private.conversations.close()


def test_answers_that_are_not_kept_are_not_counted(advisor: Advisor) -> None:
    advisor.journaled = False
    advisor.ask(UNKNOWN)
    assert advisor.journal.entries() == []


def test_the_list_is_there_in_another_process(advisor: Advisor) -> None:
    advisor.ask(UNKNOWN)
    from assistant.review.items import Reviews

    other = Conversations(advisor.settings.database)
    assert [item.question for item in Reviews(other, "full").items()] == [UNKNOWN]
    other.close()


@pytest.mark.parametrize(
    ("question", "line"),
    [(UNKNOWN, "Ask a person: #gpu-help"), ("林登集群的维护窗口由谁审批？", "可以问人：算力服务台")],
)
def test_a_contact_stands_in_the_answer_when_it_is_no(advisor: Advisor, question: str, line: str) -> None:
    settings = Settings(data_dir=advisor.settings.data_dir, contact="#gpu-help", contact_zh="算力服务台")
    helped = Advisor(settings)
    helped.encoder, helped.store = advisor.encoder, advisor.store  # type: ignore[misc]
    no = helped.ask(question)
    assert no.status == "not_covered" and no.text.endswith(f"\n\n{line}")
    assert line not in helped.ask(KNOWN).text
    assert line not in advisor.ask(question).text
    helped.conversations.close()
