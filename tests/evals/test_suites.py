from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.errors import SuiteError
from evals.suites import SHIPPED, export_csv, import_csv, load_suite, shipped_suites, write_suite

from .conftest import make_case

GOOD = {"id": "a", "language": "zh", "topic": "t", "turns": ["问"], "expect": {"status": "answered"}}


def _write(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in rows), "utf-8")
    return path


@pytest.mark.parametrize("path", shipped_suites(), ids=lambda path: path.stem)
def test_shipped_suites_are_valid_and_their_documents_exist(path: Path) -> None:
    suite = load_suite(path.stem)
    for case in suite.cases:
        for document in case.documents or ():
            assert (suite.folder / document).exists(), case.id


def test_the_seed_suite_asks_forty_covered_and_twenty_uncovered() -> None:
    cases = load_suite("seeds").cases
    covered = [case.language for case in cases if case.expect.status == ["answered"]]
    uncovered = [case.language for case in cases if case.expect.status == ["not_covered"]]
    assert (covered.count("zh"), covered.count("en")) == (20, 20)
    assert (uncovered.count("zh"), uncovered.count("en")) == (10, 10)


def test_paraphrases_come_six_to_a_question_in_both_languages() -> None:
    groups: dict[str, list[str]] = {}
    for case in load_suite("paraphrase").cases:
        groups.setdefault(case.group or "", []).append(case.language)
    assert len(groups) == 20
    assert all(sorted(languages) == ["en"] * 3 + ["zh"] * 3 for languages in groups.values())


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{not json", "line 2: not JSON"),
        ({**GOOD, "id": "a"}, "line 2: id 'a' is already used in line 1"),
        ({k: v for k, v in GOOD.items() if k != "topic"}, "line 2: topic is missing"),
        ({**GOOD, "id": "b", "language": "fr"}, "line 2: language = 'fr': input should be 'zh', 'en' or 'mixed'"),
        ({**GOOD, "id": "b", "turns": []}, "line 2: turns"),
        ({**GOOD, "id": "b", "expect": {"status": "perhaps"}}, "line 2: expect.status.0 = 'perhaps'"),
        (
            {**GOOD, "id": "b", "expect": {"status": "answered", "key_points": [["re:("]]}},
            "line 2: expect.key_points.0.0 = 're:(': is not a regular expression",
        ),
        (
            {**GOOD, "id": "b", "expect": {"status": "answered", "numbers": [{"value": 1, "unit": "parsec"}]}},
            "line 2: expect.numbers.0.unit = 'parsec': is not a known unit",
        ),
        ({**GOOD, "id": "b", "expect": {"status": "answered", "key_points": [[]]}}, "line 2: expect.key_points.0"),
    ],
)
def test_faults_are_named_with_line_and_reason(tmp_path: Path, row: object, reason: str) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(str(_write(tmp_path / "s.jsonl", GOOD, row)))
    assert reason in str(caught.value)


def test_many_faults_are_cut_short(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="and 15 more"):
        load_suite(str(_write(tmp_path / "s.jsonl", *["x"] * 25)))


def test_missing_empty_and_unreadable_suites(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"no suite 'nowhere'.*seeds"):
        load_suite("nowhere")
    with pytest.raises(SuiteError, match="holds no case"):
        load_suite(str(_write(tmp_path / "e.jsonl", "", "  ")))
    (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SuiteError, match="UTF-8"):
        load_suite(str(tmp_path / "b.jsonl"))


def test_unknown_fields_and_line_separators_are_kept(tmp_path: Path) -> None:
    row = {**GOOD, "turns": ["一\u2028二"], "expert": "x", "expect": {"status": "answered", "note": 1}}
    suite = load_suite(str(_write(tmp_path / "s.jsonl", row)))
    write_suite(suite.cases, tmp_path / "t.jsonl")
    again = load_suite(str(tmp_path / "t.jsonl"))
    assert again.cases == suite.cases
    assert again.hash == suite.hash
    assert again.cases[0].model_extra == {"expert": "x"}


def test_the_hash_changes_with_what_is_asked(tmp_path: Path) -> None:
    one = load_suite(str(_write(tmp_path / "s.jsonl", GOOD)))
    other = load_suite(str(_write(tmp_path / "s.jsonl", {**GOOD, "turns": ["别的"]})))
    assert one.hash != other.hash


def test_filters() -> None:
    suite = load_suite("seeds")
    assert {c.topic for c in suite.select(topics=["not_*"]).cases} == {"not_covered_near", "not_covered_far"}
    assert {c.language for c in suite.select(languages=["en"]).cases} == {"en"}
    assert [c.id for c in suite.select(ids=["s00[12]"]).cases] == ["s001", "s002"]
    with pytest.raises(SuiteError, match="No case of seeds fits"):
        suite.select(topics=["cooking"])


def test_an_old_faq_becomes_a_suite(tmp_path: Path) -> None:
    table = tmp_path / "faq.csv"
    text = (
        "编号,问题,答案,要点,分类\n"
        "q1,夜里找谁,拨 8806，15 分钟回电,8806|八八零六;15 分钟,值班\n"
        ",能存多久,保留 30 天,,\n"
        ",怎么选,先看带宽，再看价格是否合适,,\n"
    )
    table.write_bytes(text.encode("gb18030"))
    first, second, third = import_csv(table)
    assert first.id == "q1"
    assert first.topic == "值班"
    assert first.expect.key_points == [["8806", "八八零六"], ["15 分钟"]]
    assert (second.id, second.language, second.expect.key_points) == ("faq-002", "zh", [["30 天"]])
    assert third.expect.key_points == [["再看价格是否合适"]]
    assert first.model_extra == {"reference_answer": "拨 8806，15 分钟回电"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("frage,antwort\nx,y\n", "needs the columns question"),
        ("question,answer\n,y\n", "line 2: the question is empty"),
        ("question,answer\nx,\n", "line 2: neither key points nor an answer"),
        ("id,question,answer\na,x,y\na,z,y\n", "line 3: id 'a' is used twice"),
        ("question,answer,language\nx,y,fr\n", "line 2: language = 'fr'"),
        ("question,answer\n", "holds no row"),
    ],
)
def test_a_bad_faq_is_refused_with_its_line(tmp_path: Path, text: str, reason: str) -> None:
    table = tmp_path / "faq.csv"
    table.write_text(text, "utf-8")
    with pytest.raises(SuiteError, match=reason.replace("(", r"\(")):
        import_csv(table)


_PLAIN = st.text(st.characters(categories=["L", "N"], exclude_characters=";；|"), min_size=1, max_size=12)


@given(question=_PLAIN, points=st.lists(st.lists(_PLAIN, min_size=1, max_size=3), min_size=1, max_size=3))
def test_csv_round_trip(tmp_path_factory: pytest.TempPathFactory, question: str, points: list[list[str]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "s.csv"
    case = make_case("x1", turns=[question], expect={"key_points": points, "sources": []})
    export_csv([case], path)
    (again,) = import_csv(path)
    assert (again.id, again.turns, again.expect.key_points) == (case.id, case.turns, case.expect.key_points)
    assert SHIPPED.is_dir()
