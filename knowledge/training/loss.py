"""The training loss: a question must find its passage among the batch's, by pooled vectors and by late interaction."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from knowledge.encoders.e5 import PASSAGE_PREFIX, QUERY_PREFIX
from knowledge.training.material import Passage

TEMPERATURE = 0.02
GENERAL_WEIGHT = 30.0
"""Of the mean squared change of cosines between general texts."""
_MASKED = -1e4


class RankingLoss(nn.Module):
    """In-batch cross-entropy on cosines (van den Oord et al. 2018, arXiv:1807.03748) and on mean MaxSim (Khattab and
    Zaharia 2020, arXiv:2004.12832), plus the change of the cosines among general texts, so that they stay as they are.
    """

    def __init__(self, model: SentenceTransformer, passages: Sequence[Passage], general: Sequence[str]) -> None:
        """Encode the general texts with the model as it is.

        Args:
            model: to be trained.
            passages: the material; the first of a row's two labels is a place in it.
            general: texts; the second label is a place in them.
        """
        super().__init__()
        self.model = model
        subjects = {name: number for number, name in enumerate(dict.fromkeys(p.subject for p in passages))}
        self._subject = torch.tensor([subjects[passage.subject] for passage in passages])
        self._chinese = torch.tensor([passage.language == "zh" for passage in passages])
        self._general = list(general)
        self._prefix = {prefix: len(model.tokenizer.tokenize(prefix)) for prefix in (QUERY_PREFIX, PASSAGE_PREFIX)}
        self._before = model.encode(self._general, prompt=QUERY_PREFIX, convert_to_tensor=True, show_progress_bar=False)

    def forward(self, features: Sequence[dict[str, Tensor]], labels: Tensor) -> dict[str, Tensor]:
        """The parts of the loss.

        Args:
            features: tokens of the passages, then of the first questions, the second ones and so on; n rows each.
            labels: (n, 2) place of the passage, number of the general text.
        """
        passages, *questions = [self.model(each) for each in features]
        places = labels[:, 0]
        subject, chinese = self._subject[places], self._chinese[places]
        twin = (subject[:, None] == subject[None]) & (chinese[:, None] != chinese[None])
        pooled = passages["sentence_embedding"]
        tokens, inner = _tokens(passages, self._prefix[PASSAGE_PREFIX])
        target = torch.arange(len(places))
        dense, late = [], []
        for question in questions:
            cosines = question["sentence_embedding"] @ pooled.T
            dense.append(cross_entropy((cosines / TEMPERATURE).masked_fill(twin, _MASKED), target))
            similarity = _maxsim(*_tokens(question, self._prefix[QUERY_PREFIX]), tokens, inner)
            late.append(cross_entropy((similarity / TEMPERATURE).masked_fill(twin, _MASKED), target))
        return {
            "dense": torch.stack(dense).mean(),
            "late": torch.stack(late).mean(),
            "general": GENERAL_WEIGHT * self._drift(labels[:, 1]),
        }

    def _drift(self, numbers: Tensor) -> Tensor:
        inputs = self.model.preprocess([self._general[number] for number in numbers.tolist()], prompt=QUERY_PREFIX)
        now = self.model(inputs)["sentence_embedding"]
        before = self._before[numbers]
        change: Tensor = ((now @ now.T - before @ before.T) ** 2).mean()
        return change


def _tokens(output: dict[str, Tensor], prefix: int) -> tuple[Tensor, Tensor]:
    """Token vectors (n, length, width) of unit length, and which count (n, length): not the prefix, start and end."""
    counted = output["attention_mask"].clone()
    counted[:, : 1 + prefix] = 0
    ends = output["attention_mask"].sum(dim=1) - 1
    counted[torch.arange(len(ends)), ends] = 0
    return normalize(output["token_embeddings"], dim=-1), counted


def _maxsim(query: Tensor, asked: Tensor, passage: Tensor, held: Tensor) -> Tensor:
    """(n, m) mean over the query's tokens of the best cosine with a token of the passage."""
    cosines = torch.einsum("qid,pjd->qpij", query, passage).masked_fill(held[None, :, None, :] == 0, -1.0)
    best: Tensor = cosines.amax(dim=-1) * asked[:, None, :]
    return best.sum(dim=-1) / asked.sum(dim=1).clamp(min=1)[:, None]
