"""Where the guidance that ships with the program lies."""

from __future__ import annotations

from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")


def is_shipped(location: str) -> bool:
    """Whether a document's path is one of the shipped guidance."""
    return Path(location).is_relative_to(CORPUS)


def shipped_paths() -> list[Path]:
    """The folders of the shipped guidance, one a language."""
    return sorted(folder for folder in CORPUS.iterdir() if folder.is_dir())
