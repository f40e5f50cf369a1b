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
from knowledge.store import Store

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
    files = [_absolute(file) for file in documents.walk([path for path in paths if path.exists()])]
    files += [_absolute(path) for path in paths if not path.exists()]
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
            file = item.path if isinstance(item, FileReport) else item.location
            if isinstance(item, FileReport):
                writer.put(item)
            else:
                writer.put(_prepared(encoder, item, progress.part(Path(file))))
            progress.file_done(Path(file))
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
    written = store.write(
        PreparedDocument(url, hashed, fingerprint, loaded, prepared), encoder.identity, encoder.dimension, collection
    )
    refresh_snapshot(store)
    return FileReport(url, written.document_id, written.status, encoding=loaded.encoding, chunks=len(chunks))


def _absolute(path: Path) -> Path:
    """Without `..`, but with links as they are: a document is named as people know it."""
    return Path(os.path.normpath(path.absolute()))


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A document that is to be encoded."""

    location: str
    content_hash: str
    fingerprint: str
    loaded: LoadedDocument
    chunks: list[Chunk]
    questions: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Again:
    """A file whose bytes are in the store under another name, or will be when those before it are written."""

    file: Path


def _read_file(
    store: Store, file: Path, limits: Limits, collection: str, taken: set[str] | None
) -> FileReport | _Loaded | _Again:
    """Read and split a file, or say what has become of it.

    Args:
        store: whose present state decides what is new.
        file: to read.
        limits: of its size.
        collection: that it goes to.
        taken: hashes of the contents before it, which it is added to. None: all those before are in the store.
    """
    location = str(file)
    try:
        if is_question_file(file):
            raise DocumentError("It holds question forms; they are indexed with the document that lies beside it.")
        with file.open("rb") as opened:
            hashed = hashlib.file_digest(opened, "sha256").hexdigest()
        forms = read_question_file(file)
        fingerprint = _fingerprint(hashed, forms, sidecar_of(file))
        known = store.known(location, collection)
        same = known is not None and known.content_hash == hashed
        if known is not None and same and (known.fingerprint == fingerprint or not known.primary):
            return FileReport(location, known.document_id, "unchanged", encoding=known.encoding, chunks=known.chunks)
        if not same:
            if taken is None:
                other = store.adopt(location, hashed, collection)
                if other is not None:
                    return FileReport(
                        location, other.document_id, "duplicate", encoding=other.encoding, chunks=other.chunks
                    )
            elif hashed in taken or store.holds(hashed, collection):
                return _Again(file)
        if taken is not None:
            taken.add(hashed)
        loaded, chunks = _read(lambda: documents.load(file, limits))
        return _Loaded(location, hashed, fingerprint, loaded, chunks, attach(parse_questions(forms), chunks))
    except DocumentError as error:
        return FileReport(location, None, "failed", str(error))
    except OSError as error:
        return FileReport(location, None, "failed", f"It can't be read: {error.strerror or error}.")


def _prepared(encoder: Encoder, item: _Loaded, on_share: Callable[[float], None]) -> PreparedDocument:
    prepared = prepare(encoder, item.loaded, item.chunks, item.questions, on_share)
    return PreparedDocument(item.location, item.content_hash, item.fingerprint, item.loaded, prepared)


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
        written = self._store.write(item, self._encoder.identity, self._encoder.dimension, self._collection)
        chunks = len(item.chunks)
        if written.status in ("added", "updated"):
            self._since_snapshot += chunks
        if self._since_snapshot >= SNAPSHOT_CHUNKS:
            self._since_snapshot = 0
            refresh_snapshot(self._store, share=SNAPSHOT_SHARE)
        return FileReport(
            item.location, written.document_id, written.status, encoding=item.loaded.encoding, chunks=chunks
        )


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
