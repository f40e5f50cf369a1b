"""Runs a suite against a target: in threads, in seeded order, resumable, each result stored as it comes."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path

from evals.errors import RunError
from evals.metrics.base import CaseMetric, Score
from evals.metrics.retrieval import DEPTH, ranked_by_citation, retrieval_scores
from evals.runs import Manifest, Result, Run, RunFolder
from evals.schema import Case
from evals.scoring import case_metrics, score_answer
from evals.suites import Suite
from evals.support import Support
from evals.targets import Target
from knowledge.errors import AdvisorError


def start_run(
    suite: Suite, target: Target, root: Path, *, repeat: int = 1, seed: int = 0
) -> tuple[RunFolder, Manifest]:
    """Store what is about to be run.

    Raises:
        RunError: the folder can't be written.
        TargetError: the target can't say what it is.
    """
    now = datetime.now(UTC)
    manifest = Manifest(
        id=f"{now:%Y%m%d-%H%M%S}-{suite.name}-{secrets.token_hex(2)}",
        suite=suite.name,
        suite_hash=suite.hash,
        target=target.describe(),
        repeat=repeat,
        seed=seed,
        started=now,
        cases=list(suite.cases),
    )
    return RunFolder.create(root, manifest), manifest


def resume_run(folder: RunFolder, suite: Suite, target: Target) -> Manifest:
    """The manifest of an unfinished run, checked against what it would be continued with.

    Raises:
        RunError: it is finished, or the suite or the target is another one.
    """
    manifest = folder.read().manifest
    if manifest.finished is not None:
        raise RunError(f"Run {manifest.id} is complete. `advisor eval show {manifest.id}` shows it.")
    if manifest.suite_hash != suite.hash:
        raise RunError(f"Run {manifest.id} was started with another version of {manifest.suite}, or other filters.")
    if manifest.target != target.describe():
        raise RunError(f"Run {manifest.id} was started with another target, settings or index. Start a new run.")
    return manifest


def complete_run(
    folder: RunFolder,
    manifest: Manifest,
    suite: Suite,
    target: Target,
    support: Support,
    *,
    jobs: int = 1,
    on_result: Callable[[Result], None] | None = None,
) -> Run:
    """Ask and score what is still missing. An interruption (Ctrl-C) leaves a run that `resume_run` continues."""
    metrics = case_metrics(support)
    known = folder.read().results
    if on_result:
        for result in known:
            on_result(result)
    done = {(result.case_id, result.repeat) for result in known}
    items = [(c, r) for r in range(manifest.repeat) for c in suite.cases if (c.id, r) not in done]
    random.Random(manifest.seed).shuffle(items)

    def work(item: tuple[Case, int]) -> Result:
        return run_case(item[0], item[1], suite.folder, target, metrics)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        pending: set[Future[Result]] = {pool.submit(work, item) for item in items}
        try:
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    result = future.result()
                    folder.append(result)
                    if on_result:
                        on_result(result)
        except BaseException:
            for future in pending:
                future.cancel()
            raise
    folder.finish(manifest)
    return folder.read()


def run_case(case: Case, repeat: int, folder: Path, target: Target, metrics: Sequence[CaseMetric]) -> Result:
    """Ask one case and score the answer. What the system under test raises is its result, not a failure of the run."""
    documents = None if case.documents is None else [folder / path for path in case.documents]
    started = time.perf_counter()
    try:
        target.prepare(documents)
        started = time.perf_counter()
        answer = target.ask(case.turns, documents)
        seconds = time.perf_counter() - started
        ranked = target.ranked(case.turns, documents, DEPTH) if case.expect.sources else None
    except AdvisorError as error:
        return _failed(case, repeat, started, str(error))
    except Exception as error:
        return _failed(case, repeat, started, f"{type(error).__name__}: {error}")
    scored = score_answer(case, answer, metrics)
    for name, value in retrieval_scores(case, ranked_by_citation(answer) if ranked is None else ranked).items():
        scored.scores[name] = Score(value)
    return Result.of(case, repeat, answer, seconds, scored)


def _failed(case: Case, repeat: int, started: float, error: str) -> Result:
    return Result(case_id=case.id, repeat=repeat, error=error, seconds=round(time.perf_counter() - started, 4))
