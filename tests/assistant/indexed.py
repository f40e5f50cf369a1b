"""A data folder over a few documents, with the real encoder, store and indexes."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from assistant.understand.intent import load_intents
from knowledge.encoders import load_encoder
from knowledge.ingest import ingest
from knowledge.store import Store


def index(folder: Path, documents: Mapping[str, str], cache: pytest.Cache | None) -> Path:
    """Write documents, index them, and return the data folder. What is fitted to the encoder alone is kept between
    runs.
    """
    written = folder / "documents"
    written.mkdir()
    for name, text in documents.items():
        (written / name).write_text(text, "utf-8")
    encoder = load_encoder("default")
    data = folder / "data"
    with Store.open(data) as store:
        report = ingest(store, encoder, [written])
    assert report.count("added") == len(documents)
    kept = cache.mkdir("advisor-intents") if cache else written
    for model in kept.glob("intents-*.npz"):
        shutil.copy(model, data)
    load_intents(encoder, data)
    for model in data.glob("intents-*.npz"):
        shutil.copy(model, kept)
    return data
