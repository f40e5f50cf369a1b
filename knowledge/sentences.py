"""Splits prose in Chinese and English into statements; linear in the length of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.records import Span

_ABBREVIATION = re.compile(
    r"approx|avg|ca|cf|co|corp|dept|dr|eds?|e\.g|eg|eq|esp|est|etc|figs?|i\.e|ie|inc|incl|jr|ltd|mr|mrs|ms|pp|prof|resp|sect"
    r"|sr|st|vols?|vs|viz|u\.s|u\.k|u\.n|a\.m|p\.m|ph\.d",
    re.I,
)
_BEFORE_NUMBER = re.compile(
    r"art|ch|ex|max|min|nos?|para|ref|sec|tab|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec", re.I
)
"""Words, or abbreviations when a number follows."""
_STOP = re.compile("[。！？!?…]+|\\.+|[；;]|\n")
_CLOSERS = "\"'”’」』）)】》〉]*_"
_OPENING = "“‘「『（(【《〈[\"'"
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_WORD_BEFORE = re.compile(r"(?:^|[\s(（\[“\"'，,、：:\u3400-\u9fff])([A-Za-z](?:[A-Za-z]|\.(?=[A-Za-z]))*)$")
_CONNECTIVE = re.compile(
    r"\s*(?:或|而|但|则|否则|也|还|并|且|因此|所以|从而|同时|另外|此外|反之|不然|然后|再|即|and\b|or\b|but\b|so\b|otherwise\b|then\b"
    r"|therefore\b|thus\b|hence\b|while\b|whereas\b|not\b|however\b|if not\b)",
    re.I,
)
_CONDITION = re.compile(
    r"\s*(?:如果|若|当|如(?!下|何|图|表)|一旦|只要|只有|除非|假如|倘若|即使"
    r"|if\b|when\b|unless\b|once\b|although\b|in case\b)",
    re.I,
)
_COLON = re.compile("[：:](?!//)")
_LEAST = 12
"""Characters (a Latin letter counts for half of a Han character) of a statement between semicolons."""
_PARENTHESIS = 300
"""Characters after which an open parenthesis is taken for one that was never closed."""


def split_sentences(text: str, start: int, end: int) -> list[Span]:
    """Statements of text[start:end], in order; blank edges are left out.

    Full stops of abbreviations, decimals, versions, initials and URLs don't end one, nor do those in parentheses or in
    front of a closing quote that goes on. A semicolon does when both sides can stand alone.
    """
    spans: list[Span] = []
    begin = start
    for cut in _cuts(text, start, end):
        span = trimmed(text, begin, cut)
        if span.end > span.start:
            spans.append(span)
        begin = cut
    span = trimmed(text, begin, end)
    if span.end > span.start:
        spans.append(span)
    return spans


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without blanks at its edges."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def weight(text: str) -> float:
    """Length of a text in Han characters; a Latin letter carries less than half of one."""
    han = len(_HAN.findall(text))
    return han + (len(text) - han) * 0.45


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    begin = start
    opened: list[int] = []
    scan = start
    for stop in _STOP.finditer(text, start, end):
        _follow_parentheses(text, scan, stop.start(), opened)
        scan = stop.end()
        if opened and stop.start() - opened[-1] > _PARENTHESIS:
            opened.clear()
        if opened:
            continue
        mark = stop[0]
        after = stop.end()
        while after < end and text[after] in _CLOSERS and not _opens(text, after, end):
            after += 1
        if mark in "；;":
            ends = _semicolon_ends(text, begin, stop.start(), after, end)
        elif mark == "\n":
            ends = False
        elif mark[0] == ".":
            ends = _period_ends(text, begin, stop.start(), mark, after, end)
        elif mark[0] in "!?":
            ends = after >= end or text[after].isspace() or bool(_HAN.match(text[after]))
        elif mark[0] == "…":
            ends = (after < end and (text[after].isspace() or "。" in mark)) or len(mark) >= 2
        else:
            ends = after == stop.end() or mark[-1] == "。" or after >= end or not _HAN.match(text[after])
        if ends and after > begin:
            yield after
            begin = after


def _follow_parentheses(text: str, start: int, end: int, opened: list[int]) -> None:
    for i in range(start, end):
        character = text[i]
        if character in "（(":
            opened.append(i)
        elif character in "）)" and opened:
            opened.pop()


def _opens(text: str, i: int, end: int) -> bool:
    """A straight quote or asterisk opens something when a word follows at once and none is before."""
    return text[i] in "\"'*_[" and text[i - 1].isspace() and i + 1 < end and not text[i + 1].isspace()


def _period_ends(text: str, begin: int, at: int, mark: str, after: int, end: int) -> bool:
    if after >= end:
        return True
    following = text[after]
    if _HAN.match(following):
        return not (at > begin and text[at - 1].isdigit() and at - begin <= 3)
    if not following.isspace():
        return False
    if len(mark) >= 3:
        nxt = text[after:end].lstrip()[:1] if end - after < 200 else text[after : after + 200].lstrip()[:1]
        return not nxt.islower()
    before = _WORD_BEFORE.search(text, max(begin, at - 20), at)
    if before:
        word = before[1]
        if _BEFORE_NUMBER.fullmatch(word) and text[after : after + 2].strip()[:1].isdigit():
            return False
        if (len(word) == 1 and word.isupper() and word != "I") or _ABBREVIATION.fullmatch(word):
            return word.lower() == "etc" and _next_is_upper(text, after, end)
    if text[begin:at].strip().isdigit() and at - begin <= 5:
        return False
    return not _next_is_lower(text, after, end)


def _next_is_lower(text: str, after: int, end: int) -> bool:
    nxt = text[after : min(after + 50, end)].lstrip()
    return nxt[:1].islower()


def _next_is_upper(text: str, after: int, end: int) -> bool:
    nxt = text[after : min(after + 50, end)].lstrip(" \n\t" + _OPENING)
    return nxt[:1].isupper()


def _semicolon_ends(text: str, begin: int, at: int, after: int, end: int) -> bool:
    """Whether what is before and what is after can each be quoted alone."""
    if at - begin > 400:
        return True
    left = text[begin:at]
    right = text[after : after + 400]
    nearest = re.search("[。！？；;\n]|\\.\\s", right)
    right = right[: nearest.start()] if nearest else right
    if weight(left) < _LEAST or weight(right) < _LEAST or _CONNECTIVE.match(right):
        return False
    if _COLON.search(left):
        return False
    condition = _CONDITION.match(left)
    return not (condition and not re.search("[，,]", left[condition.end() :]))
