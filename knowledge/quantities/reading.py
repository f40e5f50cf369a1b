"""Reads the one amount that begins at a number: scale, unit, currency, rate, and what the words around it say."""

from __future__ import annotations

import re

from knowledge.quantities import vocabulary as words
from knowledge.quantities.item import Item
from knowledge.quantities.names import GPU_MARK
from knowledge.quantities.numerals import NUMBER, read_number
from knowledge.quantities.quantity import Reading
from knowledge.quantities.rates import read_currency, read_rate
from knowledge.quantities.surroundings import read_surroundings

_SHARE = re.compile(
    r"(?P<whole>百|千|万|\d+|[二三四五六七八九十]+)分之(?P<part>\d+(?:\.\d+)?|[零一二三四五六七八九十百点]+)", re.A
)
_ENGLISH_SHARE = re.compile(
    r"(?<![\w.])(?P<count>an?|one|two|three|[123])[\s-](?P<of>thirds?|quarters?|fifths?|halves|tenths?)(?![a-z])|(?<![\d./])(?P<top>\d{1,2})/(?P<bottom>\d{1,2})(?=\s(?:of|the)\b|的)",
    re.I | re.A,
)
_HALF = re.compile(
    r"一半|半数|(?<![A-Za-z])half(?=\s+(?:of|the|my|our|it|to|on|in|as|goes|is)\b|\s*[,.;?!]|\s*$)", re.I | re.A
)
_MORE = re.compile(r"\s?(?:多|余|来|几)(?=[个张台块卡万亿天小时人年周步条G-T份核美元]|\s?[A-Za-z])", re.A)
_AND_HALF = re.compile(r"个半|\s+and\s+a\s+half(?![A-Za-z])", re.I | re.A)
_HALF_MORE = re.compile(r"半(?!夜|路|价|数|年|个|天)", re.A)
_DISCOUNT = re.compile(r"\s?(?:off|cheaper|discount|less)(?![a-z])|\s?(?:的)?(?:折扣|优惠)", re.I | re.A)


_HUNDREDTHS = re.compile(
    r"[1-9一二三四五六七八九](?![\d零〇一二三四五六七八九十百千万亿点.]|\s?[年月天个张台卡折成块元])", re.A
)
"""What follows 成: "六成五" is 65%."""


def read_amount(text: str, match: re.Match[str]) -> Item | None:
    """The amount at a match of `NUMBER`; None when the number is none (a word that only looks like one)."""
    number = read_number(text, match)
    if number is None:
        return None
    item = Item(number.value, number.low, number.high, match.start(), number.end, numeral=number.written)
    item.approximate = item.is_range
    _scale_and_unit(text, item)
    if item.numeral == "scale" and item.unit in ("gpu", "node"):
        item.approximate = True
    read_currency(text, item)
    if _no_amount(text, item):
        return None
    read_rate(text, item)
    read_surroundings(text, item)
    return item


_FLOP_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18, "z": 1e21}
_SMALLER_SCALE = re.compile(r"(\d{1,4})(千万|百万|万|千|百)?(?![\d.])", re.A)
_DIGITAL_START = frozenset("kKmMgGtTpPeEbBfFzZ个字比次浮百千万兆-")
_COUNTS_ON = re.compile(
    rf"\s?[xX×*]?\s?{GPU_MARK}|\s?(?:-|~|to|到|至|or|或者?)\s?(?:[\d一二两三四五六七八九十]|(?:two|three|four|five|six|seven|eight|nine|ten)(?![a-z]))"
    r"|\s\d+\s?-?(?:gpu|card|卡|[GT]B?(?![a-z]))",
    re.I | re.A,
)
"""What lets a number word without a unit be a count: "two 8-GPU nodes", "two to three weeks"."""
_SCALED_BY_SIZE_LETTERS = frozenset(("tokens", "parameters", "gpu_hour", "example", "char", "usd", "cny", "token_rate"))
"""Units before which G, T and P are scales; before others they are bytes or bits ("24G 显卡")."""
_AFTER_LONE_SCALE = frozenset(("gpu", "node", "parameters", "tokens"))
_GLUED = re.compile(rf"(?![xX]\s?[\d{GPU_MARK}])[A-Za-z]", re.A)


def _no_amount(text: str, item: Item) -> bool:
    """A word such as 一 or "one" without a unit, or digits that begin a name ("3FS")."""
    if item.numeral == "scale" and item.unit not in _AFTER_LONE_SCALE and item.letter != "兆":
        return True
    if item.unit in ("run", "checkpoint") and item.numeral != "arabic" and item.value == 1:
        return True
    if item.unit != "1" or item.scaled:
        return False
    if item.numeral == "arabic":
        return bool(_GLUED.match(text, item.end))
    return not (item.value >= 1e4 or _COUNTS_ON.match(text, item.end))


def read_share(text: str, position: int) -> Item | None:
    """百分之七十, 三分之一, 一半, two thirds, half of it."""
    if match := _SHARE.match(text, position):
        whole = {"百": 100.0, "千": 1000.0, "万": 1e4}.get(match["whole"]) or _value(match["whole"])
        part = _value(match["part"])
    elif match := _HALF.match(text, position):
        whole, part = 2.0, 1.0
    elif match := _ENGLISH_SHARE.match(text, position):
        if match["top"]:
            part, whole = float(match["top"]), float(match["bottom"])
        else:
            part = {"a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0}.get(match["count"].lower()) or float(
                match["count"]
            )
            whole = {"th": 3.0, "qu": 4.0, "fi": 5.0, "ha": 2.0, "te": 10.0}[match["of"][:2].lower()]
    else:
        return None
    if not whole or part is None:
        return None
    item = Item(part / whole, part / whole, part / whole, match.start(), match.end(), "fraction", "share", kind="share")
    read_surroundings(text, item)
    return item


def _value(text: str) -> float | None:
    match = NUMBER.fullmatch(text)
    number = match and read_number(text, match)
    return number.value if number else None


def _scale_and_unit(text: str, item: Item) -> None:
    _skip_more(text, item)
    if _digital(text, item):
        return
    if half := _AND_HALF.match(text, item.end):
        item.value, item.low, item.high, item.end = item.value + 0.5, item.low + 0.5, item.high + 0.5, half.end()
        if text.startswith("月", item.end):
            item.scale(30 * 86400.0)
            item.unit, item.written, item.end = "second", "month", item.end + 1
            return
    if unit := words.UNIT.match(text, item.end):
        _take_unit(text, item, unit)
        return
    scale = words.SCALE.match(text, item.end)
    if scale is None:
        _misspelt(text, item)
        return
    letter = scale["letter"] or scale["joined"] or ""
    item.scale(words.LETTERS[letter.lower()] if letter else words.SCALES[(scale["word"] or scale["en"]).lower()])
    item.end, item.scaled = scale.end(), True
    if not letter:
        _add_smaller_scale(text, item)
    elif scale["letter"]:
        item.letter = letter
    _skip_more(text, item)
    if letter in "BbTtMGg" and letter and (per := words.PER.match(text, item.end)) and per["parameter"]:
        return
    if unit := words.UNIT.match(text, item.end):
        if item.letter and unit.lastgroup in ("minute", "hour", "second") and unit.group().strip().lower() in "smh":
            return
        if item.letter and item.letter in "gGtTpPeEbB" and unit.lastgroup not in _SCALED_BY_SIZE_LETTERS:
            return
        _take_unit(text, item, unit)
        item.letter = ""
    elif _digital(text, item):
        item.letter = ""
    else:
        _misspelt(text, item)


_LATIN_WORD = re.compile(r"\s?(?P<word>[a-z]{4,12})(?![A-Za-z0-9])", re.I | re.A)


def _misspelt(text: str, item: Item) -> None:
    """ "6 mnths", "500B tokns": a word that is one letter, or its vowels, away from a long unit."""
    match = _LATIN_WORD.match(text, item.end)
    group = match and words.misspelt_unit(match["word"].lower())
    if match is None or not group:
        return
    factor, item.unit, item.written = words.BY_GROUP[group]
    item.scale(factor)
    item.end, item.letter = match.end(), ""


def _next(text: str, item: Item) -> str:
    """The character after the item, a space left out; a mark that nothing matches at the end."""
    following = text[item.end : item.end + 2].lstrip()
    return following[0] if following else "\n"


def _skip_more(text: str, item: Item) -> None:
    if _next(text, item) in "多余来几" and (more := _MORE.match(text, item.end)):
        item.approximate, item.end = True, more.end()


def _add_smaller_scale(text: str, item: Item) -> None:
    """1亿2千万, 3万5千, 3万5."""
    match = _SMALLER_SCALE.match(text, item.end)
    before = text[item.end - 1 : item.end]
    if match is None or before not in "万亿":
        return
    if match[2]:
        item_more = float(match[1]) * words.SCALES[match[2]]
    elif len(match[1]) == 1:
        item_more = float(match[1]) * (1e3 if before == "万" else 1e7)
    else:
        return
    for name in ("value", "low", "high"):
        setattr(item, name, getattr(item, name) + item_more)
    item.end = match.end()


def _take_unit(text: str, item: Item, match: re.Match[str]) -> None:
    group = match.lastgroup or ""
    factor, item.unit, item.written = words.BY_GROUP[group]
    item.end = match.end()
    item.approximate = item.approximate or "多" in match.group()
    if group == "off":
        # 85折 and 8.5折 both leave 85% to pay.
        factor = 0.01 if item.value >= 10 else 0.1
        item.kind = "price left"
    item.scale(factor)
    if group == "tenth" and (hundredths := _HUNDREDTHS.match(text, item.end)):
        more = (_value(hundredths.group()) or 0.0) / 100
        item.value, item.low, item.high, item.end = (
            item.value + more,
            item.low + more,
            item.high + more,
            hundredths.end(),
        )
    if item.unit == "second" and factor >= 3600 and (half := _HALF_MORE.match(text, item.end)):
        for name in ("value", "low", "high"):
            setattr(item, name, getattr(item, name) + factor / 2)
        item.end = half.end()
    if item.unit == "fraction" and group == "fraction" and (off := _DISCOUNT.match(text, item.end)):
        item.kind, item.end = "discount", off.end()


def _digital(text: str, item: Item) -> bool:
    """Bytes, bits and their rates, and FLOPs: case decides between bit and byte."""
    if _next(text, item) not in _DIGITAL_START:
        return False
    if match := words.FLOPS.match(text, item.end):
        prefix = (match["prefix"] or "").lower()
        item.scale(_FLOP_PREFIXES[prefix[:1]])
        is_rate = bool(match["rate"]) and item.value < 1e21
        item.unit, item.end, item.letter = "FLOP/s" if is_rate else "FLOP", match.end(), ""
        item.written = item.unit
        return True
    if match := words.BYTES.match(text, item.end):
        _take_bytes(text, item, match)
        return True
    if match := words.BIT_LETTER_RATE.match(text, item.end):
        item.scale(words.LETTERS[match["prefix"].lower()])
        item.end, item.unit, item.written = match.end(), "bit/s", f"{match['prefix']}bit/s"
        if match["rate"] not in ("bps", "bit/s"):
            item.readings = [Reading(item.value, "bit/s"), Reading(item.value, "byte/s")]
        return True
    if match := words.NETWORK_WORD.match(text, item.end):
        _take_mega(text, item, match)
        return True
    return False


def _take_bytes(text: str, item: Item, match: re.Match[str]) -> None:
    prefix = match["prefix"] or (match["long"] or ("g" if match["gigs"] else ""))[:1]
    unit = match["unit"] or match["word"] or match["long_unit"] or "B"
    binary = bool(match["binary"])
    factor = 1.0
    if prefix:
        factor = 1024.0 ** (1 + "kmgtpe".index(prefix.lower())) if binary else words.LETTERS[prefix.lower()]
    item.scale(factor)
    item.end = match.end()
    is_word = len(unit) > 1
    is_bit = unit.lower().startswith("bit") or unit == "比特" or (not is_word and unit == "b" and not prefix.islower())
    is_rate = bool(match["rate"])
    if not is_rate and (per := words.PER_SECOND.match(text, item.end)):
        is_rate, item.end = True, per.end()
    if is_rate and match["rate"] and not is_word:
        # Gbps, gbps and GBPS are bits; GBps with its capital B alone are bytes.
        is_bit = not (unit == "B" and match["rate"] == "ps")
    careless = is_rate and not match["rate"] and not is_word and unit == "b" and prefix.islower()
    shown = (prefix.upper() if prefix.lower() != "k" else "k") + ("i" if binary else "")
    item.unit = ("bit" if is_bit else "byte") + ("/s" if is_rate else "")
    item.written = f"{shown}{'bit' if is_bit else 'B'}{'/s' if is_rate else ''}" if shown else item.unit
    if careless:
        item.readings = [Reading(item.value, "byte/s"), Reading(item.value, "bit/s")]
    elif is_bit and not is_rate and prefix:
        item.readings = [Reading(item.value, "bit/s"), Reading(item.value, "byte")]


def _take_mega(text: str, item: Item, match: re.Match[str]) -> None:
    """兆: 10^6 of data or of line rate; 10^12 before tokens and parameters."""
    size = {"百": 1e2, "千": 1e3, "万": 1e4}.get(match["size"] or "", 1.0)
    item.end, item.scaled = match.end(), True
    unit = words.UNIT.match(text, item.end)
    if unit and unit.lastgroup in ("tokens", "parameters", "cny", "usd"):
        item.scale(size * 1e12)
        _take_unit(text, item, unit)
        return
    item.scale(size * 1e6)
    item.letter, item.written = "兆", "M"
    if per := words.PER_SECOND.match(text, item.end):
        item.end, item.letter, item.unit = per.end(), "", "byte/s"
        item.readings = [Reading(item.value, "byte/s"), Reading(item.value, "bit/s")]
