"""Fits the coverage model from labelled questions: `python -m knowledge.calibration evals/data/coverage_dev.jsonl`.

Each question is asked of several stores: the shipped guidance whole, in the other language only, and random halves of
its subjects, so that a question whose subject was left out is one that near passages do not answer; then of stores of
few passages, documents of a set of their own one by one and together. With `--articles` the questions marked so are
asked of those documents. Needs scikit-learn, which sentence-transformers brings.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from knowledge.background import Background
from knowledge.coverage import ENCODER_BOUND, FEW, MODEL, Features, Floats, Logistic, Subject, features
from knowledge.encoders import Encoder, load_encoder
from knowledge.ingest import ingest
from knowledge.records import Language
from knowledge.rows import DocumentRow, VectorKind
from knowledge.search import Searcher, question_language
from knowledge.segment import LANGUAGES
from knowledge.shipped import shipped_paths
from knowledge.store import Store

HALVES = 6
"""Random halves of the shipped subjects."""
FEW_UNANSWERED = 40
"""Questions that a store of few passages doesn't answer, at least."""
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Question:
    """A labelled question."""

    text: str
    language: Language
    kind: str
    """articles, shipped and few: answered by these; near and far: answered by nothing."""
    subject: str | None
    """Stem of the document that answers it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A question as one store saw it."""

    question: Question
    store: str
    covered: bool
    few: bool
    """Whether the store holds few passages."""
    features: Features


def read_questions(path: Path) -> list[Question]:
    """Labelled questions, one JSON object a line."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [Question(row["question"], row["language"], row["kind"], row.get("subject")) for row in rows]


def read_few(folder: Path) -> list[Question]:
    """The questions on the documents of a folder, whose `questions.jsonl` names the subject of each."""
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    return [Question(row["question"], row["language"], "few", row["subject"]) for row in rows]


def few_stores(folder: Path, encoder: Encoder, documents: Path, questions: Sequence[Question]) -> list[Asked]:
    """Stores of one document, and of all in a language, with questions on them, on the others and on nothing there."""
    mine = [question for question in questions if question.kind == "few"]
    others = [question for question in questions if question.kind in ("near", "far")]
    asked: list[Asked] = []
    for language in LANGUAGES:
        paths = sorted((documents / language).glob("*.md"))
        for group in [[path] for path in paths] + [paths]:
            name = f"few-{language}-{group[0].stem if len(group) == 1 else 'all'}"
            store = Store.open(folder / name)
            ingest(store, encoder, group)
            subjects = {path.stem for path in group}
            answered = [question for question in mine if question.subject in subjects]
            unanswered = [question for question in mine if question.subject not in subjects] + others
            chosen = random.Random(name).sample(unanswered, min(len(unanswered), max(FEW_UNANSWERED, len(answered))))
            asked.append((name, store, [(q, True) for q in answered] + [(q, False) for q in chosen]))
    return asked


def collect(
    name: str, store: Store, encoder: Encoder, subject: Subject, questions: Iterable[tuple[Question, bool]]
) -> list[Sample]:
    """Ask questions, with whether the store answers them, and keep the evidence."""
    searcher = Searcher(store, encoder)
    samples: list[Sample] = []
    for question, covered in questions:
        found, similar = searcher.evidence(question.text)
        language = question_language(question.text)
        if found is not None:
            samples.append(
                Sample(question, name, covered, found.passages < FEW, features(found, similar, language, subject))
            )
    return samples


def fit_subject(store: Store) -> Subject:
    """The direction from background questions to the store's question forms (Fisher's discriminant, shrunk)."""
    with store.reading() as connection:
        background = Background.read(connection)
        rows = connection.execute(
            """SELECT d.language, v.kind, c.questions, v."values" FROM vectors v JOIN chunks c ON c.id = v.chunk
               JOIN documents d ON d.number = c.document"""
        ).fetchall()
    forms: dict[str, np.ndarray] = {}
    paragraphs: list[np.ndarray] = []
    for _, kind, questions, values in rows:
        vectors = np.frombuffer(values, "<f2").astype(np.float32)
        if kind == VectorKind.QUESTION:
            texts = json.loads(questions)
            forms.update(zip(texts, vectors.reshape(len(texts), -1), strict=True))
        elif kind == VectorKind.PARAGRAPH:
            paragraphs.append(vectors)
    own = {
        language: np.stack([vector for text, vector in forms.items() if question_language(text) == language])
        for language in LANGUAGES
    }
    others = background.questions
    within = np.concatenate(
        [group[language] - group[language].mean(axis=0) for group in (own, others) for language in LANGUAGES]
    )
    covariance = np.cov(within.T)
    covariance += np.eye(len(covariance)) * np.trace(covariance) / len(covariance)
    between = np.mean([own[language].mean(axis=0) - others[language].mean(axis=0) for language in LANGUAGES], axis=0)
    solved = np.linalg.solve(covariance, between)
    direction: Floats = np.asarray(solved / np.linalg.norm(solved), dtype=np.float32)

    def middle(first: np.ndarray, second: np.ndarray) -> float:
        return float(((first @ direction).mean() + (second @ direction).mean()) / 2)

    other_passages = np.concatenate([background.passages[language] for language in LANGUAGES])
    return Subject(
        direction,
        {language: middle(own[language], others[language]) for language in LANGUAGES},
        middle(np.stack(paragraphs), other_passages),
        {language: float((others[language] @ direction).mean()) for language in LANGUAGES},
    )


def fit(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, Any]:
    """Logistic regression on standardised features; every store counts the same, and so do answered and not."""
    from sklearn.linear_model import LogisticRegression

    values = np.array([[getattr(sample.features, name) for name in names] for sample in samples], np.float64)
    means, spreads = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)
    weights = _weights(samples)
    model = LogisticRegression(C=0.3, max_iter=2000)
    model.fit((values - means) / spreads, [sample.covered for sample in samples], sample_weight=weights)
    return {
        "intercept": round(float(model.intercept_[0]), 5),
        "weights": _rounded(names, model.coef_[0]),
        "means": _rounded(names, means),
        "spreads": _rounded(names, spreads),
    }


def _rounded(names: Sequence[str], values: Iterable[float]) -> dict[str, float]:
    return {name: round(float(value), 5) for name, value in zip(names, values, strict=True)}


def cross_validated(samples: Sequence[Sample], names: Sequence[str]) -> list[float]:
    """Each sample's probability from a model that saw none of its question."""
    texts = sorted({sample.question.text for sample in samples})
    random.Random(0).shuffle(texts)
    fold = {text: i % FOLDS for i, text in enumerate(texts)}
    probabilities = [0.0] * len(samples)
    for held_out in range(FOLDS):
        model = Logistic(**fit([sample for sample in samples if fold[sample.question.text] != held_out], names))
        for i, sample in enumerate(samples):
            if fold[sample.question.text] == held_out:
                probabilities[i] = model.probability(sample.features)
    return probabilities


def report(samples: Sequence[Sample], probabilities: Sequence[float]) -> str:
    """Area under the curve by store, language and kind of unanswered question, then how probabilities hold."""
    from sklearn.metrics import roc_auc_score

    lines: list[str] = []
    for store in dict.fromkeys(_group(sample) for sample in samples):
        for language in LANGUAGES:
            cells: list[str] = []
            for kind in ("near", "far", "shipped", "few"):
                rows = [
                    (sample.covered, probability)
                    for sample, probability in zip(samples, probabilities, strict=True)
                    if _group(sample) == store
                    and sample.question.language == language
                    and (sample.covered or sample.question.kind == kind)
                ]
                if len({covered for covered, _ in rows}) == 2:
                    area = roc_auc_score([covered for covered, _ in rows], [probability for _, probability in rows])
                    cells.append(f"{kind} {area:.3f}")
            lines.append(f"{store:10} {language}  AUC against {', '.join(cells)}")
    for low in np.arange(0, 1, 0.1):
        inside = [
            sample.covered
            for sample, probability in zip(samples, probabilities, strict=True)
            if low <= probability < low + 0.1 + (low > 0.89)
        ]
        if inside:
            lines.append(f"probability {low:.1f}-{low + 0.1:.1f}: {np.mean(inside):.2f} answered of {len(inside)}")
    return "\n".join(lines)


Asked = tuple[str, Store, list[tuple[Question, bool]]]
"""A store's name, the store, and questions with whether it answers them."""


def stores(
    folder: Path, encoder: Encoder, questions: Sequence[Question], articles: Path | None
) -> tuple[Store, list[Asked]]:
    """The store of the shipped guidance, and each store that questions are asked of, with what it answers."""
    whole = Store.open(folder / "shipped")
    ingest(whole, encoder, shipped_paths())
    questions = [question for question in questions if question.kind != "few"]
    shipped = [question for question in questions if question.kind != "articles"]
    asked: list[Asked] = [("shipped", whole, [(question, question.kind == "shipped") for question in shipped])]
    subjects = sorted({_subject(row) for row in whole.documents()})
    for language in LANGUAGES:
        part = _part(whole, folder / f"only-{language}", partial(_in_language, language))
        foreign = [question for question in shipped if question.language != language]
        asked.append((f"only-{language}", part, [(question, question.kind == "shipped") for question in foreign]))
    for number in range(HALVES):
        half = set(random.Random(number).sample(subjects, len(subjects) // 2))
        part = _part(whole, folder / f"half-{number}", partial(_on_subject, half))
        asked.append((f"half-{number}", part, [(question, question.subject in half) for question in shipped]))
    if articles is not None:
        part = Store.open(folder / "articles")
        ingest(part, encoder, [articles])
        asked.append(("articles", part, [(question, question.kind == "articles") for question in questions]))
    return whole, asked


def _in_language(language: Language, row: DocumentRow) -> bool:
    return row.language == language


def _on_subject(subjects: set[str], row: DocumentRow) -> bool:
    return _subject(row) in subjects


def _subject(row: DocumentRow) -> str:
    return Path(row.location).stem


def _part(whole: Store, folder: Path, keep: Callable[[DocumentRow], bool]) -> Store:
    """A copy of a store with some of its documents."""
    if not folder.is_dir():
        with whole.writing():
            shutil.copytree(whole.folder, folder)
    part = Store.open(folder)
    for row in part.documents():
        if not keep(row):
            part.remove(row.document_id)
    return part


def _group(sample: Sample) -> str:
    return sample.store.partition("-")[0]


def _weights(samples: Sequence[Sample]) -> list[float]:
    """Every store has the same weight, half of it on answered questions.

    Where a subject was left out another may answer all the same, so such questions count less.
    """
    raw = [0.1 if sample.question.kind == "shipped" and not sample.covered else 1.0 for sample in samples]
    groups = [(_group(sample), sample.covered) for sample in samples]
    totals = {group: sum(w for w, g in zip(raw, groups, strict=True) if g == group) for group in set(groups)}
    return [weight / totals[group] * len(samples) / len(totals) for weight, group in zip(raw, groups, strict=True)]


def main() -> None:
    """Fit, print how it holds on questions that were held out, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--articles", type=Path, help="folder of the documents that questions of this kind are on")
    parser.add_argument(
        "--few", type=Path, required=True, help="folder of further documents, by language, and questions"
    )
    parser.add_argument("--work", type=Path, help="folder to keep the stores in, so that they are built once")
    parser.add_argument("--out", type=Path, default=MODEL)
    options = parser.parse_args()
    questions = read_questions(options.questions) + read_few(options.few)
    encoder = load_encoder()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.work or Path(temporary)
        whole, asked = stores(folder, encoder, questions, options.articles)
        asked += few_stores(folder, encoder, options.few, questions)
        subject = fit_subject(whole)
        samples = [sample for name, store, rows in asked for sample in collect(name, store, encoder, subject, rows)]
    names = [field.name for field in fields(Features)]
    general = [name for name in names if name not in ENCODER_BOUND]
    fitted: dict[str, dict[str, Any]] = {"on_subject": {}, "general": {}}
    for size, few in (("many", False), ("few", True)):
        for kind, columns in (("on_subject", names), ("general", general)):
            rows = [s for s in samples if s.few == few and (kind == "general" or s.features.subject is not None)]
            print(f"{kind}, {size} passages\n" + report(rows, cross_validated(rows, columns)))
            fitted[kind][size] = fit(rows, columns)
    model = {
        "description": "Fitted by knowledge/calibration.py; features are described in knowledge/coverage.py.",
        "encoder": encoder.identity,
        "samples": len(samples),
        **fitted,
        "subject": {
            "question_middle": {name: round(value, 5) for name, value in subject.question_middle.items()},
            "passage_middle": round(subject.passage_middle, 5),
            "background": {name: round(value, 5) for name, value in subject.background.items()},
            "direction": [round(float(value), 4) for value in subject.direction],
        },
    }
    options.out.write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
