"""The grounded composer: chooses the statements that answer a question, without a chat model.

It works on sentences of the passages found. A sentence's evidence is its passage's fused score and its own similarity
to the question; chosen sentences are said once, in the order of their document, together with the sentences that they
depend on or that limit them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from assistant.answer.draft import CitedSpan, Statement
from assistant.answer.figures import figures
from assistant.answer.phrases import phrase
from assistant.schema import Language
from knowledge.lexical import terms
from knowledge.records import Hit, SearchResult, Sentence

BUDGET: dict[Language, int] = {"zh": 560, "en": 750}
"""Characters of statements in an answer, by the language that they are in; an answer is advice, not a page of
snippets."""
MAX_STATEMENTS = 8
JOINED = 0.25
"""Share of the budget up to which neighbouring sentences make one statement."""
PASSAGE_WINDOW = 2.5
"""Passages this far below the best one (in standard deviations) no longer answer the same question."""
LANGUAGE_WINDOW = 1.2
"""A passage in the reader's language is preferred to a better one in the other up to this difference."""
SENTENCE_WEIGHT = 0.5
WORD_WEIGHT = 1.0
"""For a sentence that holds all the rare words of the question (a name, a product): they tell rows of a table apart."""
OPENING_MARGIN = 0.5
MAX_RIVALS = 2
REPEAT_COST = 0.5
"""For each statement already taken from the same passage: a second passage near the first adds more than a fourth
statement of the first."""
LEAD_BONUS = 0.5
"""A section whose heading is a question is answered by its first sentence."""
MIN_STATEMENT: dict[Language, int] = {"zh": 8, "en": 20}
"""Shorter pieces of text say nothing when they are quoted alone."""

_REFERENCE_MARK = re.compile(r"\s*\[ref: [^\]]*\]")
_DEPENDENT = re.compile(
    r"(?:this|these|those|it|its|they|such|that|however|therefore|otherwise|also|then|instead|in addition"
    r"|as a result)\b"
    r"|(?:这|此|该|其(?!他|它|余|中一)|因此|所以|同时|另外|此外|否则|并且|而且|但|不过|然而|从而|进而|另一方面)",
    re.I,
)
_LIMITING = re.compile(
    r"(?:however|but|unless|except|only if|provided)\b|(?:但|不过|然而|除非|前提|只有|例外|仅当|需要注意|注意)", re.I
)
_SEPARATOR_LINE = re.compile(r"^\|[\s:|-]+\|[ \t]*$", re.M)
_ABSOLUTE = re.compile(
    r"\b(?:never|always|guarantee[sd]?|impossible|unlimited|infinite(?:ly)?|completely|100 ?%)\b"
    r"|无法|绝不|绝对|必然|无限|彻底|完全|均处于|全部负担|最优解|万无一失|百分之百|杜绝|确保"
    r"|(?:高达|up to)\s*\d",
    re.I,
)

_COMPARED = 1024
"""Sentences whose trigrams and figures are kept: every one of an answer's passages is compared with many others."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    hit: Hit
    rank: int
    index: int
    """Of the sentence in its passage."""
    sentence: Sentence
    evidence: float


def compose(question: str, result: SearchResult, language: Language) -> list[Statement]:
    """Statements that answer the question, best passage first; empty when nothing was found."""
    hits = _same_subject(_reader_language(result.hits, language))
    candidates = _candidates(question, hits)
    chosen = _choose(candidates)
    foreign = bool(chosen) and all(candidate.hit.language != language for candidate in chosen)
    statements = [Statement(phrase("quoted_language", language))] if foreign else []
    for group in _direct_first(_runs(chosen)):
        statements.append(_statement(group, language, first=len(statements) == int(foreign)))
        statements += [_disagreement(rival, language) for c in group for rival in _rivals(c, candidates)]
    return statements


def _reader_language(hits: Sequence[Hit], language: Language) -> list[Hit]:
    own = [hit for hit in hits if hit.language == language]
    if own and own[0].score >= hits[0].score - LANGUAGE_WINDOW:
        return own
    return list(hits)


def _same_subject(hits: Sequence[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.score >= hits[0].score - PASSAGE_WINDOW]


def _candidates(question: str, hits: Sequence[Hit]) -> list[_Candidate]:
    scores = np.array([sentence.score for hit in hits for sentence in hit.sentences], dtype=np.float64)
    if not scores.size:
        return []
    mean, spread = float(scores.mean()), float(scores.std()) or 1.0
    shared = _shared_words(question, [with_labels(hit, s) for hit in hits for s in hit.sentences])
    candidates = []
    for rank, hit in enumerate(hits):
        answered_first = LEAD_BONUS if hit.section.endswith(("?", "？")) else 0.0
        for index, sentence in enumerate(hit.sentences):
            if _is_statement(sentence, hit.language):
                evidence = hit.score + SENTENCE_WEIGHT * (sentence.score - mean) / spread
                evidence += WORD_WEIGHT * shared[with_labels(hit, sentence)]
                evidence += answered_first if index == 0 else 0.0
                candidates.append(_Candidate(hit, rank, index, sentence, evidence))
    return candidates


def _shared_words(question: str, sentences: Sequence[str]) -> dict[str, float]:
    """Sentence -> the share of the question's words that it holds, rare words counting more."""
    words = {sentence: set(terms(sentence)) for sentence in sentences}
    asked = set(terms(question))
    known = Counter(word for found in words.values() for word in found & asked)
    worth = {word: math.log(1 + len(words) / known[word]) for word in asked if known[word]}
    whole = sum(worth.values()) or 1.0
    return {sentence: sum(worth[word] for word in found & worth.keys()) / whole for sentence, found in words.items()}


def with_labels(hit: Hit, sentence: Sentence) -> str:
    """A row of a table with its columns' names, as it can stand alone; any other sentence as it is."""
    cells = [cell.strip() for cell in sentence.text.split(" | ")]
    if len(cells) < 2:
        return sentence.text
    separators = list(_SEPARATOR_LINE.finditer(hit.text, 0, sentence.start - hit.start))
    if not separators:
        return sentence.text
    line = hit.text[: separators[-1].start()].rstrip("\n").rpartition("\n")[2]
    labels = [label.strip() for label in line.strip().strip("|").split("|")]
    if len(labels) != len(cells):
        return sentence.text
    colon, semicolon, stop = ("：", "；", "。") if hit.language == "zh" else (": ", "; ", ".")
    rest = semicolon.join(f"{label} {cell}" for label, cell in zip(labels[1:], cells[1:], strict=True) if cell)
    return f"{cells[0]}{colon}{rest}{stop}"


def _is_statement(sentence: Sentence, language: Language) -> bool:
    text = _shown(sentence.text)
    return len(text) >= MIN_STATEMENT[language] and not text.endswith(("?", "？", ":", "："))


def _choose(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Greedy by evidence within the budget; a sentence brings along what it depends on and what limits it."""
    by_place = {(c.rank, c.index): c for c in candidates}
    chosen: dict[tuple[int, int], _Candidate] = {}
    used = 0.0
    waiting = sorted(candidates, key=lambda c: -c.evidence)
    while waiting:
        taken = Counter(rank for rank, _ in chosen)
        candidate = max(waiting, key=lambda c: c.evidence - REPEAT_COST * taken[c.rank])
        waiting.remove(candidate)
        if (candidate.rank, candidate.index) in chosen:
            continue
        bundle = [c for c in _bundle(candidate, by_place) if (c.rank, c.index) not in chosen]
        if any(_says_again(c, other) for c in bundle for other in chosen.values()):
            continue
        cost = sum(_cost(c) for c in bundle)
        more = chosen | {(c.rank, c.index): c for c in bundle}
        if chosen and (used + cost > 1 or len(_runs(_in_order(more.values()))) > MAX_STATEMENTS):
            continue
        used += cost
        chosen = more
    return _in_order(chosen.values())


def _in_order(chosen: Collection[_Candidate]) -> list[_Candidate]:
    """By passage, the one with the best sentence first, then as they stand in it."""
    best: dict[int, float] = {}
    for candidate in chosen:
        best[candidate.rank] = max(candidate.evidence, best.get(candidate.rank, -math.inf))
    return sorted(chosen, key=lambda c: (-best[c.rank], c.rank, c.index))


def _rivals(candidate: _Candidate, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """What other documents say in nearly the same words with another figure."""
    figures_said = _figures(candidate)
    rivals = {
        other.hit.document_id: other
        for other in candidates
        if other.hit.document_id != candidate.hit.document_id
        and _figures(other) != figures_said
        and _says_again(candidate, other)
    }
    return list(rivals.values())[:MAX_RIVALS]


def _figures(candidate: _Candidate) -> frozenset[float]:
    return _figures_in(candidate.sentence.text)


@lru_cache(maxsize=_COMPARED)
def _figures_in(text: str) -> frozenset[float]:
    return frozenset(figure.readings[0] for figure in figures(_REFERENCE_MARK.sub("", text)))


def _bundle(candidate: _Candidate, by_place: dict[tuple[int, int], _Candidate]) -> list[_Candidate]:
    bundle = [candidate]
    while _DEPENDENT.match(bundle[0].sentence.text) and (before := by_place.get((candidate.rank, bundle[0].index - 1))):
        bundle.insert(0, before)
    while (after := by_place.get((candidate.rank, bundle[-1].index + 1))) and _LIMITING.match(after.sentence.text):
        bundle.append(after)
    return bundle


def _says_again(one: _Candidate, other: _Candidate) -> bool:
    """Whether two sentences share most of their character trigrams."""
    first, second = _trigrams(one.sentence.text), _trigrams(other.sentence.text)
    return len(first & second) > 0.6 * min(len(first), len(second))


@lru_cache(maxsize=_COMPARED)
def _trigrams(text: str) -> frozenset[str]:
    folded = re.sub(r"\W+", "", text.casefold())
    return frozenset(folded[i : i + 3] for i in range(max(1, len(folded) - 2)))


def _runs(chosen: Sequence[_Candidate]) -> list[list[_Candidate]]:
    """Neighbouring sentences of one passage make one statement where they are short or the later needs the earlier."""
    runs: list[list[_Candidate]] = []
    for candidate in chosen:
        last = runs[-1][-1] if runs else None
        text = candidate.sentence.text
        if (
            last
            and last.rank == candidate.rank
            and last.index + 1 == candidate.index
            and (_DEPENDENT.match(text) or _LIMITING.match(text) or _joins(runs[-1], candidate))
        ):
            runs[-1].append(candidate)
        else:
            runs.append([candidate])
    return runs


def _joins(run: Sequence[_Candidate], candidate: _Candidate) -> bool:
    """Whether a sentence goes on in the line of those before it, and there is room."""
    hit, end = candidate.hit, candidate.sentence.start
    between = hit.text[run[-1].sentence.end - hit.start : end - hit.start]
    in_line = "\n" not in between and " | " not in candidate.sentence.text
    return in_line and sum(_cost(one) for one in run) + _cost(candidate) <= JOINED


def _cost(candidate: _Candidate) -> float:
    """Share of the budget."""
    return len(_shown(candidate.sentence.text)) / BUDGET[candidate.hit.language]


def _direct_first(groups: list[list[_Candidate]]) -> list[list[_Candidate]]:
    """The statement with clearly the most evidence opens the answer; the others stay in their order."""
    if not groups:
        return groups
    evidence = [max(candidate.evidence for candidate in group) for group in groups]
    best = int(np.argmax(evidence))
    if evidence[best] < evidence[0] + OPENING_MARGIN:
        return groups
    return [groups[best], *groups[:best], *groups[best + 1 :]]


def _statement(group: Sequence[_Candidate], language: Language, *, first: bool) -> Statement:
    hit = group[0].hit
    start, end = group[0].sentence.start, group[-1].sentence.end
    span = CitedSpan(hit, start, end)
    text = _shown(span.quote if len(group) > 1 else with_labels(hit, group[0].sentence))
    if hit.language != language:
        text = f"「{text}」" if hit.language == "zh" else f"“{text}”"
    if not hit.references and _ABSOLUTE.search(text):
        text += phrase("unsourced_claim", language)
    return Statement(text, (span,), place="paragraph" if first else "item")


def _disagreement(rival: _Candidate, language: Language) -> Statement:
    said = _statement([rival], language, first=False)
    date = f" ({rival.hit.date})" if rival.hit.date else ""
    return Statement(
        phrase("disagrees", language, title=f"{rival.hit.title}{date}") + said.text, said.spans, place="item"
    )


def _shown(text: str) -> str:
    """A quote as it is read: reference marks left out, on one line, ended as a sentence."""
    line = re.sub(r"\s*\n\s*", " ", _REFERENCE_MARK.sub("", text)).strip()
    return re.sub(r"\s*[;；]$", lambda end: "。" if "；" in end.group() else ".", line)
