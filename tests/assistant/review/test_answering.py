"""The list is worked off on the command line, and by script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from assistant.advisor import Advisor
from assistant.cli import main
from assistant.review.answering import answer_item, ask_again, key_points
from assistant.review.suite import suite
from tests.assistant.review.questions import QUESTIONS


def run(*arguments: str, code: int = 0, text: str | None = None) -> Result:
    result = CliRunner().invoke(main, list(arguments), input=text)
    assert result.exit_code == code, result.output
    return result


def run_json(*arguments: str, code: int = 0, text: str | None = None) -> Any:
    return json.loads(run(*arguments, "--json", code=code, text=text).stdout)


def test_one_question_on_the_command_line(advisor: Advisor, data: Path, tmp_path: Path) -> None:
    question, text = QUESTIONS[0]
    assert run_json("ask", question)["status"] == "not_covered"
    [item] = run_json("review", "list")
    assert question in run("review", "show", item["id"][:8]).stdout
    answered = run_json("review", "answer", item["id"][:8], "--text", "-", text=text)
    assert answered["changed"] and answered["state"] == "answered"
    assert run_json("ask", question)["citations"][0]["document_id"] == answered["document_id"]
    assert run_json("review", "list") == []
    run("review", "done", item["id"])
    assert [one["state"] for one in run_json("review", "list", "--state", "all")] == ["done"]
    run("review", "done", "--undo", item["id"])
    assert [one["id"] for one in run_json("review", "list", "--state", "answered")] == [item["id"]]
    stats = run_json("review", "stats", "--csv", str(tmp_path / "days.csv"))
    assert (
        stats["by_status"] == {"not_covered": 1, "answered": 1}
        and (tmp_path / "days.csv").read_text().count("\n") == 31
    )
    exported = tmp_path / "suite.jsonl"
    run("review", "export", str(exported))
    result = run("eval", "run", str(exported), "--json", "--fail-under", "pass=1")
    assert len(json.loads(result.stdout)["results"]) == 1
    assert run_json("review", "stats")["questions"] == 2  # evaluations aren't counted


def test_a_document_that_does_not_answer_leaves_the_question_open(advisor: Advisor, tmp_path: Path) -> None:
    advisor.ask(QUESTIONS[4][0])
    item = advisor.reviews.items()[0]
    other = tmp_path / "other.md"
    other.write_text("# Colours\n\nThe walls of the canteen are green since the spring.\n", "utf-8")
    outcome = answer_item(advisor, item, file=other)
    assert not outcome.changed and advisor.reviews.items(["open"])[0].file == f"review-{item.id[:8]}-other.md"
    with pytest.raises(Exception, match="nothing to export"):
        suite(advisor.reviews.items())


def test_key_points_are_figures_and_names_that_the_answer_says() -> None:
    quote = "The Lindenbaum cluster is down on the 3rd from 22:00, says NOC-7; ask early"
    assert key_points([quote], f"{quote}. [1]")[:3] == [["3rd"], ["22:00"], ["NOC-7"]]
    assert key_points(["Nothing of this"], "is said here.") == []


def test_a_list_of_twenty_is_worked_off(advisor: Advisor, data: Path, tmp_path: Path) -> None:
    before = {question: advisor.ask(question) for question, _ in QUESTIONS}
    for answer in before.values():
        if answer.status == "answered":  # from a document that is near, but not about what was asked
            advisor.rate(answer, "down", "", "tester")
    items = advisor.reviews.items(["open"])
    texts = dict(QUESTIONS)
    assert {item.question for item in items} == set(texts) and len(items) == 20
    assert sum(item.kind == "not_covered" for item in items) > 10
    documents = len(advisor.store.documents())
    for item in items:
        outcome = answer_item(advisor, item, text=texts[item.question])
        assert outcome.report.status == "added" and outcome.changed, item.question
        advisor.reviews.set_state(advisor.reviews.find(item.id), "done")
    assert len(advisor.store.documents()) == documents + 20
    changed = [ask_again(advisor, [question]) for question in before]
    assert all(after.status == "answered" and after.text != before[after.question].text for after in changed)
    assert advisor.reviews.items(["open"]) == []
    exported = tmp_path / "suite.jsonl"
    exported.write_text(suite(advisor.reviews.items()), "utf-8")
    assert exported.read_text("utf-8").count("\n") == 20
    run("eval", "run", str(exported), "--fail-under", "pass=1", "--fail-under", "strict=1")
