"""Documents: uploaded and indexed in the background, listed, read, deleted."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, File, Form, Path, Query, Response, UploadFile
from pydantic import BaseModel, Field

from assistant.api.access import Caller, Note, audited, requires
from assistant.api.ingests import Ingest
from assistant.api.pages import Cursor, Limit, Page, decode_cursor, encode_cursor
from assistant.api.problems import PROBLEMS, Refused
from assistant.api.routes.ask import PLAIN
from assistant.api.service import Service, ServiceOf
from assistant.errors import InvalidInput
from assistant.schema import Reference
from knowledge.collections import DEFAULT
from knowledge.documents import sniff
from knowledge.errors import DocumentError
from knowledge.index import refresh_snapshot
from knowledge.rows import DocumentRow

router = APIRouter(prefix="/v1", tags=["documents"], responses=PROBLEMS)
Reading = Annotated[Caller, requires("documents:read")]
Writing = Annotated[Caller, requires("documents:write")]
DocumentId = Annotated[str, Path(max_length=200, pattern=PLAIN)]
MAX_FILES = 100
MAX_TEXT = 100_000
_COLLECTION = r"^\w[\w.-]*$"


class Document(BaseModel):
    """An indexed document."""

    document_id: str
    collection: str
    title: str
    location: str
    names: list[str]
    language: str
    media_type: str
    pages: int | None
    chunks: int
    references: list[Reference]
    metadata: dict[str, str]
    expires: date | None = Field(description="The last day on which it is used.")
    indexed_at: datetime


class DocumentText(BaseModel):
    """Part of a document's text, which citations quote: `quote == text[start:end]` of the whole."""

    document_id: str
    start: int
    end: int
    characters: int = Field(description="Of the whole text.")
    text: str


@router.get("/documents", summary="List documents")
def listed(
    service: ServiceOf,
    caller: Reading,
    collection: Annotated[str | None, Query(max_length=64, pattern=_COLLECTION)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Document]:
    """Those that the caller may read, by id."""
    after = decode_cursor(cursor, 1)[0] if cursor is not None else ""
    if collection is not None:
        service.advisor.store.check_collection(collection, caller.groups)
    found = sorted(
        (
            row
            for row in service.advisor.store.documents(caller.groups)
            if row.document_id > after and collection in (None, row.collection)
        ),
        key=lambda row: row.document_id,
    )
    last = found[limit - 1].document_id if len(found) > limit else None
    return Page(
        items=[_document(row) for row in found[:limit]],
        next_cursor=encode_cursor(last) if last is not None else None,
    )


@router.post("/documents", summary="Upload documents", status_code=202)
def upload(
    service: ServiceOf,
    caller: Writing,
    note: Annotated[Note, audited("document.upload")],
    response: Response,
    files: Annotated[list[UploadFile], File(min_length=1, max_length=MAX_FILES, description="Of any readable format.")],
    collection: Annotated[str, Form(max_length=64, pattern=_COLLECTION)] = DEFAULT,
) -> Ingest:
    """They are indexed in the background; `Location` is where to follow it. A file's content decides what it is; one of
    a name that the collection has replaces the one before."""
    note.object = f"{collection}: {', '.join(file.filename or '' for file in files)}"[:500]
    service.advisor.store.check_collection(collection, caller.groups)
    for file in files:
        _check(service, file)
    made = service.ingests.start(caller.owner, collection, [(file.filename or "", file.file) for file in files])
    response.headers["location"] = f"/v1/ingests/{made.id}"
    return made


@router.get("/ingests/{ingest_id}", summary="Follow an upload")
def follow(
    ingest_id: Annotated[str, Path(max_length=64, pattern=PLAIN)], service: ServiceOf, caller: Writing
) -> Ingest:
    """What has become of each file so far."""
    return service.ingests.find(ingest_id, caller.owner)


@router.get("/documents/{document_id}", summary="Read about a document")
def read(document_id: DocumentId, service: ServiceOf, caller: Reading) -> Document:
    """Title, source, dates, collection."""
    return _document(service.advisor.store.document(document_id, caller.groups))


@router.get("/documents/{document_id}/text", summary="Read a document's text")
def text(
    document_id: DocumentId,
    service: ServiceOf,
    caller: Reading,
    start: Annotated[int, Query(ge=0, le=2**31)] = 0,
    end: Annotated[int | None, Query(ge=0, le=2**31, description=f"At most {MAX_TEXT:,} beyond the start.")] = None,
) -> DocumentText:
    """The characters from `start` to `end`; offsets are those of citations."""
    whole = service.advisor.store.source_text(document_id, caller.groups)
    first = min(start, len(whole))
    last = min(len(whole), first + MAX_TEXT, end if end is not None else len(whole))
    return DocumentText(
        document_id=document_id, start=first, end=max(first, last), characters=len(whole), text=whole[first:last]
    )


@router.delete("/documents/{document_id}", summary="Delete a document", status_code=204)
def delete(
    document_id: DocumentId, service: ServiceOf, caller: Writing, note: Annotated[Note, audited("document.delete")]
) -> Response:
    """With everything that was derived from it; the next search knows nothing of it."""
    note.object = document_id
    store = service.advisor.store
    names = store.document(document_id, caller.groups).names
    store.remove(document_id)
    service.ingests.delete_upload(names)
    refresh_snapshot(store)
    return Response(status_code=204)


def _check(service: Service, file: UploadFile) -> None:
    """Refuse at once what is no document, by its content.

    Raises:
        Refused: 415, or 413 for one that is too large.
    """
    limit = service.advisor.settings.max_bytes
    name = file.filename or "The file"
    if (file.size or 0) > limit:
        raise Refused(413, "too_large", f"{name}: larger than {limit:,} bytes. Split it, or raise ADVISOR_MAX_BYTES.")
    data = file.file.read()
    file.file.seek(0)
    if not data.strip():
        raise InvalidInput(f"{name}: the file is empty.")
    try:
        sniff.of_bytes(data)
    except DocumentError as error:
        raise Refused(415, "unreadable_content", f"{name}: {error}") from error


def _document(row: DocumentRow) -> Document:
    return Document(
        document_id=row.document_id,
        collection=row.collection,
        title=row.title,
        location=row.location,
        names=list(row.names),
        language=row.language,
        media_type=row.media_type,
        pages=row.pages,
        chunks=row.chunks,
        references=[Reference(name=r.name, url=r.url, as_of=r.as_of) for r in row.references],
        metadata=dict(row.metadata),
        expires=row.expires,
        indexed_at=datetime.fromisoformat(row.indexed_at),
    )
