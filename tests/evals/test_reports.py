from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from assistant.schema import Answer
from evals.compare import compare_runs
from evals.reports.html import html
from evals.reports.junit import junit
from evals.reports.markdown import markdown
from evals.reports.terminal import comparison_table, failures, run_table
from evals.runner import complete_run, start_run
from evals.runs import Run
from evals.suites import Suite
from evals.summary import summarise

from .conftest import AllSupported, FakeTarget, make_answer, make_case, make_citation

NASTY = "<script>alert('x')</script> | `a` [b](javascript:1) & \x00 ]]>"


def _reply(turns: Sequence[str]) -> Answer | Exception:
    if "fails" in turns[-1]:
        return RuntimeError(NASTY)
    return make_answer(f"{NASTY} [1]", citations=[make_citation(quote=NASTY, title=NASTY)])


@pytest.fixture
def run(tmp_path: Path) -> Run:
    cases = (
        make_case("ok", turns=["x"], expect={"key_points": []}, group="g"),
        make_case("bad", turns=[NASTY], topic="<b>t</b>", group="g"),
        make_case("down", turns=["fails"]),
    )
    suite = Suite("<suite>", tmp_path, cases)
    target = FakeTarget(_reply)
    folder, manifest = start_run(Suite("s", tmp_path, cases), target, tmp_path / "runs")
    done = complete_run(folder, manifest, suite, target, AllSupported())
    return done.model_copy(update={"manifest": done.manifest.model_copy(update={"suite": suite.name})})


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_escapes_everything_and_asks_nothing_of_the_network(run: Run) -> None:
    page = html(run, summarise(run))
    tags = _Tags()
    tags.feed(page)
    names = [name for name, _ in tags.found]
    assert names.count("script") == 1
    assert not {"b", "i", "img", "iframe", "link", "object", "a"} & (set(names) - {"b"})
    assert all("src" not in attributes and "href" not in attributes for _, attributes in tags.found)
    assert not re.search(r"url\(|@import|https?://", page)
    policy = next(a["content"] for n, a in tags.found if n == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert NASTY.replace("\x00", "") in tags.text.replace("\x00", "").replace("\ufffd", "")


def test_html_shows_cases_with_expected_and_cited_spans(run: Run) -> None:
    page = html(run, summarise(run))
    assert page.count('<details class="case') == 3
    assert 'class="case error"' in page
    assert "key point: spot | 抢占" in page
    assert "<blockquote>" in page
    assert page.count("<svg") == 3
    assert "odd ones" in page


def test_junit_is_xml_with_a_test_a_case(run: Run) -> None:
    root = ET.fromstring(junit(run))
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    names = {case.get("name"): [child.tag for child in case] for case in suite}
    assert names == {"ok": [], "bad": ["failure"], "down": ["error"]}


def test_markdown_cells_hold_no_markup(run: Run) -> None:
    text = markdown(run, summarise(run))
    assert "<script>" not in text
    assert "2 failing" in text
    rows = [line for line in text.splitlines() if line.startswith("| bad")]
    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == 4


def test_terminal_tables(run: Run) -> None:
    table = run_table(run, summarise(run))
    assert "errors     1" in table
    assert "pass       33.3% [" in table
    assert "bad  <script>" in failures(run)
    assert "error: RuntimeError" in failures(run)
    compared = comparison_table(compare_runs(run, run))
    assert "same" in compared
    assert "WORSE" not in compared
