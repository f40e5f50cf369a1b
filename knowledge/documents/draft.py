"""What a format's reader returns; `documents.load` makes it a LoadedDocument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from knowledge.records import Block, Reference


@dataclass(frozen=True, slots=True)
class Draft:
    """Text and blocks with what the format itself says about the document."""

    text: str
    blocks: tuple[Block, ...]
    title: str = ""
    pages: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()
