"""No planted fault is sound, no right answer in other words is refused, and each metric sees its own kind of fault."""

from __future__ import annotations

from collections import Counter

import pytest

from evals.labelled import RIGHT, Judged, agreement_table, load_labelled, score_labelled
from evals.suites import SHIPPED
from evals.support import open_support

# What must say no for a kind of fault: at least one of these, for every answer of the kind.
WATCHES = {
    "wrong_number": {"numbers", "key_points", "citation_recall"},
    "wrong_unit": {"numbers", "citation_recall"},
    "swapped_citation": {"citation_recall"},
    "unsupported": {"citation_recall"},
    "extra_false": {"citation_recall", "injection", "must_not"},
    "false_refusal": {"status", "key_points"},
    "false_answer": {"status"},
}


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    return score_labelled(load_labelled(), open_support("offline"))


def test_there_are_sixty_faults_of_every_kind_and_twenty_right_answers() -> None:
    kinds = Counter(item.label for item in load_labelled())
    assert kinds.pop(RIGHT) == 20
    assert kinds.total() == 60
    assert kinds.keys() == WATCHES.keys()


def test_quotes_are_exact() -> None:
    for item in load_labelled():
        for citation in item.answer.citations:
            text = (SHIPPED / citation.location).read_text(encoding="utf-8")
            assert text[citation.start : citation.end] == citation.quote, item.id


def test_no_corrupted_answer_is_sound(judged: list[Judged]) -> None:
    assert [row.item.id for row in judged if row.scored.sound and row.item.label != RIGHT] == []


def test_no_right_answer_in_other_words_fails(judged: list[Judged]) -> None:
    assert [row.item.id for row in judged if not row.scored.sound and row.item.label == RIGHT] == []


def test_each_fault_is_caught_by_a_metric_that_is_meant_to(judged: list[Judged]) -> None:
    for row in judged:
        if row.item.label != RIGHT:
            caught = {name for name, score in row.scored.scores.items() if score.value < 1}
            assert caught & WATCHES[row.item.label], row.item.id


def test_the_table_counts_and_names_disagreement(judged: list[Judged]) -> None:
    table = agreement_table(judged)
    assert "kappa of sound with the labels: 1.000" in table
    relabelled = Judged(judged[0].item.model_copy(update={"label": "wrong_unit"}), judged[0].scored)
    assert f"not as labelled: {judged[0].item.id}" in agreement_table([relabelled, *judged[1:]])
