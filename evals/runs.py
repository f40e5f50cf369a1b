"""Runs on disk: what was run, with what, and every answer with its scores, one line each as it comes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.schema import Answer
from evals.errors import RunError
from evals.schema import Case
from evals.scoring import Scored

FORMAT = 1


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Result(_Record):
    """One answer and its scores."""

    case_id: str
    repeat: int = 0
    answer: Answer | None = None
    error: str = ""
    seconds: float
    """Seen from outside, all turns."""
    scores: dict[str, float] = {}
    reasons: dict[str, str] = {}
    passed: bool = False
    strict: bool = False
    sound: bool = False

    @classmethod
    def of(cls, case: Case, repeat: int, answer: Answer, seconds: float, scored: Scored) -> Result:
        """The record of a scored answer."""
        return cls(
            case_id=case.id,
            repeat=repeat,
            answer=answer,
            seconds=round(seconds, 4),
            scores={name: round(score.value, 6) for name, score in scored.scores.items()},
            reasons={name: score.reason for name, score in scored.scores.items() if score.reason},
            passed=scored.passed,
            strict=scored.strict,
            sound=scored.sound,
        )


class Manifest(_Record):
    """What must be equal for a run to be repeated, and when it was run."""

    format: int = FORMAT
    id: str
    suite: str
    suite_hash: str
    target: dict[str, Any]
    repeat: int
    seed: int
    started: datetime
    finished: datetime | None = None
    cases: list[Case]


class Run(_Record):
    """A run as it was stored."""

    manifest: Manifest
    results: list[Result]

    def cases(self) -> dict[str, Case]:
        """Cases by id, in suite order."""
        return {case.id: case for case in self.manifest.cases}


class RunFolder:
    """The folder of one run; results are appended, so an interrupted run loses nothing. Safe to use from threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    @classmethod
    def create(cls, root: Path, manifest: Manifest) -> RunFolder:
        """A new folder under `root`.

        Raises:
            RunError: it can't be written.
        """
        folder = cls(root / manifest.id)
        try:
            folder.path.mkdir(parents=True)
            folder._write_manifest(manifest)
        except OSError as error:
            raise RunError(f"{folder.path} can't be written: {error.strerror}.") from error
        return folder

    def append(self, result: Result) -> None:
        """Store one result, on a line of its own even after a line that a crash cut off."""
        with self._lock, (self.path / "results.jsonl").open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
            start = b"\n" if size and file.read(1) != b"\n" else b""
            file.write(start + result.model_dump_json().encode() + b"\n")

    def finish(self, manifest: Manifest) -> Manifest:
        """Mark the run as complete."""
        done = manifest.model_copy(update={"finished": datetime.now(UTC)})
        self._write_manifest(done)
        return done

    def read(self) -> Run:
        """The run with the results so far; a line that was cut off by a crash is left out.

        Raises:
            RunError: there is no run here, or its format is newer than this program.
        """
        try:
            manifest = Manifest.model_validate_json((self.path / "run.json").read_text(encoding="utf-8"))
        except OSError as error:
            raise RunError(
                f"There is no run in {self.path}. `advisor eval list` shows those that are stored."
            ) from error
        except ValidationError as error:
            raise RunError(f"{self.path / 'run.json'} is not a stored run: {error.errors()[0]['msg']}") from error
        if manifest.format > FORMAT:
            raise RunError(f"{self.path} was written by a newer version (format {manifest.format}); update to read it.")
        results = []
        file = self.path / "results.jsonl"
        for line in file.read_bytes().split(b"\n") if file.exists() else ():
            try:
                results.append(Result.model_validate_json(line))
            except ValidationError:
                continue
        return Run(manifest=manifest, results=results)

    def _write_manifest(self, manifest: Manifest) -> None:
        part = self.path / "run.json.part"
        part.write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
        part.replace(self.path / "run.json")


def runs_root(data_dir: Path) -> Path:
    """Where the runs of a data folder are."""
    return data_dir / "evaluations"


def find_run(root: Path, name: str) -> RunFolder:
    """The run of a path, an id, the start of an id, or `last`.

    Raises:
        RunError: none, or several, are meant.
    """
    if (Path(name) / "run.json").is_file():
        return RunFolder(Path(name))
    stored = stored_runs(root)
    if name == "last" and stored:
        return RunFolder(stored[-1])
    found = [path for path in stored if path.name.startswith(name)]
    exact = [path for path in found if path.name == name]
    if len(exact or found) != 1:
        which = "several runs start with" if found else "no run is called"
        raise RunError(f"{which.capitalize()} {name!r}. `advisor eval list` shows those that are stored.")
    return RunFolder((exact or found)[0])


def stored_runs(root: Path) -> list[Path]:
    """Folders of the stored runs, oldest first."""
    return sorted(path.parent for path in root.glob("*/run.json"))


def by_case(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Results by case id, repeats together."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.case_id, []).append(result)
    return found
