"""Uploads: saved, indexed in the background one after the other, and followed in the database by any process."""

from __future__ import annotations

import json
import logging
import secrets
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, BinaryIO, Literal

from pydantic import BaseModel

from assistant.advisor import Advisor
from assistant.api.database import Database, now
from assistant.errors import AdvisorError, NotFound
from knowledge.collections import DEFAULT
from knowledge.ingest import ingest

UPLOADS = "uploads"
"""Folder of the uploaded files, in the data folder."""
BEAT_SECONDS = 10
LOST = timedelta(seconds=60)
"""An ingest that nobody has touched for so long died with its process; one that has its files goes on with it."""
ABANDONED = timedelta(minutes=10)
"""After so long nobody has its files any more."""
_LOG = logging.getLogger(__name__)
_WAITING = ("waiting", "working")


class IngestedFile(BaseModel):
    """What has become of one file."""

    name: str
    status: Literal["waiting", "working", "added", "updated", "unchanged", "duplicate", "failed"] = "waiting"
    reason: str | None = None
    """Why it failed."""
    document_id: str | None = None
    chunks: int = 0


class Ingest(BaseModel):
    """Files that are indexed in the background."""

    id: str
    collection: str
    done: bool
    files: list[IngestedFile]
    created: datetime


class Ingests:
    """Indexes one upload at a time. Each document is written whole or not at all, whenever the process ends."""

    def __init__(self, advisor: Advisor, database: Database) -> None:
        self._advisor = advisor
        self._database = database
        self._queue: SimpleQueue[tuple[Ingest, Sequence[Path]]] = SimpleQueue()
        self._pending: set[str] = set()
        self._lock = Lock()
        self._working: Thread | None = None
        self._beating: Thread | None = None
        self._closed = Event()

    def start(self, owner: str, collection: str, files: Iterable[tuple[str, BinaryIO]]) -> Ingest:
        """Save files under their own names, in place of those of the same names, and queue them."""
        folder = self._folder(collection)
        paths = [_save(stream, folder / plain_name(name)) for name, stream in files]
        made = Ingest(
            id=uuid.uuid4().hex,
            collection=collection,
            done=False,
            files=[IngestedFile(name=path.name) for path in paths],
            created=datetime.now(UTC),
        )
        self._database.insert(
            "ingests",
            id=made.id,
            owner=owner,
            collection=collection,
            files=_files_json(made),
            done=0,
            created=made.created.isoformat(),
            updated=now(),
        )
        self._enqueue(made, paths)
        return made

    def open(self) -> None:
        """From now on, go on with what processes that have ended left waiting; more than once does nothing more."""
        with self._lock:
            if self._beating is None:
                self._beating = Thread(target=self._beat, name="ingest-beat", daemon=True)
                self._beating.start()

    def resume(self) -> None:
        """Go on with the ingests of processes that have ended; what they were indexing is indexed again.

        Raises:
            AdvisorError: the database can't be read.
        """
        before = (datetime.now(UTC) - LOST).isoformat()
        for row in self._database.rows("SELECT * FROM ingests WHERE done = 0 AND updated < :before", before=before):
            job = _read(row)
            paths = [self._folder(job.collection) / file.name for file in job.files]
            if not any(path.exists() for path in paths):
                continue  # they lie with another server of this database
            claim = "UPDATE ingests SET updated = :now WHERE id = :id AND updated = :seen"
            if self._database.change((claim, {"now": now(), "id": row["id"], "seen": row["updated"]})):
                self._enqueue(job, paths)

    def close(self) -> None:
        """Leave what is waiting to the next process, at once."""
        self._closed.set()
        with self._lock:
            pending = sorted(self._pending)
        then = (datetime.now(UTC) - LOST).isoformat()
        leave = "UPDATE ingests SET updated = :then WHERE id = :id AND done = 0"
        with suppress(AdvisorError):
            self._database.change(*((leave, {"then": then, "id": i}) for i in pending))

    def _enqueue(self, job: Ingest, paths: Sequence[Path]) -> None:
        with self._lock:
            self._pending.add(job.id)
            if self._working is None:
                self._working = Thread(target=self._work, name="ingest", daemon=True)
                self._working.start()
        self.open()
        self._queue.put((job, paths))

    def find(self, ingest_id: str, owner: str) -> Ingest:
        """An ingest of this owner.

        Raises:
            NotFound: there is none.
        """
        rows = self._database.rows("SELECT * FROM ingests WHERE id = :id AND owner = :owner", id=ingest_id, owner=owner)
        if not rows:
            raise NotFound(f"There is no ingest {ingest_id} here.")
        found = _read(rows[0])
        if not found.done and datetime.fromisoformat(rows[0]["updated"]) < datetime.now(UTC) - ABANDONED:
            found.done = True
            for file in found.files:
                if file.status in _WAITING:
                    file.status, file.reason = "failed", "The server was stopped meanwhile. Upload the file again."
        return found

    def delete_upload(self, names: Sequence[str]) -> None:
        """Delete the files of a document that was uploaded."""
        for name in names:
            if Path(name).is_relative_to(self._advisor.settings.data_dir / UPLOADS):
                Path(name).unlink(missing_ok=True)

    def _folder(self, collection: str) -> Path:
        uploads = self._advisor.settings.data_dir / UPLOADS
        return uploads if collection == DEFAULT else uploads / collection

    def _work(self) -> None:
        while True:
            job, paths = self._queue.get()
            for file, path in zip(job.files, paths, strict=True):
                if self._closed.is_set():
                    return
                if file.status in _WAITING:
                    self._index(job, file, path)
            job.done = True
            with self._lock:
                self._pending.discard(job.id)
            self._store(job)

    def _index(self, job: Ingest, file: IngestedFile, path: Path) -> None:
        file.status = "working"
        self._store(job)
        advisor = self._advisor
        try:
            limits = advisor.settings.limits
            report = ingest(advisor.store, advisor.encoder, [path], limits=limits, collection=job.collection).files[0]
            file.status, file.reason = report.status, report.reason
            file.document_id, file.chunks = report.document_id, report.chunks
        except AdvisorError as error:
            file.status, file.reason = "failed", str(error)
        except Exception as error:  # whatever happens, the other uploads go on
            _LOG.exception("Indexing an upload failed")
            file.status, file.reason = "failed", f"It can't be indexed ({type(error).__name__}). See the server's log."
        self._store(job)

    def _store(self, job: Ingest) -> None:
        if self._closed.is_set() and not job.done:
            return  # it has been left to the next process
        values = {"id": job.id, "files": _files_json(job), "done": int(job.done), "now": now()}
        with suppress(AdvisorError):  # the documents are indexed all the same
            self._database.change(
                ("UPDATE ingests SET files = :files, done = :done, updated = :now WHERE id = :id", values)
            )

    def _beat(self) -> None:
        """Shows other processes that the waiting ingests are alive, and looks for those of processes that aren't."""
        while not self._closed.is_set():
            with self._lock:
                pending = sorted(self._pending)
            touch = "UPDATE ingests SET updated = :now WHERE id = :id"
            with suppress(AdvisorError):
                self._database.change(*((touch, {"now": now(), "id": i}) for i in pending))
                self.resume()
            self._closed.wait(BEAT_SECONDS)


def plain_name(name: str) -> str:
    """A file name without any folder that it may hold."""
    bare = PurePath(name.replace("\\", "/")).name
    return "".join(c for c in bare if c.isprintable()).strip(". ")[-200:] or "file"


def _save(stream: BinaryIO, path: Path) -> Path:
    """Write a file in one step: an ingest that reads the file of this name reads the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{secrets.token_hex(8)}.part")
    with beside.open("wb") as target:
        shutil.copyfileobj(stream, target)
    beside.replace(path)
    return path


def _files_json(job: Ingest) -> str:
    return json.dumps([file.model_dump() for file in job.files], ensure_ascii=False)


def _read(row: Mapping[str, Any]) -> Ingest:
    return Ingest(
        id=row["id"],
        collection=row["collection"],
        done=bool(row["done"]),
        files=[IngestedFile.model_validate(file) for file in json.loads(row["files"])],
        created=datetime.fromisoformat(row["created"]),
    )
