"""Late interaction: token vectors packed for storage, and MaxSim over them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.encoders.base import Floats, normalised
from knowledge.errors import StoreError

_HEADER = struct.Struct("<HH")
"""Number of tokens, dimension."""
_LEVELS = 127


def pack(tokens: Floats) -> bytes:
    """Token vectors (m, d), rows of unit length, as 4 bytes of header and m * d int8.

    Each row is scaled so that its largest component is 127. The scale isn't stored: `unpack` makes rows of unit length.
    """
    rows = np.asarray(tokens, dtype=np.float32)
    largest = np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0.0), 1e-12)
    quantised = np.rint(rows * (_LEVELS / largest)).astype(np.int8)
    count, dimension = rows.shape
    return _HEADER.pack(count, dimension) + bytes(quantised.data)


def unpack(blob: bytes) -> Floats:
    """Token vectors (m, d), float32, rows of unit length.

    Raises:
        StoreError: the blob wasn't made by `pack` or is cut short.
    """
    return normalised(_quantised(blob).astype(np.float32))


def maxsim(query_tokens: Floats, packed: Sequence[bytes]) -> Floats:
    """Mean over the query's tokens of the largest cosine with a token of the passage (ColBERT's MaxSim, Khattab and
    Zaharia 2020, arXiv:2004.12832, as a mean so that questions of any length compare).

    Args:
        query_tokens: (q, d), rows of unit length.
        packed: passages' token vectors as `pack` made them, of the same dimension.

    Returns:
        (len(packed),) scores in [-1, 1]; 0 where the query or the passage has no tokens.

    Raises:
        StoreError: a blob is damaged or of another dimension.
    """
    scores = np.zeros(len(packed), dtype=np.float32)
    passages = [_quantised(blob) for blob in packed]
    lengths = np.array([len(passage) for passage in passages], dtype=np.intp)
    filled = np.flatnonzero(lengths)
    if len(filled) == 0 or len(query_tokens) == 0:
        return scores
    dimensions = {passages[i].shape[1] for i in filled} | {query_tokens.shape[1]}
    if len(dimensions) > 1:
        raise StoreError(f"token vectors of different dimensions ({sorted(dimensions)}): index again with one encoder")
    rows = np.concatenate([passages[i] for i in filled]).astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    similarity = (query_tokens @ rows.T) / np.maximum(norms, 1e-12)
    starts = np.concatenate(([0], np.cumsum(lengths[filled])[:-1]))
    scores[filled] = np.maximum.reduceat(similarity, starts, axis=1).mean(axis=0)
    return scores


def _quantised(blob: bytes) -> NDArray[np.int8]:
    try:
        count, dimension = _HEADER.unpack_from(blob)
        return np.frombuffer(blob, np.int8, offset=_HEADER.size).reshape(count, dimension)
    except (struct.error, ValueError) as error:
        raise StoreError("a passage's token vectors are damaged: rebuild them by indexing again") from error
