"""The glossary: what is found in a question, what it adds to lexical search, and files that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.encoders import load_encoder
from knowledge.errors import InvalidInput
from knowledge.glossary import Glossary, load_glossary
from knowledge.ingest import ingest
from knowledge.search import Searcher
from knowledge.store import Store

HEADER = "concept,language,form,kind\n"


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("训练到一半炸显存了", "out-of-memory"),
        ("訓練到一半炸顯存了", "out-of-memory"),
        ("Out-Of-Memory after an hour", "out-of-memory"),
        ("cuda oom on step 3", "out-of-memory"),
        ("混合精度要不要开", "mixed-precision"),
    ],
)
def test_other_words_for_one_thing_are_one_concept(text: str, concept: str) -> None:
    assert concept in load_glossary().concepts_in(text)


def test_words_inside_words_are_not_found() -> None:
    assert "out-of-memory" not in load_glossary().concepts_in("a zoom lens and a room")


def test_expansions_are_what_the_question_does_not_say() -> None:
    (forms,) = load_glossary().expansions("炸显存")
    assert ("oom",) in forms
    assert all(not {"炸显", "显存"}.issuperset(form) for form in forms)


@given(st.text(max_size=80))
def test_any_text_can_be_looked_through(text: str) -> None:
    glossary = load_glossary()
    assert set(glossary.concepts_in(text)) <= set(glossary.forms)


def test_every_shipped_form_is_found_in_itself() -> None:
    glossary = load_glossary()
    missed = [
        form for concept, forms in glossary.forms.items() for form in forms if glossary.concepts_in(form) != [concept]
    ]
    assert missed == []


def test_own_forms_come_first(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(HEADER + "badger,en,Badger Cluster,term\nbadger,zh,獾集群,term\n", encoding="utf-8")
    glossary = load_glossary(own)
    assert glossary.expansions("獾集群怎么申请") == [(("badger", "cluster"),)]
    assert "out-of-memory" in glossary.forms


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,en,box,slang\nb,en,Box,slang\n", "own.csv, line 3: “Box” stands for a and for b"),
        ("a,en,,slang\n", "own.csv, line 2"),
        ("a,en,box,noun\n", "kind one of term, abbreviation, slang, variant"),
    ],
)
def test_a_faulty_file_is_refused_by_line(tmp_path: Path, content: str, message: str) -> None:
    own = tmp_path / "own.csv"
    own.write_text(HEADER + content, encoding="utf-8")
    with pytest.raises(InvalidInput, match=message.replace("(", r"\(")):
        load_glossary(own)


def test_a_file_without_its_columns_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text("form;concept\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="must name the columns concept, form, kind, language"):
        load_glossary(own)


def test_slang_finds_the_passage_that_says_it_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# Notes\n\n## Batches\n\nOut of memory ends a run: take a smaller batch.\n\n## Disks\n\nA full disk ends a run too.\n",
        encoding="utf-8",
    )
    store, encoder = Store.open(tmp_path / "store"), load_encoder()
    ingest(store, encoder, [tmp_path / "a.md"])
    with_words = Searcher(store, encoder).candidates("炸显存")
    without = Searcher(store, encoder, Glossary({}, {})).candidates("炸显存")
    assert without.evidence.lexical.max() == 0
    assert with_words.evidence.lexical[0] > 0
