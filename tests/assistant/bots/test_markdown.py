"""Answers in the dialects of platforms: nothing is lost, everything fits, nothing of a document takes effect."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.bots.base import Bot
from assistant.bots.markdown import Dialect, parse, parts, utf8_size, write
from assistant.bots.registry import bot_type, names
from assistant.errors import InvalidInput

ANSWER = """# Heading **x**

It costs **about $535k** ($398k–$720k), see `torchrun`. [T1]
A second line.

- one thing [1]
- *another* thing [2]
  - nested

1. first

   more of it
2. second

| GPU | 价格 |
| --- | --- |
| H100 | 2 |
| A100 | 1.5 |

```
code | <b>
```

> quoted
"""
DIALECTS = {name: bot_type(name).dialect for name in names()}
PLAIN = Dialect(escape=str, limit=60, table="list")


def test_blocks_of_an_answer() -> None:
    blocks = parse(ANSWER)
    assert [block.kind for block in blocks] == [
        "heading", "paragraph", "item", "item", "item", "item", "item", "item", "table", "code", "quote",
    ]  # fmt: skip
    assert [block.marker for block in blocks if block.kind == "item"] == ["•", "•", "•", "1.", "", "2."]
    assert [len(block.rows) for block in blocks if block.kind == "table"] == [3]


def test_slack() -> None:
    text = "\n".join(write(block, DIALECTS["slack"]) for block in parse(ANSWER))
    assert "*Heading x*" in text and "*about $535k*" in text and "• _another_ thing [2]" in text
    assert "```\nGPU   价格\n----  ----\nH100  2\nA100  1.5\n```" in text and "> quoted" in text


def test_tables_where_the_platform_has_them_and_where_it_has_none() -> None:
    assert "| H100 | 2 |" in write(parse(ANSWER)[8], DIALECTS["feishu"])
    assert write(parse(ANSWER)[8], DIALECTS["dingtalk"]) == "- **H100**: 价格 2\n- **A100**: 价格 1.5"


@pytest.mark.parametrize("name", names())
def test_what_documents_hold_takes_no_effect(name: str) -> None:
    hostile = "See [here](https://evil.example), ![x](https://evil.example/p.png), <!channel> <@U1> <at id=all></at>."
    text = "\n".join(write(block, DIALECTS[name]) for block in parse(hostile))
    assert not re.search(r"<[!@a]", text)
    assert name == "slack" or "](" not in text  # which Slack shows as it is
    assert "evil.example" in text


def test_divides_between_sentences_and_keeps_marks_with_them() -> None:
    text = "First sentence here. [1] 第二句在这里。[2][T1] The third one is rather longer than that. [3]"
    assert parts(parse(text), PLAIN) == [text[: text.index("The third")], text[text.index("The third") :]]


def test_a_table_that_is_divided_repeats_its_header() -> None:
    rows = "\n".join(f"| row {n} | {n} |" for n in range(40))
    found = parts(parse(f"| name | value |\n| --- | --- |\n{rows}"), Dialect(escape=str, limit=200, table="pipes"))
    assert len(found) > 3 and all(part.startswith("| name | value |\n") and len(part) <= 200 for part in found)
    assert sum(part.count("| row ") for part in found) == 40


words = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=60)
lines = st.builds(
    "{}{}".format, st.sampled_from(["", "- ", "1. ", "# ", "> ", "**bold** ", "| a | b |\n| - | - |\n| "]), words
)


@given(text=st.lists(lines, max_size=12).map("\n\n".join), limit=st.integers(40, 300), name=st.sampled_from(names()))
def test_every_part_fits_and_nothing_is_lost(text: str, limit: int, name: str) -> None:
    shown = DIALECTS[name]
    dialect = Dialect(
        escape=shown.escape, limit=limit, size=shown.size, bold=shown.bold, italic=shown.italic, heading=shown.heading,
        item=shown.item, table=shown.table,
    )  # fmt: skip
    blocks = parse(text)
    found = parts(blocks, dialect)
    assert all(0 < dialect.size(part) <= limit for part in found)
    letters = [c for block in blocks if block.kind != "table" for span in block.spans for c in span.text if c.isalpha()]
    said = iter("".join(found))
    assert all(letter in said for letter in letters)  # in order


def test_size_in_bytes() -> None:
    dialect = Dialect(escape=str, limit=30, size=utf8_size)
    assert all(
        len(part.encode()) <= 30 for part in parts(parse("中文没有空格也没有标点所以只能在任意处断开" * 3), dialect)
    )


def test_each_channel_is_one_module_with_one_bot() -> None:
    assert names() == ["dingtalk", "feishu", "slack", "wecom"]
    for name in names():
        module = import_module(f"assistant.bots.channels.{name}")
        kind = bot_type(name)
        assert issubclass(kind, Bot) and kind.name == name and kind.__module__ == module.__name__
        assert kind.settings_type.model_config["env_prefix"] == f"ADVISOR_{name.upper()}_"
    with pytest.raises(InvalidInput, match="slack"):
        bot_type("irc")
