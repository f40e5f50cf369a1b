from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.review.privacy import kept, redacted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mail li.na+x@corp.example.com about it", "Mail [mail] about it"),
        ("打 13912345678 或 +86 139 1234 5678 找我", "打 [phone] 或 [phone] 找我"),
        ("call (415) 555-0132 or +44 20 7946 0958", "call [phone] or [phone]"),
        ("身份证 11010519491231002X 的人", "身份证 [number] 的人"),
        ("card 4111 1111 1111 1111 was billed", "card [number] was billed"),
        ("10.0.12.7:8080 and 192.168.0.0/16 are ours", "[host] and [host] are ours"),
        ("s3://bucket/secret-set?x=1 and https://wiki.corp.example/a", "[address] and [address]"),
        ("AKIAIOSFODNN7EXAMPLE1 or sk-proj-abc123DEF456ghi789JK", "[key] or [key]"),
        ("password: hunter2 密码：abc", "[key] [key]"),
    ],
)
def test_what_tells_who_asked_is_left_out(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "64 张 H100 训 7B、2T token 要多久？大概多少钱？",
        "1,000,000,000,000 tokens at 1.5 USD, 2026-12-01, 99.95% uptime, v2.10.3 of torch",
        "How long do 40 TB take over 500 Mbps, 75% usable?",
        "p5.48xlarge or Standard_ND96isr_H100_v5, 8 x A100-SXM4-80GB?",
        "每 token 多少钱？1 2 3 4 四种方案，12 34 56",
    ],
)
def test_what_the_question_is_about_stays(text: str) -> None:
    assert redacted(text) == text


@given(st.text(max_size=300))
def test_nothing_is_found_in_what_is_redacted_already(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)
    assert kept(text, "full") == text and kept(text, "none") is None
