import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge import lexical
from knowledge.lexical import ENGLISH_STOP_WORDS, normalise, term_counts, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A100显存", ["a100", "显存"]),
        ("p5.48xlarge", ["p548xlarge", "p5", "48xlarge", "48", "xlarg"]),
        ("GPT-2", ["gpt2", "gpt", "2"]),
        ("8×H100", ["8", "h100"]),
        ("Qwen2.5", ["qwen2.5", "qwen", "2.5"]),
        ("1,280 元", ["1280", "元"]),
        ("training trains trained", ["train", "train", "train"]),
        ("訓練資料", ["训练", "练资", "资料"]),
        ("７０Ｂ ５０％", ["70b", "50"]),
        ("C++", ["c++", "c"]),
        ("卡", ["卡"]),
        ("AWS/GCP", ["aw", "gcp"]),
        ("what is it", []),
        ("怎么的呢", []),
        ("", []),
        ("…！？", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("gpt 2", "GPT-2"),
        ("H-100", "8×H100 节点"),
        ("p5", "p5.48xlarge"),
        ("48xlarge", "p5.48xlarge"),
        ("70B 50%", "７０Ｂ，５０％"),
        ("显存不足", "顯存不足"),
        ("ISO27001", "ISO 27001 认证"),
        ("reservations", "a reserved reservation"),
        ("fine tuning", "fine-tuned"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_question_shares_a_term_with_passage(question: str, passage: str) -> None:
    assert set(terms(question)) & set(terms(passage))


@given(st.text())
def test_any_text_is_read_and_terms_are_stable(text: str) -> None:
    found = terms(text)
    assert all(term and not term.isspace() for term in found)
    assert term_counts(text).total() == len(found)
    assert terms(normalise(text)) == found or normalise(normalise(text)) != normalise(text)


@given(st.lists(st.sampled_from(sorted(ENGLISH_STOP_WORDS))))
def test_function_words_leave_nothing(words: list[str]) -> None:
    assert terms(" ".join(words)) == []


def test_threads_stem_at_once() -> None:
    words = [
        f"{start}{end}" for start in ("train", "connect", "relat", "comput") for end in ("ing", "ed", "ional", "s")
    ]
    expected = [lexical._stem(word) for word in words]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda _: [lexical._stem(word) for word in words], range(400)))
    finally:
        sys.setswitchinterval(interval)
    assert all(stems == expected for stems in found)
