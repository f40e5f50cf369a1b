"""A plain reader of Markdown and text, until the loaders and the chunker are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from knowledge.errors import DocumentError
from knowledge.records import Block, Chunk, LoadedDocument, Span

VERSION = 0
_SENTENCE = re.compile(r"[^。！？!?\n]*(?:[。！？!?]|\.(?=\s|$)|\n|$)")


def walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in {".md", ".txt"}:
            yield path


def load(path: Path) -> LoadedDocument:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError("it is not UTF-8 text") from error
    if not text.strip():
        raise DocumentError("it is empty")
    title, start = path.stem, 0
    front = re.match(r"---\n(.*?)\n---\n", text, re.S)
    if front:
        start = front.end()
        found = re.search(r'^title: "?(.*?)"?$', front.group(1), re.M)
        title = found.group(1) if found else title
    elif path.suffix == ".txt":
        title = text.strip().splitlines()[0][:80]
    blocks = []
    for match in re.finditer(r"[^\n]+", text):
        if match.start() < start or not match.group().strip():
            continue
        line = match.group()
        if line.startswith("#"):
            blocks.append(Block("heading", match.start(), match.end(), len(line) - len(line.lstrip("#"))))
        elif path.suffix == ".txt" and len(line) < 30 and not re.search(r"[。，？！.:：；]", line):
            blocks.append(Block("heading", match.start(), match.end(), 2))
        else:
            blocks.append(Block("list_item" if line.startswith("-") else "paragraph", match.start(), match.end()))
    language = "zh" if len(re.findall(r"[\u4e00-\u9fff]", text)) > len(text) / 10 else "en"
    return LoadedDocument(text, tuple(blocks), title, language, "text/plain", "utf-8")


def chunk(document: LoadedDocument) -> list[Chunk]:
    chunks: list[Chunk] = []
    section: tuple[str, ...] = ()
    group: list[Block] = []

    def flush() -> None:
        if group:
            start, end = group[0].start, group[-1].end
            spans = [
                Span(block.start + m.start(), block.start + m.end())
                for block in group
                for m in _SENTENCE.finditer(document.text[block.start : block.end])
                if m.group().strip()
            ]
            chunks.append(Chunk(start, end, section, None, tuple(spans)))
            group.clear()

    for block in document.blocks:
        if block.kind == "heading":
            flush()
            section = (document.text[block.start : block.end].lstrip("# ").strip(),)
            continue
        group.append(block)
        if group[-1].end - group[0].start > 500:
            flush()
    flush()
    return chunks
