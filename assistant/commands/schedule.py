"""Indexes folders and web pages again while the server runs: what changed, what is new, what is gone."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from assistant.errors import AdvisorError

if TYPE_CHECKING:
    from assistant.advisor import Advisor
    from knowledge.ingest import FileReport

LOCK = "reindex.lock"
_LOG = logging.getLogger(__name__)


def reindex(advisor: Advisor, sources: Sequence[str]) -> list[FileReport]:
    """Index what has changed in folders, files and web pages, and remove documents whose files are gone.

    Documents of a folder that is missing or empty stay: a share that isn't mounted is no deletion.

    Raises:
        AdvisorError: the store can't be written.
    """
    from knowledge.index import refresh_snapshot
    from knowledge.ingest import ingest, ingest_url

    store, encoder, settings = advisor.store, advisor.encoder, advisor.settings
    urls = [source for source in sources if source.startswith(("http://", "https://"))]
    folders = [Path(os.path.normpath(Path(source).absolute())) for source in sources if source not in urls]
    present = [folder for folder in folders if folder.is_file() or (folder.is_dir() and any(folder.iterdir()))]
    for folder in set(folders) - set(present):
        _LOG.warning("Nothing is at %s; what was indexed from it stays.", folder)
    reports = ingest(store, encoder, present, limits=settings.limits).files
    private = settings.allow_private_urls
    reports += [ingest_url(store, encoder, url, limits=settings.limits, allow_private=private) for url in urls]
    gone = [row.document_id for row in store.documents() if _is_gone((row.location, *row.names), present)]
    for document_id in gone:
        store.remove(document_id)
    if gone:
        refresh_snapshot(store)
    _report(reports, gone)
    return reports


def _is_gone(names: Sequence[str], folders: Sequence[Path]) -> bool:
    """Whether all of a document's files were in these folders and none is there any more."""
    paths = [Path(name) for name in dict.fromkeys(names)]
    return all(any(folder in path.parents for folder in folders) and not path.exists() for path in paths)


def _report(reports: Sequence[FileReport], gone: Sequence[str]) -> None:
    for report in reports:
        if report.status == "failed":
            _LOG.warning("%s can't be indexed: %s", report.path, report.reason)
    changed = sum(report.status in ("added", "updated") for report in reports)
    if changed or gone:
        _LOG.info("Indexed again: %d changed, %d removed, of %d", changed, len(gone), len(reports))


@contextmanager
def scheduled(advisor: Advisor, sources: Sequence[str], minutes: float) -> Iterator[None]:
    """Reindex in the background at once and then every so many minutes, in one process of those on a data folder."""
    if not sources:
        yield
        return
    stopped = Event()

    def work() -> None:
        while not stopped.is_set():
            try:
                with FileLock(advisor.settings.data_dir / LOCK, timeout=0):
                    reindex(advisor, sources)
            except Timeout:
                _LOG.debug("Another process is indexing.")
            except AdvisorError as error:
                _LOG.error("Indexing again failed: %s", error)
            except Exception:
                _LOG.exception("Indexing again failed")
            stopped.wait(minutes * 60)

    thread = Thread(target=work, name="reindex", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join(timeout=5)
