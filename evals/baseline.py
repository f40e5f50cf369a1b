"""Plain LangChain retrieval as a target to compare with: the same encoder, nothing else of this project.

`RecursiveCharacterTextSplitter` with 500 characters and no overlap, an exact vector index, and the four best passages
as the answer, each with its mark: what a first prototype of such an assistant does. The index is LangChain's own
in-memory one, which finds what a flat FAISS index of normalised vectors finds.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.schema import Answer, Citation, Language
from evals.errors import TargetError
from evals.support import is_chinese
from evals.targets.base import Ranked
from evals.targets.in_process import fingerprint
from knowledge.encoders import Encoder, load_encoder
from knowledge.shipped import shipped_paths

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore

CHUNK_CHARACTERS = 500
PASSAGES = 4


class BaselineTarget:
    """Answers with the four nearest passages, always."""

    def __init__(self, documents: Sequence[Path] | None = None) -> None:
        self._documents = tuple(documents) if documents is not None else None
        self._stores: dict[tuple[Path, ...], VectorStore] = {}
        self._lock = threading.Lock()

    def prepare(self, documents: Sequence[Path] | None) -> None:
        """Split and encode the documents once."""
        self._store(documents)

    def ask(self, turns: Sequence[str], documents: Sequence[Path] | None) -> Answer:
        """The passages nearest to the last turn, pasted."""
        found = self._search(turns[-1], documents, PASSAGES)
        language: Language = "zh" if is_chinese(turns[-1]) else "en"
        return Answer(
            id=str(uuid.uuid4()),
            conversation_id=str(uuid.uuid4()),
            question=turns[-1],
            language=language,
            status="answered",
            text="\n\n".join(f"{' '.join(d.page_content.split())} [{n}]" for n, d in enumerate(found, 1)),
            citations=[_citation(n, document) for n, document in enumerate(found, 1)],
            model="langchain:retrieval",
        )

    def ranked(self, turns: Sequence[str], documents: Sequence[Path] | None, k: int) -> list[Ranked] | None:
        """The k nearest passages."""
        return [
            Ranked((d.metadata["source"], d.metadata["title"]), d.metadata["section"])
            for d in self._search(turns[-1], documents, k)
        ]

    def describe(self) -> dict[str, Any]:
        """Library versions and the documents' hash."""
        from importlib.metadata import version

        paths = self._documents or tuple(shipped_paths())
        return {
            "kind": "baseline",
            "version": version("langchain-text-splitters"),
            "encoder": self._encoder.identity,
            "index": fingerprint(paths),
        }

    @cached_property
    def _encoder(self) -> Encoder:
        return load_encoder()

    def _search(self, question: str, documents: Sequence[Path] | None, k: int) -> list[Document]:
        return self._store(documents).similarity_search(question, k=k)

    def _store(self, documents: Sequence[Path] | None) -> VectorStore:
        paths = tuple(documents) if documents is not None else self._documents or tuple(shipped_paths())
        with self._lock:
            if paths not in self._stores:
                self._stores[paths] = _build(paths, self._encoder)
        return self._stores[paths]


def _build(paths: Sequence[Path], encoder: Encoder) -> VectorStore:
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    class _Embeddings(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [encoded.vector.tolist() for encoded in encoder.passages(texts)]

        def embed_query(self, text: str) -> list[float]:
            vector: list[float] = encoder.query(text).vector.tolist()
            return vector

    files = [f for path in paths for f in (sorted(path.rglob("*.md")) if path.is_dir() else [path])]
    if not files:
        raise TargetError("The baseline finds no files to index.")
    splitter = RecursiveCharacterTextSplitter(chunk_size=CHUNK_CHARACTERS, chunk_overlap=0, add_start_index=True)
    texts = [file.read_text(encoding="utf-8") for file in files]
    passages = splitter.create_documents(texts, [{"source": str(f), "title": f.stem} for f in files])
    for passage in passages:
        text = texts[[str(f) for f in files].index(passage.metadata["source"])]
        passage.metadata["section"] = _sections(text, passage.metadata["start_index"], passage.page_content)
    store = InMemoryVectorStore(_Embeddings())
    store.add_documents(passages)
    return store


def _sections(text: str, start: int, passage: str) -> str:
    """The headings that a passage lies under or holds: a plain splitter knows none, and the sources metric asks."""
    before = [line for line in text[:start].splitlines() if line.startswith("#")][-1:]
    within = [line for line in passage.splitlines() if line.startswith("#")]
    return " > ".join(line.lstrip("# ") for line in (*before, *within))


def _citation(n: int, passage: Document) -> Citation:
    start = passage.metadata["start_index"]
    return Citation(
        n=n,
        document_id=passage.metadata["title"],
        title=passage.metadata["title"],
        section=passage.metadata["section"],
        location=passage.metadata["source"],
        quote=passage.page_content,
        start=start,
        end=start + len(passage.page_content),
        score=0.0,
    )
