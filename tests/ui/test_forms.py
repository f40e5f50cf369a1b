"""Forms hold what people wrote, and read back what they show."""

from __future__ import annotations

import csv
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ui
from assistant.tools.registry import NAMES, get_tool
from knowledge import quantities
from ui.calculations import calculate
from ui.calculators import presets
from ui.forms import form_html, given_values, written
from ui.words import choice_label

UNITS = ("parameters", "tokens", "byte", "bit/s", "byte/s", "fraction", "money", "day")


def test_every_field_has_a_label_in_both_languages() -> None:
    with (Path(ui.__file__).parent / "fields.csv").open(encoding="utf-8", newline="") as opened:
        labelled = {row["name"] for row in csv.DictReader(opened)}
    shown = {name for tool in NAMES for name in get_tool(tool).Inputs.model_fields if name != "offers"}
    assert shown - labelled == set()


def test_every_help_text_is_there_in_chinese_and_none_is_left_over() -> None:
    with (Path(ui.__file__).parent / "helps.csv").open(encoding="utf-8", newline="") as opened:
        translated = {row["en"] for row in csv.DictReader(opened)}
    fields = [info for tool in NAMES for info in get_tool(tool).Inputs.model_fields.values()]
    assert translated == {info.description for info in fields if info.description}


@pytest.mark.parametrize("name", NAMES)
def test_chinese_form_speaks_no_english_sentence(name: str) -> None:
    form = form_html(get_tool(name), "zh", identity=name)
    said = re.findall(r"<small[^>]*>([^<]+)</small>|<label[^>]*>([^<]+)|<option[^>]*>([^<]+)", form)
    texts = [unescape(text) for match in said for text in match if text]
    assert [text for text in texts if re.search(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}", text)] == []


@given(st.floats(min_value=1e-3, max_value=1e17), st.sampled_from(UNITS))
def test_what_is_shown_reads_back(value: float, unit: str) -> None:
    value = value / 1e17 if unit == "fraction" else value
    shown = written(value, unit, "en")
    assert quantities.amount(shown, unit) == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize(("name", "number"), [(n, i) for n in NAMES for i in range(len(presets()[n]))])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_presets_calculate(name: str, number: int, language: Any) -> None:
    result = calculate(name, presets()[name][number]["inputs"], language)
    assert result["run"] is not None, result["html"]
    assert result["question"].startswith(get_tool(name).title[language])


def test_defaults_and_empty_fields_are_not_stated() -> None:
    tool = get_tool("estimate_memory")
    raw = {"model": "Llama 3.1 8B", "optimizer": "adamw", "flash_attention": True, "gpu": "", "unknown": "x"}
    assert given_values(raw, tool) == {"model": "Llama 3.1 8B"}


def test_lists_are_split_at_commas_of_both_languages() -> None:
    tool = get_tool("plan_budget")
    assert given_values({"phases": "data，training、tests", "thresholds": "50%, 0.9"}, tool) == {
        "phases": ["data", "training", "tests"],
        "thresholds": [0.5, 0.9],
    }


def test_wrong_and_missing_inputs_are_named() -> None:
    wrong = calculate("estimate_training_cost", {"parameters": "many"}, "en")
    assert wrong["run"] is None and wrong["fields"] == ["parameters"] and 'role="alert"' in wrong["html"]
    missing = calculate("plan_budget", {"budget": "1000"}, "zh")
    assert missing["run"] is None and missing["fields"] and "missing" in missing["html"]


@given(st.dictionaries(st.sampled_from(list(get_tool("estimate_memory").Inputs.model_fields)), st.text(max_size=12)))
def test_no_input_breaks_a_form(raw: dict[str, str]) -> None:
    result = calculate("estimate_memory", raw, "en")
    assert result["html"] and "<script" not in result["html"]


def test_labels_of_choices() -> None:
    assert choice_label("on_demand", "zh") == "按量" and choice_label("bf16", "zh") == "bf16"
