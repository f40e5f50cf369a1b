"""The text of one PDF page as runs: pieces of a line with place, size and weight; what can't be seen is left out."""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

_COLUMN_GAP = 0.65
"""Heights of a letter; text further apart on a line belongs to another run."""
_SMALLEST = 2.0
"""Points; smaller letters are there to be hidden."""
_NEAR_WHITE = 240
_HYPHEN = 2
"""PDFium's code for a hyphen at the end of a line."""
_PIXELS = 4_000_000
_CONTRAST = 24
"""Difference in brightness (of 255) from which ink is seen on its background."""
_OCR_IMAGE = 0.4
"""Share of the page that an image covers, when invisible text may be the recognised text of a scan."""


@dataclass(frozen=True, slots=True)
class Run:
    """Text on one line without a wide gap; coordinates in points, y upwards."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    bold: bool

    @property
    def size(self) -> float:
        """Height of the line's letters."""
        return self.y1 - self.y0

    @property
    def middle(self) -> float:
        """Height of the middle of the line."""
        return (self.y0 + self.y1) / 2


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line drawn on the page."""

    x0: float
    x1: float
    y: float


@dataclass(frozen=True, slots=True)
class PageText:
    """What is read from one page."""

    runs: tuple[Run, ...]
    rules: tuple[Rule, ...]
    width: float
    height: float
    characters: int
    unmapped: int
    """Characters whose code stands for no known character."""


def read_page(page: Any, pdfium: Any, at_most: int) -> PageText:
    """Read a page of a PDFium document, `at_most` characters and one more of it."""
    raw = pdfium.raw
    textpage = page.get_textpage()
    try:
        reader = _Reader(page, textpage, raw)
        runs = reader.runs(at_most)
        rules = _rules(page, raw) if len(runs) > 1 else []
        return PageText(tuple(runs), tuple(rules), *reader.size, reader.characters, reader.unmapped)
    finally:
        textpage.close()


class _Reader:
    def __init__(self, page: Any, textpage: Any, raw: Any) -> None:
        self._page = page
        self._text = textpage
        self._raw = raw
        left, low, right, high = page.get_cropbox()
        self._left, self._low = left, low
        self.size = right - left, high - low
        self._picture: tuple[Any, float] | None = None
        self._image_share: float | None = None
        self.characters = 0
        self.unmapped = 0

    def runs(self, at_most: int) -> list[Run]:
        raw, text = self._raw, self._text
        count = min(text.count_chars(), at_most + 1)
        box = raw.FS_RECTF()
        runs: list[Run] = []
        letters: list[str] = []
        first = 0
        heights: Counter[tuple[float, float]] = Counter()
        x0 = x1 = y0 = y1 = 0.0
        space = True
        visible = True
        unknown = False
        """The font of the word doesn't say which characters it shows."""
        turned: Counter[int] = Counter()
        angles: list[int] = []

        def close() -> None:
            shown = _joined(letters).strip()
            if shown and visible:
                angle = round(math.degrees(raw.FPDFText_GetCharAngle(text, first))) % 360
                turned[angle] += len(shown)
                angles.append(angle)
                (low, high), _ = heights.most_common(1)[0]
                runs.append(Run(shown, x0, x1, low, high, self._is_bold(first)))
            letters.clear()
            heights.clear()

        for i in range(count):
            code = raw.FPDFText_GetUnicode(text, i)
            if code in (0x20, 0xA0, 0x09, 0x3000):
                space = True
                if letters:
                    letters.append(" ")
                continue
            if code in (0x0D, 0x0A):
                space = True
                continue
            self.characters += 1
            if space or not letters:
                unknown = raw.FPDFText_HasUnicodeMapError(text, i) == 1
            if unknown or code in (0, 0xFFFD) or 0xE000 <= code <= 0xF8FF:
                self.unmapped += 1
                continue
            if not raw.FPDFText_GetLooseCharBox(text, i, box):
                continue
            left, right = box.left - self._left, box.right - self._left
            low, high = box.bottom - self._low, box.top - self._low
            em = max(high - low, 1.0)
            same_line = letters and min(y1, high) - max(y0, low) > 0.4 * min(em, y1 - y0)
            near = letters and -0.7 * em < left - x1 < _COLUMN_GAP * em
            if not (same_line and near):
                close()
                space = True
            if space:
                seen = self._is_visible(i, left, right, low, high)
                if letters and seen != visible:
                    close()
                visible = seen
            if not letters:
                first = i
                x0, x1, y0, y1 = left, right, low, high
            heights[low, high] += 1
            x1 = max(x1, right)
            letters.append("-" if code == _HYPHEN else chr(code))
            space = False
        close()
        return _upright(runs, angles, turned, *self.size)

    def _is_bold(self, index: int) -> bool:
        if self._raw.FPDFText_GetFontWeight(self._text, index) >= 600:
            return True
        name = ctypes.create_string_buffer(256)
        flags = ctypes.c_int()
        length = self._raw.FPDFText_GetFontInfo(self._text, index, name, 256, flags)
        text = name.value.decode("utf-8", "replace").lower() if length else ""
        return any(word in text for word in ("bold", "black", "heavy")) or bool(flags.value & (1 << 18))

    def _is_visible(self, index: int, left: float, right: float, low: float, high: float) -> bool:
        """Whether a person would see the character."""
        if high - low < _SMALLEST:
            return False
        raw = self._raw
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        drawn = raw.FPDFText_GetTextObject(self._text, index)
        if drawn and raw.FPDFTextObj_GetTextRenderMode(drawn) == raw.FPDF_TEXTRENDERMODE_INVISIBLE:
            return self._share_of_images() >= _OCR_IMAGE
        known = raw.FPDFText_GetFillColor(self._text, index, red, green, blue, alpha)
        if not known:
            return True
        if alpha.value < 16:
            return False
        if min(red.value, green.value, blue.value) >= _NEAR_WHITE:
            return self._stands_out(left, right, low, high)
        return True

    def _stands_out(self, left: float, right: float, low: float, high: float) -> bool:
        """Whether anything is to be seen at a place, looking at the page as it is printed."""
        if self._picture is None:
            scale = min(2.0, math.sqrt(_PIXELS / max(self.size[0] * self.size[1], 1.0)))
            upright = (360 - self._page.get_rotation()) % 360
            bitmap = self._page.render(scale=scale, rotation=upright, grayscale=True, may_draw_forms=False)
            self._picture = bitmap.to_numpy(), scale
        picture, scale = self._picture
        top, bottom = int((self.size[1] - high) * scale), math.ceil((self.size[1] - low) * scale)
        part = picture[max(top, 0) : max(bottom, 1), max(int(left * scale), 0) : max(math.ceil(right * scale), 1)]
        return bool(part.size) and int(part.max()) - int(part.min()) >= _CONTRAST

    def _share_of_images(self) -> float:
        if self._image_share is None:
            area = 0.0
            for image in self._page.get_objects(filter=[self._raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
                left, low, right, high = image.get_bounds()
                area = max(area, (right - left) * (high - low))
            self._image_share = area / max(self.size[0] * self.size[1], 1.0)
        return self._image_share


def _joined(letters: list[str]) -> str:
    """Letters as text; pairs of surrogates become one character, lone ones are dropped."""
    text = "".join(letters)
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
        if any("\ud800" <= c <= "\udfff" for c in text)
        else text
    )


def _upright(runs: list[Run], angles: list[int], turned: Counter[int], width: float, height: float) -> list[Run]:
    """Runs in the direction that most text is written in; stamps across the page are left out."""
    if not runs:
        return []
    main = turned.most_common(1)[0][0]
    kept = [run for run, angle in zip(runs, angles, strict=True) if angle == main]
    kept = [run for run in kept if run.x1 > 0 and run.x0 < width and run.y1 > 0 and run.y0 < height]
    if main == 90:
        return [replace(run, x0=run.y0, x1=run.y1, y0=width - run.x1, y1=width - run.x0) for run in kept]
    if main == 270:
        return [replace(run, x0=height - run.y1, x1=height - run.y0, y0=run.x0, y1=run.x1) for run in kept]
    if main == 180:
        return [
            replace(run, x0=width - run.x1, x1=width - run.x0, y0=height - run.y1, y1=height - run.y0) for run in kept
        ]
    return kept


def _rules(page: Any, raw: Any) -> list[Rule]:
    rules = []
    for path in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=3):
        left, low, right, high = path.get_bounds()
        if high - low <= 3 and right - left >= 20:
            rules.append(Rule(left, right, (low + high) / 2))
    return rules
