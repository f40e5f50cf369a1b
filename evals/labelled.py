"""Answers labelled by hand as right or corrupted: what the metrics are tested on, and judges measured against."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from assistant.schema import Answer
from evals.schema import Case
from evals.scoring import Scored, case_metrics, score_answer
from evals.statistics import kappa
from evals.suites import SHIPPED
from evals.support import Support

RIGHT = "right"


class Labelled(BaseModel):
    """A case, an answer to it, and what is wrong with the answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    label: str
    """`right`, or the kind of the planted fault."""
    note: str
    """What was planted, or how a right answer differs in wording."""
    case: Case
    answer: Answer


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled answer with what all metrics said."""

    item: Labelled
    scored: Scored

    @property
    def as_labelled(self) -> bool:
        """Right answers must be sound, corrupted ones not."""
        return self.scored.sound == (self.item.label == RIGHT)

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.item.id,
            "label": self.item.label,
            "note": self.item.note,
            "passed": self.scored.passed,
            "strict": self.scored.strict,
            "sound": self.scored.sound,
            "scores": {name: score.value for name, score in self.scored.scores.items()},
            "reasons": {name: score.reason for name, score in self.scored.scores.items() if score.reason},
        }


def load_labelled() -> list[Labelled]:
    """The shipped labelled answers."""
    text = (SHIPPED / "labelled" / "answers.jsonl").read_text(encoding="utf-8")
    return [Labelled.model_validate(json.loads(line)) for line in text.split("\n") if line.strip()]


def score_labelled(items: Sequence[Labelled], support: Support) -> list[Judged]:
    """Every metric on every labelled answer."""
    metrics = case_metrics(support)
    return [Judged(item, score_answer(item.case, item.answer, metrics)) for item in items]


def agreement_table(rows: Sequence[Judged]) -> str:
    """By kind of fault: how many answers each metric caught; then kappa of the verdicts with the labels."""
    names = [
        name
        for name in dict.fromkeys(name for row in rows for name in row.scored.scores)
        if any(0 <= row.scored.scores[name].value < 1 for row in rows if name in row.scored.scores)
    ]
    kinds: defaultdict[str, list[Judged]] = defaultdict(list)
    for row in rows:
        kinds[row.item.label].append(row)
    width = max(map(len, kinds))
    lines = [f"{'caught by':{width}} {'n':>3} {'sound':>6}" + "".join(f"{name[:11]:>12}" for name in names)]
    for kind, members in kinds.items():
        cells = [
            sum(name in m.scored.scores and m.scored.scores[name].value < 1 for m in members) or "." for name in names
        ]
        sound = sum(m.scored.sound for m in members)
        lines.append(f"{kind:{width}} {len(members):>3} {sound:>6}" + "".join(f"{c:>12}" for c in cells))
    labels = [row.item.label == RIGHT for row in rows]
    for verdict in ("passed", "strict", "sound"):
        said = [bool(getattr(row.scored, verdict)) for row in rows]
        lines.append(f"kappa of {verdict} with the labels: {kappa(labels, said):.3f}")
    wrong = [row for row in rows if not row.as_labelled]
    lines += [f"not as labelled: {row.item.id} ({row.item.label}: {row.item.note})" for row in wrong]
    return "\n".join(lines)
