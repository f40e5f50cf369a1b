"""Numbers in an answer's text, and whether what it rests on says them.

A number counts as said when a cited span or a calculation holds the same value, after scale words (万, 亿, k, M, B),
percent signs and units of one dimension (GB and TB, hours and days) are taken into account, within half of the last
digit shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assistant.schema import ToolRun

_NUMBER = re.compile(
    r"(?<![\w.])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:\s?[×x]\s?10\^?(?P<power>-?\d+)|[eE](?P<exponent>[+-]?\d+))?"
)
_SCALES = {
    "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "十亿": 1e9, "百亿": 1e10, "千亿": 1e11, "万亿": 1e12,
    "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "thousand": 1e3, "million": 1e6, "billion": 1e9,
    "trillion": 1e12,
}  # fmt: skip
_SCALE = re.compile(
    r"\s?(万亿|千亿|百亿|十亿|千万|百万|亿|万|千(?!瓦)|thousand|million|billion|trillion|[kKMBT](?![A-Za-z]))"
)
_UNITS = {
    "%": 0.01, "成": 0.1,
    "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "G": 1e9, "TB": 1e12, "PB": 1e15, "KiB": 2.0**10,
    "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
    "µs": 1e-6, "微秒": 1e-6, "ms": 1e-3, "毫秒": 1e-3, "秒": 1, "seconds": 1, "s": 1, "min": 60, "minutes": 60,
    "分钟": 60, "hours": 3600, "h": 3600,
    "小时": 3600, "个小时": 3600, "天": 86400, "days": 86400, "day": 86400, "周": 604800, "weeks": 604800,
    "kb/s": 1e3, "Tb/s": 1e12, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Gbit/s": 1e9, "Tbps": 1e12,
    "Gb/s": 1e9, "Mb/s": 1e6, "MB/s": 1e6, "GB/s": 1e9,
    "kWh": 1e3, "MWh": 1e6, "GWh": 1e9, "kW": 1e3, "MW": 1e6, "TFLOPS": 1e12, "TFLOP/s": 1e12,
    "PFLOP/s": 1e15, "EFLOP/s": 1e18, "PFLOPS": 1e15, "kg": 1, "t": 1e3, "吨": 1e3,
}  # fmt: skip
_UNIT = re.compile(r"\s?(" + "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True)) + r")(?![A-Za-z])")
_ESTIMATE_DIGITS = 3
"""Estimates are shown with at least this many; a zero after them may stand for any digit."""
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_MARKS = re.compile(r"\[T?\d+\]")
_LIST_NUMBER = re.compile(r"^\s*\d{1,2}[.)、]\s", re.M)
_NAME = re.compile(r"[A-Za-z][A-Za-z]*-?\d[\w.-]*|\d+[A-Za-z]{2,}\d\w*")
"""A100, ZeRO-3, p5.48xlarge: digits of a name are no figures."""


_POWER_OF_TEN = re.compile(r"(?<![\d×x.])10\^\d+")
"""Part of a unit ("a 10^18 FLOP")."""
_RANGE = re.compile(r"\s?[–~～至到-]\s?\d[\d,.]*")
"""The first number of "22–41%" has the unit of the second."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as written, every value that it may stand for, and half of its last digit relative to the value."""

    text: str
    readings: tuple[float, ...]
    tolerance: float


def figures(text: str) -> list[Figure]:
    """All numbers of a text in order; marks, list numbers and digits inside names are none."""
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda m: "^" + m.group().translate(_SUPERSCRIPTS), text)
    text = unicodedata.normalize("NFKC", _LIST_NUMBER.sub(" ", _MARKS.sub(" ", text)))
    text = _POWER_OF_TEN.sub(" ", _NAME.sub(" ", text))
    return [_figure(match, text) for match in _NUMBER.finditer(text)]


def _figure(match: re.Match[str], text: str) -> Figure:
    digits = match["digits"].replace(",", "")
    value = float(digits)
    power = match["power"] or match["exponent"]
    if power:
        value *= 10.0 ** max(-60, min(60, int(power)))
    tolerance = 0.5 * _last_digit(digits) / float(digits) if float(digits) else 0.0
    readings, end = [value], match.end()
    if second := _RANGE.match(text, end):
        end = second.end()
    if scale := _SCALE.match(text, end):
        readings.append(value * _SCALES[scale.group(1)])
        end = scale.end()
    if unit := _UNIT.match(text, end):
        readings += [reading * _UNITS[unit.group(1)] for reading in readings]
    return Figure(match.group(), tuple(readings), min(0.05, tolerance * 1.001 + 1e-9))


def _last_digit(digits: str) -> float:
    """What one step of the last digit known is worth; 8610 may be 8612 to three digits, 300 is no 320."""
    whole, _, decimals = digits.partition(".")
    if decimals:
        return float(10.0 ** -len(decimals))
    zeros = len(whole) - len(whole.rstrip("0"))
    return float(10 ** max(0, min(zeros, len(whole) - _ESTIMATE_DIGITS)))


def unsupported(text: str, support: Iterable[float]) -> list[str]:
    """The numbers of `text` that none of the supporting values says."""
    values = [value for value in support if value]
    missing = []
    for figure in figures(text):
        if any(reading == 0 for reading in figure.readings):
            continue
        if not any(_close(reading, value, figure.tolerance) for reading in figure.readings for value in values):
            missing.append(figure.text)
    return missing


def _close(shown: float, value: float, tolerance: float) -> bool:
    return abs(shown - abs(value)) <= tolerance * max(shown, abs(value))


def values_of_text(text: str) -> Iterator[float]:
    """Every value that the numbers of a text may stand for."""
    for figure in figures(text):
        yield from figure.readings


def values_of_run(run: ToolRun) -> Iterator[float]:
    """Every value that a calculation holds: inputs, results, and the numbers in its formula and notes."""
    for name, given in run.inputs.items():
        yield from _values(name, given.value)
    for name, value in run.result.items():
        yield from _values(name, value)
    for note in (run.formula, *run.assumptions, *run.warnings):
        yield from values_of_text(note)
    for source in run.sources:
        yield from values_of_text(f"{source.name} {source.as_of or ''}")


_SUFFIXES = {
    "seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0, "weeks": 604800.0,
    "gb": 1e9, "gib": 2.0**30, "tb": 1e12, "kwh": 1e3, "mwh": 1e6, "kg": 1.0, "tonnes": 1e3, "tflops": 1e12,
    "gbps": 1e9, "percent": 0.01,
}  # fmt: skip


def _values(name: str, value: Any) -> Iterator[float]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield float(value)
        factor = _SUFFIXES.get(name.removesuffix("_range").rpartition("_")[2])
        if factor:
            yield float(value) * factor
        if name.endswith("bits_per_second"):
            yield float(value) / 8
        return
    if isinstance(value, str):
        yield from values_of_text(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from values_of_text(str(key))
            yield from _values(str(key), inner)
    elif isinstance(value, list | tuple):
        yield float(len(value))
        for inner in value:
            yield from _values(name, inner)
