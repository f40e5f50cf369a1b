"""Chunks and statements: structure kept, limits held, offsets exact."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunking import MAX_CHARACTERS, chunk
from knowledge.documents import load_bytes
from knowledge.errors import DocumentError
from knowledge.records import LoadedDocument
from knowledge.sentences import split_sentences


def read(text: str, name: str = "a.md") -> LoadedDocument:
    return load_bytes(text.encode(), name)


def sections(document: LoadedDocument) -> list[tuple[str, ...]]:
    return [passage.section for passage in chunk(document)]


def statements(document: LoadedDocument) -> list[str]:
    return [document.text[s.start : s.end] for passage in chunk(document) for s in passage.sentences]


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text, 0, len(text))]


@pytest.mark.parametrize(
    "sentences",
    [
        ["It costs 3.50 USD per hour, e.g. on weekends.", "See v2.0.1 at https://a.example/x.y?z=1.", "Done!"],
        ["Dr. Smith of Acme Inc. measured it (see Fig. 3).", "It took 4 h."],
        ["Is it cheap?", 'He said "yes."', "Then he left."],
        ["Use A, B, etc. for tests.", "The U.S. region is larger."],
        ["The answer is no.", "Next question: Fig. 2 shows No. 5."],
        ["Wait... it goes on.", "New one."],
        ["价格是每小时 3.5 美元。", "便宜吗？", "“不便宜。”", "他这样说。"],
        ["他问“为什么贵？”然后走了。", "答案（见第 3 节。表 2）在后面。"],
        ["成本会上升……", "然后下降。"],
        ["见 https://a.example/价格?x=1。", "版本 2.0.1 已发布！"],
        ["模型用 GPT-3.5 训练。", "It works too.", "下一句。"],
    ],
)
def test_sentences_end_where_a_reader_ends_them(sentences: list[str]) -> None:
    joint = "" if "\u4e00" <= sentences[0][0] <= "\u9fff" else " "
    text = joint.join(sentences)
    if "It works too." in sentences:
        text = "模型用 GPT-3.5 训练。It works too. 下一句。"
    assert split(text) == sentences


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("按量付费适合短期试验任务，可以随时释放；包年包月适合长期稳定的负载，单价更低。", 2),
        ("如果预算有限且任务可以中断；应当优先选择抢占式实例来降低成本。", 1),
        ("如果任务可以中断，应当选抢占式实例；如果任务不能中断，应当选按量付费实例。", 2),
        ("云厂商可能内置加速芯片来提升训练效率；或者提供更多开发工具来降低门槛。", 1),
        ("一般有三种做法：第一种是按量付费并随时释放；第二种是包年包月并锁定价格。", 1),
        ("Spot machines are cheap but may be taken away at any time; reserved machines cost more and always stay.", 2),
        ("If the job can be resumed from a checkpoint; choose spot machines for the long phases of it.", 1),
        ("Spot machines are cheap for long jobs; otherwise choose reserved machines that stay.", 1),
    ],
)
def test_a_semicolon_separates_what_can_stand_alone(text: str, count: int) -> None:
    assert len(split(text)) == count


def test_headings_make_the_section_path_without_the_title() -> None:
    document = read("# Guide\n\nIntro.\n\n## A\n\nIn a.\n\n### A1\n\nIn a1.\n\n## B\n\nIn b.\n")
    assert sections(document) == [(), ("A",), ("A", "A1"), ("B",)]
    assert statements(document) == ["Intro.", "In a.", "In a1.", "In b."]
    several = read("# One\n\nFirst.\n\n# Two\n\nSecond.\n")
    assert sections(several) == [("One",), ("Two",)]


def test_a_heading_with_nothing_under_it_is_not_lost() -> None:
    document = read("# Deck\n\n## Prices fell by 10% in 2026\n\n## Costs\n\nText.\n\n## Questions\n")
    assert statements(document) == ["Prices fell by 10% in 2026", "Text.", "Questions"]


def test_marks_of_lists_and_emphasis_stay_outside_statements() -> None:
    document = read(
        "**Bold whole.** Next one.\n\n- **Label**: with text\n- _all of it_\n1. first\n2. second\n\n> quoted\n"
    )
    assert statements(document) == [
        "Bold whole.",
        "Next one.",
        "**Label**: with text",
        "all of it",
        "first",
        "second",
        "quoted",
    ]


def test_a_lead_in_stays_with_its_list_and_is_no_statement_of_its_own() -> None:
    items = "\n".join(
        f"- Point {i} says that machines of kind {i} should be compared by price and memory." for i in range(40)
    )
    filler = "This paragraph fills the section before the list begins, so that the first chunk is nearly full. " * 8
    document = read(f"## A\n\n{filler}\n\nCheck the following:\n\n{items}\n")
    lead = next(p for p in chunk(document) if "the following:" in document.text[p.start : p.end])
    assert "Point 0" in document.text[lead.start : lead.end]
    assert "Check the following:" not in statements(document)


def test_a_list_item_is_one_statement_with_its_label() -> None:
    text = "## 成本\n\n有三点：\n\n1. 按需付费：只为实际用量付费。试错成本低。\n2. 弹性伸缩：高峰时扩容，闲时释放。\n"
    assert statements(read(text)) == ["按需付费：只为实际用量付费。试错成本低。", "弹性伸缩：高峰时扩容，闲时释放。"]


def test_rows_of_a_table_are_statements_and_its_part_has_the_header() -> None:
    document = read("## Prices\n\n| GPU | USD |\n|---|---|\n| H100 | 3.9 |\n| A100 | 1.8 |\n")
    (passage,) = chunk(document)
    assert document.text[passage.start : passage.end].startswith("| GPU | USD |")
    assert statements(document) == ["H100 | 3.9", "A100 | 1.8"]


def test_a_row_that_fits_in_no_part_becomes_statements_with_their_column_names() -> None:
    long = "This cell explains at length why the price differs between regions and seasons. " * 30
    document = read(f"| GPU | Remark |\n|---|---|\n| H100 | {long} |\n| A100 | short |\n")
    assert any(line.startswith("Remark: This cell explains") for line in document.text.split("\n"))
    assert "A100 | short" in statements(document)


def test_code_is_kept_whole_where_it_fits() -> None:
    document = read("## Run\n\nDo this:\n\n```sh\npip install x\npython train.py\n```\n")
    assert "pip install x\npython train.py" in statements(document)


PLAIN = """云上训练怎么样？

云上训练已成为主流选择，其优势在于成本低、部署快。

成本控制：从重资产转向精细化

算力成本是首要因素，云上模式改变了这一局面。

1. 按需付费机制：用户无需一次性投入，只需按实际使用付费，适合初创团队。
2. 弹性伸缩能力：训练的需求波动很大，平台支持分钟级扩容与缩容。

未来趋势

随着技术发展，也将迎来新的机遇，以下是可能的趋势：

绿色计算

随着环保意识增强，绿色计算将成为重要方向，可以降低能源消耗。

相关问答

如何避免数据泄露风险？

解答：选择通过认证的服务商，并开启网络隔离。
"""


def test_headings_of_plain_text_are_told_from_paragraphs_and_labels() -> None:
    document = read(PLAIN, "a.txt")
    assert document.title == "云上训练怎么样？"
    assert sections(document) == [
        (),
        ("成本控制：从重资产转向精细化",),
        ("未来趋势",),
        ("未来趋势", "绿色计算"),
        ("相关问答", "如何避免数据泄露风险？"),
    ]
    assert statements(document)[2].startswith("按需付费机制：")


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("Guide\n=====\n\nIntro text of the guide.\n\nCosts\n-----\n\nText on costs.\n", ["Guide", "Costs"]),
        (
            "Cloud notes\n\nSpot machines are cheap.\n\nStorage\n\nObjects cost little per month.\n",
            ["Cloud notes", "Storage"],
        ),
        (
            "1. Overview\n\nThe overview says this and that.\n\n2. Costs\n\nThe costs are these.\n",
            ["1. Overview", "2. Costs"],
        ),
        ("一、概述\n\n云端训练是这样的过程。\n\n二、成本\n\n成本由这些构成。\n", ["一、概述", "二、成本"]),
        ("Dear all,\n\nthe price is 3 USD.\n\nRegards\n\nAnna\n", []),
        ("Just one paragraph without any heading, which ends here.\n", []),
        ("apples\npears\nplums\n", []),
    ],
)
def test_headings_of_plain_text(text: str, headings: list[str]) -> None:
    document = read(text, "a.txt")
    assert [document.text[b.start : b.end] for b in document.blocks if b.kind == "heading"] == headings


def test_a_paragraph_broken_by_a_margin_is_one() -> None:
    lines = (
        "Spot machines cost much less than others, but they may be taken\naway at any time, so that checkpoints are\n"
        "needed. They are written every hour.\n"
    )
    document = read(f"Notes\n\n{lines}", "a.txt")
    assert len([b for b in document.blocks if b.kind == "paragraph"]) == 1
    assert len(statements(document)) == 2


BLOCKS = (
    "# H\n",
    "## 标题\n",
    "- item\n",
    "1. one\n",
    "\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```\ncode\n```\n",
    "> q\n",
)
PIECES = (
    "句子一。句子二；句子三！",
    "A sentence. Another one; and more? ",
    "（未闭合。",
    "**bold",
    "…",
    "\u200b",
    "<b>x</b>",
    "Label: ",
)
TEXTS = st.lists(st.sampled_from((*BLOCKS, *PIECES)) | st.text(max_size=40), max_size=40).map("".join)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, name=st.sampled_from(["a.md", "a.txt", "a.html", "a.csv"]), limit=st.sampled_from([None, 40, 200]))
def test_offsets_hold_for_every_text(text: str, name: str, limit: int | None) -> None:
    try:
        document = load_bytes(text.encode(), name)
    except DocumentError:
        return
    passages = chunk(document, max_characters=limit)
    assert passages
    at = 0
    for passage in passages:
        assert at <= passage.start < passage.end <= len(document.text)
        assert passage.end - passage.start <= (limit or MAX_CHARACTERS[document.language])
        inner = passage.start
        for span in passage.sentences:
            quote = document.text[span.start : span.end]
            assert inner <= span.start < span.end <= passage.end and quote == quote.strip()
            inner = span.end
        at = passage.end
    covered = {i for passage in passages for i in range(passage.start, passage.end)}
    for block in document.blocks:
        if block.kind != "heading":
            assert all(i in covered or document.text[i].isspace() or limit for i in range(block.start, block.end))


@settings(max_examples=200, deadline=None)
@given(text=st.text(st.sampled_from('ab。.!?；; \n…（)(”"一二3'), max_size=200))
def test_sentences_cover_the_text_in_order(text: str) -> None:
    spans = split_sentences(text, 0, len(text))
    at = 0
    for span in spans:
        assert not text[at : span.start].strip()
        at = span.end
    assert not text[at:].strip()
