"""Puts the planted answers through the checks as a stream would, and counts what was removed and what was lost."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assistant.answer.agent.draft import Draft
from assistant.answer.verify.closeness import Closeness
from assistant.answer.verify.evidence import Evidence
from assistant.answer.verify.marks import without_marks
from assistant.answer.verify.statements import Checker
from assistant.schema import Language
from evals.planted.make import COUNTS, Kind, PlantedAnswer, Sentence
from knowledge.background import TEXTS
from knowledge.encoders import Encoder

TARGETS: dict[Kind, float] = {
    "number": 1.0, "mark": 1.0, "link": 1.0, "swapped": 0.95, "negated": 0.8, "vendor": 0.8, "true": 0.95,
}  # fmt: skip
_PIECE = 7
"""Characters that come at once, as from a model."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one statement of an answer."""

    answer: PlantedAnswer
    sentence: Sentence
    removed: bool
    reason: str


def check(answers: Iterable[PlantedAnswer], encoder: Encoder) -> list[Outcome]:
    """Every statement of every answer, through the checks."""
    means = language_means(encoder)
    return [outcome for answer in answers for outcome in _checked(answer, encoder, means)]


def language_means(encoder: Encoder) -> dict[Language, NDArray[np.float32]]:
    """As a store holds them: the mean of the background's passages, by language."""
    rows = csv.DictReader(TEXTS.read_text("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    texts: dict[Language, list[str]] = {"zh": [], "en": []}
    for row in rows:
        if row["kind"] == "passage":
            texts["zh" if row["language"] == "zh" else "en"].append(row["text"])
    return {
        language: np.mean([encoded.vector for encoded in encoder.passages(lines)], axis=0)
        for language, lines in texts.items()
    }


def _checked(answer: PlantedAnswer, encoder: Encoder, means: Mapping[Language, NDArray[np.float32]]) -> list[Outcome]:
    evidence = Evidence()
    evidence.add_passages(answer.passages, covered=True)
    if answer.run is not None:
        evidence.add_run(answer.run.run, answer.run.shown)
    with Closeness(encoder, means) as closeness:
        checker = Checker(evidence, closeness, "", answer.language)
        draft = Draft(checker, evidence, answer.language)
        text = "\n".join(f"- {sentence.text} [{sentence.mark}]" for sentence in answer.sentences)
        shown = "".join(
            [
                *(part for at in range(0, len(text), _PIECE) for part in draft.feed(text[at : at + _PIECE])),
                *draft.end_message(),
            ]
        )
        reasons = {
            without_marks(fault.text): f"{fault.problem.reason} {fault.problem.detail}" for fault in draft.faults()
        }
        shown += "".join(draft.finish())
    kept = _squeezed(without_marks(shown))
    outcomes = []
    for sentence in answer.sentences:
        removed = _squeezed(sentence.text) not in kept
        reason = next((why for text, why in reasons.items() if _squeezed(text)[:12] in _squeezed(sentence.text)), "")
        outcomes.append(Outcome(answer, sentence, removed, reason))
    return outcomes


def table(outcomes: Sequence[Outcome]) -> str:
    """Markdown: by class what was removed, in the tuned and in the held-out half."""
    lines = [
        "| class | answers | what counts | target | all | tuned half | held-out half | 95% interval (held out) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in COUNTS:
        rows = [o for o in outcomes if o.answer.kind == kind and (o.sentence.planted or kind == "true")]
        halves = [[o for o in rows if o.answer.held_out is held] for held in (False, True)]
        counted = "statements kept" if kind == "true" else "faults removed"
        target = f"≥ {TARGETS[kind]:.0%}" if TARGETS[kind] < 1 else "100%"
        low, high = _wilson(_good(halves[1], kind), len(halves[1]))
        shares = " | ".join(f"{_share(part, kind)}" for part in (rows, *halves))
        answers = len({id(o.answer) for o in rows})
        lines.append(f"| {_NAMES[kind]} | {answers} | {counted} | {target} | {shares} | {low:.0%}–{high:.0%} |")
    quotes = [o for o in outcomes if not o.sentence.planted and not o.sentence.reworded]
    kept = sum(not o.removed for o in quotes)
    lines += ["", f"True statements quoted beside the faults: {kept} of {len(quotes)} kept ({kept / len(quotes):.1%})."]
    return "\n".join(lines)


_NAMES: dict[Kind, str] = {
    "number": "invented number", "mark": "invented mark", "link": "invented link", "swapped": "another document's citation",
    "negated": "negated statement", "vendor": "swapped vendor or accelerator", "true": "true, in other words",
}  # fmt: skip


def misses(outcomes: Sequence[Outcome]) -> list[str]:
    """What went wrong, in a line each."""
    return [
        f"{o.answer.kind} {'held' if o.answer.held_out else 'tune'} [{o.sentence.mark}] {o.sentence.text} — {o.reason}"
        for o in outcomes
        if (o.sentence.planted and not o.removed) or (not o.sentence.planted and o.removed)
    ]


def shortfalls(outcomes: Sequence[Outcome]) -> Counter[Kind]:
    """Classes below their target in the held-out half."""
    short: Counter[Kind] = Counter()
    for kind, target in TARGETS.items():
        rows = [
            o
            for o in outcomes
            if o.answer.kind == kind and o.answer.held_out and (o.sentence.planted or kind == "true")
        ]
        if rows and _good(rows, kind) / len(rows) < target:
            short[kind] = len(rows) - _good(rows, kind)
    return short


def _good(rows: Sequence[Outcome], kind: Kind) -> int:
    return sum(o.removed != (kind == "true") for o in rows)


def _share(rows: Sequence[Outcome], kind: Kind) -> str:
    return f"{_good(rows, kind)}/{len(rows)} ({_good(rows, kind) / len(rows):.1%})" if rows else "–"


def _wilson(good: int, count: int) -> tuple[float, float]:
    """95% interval of a share (Wilson 1927)."""
    z = 1.96
    if not count:
        return 0.0, 1.0
    share = good / count
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    whole = 1 + z * z / count
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


def _squeezed(text: str) -> str:
    return "".join(character for character in text if character.isalnum())
