"""Writes the answer: calculations first, then guidance, then the check that decides what may be shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from assistant import tracing
from assistant.answer.calculations import describe_missing, describe_run
from assistant.answer.composer import compose
from assistant.answer.draft import Rendered, Statement, render
from assistant.answer.phrases import phrase
from assistant.answer.verify import Fault, verify
from assistant.schema import Citation, Language, Status, ToolRun
from assistant.tools.base import Presentation
from assistant.understand.dialogue import Outcome, Plan
from assistant.understand.frames import frame_of
from knowledge import quantities
from knowledge.records import SearchResult

SourceText = Callable[[str], str]
NEAR_COVERAGE = 0.15
"""Below this the documents are about something else, and naming what is near would mislead."""
GUIDANCE_BESIDE_NUMBERS = 3
MAX_FOLLOW_UPS = 3


@dataclass(frozen=True, slots=True)
class Written:
    """What is said, before it becomes an Answer."""

    status: Status
    text: str
    citations: list[Citation]
    tool_runs: list[ToolRun]
    missing: list[str]
    follow_ups: list[str]
    warnings: list[str]


def write_answer(
    plan: Plan,
    outcomes: Sequence[Outcome],
    found: SearchResult,
    covered: bool,
    source_text: SourceText,
    beside: Sequence[SearchResult] = (),
) -> Written:
    """Say what was calculated and found; what does not pass the check is left out.

    Args:
        covered: whether the documents answer the question.
        beside: what was found for parts of the message that want guidance of their own.
    """
    language = plan.language
    runs = [outcome.run for outcome in outcomes if outcome.run]
    numbers = _said_once(statement for outcome in outcomes for statement in _calculation(outcome, language))
    missing = [question for outcome in outcomes if (question := _asked(outcome))]
    guidance = _guidance(plan, [found] if covered and not plan.searches else [], beside, bool(runs))
    check = partial(
        verify,
        question=plan.resolved.question,
        source_text=source_text,
        dates={hit.document_id: hit.date for search in (found, *beside) for hit in search.hits if hit.date},
        presented={o.run.n: _words(o.shown) for o in outcomes if o.run and o.shown},
    )
    opening, closing = frames(plan, found, runs)
    with tracing.span("verify", operation="verify") as span:
        rendered, left_out = _checked([*opening, *numbers, *guidance, *closing], runs, check)
        span.set(left_out=left_out)
    if rendered.citations or any(f"[{run.n}]" in rendered.text for run in runs):
        warnings = [warning for run in runs for warning in run.warnings]
        if left_out:
            warnings.append(phrase("left_out", language))
        further = follow_ups(plan, rendered.citations, found)
        return Written("answered", rendered.text, rendered.citations, runs, missing, further, warnings)
    if plan.refusal in ("unlawful", "injection"):
        return _without_sources("refused", phrase(f"refused_{plan.refusal}", language))
    if missing:
        return Written("needs_input", render([*opening, *numbers]).text, [], [], missing, [], [])
    said = [statement.text for statement in opening] or [_not_covered(plan, found, language)]
    return _without_sources("not_covered", (" " if language == "en" else "").join(said))


def _guidance(
    plan: Plan, found: Sequence[SearchResult], beside: Sequence[SearchResult], with_numbers: bool
) -> list[Statement]:
    """What the documents say; short where it stands beside numbers or answers one part of several."""
    if not plan.guidance:
        return []
    searches = [search for search in (*found, *beside) if search.hits]
    composed = [compose(plan.resolved.search_text, search, plan.language) for search in searches]
    if not with_numbers and len(composed) < 2:
        return composed[0] if composed else []
    return [
        Statement(statement.text, statement.spans, place="item")
        for statements in composed
        for statement in [s for s in statements if s.spans][:GUIDANCE_BESIDE_NUMBERS]
    ]


def frames(plan: Plan, found: SearchResult, runs: Sequence[ToolRun]) -> tuple[list[Statement], list[Statement]]:
    """What has to be said of the question itself: a premise that nothing supports, a price that nobody has."""
    opening, closing = [], []
    resolved, language = plan.resolved, plan.language
    if plan.refusal is None and resolved.message.claims_document and not _says(found, resolved.question):
        opening.append(Statement(phrase("no_such_claim", language)))
    if plan.refusal is None and resolved.asks_price:
        opening.append(Statement(phrase("listed_price" if _lists(runs) else "no_price", language)))
    if resolved.message.ordered and plan.refusal is None:
        closing.append(Statement(phrase("order_ignored", language)))
    return opening, closing


def _says(found: SearchResult, question: str) -> bool:
    """Whether a passage found holds an amount of the question; a question without amounts claims none."""
    claimed = [q for q in quantities.find(question) if q.unit not in ("1", "node", "gpu")]
    said = [q for hit in found.hits for q in quantities.find(hit.text)] if claimed else []
    return not claimed or any(
        c.unit == s.unit and math.isclose(c.value, s.value, rel_tol=1e-3) for c in claimed for s in said
    )


def _lists(runs: Sequence[ToolRun]) -> bool:
    return any(run.result.get("offers") for run in runs)


def _calculation(outcome: Outcome, language: Language) -> list[Statement]:
    if outcome.run and outcome.shown:
        return describe_run(outcome.run, outcome.shown, language)
    return describe_missing(outcome.missing) if outcome.missing else [Statement(str(outcome.invalid))]


def _said_once(statements: Iterable[Statement]) -> list[Statement]:
    """Assumptions and formulas that several calculations share are said with the first."""
    by_text: dict[str, Statement] = {}
    for statement in statements:
        by_text.setdefault(statement.text, statement)
    return list(by_text.values())


def _asked(outcome: Outcome) -> str | None:
    """What is missing, or what can't be as it was stated."""
    if outcome.missing:
        return outcome.missing.question
    return str(outcome.invalid) if outcome.invalid else None


def _words(shown: Presentation) -> str:
    return "\n".join([shown.headline, shown.drivers, *(" ".join(row) for row in shown.table)])


def _checked(
    statements: Sequence[Statement],
    runs: Sequence[ToolRun],
    check: Callable[[str, Sequence[Citation], Sequence[ToolRun]], list[Fault]],
) -> tuple[Rendered, bool]:
    """Render and verify; statements with a fault are taken out until none has one."""
    kept = list(statements)
    while True:
        rendered = render(kept)
        faults = check(rendered.text, rendered.citations, runs)
        faulty = {rendered.owners[fault.line] for fault in faults if fault.line is not None}
        inexact = {fault.citation for fault in faults if fault.citation is not None}
        faulty |= {
            rendered.owners[number]
            for number, line in enumerate(rendered.text.split("\n"))
            if any(f"[{n}]" in line for n in inexact)
        }
        if not faulty:
            return rendered, len(kept) < len(statements)
        kept = [statement for index, statement in enumerate(kept) if index not in faulty]


def follow_ups(plan: Plan, citations: Sequence[Citation], found: SearchResult) -> list[str]:
    """What the reader is likely to ask next: of each calculation, then questions that headings near the answer put."""
    said = {citation.section for citation in citations}
    asked = [question for call in plan.calls for question in frame_of(call.tool).follow_ups[plan.language]]
    asked += [
        heading
        for hit in found.hits
        if hit.language == plan.language
        and hit.section not in said
        and (heading := hit.section.rpartition(" > ")[2]).endswith(("?", "？"))
    ]
    return list(dict.fromkeys(asked))[:MAX_FOLLOW_UPS]


def _without_sources(status: Status, text: str) -> Written:
    return Written(status, text, [], [], [], [], [])


def _not_covered(plan: Plan, found: SearchResult, language: Language) -> str:
    if plan.refusal in ("out_of_scope", "no_ability", "no_forecast"):
        return phrase(plan.refusal, language)
    text = phrase("not_covered", language)
    if found.hits and found.coverage >= NEAR_COVERAGE:
        topics = list(dict.fromkeys(hit.section.rpartition(" > ")[2] or hit.title for hit in found.hits))[:3]
        text += phrase("near", language, topics=("、" if language == "zh" else "; ").join(topics))
    return text
