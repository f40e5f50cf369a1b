"""Stores of a given size, built once and kept in a folder."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from evals.scale.material import Material, count_passages
from knowledge.background import ensure_background
from knowledge.encoders import Encoder, load_encoder
from knowledge.index import refresh_snapshot
from knowledge.rows import PreparedDocument
from knowledge.store import Store

_FACTS = "facts.json"


@dataclass(frozen=True, slots=True)
class Built:
    """A store and what it is made of."""

    folder: Path
    real_passages: int
    synthetic_passages: int
    real_vectors: int
    synthetic_vectors: int
    vector_bytes: int
    """As stored: float16."""
    index_seconds: float
    """That building the derived index took."""

    @property
    def passages(self) -> int:
        """Real and synthetic."""
        return self.real_passages + self.synthetic_passages

    @property
    def vectors(self) -> int:
        """Real and synthetic."""
        return self.real_vectors + self.synthetic_vectors


class Stores:
    """Builds stores, each from the next smaller one that is there."""

    def __init__(self, scratch: Path, encoder: str) -> None:
        self.encoder_name = encoder
        self._scratch = scratch

    @cached_property
    def encoder(self) -> Encoder:
        """That the vectors are made with."""
        return load_encoder(self.encoder_name)

    @cached_property
    def material(self) -> Material:
        """What synthetic passages are made from."""
        _say("encoding the shipped guidance …")
        return Material.of(self.encoder)

    def of_passages(self, count: int) -> Built:
        """A store of at least `count` passages, all of the shipped guidance among them."""
        return self._of(f"passages-{count}", lambda passages, vectors: passages >= count)

    def of_vectors(self, count: int) -> Built:
        """A store of at least `count` vectors."""
        return self._of(f"vectors-{count}", lambda passages, vectors: vectors >= count)

    def _of(self, name: str, enough: Callable[[int, int], bool]) -> Built:
        version = hashlib.sha256(self.encoder.identity.encode()).hexdigest()[:8]
        folder = self._scratch / f"{name}-{version}"
        if not (folder / _FACTS).exists():
            self._build(folder, version, enough)
        facts = json.loads((folder / _FACTS).read_text("utf-8"))
        return Built(folder=folder, **{key: value for key, value in facts.items() if key != "documents"})

    def _build(self, folder: Path, version: str, enough: Callable[[int, int], bool]) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        real = count_passages(self.material.real)
        start, passages, vectors = 0, 0, 0
        smaller = self._smaller(version, lambda built: not enough(built.passages, built.vectors))
        if smaller is not None:
            shutil.copytree(smaller.folder, folder, ignore=shutil.ignore_patterns(_FACTS))
            start = json.loads((smaller.folder / _FACTS).read_text("utf-8"))["documents"]
            passages, vectors = smaller.synthetic_passages, smaller.synthetic_vectors
        _say(f"building {folder.name} …")
        with Store.open(folder) as store:
            if smaller is None:
                ensure_background(store, self.encoder)
                for document in self.material.real:
                    self._write(store, document)
            for document in self.material.synthetic(start):
                if enough(real[0] + passages, real[1] + vectors):
                    break
                self._write(store, document)
                added = count_passages([document])
                passages, vectors, start = passages + added[0], vectors + added[1], start + 1
            began = time.perf_counter()
            refresh_snapshot(store, force=True)
            seconds = time.perf_counter() - began
        built = Built(
            folder=folder,
            real_passages=real[0],
            synthetic_passages=passages,
            real_vectors=real[1],
            synthetic_vectors=vectors,
            vector_bytes=2 * self.encoder.dimension * (real[1] + vectors),
            index_seconds=round(seconds, 1),
        )
        facts = asdict(built) | {"documents": start}
        del facts["folder"]
        (folder / _FACTS).write_text(json.dumps(facts), encoding="utf-8")

    def _smaller(self, version: str, fits: Callable[[Built], bool]) -> Built | None:
        """The largest store of this encoder that fits."""
        kept = [self._of(path.parent.name.removesuffix(f"-{version}"), _never) for path in self._facts(version)]
        return max((built for built in kept if fits(built)), key=lambda built: built.passages, default=None)

    def _facts(self, version: str) -> list[Path]:
        return sorted(self._scratch.glob(f"*-{version}/{_FACTS}"))

    def _write(self, store: Store, document: PreparedDocument) -> None:
        store.write(document, self.encoder.identity, self.encoder.dimension)


def _never(passages: int, vectors: int) -> bool:
    raise AssertionError("a store that is there is not built")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
