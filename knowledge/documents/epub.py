"""EPUB books: the chapters in reading order, each an XHTML page."""

from __future__ import annotations

import posixpath
import zipfile
from urllib.parse import unquote

from knowledge.documents.builder import TextBuilder
from knowledge.documents.draft import Draft
from knowledge.documents.encoding import declared_in, decode
from knowledge.documents.html import parse_html
from knowledge.documents.html_blocks import Element, write_html
from knowledge.documents.html_visible import remove_hidden
from knowledge.documents.package import open_package
from knowledge.errors import DocumentError
from knowledge.limits import Limits, check


def read_epub(data: bytes, limits: Limits) -> Draft:
    """Read a book.

    Raises:
        DocumentError: it is protected, lacks its list of chapters, or holds no text.
    """
    with open_package(data, limits) as package:
        names = set(package.namelist())
        if "META-INF/rights.xml" in names or "META-INF/sinf.xml" in names:
            raise DocumentError("The book is protected against reading by other programs (DRM).")
        contents_path = _contents_path(package)
        contents = _xml(package.read(contents_path))
        chapters = _chapters(contents, contents_path)
        check(limits, "max_pages", len(chapters), "Chapters:")
        builder = TextBuilder(limits)
        for chapter in chapters:
            if chapter in names:
                root = parse_html(_decoded(package.read(chapter)))
                if root is not None:
                    remove_hidden(root)
                    write_html(root, builder)
    content, blocks = builder.finish()
    metadata = {"date": day[0][:10]} if (day := _texts(contents, "date")) else {}
    return Draft(content, blocks, title=" ".join(_texts(contents, "title")[:1]), metadata=metadata)


def _decoded(data: bytes) -> str:
    return decode(data, declared_in(data)).text


def _xml(data: bytes) -> Element:
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    root = etree.fromstring(data, parser)
    if root is None:
        raise DocumentError("The book's list of chapters is damaged.")
    return root


def _contents_path(package: zipfile.ZipFile) -> str:
    container = _xml(package.read("META-INF/container.xml"))
    paths = container.xpath("//*[local-name()='rootfile']/@full-path")
    if not paths:
        raise DocumentError("The book doesn't say where its list of chapters is.")
    return str(paths[0])


def _chapters(contents: Element, contents_path: str) -> list[str]:
    folder = posixpath.dirname(contents_path)
    files: dict[str, str] = {}
    for item in contents.xpath("//*[local-name()='manifest']/*[local-name()='item']"):
        readable = item.get("media-type", "") in ("application/xhtml+xml", "text/html", "application/xml", "text/xml")
        if readable and "nav" not in item.get("properties", "").split():
            path = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
            files[item.get("id", "")] = path
    order = contents.xpath("//*[local-name()='spine']/*[local-name()='itemref'][not(@linear='no')]/@idref")
    return [files[entry] for entry in order if entry in files]


def _texts(contents: Element, name: str) -> list[str]:
    found = contents.xpath(f"//*[local-name()='metadata']/*[local-name()='{name}']")
    return [text for element in found if (text := " ".join("".join(element.itertext()).split()))]
