"""Backups: everything of a data folder and the database of conversations in one file, taken and put back while running.

The file is a compressed tar whose first member, `manifest.json`, names every other with its SHA-256. What is derived
(indexes, caches) is not in it. Conversations are always a SQLite file there, wherever they are kept, so that a backup
of a server with PostgreSQL can be put back without one, and the other way round.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from assistant import __version__
from assistant.conversations import Conversations
from assistant.errors import InvalidInput
from assistant.review.journal import TABLES as JOURNAL
from assistant.settings import Settings
from assistant.tables import copy_tables
from knowledge.backup import copy_database, replace_store
from knowledge.errors import StoreError
from knowledge.store import FILE_NAME

FORMAT = 1
MANIFEST = "manifest.json"
CONVERSATIONS = "conversations.sqlite3"
_SQLITE = ".sqlite3"
_LEFT_OUT = ("-wal", "-shm", "-journal", ".lock", ".part")
_DERIVED = "intents-*.npz"
_INDEX = "index"


class Manifest(BaseModel):
    """What a backup holds."""

    format: int
    program: str
    created: datetime
    files: dict[str, str]
    """Path in the data folder -> SHA-256."""


def create(settings: Settings, path: Path) -> Manifest:
    """Write a backup; the server may run and documents may be indexed meanwhile.

    Raises:
        InvalidInput: `path` is there already.
        StoreError: the data can't be read, or the file can't be written.
    """
    if path.exists():
        raise InvalidInput(f"{path} is there already. Name another file for the backup.")
    if not (settings.data_dir / FILE_NAME).exists():
        raise StoreError(f"There is nothing to back up in {settings.data_dir}. Set ADVISOR_DATA_DIR.")
    conversations = Conversations(settings.database)
    with conversations.begin(JOURNAL):  # so that there is all to put back, if empty
        pass
    conversations.close()
    part = path.with_name(f"{path.name}.part")
    with _explained(path), tempfile.TemporaryDirectory(prefix="advisor-backup-", dir=path.absolute().parent) as place:
        staged = Path(place)
        for name in _kept(settings.data_dir):
            source, target = settings.data_dir / name, staged / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.suffix == _SQLITE:
                copy_database(source, target)
            else:
                shutil.copy2(source, target)
        if settings.database_url.get_secret_value():
            copied = staged / CONVERSATIONS
            copied.unlink(missing_ok=True)
            copy_tables(settings.database, f"sqlite:///{copied}", replace=False)
        files = {str(name): _digest(staged / name) for name in _kept(staged)}
        manifest = Manifest(format=FORMAT, program=__version__, created=datetime.now(UTC), files=files)
        _pack(part, staged, manifest)
        part.replace(path)
    return manifest


def restore(settings: Settings, path: Path, *, replace: bool) -> Manifest:
    """Put a backup back; a running server goes on with what is restored.

    Args:
        replace: whether what is there may be deleted.

    Raises:
        InvalidInput: the file is no backup, or is damaged; or data is there, and `replace` is false.
        StoreError: the data can't be written, or comes from a newer program.
    """
    folder = settings.data_dir
    if not replace and folder.is_dir() and any(_kept(folder)):
        raise InvalidInput(f"There is data in {folder}. Set ADVISOR_DATA_DIR to another folder, or give --replace.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _explained(folder), tempfile.TemporaryDirectory(prefix="advisor-restore-", dir=folder.parent) as place:
        staged = Path(place)
        manifest = _unpack(path, staged)
        if settings.database_url.get_secret_value() and CONVERSATIONS in manifest.files:
            copied = staged / CONVERSATIONS
            copy_tables(f"sqlite:///{copied}", settings.database, replace=replace)
            copied.unlink()
        _install(staged, folder)
    return manifest


def _install(staged: Path, folder: Path) -> None:
    names = set(_kept(staged))
    for name in list(_kept(folder)) if folder.is_dir() else []:
        if name not in names and str(name) != CONVERSATIONS:
            for file in (folder / name).parent.glob(f"{name.name}*"):
                file.unlink()
    for name in sorted(names):
        source, target = staged / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.name == FILE_NAME:
            replace_store(source.parent, target.parent)
        elif name.suffix == _SQLITE:
            copy_database(source, target)
        else:
            source.replace(target)


def _kept(folder: Path) -> Iterator[Path]:
    """The files of a data folder that a backup holds, relative to it."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        derived = path.match(_DERIVED) or _INDEX in name.parts[:-1] or name.name.endswith(_LEFT_OUT)
        if path.is_file() and not derived:
            yield name


def _pack(path: Path, staged: Path, manifest: Manifest) -> None:
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        text = manifest.model_dump_json(indent=2).encode()
        member = tarfile.TarInfo(MANIFEST)
        member.size, member.mode = len(text), 0o600
        archive.addfile(member, io.BytesIO(text))
        for name in manifest.files:
            archive.add(staged / name, name)
    path.chmod(0o600)


def _unpack(path: Path, place: Path) -> Manifest:
    """Extract a backup and check every file against the manifest."""
    try:
        with tarfile.open(path, "r:gz") as archive:
            archive.extractall(place, filter="data")
        manifest = Manifest.model_validate_json((place / MANIFEST).read_bytes())
    except (tarfile.TarError, EOFError, OSError, ValidationError) as error:
        raise InvalidInput(f"{path} is no backup, or is damaged ({error}).") from error
    (place / MANIFEST).unlink()
    if manifest.format > FORMAT:
        raise InvalidInput(f"{path} was made by a newer program ({manifest.program}). Update cloud-training-advisor.")
    for name, digest in manifest.files.items():
        if not (place / name).is_file() or _digest(place / name) != digest:
            raise InvalidInput(f"{path} is damaged: {name} is not what was saved.")
    for extra in _kept(place):
        if str(extra) not in manifest.files:
            (place / extra).unlink()
    return manifest


def _digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextmanager
def _explained(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{place} can't be written ({error.strerror or error}). Free some space or name another."
        ) from error
