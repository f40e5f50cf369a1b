"""Files that belong to one conversation: a small store each, searched beside the documents of everybody."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from knowledge.encoders import Encoder
from knowledge.errors import InvalidInput
from knowledge.records import SearchResult
from knowledge.search import Searcher
from knowledge.store import FILE_NAME, Store

if TYPE_CHECKING:
    from knowledge.ingest import FileReport

NEAR = 0.8
"""Cosine of the default encoder that unrelated questions seldom reach."""
SCORE_OF_COSINE = 30.0
"""By how much a fused score rises with a cosine, roughly: the passages found spread over 0.1 and over 3."""
_OWNER = "owner.txt"
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


class Attachments:
    """Stores by conversation. Safe to share between threads."""

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        self._folder = folder
        self._encoder = encoder
        self._searchers: dict[str, tuple[Store, Searcher]] = {}
        self._lock = Lock()

    def add(self, conversation_id: str, owner: str, files: Sequence[Path]) -> list[FileReport]:
        """Copy files into the conversation's folder and index them; each is reported.

        Raises:
            InvalidInput: the conversation's attachments belong to somebody else.
        """
        if not _ID.fullmatch(conversation_id) or (
            self.exists(conversation_id) and not self.exists(conversation_id, owner)
        ):
            raise InvalidInput(f"There is no conversation {conversation_id} here.")
        from knowledge.ingest import ingest

        place = self._place(conversation_id)
        place.mkdir(parents=True, exist_ok=True)
        (place / _OWNER).write_text(owner, "utf-8")
        copies = [Path(shutil.copy(file, place / file.name)) for file in files]
        with Store.open(place) as store:
            return ingest(store, self._encoder, copies).files

    def exists(self, conversation_id: str, owner: str | None = None) -> bool:
        """Whether anything is attached to the conversation (of this owner)."""
        if not _ID.fullmatch(conversation_id):
            return False
        mark = self._place(conversation_id) / _OWNER
        return mark.is_file() and (owner is None or mark.read_text("utf-8") == owner)

    def store(self, conversation_id: str) -> Store | None:
        """The conversation's store; None where nothing is attached."""
        opened = self._open(conversation_id)
        return opened[0] if opened else None

    def search(self, conversation_id: str, question: str, k: int) -> SearchResult | None:
        """The best passages of what is attached; None where nothing is."""
        opened = self._open(conversation_id)
        return opened[1].search(question, k) if opened else None

    def delete(self, conversation_id: str) -> None:
        """Delete what is attached to a conversation."""
        with self._lock:
            opened = self._searchers.pop(conversation_id, None)
        if opened:
            opened[0].close()
        if _ID.fullmatch(conversation_id):
            shutil.rmtree(self._place(conversation_id), ignore_errors=True)

    def _place(self, conversation_id: str) -> Path:
        return self._folder / conversation_id

    def _open(self, conversation_id: str) -> tuple[Store, Searcher] | None:
        if not self.exists(conversation_id) or not (self._place(conversation_id) / FILE_NAME).is_file():
            return None
        with self._lock:
            if conversation_id not in self._searchers:
                store = Store.open(self._place(conversation_id), create=False)
                self._searchers[conversation_id] = store, Searcher(store, self._encoder)
            return self._searchers[conversation_id]


def beside(attached: SearchResult | None, found: SearchResult, threshold: float, k: int) -> SearchResult:
    """Passages of attached files among those of the library, best first.

    Scores are standardised within one store, and coverage is calibrated on large ones, so a file of some passages is
    judged by its cosines alone: who attaches a file wants it to be looked at.
    """
    if attached is None or not attached.hits:
        return found
    first = found.hits[0] if found.hits else None
    score, dense = (first.score, first.dense_score) if first else (0.0, 0.0)
    moved = [replace(hit, score=score + SCORE_OF_COSINE * (hit.dense_score - dense)) for hit in attached.hits]
    hits = tuple(sorted((*moved, *found.hits), key=lambda hit: -hit.score)[:k])
    near = any(hit in moved and hit.dense_score >= NEAR for hit in hits[:1])
    return SearchResult(found.query_vector, hits, max(found.coverage, threshold if near else 0.0))
