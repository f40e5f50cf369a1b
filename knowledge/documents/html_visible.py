"""Leaves of a web page only what a reader came for: no hidden text, no navigation, no cookie bar, no scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.documents.characters import words
from knowledge.documents.html_blocks import Element, tag_of

_DROPPED_TAGS = words(
    "applet area audio base button canvas datalist embed frame frameset iframe input link map meta noembed"
    " noframes noscript object option param progress rp rt script select source style svg template textarea track"
    " video"
)
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)"
    r"|font-size\s*:\s*(?:0|[01](?:\.\d+)?\s*(?:px|pt)|0?\.\d+\s*(?:px|pt|r?em))\s*(?:;|!|$)"
    r"|(?:left|top|right|text-indent|margin-left)\s*:\s*-\d{3,}"
    r"|clip\s*:\s*rect\(\s*[01]|clip-path\s*:\s*inset\(\s*(?:50|100)%"
    r"|(?<![\w-])(?:width|height|max-height|max-width)\s*:\s*[01](?:px|pt)?\s*(?:;|!|$)",
    re.I,
)
_COLOUR = re.compile(r"(?<![\w-])color\s*:\s*([^;!]+)", re.I)
_BACKGROUND = re.compile(r"background(?:-color|-image)?\s*:\s*([^;!]+)", re.I)
_WHITE = re.compile(
    r"white|snow|#f{3}|#f{4}|#f{6}|#f{8}|#(?:f[a-f0-9]){3}|rgba?\(\s*25[0-5]\s*,?\s*25[0-5]\s*,?\s*25[0-5].*\)|transparent"
    r"|rgba\(.*[,/]\s*0(?:\.0+)?\s*\)|#[0-9a-f]{6}00",
    re.I,
)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE_SELECTOR = re.compile(r"([a-z][a-z0-9]*)?([.#])([\w-]+)", re.I)
_NOISE_ROLES = words(
    "alertdialog banner complementary contentinfo dialog menu menubar navigation search tablist toolbar"
)
_NOISE_NAMES = words(
    "advert advertisement adverts ads banner breadcrumb breadcrumbs consent cookie cookies footer gdpr masthead"
    " menu nav navbar navigation newsletter pagination pager popup promo recommend recommended related share"
    " sharing sidebar sitemap skip skiplink social subscribe toolbar"
)
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LINK_LIST_TAGS = words("ul ol div p table section dl header form span td center")
_BAR_TAGS = words("div section aside p form footer header")
_COOKIE_BAR = re.compile(r"cookie", re.I)
_AGREE = re.compile(r"accept|agree|consent|allow|got it|同意|接受|允许|知道了|隐私|privacy", re.I)
_NAVIGATION_LINKS = 5


def remove_hidden(root: Element) -> None:
    """Remove comments, scripts, controls and everything that a style hides from the reader."""
    hiding = _hiding_selectors(root)
    for element in list(root.iter()):
        if element is root:
            continue
        tag = tag_of(element)
        if not tag or tag in _DROPPED_TAGS or (tag == "head") or _is_hidden(element, tag, hiding):
            drop(element)


def article(root: Element) -> Element:
    """Remove navigation and other furniture, and return the element that holds the article."""
    sizes = _measure(root)
    for element in list(root.iter()):
        parent = element.getparent()
        inside = parent is not None and sizes[parent].inside
        tag = tag_of(element)
        sizes[element].inside = inside or tag in ("main", "article") or element.get("role") == "main"
        if element is not root and tag and _is_noise(element, sizes[element], inside):
            drop(element)
    sizes = _measure(root)
    for query in ("//main | //*[@role='main']", "//article[not(ancestor::article)]"):
        found = root.xpath(query)
        if found:
            largest = max(found, key=lambda element: sizes[element].text)
            if (len(found) == 1 or "main" in query) and sizes[largest].text >= 0.25 * sizes[root].text:
                return largest
            return root
    return root


@dataclass(slots=True)
class _Size:
    """What is in an element, its descendants included."""

    text: int = 0
    linked: int = 0
    """Characters in links."""
    links: int = 0
    content: bool = False
    """It holds the main heading or the element that is marked as the page's content."""

    cookies: bool = False
    agreement: bool = False
    """It asks to agree to something."""
    inside: bool = False
    """It is, or lies in, an element marked as the page's content."""

    @property
    def link_share(self) -> float:
        return self.linked / max(self.text, 1)


def _measure(root: Element) -> dict[Element, _Size]:
    from lxml import etree  # type: ignore[import-untyped]

    sizes: dict[Element, _Size] = {}
    for _, element in etree.iterwalk(root, events=("end",)):
        size = _Size()
        _count(size, element.text)
        for child in element:
            inner = sizes.get(child)
            if inner:
                size.text += inner.text
                size.linked += inner.linked
                size.links += inner.links
                size.content = size.content or inner.content
                size.cookies = size.cookies or inner.cookies
                size.agreement = size.agreement or inner.agreement
            _count(size, child.tail)
        tag = tag_of(element)
        if tag == "a":
            size.linked, size.links = size.text, size.links + (element.get("href") is not None)
        size.content = size.content or tag in ("main", "article", "h1") or element.get("role") in ("main", "article")
        sizes[element] = size
    return sizes


def _count(size: _Size, text: str | None) -> None:
    if text and not text.isspace():
        size.text += len("".join(text.split()))
        size.cookies = size.cookies or _COOKIE_BAR.search(text) is not None
        size.agreement = size.agreement or _AGREE.search(text) is not None


def drop(element: Element) -> None:
    """Remove an element and keep the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        previous = element.getprevious()
        if previous is not None:
            previous.tail = (previous.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _is_hidden(element: Element, tag: str, hiding: set[tuple[str, str, str]]) -> bool:
    if element.get("hidden") is not None and element.get("hidden", "").lower() != "until-found":
        return True
    if element.get("aria-hidden", "").strip().lower() == "true":
        return True
    style = element.get("style", "")
    if style and (_HIDING.search(style) or _white_on_white(element, style)):
        return True
    if tag == "font" and _WHITE.fullmatch(element.get("color", "").strip()) and not _on_colour(element):
        return True
    if hiding:
        for kind, names in ((".", element.get("class", "").split()), ("#", [element.get("id", "")])):
            if any(("", kind, name) in hiding or (tag, kind, name) in hiding for name in names):
                return True
    return False


def _white_on_white(element: Element, style: str) -> bool:
    colour = _COLOUR.search(style)
    return bool(colour and _WHITE.fullmatch(colour[1].strip())) and not _on_colour(element)


def _on_colour(element: Element) -> bool:
    """Whether the element or one around it sets a background that isn't white."""
    while element is not None:
        background = _BACKGROUND.search(element.get("style", ""))
        value = background[1].strip() if background else element.get("bgcolor", "")
        if value:
            return not _WHITE.fullmatch(value)
        element = element.getparent()
    return False


def _hiding_selectors(root: Element) -> set[tuple[str, str, str]]:
    """Simple selectors (`.name`, `#name`, `tag.name`) that the page's own style sheets hide."""
    found: set[tuple[str, str, str]] = set()
    for sheet in root.iter("style"):
        css = re.sub(r"/\*.*?\*/", "", sheet.text or "", flags=re.S)[:500_000]
        css = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", css)
        for selectors, declarations in _RULE.findall(css):
            colour = _COLOUR.search(declarations)
            white = colour and _WHITE.fullmatch(colour[1].strip()) and not _BACKGROUND.search(declarations)
            if not _HIDING.search(declarations) and not white:
                continue
            for selector in selectors.split(","):
                simple = _SIMPLE_SELECTOR.fullmatch(selector.strip())
                if simple:
                    found.add(((simple[1] or "").lower(), simple[2], simple[3]))
    return found


def _is_noise(element: Element, size: _Size, inside: bool) -> bool:
    tag = tag_of(element)
    if size.content or tag in ("html", "body"):
        return False
    if tag == "nav" or element.get("role", "").lower() in _NOISE_ROLES:
        return True
    if tag in ("footer", "aside") and not inside:
        return True
    names = {part.lower() for part in _NAME_PARTS.findall(f"{element.get('class', '')} {element.get('id', '')}")}
    if names & _NOISE_NAMES:
        return not inside or size.link_share > 0.4
    return not inside and (_is_link_list(tag, size) or _is_cookie_bar(tag, size))


def _is_link_list(tag: str, size: _Size) -> bool:
    return tag in _LINK_LIST_TAGS and size.links >= _NAVIGATION_LINKS and size.link_share > 0.7


def _is_cookie_bar(tag: str, size: _Size) -> bool:
    return tag in _BAR_TAGS and size.text <= 1_000 and size.links > 0 and size.cookies and size.agreement
