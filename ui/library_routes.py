"""The library's requests: uploads and web pages into the store, deletion, search test, price sheets."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path, PurePath
from typing import Annotated, Any

from fastapi import APIRouter, File, HTTPException, Request, UploadFile
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from assistant.advisor import Advisor
from assistant.api.access import Note, audited, requires
from assistant.errors import InvalidInput
from knowledge.ingest import FileReport, ingest, ingest_url
from ui.jobs import Job, Jobs, job_html
from ui.library import documents_html, library_html, search_html
from ui.prices import Prices, prices_html
from ui.routes import OwnPage
from ui.visitor import caller, language, may_edit, owner
from ui.words import word

MAX_FILES = 200
MAX_FILE_BYTES = 200_000_000
SEARCH_RESULTS = 10
Editor = requires("documents:write")
Files = Annotated[list[UploadFile], File(max_length=MAX_FILES)]


class Address(BaseModel):
    """A web page to add."""

    url: str = Field(min_length=1, max_length=2000)


def library_routes(advisor: Advisor, jobs: Jobs) -> APIRouter:
    """Routes over one advisor's store."""
    router = APIRouter(prefix="/ui")

    @router.get("/library", response_class=HTMLResponse)
    def library(request: Request) -> str:
        return library_html(advisor.store.documents(caller(request).groups), may_edit(request), language(request))

    @router.get("/library/documents", response_class=HTMLResponse)
    def documents(request: Request) -> str:
        return documents_html(advisor.store.documents(caller(request).groups), may_edit(request), language(request))

    @router.get("/library/search", response_class=HTMLResponse)
    def search(request: Request, q: str) -> str:
        if not q.strip():
            raise InvalidInput(word("search_query", language(request)))
        return search_html(advisor.searcher.search(q, SEARCH_RESULTS, groups=caller(request).groups), language(request))

    @router.post("/library/files", dependencies=[OwnPage, Editor])
    def add_files(request: Request, files: Files, note: Annotated[Note, audited("document.upload")]) -> dict[str, str]:
        spoken = language(request)
        paths = save_uploads(files, advisor.settings.data_dir / "uploads")
        note.object = ", ".join(path.name for path in paths)[:500]

        def work(job: Job) -> None:
            for step, path in zip(job.steps, paths, strict=True):
                step.status = "working"

                def progress(done: int, total: int, step: Any = step) -> None:
                    step.share = done / total if total else 1.0

                limits = advisor.settings.limits
                report = ingest(advisor.store, advisor.encoder, [path], on_progress=progress, limits=limits).files[0]
                step.status, step.detail = report.status, _detail(report, word("chunks", spoken))

        return {"job": jobs.start("ingest", owner(request), [path.name for path in paths], work).id}

    @router.post("/library/url", dependencies=[OwnPage, Editor])
    def add_url(
        request: Request, address: Address, note: Annotated[Note, audited("document.upload")]
    ) -> dict[str, str]:
        spoken = language(request)
        note.object = address.url

        def work(job: Job) -> None:
            job.steps[0].status = "working"
            settings = advisor.settings
            report = ingest_url(
                advisor.store,
                advisor.encoder,
                address.url,
                limits=settings.limits,
                allow_private=settings.allow_private_urls,
            )
            job.steps[0].status, job.steps[0].detail = report.status, _detail(report, word("chunks", spoken))

        return {"job": jobs.start("ingest", owner(request), [address.url], work).id}

    @router.delete("/library/documents/{document_id}", dependencies=[OwnPage, Editor, audited("document.delete")])
    def delete(request: Request, document_id: str) -> dict[str, str]:
        document = advisor.store.document(document_id, caller(request).groups)
        advisor.store.remove(document_id)
        uploads = advisor.settings.data_dir / "uploads"
        for name in document.names:
            if Path(name).parent == uploads:
                Path(name).unlink(missing_ok=True)
        return {"deleted": document_id}

    @router.get("/jobs/{job_id}")
    def job(request: Request, job_id: str) -> dict[str, Any]:
        found = jobs.find(job_id, owner(request))
        if found is None:
            raise HTTPException(404, word("error", language(request)))
        done = found.done  # before the steps are read, so that the last state is never missed
        return {"html": job_html(found, language(request)), "done": done, "open": found.open}

    return router


def price_routes(prices: Prices) -> APIRouter:
    """A visitor's own price file."""
    router = APIRouter(prefix="/ui/prices")

    @router.get("", response_class=HTMLResponse)
    def shown(request: Request) -> str:
        return prices_html(prices.in_use(owner(request)), language(request))

    @router.post("", dependencies=[OwnPage])
    def take(request: Request, files: Files) -> dict[str, str]:
        who = owner(request)
        with tempfile.TemporaryDirectory() as folder:
            prices.take(who, save_uploads(files[:1], Path(folder))[0])
        return {"html": prices_html(prices.in_use(who), language(request))}

    @router.delete("", dependencies=[OwnPage])
    def drop(request: Request) -> dict[str, str]:
        prices.drop(owner(request))
        return {"html": prices_html(None, language(request))}

    return router


def save_uploads(files: list[UploadFile], folder: Path) -> list[Path]:
    """Write uploads under their own names, without any folder that a name may hold.

    Raises:
        InvalidInput: a file is larger than allowed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for file in files:
        name = PurePath((file.filename or "").replace("\\", "/")).name.replace("\0", "").strip(". ") or "file"
        if file.size is not None and file.size > MAX_FILE_BYTES:
            raise InvalidInput(f"{name} has {file.size:,} bytes; at most {MAX_FILE_BYTES:,} can be uploaded.")
        path = folder / name[-200:]
        with path.open("wb") as target:
            shutil.copyfileobj(file.file, target)
        paths.append(path)
    return paths


def _detail(report: FileReport, passages: str) -> str:
    return report.reason or f"{report.chunks} {passages}"
