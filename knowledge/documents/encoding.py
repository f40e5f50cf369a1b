"""Tells which encoding a text file is in, or refuses; nothing is ever decoded with errors ignored."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from knowledge.documents.plausibility import cost, mean_cost
from knowledge.errors import DocumentError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_CANDIDATES = {
    "utf-8": 0.0,
    "gb18030": 3.0,
    "cp950": 3.0,
    "big5hkscs": 4.0,
    "cp1252": 4.0,
    "utf-16-le": 6.0,
    "utf-16-be": 8.0,
    "shift_jis": 8.0,
    "euc_jp": 10.0,
    "euc_kr": 10.0,
}
"""Encodings to try, with the nats that speak against each before a byte is read."""
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_FOUR_BYTES = re.compile("[\u3400-\u4dbf\U00010000-\U0010ffff]")
"""What GB18030 writes in four bytes: rare characters, but a form that misread bytes hardly take."""
_SHORT = 200
"""Characters; a longer text that happens to be valid UTF-8 is UTF-8. A few GBK pairs look like it ("模" is "ģ")."""
_SAMPLE = 64_000
_MISREAD = 10.0
"""Mean cost of a character beyond ASCII (nats) from which a reading isn't text."""
_AHEAD = 5.0
"""Nats by which the best reading must be ahead of the next: about 150 to 1."""


class Decoded(NamedTuple):
    """A text and the encoding that it was in."""

    text: str
    encoding: str


_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "x-gbk": "gb18030",
    "big5": "cp950",
    "big5-hkscs": "big5hkscs",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "windows-1252": "cp1252",
}
"""What browsers take for an encoding that is declared."""
_DECLARATION = re.compile(
    rb"""<meta[^>]{1,200}charset\s*=\s*["']?([\w-]{2,30})|<\?xml[^>]{1,200}encoding\s*=\s*["']([\w-]{2,30})""", re.I
)


def declared_in(data: bytes) -> str | None:
    """The encoding that an HTML or XML file declares in its first lines."""
    found = _DECLARATION.search(data[:4_096])
    return (found[1] or found[2]).decode("ascii") if found else None


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Decode a text file; `declared` is what its container says (a charset header or tag), tried before guessing.

    Raises:
        DocumentError: the bytes are no text, or two readings are about as likely.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return Decoded(_strict(data[len(mark) :], name), name)
    if b"\x00" not in data:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            if _CONTROLS.search(text):
                raise DocumentError("It holds control characters: it is not a text file, nor of a known format.")
            if len(text) > _SHORT or text.isascii() or max(text) >= "\u0800":
                return Decoded(text, "utf-8")
        read = _try(data, _SUPERSETS.get(declared.lower(), declared)) if declared else None
        if declared and read is not None and mean_cost(_sample(read)) <= _MISREAD:
            return Decoded(read, declared.lower())
    return _guess(data)


def _strict(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"It begins as {encoding.upper()}, but byte {error.start:,} doesn't fit. Save it again as UTF-8."
        ) from error


def _try(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
    return text if _CONTROLS.search(text) is None else None


def _guess(data: bytes) -> Decoded:
    readings: list[tuple[float, str, str]] = []
    for encoding, against in _CANDIDATES.items():
        text = _try(data, encoding)
        if text is not None and all(text != other for _, other, _ in readings):
            readings.append((against + cost(_sample(text)), text, encoding))
    readings.sort(key=lambda reading: reading[0])
    if not readings:
        raise DocumentError("It is neither text in a known encoding nor a known format. Save it as UTF-8 text.")
    best, text, encoding = readings[0]
    second = readings[1][0] if len(readings) > 1 else float("inf")
    if mean_cost(_sample(_FOUR_BYTES.sub("", text) if encoding == "gb18030" else text)) > _MISREAD:
        raise DocumentError("It is not text in a known encoding, nor a known format. Save it as UTF-8 text.")
    if second - best < _AHEAD:
        names = " or ".join(_public_name(*reading[1:]) for reading in readings[:2])
        raise DocumentError(f"Its encoding can't be told for certain ({names}?). Save it again as UTF-8.")
    return Decoded(text, _public_name(text, encoding))


def _sample(text: str) -> str:
    """Beginning, middle and end, where a file is long."""
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = len(text) // 2
    return text[:_SAMPLE] + text[middle : middle + _SAMPLE] + text[-_SAMPLE:]


def _public_name(text: str, encoding: str) -> str:
    """The narrowest usual name of what the bytes are in."""
    narrower = {"gb18030": ("gbk",), "cp950": ("big5",), "big5hkscs": ("big5",)}
    for name in narrower.get(encoding, ()):
        try:
            if text.encode(name).decode(name) == text:
                return name
        except UnicodeError:
            continue
    return encoding
