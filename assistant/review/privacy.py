"""What may be kept of a question that somebody else will read."""

from __future__ import annotations

import re
from typing import Literal

from assistant.schema import Answer

Keep = Literal["full", "redacted", "none"]

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("address", re.compile(r"\b(?:https?|ftp|ssh|s3|oss|gs)://[^\s<>，。；、）)]+", re.IGNORECASE)),
    ("mail", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("number", re.compile(r"(?<![\w.])\d{17}[\dXx](?!\w)")),  # of a Chinese identity card
    ("number", re.compile(r"(?<![\w.,])(?:\d[ -]?){15}\d(?:[ -]?\d){0,3}(?![\w.,]?\d)")),  # of a card or an account
    ("phone", re.compile(r"(?<![\w.,])(?:\+?86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}(?!\w)")),
    ("phone", re.compile(r"(?<![\w.,])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?!\w)")),
    ("phone", re.compile(r"(?<![\w.,])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\w)")),
    ("host", re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2}|:\d{1,5})?(?![\w.]*\d)")),
    # A run without separators, as no model or instance is named, after prefixes such as "sk-proj-".
    ("key", re.compile(r"\b(?:[A-Za-z]{1,8}[-_]){0,3}(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9+/]{20,}={0,2}(?!\w)")),
    (
        "key",
        re.compile(
            r"(?i)\b(?:password|passwd|secret|token|api[_ -]?key)\b\s*[:=]\s*\S+|(?:密码|口令|密钥)\s*[:：=]\s*\S+"
        ),
    ),
)


def kept(text: str, keep: Keep) -> str | None:
    """The text as it may be kept; None where nothing may be."""
    if keep == "none":
        return None
    return redacted(text) if keep == "redacted" else text


def redacted(text: str) -> str:
    """The text without mail addresses, telephone and account numbers, hosts, web addresses, keys and passwords.

    Amounts such as "1,000,000 tokens" or "70B" stay; names of people are not known and stay too.
    """
    for what, pattern in _PATTERNS:
        text = pattern.sub(f"[{what}]", text)
    return text


def kept_answer(answer: Answer, keep: Keep) -> Answer:
    """An answer as it may be kept beside a thumb: whole, with its question redacted, or without either."""
    if keep == "full":
        return answer
    changes: dict[str, object] = {"question": kept(answer.question, keep) or "", "state": {}}
    if keep == "none":
        changes |= {"text": "", "citations": [], "tool_runs": [], "missing": [], "follow_ups": [], "warnings": []}
    return answer.model_copy(update=changes)
