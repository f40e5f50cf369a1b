"""The library page: documents with what became of them, uploads, web pages, search test, catalog ages, price sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from assistant.schema import Language
from knowledge import catalog
from knowledge.catalog.records import Provenance
from knowledge.records import SearchResult
from knowledge.rows import DocumentRow
from knowledge.shipped import shipped_paths
from ui.icons import icon
from ui.layout import heading, html
from ui.sources import place_name
from ui.words import word


def build() -> None:
    """The page; its content is fetched by the page's script."""
    heading("nav_library", "library")
    html('<div class="page" data-load="/ui/library"></div>', elem_id="library")


def library_html(documents: Sequence[DocumentRow], editable: bool, language: Language) -> str:
    """The page's content."""

    def say(key: str) -> str:
        return word(key, language)

    adding = (
        f'<section><label class="drop" for="upload"><b>{say("drop_files")}</b><br>'
        f'<span class="note">{say("upload_formats")}</span>'
        f'<input type="file" id="upload" class="hidden" multiple aria-label="{say("drop_files")}"></label>'
        f'<form class="row" data-job="/ui/library/url" data-into="#jobs"><label>{say("from_url")}'
        f'<input type="url" name="url" required placeholder="https://…"></label>'
        f'<button type="submit" class="primary">{say("add")}</button></form><div id="jobs"></div></section>'
    )
    return (
        f'<h1>{say("library")}</h1><p class="lead">{say("library_lead")}</p>{adding if editable else ""}'
        f'<section><div class="row"><h2>{say("library")}</h2><label>{say("filter")}'
        f'<input type="text" id="filter" autocomplete="off"></label></div>'
        f'<div id="documents">{documents_html(documents, editable, language)}</div></section>'
        f'<section><h2>{say("search_test")}</h2><form class="row" data-get="/ui/library/search" data-into="#found">'
        f'<label>{say("search_query")}<input type="text" name="q" required></label>'
        f'<button type="submit" class="primary">{say("search")}</button></form>'
        f'<div id="found" aria-live="polite"></div></section><div class="columns">'
        f'<section><h2>{say("catalog")}</h2><p class="note">{say("catalog_lead")}</p>{catalog_html(language)}</section>'
        f'<section><h2>{say("prices")}</h2><div id="prices" data-load="/ui/prices"></div></section></div>'
    )


def documents_html(documents: Sequence[DocumentRow], editable: bool, language: Language) -> str:
    """All documents in a table, newest first; with a button that deletes, where that is allowed."""
    if not documents:
        return f'<p class="empty">{word("no_documents", language)}</p>'
    corpus = tuple(str(path) for path in shipped_paths())
    columns = ("title", "language_of", "topic", "chunks", "kind", "dates", "indexed")
    head = "".join(f'<th scope="col">{word(key, language)}</th>' for key in columns)
    rows = "".join(
        _document_row(document, document.location.startswith(corpus), editable, language)
        for document in reversed(documents)
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{word("library", language)}"><table><thead><tr>'
        f'{head}<th scope="col"><span class="hidden">{word("delete", language)}</span></th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _document_row(document: DocumentRow, is_shipped: bool, editable: bool, language: Language) -> str:
    name = escape(document.document_id)
    delete = word("delete", language)
    button = (
        f'<button type="button" class="icon" data-delete-document="{name}" data-title="{escape(document.title)}" '
        f'aria-label="{delete}: {escape(document.title)}" title="{delete}">{icon("delete")}</button>'
        if editable
        else ""
    )
    return (
        f'<tr><td class="title"><button type="button" class="link" data-document="{name}">{escape(document.title)}'
        f"</button><br><small>{escape(place_name(document.location))}</small></td>"
        f"<td>{'中文' if document.language == 'zh' else 'English'}</td>"
        f"<td>{escape(document.metadata.get('topic', ''))}</td><td>{document.chunks}</td>"
        f"<td>{word('shipped' if is_shipped else 'own', language)}</td>"
        f"<td class=date>{escape(document.metadata.get('date', '') or document.metadata.get('reviewed', ''))}</td>"
        f"<td class=date>{escape(document.indexed_at[:10])}</td>"
        f"<td>{button}</td></tr>"
    )


def search_html(found: SearchResult, language: Language) -> str:
    """What is retrieved for a query, with its scores."""
    if not found.hits:
        return f'<p class="empty">{word("no_documents", language)}</p>'
    head = "".join(f'<th scope="col">{word(key, language)}</th>' for key in ("score", "dense", "lexical", "title"))
    rows = "".join(
        f"<tr><td>{hit.score:.2f}</td><td>{hit.dense_score:.3f}</td><td>{hit.lexical_score:.2f}</td>"
        f'<td class="title"><button type="button" class="link" data-document="{escape(hit.document_id)}" '
        f'data-start="{hit.start}" data-end="{hit.end}">{escape(hit.title)} › {escape(hit.section)}</button>'
        f'<br><small class="quote">{escape(" ".join(hit.text.split())[:280])}</small></td></tr>'
        for hit in found.hits
    )
    return (
        f'<p class="note">{word("coverage", language)} {found.coverage:.0%}</p><div class="scroll" tabindex="0" '
        f'role="region" aria-label="{word("search_test", language)}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def catalog_html(language: Language) -> str:
    """Each part of the catalog with its number of rows and the ages of its sources."""
    head = "".join(f'<th scope="col">{word(key, language)}</th>' for key in ("kind", "rows", "oldest", "newest"))
    rows = "".join(_catalog_row(key, list(read()), language) for key, read in _PARTS.items())
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{word("catalog", language)}"><table><thead><tr>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _catalog_row(key: str, rows: Sequence[object], language: Language) -> str:
    sources = [source for row in rows if isinstance(source := getattr(row, "source", None), Provenance)]
    dates = sorted(source.as_of for source in sources if source.as_of is not None)
    old = bool(catalog.stale(sources))
    oldest, newest = (str(dates[0]), str(dates[-1])) if dates else ("—", "—")
    return (
        f'<tr><th scope="row">{word(key, language)}</th><td>{len(rows)}</td><td>{oldest}</td>'
        f"<td{' class=fail' if old else ''}>{newest}</td></tr>"
    )


_PARTS: dict[str, Callable[[], Iterable[object]]] = {
    "catalog_models": catalog.models,
    "catalog_accelerators": catalog.accelerators,
    "catalog_instances": catalog.instances,
    "catalog_storage": catalog.storage_prices,
    "catalog_transfer": catalog.transfer_prices,
}
