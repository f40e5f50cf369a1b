from __future__ import annotations

from dataclasses import replace

import numpy as np

from assistant.answer.composer import BUDGET, MAX_STATEMENTS, compose
from assistant.answer.draft import render
from knowledge.records import Hit, Language, Reference, SearchResult, Sentence


def hit(
    number: int,
    sentences: list[tuple[str, float]],
    *,
    score: float = 3.0,
    language: Language = "en",
    section: str = "Costs",
    sourced: bool = True,
) -> Hit:
    text = " ".join(sentence for sentence, _ in sentences)
    spans, at = [], 100
    for sentence, value in sentences:
        spans.append(Sentence(at, at + len(sentence), sentence, value))
        at += len(sentence) + 1
    references = (Reference("a page", "https://example.org"),) if sourced else ()
    return Hit(
        chunk_id=number,
        document_id=f"d{number}",
        title=f"Title {number}",
        location=f"d{number}.md",
        language=language,
        section=section,
        page=None,
        start=100,
        end=100 + len(text),
        text=text,
        score=score,
        dense_score=0.9,
        lexical_score=0.0,
        sentences=tuple(spans),
        references=references,
    )


def answer(hits: list[Hit], language: Language = "en", question: str = "What about budgets?") -> str:
    return render(compose(question, SearchResult(np.zeros(4, np.float32), tuple(hits), 0.9), language)).text


def test_opens_with_the_best_statement_and_marks_each() -> None:
    text = answer(
        [
            hit(
                1,
                [
                    ("Budgets send alerts at thresholds that you set.", 0.9),
                    ("Where is the bill?", 0.1),
                    ("The moon is far from every data centre.", 0.1),
                ],
            ),
            hit(2, [("Tags show which team caused a cost.", 0.8)], score=2.5),
        ]
    )
    assert text.startswith("Budgets send alerts at thresholds that you set. [1]")
    assert "- Tags show which team caused a cost." in text


def test_short_neighbours_make_one_statement() -> None:
    pair = [("Budgets send alerts at thresholds.", 0.9), ("Nothing is stopped by an alert.", 0.8)]
    assert "Budgets send alerts at thresholds. Nothing is stopped by an alert. [1]" in answer([hit(1, pair)])


def test_items_of_a_list_stay_apart() -> None:
    one = hit(1, [("Budgets send alerts at thresholds.", 0.9), ("Nothing is stopped by an alert.", 0.8)])
    listed = replace(one, text=one.text.replace(". ", ".\n"))
    assert "- Nothing is stopped by an alert. [2]" in answer([listed])


def test_a_sentence_that_leans_on_the_one_before_brings_it_along() -> None:
    text = answer(
        [hit(1, [("Spot capacity can be reclaimed.", 0.1), ("This happens with a notice of two minutes.", 0.9)])]
    )
    assert "Spot capacity can be reclaimed. This happens with a notice of two minutes. [1]" in text


def test_a_limiting_sentence_stays_with_what_it_limits() -> None:
    text = answer(
        [hit(1, [("预留实例比按量便宜。", 0.9), ("但闲置时也照样计费，退订有损失。", 0.1)], language="zh")], "zh"
    )
    assert "但闲置时也照样计费" in text


def test_the_same_statement_is_said_once() -> None:
    same = "Budgets send alerts at thresholds that you set."
    assert answer([hit(1, [(same, 0.9)]), hit(2, [(same, 0.9)])]).count("Budgets send alerts") == 1


def test_questions_and_fragments_are_no_statements() -> None:
    assert answer([hit(1, [("Why are budgets useful to a team?", 0.9), ("Note:", 0.9)])]) == ""


def test_another_language_is_quoted_and_said_so() -> None:
    text = answer([hit(1, [("预算告警只发通知，不会停止实例。", 0.9)], language="zh")])
    assert "in Chinese only" in text
    assert "「预算告警只发通知，不会停止实例。」 [1]" in text


def test_a_sweeping_claim_without_a_source_is_not_passed_on_bare() -> None:
    claim = "The operators can never touch the data."
    assert "check its conditions" in answer([hit(1, [(claim, 0.9)], sourced=False)])
    assert "check its conditions" not in answer([hit(1, [(claim, 0.9)])])


def test_stays_within_its_budget() -> None:
    words = np.random.default_rng(0).permutation([f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrstxz"])
    texts = iter(" ".join(row).capitalize() + " are costs." for row in words[:192].reshape(24, 8))
    many = [hit(n, [(next(texts), 0.9 - m / 100) for m in range(6)], score=3 - n / 10) for n in range(4)]
    statements = compose("Which costs?", SearchResult(np.zeros(4, np.float32), tuple(many), 0.9), "en")
    assert 3 <= len(statements) <= MAX_STATEMENTS
    assert sum(len(statement.text) for statement in statements) <= BUDGET["en"]
    assert len({statement.spans[0].hit.document_id for statement in statements}) > 1


def test_a_row_of_a_table_is_said_with_its_columns() -> None:
    header = "| Instance | GPUs | On demand (USD/hour) |\n|---|---|---|\n"
    rows = ["bx-8 | 8 × A100 80GB | 17.60", "hx-8 | 8 × H100 80GB | 31.20"]
    text = header + "".join(f"| {row} |\n" for row in rows)
    spans = [Sentence(100 + text.index(row), 100 + text.index(row) + len(row), row, 0.5) for row in rows]
    table = replace(hit(1, [("x", 0.5)]), text=text, end=100 + len(text), sentences=tuple(spans))
    said = answer([table], question="what does the hx-8 cost on demand?")
    assert said.startswith("hx-8: GPUs 8 × H100 80GB; On demand (USD/hour) 31.20. [1]")


def test_documents_that_disagree_are_shown_to_disagree() -> None:
    old = hit(1, [("The notice before a reclaim is 30 seconds on every machine of the pool.", 0.9)])
    new = hit(2, [("The notice before a reclaim is 120 seconds on every machine of the pool.", 0.8)], score=2.8)
    text = answer([old, replace(new, date="2026-05-01")], question="how long is the notice?")
    assert "30 seconds" in text
    assert "But “Title 2 (2026-05-01)” says otherwise: The notice before a reclaim is 120 seconds" in text
