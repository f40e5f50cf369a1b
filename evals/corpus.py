"""Checks of the shipped guidance, and what is made from it: `python -m evals.corpus check|coverage|examples`."""

from __future__ import annotations

import csv
import hashlib
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "knowledge" / "corpus"
SEED_RUNS = Path(__file__).with_name("data") / "seed_runs.txt"
"""First 8 hex digits of the SHA-1 of every 20-character run of the two articles that the guidance started from."""
RUN_CHARACTERS = 20
FIELDS = ("subject", "title", "topic", "language", "summary", "references", "reviewed")
MIN_QUESTIONS = 6
LIMITS = {"zh": (800, 2_500), "en": (500, 1_500)}
"""Characters of Chinese, words of English."""
SLACK = 0.06

_FRONT = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.S)
_REFERENCE = re.compile(r"\[ref: ([^\]]+)\]")
_FIGURE = re.compile(
    r"(?<![A-Za-z0-9.\-])\d[\d,.]*\s?(?:%|GB|TB|GiB|Gb/s|Gbps|TFLOPS|W\b|美元|元|USD|days|hours|秒|分钟|seconds)"
)
_LINK = re.compile(r"\]\((?!https?:)([^)]+)\)")


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the guidance."""

    path: Path
    front: dict[str, Any]
    sections: dict[str, str]
    """Heading -> text."""
    questions: dict[str, list[str]]

    @property
    def language(self) -> str:
        """zh or en, by its folder."""
        return self.path.parent.name


def read(path: Path) -> Document:
    """Read a document and the question forms beside it.

    Raises:
        ValueError: there is no front matter.
    """
    match = _FRONT.match(path.read_text("utf-8"))
    if match is None:
        raise ValueError(f"{path.name} has no front matter")
    forms = path.with_name(path.stem + ".questions.txt")
    asked = _by_heading(forms.read_text("utf-8")) if forms.exists() else {}
    questions = {heading: [q for q in text.splitlines() if q.strip()] for heading, text in asked.items()}
    return Document(path, yaml.safe_load(match[1]), _by_heading(match[2]), questions)


def documents() -> list[Document]:
    """All of them, by language and subject."""
    return [read(path) for path in sorted(CORPUS.glob("*/*.md"))]


def _by_heading(text: str) -> dict[str, str]:
    parts = re.split(r"^## +(.+)$", text, flags=re.M)[1:]
    return {heading.strip(): body.strip() for heading, body in zip(parts[::2], parts[1::2], strict=True)}


def check() -> list[str]:
    """Everything that is wrong with the guidance, one line each."""
    found = documents()
    problems = [f"{d.path.parent.name}/{d.path.name}: {problem}" for d in found for problem in _problems(d)]
    for subject, count in Counter(d.front.get("subject") for d in found).items():
        if count != 2:
            problems.append(f"{subject}: {count} document(s), a twin in each language is wanted")
    paragraphs = Counter(p for d in found for text in d.sections.values() for p in text.split("\n") if len(p) > 40)
    return problems + [f"said twice: {p[:60]}…" for p, count in paragraphs.items() if count > 1]


def _problems(document: Document) -> Iterator[str]:
    front = document.front
    yield from (f"front matter lacks {name}" for name in FIELDS if not front.get(name))
    if front.get("subject") != document.path.stem or front.get("language") != document.language:
        yield "subject or language is not that of its file"
    known = {reference.get("name") for reference in front.get("references") or []}
    for reference in front.get("references") or []:
        if not _is_public(str(reference.get("url", ""))):
            yield f"{reference.get('name')}: {reference.get('url')} is no public URL"
        if not reference.get("date"):
            yield f"{reference.get('name')} has no date"
    text = "\n".join(document.sections.values())
    yield from (f"[ref: {name}] is not among its references" for name in set(_REFERENCE.findall(text)) - known)
    for heading, body in document.sections.items():
        if _FIGURE.search(_REFERENCE.sub("", body)) and not _REFERENCE.search(body):
            yield f"'{heading}' has figures without a reference"
        if len(document.questions.get(heading, [])) < MIN_QUESTIONS:
            yield f"'{heading}' has fewer than {MIN_QUESTIONS} question forms"
    yield from (
        f"question forms for '{name}', which is no heading"
        for name in document.questions.keys() - document.sections.keys()
    )
    for target in _LINK.findall(text):
        if not (document.path.parent / target.partition("#")[0]).exists():
            yield f"dead link {target}"
    low, high = LIMITS[document.language]
    size = _size(text, document.language)
    if not low * (1 - SLACK) <= size <= high * (1 + SLACK):
        yield f"{size} {'characters' if document.language == 'zh' else 'words'}, wanted {low} to {high}"
    yield from (f"shares '{run}' with a seed article" for run in shared_runs(text))


def _is_public(url: str) -> bool:
    parts = urlsplit(url)
    return (
        parts.scheme in ("http", "https")
        and "." in (parts.hostname or "")
        and not (parts.hostname or "").endswith(".local")
    )


def _size(text: str, language: str) -> int:
    plain = _REFERENCE.sub("", text)
    return len(re.sub(r"\s", "", plain)) if language == "zh" else len(plain.split())


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def run_hashes(text: str) -> dict[str, str]:
    """Hash -> run, for every run of 20 letters, digits and characters."""
    folded = _folded(text)
    runs = (folded[i : i + RUN_CHARACTERS] for i in range(len(folded) - RUN_CHARACTERS + 1))
    return {hashlib.sha1(run.encode(), usedforsecurity=False).hexdigest()[:8]: run for run in runs}


def shared_runs(text: str) -> list[str]:
    """Runs that stand in a seed article too; runs of one place are reported once."""
    seeds = set(SEED_RUNS.read_text("ascii").split())
    return [run for hashed, run in run_hashes(text).items() if hashed in seeds][:1]


def coverage() -> str:
    """A table of the seed articles' points with the heading that covers each, as Markdown."""
    with (CORPUS / "coverage.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    headings = {(d.front["subject"], d.language): set(d.sections) for d in documents()}
    lines = [
        "# What of the two seed articles is covered, and where",
        "",
        "Made by `make coverage`. Claims that are wrong or too broad are marked, with what is right.",
        "",
        "| article | point | claim | document | heading | correction |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        both = [
            row["heading_zh"] in headings[row["document"], "zh"],
            row["heading_en"] in headings[row["document"], "en"],
        ]
        heading = f"{row['heading_zh']} / {row['heading_en']}" if all(both) else "**open**"
        cells = [row["article"], row["point"], row["claim_status"], row["document"], heading, row["correction"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    claims = Counter(row["claim_status"] for row in rows)
    lines += ["", f"{len(rows)} points: " + ", ".join(f"{count} {name}" for name, count in claims.items()) + "."]
    return "\n".join(lines) + "\n"


EXAMPLE_QUESTIONS = (
    "一年就跑几次训练，自己买卡还是上云？",
    "月底账单总超，怎么早点知道？",
    "64 张 H100 训 7B、2T token 要多久、多少钱？",
    "抢占式实例训练要注意什么？",
    "多机训练一定要 RDMA 吗？",
    "云厂商的运维能看到我的训练数据吗？",
    "等保三级的云，我们自己还要测评吗？",
    "13B LoRA 在 24G 的卡上为什么会炸显存，怎么办？",
    "1PB 数据 10G 专线利用率七成要传几天？",
    "What should I look at when choosing a platform for training?",
    "How do I keep training nodes off the public internet?",
    "Spot at 65% off, interrupted every 5 hours: is it worth it?",
    "Why is the NAT gateway charge on my bill so high, and how do I avoid it?",
    "Which metrics should I watch during a long run?",
    "How large is a full checkpoint of a 13B model, and how often should I save?",
)


def examples() -> str:
    """Fifteen whole answers over the shipped guidance, as Markdown."""
    from assistant.advisor import Advisor
    from assistant.settings import load_settings

    advisor = Advisor(load_settings())
    lines = ["# Fifteen whole answers", "", "Made by `make examples` from the shipped guidance, no chat model.", ""]
    for question in EXAMPLE_QUESTIONS:
        answer = advisor.ask(question)
        lines += [f"## {question}", "", answer.text, ""]
        lines += [f"[{c.n}] {c.title} › {c.section}  " for c in answer.citations]
        lines.append("")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run one of check, coverage, examples."""
    match arguments:
        case ["check"]:
            problems = check()
            print("\n".join(problems) or f"{len(documents())} documents, nothing wrong")
            return 1 if problems else 0
        case ["coverage"]:
            (ROOT / "docs" / "coverage.md").write_text(coverage(), encoding="utf-8")
        case ["examples"]:
            (ROOT / "docs" / "examples.md").write_text(examples(), encoding="utf-8")
        case _:
            print("usage: python -m evals.corpus check|coverage|examples", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
