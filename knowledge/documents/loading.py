"""Reads one file by what its content is, and puts together what is stored of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path, PurePath

from knowledge.documents import sniff
from knowledge.documents.characters import clean, is_blank, is_chinese
from knowledge.documents.delimited import read_csv
from knowledge.documents.docx import read_docx
from knowledge.documents.draft import Draft
from knowledge.documents.encoding import declared_in, decode
from knowledge.documents.epub import read_epub
from knowledge.documents.frontmatter import Description, read_sidecar, written_day
from knowledge.documents.html import read_html
from knowledge.documents.markdown import read_markdown
from knowledge.documents.old_sheets import read_ods, read_xls
from knowledge.documents.pdf import read_pdf
from knowledge.documents.plain import read_plain
from knowledge.documents.pptx import read_pptx
from knowledge.documents.xlsx import read_xlsx
from knowledge.errors import DocumentError
from knowledge.limits import Limits, check
from knowledge.records import Language, LoadedDocument

_BINARY: dict[str, Callable[[bytes, Limits], Draft]] = {
    "pdf": read_pdf,
    "docx": read_docx,
    "pptx": read_pptx,
    "xlsx": read_xlsx,
    "xls": read_xls,
    "ods": read_ods,
    "epub": read_epub,
}
_TEXT: dict[str, Callable[[str, Limits], Draft]] = {
    "markdown": read_markdown,
    "text": read_plain,
    "html": read_html,
    "csv": read_csv,
}
_DEFAULT = Limits()


def load(path: Path, limits: Limits = _DEFAULT) -> LoadedDocument:
    """Read a file, and the sidecar file beside it if there is one.

    Raises:
        DocumentError: it can't be read; the message says why and what to do.
    """
    try:
        if not path.is_file():
            raise DocumentError(f"{path} is not a file.")
        check(limits, "max_bytes", path.stat().st_size, "Size in bytes:")
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(
            f"{path} can't be read: {error.strerror or error}. Check the file and its permissions."
        ) from error
    return load_bytes(data, path.name, limits, description=read_sidecar(path))


def load_bytes(
    data: bytes,
    name: str,
    limits: Limits = _DEFAULT,
    *,
    charset: str | None = None,
    description: Description | None = None,
) -> LoadedDocument:
    """Read a document from memory. Its content decides the format; the name's ending is only a hint.

    Args:
        data: the file's bytes.
        name: its file name; without a title in the document, the title.
        limits: bounds; a document over one is refused.
        charset: what a server said the encoding is.
        description: what is known beside the text; overrides what the document says about itself.

    Raises:
        DocumentError: it can't be read; the message says why and what to do.
    """
    check(limits, "max_bytes", len(data), "Size in bytes:")
    if not data.strip():
        raise DocumentError("The file is empty.")
    format_ = sniff.of_bytes(data)
    encoding: str | None = None
    source: bytes | str = data
    if format_ is None:
        source, encoding = decode(data, charset or declared_in(data))
        if is_blank(clean(source)):
            raise DocumentError("The file holds only blanks.")
        format_ = sniff.of_text(source, name)
    draft = _read(source, format_, limits)
    if not draft.blocks or is_blank(draft.text):
        raise DocumentError("The document holds no text that a reader would see.")
    return _assemble(draft, format_, encoding, name, description or Description())


def _read(source: bytes | str, format_: sniff.Format, limits: Limits) -> Draft:
    """Read with the format's reader; whatever a library raises on a damaged file is a refusal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries warn of what they leave out of a damaged file
            return _TEXT[format_](source, limits) if isinstance(source, str) else _BINARY[format_](source, limits)
    except DocumentError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise DocumentError(
            f"The {format_.upper()} file is damaged and can't be read ({reason}). Save it again."
        ) from error


def _assemble(
    draft: Draft, format_: sniff.Format, encoding: str | None, name: str, description: Description
) -> LoadedDocument:
    metadata = {**draft.metadata, **description.metadata}
    if metadata.get("expires"):
        metadata["expires"] = written_day(metadata["expires"], "expires").isoformat()
    title = description.metadata.get("title") or draft.title or PurePath(name).stem or name
    return LoadedDocument(
        text=draft.text,
        blocks=draft.blocks,
        title=" ".join(clean(title).split()),
        language=_language(metadata.get("language", ""), draft.text),
        media_type=sniff.MEDIA_TYPES[format_],
        encoding=encoding,
        pages=draft.pages,
        references=description.references or draft.references,
        metadata={key: value for key, value in metadata.items() if key not in ("title", "language")},
    )


def _language(stated: str, text: str) -> Language:
    if stated.lower().startswith("zh"):
        return "zh"
    if stated.lower().startswith("en"):
        return "en"
    return "zh" if is_chinese(text) else "en"
