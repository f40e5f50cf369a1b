"""Numbers as they are written: digits, full-width, thousands separators, powers of ten, Chinese and English words."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if code != 0xFF0C}
_SAME = _FULL_WIDTH | {
    ord(char): ord(plain)
    for chars, plain in (
        ("\u3000\u00a0\u2009\u202f\u2007\ue000\ue001\ue002", " "),
        ("✕✖⨯╳∗", "×"),
        ("〜∼～", "~"),
        ("－–—‒−‐‑﹣", "-"),
        ("￥", "¥"),
        ("萬", "万"),
        ("億", "亿"),
        ("兩", "两"),
        ("幾", "几"),
        ("張", "张"),
        ("臺", "台"),
        ("個", "个"),
        ("參", "参"),
        ("數", "数"),
        ("塊", "块"),
        ("時", "时"),
        ("鐘", "钟"),
        ("週", "周"),
        ("節", "节"),
        ("點", "点"),
        ("資", "资"),
        ("專", "专"),
        ("線", "线"),
        ("預", "预"),
        ("約", "约"),
        ("內", "内"),
        ("過", "过"),
    )
    for char in chars
}
_FULL_WIDTH_THOUSANDS = re.compile(r"(?<=[０-９])，(?=[０-９]{3}(?![０-９]))", re.A)

_DIGITS = {
    char: value
    for value, chars in enumerate(
        ("零〇", "一壹", "二两双俩贰", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖")
    )
    for char in chars
}
_SMALL = {"十": 10.0, "拾": 10.0, "百": 100.0, "佰": 100.0, "千": 1000.0, "仟": 1000.0}
_LARGE = {"万": 1e4, "亿": 1e8}

_LONE = {"百": 1e2, "千": 1e3, "万": 1e4, "万亿": 1e12}
"""Scales that stand alone before some units: 千卡, 万兆, 万亿参数."""

_EN_ONES = {
    word: float(value)
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_EN_TENS = {
    word: 10.0 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_EN_SCALES = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0}

_EN_WORD = "|".join([*sorted({**_EN_ONES, **_EN_TENS}, key=len, reverse=True), *_EN_SCALES])
ARABIC = r"(?:\d{1,3}(?:[,_]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3}(?![\dA-Za-z.]))?"
CHINESE_DIGITS = "零〇一二三四五六七八九十百千万亿两双俩半几数壹贰叁肆伍陆柒捌玖拾佰仟"
CHINESE = rf"[{CHINESE_DIGITS}]+(?:点[零〇一二三四五六七八九]+[万亿]*)?"
ENGLISH = (
    rf"(?<![A-Za-z-])(?:half\s+an?(?:\s+(?:million|billion|trillion|dozen))?(?![A-Za-z])|an?\s+couple\s+of(?![A-Za-z])"
    rf"|(?:an?\s+(?=(?:hundred|thousand|million|billion|trillion|dozen)(?![A-Za-z])))?"
    rf"(?:{_EN_WORD})(?:(?:-|\s+(?:and\s+)?)(?:{_EN_WORD})(?![A-Za-z]))*(?:\s+and\s+a\s+half)?(?![A-Za-z])"
    r"|half(?![A-Za-z]))"
)
NUMBER_WORDS = frozenset((*_EN_ONES, *_EN_TENS, *_EN_SCALES, "a", "an", "half"))
"""Words that a written-out English number may begin with."""
NUMBER = re.compile(rf"(?P<arabic>{ARABIC})|(?P<chinese>{CHINESE})|(?P<english>{ENGLISH})", re.I | re.A)
_POWER = re.compile(r"\s?[x×*·]\s?10\s?(?:(?:\^|\*\*)\s?\(?([-+]?\d{1,3})\)?|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))", re.A)
_BARE_POWER = re.compile(r"(?:\^|\*\*)\s?\(?([-+]?\d{1,3})\)?|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})", re.A)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
MAX_EXPONENT = 300


@dataclass(frozen=True, slots=True)
class Number:
    """A written number; `low` and `high` differ from `value` for 三四, 十几, 几百."""

    value: float
    low: float
    high: float
    end: int
    written: str
    """arabic, chinese, scale (a lone 千) or english."""


def fold(text: str) -> str:
    """Full-width and variant characters as plain ones, character for character: offsets stay."""
    return _FULL_WIDTH_THOUSANDS.sub(",", text).translate(_SAME)


def read_number(text: str, match: re.Match[str]) -> Number | None:
    """The number that a match of `NUMBER` holds; None when it isn't one (a lone 几, 百, 万)."""
    if match["arabic"]:
        return _arabic(text, match)
    if match["chinese"]:
        read = _chinese(match["chinese"])
        written = "scale" if match["chinese"] in _LONE else "chinese"
        return read and Number(read[0], read[1], read[2], match.end(), written)
    value = _english(match["english"].lower())
    return Number(value, value, value, match.end(), "english")


def _arabic(text: str, match: re.Match[str]) -> Number | None:
    digits = match["arabic"].replace(",", "").replace("_", "")
    value, end = float(digits), match.end()
    power = _POWER.match(text, end)
    if power is None and digits == "10":
        power, value = _BARE_POWER.match(text, end), 1.0
        if power is None:
            value = 10.0
    if power:
        exponent = int(power[1] or power[2].translate(_SUPERSCRIPTS).lstrip("-") or "0")
        if power[2] and power[2].startswith("⁻"):
            exponent = -exponent
        if abs(exponent) > MAX_EXPONENT:
            return None
        value, end = value * 10.0**exponent, power.end()
    if value == float("inf"):
        return None
    return Number(value, value, value, end, "arabic")


def _english(text: str) -> float:
    if text.startswith("half"):
        return 0.5 * next((scale for word, scale in _EN_SCALES.items() if text.endswith(word)), 1.0)
    if "couple" in text:
        return 2.0
    half = text.endswith("half")
    words = re.findall(r"[a-z]+", text.removesuffix("and a half") if half else text)
    total, current = 0.0, 0.0
    for word in words:
        if word in _EN_SCALES:
            scale = _EN_SCALES[word]
            current = (current or 1.0) * scale
            if scale >= 1000:
                total, current = total + current, 0.0
        elif word not in ("a", "an", "and"):
            current += _EN_ONES.get(word, _EN_TENS.get(word, 0.0))
    return total + current + (0.5 if half else 0.0)


def _chinese(text: str) -> tuple[float, float, float] | None:
    """(value, low, high); None for words that only look like numbers."""
    if text == "半":
        return 0.5, 0.5, 0.5
    whole, point, decimals = text.partition("点")
    if point:
        return _with_decimals(whole, decimals)
    if text in _LONE:
        return _LONE[text], _LONE[text], _LONE[text]
    if text[0] in "万亿":
        return None
    if "半" in text:
        return None
    vague = _vague(text)
    if vague is not None:
        return vague
    value = _plain(text)
    return None if value is None else (value, value, value)


def _with_decimals(whole: str, decimals: str) -> tuple[float, float, float] | None:
    scale = 1.0
    while decimals and decimals[-1] in _LARGE:
        scale, decimals = scale * _LARGE[decimals[-1]], decimals[:-1]
    base = _plain(whole) if whole else None
    if base is None or not decimals:
        return None
    value = (base + float("0." + "".join(str(_DIGITS[char]) for char in decimals))) * scale
    return value, value, value


def _vague(text: str) -> tuple[float, float, float] | None:
    """三四, 两三百, 十几, 几十万, 数百."""
    if match := re.fullmatch(r"([一二两三四五六七八九])([二两三四五六七八九])([十百千]?)([万亿]*)", text):
        first, second = _DIGITS[match[1]], _DIGITS[match[2]]
        if second == first + 1 or (first, second) == (3, 5):
            scale = _SMALL.get(match[3], 1.0) * _large(match[4])
            return (first + second) / 2 * scale, first * scale, second * scale
    if match := re.fullmatch(r"([一二两三四五六七八九]?)十几([万亿]*)", text):
        base, scale = 10.0 * (_DIGITS[match[1]] if match[1] else 1), _large(match[2])
        return (base + 5) * scale, (base + 1) * scale, (base + 9) * scale
    if match := re.fullmatch(r"[几数]([十百千]?)([万亿]*)", text):
        scale = _SMALL.get(match[1], 1.0) * _large(match[2])
        if scale > 1:
            return 5 * scale, 2 * scale, 9 * scale
    return None


def _large(text: str) -> float:
    scale = 1.0
    for char in text:
        scale *= _LARGE[char]
    return scale


def _plain(text: str) -> float | None:
    """一百二十, 六千七百亿, 一万五, 三〇五; None when the characters do not make a number."""
    if all(char in _DIGITS for char in text):
        return float("".join(str(_DIGITS[char]) for char in text))
    total = section = 0.0
    digit: float | None = None
    last_scale = 1.0
    for char in text:
        if char in _DIGITS:
            if digit:
                return None
            digit = float(_DIGITS[char])
        elif char in _SMALL:
            section += (1.0 if digit is None or (digit == 0 and char in "十拾") else digit) * _SMALL[char]
            digit, last_scale = None, _SMALL[char]
        elif char in _LARGE:
            section += digit or 0.0
            # 一万二千亿 is (1万 + 2千) 亿, while 一亿二千万 is 1亿 + 2千万.
            scale = _LARGE[char]
            total = (total + section) * scale if total < scale else total + section * scale
            section, digit, last_scale = 0.0, None, _LARGE[char]
        else:
            return None
    if digit:
        colloquial = last_scale >= 100 and text[-2] not in "零〇"
        section += digit * (last_scale / 10 if colloquial else 1.0)
    return total + section
