"""Pass and strict as the suite format defines them: the verdicts in the data were made by an independent scorer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.schema import Answer
from evals.labelled import load_labelled
from evals.schema import Case
from evals.scoring import case_metrics, score_answer
from evals.support import Verdict

DATA = Path(__file__).parent / "data"


class _AllSupported:
    def judge(self, statement: str, spans: object, context: str) -> Verdict:
        return Verdict(True, 1.0)


METRICS = case_metrics(_AllSupported())
ROWS = [json.loads(line) for line in (DATA / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row["case"]["id"] for row in ROWS])
def test_hand_made_answers_get_the_verdict_of_the_reference(row: dict[str, object]) -> None:
    scored = score_answer(Case.model_validate(row["case"]), Answer.model_validate(row["answer"]), METRICS)
    assert (scored.passed, scored.strict) == (row["passed"], row["strict"])


# Where this reader knows more than the reference, and why.
EXPLAINED = {"right-01": "`ten minutes` is read as a number"}


def test_labelled_answers_get_the_verdict_of_the_reference() -> None:
    expected = json.loads((DATA / "labelled_verdicts.json").read_text(encoding="utf-8"))
    got = {}
    for item in load_labelled():
        scored = score_answer(item.case, item.answer, METRICS)
        got[item.id] = [scored.passed, scored.strict]
    assert {name for name in got if got[name] != expected[name]} == set(EXPLAINED)
