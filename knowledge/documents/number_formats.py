"""A spreadsheet's values as its number formats show them: 0.5 as 50%, 1280 as ¥1,280.00, dates as 2026-01-31."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

_QUOTED = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)(?:-[^\]]*)?\]')
_BRACKETS = re.compile(r"\[[^\]]*\]")
_SPACERS = re.compile(r"[_*].")
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.([#0?]+))?(,*)")


def shown(value: object, number_format: str | None) -> str:
    """The value as a reader of the sheet sees it."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return _number(value, number_format or "General")
    if isinstance(value, datetime):
        midnight = value.time() == time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat(timespec="minutes")
    if isinstance(value, timedelta):
        return str(value)
    return str(value)


def plain_number(value: float) -> str:
    """A number without a format, in the fewest digits that a sheet would show."""
    if value != value or value in (float("inf"), float("-inf")):
        return ""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"


def _number(value: float, number_format: str) -> str:
    section = number_format.split(";")[0]
    if value < 0 and number_format.count(";") >= 1 and "-" not in section:
        section = number_format.split(";")[0]
    literal = _SPACERS.sub("", section)
    pattern = _BRACKETS.sub("", _QUOTED.sub(lambda m: "\x00" * len(m[0]), literal))
    digits = _DIGITS.search(pattern)
    if not digits or section.strip().lower() == "general" or "E+" in pattern or "/" in pattern:
        return plain_number(value)
    before, after = (_literals(part) for part in (literal[: digits.start()], literal[digits.end() :]))
    decimals = len(digits[1] or "")
    scaled = value * (100 if "%" in pattern else 1) / 1_000 ** len(digits[2])
    optional = (digits[1] or "").count("#")
    text = f"{abs(scaled):,.{decimals}f}" if "," in digits[0].rstrip(",") else f"{abs(scaled):.{decimals}f}"
    for _ in range(optional):
        text = text.removesuffix("0") if "." in text else text
    return ("-" if value < 0 else "") + before + text.removesuffix(".") + after


def _literals(part: str) -> str:
    text = _QUOTED.sub(lambda m: next((group for group in m.groups() if group), ""), part)
    return _BRACKETS.sub("", text)
