"""Ingest: files into the store, one transaction a document; what is already there and unchanged costs a hash."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from knowledge import lexical
from knowledge import placeholder as chunking
from knowledge import placeholder as documents
from knowledge.encoders.base import Encoded, Encoder
from knowledge.encoders.tokens import pack
from knowledge.errors import DocumentError
from knowledge.index import refresh_snapshot
from knowledge.questions import attach, is_question_file, parse_questions, question_file
from knowledge.records import Chunk, LoadedDocument
from knowledge.rows import PreparedChunk, PreparedDocument, VectorKind
from knowledge.store import Store, content_hash

PREPARATION = 1
"""Goes up whenever what is made of a document changes here; documents of another preparation are indexed again."""
SNAPSHOT_SHARE = 0.5
"""During a long ingest the derived index is built anew after this growth, so that readers keep up."""

FileStatus = Literal["added", "updated", "unchanged", "duplicate", "failed"]
Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file."""

    path: str
    document_id: str | None
    status: FileStatus
    reason: str | None = None
    """Why it failed."""
    encoding: str | None = None
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of all files."""

    files: list[FileReport] = field(default_factory=list)

    def count(self, status: FileStatus) -> int:
        """Number of files with this status."""
        return Counter(file.status for file in self.files)[status]


def ingest(
    store: Store,
    encoder: Encoder,
    paths: Sequence[Path],
    *,
    on_file: Callable[[FileReport], None] | None = None,
    on_progress: Progress | None = None,
) -> IngestReport:
    """Index files and folders. A file that fails is reported with its reason, and the rest goes on.

    Raises:
        EncoderMismatch: the store was built with another encoder.
        StoreError: the store can't be written.
    """
    store.check_encoder(encoder.identity)
    report = IngestReport()
    files = list(dict.fromkeys(file for path in paths for file in _files(path)))
    progress = _ByteProgress(files, on_progress)
    for file in files:
        result = _ingest_file(store, encoder, file, progress)
        progress.file_done(file)
        report.files.append(result)
        if on_file is not None:
            on_file(result)
        if result.status in ("added", "updated"):
            refresh_snapshot(store, share=SNAPSHOT_SHARE)
    refresh_snapshot(store)
    return report


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        for file in documents.walk(path):
            if not is_question_file(file):
                yield Path(os.path.abspath(file))
    else:
        yield Path(os.path.abspath(path))


def _ingest_file(store: Store, encoder: Encoder, file: Path, progress: _ByteProgress) -> FileReport:
    location = str(file)
    try:
        if is_question_file(file):
            raise DocumentError("it holds question forms; they are indexed with the document that lies beside it")
        return _index(store, encoder, file, progress)
    except DocumentError as error:
        return FileReport(location, None, "failed", str(error))
    except OSError as error:
        return FileReport(location, None, "failed", error.strerror or str(error))


def _index(store: Store, encoder: Encoder, file: Path, progress: _ByteProgress) -> FileReport:
    location = str(file)
    hashed = content_hash(file.read_bytes())
    sidecar = question_file(file)
    forms = sidecar.read_text(encoding="utf-8-sig") if sidecar.is_file() else ""
    fingerprint = _fingerprint(hashed, forms)
    known = store.known(location)
    if known is not None and known.content_hash == hashed and (known.fingerprint == fingerprint or not known.primary):
        return FileReport(location, known.document_id, "unchanged", chunks=known.chunks)
    if known is None or known.content_hash != hashed:
        adopted = store.adopt(location, hashed)
        if adopted is not None:
            return FileReport(location, adopted.document_id, "duplicate", chunks=adopted.chunks)
    loaded = documents.load(file)
    chunks = chunking.chunk(loaded)
    if not chunks:
        raise DocumentError("it holds no text that could be searched")
    prepared = prepare(encoder, loaded, chunks, attach(parse_questions(forms), chunks), progress.part(file))
    written = store.write(
        PreparedDocument(location, hashed, fingerprint, loaded, prepared), encoder.identity, encoder.dimension
    )
    return FileReport(location, written.document_id, written.status, encoding=loaded.encoding, chunks=len(chunks))


def prepare(
    encoder: Encoder,
    loaded: LoadedDocument,
    chunks: Sequence[Chunk],
    questions: Sequence[tuple[str, ...]],
    on_share: Callable[[float], None] | None = None,
) -> list[PreparedChunk]:
    """Encode a document's chunks in one call, and count their terms.

    Args:
        encoder: makes the vectors.
        loaded: the document.
        chunks: of the document.
        questions: the question forms of each chunk.
        on_share: called with the share done, 0 to 1.
    """
    headings = [" > ".join((loaded.title, *chunk.section)) for chunk in chunks]
    passages = [
        f"{heading}\n{loaded.text[chunk.start : chunk.end]}" for heading, chunk in zip(headings, chunks, strict=True)
    ]
    sentences = [[loaded.text[span.start : span.end] for span in chunk.sentences] for chunk in chunks]
    texts = [*passages, *(text for group in sentences for text in group), *(q for group in questions for q in group)]

    def progress(done: int) -> None:
        if on_share is not None:
            on_share(done / len(texts))

    encoded = iter(encoder.passages(texts, on_progress=progress))
    paragraph = [next(encoded) for _ in passages]
    sentence = [_stack([next(encoded) for _ in group], encoder.dimension) for group in sentences]
    question = [_stack([next(encoded) for _ in group], encoder.dimension) for group in questions]
    return [
        PreparedChunk(
            chunk=chunk,
            questions=forms,
            vectors={
                VectorKind.PARAGRAPH: whole.vector.reshape(1, -1),
                VectorKind.SENTENCE: sentence_vectors,
                VectorKind.QUESTION: question_vectors,
            },
            tokens=pack(whole.tokens) if len(whole.tokens) else b"",
            terms=lexical.term_counts(passage),
        )
        for chunk, passage, forms, whole, sentence_vectors, question_vectors in zip(
            chunks, passages, questions, paragraph, sentence, question, strict=True
        )
    ]


def _stack(encoded: list[Encoded], dimension: int) -> NDArray[np.float32]:
    return np.stack([one.vector for one in encoded]) if encoded else np.zeros((0, dimension), np.float32)


def _fingerprint(hashed: str, forms: str) -> str:
    parts = (hashed, forms, str(PREPARATION), str(documents.VERSION), str(chunking.VERSION), str(lexical.VERSION))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class _ByteProgress:
    """Progress in bytes of files, with a document that is being encoded counted by its share."""

    def __init__(self, files: Sequence[Path], report: Progress | None) -> None:
        self._sizes = {file: file.stat().st_size if file.is_file() else 0 for file in files}
        self._total = sum(self._sizes.values())
        self._done = 0
        self._report = report

    def part(self, file: Path) -> Callable[[float], None]:
        return lambda share: self._show(self._done + int(self._sizes[file] * share))

    def file_done(self, file: Path) -> None:
        self._done += self._sizes[file]
        self._show(self._done)

    def _show(self, done: int) -> None:
        if self._report is not None:
            self._report(done, self._total)
