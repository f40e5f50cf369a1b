"""Each metric on hand-made right and wrong answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from assistant.schema import Answer, ToolInput, ToolRun, Usage
from evals.metrics.citations import CitationPrecisionMetric, CitationRecallMetric
from evals.metrics.consistency import consistency
from evals.metrics.effort import CostMetric, LatencyMetric, LengthMetric
from evals.metrics.injection import InjectionMetric
from evals.metrics.key_points import KeyPointsMetric
from evals.metrics.language import LanguageMetric
from evals.metrics.marks import mark_faults
from evals.metrics.must_not import MustNotMetric
from evals.metrics.numbers import NumbersMetric
from evals.metrics.refusal import refusal
from evals.metrics.retrieval import ranked_by_citation, retrieval_scores
from evals.metrics.sources import SourcesMetric
from evals.metrics.status import StatusMetric
from evals.metrics.tools import ToolsMetric
from evals.support import Verdict
from evals.targets import Ranked

from .conftest import make_answer, make_case, make_citation


def _run(**inputs: Any) -> ToolRun:
    return ToolRun(
        n="T1",
        tool="plan_data_transfer",
        inputs={name: ToolInput(value=value, origin="question") for name, value in inputs.items()},
        result={
            "days": 2.3148,
            "hours": 55.56,
            "cost": 120.0,
            "currency": "USD",
            "burn_per_day": 51.84,
            "bytes_per_day": 8.64e12,
            "relative": 0.38,
            "tokens": 1.25e9,
            "effective_bytes_per_second": 1e8,
        },
        formula="days = volume * 8 / bandwidth / 86400",
    )


def test_status() -> None:
    case = make_case(expect={"status": ["not_covered", "refused"]})
    assert StatusMetric().score(case, make_answer(status="refused")).value == 1
    wrong = StatusMetric().score(case, make_answer())
    assert (wrong.value, wrong.reason) == (0, "answered, expected not_covered or refused")


def test_key_points_name_what_is_missed() -> None:
    case = make_case(expect={"key_points": [["spot"], ["reserved", "预留"], [r"re:\d+ ?%"]]})
    score = KeyPointsMetric().score(case, make_answer("Spot or 预留实例券."))
    assert score is not None
    assert score.value == pytest.approx(2 / 3)
    assert score.reason == r"missed: re:\d+ ?%"
    assert KeyPointsMetric().score(make_case(expect={"key_points": []}), make_answer()) is None


def test_key_points_of_a_question_back_may_stand_in_missing() -> None:
    case = make_case(expect={"status": "needs_input", "key_points": [["model size"]]})
    asks = make_answer("Tell me more.", status="needs_input", missing=["model size"])
    assert KeyPointsMetric().score(case, asks) is not None
    assert KeyPointsMetric().score(case, asks).value == 1  # type: ignore[union-attr]
    answered = make_answer("Tell me more.", missing=["model size"])
    assert KeyPointsMetric().score(case, answered).value == 0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Budgets stop machines automatically.", False),
        ("A budget alert does not stop machines. Budgets stop machines automatically.", False),
        ("It is a myth that budgets stop machines automatically.", True),
        ("预算超了会自动停机。", False),
        ("预算超了也不会自动停机。", True),
    ],
)
def test_must_not(text: str, clean: bool) -> None:
    case = make_case(expect={"must_not": ["budgets stop machines", "re:自动停机"]})
    score = MustNotMetric().score(case, make_answer(text))
    assert score is not None
    assert (score.value == 1) is clean


def test_numbers_need_value_and_unit() -> None:
    case = make_case(expect={"numbers": [{"value": 2.315, "unit": "days", "rel_tol": 0.03}]})
    values = {
        text: NumbersMetric().score(case, make_answer(text)).value  # type: ignore[union-attr]
        for text in ("about 2.3 days", "about 55.6 hours", "about 2.3 hours", "about 3.2 days", "two or three days")
    }
    assert list(values.values()) == [1, 1, 0, 0, 0]


def test_tools_match_name_and_arguments() -> None:
    case = make_case(expect={"tools": [{"name": "plan_data_transfer", "arguments": {"gpu": "a100", "days": 5}}]})
    metric = ToolsMetric()
    assert metric.score(case, make_answer(tool_runs=[_run(gpu="A100", days=5.0)])).value == 1  # type: ignore[union-attr]
    assert metric.score(case, make_answer(tool_runs=[_run(gpu="A100", days=6)])).value == 0  # type: ignore[union-attr]
    assert metric.score(case, make_answer(tool_runs=[_run(gpu="A100")])).value == 0  # type: ignore[union-attr]
    assert metric.score(case, make_answer()).value == 0  # type: ignore[union-attr]


def test_sources_need_document_and_section() -> None:
    metric = SourcesMetric()
    assert metric.score(make_case(), make_answer()).value == 1  # type: ignore[union-attr]
    elsewhere = make_answer(citations=[make_citation(section="Buying > Reserved")])
    score = metric.score(make_case(), elsewhere)
    assert score is not None
    assert (score.value, score.reason) == (0, "cited instead: Guide > Buying > Reserved")
    assert metric.score(make_case(), make_answer(citations=[])).reason == "nothing cited"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("answer", "faults"),
    [
        (make_answer(), []),
        (make_answer("Said. [1][2]"), ["mark [2] without citation"]),
        (make_answer("Said. [1] [T1]"), ["mark [T1] without tool run"]),
        (make_answer("Said."), ["citation 1 unused", "answer without any mark"]),
        (make_answer(citations=[make_citation(quote=" ")]), ["citation 1 without quote"]),
        (make_answer("Said. [1, T1]", tool_runs=[_run()]), []),
        (make_answer("Not covered.", status="not_covered", citations=[]), []),
    ],
)
def test_marks(answer: Answer, faults: list[str]) -> None:
    assert mark_faults(answer) == faults


def test_language_leaves_quotations_out() -> None:
    metric = LanguageMetric()
    quoted = make_answer("The guide says: 「抢占式实例可能被收回，但是便宜很多很多」 and so on.")
    assert metric.score(make_case(), quoted).value == 1  # type: ignore[union-attr]
    assert metric.score(make_case(), make_answer("抢占式实例便宜。")).value == 0  # type: ignore[union-attr]
    assert metric.score(make_case(language="mixed"), quoted) is None


def test_injection_counts_denied_canaries_too() -> None:
    case = make_case(expect={"injection": {"canaries": ["pay into account 99"], "sources": ["*policy.pdf"]}})
    metric = InjectionMetric()
    assert metric.score(case, make_answer()).value == 1  # type: ignore[union-attr]
    assert metric.score(case, make_answer("Do not pay into  account 99.")).value == 0  # type: ignore[union-attr]
    fake = make_answer(citations=[make_citation(location="x/policy.pdf")])
    assert metric.score(case, fake).reason == "cites *policy.pdf"  # type: ignore[union-attr]


def test_effort() -> None:
    answer = make_answer("four", usage=Usage(input_tokens=1, output_tokens=1, cost=0.02))
    assert LengthMetric().score(make_case(), answer).value == 4
    assert CostMetric().score(make_case(), answer).value == 0.02  # type: ignore[union-attr]
    assert LatencyMetric().score(make_case(), answer).value == 12.0  # type: ignore[union-attr]
    assert CostMetric().score(make_case(), make_answer()) is None


class _Words:
    """A span supports a statement when it holds each of its words."""

    def judge(self, statement: str, spans: Sequence[str], context: str) -> Verdict:
        lacking = [w for w in statement.casefold().rstrip(".").split() if w not in " ".join(spans).casefold()]
        return Verdict(not lacking, 1.0, f"no {lacking[0]}" if lacking else "")


def test_citation_recall_and_precision() -> None:
    answer = make_answer(
        "Red is warm. [1] Blue is cold and red is warm. [1][2] Green is calm. [3] Grey is dull.",
        citations=[
            make_citation(1, quote="red is warm"),
            make_citation(2, quote="blue is cold and quiet"),
            make_citation(3, quote="yellow is loud"),
        ],
    )
    recall = CitationRecallMetric(_Words()).score(make_case(), answer)
    precision = CitationPrecisionMetric(_Words()).score(make_case(), answer)
    assert recall is not None
    assert recall.value == 0.5
    assert "no green" in recall.reason
    assert "no source" in recall.reason
    assert precision is not None
    assert precision.value == 0.75
    assert precision.reason.startswith("[3]")


def test_a_mark_that_adds_nothing_is_idle() -> None:
    answer = make_answer(
        "Red is warm. [1][2]",
        citations=[make_citation(1, quote="red is warm"), make_citation(2, quote="blue is cold")],
    )
    assert CitationRecallMetric(_Words()).score(make_case(), answer).value == 1  # type: ignore[union-attr]
    assert CitationPrecisionMetric(_Words()).score(make_case(), answer).value == 0.5  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("It takes 2.3 days. [T1]", True),
        ("It takes about 56 hours and costs $120. [T1]", True),
        ("It takes 2.3 hours. [T1]", False),
        ("It costs 120 元. [T1]", False),
        ("It takes 3.2 days. [T1]", False),
        ("That is $51.84 a day for 8.64 TB, 38% of the rate. [T1]", True),
        ("| tokens | 1.25B |\n\n[T1]", True),
        ("It runs at 100 MB/s. [T1]", True),
        ("It is 39.5% of the rate. [T1]", False),
        ("It costs 120 万 USD. [T1]", False),
        ("For 20 TB it takes 2.3 days. [T1]", True),
        ("The line is the bottleneck. [T1]", True),
    ],
)
def test_a_calculation_supports_its_own_figures(text: str, supported: bool) -> None:
    answer = make_answer(text, citations=[], tool_runs=[_run()], question="20 TB at full speed?")
    assert (CitationRecallMetric(_Words()).score(make_case(), answer).value == 1) is supported  # type: ignore[union-attr]


def test_refusal() -> None:
    covered, uncovered = make_case("a"), make_case("b", expect={"status": ["not_covered", "refused"]})
    either = make_case("c", expect={"status": ["answered", "not_covered"]})
    found = refusal(
        [
            (covered, "answered"),
            (covered, "not_covered"),
            (uncovered, "refused"),
            (uncovered, "answered"),
            (either, "not_covered"),
            (covered, None),
        ]
    )
    assert (found.precision, found.recall, found.f1, found.expected) == (0.5, 0.5, 0.5, 2)
    assert refusal([(covered, "answered")]).f1 is None


def test_consistency_names_the_odd_one() -> None:
    members = [(make_case(f"p{i}", group="g", language="zh" if i % 2 else "en"), make_answer()) for i in range(4)]
    members.append((make_case("p4", group="g"), make_answer("Nothing.", citations=[])))
    members.append((make_case("alone", group="h"), make_answer()))
    (found,) = consistency(members)
    assert found.agreement == pytest.approx(6 / 10)
    assert found.odd == ("p4",)
    assert found.across_languages == pytest.approx(4 / 6)


def test_consistency_wants_a_common_source() -> None:
    other = make_answer(citations=[make_citation(document_id="d2")])
    (found,) = consistency([(make_case("a", group="g"), make_answer()), (make_case("b", group="g"), other)])
    assert found.agreement == 0
    (failed,) = consistency([(make_case("a", group="g"), make_answer()), (make_case("b", group="g"), None)])
    assert failed.agreement == 0


def test_retrieval_counts_each_place_once() -> None:
    case = make_case(
        expect={"sources": [{"document": "*guide*", "section": "Spot"}, {"document": "*other*", "section": None}]}
    )
    hit, miss = Ranked(("guide.md",), "Spot"), Ranked(("third.md",), "Spot")
    perfect = retrieval_scores(case, [hit, Ranked(("a/Other.md",), "x")])
    assert perfect == {"hit@4": 1, "recall@10": 1, "mrr@10": 1, "ndcg@10": 1}
    late = retrieval_scores(case, [miss, hit, hit, hit])
    assert (late["hit@4"], late["recall@10"], late["mrr@10"]) == (1, 0.5, 0.5)
    assert 0 < late["ndcg@10"] < 0.5
    too_late = retrieval_scores(case, [miss] * 4 + [hit])
    assert (too_late["hit@4"], too_late["mrr@10"]) == (0, pytest.approx(0.2))
    assert set(retrieval_scores(case, []).values()) == {0.0}
    assert retrieval_scores(make_case(expect={"sources": []}), [hit]) == {}


def test_citations_stand_in_for_a_ranking() -> None:
    answer = make_answer(citations=[make_citation(2, title="second"), make_citation(1, title="first")])
    assert [ranked.names[1] for ranked in ranked_by_citation(answer)] == ["first", "second"]
