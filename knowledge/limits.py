"""How much of a file is read at most, and the refusal that names the limit and its setting."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.errors import DocumentError

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one document; each is a setting of the same name, in capitals, with the prefix `ADVISOR_`."""

    max_bytes: int = 100 * MEGABYTE
    """Size of the file, or of a page after decompression."""
    max_unpacked_bytes: int = 1_000 * MEGABYTE
    """Size of all parts of a zipped format (DOCX, PPTX, XLSX, EPUB) after unpacking."""
    max_pages: int = 5_000
    """Pages of a PDF, slides, sheets."""
    max_lines: int = 2_000_000
    """Lines of a Markdown or text file."""
    max_characters: int = 100 * MEGABYTE
    """Characters of extracted text."""
    max_seconds: int = 300
    """Time that reading one document may take; also for a URL's answer."""


def check(limits: Limits, name: str, value: int, what: str) -> None:
    """Refuse a document that is over a limit.

    Raises:
        DocumentError: `value` is over the limit `name`; the message names limit and setting.
    """
    allowed: int = getattr(limits, name)
    if value > allowed:
        raise DocumentError(
            f"{what} {value:,} is over the limit of {allowed:,}. Split it, or raise ADVISOR_{name.upper()}."
        )
