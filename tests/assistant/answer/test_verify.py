from __future__ import annotations

from assistant.answer.verify import verify
from assistant.errors import InvalidInput
from assistant.schema import Citation, ToolInput, ToolRun

SOURCE = "Spot capacity can be reclaimed. AWS gives a notice of 120 seconds. Budgets only alert."
DOCUMENT = "spot-1"


def citation(n: int, quote: str, start: int | None = None) -> Citation:
    at = SOURCE.index(quote) if start is None else start
    return Citation(
        n=n,
        document_id=DOCUMENT,
        title="Spot",
        section="",
        location="spot.md",
        quote=quote,
        start=at,
        end=at + len(quote),
        score=1,
    )


RUN = ToolRun(
    tool="calculate",
    inputs={"hours": ToolInput(value=400, unit="hour", origin="question")},
    result={"rate": 2.4225},
    formula="969 / 400 = 2.4225",
)


def source_text(document_id: str) -> str:
    if document_id != DOCUMENT:
        raise InvalidInput(f"There is no document '{document_id}'.")
    return SOURCE


def kinds(text: str, citations: list[Citation], runs: list[ToolRun] | None = None, question: str = "") -> list[str]:
    faults = verify(text, citations, runs or [], question=question, source_text=source_text)
    return [fault.kind for fault in faults]


NOTICE = citation(1, "AWS gives a notice of 120 seconds.")


def test_a_sound_answer_has_no_fault() -> None:
    assert kinds("AWS gives a notice of 120 seconds. [1]\n\nThe rate is 2.42 an hour. [T1]", [NOTICE], [RUN]) == []


def test_a_mark_needs_its_citation() -> None:
    assert kinds("Something. [2]", []) == ["mark without source"]
    assert kinds("Something. [T2]", [], [RUN]) == ["mark without source"]


def test_a_citation_needs_its_mark() -> None:
    assert kinds("Something.", [NOTICE]) == ["unused citation"]


def test_a_quote_must_be_the_text_at_its_place() -> None:
    moved = NOTICE.model_copy(update={"start": NOTICE.start + 1, "end": NOTICE.end + 1})
    reworded = NOTICE.model_copy(update={"quote": "AWS gives a notice of 120 minutes."})
    elsewhere = NOTICE.model_copy(update={"document_id": "unknown"})
    for wrong in (moved, reworded, elsewhere):
        assert kinds("A notice. [1]", [wrong]) == ["inexact quote"]


def test_a_number_must_stand_in_what_its_own_line_cites() -> None:
    other = citation(2, "Budgets only alert.")
    assert kinds("AWS gives 180 seconds. [1]", [NOTICE]) == ["number without source"]
    assert kinds("Gone in 120 seconds. [2]\nNotice is given. [1]", [NOTICE, other]) == ["number without source"]
    assert kinds("The rate is 3.42. [T1]", [], [RUN]) == ["number without source"]


def test_numbers_of_the_question_may_be_repeated() -> None:
    assert kinds("For 64 GPUs: AWS gives a notice. [1]", [NOTICE], question="64 张 H100 用抢占式行吗") == []


def test_rows_of_a_table_stand_on_the_mark_below_it() -> None:
    table = "| | rate |\n| --- | --- |\n| now | 2.42 |\n\n[T1]"
    assert kinds(table, [], [RUN]) == []
    assert kinds(table.replace("2.42", "9.99"), [], [RUN]) == ["number without source"]
