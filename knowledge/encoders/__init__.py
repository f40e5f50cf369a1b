"""Text to vectors: the default encoder, and others by name, folder or endpoint."""

from __future__ import annotations

import os
from pathlib import Path

from knowledge.encoders.base import Encoded, Encoder
from knowledge.errors import EncoderError

__all__ = ["Encoded", "Encoder", "load_encoder"]

# Before onnxruntime is imported: it reports its use to its vendor over the network, and the call that turns this off
# comes too late. Nothing leaves the machine unasked.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

DEFAULT = "default"
ADAPTED = "adapter:"
ENDPOINT = "openai:"


def load_encoder(name: str = DEFAULT, *, cache_dir: Path | None = None) -> Encoder:
    """The encoder of that name.

    Args:
        name: `default`; `adapter:PATH`, the default with another adapter than the shipped one; a
            sentence-transformers model's name or folder; or `openai:URL#model`, an OpenAI-compatible embeddings
            endpoint, whose key is taken from the environment variable OPENAI_API_KEY.
        cache_dir: where the default encoder is prepared at its first use; default: the user's cache folder.

    Raises:
        EncoderError: the name is malformed, or the encoder can't be loaded.
    """
    if not name.strip():
        raise EncoderError(
            "the encoder's name is empty: use 'default', a model's name or folder, or 'openai:URL#model'"
        )
    if name == DEFAULT or name.startswith(ADAPTED):
        from knowledge.encoders.e5 import E5Encoder
        from knowledge.encoders.prepare import prepare

        if name == DEFAULT:
            return E5Encoder(prepare(cache_dir))
        return E5Encoder(prepare(cache_dir, adapter=Path(name.removeprefix(ADAPTED))))
    if name.startswith(ENDPOINT):
        from knowledge.encoders.endpoint import EndpointEncoder

        return EndpointEncoder(name.removeprefix(ENDPOINT))
    from knowledge.encoders.sentence_transformer import SentenceTransformerEncoder

    return SentenceTransformerEncoder(name)
