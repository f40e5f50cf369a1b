"""Forms, links, exports and scenarios of the calculators."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from assistant.tools.registry import NAMES
from tests.browser.actions import choose_preset
from tests.browser.conftest import OpenPage


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_calculator_answers_its_first_preset(visit: OpenPage, language: str) -> None:
    page = visit("/calculators", language=language)
    for name in NAMES:
        page.locator(f".tabs a[href$='tool={name}']").click()
        expect(page.locator(f".calculator[data-tool={name}]")).to_be_visible()
        headline = choose_preset(page)
        assert len(headline.inner_text()) > 5, name
        expect(page.locator(".calculator .error")).to_have_count(0)


def test_link_restores_the_inputs(visit: OpenPage) -> None:
    page = visit("/calculators?tool=estimate_memory")
    choose_preset(page)
    page.locator("[name=sequence_length]").fill("8192")
    expect(page.locator(".headline")).to_contain_text("8,192")
    said = page.locator(".headline").inner_text()
    again = visit(page.url[page.url.index("/calculators") :])
    expect(again.locator("[name=sequence_length]")).to_have_value("8192")
    expect(again.locator(".headline")).to_have_text(said)


def test_what_is_missing_is_asked_at_the_form(visit: OpenPage) -> None:
    page = visit("/calculators?tool=plan_budget")
    page.locator("[name=budget]").fill("100000")
    page.locator("[name=spent]").fill("500")
    expect(page.locator(".result .missing")).to_be_visible()
    page.locator("[name=days_elapsed]").fill("10")
    expect(page.locator(".headline")).to_be_visible()


def test_amounts_may_be_written_as_people_do(visit: OpenPage) -> None:
    page = visit("/calculators?tool=plan_data_transfer", language="zh")
    page.locator("[name=volume_bytes]").fill("1 PB")
    page.locator("[name=bandwidth_bits_per_second]").fill("10 Gbps")
    expect(page.locator(".headline")).to_contain_text("9.2")


def test_scenarios_stand_side_by_side(visit: OpenPage) -> None:
    page = visit("/calculators?tool=estimate_training_cost")
    for number in (0, 1, 2):
        choose_preset(page, number)
        page.locator(".export .keep").click()
        expect(page.locator(".scenarios thead th")).to_have_count(number + 1)
    expect(page.locator(".scenarios .said td")).to_have_count(3)
    page.locator(".scenarios .remove").first.click()
    expect(page.locator(".scenarios thead th")).to_have_count(2)


def test_downloads_hold_what_is_shown(visit: OpenPage, tmp_path: Path) -> None:
    page = visit("/calculators?tool=estimate_training_cost")
    choose_preset(page)
    with page.expect_download() as downloading:
        page.locator(".result > .actions .csv").click()
    downloading.value.save_as(tmp_path / "table.csv")
    rows = list(csv.reader((tmp_path / "table.csv").read_text("utf-8-sig").splitlines()))
    shown = page.locator(".result > .scroll tr")
    assert len(rows) == shown.count() and rows[1] == shown.nth(1).locator("td").all_inner_texts()
    with page.expect_download() as downloading:
        page.locator(".export .json").click()
    downloading.value.save_as(tmp_path / "run.json")
    run = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert run["tool"] == "estimate_training_cost" and run["inputs"]["gpu_count"]["value"] == 64


def test_points_of_a_chart_can_be_downloaded(visit: OpenPage, tmp_path: Path) -> None:
    page = visit("/calculators?tool=estimate_scaling", language="zh")
    choose_preset(page)
    page.locator(".chart-data summary").click()
    with page.expect_download() as downloading:
        page.locator(".chart-data .csv").click()
    downloading.value.save_as(tmp_path / "chart.csv")
    rows = list(csv.reader((tmp_path / "chart.csv").read_text("utf-8-sig").splitlines()))
    assert rows[0][0] == "机器数" and len(rows) > 3 and len(rows[0]) == len(rows[1]) > 2


def test_ask_about_this_leads_to_the_chat(visit: OpenPage) -> None:
    page = visit("/calculators?tool=estimate_training_cost", language="zh")
    choose_preset(page)
    page.locator(".export .ask-about").click()
    expect(page.locator("#question")).to_have_value(
        "训练成本与时间：参数量 7B，训练 token 数 2T，GPU 型号 H100，GPU 数 64"
    )


@pytest.mark.parametrize("dark", [False, True])
def test_chart_is_readable_in_both_themes(visit: OpenPage, dark: bool) -> None:
    page = visit("/calculators?tool=compare_purchase_options", dark=dark)
    choose_preset(page, 1)
    label = page.locator(".chart text").first
    expect(label).to_be_visible()
    light = page.evaluate(
        "element => getComputedStyle(element).fill.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3",
        label.element_handle(),
    )
    assert (light > 150) is dark
