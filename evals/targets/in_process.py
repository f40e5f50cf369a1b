"""This assistant in the same process, with any settings and any documents."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assistant.schema import Answer
from assistant.settings import Settings, load_settings
from evals.errors import TargetError
from evals.targets.base import Ranked
from knowledge.errors import StoreError
from knowledge.shipped import shipped_paths

if TYPE_CHECKING:
    from assistant.advisor import Advisor


class InProcessTarget:
    """This assistant, with any settings. Like `advisor ask`, it fills a data folder that does not exist."""

    def __init__(self, overrides: Mapping[str, str] | None = None, documents: Sequence[Path] | None = None) -> None:
        try:
            self._settings = Settings(**{**load_settings().model_dump(), **(overrides or {})})
        except ValidationError as error:
            first = error.errors()[0]
            raise TargetError(f"--set {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
        self._documents = tuple(documents) if documents is not None else None
        self._folder = Path(tempfile.mkdtemp(prefix="advisor-eval-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._advisors: dict[str, Advisor] = {}
        self._lock = threading.Lock()
        if self._documents is None and not self._settings.data_dir.exists():
            _index(shipped_paths(), self._settings)

    def prepare(self, documents: Sequence[Path] | None) -> None:
        """Index the documents once, in a folder of their own."""
        self._advisor(documents)

    def ask(self, turns: Sequence[str], documents: Sequence[Path] | None) -> Answer:
        """Answer from the settings' data folder, or from a folder of these documents alone."""
        return self._advisor(documents).ask_turns(turns)[-1]

    def ranked(self, turns: Sequence[str], documents: Sequence[Path] | None, k: int) -> list[Ranked] | None:
        """Search with the last turn."""
        result = self._advisor(documents).searcher.search(turns[-1], k)
        return [Ranked((hit.document_id, hit.title, hit.location), hit.section) for hit in result.hits]

    def describe(self) -> dict[str, Any]:
        """Version, settings without the path of the data folder, encoder, hash of the indexed documents (of none where
        only the cases' own documents are asked)."""
        from assistant import __version__

        advisor = self._advisor(None)
        digest = hashlib.sha256()
        try:
            ids = sorted(document.document_id for document in advisor.store.documents())
        except StoreError:
            ids = []
        for document_id in ids:
            digest.update(f"{document_id}\0{advisor.store.source_text(document_id)}\0".encode())
        return {
            "kind": "in process",
            "version": __version__,
            "settings": self._settings.model_dump(mode="json", exclude={"data_dir"}),
            "encoder": advisor.encoder.identity,
            "index": digest.hexdigest()[:12],
            "documents": len(ids),
        }

    def _advisor(self, documents: Sequence[Path] | None) -> Advisor:
        from assistant.advisor import Advisor

        paths = tuple(documents) if documents is not None else self._documents
        key = "" if paths is None else fingerprint(paths)
        with self._lock:
            if key not in self._advisors:
                settings = self._settings
                if paths is not None:
                    settings = settings.model_copy(update={"data_dir": self._folder / key})
                    _index(paths, settings)
                self._advisors[key] = Advisor(settings)
                self._advisors[key].journaled = False
            return self._advisors[key]


def fingerprint(paths: Sequence[Path]) -> str:
    """Hash of the names and bytes of files and of all files in folders, 16 hexadecimal digits.

    Raises:
        TargetError: a file can't be read.
    """
    digest = hashlib.sha256()
    for path in paths:
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            try:
                digest.update(f"{file.name}\0".encode() + file.read_bytes())
            except OSError as error:
                raise TargetError(f"{file} can't be read: {error.strerror}.") from error
    return digest.hexdigest()[:16]


def _index(paths: Sequence[Path], settings: Settings) -> None:
    from knowledge.encoders import load_encoder
    from knowledge.ingest import ingest
    from knowledge.store import Store

    with Store.open(settings.data_dir) as store:
        report = ingest(store, load_encoder(settings.encoder), paths)
    failed = [f"{file.path}: {file.reason}" for file in report.files if file.status == "failed"]
    if failed:
        raise TargetError("These documents of the suite can't be indexed: " + "; ".join(failed))
