"""Finds the files to index under files and folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from knowledge.documents.frontmatter import SIDECAR_SUFFIXES
from knowledge.errors import InvalidInput

_LEFT_OUT = (".questions.txt", *SIDECAR_SUFFIXES)


def walk(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield each file once: those named, and those in folders named, by name.

    Hidden files and folders, question forms and sidecar files in folders are left out.

    Raises:
        InvalidInput: a path doesn't exist.
    """
    for path in paths:
        if not path.exists():
            raise InvalidInput(f"{path} doesn't exist. Check the path.")
    seen: set[Path] = set()
    for path in paths:
        for file in _files(path) if path.is_dir() else [path]:
            place = file.resolve()
            if place not in seen:
                seen.add(place)
                yield file


def _files(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(_LEFT_OUT):
                yield Path(here) / name
