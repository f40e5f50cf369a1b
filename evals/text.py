"""Text as the metrics see it: folded for matching, split into statements with their marks."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT_RUN = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_ONE = r"T?\d+"
MARK = re.compile(rf"\[({_ONE}(?:\s*[,;，、]\s*{_ONE})*)\]")
"""`[1]`, `[T2]`, `[1, 3]`."""
_INVISIBLE = re.compile(r"[\u200b-\u200f\ufeff]")
_DASHES = re.compile(r"[‐‑–—−~～〜]")


def normalise(text: str) -> str:
    """NFKC. A superscript power becomes `^n` first, since NFKC alone makes 1022 of 10²²."""
    powers = _SUPERSCRIPT_RUN.sub(lambda m: "^" + m.group().translate(_SUPERSCRIPTS), text)
    return unicodedata.normalize("NFKC", powers)


def marks(text: str) -> list[str]:
    """The marks of a text in order, each as `1` or `T1`, repeated ones too."""
    return [one for found in MARK.finditer(text) for one in re.findall(_ONE, found.group(1))]


def without_marks(text: str) -> str:
    """The text with a space for each mark."""
    return MARK.sub(" ", text)


def fold(text: str) -> str:
    """The form that key points and forbidden statements are matched in: no marks, emphasis, case or dash variants."""
    plain = without_marks(normalise(text)).replace("**", "").replace("`", "").replace("\\times", "×")
    plain = _INVISIBLE.sub("", plain).casefold()
    return _DASHES.sub("-", re.sub(r"[ \t\u00a0]+", " ", plain)).strip()


def squeeze(text: str) -> str:
    """The text without white space; Chinese and Latin words may stand with or without a space between them."""
    return re.sub(r"\s+", "", text)


_QUOTED = re.compile(r"「[^」]*」|“[^”]*”|\"[^\"]*\"|^>.*$", re.M)


def han_share(text: str) -> float | None:
    """Share of Chinese in the prose, quotations left out; a Latin word weighs one and a half Han characters.

    None for text with neither.
    """
    prose = _QUOTED.sub(" ", text)
    han = len(re.findall(r"[\u4e00-\u9fff]", prose))
    words = len(re.findall(r"[A-Za-z]+", prose))
    return han / (han + 1.5 * words) if han + words else None


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim of an answer and the marks that stand behind it."""

    text: str
    """Without marks."""
    marks: tuple[str, ...]
    earlier: tuple[str, ...] = ()
    """Those of `marks` that belong to an earlier clause of the sentence, where they were a statement's own."""


_TRAILING_MARKS = rf"(?:\s*\[{_ONE}(?:\s*[,;，、]\s*{_ONE})*\])*"
_SENTENCE_END = re.compile(
    rf"(?:[。！？；](?:[」』”’）)])*|(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)[.!?;](?:[\"')”’])*(?={_TRAILING_MARKS}(?:\s|$)))"
    + _TRAILING_MARKS
)
_MARKED_CLAUSE = re.compile(rf"\[{_ONE}(?:\s*[,;，、]\s*{_ONE})*\]\s*[，,；;、]")
_LIST_MARKER = re.compile(r"^\s*(?:[-*+•]|\d+[.)、])\s+|^\s*\d+、")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
_REMARK = re.compile(
    r"[(（][^()（）]*(?:资料|文档|原文|来源|出处|\b(?:document|source|text|quoted)s?\b)[^()（）]*[)）]", re.I
)
"""A remark in brackets on the source, not a claim about the world."""
_ABOUT_THE_ANSWER = re.compile(
    r"原文|以下(?:引用|为)|资料(?:只有|仅有|里)|知识库|未经翻译"
    r"|\b(?:quoted?|quotations?|in (?:Chinese|English)|knowledge base|indexed|the sources?|original language)\b",
    re.I,
)


_REQUEST = re.compile(
    r"^\W*(?:请(?:先|再)?(?:说明|提供|告诉|补充|给出|确认)|还(?:差|缺|需要).{0,6}(?:信息|知道)"
    r"|please (?:say|give|tell|provide|name|confirm|specify)|to (?:work|figure) this out i need"
    r"|i (?:still )?need to know)",
    re.I,
)
"""A line that asks for what is missing."""


def statements(text: str) -> list[Statement]:
    """The claims of an answer: its sentences and list items, without headings, lead-ins and questions.

    A mark stands behind every sentence before it in its line, back to the previous mark; marks after the end of a
    sentence belong to it, and marks alone in a line to what is unmarked right above, as a table. No claims are: what
    asks, what only tells how the answer is made ("quoted from the Chinese source", also in brackets), a table's header.
    """
    lines = text.splitlines()
    found: list[Statement] = []
    for number, line in enumerate(lines):
        header = line.lstrip().startswith("|") and number + 1 < len(lines) and _RULE.match(lines[number + 1])
        if not line.strip() or _HEADING.match(line) or _RULE.match(line) or header:
            continue
        alone = not re.sub(r"\W", "", without_marks(line))
        if alone and marks(line):
            unmarked = len(found) - next((i for i, s in enumerate(reversed(found)) if s.marks), len(found))
            found[unmarked:] = [Statement(s.text, tuple(marks(line))) for s in found[unmarked:]]
            continue
        claims: list[Statement] = []
        waiting = 0
        for sentence in _sentences(_LIST_MARKER.sub("", _REMARK.sub("", line).lstrip("> "))):
            parts = [part for part in _cumulative_clauses(sentence) if len(re.sub(r"\W", "", part.text)) >= 4]
            cited = tuple(marks(sentence))
            claims[waiting:] = [Statement(c.text, c.marks or cited) for c in claims[waiting:]]
            claims += parts
            if cited:
                waiting = len(claims)
        asks = _REQUEST.search(line) is not None
        found += [
            c for c in claims if c.marks or not (asks or _is_no_claim(c.text) or _ABOUT_THE_ANSWER.search(c.text))
        ]
    return found


def _sentences(line: str) -> list[str]:
    """Sentences with their trailing marks."""
    ends = [m.end() for m in _SENTENCE_END.finditer(line)]
    parts = [line[a:b] for a, b in zip([0, *ends], [*ends, len(line)], strict=True)]
    return [part for part in parts if part.strip()]


def _cumulative_clauses(sentence: str) -> list[Statement]:
    """The sentence up to each of its marked clauses, and whole: a later clause is understood with those before it."""
    ends = [m.end() for m in _MARKED_CLAUSE.finditer(sentence) if m.end() < len(sentence.rstrip())]
    parts = [sentence[:end] for end in (*ends, len(sentence))]
    return [
        Statement(
            re.sub(r"\s+", " ", without_marks(part)).replace("**", "").strip(" ,，、"),
            tuple(marks(part)),
            tuple(marks(before)),
        )
        for before, part in zip(["", *parts], parts, strict=False)
    ]


def _is_no_claim(claim: str) -> bool:
    """A lead-in to what follows, or a question."""
    return claim.rstrip("*_ ").endswith((":", "：", "?", "？"))
