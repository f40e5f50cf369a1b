"""Does a span support a statement: the offline judge behind citation precision and recall.

A statement is supported when it shares most of its words with the span, or lies close to it in the encoder's space
after each language's mean vector is taken off (without this, all sentences of a multilingual encoder look alike and
the two languages lie apart; the centring is the first step of Mu & Viswanath 2018, "All-but-the-top",
arXiv:1702.01417). Nearness is the mean of the centred cosines with the whole span and with its nearest clause; where
the encoder gives token vectors, it is joined by how well each token finds its like in the span (the late interaction of
Khattab & Zaharia 2020, arXiv:2004.12832). Nearness doesn't see contradictions, so what can be checked by rule is:
figures, names, certainty, negation and direction. The bars were set on hand-labelled pairs of both languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evals.contradiction import affirms_a_denial, contradictions
from evals.errors import TargetError
from evals.text import fold, squeeze
from knowledge.encoders import Encoded, Encoder

OVERLAP_BAR = 0.72
"""Share of a statement's units (character pairs or words) that occur in the span."""
NEARNESS_BAR = 0.27
"""Nearness alone, for encoders that give no token vectors."""
SAME_LANGUAGE_BAR = 1.40
"""Nearness, plus how well its tokens are matched on average, plus the same for the worst-matched quarter of them."""
ACROSS_LANGUAGES_BAR = 0.615
"""Nearness plus the average match of its tokens: across languages the worst-matched quarter says nothing."""

_BACKGROUND_ZH = (
    "按需付费让用户只为实际使用的算力付钱。",
    "支持高带宽网络的平台能提升多机训练的加速比。",
    "训练过程中要定期保存检查点，以便中断后恢复。",
    "抢占式实例便宜，但随时可能被收回。",
    "数据在传输和存储时都应当加密。",
    "对象存储适合存放海量的训练数据。",
    "混合精度训练可以减少显存占用并提高速度。",
    "学习率过大会导致损失不收敛。",
    "为预算设置阈值告警，可以及早发现超支。",
    "监控面板显示利用率、显存和损失曲线。",
    "权限应当按最小必要原则分配。",
    "大型数据集可以用离线设备寄送到机房。",
    "机房的制冷和运维也是成本。",
    "不同团队的配额由管理员审批。",
    "模型训练完成后要评估再部署。",
    "节点之间的通信延迟会拖慢分布式训练。",
)
_BACKGROUND_EN = (
    "Pay-as-you-go pricing charges only for the compute that is used.",
    "A platform with a fast network improves the scaling of multi-node training.",
    "Save checkpoints regularly so that a run can resume after an interruption.",
    "Spot instances are cheap but may be reclaimed at any time.",
    "Data should be encrypted in transit and at rest.",
    "Object storage suits large volumes of training data.",
    "Mixed precision reduces memory use and speeds up training.",
    "A learning rate that is too high makes the loss diverge.",
    "Budget alerts with a threshold reveal overspending early.",
    "The dashboard shows utilisation, memory and the loss curve.",
    "Permissions should follow the principle of least privilege.",
    "Large datasets can be shipped to the data centre on offline devices.",
    "Cooling and operations staff are costs of an own data centre.",
    "An administrator approves the quota of each team.",
    "Evaluate a model after training and before deployment.",
    "Communication latency between nodes slows distributed training.",
)
"""Sentences of the field whose mean stands for "a sentence of this language about this field"."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the spans support the statement, how strongly (0 to 1), and what speaks against it."""

    supported: bool
    strength: float
    objection: str = ""


class Support(Protocol):
    """Decides whether spans, taken together, support a statement."""

    def judge(self, statement: str, spans: Sequence[str], context: str) -> Verdict:
        """`context` is what needs no support: the question, and titles and headings of the cited passages."""
        ...


class OfflineSupport:
    """By shared words, then by the encoder, then against the rules of `evals.contradiction`."""

    def __init__(self, encoder: Callable[[], Encoder]) -> None:
        self._load = encoder
        self._kept: dict[str, Encoded] = {}

    def judge(self, statement: str, spans: Sequence[str], context: str) -> Verdict:
        """Costs no encoding when the statement is a quotation, as most of the grounded composer's are."""
        together = "\n".join(spans)
        if not together.strip():
            return Verdict(False, 0.0, "no span")
        if squeeze(fold(statement)).rstrip("。.;；") in squeeze(fold(together)):
            return Verdict(True, 1.0)
        against = contradictions(statement, together, context)
        strength = overlap(statement, together)
        if strength < OVERLAP_BAR:
            strength = self._closeness(statement, spans)
            if strength < 1.0:
                return Verdict(False, strength, against[0] if against else "the span says something else")
        if not against and affirms_a_denial(statement, self._nearest_clause(statement, together)):
            against = ["leaves out the source's denial"]
        return Verdict(not against, min(strength, 1.0), against[0] if against else "")

    def _nearest_clause(self, statement: str, span: str) -> str:
        """The clause of the span that the statement takes up; of several alike the last."""
        clauses = _clauses(span) or [span]
        if is_chinese(statement) == is_chinese(span):
            return max(reversed(clauses), key=lambda clause: overlap(statement, clause))
        own = self._centred(statement)
        return max(clauses, key=lambda clause: float(own @ self._centred(clause)))

    def _closeness(self, statement: str, spans: Sequence[str]) -> float:
        """How close they are as a multiple of the bar that applies."""
        near = max(self._nearness(statement, span) for span in spans)
        own, given = self._tokens(statement), np.concatenate([self._tokens(span) for span in spans])
        if not len(own) or not len(given):
            return near / NEARNESS_BAR
        matches = np.sort((own @ given.T).max(axis=1))
        average, worst = float(matches.mean()), float(matches[: max(1, len(matches) // 4)].mean())
        if is_chinese(statement) == is_chinese("\n".join(spans)):
            return (near + average + worst) / SAME_LANGUAGE_BAR
        return (near + average) / ACROSS_LANGUAGES_BAR

    def _nearness(self, statement: str, span: str) -> float:
        own = self._centred(statement)
        whole = float(own @ self._centred(span))
        return (whole + max([whole, *(float(own @ self._centred(c)) for c in _clauses(span))])) / 2

    def _centred(self, text: str) -> NDArray[np.float32]:
        raw = self._encoded(text).vector - self._means[is_chinese(text)]
        return raw / max(float(np.linalg.norm(raw)), 1e-9)

    def _tokens(self, text: str) -> NDArray[np.float32]:
        return self._encoded(text).tokens

    def _encoded(self, text: str) -> Encoded:
        if text not in self._kept:
            self._kept[text] = self._encoder.passages([text])[0]
        return self._kept[text]

    @cached_property
    def _encoder(self) -> Encoder:
        return self._load()

    @cached_property
    def _means(self) -> dict[bool, NDArray[np.float32]]:
        return {
            chinese: np.mean([e.vector for e in self._encoder.passages(sentences)], axis=0)
            for chinese, sentences in ((True, _BACKGROUND_ZH), (False, _BACKGROUND_EN))
        }


class CrossEncoderSupport:
    """By a sentence-transformers `CrossEncoder` (a reranker, or an NLI model with the label `entailment`)."""

    def __init__(self, name: str, bar: float = 0.5) -> None:
        self._name = name
        self._bar = bar

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import CrossEncoder

        return CrossEncoder(self._name)

    def judge(self, statement: str, spans: Sequence[str], context: str) -> Verdict:
        """The best span's probability against the bar; the rules still hold."""
        against = contradictions(statement, "\n".join(spans), context)
        raw = np.array(self._model.predict([(span, statement) for span in spans]), dtype=np.float64)
        if raw.ndim == 2:
            labels = {str(v).casefold(): int(k) for k, v in self._model.config.id2label.items()}
            exponent = np.exp(raw - raw.max(axis=1, keepdims=True))
            raw = (exponent / exponent.sum(axis=1, keepdims=True))[:, labels.get("entailment", 1)]
        strength = float(raw.max())
        if strength < self._bar:
            return Verdict(False, strength, "the span doesn't say so")
        return Verdict(not against, strength, against[0] if against else "")


def _clauses(span: str) -> list[str]:
    return [c for c in re.split(r"(?<=[，。；;,!?！？:：\n])\s*|(?<=\.)\s+", span) if len(squeeze(c)) > 5]


def is_chinese(text: str) -> bool:
    """Whether Chinese characters outnumber Latin words."""
    return len(re.findall(r"[\u4e00-\u9fff]", text)) > len(re.findall(r"[A-Za-z]+", text))


def overlap(statement: str, span: str) -> float:
    """Share of the statement's units that occur in the span: pairs of Chinese characters, Latin words and numbers."""
    wanted, given = _units(statement), _units(span)
    return sum(unit in given for unit in wanted) / len(wanted) if wanted else 0.0


_EMPTY_WORD = re.compile(
    r"an?|and|are|as|at|be|been|by|can|do|does|for|from|ha[sve]+|if|in|is|it|its|of|on|or|th(?:at|e|eir|em|en|ere|ese|ey"
    r"|is)|to|was|we|were|which|who|will|with|you|your"
)


def _units(text: str) -> set[str]:
    folded = fold(text)
    words = {_stem(w) for w in re.findall(r"[a-z]+|\d+(?:\.\d+)?", folded) if not _EMPTY_WORD.fullmatch(w)}
    runs = re.findall(r"[\u4e00-\u9fff]+", folded)
    return words | {run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))}


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _published_encoder() -> Encoder:
    """The default encoder without the adapter: what judges answers doesn't change with what finds them."""
    from knowledge.encoders.e5 import E5Encoder
    from knowledge.encoders.prepare import prepare

    return E5Encoder(prepare(adapter=None))


def open_support(spec: str, key: str | None = None) -> Support:
    """The support of a specification: `offline`, `cross-encoder:NAME` or `judge:URL#MODEL`.

    Raises:
        TargetError: it is none of these.
    """
    if spec == "offline":
        return OfflineSupport(_published_encoder)
    if spec.startswith("cross-encoder:"):
        return CrossEncoderSupport(spec.removeprefix("cross-encoder:"))
    endpoint = re.fullmatch(r"judge:(https?://[^#]+)#(.+)", spec)
    if endpoint:
        from evals.judge import JudgeSupport

        return JudgeSupport(endpoint[1], endpoint[2], key)
    raise TargetError(f"--support {spec!r} is none of: offline, cross-encoder:NAME, judge:URL#MODEL.")
