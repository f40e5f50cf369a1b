"""Web pages and HTML files: the article's text with its headings, lists, tables, code, title and date."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from knowledge.documents.builder import TextBuilder
from knowledge.documents.characters import clean
from knowledge.documents.draft import Draft
from knowledge.documents.html_blocks import Element, inline_text, write_html
from knowledge.documents.html_visible import article, remove_hidden
from knowledge.errors import DocumentError
from knowledge.limits import Limits

_ENCODING = re.compile(r"^\s*<\?xml[^>]*\?>")
_PUBLISHED = (
    "article:published_time", "datepublished", "dc.date", "dc.date.issued", "dcterms.created", "date", "pubdate",
    "publishdate", "publish_date", "publish-date", "og:published_time", "citation_publication_date",
)  # fmt: skip
_MODIFIED = ("article:modified_time", "datemodified", "dcterms.modified", "last-modified", "og:updated_time", "lastmod")
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)")


def read_html(text: str, limits: Limits) -> Draft:
    """Read a page, already decoded.

    Raises:
        DocumentError: nothing is left to read.
    """
    root = parse_html(text)
    if root is None:
        raise DocumentError("The page holds no text that a reader would see.")
    metadata = _dates(root)
    page_title = _page_title(root)
    remove_hidden(root)
    body = article(root)
    builder = TextBuilder(limits)
    write_html(body, builder)
    content, blocks = builder.finish()
    headings = [inline_text(h) for h in body.xpath("descendant-or-self::h1")]
    title = headings[0] if len(headings) == 1 and headings[0] else page_title
    return Draft(content, blocks, title=clean(title), metadata=metadata)


def parse_html(text: str) -> Element | None:
    """Parse HTML that is already decoded; None when there is no element in it."""
    from lxml import etree, html  # type: ignore[import-untyped]

    source = _ENCODING.sub("", clean(text))
    if not source.strip():
        return None
    parser = html.HTMLParser(encoding="utf-8", remove_pis=True, huge_tree=False)
    try:
        return html.document_fromstring(source.encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None


def _page_title(root: Element) -> str:
    for query in ("//meta[@property='og:title']/@content", "//head/title", "//title", "//h1"):
        for found in root.xpath(query):
            title = found if isinstance(found, str) else inline_text(found)
            title = " ".join(title.split())
            if title:
                return title
    return ""


def _dates(root: Element) -> dict[str, str]:
    stated: dict[str, str] = {}
    for meta in root.xpath("//meta[@content]"):
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        stated.setdefault(name, meta.get("content"))
    for item in _structured(root):
        for key in ("datePublished", "dateModified"):
            if isinstance(item.get(key), str):
                stated.setdefault(key.lower(), item[key])
    dates: dict[str, str] = {}
    for label, names in (("date", _PUBLISHED), ("modified", _MODIFIED)):
        day = next((day for name in names if name in stated and (day := _day(stated[name]))), None)
        if day:
            dates[label] = day
    if "date" not in dates:
        for moment in root.xpath("//time[@datetime]/@datetime"):
            if day := _day(moment):
                dates["date"] = day
                break
    if "date" not in dates and "modified" in dates:
        dates["date"] = dates["modified"]
    return dates


def _structured(root: Element) -> Iterator[dict[str, Any]]:
    for script in root.xpath("//script[@type='application/ld+json']"):
        try:
            value = json.loads(script.text or "")
        except (ValueError, RecursionError):
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield item
                graph = item.get("@graph")
                yield from (entry for entry in graph if isinstance(entry, dict)) if isinstance(graph, list) else ()


def _day(text: str) -> str | None:
    found = _DAY.search(text)
    if not found or not (1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31):
        return None
    return f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}"
