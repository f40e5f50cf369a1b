"""The evaluation's own reader of figures: every number of a text with the quantities it may stand for.

It shares nothing with the parser of the assistant, so that a mistake of that parser can't hide itself. Where writing
is ambiguous every reading is kept: `60%` is the fraction 0.6; `0.6` without a unit is accepted for 60 percent, a bare
`60` is not; `5M` is five, and five million; `T` after a number is a scale and a terabyte; `块` is a yuan, or a card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from evals.text import normalise, without_marks

UNITS: dict[str, tuple[str, float]] = {
    "s": ("time", 1.0),
    "seconds": ("time", 1.0),
    "minutes": ("time", 60.0),
    "hours": ("time", 3600.0),
    "days": ("time", 86_400.0),
    "months": ("time", 2_592_000.0),
    "years": ("time", 31_536_000.0),
    "gpu_hours": ("gpu_time", 3600.0),
    "CNY": ("CNY", 1.0),
    "USD": ("USD", 1.0),
    "bytes": ("bytes", 1.0),
    **{f"{prefix}B": ("bytes", 1e3**power) for power, prefix in enumerate("KMGTP", 1)},
    **{f"{prefix}iB": ("bytes", 1024.0**power) for power, prefix in enumerate("KMGTP", 1)},
    "Mbps": ("bandwidth", 1e6),
    "Gbps": ("bandwidth", 1e9),
    "kWh": ("energy", 1.0),
    "tCO2": ("mass", 1e3),
    "percent": ("fraction", 0.01),
    "ratio": ("fraction", 1.0),
    "flops": ("flops", 1.0),
    "tokens": ("tokens", 1.0),
    "tokens_per_second": ("token_rate", 1.0),
    "count": ("count", 1.0),
}
"""Units a suite may expect: dimension and factor to the dimension's base. A month has 30 days, a year 365."""

_GPU = r"(?:gpu|accelerator|card|[ah][128]00|h20|v100|4090)"
_HOUR = r"(?:hours?|hrs?|h\b|小时|时(?!间))"
_WRITTEN: tuple[tuple[str, float, str], ...] = (
    ("time", 1e-6, r"[µμ]s\b|微秒"),
    ("time", 1e-3, r"ms\b|milliseconds?|毫秒"),
    ("time", 1.0, r"s\b|secs?\b|seconds?|秒钟?"),
    ("time", 60.0, r"mins?\b|minutes?|分钟|分(?![之片布别散])"),
    ("time", 3600.0, rf"个?{_HOUR}|个?钟头"),
    ("time", 86_400.0, r"d\b|(?:working |business )?days?|天|个?(?:自然|工作)日|日(?!志)"),
    ("time", 604_800.0, r"wks?\b|weeks?|个?星期|礼拜|周(?!期)"),
    ("time", 2_592_000.0, r"mo\b|months?|个?月"),
    ("time", 31_536_000.0, r"yrs?\b|years?|年"),
    ("gpu_time", 3600.0, rf"[卡张]\s*[-*x×·]?\s*{_HOUR}|{_GPU}[-*x×· ]*(?:gpu[- ]?)?{_HOUR}"),
    ("gpu_time", 86_400.0, r"卡天|gpu\s*-?\s*(?:days?|天)"),
    ("CNY", 1.0, r"元|块钱|块(?!卡)|人民币|rmb|cny|yuan|¥"),
    ("USD", 1.0, r"美元|美金|usd|us\$|\$|dollars?"),
    ("bytes", 1.0, r"bytes?\b|字节|b\b(?!/s|ps)"),
    ("bytes", 1e3, r"kb\b"),
    ("bytes", 1e6, r"mb\b"),
    ("bytes", 1e9, r"gb\b|gigabytes?|g(?![a-z])"),
    ("bytes", 1e12, r"tb\b|terabytes?|t(?![a-z])"),
    ("bytes", 1e15, r"pb\b|petabytes?|p(?![a-z])"),
    ("bytes", 1024.0, r"kib\b"),
    ("bytes", 1024.0**2, r"mib\b"),
    ("bytes", 1024.0**3, r"gib\b"),
    ("bytes", 1024.0**4, r"tib\b"),
    ("bytes", 1024.0**5, r"pib\b"),
    ("energy", 1e-3, r"wh\b|瓦时"),
    ("energy", 1.0, r"kw\s*[·*]?\s*h\b|千瓦·?时|度电?"),
    ("energy", 1e3, r"mwh|兆瓦时"),
    ("energy", 1e6, r"gwh|吉瓦时"),
    ("mass", 1.0, r"kg|千克|公斤"),
    ("mass", 1e3, r"吨|t(?:co2e?|\s*co2e?)?(?![a-z])|tonnes?|(?:metric )?tons?"),
    ("mass", 1e7, r"万吨"),
    ("fraction", 0.01, r"%|percent|pct|个?百分点|pp\b"),
    ("fraction", 0.1, r"成(?![本功立为交果员])"),
    ("fraction", 1.0, r"x\b|×|倍"),
    ("flops", 1.0, r"flops?\b|次浮点|浮点运算"),
    ("flops", 1e12, r"(?:t|tera)flops?\b"),
    ("flops", 1e15, r"(?:p|peta)flops?\b"),
    ("flops", 1e18, r"(?:e|exa)flops?\b"),
    ("flops", 1e21, r"(?:z|zetta)flops?\b"),
    ("flops", 1e24, r"(?:y|yotta)flops?\b"),
    ("tokens", 1.0, r"(?:个\s*)?(?:tokens?|toks?)\b|词元"),
    ("token_rate", 1.0, r"(?:tokens?|toks?|词元)\s*(?:/|per|每)\s*(?:(?:gpu|卡)\s*/?\s*)?(?:s\b|secs?|秒)|tps\b"),
)
_BANDWIDTH: tuple[tuple[float, str], ...] = tuple(
    (bits * 1e3**power, rf"(?:{letters})(?:{ends})")
    for power, letters in ((1, "[Kk]"), (2, "[Mm]|兆"), (3, "[Gg]"), (4, "[Tt]"))
    for bits, ends in ((1.0, r"b(?:ps|/s|its?/s)|比特/秒"), (8.0, r"B(?:ps|/s)|字节/秒"))
)
"""Case matters here alone: Mb is a bit, MB a byte."""
_COMPILED = tuple((d, f, re.compile(rf"(?:[个张台块]\s*)?(?:{p})", re.I)) for d, f, p in _WRITTEN)
_COMPILED_BANDWIDTH = tuple((f, re.compile(p)) for f, p in _BANDWIDTH)

_SCALE = re.compile(
    r"\s*(?:(?P<han>万亿|[十百千]?万(?!吨)|[十百千]?亿|萬|億|千(?![瓦克])|兆(?![瓦比字]))"
    r"|(?P<letter>[kKMBTGP](?![A-Za-z])|[kKMBT](?=tok|param))"
    r"|(?P<word>(?:thousand|million|billion|trillion|bn|mn|mil)\b))",
    re.I,
)
_HAN_FACTORS = {"十": 1e1, "百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "兆": 1e12}
_LETTER_FACTORS = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12, "p": 1e15}
_WORD_FACTORS = {
    "thousand": 1e3,
    **dict.fromkeys(("million", "mil", "mn"), 1e6),
    **dict.fromkeys(("billion", "bn"), 1e9),
    "trillion": 1e12,
}
_FIGURE = re.compile(
    r"(?P<currency>(?:us\$|usd|cny|rmb|人民币|\$|¥)\s*)?"
    r"(?P<number>(?<![\w.])[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\d.])(?<!\d,)[-−]?\d+(?:\.\d+)?|(?<![\d.,])\.\d+)"
    r"(?:[eE](?P<exponent>[+-]?\d+)(?![\d.])"
    r"|\s*(?:\\times|\\cdot|[×x*·])\s*10\s*(?:\^|\*\*)\s*[{(]*(?P<power>[-+]?\d+)[)}]*)?",
    re.I,
)
_JOINS_A_RANGE = re.compile(r"\s*(?:~|到|至|to|and|或|/)\s*(?=[\d.])")
_DURATION_PART = (
    r"\d+(?:\.\d+)?\s*(?:days?|d|天|日|hours?|hrs?|h|小时|minutes?|mins?|m|分钟|分|seconds?|secs?|s|秒)(?![A-Za-z/])"
)
_DURATION = re.compile(rf"{_DURATION_PART}(?:\s*(?:,|and|零|又)?\s*{_DURATION_PART})+", re.I)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a text and what it may stand for."""

    text: str
    plain: float
    """As written, exponent applied."""
    scaled: tuple[float, ...]
    """`plain`, and `plain` times the scale written after it (万, million)."""
    quantities: tuple[tuple[str, float], ...]
    """(dimension, value in the dimension's base) of every unit that may be meant."""
    near: str
    """Its line, and in a table the header row: where the unit of a bare number may stand."""

    @property
    def rounding(self) -> float:
        """Relative error that writing it with so many decimals may have made, at most 5%."""
        decimals = re.search(r"\.(\d+)", self.text)
        half = 0.5 * 10.0 ** -(len(decimals[1]) if decimals else 0)
        return min(0.05, half / abs(float_of(self.text) or 1.0))


_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TENS = {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_COUNTED = (
    r"(?:working |business )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|percent|times|GPUs?|cards?)\b"
)
_ENGLISH_NUMBER = re.compile(
    rf"\b({'|'.join((*_ONES, *_TENS))})(?:[- ]({'|'.join(_ONES[1:10])}))?(?=[- ]{_COUNTED})", re.I
)
_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_TENS = {"十": 10, "百": 100, "千": 1000}
_HAN_NUMBER = re.compile(
    r"(百分之)?(?<![第每周期])([零〇一二两三四五六七八九十百千]+)"
    r"(?=(?:到|至)?[零一二两三四五六七八九十百千]*(?:秒|分钟|个?小时|个?钟头|天|周(?!期)|个?星期|个?月(?!份)|年|个?工作日|成(?![本功立为交果员])|倍"
    r"|卡时|张|元|块钱|\s*[TG]B))|(百分之)([零〇一二两三四五六七八九十百千]+)"
)


def _in_digits(text: str) -> str:
    """Numbers in words before a unit (`two hours`, `三天`, `百分之五十`) as digits; other words stay."""
    text = _ENGLISH_NUMBER.sub(lambda m: str(_english(m[1]) + (_english(m[2]) if m[2] else 0)), text)
    return _HAN_NUMBER.sub(_han_match, text)


def _english(word: str) -> int:
    word = word.casefold()
    return _ONES.index(word) if word in _ONES else _TENS[word]


def _han_match(match: re.Match[str]) -> str:
    percent = match[1] or match[3]
    return f"{_han(match[2] or match[4])}{'%' if percent else ''}"


def _han(numeral: str) -> int:
    total = digit = 0
    for character in numeral:
        if character in _HAN_TENS:
            total += (digit or 1) * _HAN_TENS[character]
            digit = 0
        else:
            digit = _HAN_DIGITS[character]
    return total + digit


def read_figures(text: str) -> list[Figure]:
    """Every number of the text, line by line; a duration of several parts (`1 小时 54 分`) also counts as a whole."""
    plain = _in_digits(normalise(without_marks(text)))
    plain = plain.replace("**", "").replace("`", "").replace("\\%", "%").replace("\\,", " ").replace("\\text", " ")
    plain = re.sub(r"[‐‑–—−～〜]", "-", plain).replace("{,}", ",").replace("约", "约 ")
    plain = re.sub(r"([\d%A-Za-z\u4e00-\u9fff])\s*-\s*(?=\d)", r"\1 ~ ", plain)
    found: list[Figure] = []
    header = ""
    lines = plain.split("\n")
    for number, line in enumerate(lines):
        if line.lstrip().startswith("|"):
            if number + 1 < len(lines) and re.match(r"^\s*\|[\s:|-]+\|?\s*$", lines[number + 1]):
                header = line
        elif line.strip():
            header = ""
        found += _line_figures(line, f"{line} {header}")
    return found


def _line_figures(line: str, near: str) -> list[Figure]:
    figures: list[Figure] = []
    ranged: set[int] = set()
    for match in _FIGURE.finditer(line):
        power = int(match["exponent"] or match["power"] or 0)
        if abs(power) > 60:
            continue
        value = float(match["number"].replace(",", "").replace("−", "-")) * 10.0**power
        rest = line[match.end() : match.end() + 40]
        if _JOINS_A_RANGE.match(rest):
            ranged.add(len(figures))
        options = [(value, rest), *_scaled(value, rest)]
        currency = (match["currency"] or "").strip().casefold()
        quantities = [q for number, tail in options for q in _quantities(number, tail, currency)]
        figures.append(
            Figure(match.group().strip(), value, tuple(n for n, _ in options), tuple(quantities), near),
        )
    for index in sorted(ranged, reverse=True):
        if index + 1 < len(figures):
            figures[index] = _with_unit_of(figures[index + 1], figures[index])
    durations = [
        Figure(m.group(), _seconds(m.group()), (), (("time", _seconds(m.group())),), near)
        for m in _DURATION.finditer(line)
    ]
    return figures + durations


def _scaled(value: float, rest: str) -> Iterator[tuple[float, str]]:
    scale = _SCALE.match(rest)
    if scale is None:
        return
    if scale["han"]:
        factor = 1.0
        for character in scale["han"]:
            factor *= _HAN_FACTORS[character]
    elif scale["letter"]:
        factor = _LETTER_FACTORS[scale["letter"].casefold()]
    else:
        factor = _WORD_FACTORS[scale["word"].casefold()]
    yield value * factor, rest[scale.end() :]


def _quantities(value: float, rest: str, currency: str) -> list[tuple[str, float]]:
    if currency:
        return [("CNY" if currency in {"cny", "rmb", "人民币", "¥"} else "USD", value)]
    rest = re.sub(r"^[\s\\]*[(（]?", "", rest)
    for factor, pattern in _COMPILED_BANDWIDTH:
        if pattern.match(rest):
            return [("bandwidth", value * factor)]
    found = [(dimension, value * factor) for dimension, factor, pattern in _COMPILED if pattern.match(rest)]
    for narrower in ("token_rate", "gpu_time"):
        if any(dimension == narrower for dimension, _ in found):
            return [(dimension, number) for dimension, number in found if dimension == narrower]
    return found


def _with_unit_of(second: Figure, first: Figure) -> Figure:
    """The first number of a range (`2-3 天`) has the unit and scale of the second."""
    if first.quantities or not second.quantities or not second.plain:
        return first
    ratio = first.plain / second.plain
    return replace(
        first,
        quantities=tuple((dimension, value * ratio) for dimension, value in second.quantities),
        scaled=tuple(sorted({*first.scaled, *(value * ratio for value in second.scaled)})),
    )


def _seconds(duration: str) -> float:
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([^\d\s,]+)", duration)
    times = [(f, p) for d, f, p in _COMPILED if d == "time"]
    return sum(
        next((float(number) * factor for factor, pattern in times if pattern.match(unit)), 0.0)
        for number, unit in parts
    )


def float_of(text: str) -> float:
    """The first number of a text as written, without exponent and scale; 0 when there is none."""
    number = re.search(r"\d[\d,]*(?:\.\d+)?|\.\d+", text)
    return float(number.group().replace(",", "")) if number else 0.0


def close(got: float, wanted: float, rel_tol: float) -> bool:
    """Within the relative tolerance of the wanted value."""
    return abs(got - wanted) <= abs(wanted) * rel_tol + 1e-12


def states(figure: Figure, value: float, unit: str, rel_tol: float) -> bool:
    """Whether the figure may be read as this value of this unit (a key of `UNITS`).

    A number without a unit of its own is accepted when the unit stands in its line or its table's header. Tokens and
    operations may be bare (`1.4T`); a GPU time may be written in hours where the line speaks of GPUs.
    """
    dimension, factor = UNITS[unit]
    wanted = value * factor
    if any(d == dimension and close(v, wanted, rel_tol) for d, v in figure.quantities):
        return True
    scaled_is_close = any(close(v, wanted, rel_tol) for v in figure.scaled)
    match dimension:
        case "count":
            physical = {d for d, _ in figure.quantities} - {"CNY", "fraction"}
            return not physical and scaled_is_close
        case "fraction" if not figure.quantities and close(figure.plain, wanted, rel_tol):
            return True
        case "flops" if scaled_is_close:
            return True
        case "tokens" if scaled_is_close or any(
            d == "bytes" and close(v, wanted, rel_tol) for d, v in figure.quantities
        ):
            return True
        case "gpu_time" if re.search(r"gpu|卡|card", figure.near, re.I):
            if any(d == "time" and close(v, wanted, rel_tol) for d, v in figure.quantities):
                return True
        case "token_rate" if scaled_is_close and re.search(r"tok|词元", figure.near, re.I):
            return True
    return not figure.quantities and _unit_stands_near(figure, dimension, wanted, rel_tol)


def _unit_stands_near(figure: Figure, dimension: str, wanted: float, rel_tol: float) -> bool:
    written = _BANDWIDTH if dimension == "bandwidth" else tuple((f, p) for d, f, p in _WRITTEN if d == dimension)
    flags = 0 if dimension == "bandwidth" else re.I
    return any(
        re.search(rf"(?<![A-Za-z])(?:{pattern})", figure.near, flags)
        and any(close(value * factor, wanted, rel_tol) for value in figure.scaled)
        for factor, pattern in written
    )
