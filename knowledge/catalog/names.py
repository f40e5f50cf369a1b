"""Finds the row that a written name means: aliases in both languages, spelling variants, typos, sizes.

A name that fits several rows of about the same size gives the newest and says so; one that fits rows of different
sizes, or none, is an error that names the candidates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Generic, TypeVar

from knowledge.catalog import data
from knowledge.catalog.records import Accelerator, Model
from knowledge.errors import InvalidInput

Row = TypeVar("Row")

_SAME_SIZE = 0.1


class UnknownName(InvalidInput):
    """Nothing in the catalog has this name; `nearest` are names that look like it."""

    def __init__(self, message: str, nearest: Sequence[str]) -> None:
        super().__init__(message)
        self.nearest = tuple(nearest)


class AmbiguousName(InvalidInput):
    """The name fits rows that differ too much to choose; `candidates` are their names."""

    def __init__(self, message: str, candidates: Sequence[str]) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


@dataclass(frozen=True, slots=True)
class Match(Generic[Row]):
    """The row that a name means. `others` are rows that it could also have meant; empty when the name is exact."""

    row: Row
    others: tuple[str, ...] = ()


def fold(text: str) -> str:
    """NFKC, lower case, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


_MEMORY = re.compile(r"(?<![a-z\d.])(\d{2,3})\s*(?:gib|gb|g)(?![a-z0-9])")
_FORM = re.compile(r"(?<![a-z])(sxm\d?|pci-?e|nvl|oam)(?![a-z])")
_COUNT = re.compile(
    r"^\s*(?:\d+\s*(?:[x×*]|张|块|卡|片)|[一二两三四五六七八九十百]+\s*(?:张|块|卡|片)|双卡?)\s*"
    r"|\s*(?<![a-z])[x×*]\s*\d+\s*$"
)
_NOISE = re.compile(
    r"nvidia|geforce|tesla|英伟达|华为|huawei|instinct|\bamd\b|habana|google|hbm\d\w*|显卡|gpus?\b|卡$|版"
)


def _squeeze(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


@cache
def _accelerator_families() -> dict[str, str]:
    families = {_squeeze(fold(row.family)): row.family for row in data.read(Accelerator)}
    return families | {_squeeze(fold(alias)): name for alias, name in data.aliases("accelerator").items()}


@cache
def find_accelerator(text: str) -> Match[Accelerator]:
    """The accelerator that a written name means ("H-100", "a100-80g", "4090", "V100 32G").

    Raises:
        UnknownName: no accelerator has that name, or none of that name has that much memory.
    """
    rest = fold(text)
    exact = next((row for row in data.read(Accelerator) if fold(row.name) == rest), None)
    if exact is not None:
        return Match(exact)
    rest = _NOISE.sub(" ", _COUNT.sub("", rest))
    memory = _MEMORY.search(rest)
    rest = _MEMORY.sub(" ", rest)
    form = _FORM.search(rest)
    key = _squeeze(_FORM.sub(" ", rest))
    families = _accelerator_families()
    if key not in families:
        nearest = get_close_matches(key, families, n=3, cutoff=0.5) or list(families)[:3]
        names = tuple(dict.fromkeys(families[name] for name in nearest))
        raise UnknownName(f"No accelerator '{text.strip()}' is known. Nearest names: {', '.join(names)}.", names)
    rows = [row for row in data.read(Accelerator) if row.family == families[key]]
    if memory is not None:
        wanted = float(memory[1])
        sized = [row for row in rows if row.memory_gb is not None and abs(row.memory_gb - wanted) <= 0.06 * wanted]
        if not sized:
            names = tuple(row.name for row in rows)
            raise UnknownName(f"No {families[key]} with {wanted:.0f} GB is known. Known: {', '.join(names)}.", names)
        rows = sized
    if form is not None:
        kind = "pcie" if form[1].startswith("pci") else form[1][:3]
        rows = [row for row in rows if kind in fold(row.name)] or rows
    return Match(rows[0], tuple(row.name for row in rows[1:] if row.memory_gb != rows[0].memory_gb))


@dataclass(frozen=True, slots=True)
class _ModelName:
    """A model's name taken apart."""

    family: str
    version: str
    size: float | None
    experts: str
    """"8x7b" of Mixtral 8x7B; "" for others."""
    tags: frozenset[str]


_EXPERTS = re.compile(r"(\d+)\s*[x×*]\s*(\d+(?:\.\d+)?)\s*b")
_SIZE = re.compile(r"(?<![a-z\d.])(\d+(?:\.\d+)?)\s*(t|b|m|亿)(?![a-z])")
_ACTIVE = re.compile(r"a\d+(?:\.\d+)?b")
# fmt: off
_IGNORED = frozenset(
    {
        "instruct", "chat", "base", "it", "hf", "model", "models", "llm", "lm", "b", "text", "official", "preview",
        "latest", "fp8", "bf16", "fp16", "gptq", "awq", "int4", "4bit", "8bit", "模型", "大模型", "版", "的", "参数",
    }
)
# fmt: on
_UNITS = {"t": 1e12, "b": 1e9, "m": 1e6, "亿": 1e8}


def _family_of(text: str) -> tuple[str, str] | None:
    """The family and the text without it; the longest alias that occurs wins."""
    families = data.aliases("family")
    for alias in sorted(families, key=len, reverse=True):
        at = text.find(alias)
        if at < 0:
            continue
        before = text[at - 1] if at else " "
        if alias.isascii() and before.isascii() and before.isalnum():
            continue
        return families[alias], f"{text[:at]} {text[at + len(alias) :]}"
    for word in re.findall(r"[a-z]{4,}", text):
        close = get_close_matches(word, [alias for alias in families if alias.isascii()], n=1, cutoff=0.8)
        if close:
            return families[close[0]], text.replace(word, " ", 1)
    return None


def _take_apart(text: str) -> _ModelName | None:
    folded = fold(text)
    if "/" in folded:
        folded = folded.rsplit("/", 1)[1]
    folded = _ACTIVE.sub(" ", folded)
    experts = _EXPERTS.search(folded)
    folded = _EXPERTS.sub(" ", folded)
    size = _SIZE.search(folded)
    folded = _SIZE.sub(" ", folded)
    found = _family_of(folded)
    if found is None:
        return None
    family, rest = found
    version = ""
    tags = set()
    for word in re.findall(r"[a-z]+\d+(?:\.\d+)?|[a-z]+|\d+(?:\.\d+)?|[一-鿿]+", rest):
        number = re.fullmatch(r"v?(\d+(?:\.\d+)?)", word)
        if number and not version:
            version = number[1].removesuffix(".0")
        elif word not in _IGNORED and not re.fullmatch(r"\d{3,}", word):
            tags.add({"蒸馏": "distill", "蒸馏版": "distill", "distilled": "distill"}.get(word, word))
    return _ModelName(
        family,
        version,
        float(size[1]) * _UNITS[size[2]] if size else None,
        f"{experts[1]}x{experts[2]}b" if experts else "",
        frozenset(tags),
    )


@cache
def _model_names() -> tuple[tuple[Model, _ModelName], ...]:
    return tuple((row, name) for row in data.read(Model) if (name := _take_apart(row.name)) is not None)


def _fits(model: Model, name: _ModelName, wanted: _ModelName) -> bool:
    if name.family != wanted.family:
        return False
    if wanted.version and name.version != wanted.version:
        return False
    if wanted.experts and name.experts != wanted.experts:
        return False
    if not wanted.tags <= name.tags:
        return False
    if wanted.size is None:
        return True
    return name.size == wanted.size or abs(model.parameters - wanted.size) <= 0.05 * wanted.size


def _names(rows: Iterable[Model]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.name for row in rows))


def _spread(rows: list[Model]) -> tuple[str, ...]:
    """One name a size, the newest of each, largest first; at most eight, of which the largest and the smallest."""
    by_size: dict[int, Model] = {}
    for row in rows:
        by_size[round(row.parameters / 5e8)] = row
    ordered = sorted(by_size.values(), key=lambda row: -row.parameters)
    return _names([*ordered[:6], *ordered[6:][-2:]])


@cache
def find_model(text: str) -> Match[Model]:
    """The model that a written name means ("llama3 70b", "千问72B", "deepseek r1 32b").

    Raises:
        UnknownName: no model has that name.
        AmbiguousName: the name fits models of different sizes ("deepseek").
    """
    exact = next((row for row in data.read(Model) if _squeeze(fold(row.name)) == _squeeze(fold(text))), None)
    if exact is not None:
        return Match(exact)
    wanted = _take_apart(text)
    if wanted is None:
        names = {fold(row.name): row.name for row in data.read(Model)}
        nearest = tuple(names[name] for name in get_close_matches(fold(text), names, n=3, cutoff=0.3))
        hint = f" Nearest names: {', '.join(nearest)}." if nearest else ""
        raise UnknownName(f"No model '{text.strip()}' is known.{hint} Its parameter count will do instead.", nearest)
    found = [(row, name) for row, name in _model_names() if _fits(row, name, wanted)]
    if not found and wanted.tags:
        untagged = _ModelName(wanted.family, wanted.version, wanted.size, wanted.experts, frozenset())
        found = [(row, name) for row, name in _model_names() if _fits(row, name, untagged)]
    if not found:
        family = [row for row, name in _model_names() if name.family == wanted.family]
        size = wanted.size
        near = sorted(family, key=lambda row: abs(row.parameters - size)) if size is not None else family
        names_near = _names(near[:4])
        raise UnknownName(
            f"No model '{text.strip()}' is known. Nearest names: {', '.join(names_near)}. "
            "Its parameter count will do instead.",
            names_near,
        )
    fitting = found
    plain = [pair for pair in found if pair[1].tags == wanted.tags]
    if plain:
        found = plain
    if not wanted.version:
        unversioned = [pair for pair in found if not pair[1].version]
        if unversioned and wanted.size is None and len({pair[1].size for pair in unversioned}) == 1:
            found = unversioned
    rows = [row for row, _ in found]
    sizes = [row.parameters for row in rows]
    if max(sizes) > min(sizes) * (1 + _SAME_SIZE):
        candidates = _spread([row for row, _ in fitting])
        raise AmbiguousName(f"'{text.strip()}' can mean several models: {', '.join(candidates)}.", candidates)
    return Match(rows[-1], _names(rows[:-1]))


@cache
def find_provider(text: str) -> str:
    """The catalog's name of a provider ("阿里云" -> "aliyun").

    Raises:
        UnknownName: no provider has that name.
    """
    folded = fold(text)
    known = data.aliases("provider")
    name = known.get(folded) or known.get(_squeeze(folded))
    if name is None:
        contained = [alias for alias in known if len(alias) > 2 and alias in folded]
        name = known[max(contained, key=len)] if contained else None
    if name is None:
        nearest = tuple(dict.fromkeys(known[alias] for alias in get_close_matches(folded, known, n=3, cutoff=0.5)))
        hint = f" Nearest: {', '.join(nearest)}." if nearest else f" Known: {', '.join(sorted(set(known.values())))}."
        raise UnknownName(f"No provider '{text.strip()}' is known.{hint}", nearest)
    return name
