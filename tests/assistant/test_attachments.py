"""Files of one conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.attachments import Attachments
from knowledge.encoders import load_encoder
from knowledge.errors import InvalidInput

QUESTION = "What does Northwind charge for support?"


@pytest.fixture(scope="module")
def quote(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("files") / "quote.md"
    file.write_text("# Quote\n\nNorthwind charges 417 dollars a month for premium support.\n")
    return file


def test_a_file_is_found_in_its_conversation_alone(tmp_path: Path, quote: Path) -> None:
    attachments = Attachments(tmp_path, load_encoder())
    report = attachments.add("one", "me", [quote])
    assert [file.status for file in report] == ["added"]
    found = attachments.search("one", QUESTION, 3)
    assert found is not None and "417" in found.hits[0].text
    assert attachments.search("two", QUESTION, 3) is None and attachments.store("two") is None
    again = Attachments(tmp_path, load_encoder())
    assert again.exists("one", "me") and again.search("one", QUESTION, 3) is not None
    again.delete("one")
    assert not again.exists("one") and again.search("one", QUESTION, 3) is None


def test_nobody_adds_to_the_conversation_of_another(tmp_path: Path, quote: Path) -> None:
    attachments = Attachments(tmp_path, load_encoder())
    attachments.add("one", "me", [quote])
    assert not attachments.exists("one", "you")
    with pytest.raises(InvalidInput):
        attachments.add("one", "you", [quote])


@pytest.mark.parametrize("identity", ["../other", "a/b", "", "x" * 65])
def test_an_id_never_leads_out_of_the_folder(tmp_path: Path, identity: str) -> None:
    assert not Attachments(tmp_path, load_encoder()).exists(identity)
    Attachments(tmp_path / "inner", load_encoder()).delete(identity)
    assert tmp_path.exists()
