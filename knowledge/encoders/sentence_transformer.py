"""Any sentence-transformers model as an encoder, by name or folder. Needs torch, so it starts slowly."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from knowledge.encoders.base import Encoded, normalised
from knowledge.errors import EncoderError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BATCH_TEXTS = 32
_SAMPLE = 1024
"""Weights of each tensor that enter the identity."""


class SentenceTransformerEncoder:
    """A model from a folder or from the local Hugging Face cache; nothing is downloaded."""

    def __init__(self, name: str) -> None:
        """Load the model.

        Args:
            name: a folder, or a model's name as on the Hugging Face hub, downloaded before.

        Raises:
            EncoderError: there is no such model on this machine, or it can't be loaded.
        """
        from sentence_transformers import SentenceTransformer

        try:
            self._model = SentenceTransformer(name, local_files_only=True)
        except Exception as error:  # the libraries below raise errors of many kinds
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise EncoderError(
                f"can't load the encoder '{name}': {reason}; give a folder, or download it first (hf download {name})"
            ) from error
        dimension = self._model.get_embedding_dimension()
        if dimension is None:
            raise EncoderError(f"the encoder '{name}' doesn't tell the dimension of its vectors")
        self.dimension: int = dimension
        self.identity = f"{name}/{_fingerprint(self._model)}"

    def query(self, text: str) -> Encoded:
        """Encode a question, with the model's own prompt for queries when it has one."""
        return self._encoded([text], "query")[0]

    def queries(self, texts: Sequence[str]) -> list[Encoded]:
        """Encode questions together; results in the order given."""
        return self._encoded(list(texts), "query")

    def passages(self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None) -> list[Encoded]:
        """Encode passages, with the model's own prompt for documents when it has one; results in the order given."""
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        results: dict[int, Encoded] = {}
        for start in range(0, len(order), BATCH_TEXTS):
            places = order[start : start + BATCH_TEXTS]
            results.update(zip(places, self._encoded([texts[place] for place in places], "document"), strict=True))
            if on_progress is not None:
                on_progress(len(results))
        return [results[place] for place in range(len(texts))]

    def _encoded(self, texts: list[str], task: str) -> list[Encoded]:
        encode = self._model.encode_query if task == "query" else self._model.encode_document
        outputs = encode(texts, output_value=None, batch_size=BATCH_TEXTS, show_progress_bar=False)
        return [self._one(output, task) for output in cast("list[dict[str, Any]]", outputs)]

    def _one(self, output: dict[str, Any], task: str) -> Encoded:
        vector = normalised(output["sentence_embedding"].float().cpu().numpy())
        if "input_ids" not in output or "token_embeddings" not in output:
            return Encoded(vector, np.zeros((0, self.dimension), dtype=np.float32))
        tokenizer = self._model.tokenizer
        ids = output["input_ids"].tolist()
        own = [i for i, piece in enumerate(ids) if piece not in tokenizer.all_special_ids]
        prompt = self._model.prompts.get(task, "")
        own = own[len(tokenizer(prompt, add_special_tokens=False)["input_ids"]) if prompt else 0 :]
        return Encoded(vector, normalised(output["token_embeddings"].float().cpu().numpy()[own]))


def _fingerprint(model: SentenceTransformer) -> str:
    """Tells models apart that have the same name: a hash of prompts and of the beginning of every weight."""
    digest = hashlib.sha256(repr(sorted(model.prompts.items())).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().flatten()[:_SAMPLE].float().cpu().numpy().tobytes())
    return digest.hexdigest()[:12]
