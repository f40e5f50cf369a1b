"""Retrieval: hit@4, recall@10, MRR@10 and nDCG@10 of the passages found, computed by ir-measures (trec_eval).

An expected source is one relevant item; the first passage at that place is its hit and further ones count as not
relevant, so that ten passages of one section aren't ten hits. The sources of a case are alternatives: hit@4 asks for
any, recall for the share of all.
"""

from __future__ import annotations

from collections.abc import Sequence

from assistant.schema import Answer
from evals.metrics.sources import is_at
from evals.schema import Case
from evals.targets import Ranked

NAMES = ("hit@4", "recall@10", "mrr@10", "ndcg@10")
DEPTH = 10


def retrieval_scores(case: Case, ranked: Sequence[Ranked]) -> dict[str, float]:
    """The four figures, each 0 to 1, by name; empty for a case without sources."""
    if not case.expect.sources:
        return {}
    from ir_measures import RR, R, Success, iter_calc, nDCG

    relevant = {f"source-{i}": 1 for i in range(len(case.expect.sources))}
    found: dict[str, float] = {}
    for rank, passage in enumerate(ranked[:DEPTH]):
        place = next(
            (
                f"source-{i}"
                for i, source in enumerate(case.expect.sources)
                if f"source-{i}" not in found and is_at(source, list(passage.names), passage.section)
            ),
            f"other-{rank}",
        )
        found[place] = float(DEPTH - rank)
    measures = dict(zip((Success @ 4, R @ DEPTH, RR @ DEPTH, nDCG @ DEPTH), NAMES, strict=True))
    if not found:
        return dict.fromkeys(NAMES, 0.0)
    values = iter_calc(list(measures), {case.id: relevant}, {case.id: found})
    return {measures[value.measure]: float(value.value) for value in values}


def ranked_by_citation(answer: Answer) -> list[Ranked]:
    """The cited passages in order of their marks: what stands in for a ranking where the target shows none."""
    ordered = sorted(answer.citations, key=lambda citation: citation.n)
    return [Ranked((c.document_id, c.title, c.location), c.section) for c in ordered]
