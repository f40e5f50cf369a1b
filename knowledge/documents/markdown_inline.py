"""HTML inside the lines of Markdown: comments and hidden elements go, known tags go and their text stays."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict

from knowledge.documents.characters import words

_TAGS = words(
    "a abbr b big br center cite code del details div em font i img ins kbd label mark p q s small span strong sub"
    " summary sup tt u var"
)
_CONTAINERS = words("article aside blockquote details div dl figure font footer header main ol section span table ul")
_TOKEN = re.compile(
    r"(?P<ticks>`+)|(?P<comment><!--)|<(?P<close>/?)(?P<tag>[A-Za-z][A-Za-z0-9]*)(?P<rest>(?:\s[^<>]*)?)>"
)
_HIDING = re.compile(
    r"\shidden(?:\s|=|/|$)|aria-hidden\s*=\s*[\"']?true|display\s*:\s*none|visibility\s*:\s*hidden"
    r"|font-size\s*:\s*[01](?:px|pt)?\s*(?:;|[\"']|$)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|[\"']|$)"
    r"|(?<![\w-])color\s*[:=]\s*[\"']?\s*(?:white|#fff(?:fff)?)\b",
    re.I,
)


def without_html(text: str) -> str:
    """The text as it shows: inside code nothing changes, `<br>` is a line end, unknown tags are text."""
    if "<" not in text:
        return text
    code_ends = _code_ends(text)
    kept: list[str] = []
    at = 0
    hidden: tuple[str, int] | None = None
    """The element that hides what follows, and how many of its kind are open."""
    scan = _TOKEN.search(text)
    while scan:
        resume = scan.end()
        if hidden is None:
            kept.append(text[at : scan.start()])
        at = scan.start() if hidden is None else at
        if scan["ticks"]:
            resume = code_ends.get(scan.start(), scan.end())
            if hidden is None:
                kept.append(text[scan.start() : resume])
        elif scan["comment"]:
            end = text.find("-->", scan.end())
            if end < 0:
                if hidden is None:
                    kept.append(text[scan.start() :].replace("<!--", ""))
                at = len(text)
                break
            resume = end + 3
        else:
            tag = scan["tag"].lower()
            if hidden is not None:
                if tag == hidden[0] and not scan["rest"].endswith("/"):
                    depth = hidden[1] + (-1 if scan["close"] else 1)
                    hidden = (tag, depth) if depth else None
            elif tag not in _TAGS:
                kept.append(scan[0])
            elif tag == "br":
                kept.append("\n")
            elif not scan["close"] and _HIDING.search(scan["rest"]) and tag != "img":
                hidden = (tag, 1)
        at = resume
        scan = _TOKEN.search(text, resume)
    if hidden is None:
        kept.append(text[at:])
    return "".join(kept)


def hidden_after(text: str, hidden: tuple[str, int] | None) -> tuple[str, int] | None:
    """Which element, opened in this HTML or before it, hides what follows, and how many of its kind are open."""
    for found in _TOKEN.finditer(text):
        tag = (found["tag"] or "").lower()
        if tag not in _CONTAINERS or found["rest"].endswith("/"):
            continue
        if hidden is None:
            hidden = (tag, 1) if not found["close"] and _HIDING.search(found["rest"]) else None
        elif tag == hidden[0]:
            depth = hidden[1] + (-1 if found["close"] else 1)
            hidden = (tag, depth) if depth else None
    return hidden


def _code_ends(text: str) -> dict[int, int]:
    """Where the code that begins at a run of backticks ends: after the next run of the same length."""
    runs: dict[int, list[int]] = defaultdict(list)
    for found in re.finditer("`+", text):
        runs[found.end() - found.start()].append(found.start())
    ends: dict[int, int] = {}
    for length, starts in runs.items():
        for start in starts:
            following = bisect_right(starts, start)
            if following < len(starts):
                ends[start] = starts[following] + length
    return ends
