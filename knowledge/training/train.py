"""Trains the LoRA adapter of the default encoder (Hu et al. 2021, arXiv:2106.09685).

`python -m knowledge.training.train` trains the one that ships, from the shipped guidance with its question forms.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from knowledge.encoders.adapter import ADAPTER, Adapter, write_adapter
from knowledge.encoders.base import Floats, normalised
from knowledge.encoders.e5 import PASSAGE_PREFIX, QUERY_PREFIX, E5Encoder
from knowledge.encoders.export import export_sentence_transformers, matrix_name
from knowledge.encoders.prepare import default_cache_dir, prepare
from knowledge.encoders.projection import learn_projection
from knowledge.segment import LANGUAGES
from knowledge.shipped import shipped_paths
from knowledge.training.batches import QUESTIONS, ROWS, arranged, columns, mined_neighbours
from knowledge.training.material import Passage, read_general_texts, read_passages

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers import BertModel

RANK = 16
MATRICES = ["query", "key", "value", "attention.output.dense", "intermediate.dense", "output.dense"]
_FIRST = ".lora_A.default.weight"
ALPHA = 32
"""The change counts ALPHA / RANK times."""
FIRST_LAYER = 4
"""Layers below stay as they are, so that the gradient needn't reach them."""
LEARNING_RATE = 3e-4
EPOCHS = 4
SEED = 7
LONGEST = 112
"""Tokens of a passage that are read while training."""


def train(passages: Sequence[Passage], epochs: int = EPOCHS) -> SentenceTransformer:
    """The default encoder, as a sentence-transformers model on CPU, with a trained adapter.

    Raises:
        EncoderError: the weights are missing.
    """
    import torch
    from datasets import Dataset
    from peft import LoraConfig, inject_adapter_in_model
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.base.sampler import DefaultBatchSampler
    from torch.utils.data import SequentialSampler
    from transformers import set_seed

    from knowledge.training.loss import RankingLoss

    set_seed(SEED)
    base = E5Encoder(prepare(adapter=None))
    general = read_general_texts()
    batches = arranged(passages, mined_neighbours(passages, base), epochs, SEED)
    data = Dataset.from_dict(columns(batches, passages, len(general), SEED))
    model = SentenceTransformer(
        str(export_sentence_transformers(default_cache_dir() / "unadapted", adapter=None)), device="cpu"
    )
    model.max_seq_length = LONGEST
    loss = RankingLoss(model, passages, general)
    bert = _bert(model)
    inject_adapter_in_model(
        LoraConfig(
            r=RANK,
            lora_alpha=ALPHA,
            lora_dropout=0.05,
            target_modules=MATRICES,
            layers_to_transform=list(range(FIRST_LAYER, bert.config.num_hidden_layers)),
        ),
        bert,
    )
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(default_cache_dir() / "training"),
            per_device_train_batch_size=ROWS,
            num_train_epochs=1,
            learning_rate=LEARNING_RATE,
            lr_scheduler_type="cosine",
            warmup_steps=0.05,
            weight_decay=0.01,
            seed=SEED,
            use_cpu=True,
            bf16=_has_bfloat16(),
            save_strategy="no",
            report_to=[],
            logging_steps=10,
            dataloader_drop_last=True,
            batch_sampler=lambda dataset, batch_size, drop_last, **_: DefaultBatchSampler(
                SequentialSampler(dataset), batch_size, drop_last
            ),
            prompts={"passage": PASSAGE_PREFIX}
            | {f"question_{number}": QUERY_PREFIX for number in range(1, QUESTIONS + 1)},
        ),
        train_dataset=data,
        loss=loss,
    )
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    trainer.train()
    return model


def _has_bfloat16() -> bool:
    """Whether the processor itself multiplies in bfloat16; elsewhere it is several times slower than float32."""
    import torch

    able = torch.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16") or able.get("arm_bf16"))


def _bert(model: SentenceTransformer) -> BertModel:
    return cast("BertModel", model[0].auto_model)


def adapter_of(model: SentenceTransformer, passages: Sequence[Passage]) -> Adapter:
    """The adapter of a trained model, with the projection of token vectors learned from passages."""
    state = {name: values.numpy() for name, values in _bert(model).state_dict().items()}
    factors = {
        matrix_name(name.removesuffix(_FIRST)): (
            values,
            np.float32(ALPHA / RANK) * state[name.replace("lora_A", "lora_B")],
        )
        for name, values in state.items()
        if name.endswith(_FIRST)
    }
    groups = [
        _token_vectors(model, [passage.text for passage in passages if passage.language == language])
        for language in LANGUAGES
    ]
    return Adapter(factors, learn_projection([group for group in groups if len(group)]))


def _token_vectors(model: SentenceTransformer, texts: Sequence[str]) -> Floats:
    """(n, width) unit vectors of all tokens but the prefix, start and end."""
    first = 1 + len(model.tokenizer.tokenize(PASSAGE_PREFIX))
    states = model.encode(list(texts), prompt=PASSAGE_PREFIX, output_value="token_embeddings", show_progress_bar=False)
    rows = [normalised(each[first:-1].numpy()) for each in states]
    return np.concatenate(rows) if rows else np.zeros((0, 0), np.float32)


def main() -> None:
    """Train and write the adapter that ships."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ADAPTER)
    parser.add_argument("--leave-out", nargs="*", default=[], help="subjects to leave out, for choosing the recipe")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    options = parser.parse_args()
    passages = [p for p in read_passages(shipped_paths()) if p.subject not in options.leave_out]
    print(f"{len(passages)} passages, {sum(len(p.questions) for p in passages)} questions", flush=True)
    write_adapter(options.out, adapter_of(train(passages, options.epochs), passages))


if __name__ == "__main__":
    main()
