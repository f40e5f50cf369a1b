from __future__ import annotations

from pathlib import Path

import pytest

from evals import corpus


def test_the_shipped_guidance_has_no_fault() -> None:
    assert corpus.check() == []


def test_every_point_of_the_articles_is_covered() -> None:
    assert "**open**" not in corpus.coverage()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.replace("reviewed:", "seen:"), "lacks reviewed"),
        (lambda text: text.replace("https://", "file://", 1), "is no public URL"),
        (lambda text: text + "\n- A link [there](nowhere.md) says more.\n", "dead link nowhere.md"),
        (lambda text: text + "\n## What does it cost?\n\nAn hour takes 35 USD.\n", "has figures without a reference"),
        (lambda text: text + "\n## What else?\n\nNothing [ref: Unknown].\n", "[ref: Unknown] is not among"),
        (lambda text: text[: text.index("\n## ") + 1], "words, wanted"),
    ],
)
def test_a_planted_fault_is_found(tmp_path: Path, change: object, fault: str) -> None:
    original = corpus.CORPUS / "en" / "why-cloud.md"
    folder = tmp_path / "en"
    folder.mkdir()
    path = folder / original.name
    path.write_text(change(original.read_text("utf-8")), "utf-8")  # type: ignore[operator]
    (folder / "why-cloud.questions.txt").write_text(
        original.with_name("why-cloud.questions.txt").read_text("utf-8"), "utf-8"
    )
    assert any(fault in problem for problem in corpus._problems(corpus.read(path)))


def test_a_run_of_a_seed_article_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hashes = tmp_path / "runs.txt"
    hashes.write_text("\n".join(corpus.run_hashes("The quick brown fox jumps over the lazy dog.")), "ascii")
    monkeypatch.setattr(corpus, "SEED_RUNS", hashes)
    assert corpus.shared_runs("He saw that the quick  BROWN fox jumps over a fence.")
    assert corpus.shared_runs("The slow brown fox walks around the lazy dog.") == []
