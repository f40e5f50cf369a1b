"""Statements against spans that are in no suite, in both languages."""

from __future__ import annotations

import pytest

from evals.contradiction import contradictions
from evals.support import OfflineSupport, is_chinese, open_support, overlap
from evals.text import statements

LABELS = "Label errors in the validation set cap the accuracy that any model can reach, so review 500 samples by hand."
COOL = "机柜进风温度超过 27 摄氏度时，先检查盲板是否缺失，再调低空调设定值。"
QUEUE = "Jobs of the night queue start after 22:00 and are ended at 07:00 by the scheduler."


@pytest.fixture(scope="module")
def support() -> OfflineSupport:
    return open_support("offline")


@pytest.mark.parametrize(
    ("statement", "span"),
    [
        (LABELS, LABELS),
        ("Have 500 validation samples reviewed by a person: wrong labels limit how accurate a model can get.", LABELS),
        ("验证集里的错误标注会限制模型能达到的准确率，应人工复核 500 个样本。", LABELS),
        ("进风超过 27 度先看盲板有没有缺，然后再把空调调低。", COOL),
        (
            "Above 27 degrees at the inlet, look for missing blanking panels before lowering the air conditioning.",
            COOL,
        ),
        ("夜间队列的任务 22:00 之后开始，早上 07:00 由调度器结束。", QUEUE),
    ],
)
def test_supported(support: OfflineSupport, statement: str, span: str) -> None:
    assert support.judge(statement, [span], "").supported


@pytest.mark.parametrize(
    ("statement", "span"),
    [
        ("Have 800 validation samples reviewed by a person: wrong labels limit accuracy.", LABELS),
        ("Spot instances are cheaper but may be withdrawn.", LABELS),
        ("机房的备用发电机每月测试一次。", COOL),
        ("进风超过 27 度一定是空调坏了。", COOL),
        ("Jobs of the night queue are never ended by the scheduler.", QUEUE),
        ("The night queue is free of charge for students.", QUEUE),
        ("Night jobs run on H200 cards after 22:00.", QUEUE),
    ],
)
def test_not_supported(support: OfflineSupport, statement: str, span: str) -> None:
    verdict = support.judge(statement, [span], "")
    assert not verdict.supported
    assert verdict.objection


def test_the_question_needs_no_support(support: OfflineSupport) -> None:
    statement = "Your 64 H100 jobs of the night queue start after 22:00."
    assert not support.judge(statement, [QUEUE], "").supported
    assert support.judge(statement, [QUEUE], "when do my 64 H100 jobs start?").supported


def test_a_quotation_costs_no_encoding() -> None:
    def refuse() -> object:
        raise AssertionError("the encoder was loaded")

    assert OfflineSupport(refuse).judge(QUEUE, [QUEUE], "").supported  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statement", "span", "objection"),
    [
        ("Costs rise to 3 TB.", "Costs rise to 2 TB.", "figures"),
        ("It started on 10 March.", "自 3 月 10 日起。", ""),
        ("自 2 月 10 日起。", "In force from 10 February.", ""),
        ("Use NCCL.", "Use a library.", "names"),
        ("This always helps.", "This helps.", "certain"),
        ("This must not be shared.", "This may be shared.", "denies"),
        ("Costs fall: they are reduced.", "Costs are higher.", "opposite"),
        ("It is free of charge.", "It is billed by the hour.", "opposite"),
        ("Files are kept.", "Files are deleted.", "opposite"),
        ("Speed increases and cost decreases.", "Cost decreases.", ""),
    ],
)
def test_rules(statement: str, span: str, objection: str) -> None:
    found = contradictions(statement, span, "")
    assert (objection in found[0]) if objection else not found


def test_overlap_counts_words_and_character_pairs() -> None:
    assert overlap("the cards are idle", "idle cards cost money") == 1
    assert overlap("显卡闲置", "闲置的显卡") == pytest.approx(2 / 3)
    assert overlap("", "text") == 0


def test_language_of_a_text() -> None:
    assert is_chinese("用 A100 训练模型")
    assert not is_chinese("train on A100 (显卡)")


def test_supports_by_name() -> None:
    assert isinstance(open_support("offline"), OfflineSupport)
    with pytest.raises(Exception, match="none of: offline"):
        open_support("oracle")


def test_statements_and_their_marks() -> None:
    text = (
        "## Heading\n\nIn short:\n\n- Use spot. It is cheap. [1]\n1. Save often; test it. [2][3]\n"
        "> 引用一句话。[4] 没有出处的话。\n\nWhat else?\n\n| a | b |\n|---|---|\n| row one | 5 [T1] |\n"
        "Please say which model; and which GPU.\n\n| c | d |\n|---|---|\n| row two | 6 |\n\n[T2]\n"
        "Quoted from the Chinese source.\nFirst fact [1], which follows from the second. [2] (the document says so)"
    )
    assert [(s.text, s.marks) for s in statements(text)] == [
        ("Use spot.", ("1",)),
        ("It is cheap.", ("1",)),
        ("Save often;", ("2", "3")),
        ("test it.", ("2", "3")),
        ("引用一句话。", ("4",)),
        ("没有出处的话。", ()),
        ("| row one | 5 |", ("T1",)),
        ("| row two | 6 |", ("T2",)),
        ("First fact", ("1",)),
        ("First fact , which follows from the second.", ("1", "2")),
    ]
