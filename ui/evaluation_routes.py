"""The requests of the evaluations page: start a run, follow it, show, open a case, compare."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, Field

from assistant.api.access import requires
from ui.evaluations import (
    DEFAULT_CASES,
    MAX_CASES,
    Evaluations,
    case_html,
    comparison_html,
    evaluations_html,
    run_html,
    runs_html,
)
from ui.jobs import Job, Jobs
from ui.routes import OwnPage
from ui.visitor import language, owner
from ui.words import word


class Started(BaseModel):
    """A suite to run."""

    suite: str = Field(max_length=200, pattern=r"^[\w.-]+$")
    limit: int = Field(DEFAULT_CASES, ge=1, le=MAX_CASES)


def evaluation_routes(evaluations: Evaluations, jobs: Jobs) -> APIRouter:
    """Routes over the suites and runs of one data folder."""
    router = APIRouter(prefix="/ui/evaluations", default_response_class=HTMLResponse)

    @router.get("")
    def page(request: Request) -> str:
        return evaluations_html(evaluations, language(request))

    @router.get("/runs")
    def runs(request: Request) -> str:
        return runs_html(evaluations.runs(), language(request))

    @router.post("/runs", dependencies=[OwnPage, requires("documents:write")], response_class=JSONResponse)
    def start(request: Request, started: Started) -> dict[str, str]:
        spoken = language(request)

        def work(job: Job) -> None:
            step = job.steps[0]

            def progress(done: int, total: int, passed: int) -> None:
                step.status, step.share = "working", done / total if total else 1.0
                step.detail = f"{done} / {total} · {word('pass_rate', spoken)} {passed / done if done else 0:.0%}"

            run_id = evaluations.run(started.suite, started.limit, progress)
            step.status = "done"
            job.open = f"/ui/evaluations/runs/{run_id}"

        return {"job": jobs.start("evaluation", owner(request), [started.suite], work).id}

    @router.get("/runs/{run_id}")
    def run(request: Request, run_id: str) -> str:
        return run_html(evaluations.show(run_id), evaluations.runs(), language(request))

    @router.get("/runs/{run_id}/{case_id:path}")
    def case(request: Request, run_id: str, case_id: str) -> str:
        return case_html(evaluations.case(run_id, case_id), language(request))

    @router.get("/compare")
    def compare(request: Request, first: str, second: str) -> str:
        return comparison_html(evaluations.compare(first, second), first, second, language(request))

    return router
