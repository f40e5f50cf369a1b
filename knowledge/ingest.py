"""Ingest: files into the store, one transaction a document; what is already there and unchanged costs a hash.

Reading, encoding and writing go on at the same time, each a few documents ahead of the next, so that memory is bounded
by the largest documents and not by their number.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from knowledge import documents, lexical
from knowledge.background import ensure_background
from knowledge.chunking import chunk
from knowledge.collections import DEFAULT
from knowledge.documents.frontmatter import sidecar_of
from knowledge.encoders.base import Encoded, Encoder
from knowledge.encoders.tokens import pack
from knowledge.errors import DocumentError
from knowledge.index import refresh_snapshot
from knowledge.limits import Limits
from knowledge.pipeline import ahead
from knowledge.questions import attach, is_question_file, parse_questions, read_question_file
from knowledge.records import Chunk, LoadedDocument
from knowledge.rows import PreparedChunk, PreparedDocument, VectorKind
from knowledge.store import Known, Store

PREPARATION = 1
"""Goes up whenever loaders, chunks or what is encoded change; documents of another preparation are indexed again."""
ENCODED_CHUNKS = 32
"""Chunks that are encoded in one call; bounds the memory that token vectors take before they are packed."""
SNAPSHOT_CHUNKS = 2000
SNAPSHOT_SHARE = 0.5
"""During a long ingest the derived index is built anew after this many chunks and this growth, so that readers keep
up."""

READ_AHEAD = 2
"""Documents that are read while another is encoded."""
UNWRITTEN_CHUNKS = 256
"""Passages that may wait to be written before encoding waits too; one document may always."""

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
    limits: Limits | None = None,
    collection: str = DEFAULT,
) -> IngestReport:
    """Index files and folders. A file that fails is reported with its reason, and the rest goes on.

    Raises:
        EncoderMismatch: the store was built with another encoder.
        StoreError: the store can't be written.
    """
    store.check_encoder(encoder.identity)
    ensure_background(store, encoder)
    report = IngestReport()
    files = all_files(paths)
    progress = _ByteProgress(files, on_progress)
    taken: set[str] = set()
    read = (_read_file(store, file, limits or Limits(), collection, taken) for file in files)
    with ahead(read, READ_AHEAD) as items, _Writer(store, encoder, collection) as writer:

        def done(results: Iterator[FileReport]) -> None:
            for result in results:
                report.files.append(result)
                if on_file is not None:
                    on_file(result)

        for item in items:
            while isinstance(item, _Again):  # what it is like is known when those before it are written
                done(writer.finished())
                item = _read_file(store, item.file, limits or Limits(), collection, None)
            if isinstance(item, FileReport):
                file = Path(item.path)
                writer.put(item)
            else:
                file = Path(item.version.location)
                writer.put(item.encoded(encoder, progress.part(file)))
            progress.file_done(file)
            done(writer.finished(UNWRITTEN_CHUNKS))
        done(writer.finished())
    refresh_snapshot(store)
    return report


def ingest_url(
    store: Store,
    encoder: Encoder,
    url: str,
    *,
    limits: Limits | None = None,
    allow_private: bool = False,
    collection: str = DEFAULT,
) -> FileReport:
    """Index a web page under its address; one that can't be read is reported with its reason.

    Args:
        limits: of size and time.
        allow_private: whether addresses of private networks may be read.
        collection: that the page goes to.

    Raises:
        EncoderMismatch: the store was built with another encoder.
        StoreError: the store can't be written.
    """
    store.check_encoder(encoder.identity)
    ensure_background(store, encoder)
    try:
        loaded, chunks = _read(lambda: documents.load_url(url, limits or Limits(), allow_private=allow_private))
    except DocumentError as error:
        return FileReport(url, None, "failed", str(error))
    hashed = hashlib.sha256(loaded.text.encode()).hexdigest()
    fingerprint = _fingerprint(hashed, "", None)
    known = store.known(url, collection)
    if known is not None and known.content_hash == hashed and known.fingerprint == fingerprint:
        return FileReport(url, known.document_id, "unchanged", encoding=known.encoding, chunks=known.chunks)
    prepared = prepare(encoder, loaded, chunks, attach({}, chunks))
    document = PreparedDocument(url, hashed, fingerprint, loaded, prepared)
    report = written(store, document, encoder.identity, encoder.dimension, collection)
    refresh_snapshot(store)
    return report


def all_files(paths: Sequence[Path]) -> list[Path]:
    """The files named and those in folders named, then those that don't exist."""
    files = [_absolute(file) for file in documents.walk([path for path in paths if path.exists()])]
    return files + [_absolute(path) for path in paths if not path.exists()]


def _absolute(path: Path) -> Path:
    """Without `..`, but with links as they are: a document is named as people know it."""
    return Path(os.path.normpath(path.absolute()))


@dataclass(frozen=True, slots=True)
class Version:
    """What tells a file's present state from others."""

    location: str
    content_hash: str
    fingerprint: str
    forms: str
    """The text of its question forms."""

    @classmethod
    def of(cls, file: Path) -> Version:
        """Read the bytes of the file and of those beside it.

        Raises:
            DocumentError: it holds the question forms of another, or its own can't be read.
            OSError: it can't be read.
        """
        if is_question_file(file):
            raise DocumentError("It holds question forms; they are indexed with the document that lies beside it.")
        with file.open("rb") as opened:
            hashed = hashlib.file_digest(opened, "sha256").hexdigest()
        forms = read_question_file(file)
        return cls(str(file), hashed, _fingerprint(hashed, forms, sidecar_of(file)), forms)

    def unchanged(self, known: Known | None) -> FileReport | None:
        """That the store knows just this; None when it doesn't."""
        if known is None or known.content_hash != self.content_hash:
            return None
        if known.fingerprint != self.fingerprint and known.primary:
            return None
        return FileReport(self.location, known.document_id, "unchanged", encoding=known.encoding, chunks=known.chunks)


@dataclass(frozen=True, slots=True)
class Split:
    """A document that was read and split, to be encoded."""

    version: Version
    loaded: LoadedDocument
    chunks: list[Chunk]
    questions: list[tuple[str, ...]]

    @classmethod
    def of(cls, version: Version, limits: Limits) -> Split:
        """Read and split.

        Raises:
            DocumentError: it can't be read.
        """
        loaded, chunks = _read(lambda: documents.load(Path(version.location), limits))
        return cls(version, loaded, chunks, attach(parse_questions(version.forms), chunks))

    def encoded(self, encoder: Encoder, on_share: Callable[[float], None] | None = None) -> PreparedDocument:
        """Ready to be written."""
        prepared = prepare(encoder, self.loaded, self.chunks, self.questions, on_share)
        version = self.version
        return PreparedDocument(version.location, version.content_hash, version.fingerprint, self.loaded, prepared)


def failed(location: str, error: DocumentError | OSError) -> FileReport:
    """That a file can't be read, and why."""
    reason = str(error) if isinstance(error, DocumentError) else f"It can't be read: {error.strerror or error}."
    return FileReport(location, None, "failed", reason)


def written(
    store: Store, document: PreparedDocument, encoder_identity: str, dimension: int, collection: str
) -> FileReport:
    """Write a document.

    Raises:
        EncoderMismatch, StoreError: as `Store.write`.
    """
    document_id, status = store.write(document, encoder_identity, dimension, collection)
    chunks = len(document.chunks)
    return FileReport(document.location, document_id, status, encoding=document.loaded.encoding, chunks=chunks)


@dataclass(frozen=True, slots=True)
class _Again:
    """A file whose bytes are in the store under another name, or will be when those before it are written."""

    file: Path


def _read_file(
    store: Store, file: Path, limits: Limits, collection: str, taken: set[str] | None
) -> FileReport | Split | _Again:
    """Read and split a file, or say what has become of it.

    Args:
        store: whose present state decides what is new.
        file: to read.
        limits: of its size.
        collection: that it goes to.
        taken: hashes of the contents before it, which it is added to. None: all those before are in the store.
    """
    try:
        version = Version.of(file)
        known = store.known(version.location, collection)
        unchanged = version.unchanged(known)
        if unchanged is not None:
            return unchanged
        hashed = version.content_hash
        if known is None or known.content_hash != hashed:
            if taken is None:
                same = store.adopt(version.location, hashed, collection)
                if same is not None:
                    return FileReport(
                        version.location, same.document_id, "duplicate", encoding=same.encoding, chunks=same.chunks
                    )
            elif hashed in taken or store.holds(hashed, collection):
                return _Again(file)
        if taken is not None:
            taken.add(hashed)
        return Split.of(version, limits)
    except (DocumentError, OSError) as error:
        return failed(str(file), error)


class _Writer:
    """Writes documents in order in a thread of its own, and builds the derived index anew when it has grown."""

    def __init__(self, store: Store, encoder: Encoder, collection: str) -> None:
        self._store, self._encoder, self._collection = store, encoder, collection
        self._thread = ThreadPoolExecutor(1, "writer")
        self._waiting: deque[tuple[Future[FileReport], int]] = deque()
        self._since_snapshot = 0

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *raised: object) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    def put(self, item: PreparedDocument | FileReport) -> None:
        """Have a document written, or a report wait for its turn."""
        chunks = 0 if isinstance(item, FileReport) else len(item.chunks)
        self._waiting.append((self._thread.submit(self._write, item), chunks))

    def finished(self, unwritten: int = 0) -> Iterator[FileReport]:
        """What became of documents, in order, until no more than so many passages wait.

        Raises:
            StoreError, EncoderMismatch: one couldn't be written.
        """
        while self._waiting and (
            self._waiting[0][0].done()
            or not unwritten
            or (len(self._waiting) > 1 and sum(chunks for _, chunks in self._waiting) > unwritten)
        ):
            yield self._waiting.popleft()[0].result()

    def _write(self, item: PreparedDocument | FileReport) -> FileReport:
        if isinstance(item, FileReport):
            return item
        report = written(self._store, item, self._encoder.identity, self._encoder.dimension, self._collection)
        if report.status in ("added", "updated"):
            self._since_snapshot += report.chunks
        if self._since_snapshot >= SNAPSHOT_CHUNKS:
            self._since_snapshot = 0
            refresh_snapshot(self._store, share=SNAPSHOT_SHARE)
        return report


def _read(load: Callable[[], LoadedDocument]) -> tuple[LoadedDocument, list[Chunk]]:
    try:
        loaded = load()
        chunks = chunk(loaded)
    except (DocumentError, OSError):
        raise
    except Exception as error:  # format libraries raise anything on a damaged file, and the other files must go on
        raise DocumentError(
            f"It can't be read ({type(error).__name__}: {error}). Save it anew and try again."
        ) from error
    if not chunks:
        raise DocumentError("It holds no text that could be searched.")
    return loaded, chunks


def prepare(
    encoder: Encoder,
    loaded: LoadedDocument,
    chunks: Sequence[Chunk],
    questions: Sequence[tuple[str, ...]],
    on_share: Callable[[float], None] | None = None,
) -> list[PreparedChunk]:
    """Encode a document's chunks and count their terms.

    Args:
        encoder: makes the vectors.
        loaded: the document.
        chunks: of the document.
        questions: the question forms of each chunk.
        on_share: called with the share done, 0 to 1.
    """
    prepared: list[PreparedChunk] = []
    for start in range(0, len(chunks), ENCODED_CHUNKS):
        part = slice(start, start + ENCODED_CHUNKS)
        prepared += _prepare_part(encoder, loaded, chunks[part], questions[part])
        if on_share is not None:
            on_share(len(prepared) / len(chunks))
    return prepared


def passage_text(title: str, section: Sequence[str], text: str) -> str:
    """What is encoded of a passage, and counted for lexical search: its text under its title and heading path."""
    return "\n".join((" > ".join((title, *section)), text))


def _prepare_part(
    encoder: Encoder, loaded: LoadedDocument, chunks: Sequence[Chunk], questions: Sequence[tuple[str, ...]]
) -> list[PreparedChunk]:
    passages = [passage_text(loaded.title, part.section, loaded.text[part.start : part.end]) for part in chunks]
    sentences = [[loaded.text[span.start : span.end] for span in part.sentences] for part in chunks]
    texts = [
        *passages,
        *(text for group in sentences for text in group),
        *(form for group in questions for form in group),
    ]
    encoded = iter(encoder.passages(texts))
    whole = [next(encoded) for _ in passages]
    sentence_vectors = [_stack([next(encoded) for _ in group], encoder.dimension) for group in sentences]
    question_vectors = [_stack([next(encoded) for _ in group], encoder.dimension) for group in questions]
    return [
        PreparedChunk(
            chunk=part,
            questions=questions[i],
            vectors={
                VectorKind.PARAGRAPH: whole[i].vector.reshape(1, -1),
                VectorKind.SENTENCE: sentence_vectors[i],
                VectorKind.QUESTION: question_vectors[i],
            },
            tokens=pack(whole[i].tokens) if len(whole[i].tokens) else b"",
            terms=lexical.term_counts(passages[i]),
        )
        for i, part in enumerate(chunks)
    ]


def _stack(encoded: list[Encoded], dimension: int) -> NDArray[np.float32]:
    return np.stack([one.vector for one in encoded]) if encoded else np.zeros((0, dimension), np.float32)


def _fingerprint(hashed: str, forms: str, description: Path | None) -> str:
    sidecar = description.read_bytes() if description is not None else b""
    parts = (hashed.encode(), forms.encode(), sidecar, f"{PREPARATION}.{lexical.VERSION}".encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


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
