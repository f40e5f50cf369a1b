"""Ingest on a Ray cluster: its machines read and encode, and this process writes what comes back, each document once.

Files must be reachable from every machine under the same path. What is written is in the store, so that a run that was
broken off goes on where it was.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from knowledge.background import ensure_background
from knowledge.collections import DEFAULT
from knowledge.encoders.base import Encoder
from knowledge.errors import DocumentError, InvalidInput
from knowledge.index import refresh_snapshot
from knowledge.ingest import (
    SNAPSHOT_CHUNKS,
    SNAPSHOT_SHARE,
    FileReport,
    IngestReport,
    Split,
    Version,
    all_files,
    failed,
    written,
)
from knowledge.limits import Limits
from knowledge.store import Known, Store

LOCAL = "local"
"""Instead of an address: a Ray of this machine's own, for the time of the run."""
_ROW = "row"
_BLOCK_ROWS = 16
"""Documents that travel together."""
_READING_CORES = 0.25
_CONNECT_SECONDS = 5


def ingest_on_ray(
    store: Store,
    load: Callable[[], Encoder],
    paths: Sequence[Path],
    *,
    address: str = LOCAL,
    limits: Limits | None = None,
    collection: str = DEFAULT,
    on_file: Callable[[FileReport], None] | None = None,
) -> IngestReport:
    """Index files and folders; as `ingest`, with the reports in the order of the files.

    Args:
        store: open for writing.
        load: loads the encoder, here and once in each process of the cluster that encodes.
        paths: of files and folders.
        address: of the cluster.
        limits: of one document.
        collection: that they go to.
        on_file: called with each report as it comes.

    Raises:
        InvalidInput: Ray isn't installed, or doesn't answer at the address.
        EncoderMismatch: the store was built with another encoder.
        StoreError: the store can't be written.
    """
    encoder = load()
    store.check_encoder(encoder.identity)
    ensure_background(store, encoder)
    files = all_files(paths)
    reports: dict[str, FileReport] = {}
    waiting = 0
    for result in _encoded(address, load, store, files, limits or Limits(), collection):
        if isinstance(result, FileReport):
            report = result
        else:
            report = written(store, result, encoder.identity, encoder.dimension, collection)
        reports[report.path] = report
        if on_file is not None:
            on_file(report)
        waiting += report.chunks if report.status in ("added", "updated") else 0
        if waiting >= SNAPSHOT_CHUNKS:
            waiting = 0
            refresh_snapshot(store, share=SNAPSHOT_SHARE)
    refresh_snapshot(store)
    return IngestReport([reports[str(file)] for file in files])


def _encoded(
    address: str, load: Callable[[], Encoder], store: Store, files: Sequence[Path], limits: Limits, collection: str
) -> Any:
    """Prepared documents, and reports on files that need no writing, as they come."""
    if not files:
        return
    ray = _connected(address)
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        rows = [{_ROW: (str(file), store.known(str(file), collection))} for file in files]
        machines = [node["Resources"].get("CPU", 1) for node in ray.nodes() if node["Alive"]]
        read = ray.data.from_items(rows, override_num_blocks=-(-len(rows) // _BLOCK_ROWS)).map(
            _Reading(limits), num_cpus=_READING_CORES
        )
        # The encoder uses all cores of a machine.
        pool = ray.data.ActorPoolStrategy(size=len(machines))
        cores = max(2 * _READING_CORES, min(machines) - 1)
        encoded = read.map(_Encoding, fn_constructor_args=(load,), compute=pool, num_cpus=cores)
        for row in encoded.iter_rows():
            yield row[_ROW]
    finally:
        ray.shutdown()


def _connected(address: str) -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise InvalidInput("`--ray` needs Ray: pip install 'cloud-training-advisor[ray]'.") from error
    try:
        _check_answer(address)
        ray.init(address=address, include_dashboard=False if address == LOCAL else None, log_to_driver=False)
    except Exception as error:  # Ray's errors share no base class
        raise InvalidInput(
            f"Ray doesn't answer at {address}: {error}. Start it there, or leave the address out."
        ) from error
    return ray


def _check_answer(address: str) -> None:
    """Ray itself waits for minutes.

    Raises:
        OSError: nobody answers.
    """
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()


class _Reading:
    """Reads and splits a file, unless the store knows its present state."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, row: Mapping[str, tuple[str, Known | None]]) -> dict[str, FileReport | Split]:
        location, known = row[_ROW]
        try:
            version = Version.of(Path(location))
            return {_ROW: version.unchanged(known) or Split.of(version, self._limits)}
        except (DocumentError, OSError) as error:
            return {_ROW: failed(location, error)}


class _Encoding:
    """Encodes what was read; the encoder is loaded once."""

    def __init__(self, load: Callable[[], Encoder]) -> None:
        self._encoder = load()

    def __call__(self, row: Mapping[str, FileReport | Split]) -> dict[str, Any]:
        item = row[_ROW]
        return {_ROW: item if isinstance(item, FileReport) else item.encoded(self._encoder)}
