"""A visitor's own price file: kept for them, reported row by row, and put before the catalog in what they calculate."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, nullcontext
from html import escape
from pathlib import Path

from assistant.events import Event
from assistant.schema import Language
from knowledge import catalog
from knowledge.catalog.records import Instance, PriceFile
from knowledge.errors import InvalidInput
from ui.words import word


class Prices:
    """Price files by owner, at most one each, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, tuple[int, PriceFile]] = {}

    def take(self, owner: str, file: Path) -> PriceFile:
        """Use a copy of the file from now on, in place of the one before.

        Raises:
            InvalidInput: it can't be read at all, or none of its rows can be used.
        """
        read = catalog.read_price_file(file)
        if not read.instances:
            first = read.problems[0] if read.problems else None
            why = f"line {first.line}: {first.reason}" if first else "there are none below the header"
            raise InvalidInput(f"{file.name} has no row that can be used; {why}")
        self.drop(owner)
        place = self._place(owner)
        place.mkdir(parents=True)
        shutil.copy(file, place / file.name)
        return read

    def drop(self, owner: str) -> None:
        """Go back to the catalog."""
        shutil.rmtree(self._place(owner), ignore_errors=True)

    def in_use(self, owner: str) -> tuple[str, PriceFile] | None:
        """The owner's file by name, and what it holds; None where there is none."""
        path = next(iter(self._place(owner).glob("*")), None)
        if path is None:
            return None
        changed = path.stat().st_mtime_ns
        known = self._read.get(path)
        if known is None or known[0] != changed:
            known = changed, catalog.read_price_file(path)
            self._read[path] = known
        return path.name, known[1]

    def of(self, owner: str) -> AbstractContextManager[None]:
        """A context in which calculators find the owner's prices before the catalog's."""
        rows = self._rows(owner)
        return catalog.using(rows) if rows else nullcontext()

    def during(self, owner: str, events: Iterator[Event]) -> Generator[Event]:
        """The events of an answer that is worked on with the owner's prices; to be used up in one thread."""
        with self.of(owner):
            yield from events

    def _rows(self, owner: str) -> tuple[Instance, ...]:
        used = self.in_use(owner)
        return used[1].instances if used else ()

    def _place(self, owner: str) -> Path:
        return self._folder / hashlib.sha256(owner.encode()).hexdigest()[:32]


def prices_html(used: tuple[str, PriceFile] | None, language: Language) -> str:
    """Which prices are in use, how to bring one's own, and what each row of them is good for."""

    def say(key: str) -> str:
        return word(key, language)

    chooser = (
        f'<p class="row"><label for="price-file" class="button">{say("choose_prices")}</label>'
        '<input type="file" id="price-file" class="hidden" accept=".csv,.xlsx" '
        f'aria-label="{say("choose_prices")}"></p>'
    )
    if used is None:
        return f'<p class="note">{say("prices_lead")}</p>{chooser}'
    name, read = used
    rows = "".join(
        f"<tr><td>{escape(row.provider)}</td><td>{escape(row.name)}</td><td>{escape(row.accelerator_label)}</td>"
        f"<td>{row.accelerator_count}</td><td>{row.on_demand if row.on_demand is not None else '—'} "
        f"{escape(row.currency)}</td><td class=date>{row.source.as_of or '—'}</td></tr>"
        for row in read.instances
    )
    head = "".join(
        f'<th scope="col">{say(key)}</th>'
        for key in ("provider", "instance", "gpu", "gpu_count", "price_instance_hour", "dates")
    )
    bad = "".join(
        f'<li class="fail">{say("line")} {problem.line}: {escape(problem.reason)}</li>' for problem in read.problems
    )
    return (
        f'<p role="status"><b>{escape(name)}</b> {say("prices_used")}: {len(read.instances)} {say("usable_rows")}, '
        f"{len(read.problems)} {say('failed')}</p>{f'<ul>{bad}</ul>' if bad else ''}"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{say("prices")}"><table><thead><tr>{head}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
        f'<p><button type="button" class="link" id="drop-prices">{say("prices_drop")}</button></p>{chooser}'
    )
