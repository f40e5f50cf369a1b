from __future__ import annotations

import pytest

from assistant.schema import Language
from assistant.understand.language import detect_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("64 张 H100 训 7B 要多久", "zh"),
        ("multi-node finetune 一定要 IB/RoCE 吗？普通万兆 ethernet 能不能凑合", "zh"),
        ("QLoRA on a 70B with 4x A10G: why OOM?", "en"),
        ("what does 等保 mean for our training cluster", "en"),
        ("70b要几张卡", "zh"),
        ("does it fit?", "en"),
        ("雲端訓練要花多少錢", "zh"),
        ("zhangdan yi xiaoshi duoshao", "en"),
    ],
)
def test_the_answer_follows_the_prose_not_the_terms(question: str, language: Language) -> None:
    assert detect_language(question) == language
