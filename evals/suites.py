"""Suites on disk: JSONL with line and reason of every fault, CSV of an old FAQ, filters and hashes."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import ValidationError

from evals.errors import SuiteError
from evals.schema import Case

SHIPPED = Path(__file__).parent / "suites"


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases in file order."""

    name: str
    folder: Path
    """What the cases' `documents` are relative to."""
    cases: tuple[Case, ...]

    @property
    def hash(self) -> str:
        """SHA-256 of the cases in order, 12 hexadecimal digits; comments and line breaks don't count."""
        rows = "\n".join(json.dumps(c.model_dump(mode="json"), sort_keys=True, ensure_ascii=False) for c in self.cases)
        return hashlib.sha256(rows.encode()).hexdigest()[:12]

    def select(self, *, topics: Sequence[str] = (), languages: Sequence[str] = (), ids: Sequence[str] = ()) -> Suite:
        """The cases that fit every filter given; topics and ids are globs.

        Raises:
            SuiteError: none fits.
        """
        chosen = tuple(
            case
            for case in self.cases
            if (not topics or any(fnmatchcase(case.topic, glob) for glob in topics))
            and (not languages or case.language in languages)
            and (not ids or any(fnmatchcase(case.id, glob) for glob in ids))
        )
        if not chosen:
            raise SuiteError(
                f"No case of {self.name} fits the filters. Topics: {', '.join(sorted({c.topic for c in self.cases}))}; "
                f"languages: {', '.join(sorted({c.language for c in self.cases}))}."
            )
        return Suite(self.name, self.folder, chosen)


def shipped_suites() -> list[Path]:
    """The suites that come with the project, by name."""
    return sorted(SHIPPED.glob("*.jsonl"))


def load_suite(name: str) -> Suite:
    """The suite of a path, or of the name of a shipped one.

    Raises:
        SuiteError: there is no such file, or a line isn't a case; names up to ten lines with their reasons.
    """
    path = Path(name)
    if not path.exists() and (SHIPPED / f"{name}.jsonl").exists():
        path = SHIPPED / f"{name}.jsonl"
    if not path.is_file():
        known = ", ".join(p.stem for p in shipped_suites())
        raise SuiteError(f"There is no suite {name!r}. Give a .jsonl file, or one of: {known}.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(f"{path} can't be read as UTF-8 text: {error}") from error
    return Suite(path.stem, path.parent, tuple(_parse(path, text)))


def _parse(path: Path, text: str) -> list[Case]:
    cases: list[Case] = []
    faults: list[str] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            case = Case.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            faults.append(f"line {number}: not JSON: {error}")
            continue
        except ValidationError as error:
            faults += [f"line {number}: {_reason(detail)}" for detail in error.errors()[:3]]
            continue
        if case.id in lines:
            faults.append(f"line {number}: id {case.id!r} is already used in line {lines[case.id]}")
            continue
        lines[case.id] = number
        cases.append(case)
    if faults:
        more = f"\n… and {len(faults) - 10} more" if len(faults) > 10 else ""
        raise SuiteError(f"{path} is not a suite:\n" + "\n".join(faults[:10]) + more)
    if not cases:
        raise SuiteError(f"{path} holds no case.")
    return cases


def _reason(detail: object) -> str:
    assert isinstance(detail, dict)
    where = ".".join(str(part) for part in detail["loc"]) or "the row"
    message = str(detail["msg"]).removeprefix("Value error, ")
    if detail["type"] == "missing":
        return f"{where} is missing"
    if detail["type"] in ("literal_error", "value_error", "string_type"):
        return f"{where} = {detail['input']!r}: {message[0].lower()}{message[1:]}"
    return f"{where}: {message}"


def write_suite(cases: Iterable[Case], path: Path) -> None:
    """Write cases as JSONL, without the fields that are unset."""
    with path.open("w", encoding="utf-8") as file:
        for case in cases:
            file.write(json.dumps(case.model_dump(mode="json", exclude_unset=True), ensure_ascii=False) + "\n")


_COLUMNS = {
    "question": ("question", "questions", "q", "问题", "问", "提问"),
    "answer": ("answer", "answers", "a", "答案", "答", "回答", "解答"),
    "key_points": ("key_points", "key points", "要点", "关键点"),
    "topic": ("topic", "category", "分类", "主题", "类别"),
    "id": ("id", "编号", "序号"),
    "language": ("language", "lang", "语言"),
    "document": ("document", "source", "文档", "来源"),
    "status": ("status", "状态"),
}


def import_csv(path: Path) -> list[Case]:
    """Cases from a table of questions and answers, one row each, header in the first line.

    Columns, in English or Chinese: question; key_points (points apart by `;` or a line end, alternatives by `|`) or
    else answer; and optionally id, topic, language, status, document. Without key points the terms and figures of the
    answer become the points: a draft, to be looked through.

    Raises:
        SuiteError: not readable, without a needed column, or a row without a question; names the line.
    """
    rows, columns = _read_table(path)
    cases: list[Case] = []
    used: Counter[str] = Counter()
    for line, row in rows:
        cell = {field: (row.get(name) or "").strip() for field, name in columns.items()}
        if not any(cell.values()):
            continue
        if not cell["question"]:
            raise SuiteError(f"{path} line {line}: the question is empty.")
        points = _points(cell.get("key_points", "")) or _draft_points(cell.get("answer", ""))
        status = cell.get("status") or "answered"
        if status == "answered" and not points:
            raise SuiteError(f"{path} line {line}: neither key points nor an answer to draw them from.")
        identity = cell.get("id") or f"{path.stem}-{line - 1:03d}"
        used[identity] += 1
        if used[identity] > 1:
            raise SuiteError(f"{path} line {line}: id {identity!r} is used twice.")
        record = {
            "id": identity,
            "language": cell.get("language") or _language(cell["question"]),
            "topic": cell.get("topic") or "faq",
            "turns": [cell["question"]],
            "expect": {
                "status": status,
                "key_points": points,
                "sources": [{"document": f"*{cell['document']}*"}] if cell.get("document") else [],
            },
            "documents": None,
        }
        if cell.get("answer"):
            record["reference_answer"] = cell["answer"]
        try:
            cases.append(Case.model_validate(record))
        except ValidationError as error:
            raise SuiteError(f"{path} line {line}: {_reason(error.errors()[0])}") from error
    if not cases:
        raise SuiteError(f"{path} holds no row.")
    return cases


def _read_table(path: Path) -> tuple[list[tuple[int, dict[str, str]]], dict[str, str]]:
    data = path.read_bytes()
    text = None
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    if text is None:
        raise SuiteError(f"{path} is neither UTF-8 nor GB18030 text. Save it as UTF-8.")
    reader = csv.DictReader(text.splitlines(keepends=True))
    rows = [(reader.line_num, row) for row in reader]
    header = {name.strip().casefold(): name for name in reader.fieldnames or [] if name}
    columns = {
        field: next(header[alias] for alias in aliases if alias in header)
        for field, aliases in _COLUMNS.items()
        if any(alias in header for alias in aliases)
    }
    if "question" not in columns or not ({"answer", "key_points", "status"} & set(columns)):
        raise SuiteError(f"{path} needs the columns question, and answer or key_points; it has: {', '.join(header)}.")
    return rows, columns


def _points(text: str) -> list[list[str]]:
    points = [[a.strip() for a in point.split("|") if a.strip()] for point in re.split(r"[;；\n]", text)]
    return [point for point in points if point]


_TERM = re.compile(
    r"\d+(?:[.,]\d+)*\s*(?:%|[A-Za-z]{1,5}\b|[\u4e00-\u9fff]{1,2})?|[A-Za-z]*[A-Z][A-Za-z0-9-]+[A-Z0-9][A-Za-z0-9]*"
)


def _draft_points(answer: str) -> list[list[str]]:
    """Figures and proper terms of a reference answer; or else its longest clause."""
    terms = list(dict.fromkeys(m.group().strip() for m in _TERM.finditer(answer)))[:4]
    if not terms:
        clauses = [c.strip() for c in re.split(r"[，。；,.;!?！？\n]", answer) if c.strip()]
        terms = [max(clauses, key=len)] if clauses else []
    return [[term] for term in terms]


def _language(question: str) -> str:
    return "zh" if re.search(r"[\u4e00-\u9fff]", question) else "en"


def export_csv(cases: Iterable[Case], path: Path) -> None:
    """The cases as a table that `import_csv` reads back: id, topic, language, question, key points, status."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "topic", "language", "question", "key_points", "status", "document"])
        for case in cases:
            points = ";".join("|".join(point) for point in case.expect.key_points)
            source = case.expect.sources[0].document.strip("*") if case.expect.sources else ""
            writer.writerow([case.id, case.topic, case.language, case.question, points, case.expect.status[0], source])
