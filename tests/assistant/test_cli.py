"""The command line over a real store of a few small documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from assistant.cli import main

SPOT = """# 抢占式实例

## 抢占式实例会被随时收回吗？

抢占式实例会在云厂商需要容量时被收回，收回前只有很短的通知。训练任务要用抢占式实例，必须定期保存检查点并能自动续训。
"""
BUDGET = """# Budgets

## Do budget alerts stop spending?

A budget alert only sends a notification and stops nothing by itself. A hard stop needs quotas or an automatic shutdown.
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder with two documents."""
    folder = tmp_path_factory.mktemp("cli")
    documents = folder / "documents"
    documents.mkdir()
    (documents / "spot.md").write_text(SPOT, "utf-8")
    (documents / "budget.md").write_text(BUDGET, "utf-8")
    (documents / "empty.md").write_bytes(b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADVISOR_DATA_DIR", str(folder / "data"))
        report = json.loads(run("index", str(documents), "--json", code=1).stdout)
        assert report["added"] == 2
        assert [file["path"] for file in report["files"] if file["status"] == "failed"] == [str(documents / "empty.md")]
        yield documents


def run(*arguments: str, code: int = 0, text: str | None = None) -> Result:
    result = CliRunner().invoke(main, list(arguments), input=text)
    assert result.exit_code == code, result.output
    return result


def run_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def test_answers_with_exact_citations(data: Path) -> None:
    answer = run_json("ask", "抢占式实例会被收回吗，训练时要怎么办？")
    assert answer["status"] == "answered"
    for citation in answer["citations"]:
        document = run_json("docs", "show", citation["document_id"])
        assert document["text"][citation["start"] : citation["end"]] == citation["quote"]


def test_finds_across_languages(data: Path) -> None:
    assert run_json("search", "预算告警会自动停机吗", "-k", "1")[0]["title"] == "Budgets"


def test_goes_on_with_a_conversation(data: Path) -> None:
    first = run_json("ask", "40 TB over 500 Mbps, 75% usable, how many days?")
    second = run_json("ask", "and with a 2 Gbps line?", "--conversation", first["conversation_id"])
    assert second["conversation_id"] == first["conversation_id"]
    assert second["tool_runs"][0]["inputs"]["volume_bytes"] == {
        "value": 40e12,
        "unit": "byte",
        "origin": "earlier turn",
    }


def test_turns_and_batches(data: Path, tmp_path: Path) -> None:
    turns = tmp_path / "turns.json"
    turns.write_text(json.dumps(["7B 全参微调要多少显存，A100 80G", "用LoRA呢"]), "utf-8")
    assert [
        answer["tool_runs"][0]["inputs"]["method"]["value"] for answer in run_json("ask", "--turns", str(turns))
    ] == [
        "full",
        "lora",
    ]
    batch = tmp_path / "batch.json"
    batch.write_text(json.dumps({"a": ["1TB over 1Gbps, how long?"]}), "utf-8")
    assert list(run_json("ask", "--batch", str(batch))) == ["a"]


def test_a_question_may_come_on_standard_input(data: Path) -> None:
    assert "[1]" in run("ask", "-", text="抢占式实例会被收回吗，训练时要怎么办？").stdout


def test_removes_a_document_with_all_that_was_made_of_it(data: Path, tmp_path: Path) -> None:
    extra = tmp_path / "extra.md"
    extra.write_text(
        "# Quotas\n\nQuota requests for scarce accelerators need a written reason at Examplecloud.\n", "utf-8"
    )
    added = run_json("index", str(extra))["files"][0]["document_id"]
    assert any(hit["document_id"] == added for hit in run_json("search", "Examplecloud quota reason"))
    run("docs", "remove", added)
    assert all(hit["document_id"] != added for hit in run_json("search", "Examplecloud quota reason"))
    assert added not in [row["document_id"] for row in run_json("docs", "list")]


def test_doctor_finds_nothing_wrong(data: Path) -> None:
    assert {check["severity"] for check in run_json("doctor")} == {"ok"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("ask", "  "), 2, "empty"),
        (("ask",), 2, "Give one of"),
        (("ask", "x" * 9000), 1, "more than the limit of 8000"),
        (("ask", "hi", "--conversation", "nope"), 1, "no conversation nope"),
        (("docs", "show", "nope"), 1, "nope"),
        (("tools", "run", "nope"), 1, "There is no calculator"),
        (("tools", "run", "calculate", "{"), 2, "not JSON"),
        (
            ("tools", "run", "plan_data_transfer", '{"volume_bytes": "50TB", "bandwidth_bits_per_second": 0}'),
            1,
            "bandwidth",
        ),
        (("index",), 2, "Name files or folders"),
        (("catalog", "list", "nope"), 1, "It has:"),
    ],
)
def test_bad_input_gets_one_clear_line(data: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = run(*arguments, code=code)
    error = result.stderr.strip().splitlines()[-1]
    assert error.startswith("Error: ")
    assert message in error
    assert "Traceback" not in result.output


def test_a_folder_that_is_no_store_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    (tmp_path / "knowledge.sqlite3").write_bytes(b"garbage" * 1000)
    result = run("ask", "hello there", code=1)
    assert "Traceback" not in result.output


def test_a_setting_that_makes_no_sense_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_PASSAGES", "many")
    assert "ADVISOR_PASSAGES = 'many'" in run("ask", "hello", code=1).stderr
