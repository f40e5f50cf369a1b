"""Numbers as a reader wants them: 万/亿 in Chinese and k/M/B in English, currencies, times, bytes, percent.

An estimate is shown to two to four significant digits, never with more than is known; an exact amount of money stays
exact to the cent.
"""

from __future__ import annotations

import math

from assistant.schema import Language

_ZH_STEPS = ((1e12, "万亿"), (1e8, "亿"), (1e4, "万"))
_EN_STEPS = ((1e15, "Q"), (1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_SYMBOLS = {"USD": "$", "CNY": "¥", "EUR": "€", "GBP": "£"}
_BYTE_STEPS = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_FLOP_STEPS = ((1e18, "EFLOP/s"), (1e15, "PFLOP/s"), (1e12, "TFLOP/s"), (1e9, "GFLOP/s"))
_RATE_STEPS = ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"))
_MINUTE, _HOUR, _DAY, _YEAR = 60.0, 3600.0, 86400.0, 365.25 * 86400.0


def significant(value: float, digits: int = 3) -> str:
    """A plain number with that many significant digits, thousands grouped, no exponent, no trailing zeros.

    Whole parts are never cut: 12345 with 3 digits is 12,300.
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    text = f"{rounded:,.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def exact(value: float) -> str:
    """All that is known of a number: thousands grouped, up to six decimals, no trailing zeros."""
    text = f"{value:,.6f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def number(value: float, language: Language, digits: int = 3) -> str:
    """A count, scaled: 1.4万亿, 700亿, 3.2万; 1.4T, 70B, 32k. Below ten thousand it is written out."""
    if abs(value) >= 1e16:
        return power(value, digits)
    if abs(value) < 1e4:
        return significant(value, max(digits, 4) if abs(value) >= 1000 else digits)
    steps = _ZH_STEPS if language == "zh" else _EN_STEPS
    scale, suffix = next(step for step in steps if abs(value) >= step[0] * 0.9995)
    return significant(value / scale, digits) + suffix


def power(value: float, digits: int = 3) -> str:
    """A huge number in powers of ten: 3.12×10^23."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    mantissa = round(value / 10.0**exponent, digits - 1)
    if abs(mantissa) >= 10:
        mantissa, exponent = mantissa / 10, exponent + 1
    return f"{mantissa:g}×10^{exponent}"


def parameters(value: float) -> str:
    """A model's size as people say it in either language: 7B, 1.5B, 124M, 1T."""
    for scale, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if abs(value) >= scale * 0.9995:
            return significant(value / scale, 3) + suffix
    return significant(value, 3)


def money(value: float, currency: str, language: Language, *, is_exact: bool = False, digits: int = 3) -> str:
    """An amount of money. `is_exact`: to the cent, from exact inputs; otherwise scaled and rounded."""
    symbol = _SYMBOLS.get(currency, "")
    unit = "" if symbol else f" {currency}"
    sign = "-" if value < 0 else ""
    size = abs(value)
    if 0 < size < 0.1:
        return f"{sign}{symbol}{significant(size, digits)}{unit}"
    if is_exact or size < 100:
        return f"{sign}{symbol}{size:,.2f}{unit}"
    if size < 1e4:
        return f"{sign}{symbol}{significant(size, max(digits, 4))}{unit}"
    return f"{sign}{symbol}{number(size, language, digits)}{unit}"


def money_range(low: float, high: float, currency: str, language: Language) -> str:
    """A range of money."""
    return f"{money(low, currency, language)}–{money(high, currency, language)}"


def percent(fraction: float, digits: int = 3) -> str:
    """0.251 as 25.1%."""
    return f"{significant(fraction * 100, digits)}%"


def duration(seconds: float, language: Language, digits: int = 3) -> str:
    """A span of time in the unit that reads best: 3.9 毫秒, 0.039 秒, 8.2 分钟 / 3.9 ms, 0.039 s, 8.2 minutes."""
    zh = language == "zh"
    for limit, scale, zh_unit, en_unit in (
        (1e-3, 1e-6, "微秒", "µs"),
        (9.95e-3, 1e-3, "毫秒", "ms"),
        (2 * _MINUTE, 1.0, "秒", "s"),
        (2 * _HOUR, _MINUTE, "分钟", "minutes"),
        (2 * _DAY, _HOUR, "小时", "hours"),
        (2 * _YEAR, _DAY, "天", "days"),
        (math.inf, _YEAR, "年", "years"),
    ):
        if abs(seconds) < limit:
            return f"{significant(seconds / scale, digits)} {zh_unit if zh else en_unit}"
    return str(seconds)


def days(value: float, language: Language, digits: int = 3) -> str:
    """A number of days, always in days: 20.8 天 / 20.8 days."""
    unit = "天" if language == "zh" else ("day" if significant(value, digits) == "1" else "days")
    return f"{significant(value, digits)} {unit}"


def data(value: float, digits: int = 3) -> str:
    """Bytes in decimal units: 112 GB, 1.96 TB."""
    return _stepped(value, _BYTE_STEPS, "B", digits)


def gigabytes(value: float, digits: int = 3) -> str:
    """Bytes as decimal gigabytes, whatever their size, so that they compare with a card's memory: 0.84 GB, 1,120 GB."""
    size = abs(value / 1e9)
    return f"{significant(value / 1e9, max(digits, 4) if size >= 1000 else digits)} GB"


def gibibytes(value: float, digits: int = 3) -> str:
    """Bytes as binary gibibytes: 74.5 GiB."""
    size = abs(value / 2**30)
    return f"{significant(value / 2**30, max(digits, 4) if size >= 1000 else digits)} GiB"


def compute(flops_per_second: float, digits: int = 3) -> str:
    """A compute rate: 312 TFLOP/s."""
    return _stepped(flops_per_second, _FLOP_STEPS, "FLOP/s", digits)


def bandwidth(bits_per_second: float, digits: int = 3) -> str:
    """A line's rate in bits: 10 Gb/s."""
    return _stepped(bits_per_second, _RATE_STEPS, "b/s", digits)


def _stepped(value: float, steps: tuple[tuple[float, str], ...], base: str, digits: int) -> str:
    for scale, unit in steps:
        if abs(value) >= scale * 0.9995:
            return f"{significant(value / scale, digits)} {unit}"
    return f"{significant(value, digits)} {base}"


def count(value: float, noun_zh: str, noun_en: str, language: Language) -> str:
    """A whole number of things: 768 张卡, 768 GPUs; one thing in the singular."""
    whole = f"{round(value):,}"
    if language == "zh":
        return f"{whole} {noun_zh}"
    return f"{whole} {noun_en.removesuffix('s') if whole == '1' else noun_en}"
