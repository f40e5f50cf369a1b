"""What a document says about itself: YAML front matter, or a sidecar file `NAME.meta.yaml` beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from knowledge.errors import DocumentError
from knowledge.records import Reference

SIDECAR_SUFFIXES = (".meta.yaml", ".meta.yml")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_KEY = re.compile(r"^[A-Za-z_][\w-]*[ \t]*:", re.M)
_DAY = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*日?(?:[T ].*)?")
_MAX_CHARACTERS = 100_000
_MAX_BRACKETS = 1_000
"""Each open one slows the YAML parser down."""


@dataclass(frozen=True, slots=True)
class Description:
    """What is known about a document beside its text."""

    metadata: Mapping[str, str] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()


def split_front_matter(text: str) -> tuple[Description, str]:
    """Separate the front matter, if there is any, from the text that follows it.

    Raises:
        DocumentError: there is a front matter that isn't valid YAML; the message names the line.
    """
    found = _FRONT_MATTER.match(text[:_MAX_CHARACTERS])
    if not found or not _KEY.search(found[1]):
        return Description(), text
    return parse_description(found[1], "front matter", first_line=2), text[found.end() :]


def sidecar_of(path: Path) -> Path | None:
    """The file that describes `path`, if there is one."""
    for suffix in SIDECAR_SUFFIXES:
        beside = path.with_name(path.name + suffix)
        if beside.is_file():
            return beside
    return None


def read_sidecar(path: Path) -> Description:
    """Read the description beside a document; empty when there is none.

    Raises:
        DocumentError: the sidecar file can't be read or isn't valid YAML.
    """
    beside = sidecar_of(path)
    if beside is None:
        return Description()
    try:
        with beside.open(encoding="utf-8-sig") as file:
            text = file.read(_MAX_CHARACTERS)
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError(f"{beside.name} can't be read ({error}). It must be YAML in UTF-8.") from error
    return parse_description(text, beside.name, first_line=1)


def parse_description(text: str, where: str, first_line: int) -> Description:
    """Read YAML as a description.

    Raises:
        DocumentError: not valid YAML, or not a mapping; the message names `where` and the line.
    """
    import yaml

    if text.count("[") + text.count("{") > _MAX_BRACKETS:
        raise DocumentError(f"The {where} has more than {_MAX_BRACKETS} brackets. Write lists as lines with dashes.")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise DocumentError(f"The {where} uses YAML aliases. Write the values out.")
        values = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + first_line}" if mark else ""
        reason = getattr(error, "problem", None) or " ".join(str(error).split())[:100]
        raise DocumentError(f"The {where} isn't valid YAML{line}: {reason}. Correct it.") from error
    if values is None:
        return Description()
    if not isinstance(values, dict):
        raise DocumentError(f"The {where} isn't a list of `name: value` lines. Correct it.")
    references = _references(values.pop("references", None), where)
    metadata = {str(key): shown for key, value in values.items() if (shown := _shown(value))}
    return Description(metadata, references)


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, dict):
        return "; ".join(f"{key}: {shown}" for key, item in value.items() if (shown := _shown(item)))
    if isinstance(value, list):
        return ", ".join(shown for item in value if (shown := _shown(item)))
    return " ".join(str(value).split())


def _references(value: object, where: str) -> tuple[Reference, ...]:
    if value is None:
        return ()
    entries = value if isinstance(value, list) else [value]
    return tuple(_reference(entry, where) for entry in entries)


def _reference(entry: object, where: str) -> Reference:
    if isinstance(entry, str):
        return Reference(name=entry.strip(), url=entry.strip() if "://" in entry else "")
    if isinstance(entry, dict) and (entry.get("name") or entry.get("url")):
        url = _shown(entry.get("url"))
        return Reference(name=_shown(entry.get("name")) or url, url=url, as_of=_day(entry.get("date"), where))
    raise DocumentError(f"A reference in the {where} has neither name nor url: {entry!r}. Give it both.")


def _day(value: object, where: str) -> date | None:
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value).strip())
    except ValueError as error:
        raise DocumentError(f"A date in the {where} isn't of the form 2026-01-31: {value!r}. Correct it.") from error


def written_day(text: str, name: str) -> date:
    """A day as people write it: 2026-01-31, 2026/1/31, 2026.1.31, 2026年1月31日.

    Raises:
        DocumentError: it is none; a document must not be used longer than whoever wrote it meant.
    """
    found = _DAY.fullmatch(text.strip())
    try:
        return date(*(int(part) for part in found.groups())) if found else date.fromisoformat(text)
    except ValueError as error:
        raise DocumentError(f"`{name}: {text}` isn't a day. Write it as 2026-01-31, or leave it out.") from error
