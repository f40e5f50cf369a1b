"""Documents in and out, search test, price sheet, evaluations."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.actions import ask, choose_preset
from tests.browser.conftest import OpenPage


def test_good_and_bad_upload_report_each_file(visit: OpenPage, tmp_path: Path) -> None:
    good, bad = tmp_path / "quota rules.md", tmp_path / "broken.pdf"
    good.write_text("# Quota rules\n\n## Who approves quota?\n\nThe platform team approves GPU quota on Tuesdays.\n")
    bad.write_bytes(b"%PDF-1.7 this is no PDF")
    page = visit("/library")
    page.locator("#upload").set_input_files([good, bad])
    rows = page.locator("#jobs .job li")
    expect(rows.filter(has_text="quota rules.md")).to_contain_text("added")
    expect(rows.filter(has_text="broken.pdf")).to_contain_text("failed")
    assert len(rows.filter(has_text="broken.pdf").locator(".note").inner_text()) > 10
    row = page.locator("#documents tr", has_text="Quota rules")
    expect(row).to_be_visible()
    page.goto("/")
    turn = ask(page, "Who approves GPU quota?")
    expect(turn.locator(".text")).to_contain_text("Tuesdays")
    page.goto("/library")
    page.locator("#documents tr", has_text="Quota rules").locator("[data-delete-document]").click()
    expect(page.locator("dialog")).to_contain_text("Quota rules")
    page.locator("dialog .cancel").click()
    expect(row).to_be_visible()
    row.locator("[data-delete-document]").click()
    page.locator("dialog .primary").click()
    expect(row).to_have_count(0)


def test_address_inside_the_own_network_is_refused(visit: OpenPage) -> None:
    page = visit("/library")
    page.locator("[name=url]").fill("http://127.0.0.1:1/secret")
    page.locator("form[data-job='/ui/library/url'] button").click()
    expect(page.locator("#jobs .job li")).to_contain_text("failed")


def test_search_test_shows_what_is_found_with_scores(visit: OpenPage) -> None:
    page = visit("/library", language="zh")
    page.locator("[name=q]").fill("抢占式实例")
    page.locator("[name=q]").press("Enter")
    first = page.locator("#found tbody tr").first
    expect(first).to_contain_text("抢占式实例指南")
    first.locator("[data-document]").click()
    expect(page.locator("dialog #document-span")).to_be_visible()


def test_filter_and_catalog_ages(visit: OpenPage) -> None:
    page = visit("/library")
    expect(page.locator("#documents tbody tr").first).to_be_visible()
    page.locator("#filter").fill("checkpoint rules")
    expect(page.locator("#documents tbody tr:visible")).to_have_count(1)
    expect(page.locator("section", has_text="Price and hardware catalog").locator("tbody tr")).to_have_count(5)


def test_own_prices_are_reported_and_used(visit: OpenPage, tmp_path: Path) -> None:
    sheet = tmp_path / "prices.csv"
    sheet.write_text(
        "provider,instance,gpu,gpu_count,region,price_per_gpu_hour,currency\n"
        "own,rack-1,H100,8,here,1.9,USD\n"
        "own,rack-2,Warp9000,8,here,1.9,USD\n"
    )
    page = visit("/library")
    expect(page.locator("#price-file")).to_be_attached()
    page.locator("#price-file").set_input_files(sheet)
    report = page.locator("#prices")
    expect(report).to_contain_text("1 usable rows")
    expect(report.locator("li")).to_contain_text("3")
    page.goto("/calculators?tool=estimate_training_cost")
    said = choose_preset(page)
    expect(said).to_contain_text("$1.90")
    expect(page.locator(".derivation")).to_contain_text("prices.csv")
    page.goto("/")
    expect(ask(page, "What do 64 H100 for 10 days cost?").locator(".text")).to_contain_text("$1.90")
    page.goto("/calculators?tool=estimate_training_cost")
    choose_preset(page)
    page.locator("#drop-prices").click()
    expect(page.locator(".headline")).not_to_contain_text("$1.90")
    stranger = visit("/calculators?tool=estimate_training_cost")
    expect(choose_preset(stranger)).not_to_contain_text("$1.90")


def test_evaluation_runs_beside_the_chat(visit: OpenPage) -> None:
    page = visit("/evaluations")
    page.locator("[name=suite]").select_option("seeds")
    page.locator("[name=limit]").fill("6")
    page.locator("form[data-job] button").click()
    chat = visit(context=page.context)
    ask(chat, "Where should checkpoints be stored?")
    chat.close()
    expect(page.locator("#jobs .job li")).to_contain_text("done")
    expect(page.locator("#run h2")).to_be_visible()
    expect(page.locator("#runs tbody tr").first).to_contain_text("seeds")
    page.locator("#run [data-fragment]").first.click()
    expect(page.locator("#case .question")).to_be_visible()
    page.locator("form[data-job] button").click()
    expect(page.locator("#runs tbody tr")).to_have_count(2)
    expect(page.locator("#run form select option")).to_have_count(1)
    page.locator("#run form button").click()
    expect(page.locator("#comparison table")).to_be_visible()


def test_files_can_be_dropped(visit: OpenPage) -> None:
    page = visit("/library", language="zh")
    expect(page.locator(".drop")).to_be_visible()
    dropped = page.evaluate_handle(
        "() => { const data = new DataTransfer(); const text = '# Dropped note\\n\\nThe spare key hangs in room 12.\\n';"
        "data.items.add(new File([text], 'dropped.md', { type: 'text/markdown' })); return data; }"
    )
    page.locator(".drop").dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.locator("#jobs .job li")).to_contain_text("已添加")
    row = page.locator("#documents tr", has_text="Dropped note")
    expect(row).to_be_visible()
    row.locator("[data-delete-document]").click()
    page.locator("dialog .primary").click()
    expect(row).to_have_count(0)
