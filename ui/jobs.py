"""Long work in the background: one at a time of each kind, followed by the page, and going on when nobody looks."""

from __future__ import annotations

import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import escape
from threading import Lock
from typing import Literal, get_args

from assistant.errors import AdvisorError
from assistant.schema import Language
from ui.words import word

KEPT = 200
"""Finished jobs that can still be looked at."""
_LOG = logging.getLogger(__name__)


@dataclass
class Step:
    """One file, page or suite of a job."""

    name: str
    status: str = "waiting"
    detail: str = ""
    share: float = 0.0


@dataclass
class Job:
    """What is being done. Written by its worker, read by the page."""

    owner: str
    steps: list[Step]
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    done: bool = False
    open: str | None = None
    """A fragment to show when it is done."""


Kind = Literal["ingest", "evaluation"]
Work = Callable[[Job], None]


class Jobs:
    """Runs work in one thread a kind: two ingests never wait for each other's lock, evaluations run beside them."""

    def __init__(self) -> None:
        self._lanes: dict[Kind, ThreadPoolExecutor] = {
            kind: ThreadPoolExecutor(max_workers=1, thread_name_prefix=kind) for kind in get_args(Kind)
        }
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = Lock()

    def start(self, kind: Kind, owner: str, names: list[str], work: Work) -> Job:
        """Queue work whose steps have these names."""
        job = Job(owner, [Step(name) for name in names])
        with self._lock:
            self._jobs[job.id] = job
            while len(self._jobs) > KEPT and next(iter(self._jobs.values())).done:
                self._jobs.popitem(last=False)
        self._lanes[kind].submit(self._run, job, work)
        return job

    def find(self, job_id: str, owner: str) -> Job | None:
        """A job of this owner."""
        job = self._jobs.get(job_id)
        return job if job is not None and job.owner == owner else None

    @staticmethod
    def _run(job: Job, work: Work) -> None:
        try:
            work(job)
        except AdvisorError as error:
            _fail(job, str(error))
        except Exception as error:  # whatever happens, the page must hear of it
            _LOG.exception("A background job failed")
            _fail(job, f"{type(error).__name__}: {error}")
        finally:
            job.done = True


def _fail(job: Job, reason: str) -> None:
    for step in job.steps:
        if step.status in ("waiting", "working"):
            step.status, step.detail = "failed", reason


def job_html(job: Job, language: Language) -> str:
    """Each step with its progress, or what became of it and why."""
    return f'<ul class="job">{"".join(_step_html(step, language) for step in job.steps)}</ul>'


def _step_html(step: Step, language: Language) -> str:
    bar = (
        f'<progress value="{step.share:.3f}" max="1" aria-label="{escape(step.name)}"></progress>'
        if step.status == "working"
        else ""
    )
    detail = f'<span class="note">{escape(step.detail)}</span>' if step.detail else ""
    kind = "failed" if step.status == "failed" else ""
    return (
        f'<li><span class="name">{escape(step.name)}</span>{bar}'
        f'<b class="{kind}">{word(step.status, language)}</b>{detail}</li>'
    )
