"""Finds the catalog's names in running text, in both languages: models, accelerators, providers, instances, regions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from knowledge.catalog import data
from knowledge.catalog.names import AmbiguousName, UnknownName, find_accelerator, find_model
from knowledge.catalog.records import Accelerator, GridCarbon, Instance

Kind = Literal["model", "accelerator", "provider", "instance", "region", "place"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text. `name` is the catalog's; empty when it can mean several, which `candidates` names."""

    kind: Kind
    name: str
    start: int
    end: int
    candidates: tuple[str, ...] = ()


def mentions(text: str) -> list[Mention]:
    """All names of the catalog that occur, in order; a longer name wins over one inside it."""
    found = sorted([*_models(text), *_accelerators(text), *_verbatim(text)], key=lambda m: (m.start, -m.end))
    kept: list[Mention] = []
    for mention in found:
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


def _accelerators(text: str) -> Iterator[Mention]:
    for match in _accelerator_pattern().finditer(text):
        written = match.group()
        for candidate in dict.fromkeys((written, match["family"])):
            try:
                row = find_accelerator(candidate).row
            except UnknownName:
                continue
            yield Mention("accelerator", row.name, match.start(), match.end())
            break


def _models(text: str) -> Iterator[Mention]:
    for match in _model_pattern().finditer(text):
        end = match.end()
        for stop in dict.fromkeys((end, match.end("family"))):
            written = text[match.start() : stop]
            try:
                yield Mention("model", find_model(written).row.name, match.start(), stop)
            except AmbiguousName as several:
                yield Mention("model", "", match.start(), stop, several.candidates)
            except UnknownName:
                continue
            break


def _verbatim(text: str) -> Iterator[Mention]:
    for kind, (pattern, names) in _verbatim_patterns().items():
        for match in pattern.finditer(text):
            yield Mention(kind, names[match.group().casefold()], match.start(), match.end())


@cache
def _accelerator_pattern() -> re.Pattern[str]:
    families = {row.family for row in data.read(Accelerator)} | set(data.aliases("accelerator"))
    return re.compile(
        rf"(?:(?<![A-Za-z0-9])|(?<=\d[xX*]))(?P<family>{_loosely(families)})(?![A-Za-z0-9]*[a-z][A-Za-z0-9]*\.)"
        r"(?:[-\s]?(?:sxm\d?|pcie|nvl))?(?:[-\s(（]{0,2}\d{2,3}\s?g(?:i?b)?(?![a-z/]))?(?:[-\s]?(?:sxm\d?|pcie|nvl))?"
        r"(?:s(?=[^A-Za-z0-9]|$))?(?![A-Za-z0-9])",
        re.I,
    )


@cache
def _model_pattern() -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?<![A-Za-z0-9])|(?<=[\u4e00-\u9fff]))(?P<family>{_loosely(data.aliases('family'))})(?![A-UW-Za-uw-z]|v(?!\d))"
        r"(?:[-_]?v?\d+(?:\.\d+)?(?![\d.]*\s?[bt]\b|x\d))?(?:[-\s]v?\d(?:\.\d)?(?![\d.]*\s?[bt]\b|\d|x\d))?"
        r"(?:[-_\s]?(?:base|instruct|chat|large|small|xl|medium|mini|r1|v3|v2|distill(?:ed)?|coder|moe|蒸馏版?))*"
        r"(?:[-_\s]?\d+x\d+b|[-_\s]?\d+(?:\.\d+)?\s?[bB](?![A-Za-z])(?:-a\d+b)?)?",
        re.I,
    )


def _loosely(names: Iterable[str]) -> str:
    """The names, longest first, with an optional space or hyphen wherever letters meet digits or a space stands."""
    spellings = []
    for name in sorted(set(names), key=len, reverse=True):
        parts = re.findall(r"[A-Za-z]+|\d+(?:\.\d+)?|[^\sA-Za-z0-9-]+", name)
        spellings.append(r"[-\s]?".join(re.escape(part) for part in parts))
    return "|".join(spellings)


@cache
def _verbatim_patterns() -> dict[Kind, tuple[re.Pattern[str], dict[str, str]]]:
    regions = {row.region for row in data.read(Instance) if row.region}
    regions |= {row.region for row in data.read(GridCarbon) if row.provider != "world"}
    tables: dict[Kind, dict[str, str]] = {
        "provider": dict(data.aliases("provider")),
        "instance": {row.name: row.name for row in data.read(Instance)},
        "region": {region: region for region in regions if region},
        "place": dict(data.aliases("place")),
    }
    return {
        kind: (_words(names), {name.casefold(): value for name, value in names.items()})
        for kind, names in tables.items()
    }


def _words(names: Iterable[str]) -> re.Pattern[str]:
    spellings = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{spellings})(?![A-Za-z0-9])", re.I)
