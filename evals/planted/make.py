"""Makes 500 answers, most with one planted fault, from the guidance, from tool runs and from rewordings by hand."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assistant.schema import Language
from evals.errors import TargetError
from evals.planted import faults
from evals.planted.corpus import Neighbours, Statement, load_corpus, statements
from evals.planted.runs import RunStatement, run_statements
from knowledge.records import Hit

Kind = Literal["number", "mark", "link", "swapped", "negated", "vendor", "true"]
COUNTS: dict[Kind, int] = {
    "number": 90, "mark": 40, "link": 40, "swapped": 90, "negated": 80, "vendor": 60, "true": 100,
}  # fmt: skip
REWORDINGS = Path(__file__).parents[1] / "data" / "rewordings.tsv"
_PASSAGES = 6
_MOST_LOST = 8
"""Rewordings whose source the guidance no longer has; more than these, and the set has to be mended."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement of an answer as it is written, with its mark."""

    text: str
    mark: str
    """Number of a passage (from 1) or of the calculation."""
    planted: bool = False
    reworded: bool = False


@dataclass(frozen=True, slots=True)
class PlantedAnswer:
    """What a model was given and what it wrote."""

    kind: Kind
    language: Language
    passages: tuple[Hit, ...]
    run: RunStatement | None
    sentences: tuple[Sentence, ...]
    held_out: bool


def make(seed: int = 20261201) -> list[PlantedAnswer]:
    """The answers, the same for the same guidance.

    Raises:
        TargetError: the guidance has changed so much that rewordings have lost their source.
    """
    return list(_Maker(random.Random(seed)).answers())


class _Maker:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        hits = load_corpus()
        self._near = Neighbours(hits)
        self._said = statements(hits)
        self._by_text = {statement.text: statement for statement in self._said}
        self._reworded = list(self._rewordings(hits))
        self._runs = run_statements()

    def answers(self) -> Iterator[PlantedAnswer]:
        for kind, count in COUNTS.items():
            made = 0
            while made < count:
                answer = self._true(made) if kind == "true" else self._planted(kind, made)
                if answer is not None:
                    made += 1
                    yield answer

    def _rewordings(self, hits: Sequence[Hit]) -> Iterator[tuple[Statement, str]]:
        with REWORDINGS.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        everything = {s.text: s for s in self._said} | {
            " ".join(faults_plain(sentence.text).split()): Statement(sentence.text, hit)
            for hit in hits
            for sentence in hit.sentences
        }
        lost = 0
        for row in rows:
            source = everything.get(row["source"])
            if source is None:
                lost += 1
            else:
                yield source, row["text"]
        if lost > _MOST_LOST:
            raise TargetError(f"{lost} rewordings of {REWORDINGS.name} have lost their source; mend the file.")

    def _true(self, number: int) -> PlantedAnswer:
        """Two rewordings, so that all of them are seen; every fourth answer also one of a calculation."""
        pair = [self._reworded[(2 * number + i) % len(self._reworded)] for i in (0, 1)]
        languages = ["zh" if _is_chinese(text) else "en" for _, text in pair]
        if languages[0] != languages[1] or pair[0][0].subject == pair[1][0].subject:
            pair = pair[:1]
        run = self._runs[number // 4 % len(self._runs)] if number % 4 == 0 else None
        if run is not None and run.language != languages[0]:
            run = None
        passages = self._given([source.hit for source, _ in pair])
        sentences = [Sentence(text, _mark(passages, source.hit), reworded=True) for source, text in pair]
        if run is not None:
            sentences.append(Sentence(run.text, "T1", reworded=True))
        language: Language = "zh" if languages[0] == "zh" else "en"
        return PlantedAnswer("true", language, passages, run, tuple(sentences), pair[0][0].held_out)

    def _planted(self, kind: Kind, number: int) -> PlantedAnswer | None:
        if kind == "number" and number % 3 == 0:
            return self._false_run()
        true, text = self._statement(reworded=number % 2 == 1)
        chinese = _is_chinese(text)
        passages = self._given([true.hit])
        mark = _mark(passages, true.hit)
        if kind == "swapped":
            mark = str(self._chance.randint(2, len(passages)))
        elif kind == "mark":
            mark = self._chance.choice(
                (str(len(passages) + self._chance.randint(1, 20)), f"T{self._chance.randint(1, 4)}")
            )
        else:
            change = {
                "number": faults.wrong_number,
                "negated": faults.negated,
                "vendor": faults.renamed,
                "link": faults.with_link,
            }[kind]
            changed = change(text, chinese, self._chance)
            if changed is None:
                return None
            text = changed
        language: Language = "zh" if chinese else "en"
        sentences = [Sentence(text, mark, planted=True), *self._beside(true, passages, language)]
        self._chance.shuffle(sentences)
        return PlantedAnswer(kind, language, passages, None, tuple(sentences), true.held_out)

    def _false_run(self) -> PlantedAnswer:
        run = self._chance.choice(self._runs)
        text = faults.wrong_number(run.text, run.language == "zh", self._chance)
        return PlantedAnswer("number", run.language, (), run, (Sentence(text, "T1", planted=True),), run.held_out)

    def _statement(self, *, reworded: bool) -> tuple[Statement, str]:
        if reworded:
            return self._chance.choice(self._reworded)
        statement = self._chance.choice(self._said)
        return statement, statement.text

    def _beside(self, planted: Statement, passages: Sequence[Hit], language: Language) -> list[Sentence]:
        """Up to two true statements of the same passages, quoted."""
        held = {hit.chunk_id for hit in passages}
        others = [
            s for s in self._said if s.hit.chunk_id in held and s.text != planted.text and s.hit.language == language
        ]
        chosen = self._chance.sample(others, min(2, len(others)))
        return [Sentence(other.text, _mark(passages, other.hit)) for other in chosen]

    def _given(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        given = list(dict.fromkeys(hits))
        for hit in hits:
            given += [other for other in self._near.of(hit, _PASSAGES) if other not in given]
        return tuple(given[: max(_PASSAGES, len(hits))])


def faults_plain(text: str) -> str:
    """A source's sentence without its reference marks."""
    from assistant.answer.verify.evidence import plain

    return plain(text)


def _mark(passages: Sequence[Hit], hit: Hit) -> str:
    return str(next(number for number, given in enumerate(passages, 1) if given.chunk_id == hit.chunk_id))


def _is_chinese(text: str) -> bool:
    return sum("\u4e00" <= character <= "\u9fff" for character in text) > 5
