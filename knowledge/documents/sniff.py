"""Tells a file's format from its content; the name's ending only decides among kinds of text."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePath
from typing import Literal

from knowledge.errors import DocumentError

Format = Literal["markdown", "text", "html", "pdf", "docx", "pptx", "xlsx", "xls", "ods", "csv", "epub"]

MEDIA_TYPES: dict[Format, str] = {
    "markdown": "text/markdown",
    "text": "text/plain",
    "html": "text/html",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xls": "application/vnd.ms-excel",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "csv": "text/csv",
    "epub": "application/epub+zip",
}

_ARCHIVES = (
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
)
_OTHERS = (
    (b"\x89PNG\r\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"II*\x00", "TIFF image"),
    (b"MM\x00*", "TIFF image"),
    (b"\x7fELF", "program"),
    (b"MZ\x90", "program"),
    (b"{\\rtf", "RTF document: save it as DOCX"),
    (b"ID3", "audio file"),
    (b"OggS", "audio file"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"%!PS", "PostScript file: save it as PDF"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MARKDOWN_NAMES = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")
_HTML_NAMES = (".html", ".htm", ".xhtml", ".shtml")
_CSV_NAMES = (".csv", ".tsv", ".tab")
_HTML_START = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
_HTML_TAG = re.compile(r"</(?:p|div|h[1-6]|table|ul|ol|body|span|a|li)>", re.I)
_ATX = re.compile(r"(?:\A|\n)#{1,6} \S[^\n]*\n(?:\s*\n|\Z)")
_FENCE = re.compile(r"(?:\A|\n)```\w*\n")
_DELIMITER_ROW = re.compile(r"\n\|?[ \t]*:?-{3,}:?[ \t]*\|[ \t|:-]*\n")


def of_bytes(data: bytes) -> Format | None:
    """The format of binary content; None for text.

    Raises:
        DocumentError: the content is of a kind that can't be read; the message says which.
    """
    head = data[:2048]
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _of_zip(data)
    if head.startswith(_OLE):
        return _of_ole(data)
    for magic, kind in _ARCHIVES:
        if head.startswith(magic):
            raise DocumentError(f"It is a {kind}. Unpack it and index the files in it.")
    if head[257:262] == b"ustar":
        raise DocumentError("It is a tar archive. Unpack it and index the files in it.")
    for magic, kind in _OTHERS:
        if head.startswith(magic):
            raise DocumentError(f"It is no document but a {kind}.")
    if head[4:8] == b"ftyp" or head[:4] == b"RIFF":
        raise DocumentError("It is no document but an audio, video or image file.")
    return None


def of_text(text: str, name: str) -> Format:
    """The format of decoded text."""
    ending = PurePath(name).suffix.lower()
    head = text[:100_000].lstrip("\ufeff")
    if _HTML_START.match(head) or (ending in _HTML_NAMES and _HTML_TAG.search(head)):
        return "html"
    if ending in _MARKDOWN_NAMES:
        return "markdown"
    if ending in _CSV_NAMES:
        return "csv"
    if len(_ATX.findall(head)) >= 2 or _FENCE.search(head) or _DELIMITER_ROW.search(head):
        return "markdown"
    if head.lstrip().startswith("<") and len(_HTML_TAG.findall(head)) >= 3:
        return "html"
    return "text"


def _of_zip(data: bytes) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            kind = archive.read("mimetype")[:100].decode("ascii", "replace").strip() if "mimetype" in names else ""
            encrypted = any(info.flag_bits & 1 for info in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError, RuntimeError, KeyError) as error:
        raise DocumentError("It begins as a zip-based document but is cut off or damaged. Save it again.") from error
    except Exception as error:  # zlib.error and others that zipfile lets through
        raise DocumentError("It begins as a zip-based document but is damaged. Save it again.") from error
    if kind == "application/epub+zip" or "META-INF/container.xml" in names:
        return "epub"
    if kind.startswith("application/vnd.oasis.opendocument.spreadsheet"):
        return "ods"
    if kind.startswith("application/vnd.oasis.opendocument"):
        raise DocumentError("It is an OpenDocument file. Save it as DOCX, PPTX or PDF.")
    if "[Content_Types].xml" in names:
        for part, format_ in (("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx")):
            if any(entry.startswith(part) for entry in names):
                return format_  # type: ignore[return-value]
    if encrypted:
        raise DocumentError("It is a zip archive with a password. Unpack it and index the files in it.")
    raise DocumentError("It is a zip archive. Unpack it and index the files in it.")


def _of_ole(data: bytes) -> Format:
    """Old Office files, and new ones behind a password, are OLE containers; stream names are in UTF-16."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise DocumentError("It is protected by a password. Save it without one.")
    if "Workbook".encode("utf-16-le") in data or "Book".encode("utf-16-le") in data:
        return "xls"
    raise DocumentError("It is an old Office file (.doc, .ppt or the like). Save it as DOCX, PPTX or PDF.")
