"""Consistency: do phrasings of one question, in whatever language, get the same answer.

Over the pairs of a group, as in ParaRel (Elazar et al. 2021, arXiv:2102.01017): two answers agree when they have the
same status, meet the same key points, state the same expected figures, and rest on a common source (a document, or the
same calculation).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from assistant.schema import Answer
from evals.metrics.key_points import occurs, searched_text
from evals.numbers import read_figures, states
from evals.schema import Case


@dataclass(frozen=True, slots=True)
class Consistency:
    """Agreement of one group's answers."""

    group: str
    agreement: float
    """Share of pairs that agree, 0 to 1."""
    across_languages: float | None
    """The same over pairs of different languages."""
    odd: tuple[str, ...]
    """Ids of the cases that disagree with most of their group."""


def consistency(outcomes: Iterable[tuple[Case, Answer | None]]) -> list[Consistency]:
    """Agreement of every group with at least two answers; an error agrees with nothing."""
    groups: defaultdict[str, list[tuple[Case, Answer | None]]] = defaultdict(list)
    for case, answer in outcomes:
        if case.group:
            groups[case.group].append((case, answer))
    return [_of_group(name, members) for name, members in sorted(groups.items()) if len(members) > 1]


def _of_group(name: str, members: list[tuple[Case, Answer | None]]) -> Consistency:
    traits = [_traits(case, answer) for case, answer in members]
    pairs = [(i, j, _agree(traits[i], traits[j])) for i, j in combinations(range(len(members)), 2)]
    mixed = [same for i, j, same in pairs if members[i][0].language != members[j][0].language]
    odd = tuple(
        case.id
        for i, (case, _) in enumerate(members)
        if sum(same for a, b, same in pairs if i in (a, b)) < (len(members) - 1) / 2
    )
    return Consistency(name, _share([same for *_, same in pairs]), _share(mixed) if mixed else None, odd)


def _share(values: list[bool]) -> float:
    return sum(values) / len(values)


@dataclass(frozen=True, slots=True)
class _Traits:
    verdicts: tuple[str | bool, ...]
    places: frozenset[str]


def _traits(case: Case, answer: Answer | None) -> _Traits | None:
    if answer is None:
        return None
    text = searched_text(answer)
    points = [any(occurs(alternative, text) for alternative in point) for point in case.expect.key_points]
    figures = read_figures(answer.text)
    numbers = [any(states(f, n.value, n.unit, n.rel_tol) for f in figures) for n in case.expect.numbers]
    places = {c.document_id for c in answer.citations} | {run.tool for run in answer.tool_runs}
    return _Traits((answer.status, *points, *numbers), frozenset(places))


def _agree(one: _Traits | None, other: _Traits | None) -> bool:
    if one is None or other is None or one.verdicts != other.verdicts:
        return False
    return bool(one.places & other.places) or not (one.places or other.places)
