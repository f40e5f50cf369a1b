from __future__ import annotations

import csv
import io
import threading
import zipfile
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge import catalog
from knowledge.catalog.records import Instance, Provenance
from knowledge.errors import AdvisorError, InvalidInput

TODAY = date(2026, 12, 1)


@pytest.fixture(autouse=True)
def _shipped_offers() -> Iterator[None]:
    yield
    catalog.use(None)


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_every_row_names_its_source_with_a_public_link(kind: str) -> None:
    rows = catalog.list_rows(kind)
    assert rows
    for row in rows:
        assert row["source"], row
        assert str(row["source_url"]).startswith("https://"), row


def test_prices_are_dated_and_never_zero() -> None:
    for row in catalog.instances():
        assert row.source.as_of is not None
        for purchase in ("on_demand", "reserved", "spot"):
            price = row.price(purchase)
            assert price is None or price > 0
        assert row.accelerator_count >= 1
        assert row.accelerator in {item.name for item in catalog.accelerators()}


def test_active_parameters_are_never_more_than_all() -> None:
    for row in catalog.models():
        assert 0 < row.active_parameters <= row.parameters
        if row.heads is not None and row.kv_heads is not None:
            assert row.heads % row.kv_heads == 0


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        # Published counts: model cards and papers, not the shapes that the rows' counts follow from.
        ("Llama 2 7B", 6.74e9),
        ("Llama 3.1 8B", 8.03e9),
        ("Llama 3.1 70B", 70.6e9),
        ("Llama 3.1 405B", 405e9),
        ("Qwen2.5 7B", 7.61e9),
        ("Qwen2.5 72B", 72.7e9),
        ("Qwen3 235B-A22B", 235e9),
        ("Mixtral 8x7B", 46.7e9),
        ("Gemma 2 9B", 9.24e9),
        ("Yi 34B", 34.4e9),
        ("BLOOM 176B", 176e9),
    ],
)
def test_parameter_counts_match_what_was_published(name: str, parameters: float) -> None:
    assert catalog.find_model(name).row.parameters == pytest.approx(parameters, rel=0.01)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("H-100", "H100-SXM-80GB"),
        ("a100-80g", "A100-SXM-80GB"),
        ("A100 40G", "A100-SXM-40GB"),
        ("A100（40G）", "A100-SXM-40GB"),
        ("8×H100", "H100-SXM-80GB"),
        ("双4090", "RTX 4090"),
        ("RTX4090", "RTX 4090"),
        ("V100 32G", "V100-SXM2-32GB"),
        ("a10g", "A10G"),
        ("英伟达 H800", "H800-SXM-80GB"),
        ("h100 pcie", "H100-PCIe-80GB"),
        ("ＮＶＩＤＩＡ Ａ１００", "A100-SXM-80GB"),
        ("昇腾910B", "Ascend 910B"),
        ("tpu v5e", "TPU v5e"),
        ("trn2", "Trainium2"),
    ],
)
def test_accelerators_are_found_as_people_write_them(written: str, name: str) -> None:
    assert catalog.find_accelerator(written).row.name == name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("llama3 70b", "Llama 3 70B"),
        ("meta-llama/Llama-3.1-8B-Instruct", "Llama 3.1 8B"),
        ("羊驼 65B", "LLaMA 65B"),
        ("千问72B", "Qwen2.5 72B"),
        ("Qwen/Qwen2.5-72B-Instruct", "Qwen2.5 72B"),
        ("百川13B", "Baichuan2 13B"),
        ("ChatGLM3-6B", "ChatGLM3 6B"),
        ("mixtral 8x7b", "Mixtral 8x7B"),
        ("deepseek r1", "DeepSeek-R1 671B"),
        ("deepseek r1 32b", "DeepSeek-R1-Distill-Qwen 32B"),
        ("deepseek蒸馏7B", "DeepSeek-R1-Distill-Qwen 7B"),
        ("lama 13b", "Llama 2 13B"),
        ("gpt3", "GPT-3 175B"),
    ],
)
def test_models_are_found_as_people_write_them(written: str, name: str) -> None:
    assert catalog.find_model(written).row.name == name


@pytest.mark.parametrize("written", ["deepseek", "通义千问", "llama3", "mixtral"])
def test_a_name_of_several_sizes_names_the_candidates(written: str) -> None:
    with pytest.raises(catalog.AmbiguousName) as error:
        catalog.find_model(written)
    sizes = {catalog.find_model(name).row.parameters for name in error.value.candidates}
    assert len(sizes) > 1


def test_deepseek_candidates_name_the_full_model_and_distilled_ones() -> None:
    with pytest.raises(catalog.AmbiguousName) as error:
        catalog.find_model("deepseek")
    assert any("671B" in name for name in error.value.candidates)
    assert any("Distill" in name for name in error.value.candidates)


def test_an_unknown_name_comes_with_the_nearest() -> None:
    with pytest.raises(catalog.UnknownName) as gpu:
        catalog.find_accelerator("H900")
    assert "H100" in gpu.value.nearest
    with pytest.raises(catalog.UnknownName) as size:
        catalog.find_accelerator("A100 60G")
    assert "A100-SXM-80GB" in size.value.nearest
    with pytest.raises(catalog.UnknownName) as model:
        catalog.find_model("llama 900b")
    assert model.value.nearest


@given(st.text(max_size=40))
def test_any_text_is_a_name_or_a_clear_error(text: str) -> None:
    for find in (catalog.find_accelerator, catalog.find_model, catalog.find_provider):
        try:
            find(text)
        except AdvisorError as error:
            assert str(error)


def test_providers_in_both_languages() -> None:
    assert catalog.find_provider("阿里云") == "aliyun"
    assert catalog.find_provider("Google Cloud") == "gcp"
    with pytest.raises(catalog.UnknownName):
        catalog.find_provider("nowhere cloud")


def test_old_and_undated_prices_are_stale() -> None:
    fresh, old = Provenance("a", None, date(2026, 11, 9)), Provenance("b", None, date(2026, 5, 1))
    undated = Provenance("c")
    assert catalog.stale([fresh, old, undated, old], today=TODAY) == (undated, old)
    assert catalog.stale([old], today=TODAY, max_age_days=365) == ()


SHEET = (
    "\ufeff供应商,实例规格,GPU型号,卡数,地域,单卡每小时（元）,整机每小时,币种,报价日期,RDMA\n"
    '阿里云,自有规格1,A100 80G,8,杭州,"14",－,CNY,2026-10-01,是\n'
    '腾讯云,自有规格2,H800,8,上海,,"1,280",人民币,2026/10/02,无\n'
    "火山引擎,自有规格3,A800,8,北京,0,-,CNY,2026-10-03,\n"
    "华为云,自有规格4,V100,8,北京,面议,,CNY,2026-10-03,\n"
    "华为云,自有规格5,V100,0,北京,14,,CNY,2026-10-03,\n"
    "华为云,自有规格6,V100,8,北京,14,,,2026-10-03,\n"
    "华为云,自有规格7,V100,8,北京,14,200,CNY,2026-10-03,\n"
    "华为云,自有规格8,,8,北京,14,,CNY,2026-10-03,\n"
    "华为云,自有规格9,V100,8,北京,14,,CNY,上个月,\n"
)


def by_name(rows: tuple[Instance, ...]) -> dict[str, Instance]:
    return {row.name: row for row in rows}


def test_a_price_sheet_is_read_with_bad_rows_reported(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(SHEET, encoding="utf-8")
    sheet = catalog.read_price_file(path)
    rows = by_name(sheet.instances)
    assert rows["自有规格1"].on_demand == pytest.approx(8 * 14)
    assert rows["自有规格1"].provider == "aliyun"
    assert rows["自有规格1"].rdma is True
    assert rows["自有规格2"].on_demand == pytest.approx(1280)
    assert rows["自有规格2"].price_per_gpu() == pytest.approx(160)
    assert rows["自有规格2"].currency == "CNY"
    assert rows["自有规格3"].on_demand is None
    problems = {problem.line: problem.reason for problem in sheet.problems}
    assert set(problems) == {5, 6, 7, 8, 9, 10}
    assert "gpu_count" in problems[6] and "currency" in problems[7] and "contradict" in problems[8]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
def test_a_price_sheet_in_any_common_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(SHEET.removeprefix("\ufeff"), encoding=encoding)
    assert "自有规格1" in by_name(catalog.read_price_file(path).instances)


def test_a_workbook_is_read_like_a_sheet(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for cells in csv.reader(io.StringIO(SHEET.removeprefix("\ufeff"))):
        sheet.append(cells)
    sheet["J2"] = None
    path = tmp_path / "prices.xlsx"
    book.save(path)
    read = catalog.read_price_file(path)
    assert by_name(read.instances)["自有规格2"].on_demand == pytest.approx(1280)
    assert len(read.problems) == 6


def test_own_prices_override_the_catalog(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "provider,instance,gpu,gpu_count,price_per_gpu_hour,currency,as_of\naws,p5.48xlarge,H100,8,3,USD,2026-11-01\n"
    )
    catalog.use(catalog.load_offers([path]))
    offers = [row for row in catalog.instances() if row.name == "p5.48xlarge"]
    assert [(row.origin, row.on_demand) for row in offers] == [("price file", 24.0)]
    assert any(row.name == "p4d.24xlarge" for row in catalog.instances())


def test_a_file_that_is_no_price_sheet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("name,opinion\nA,good\n")
    with pytest.raises(InvalidInput, match="price_per_gpu_hour"):
        catalog.read_price_file(path)
    with pytest.raises(InvalidInput, match="does not exist"):
        catalog.read_price_file(tmp_path / "none.csv")


@given(st.lists(st.lists(st.text(max_size=12), min_size=7, max_size=7), max_size=5))
def test_any_cells_are_a_row_or_a_problem(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]) -> None:
    path = tmp_path_factory.mktemp("sheets") / "any.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["provider", "instance", "gpu", "gpu_count", "price_per_gpu_hour", "currency", "as_of"])
        writer.writerows(rows)
    sheet = catalog.read_price_file(path)
    assert len(sheet.instances) + len(sheet.problems) <= len(rows)


def test_check_reports_bad_rows_and_old_sources(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(SHEET, encoding="utf-8")
    report = catalog.check([path], today=TODAY)
    assert not report.ok and report.usable == 3 and len(report.problems) == 6
    assert any(source.as_of is not None and source.as_of.year == 2024 for source in report.old)
    assert catalog.check(today=date(2024, 1, 2)).ok


def test_show_finds_rows_of_any_kind() -> None:
    assert {row["region"] for row in catalog.show("p5.48xlarge")} >= {"us-east-1"}
    assert catalog.show("a100 40g")[0]["memory_gb"] == 40
    assert catalog.show("llama 3 8b")[0]["kv_heads"] == 8
    with pytest.raises(InvalidInput):
        catalog.list_rows("shoes")


COLUMNS = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,cpu_arch,"
    "provider_data"
)
LISTING = (
    f"{COLUMNS}\n"
    "p5.48xlarge,us-east-1,50.0,192,2048,8,H100,80,False,,nvidia,,x86,{}\n"
    "p5.48xlarge,us-east-1,20.0,192,2048,8,H100,80,True,,nvidia,,x86,{}\n"
    "new.type,us-east-1,9.0,192,2048,8,A100,40,False,,nvidia,,x86,{}\n"
    "cpu.only,us-east-1,1.0,4,16,0,,,False,,,,x86,{}\n"
)


@pytest.fixture
def price_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as bundle:
        for provider in ("aws", "azure", "verda", "gcp", "lambdalabs", "nebius", "oci", "runpod", "cloudrift"):
            bundle.writestr(f"{provider}.csv", LISTING if provider == "aws" else f"{COLUMNS}\n")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"20261201" if self.path.endswith("/version") else archive.getvalue()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("GPUHUNT_CATALOG_URL", f"http://127.0.0.1:{server.server_port}")
    yield
    server.shutdown()
    thread.join()
    server.server_close()


def test_refresh_writes_a_dated_file_and_says_what_changed(tmp_path: Path, price_server: None) -> None:
    done = catalog.refresh(tmp_path, today=TODAY)
    assert done.path == tmp_path / "prices-2026-12-01.csv"
    assert [path.name for path in tmp_path.iterdir()] == [done.path.name]
    changes = {(change.instance, change.before, change.after) for change in done.changes}
    assert ("p5.48xlarge", 55.04, 50.0) in changes and ("new.type", None, 9.0) in changes
    offers = by_name(catalog.load_offers(folder=tmp_path).instances)
    assert offers["new.type"].price_per_gpu() == pytest.approx(9 / 8)
    used = [row for row in catalog.load_offers(folder=tmp_path).instances if row.name == "p5.48xlarge"]
    east = next(row for row in used if row.region == "us-east-1")
    assert (east.on_demand, east.spot, east.origin) == (50.0, 20.0, "catalog")
    assert catalog.refresh(tmp_path, today=TODAY).changes == ()


def test_refresh_without_network_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUHUNT_CATALOG_URL", "http://127.0.0.1:9")
    with pytest.raises(catalog.RefreshFailed) as error:
        catalog.refresh(tmp_path / "prices")
    assert "\n" not in str(error.value) and "nothing was changed" in str(error.value)
    assert not (tmp_path / "prices").exists()
