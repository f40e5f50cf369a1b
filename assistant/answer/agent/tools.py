"""What the chat model can call: a search of the documents, and the calculators, guarded against invented inputs."""

from __future__ import annotations

import itertools
import json
import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant import tracing
from assistant.answer import prompts
from assistant.answer.calculations import markdown_table
from assistant.answer.figures import figures
from assistant.answer.verify.amounts import Support, support_of
from assistant.answer.verify.closeness import Closeness
from assistant.answer.verify.evidence import Evidence, plain, run_facts
from assistant.errors import AdvisorError, InvalidField, MissingInputs
from assistant.schema import Language, Origin
from assistant.tools.base import Tool
from assistant.tools.registry import NAMES, get_tool
from assistant.understand.state import Call, DialogueState, Slot
from knowledge import quantities
from knowledge.quantities import IncompatibleUnits
from knowledge.records import Hit, SearchResult

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool

SEARCH = "search_knowledge"
MAX_PASSAGES = 6
"""Passages that one search gives: more cost the model's attention and the reader's time."""
MAX_RESULT_CHARACTERS = 2_400
_CONSTANTS = frozenset(
    [*range(13), 24, 30, 31, 52, 60, 100, 360, 365, 730, 1000, 1024, 3600, 8760, 10**6, 10**9, 10**12]
)
"""Numbers of calendars and units, which an expression may use unstated."""
_LOG = logging.getLogger(__name__)


@dataclass
class Toolbox:
    """The tools of one question, and what came of them."""

    evidence: Evidence
    closeness: Closeness
    language: Language
    question: str
    earlier: Sequence[str]
    """The user's earlier questions of this conversation."""
    state: DialogueState
    """Before this question."""
    search: Callable[[str], tuple[SearchResult, bool]]
    """Passages for a query, and whether they answer it."""
    boundary: str
    missing: dict[str, MissingInputs] = field(default_factory=dict)
    """What calculators asked for and did not get, by tool."""
    calls: dict[str, Call] = field(default_factory=dict)
    """Arguments of the model's own calculations, by number."""
    _done: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tools(self) -> list[StructuredTool]:
        """For the agent."""
        from langchain_core.tools import StructuredTool

        def search_knowledge(query: str) -> str:
            return self._once(SEARCH, {"query": query}, lambda: self._search(query))

        def bound(name: str) -> StructuredTool:
            tool = get_tool(name)

            def run(**arguments: Any) -> str:
                return self._once(name, arguments, lambda: self._calculate(tool, arguments))

            return StructuredTool.from_function(
                func=run, name=name, description=tool.description[self.language], args_schema=tool.Inputs
            )

        searching = StructuredTool.from_function(
            func=search_knowledge, name=SEARCH, description=prompts.SEARCH_TOOL[self.language]
        )
        return [searching, *(bound(name) for name in NAMES)]

    def give_passages(self, hits: Sequence[Hit], *, covered: bool) -> str:
        """Number passages and write them down for the model."""
        if not hits or not covered:
            return prompts.NO_PASSAGES[self.language]
        numbered = self.evidence.add_passages(hits[:MAX_PASSAGES], covered=covered)
        self.closeness.prepare([unit.text for mark, _ in numbered for unit in self.evidence.units(mark)])
        written = "\n\n".join(f"[{mark}] {_heading(hit)}\n{_body(hit)}" for mark, hit in numbered)
        return f"{prompts.PASSAGES[self.language]}\n{prompts.fenced('passages', written, self.boundary)}"

    def give_run(self, number: str) -> str:
        """Write a calculation down for the model."""
        given = self.evidence.runs[number]
        shown, run = given.shown, given.run
        self.closeness.prepare([unit.text for unit in given.units])
        result = json.dumps(run.result, ensure_ascii=False, default=str)
        parts = [shown.headline, markdown_table(shown.table) if shown.table else "", shown.drivers, run_facts(run)]
        parts.append(result[:MAX_RESULT_CHARACTERS])
        return f"[{number}] " + "\n".join(part for part in parts if part)

    def _once(self, name: str, arguments: Mapping[str, Any], work: Callable[[], str]) -> str:
        """Run a tool unless it ran with these arguments before; whatever goes wrong is told to the model."""
        key = f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"
        with self._lock:
            if key in self._done:
                return prompts.SAME_CALL[self.language].format(tool=name)
            self._done[key] = ""
        with tracing.span(f"execute_tool {name}", operation="execute_tool", tool=name):
            try:
                return work()
            except MissingInputs as missing:
                self.missing[name] = missing
                return prompts.MISSING[self.language].format(tool=name, question=missing.question)
            except InvalidField as invalid:
                return prompts.INVALID[self.language].format(tool=name, reason=invalid)
            except AdvisorError as error:
                return prompts.INVALID[self.language].format(tool=name, reason=error)
            except Exception:
                _LOG.exception("the tool %s failed", name)
                return prompts.TOOL_FAILED[self.language].format(tool=name)

    def _search(self, query: str) -> str:
        found, covered = self.search(query)
        return self.give_passages(found.hits, covered=covered)

    def _calculate(self, tool: Tool[Any], arguments: Mapping[str, Any]) -> str:
        given = {name: value for name, value in arguments.items() if value is not None and value != ""}
        support = self._stated()
        strange = [f"{name} = {value:g}" for name, value in _invented(tool, given, support, self.state)]
        if strange:
            return prompts.NOT_STATED[self.language].format(arguments=", ".join(strange))
        origins = {name: self._origin(tool, name, value) for name, value in given.items()}
        if self.language == "zh" and "currency" not in given and _in_money(tool, given):
            given["currency"], origins["currency"] = "CNY", "default"
        run = tool.run(given, self.language, origins, self.evidence.next_run())
        run = self.evidence.add_run(run, tool.present(run, self.language))
        self.missing.pop(tool.name, None)
        turn = self.state.turn + 1
        facts = self.state.facts()
        self.calls[run.n] = Call(
            tool=tool.name,
            slots={
                name: facts[name] if name in facts and facts[name].value == value else Slot(value=value, turn=turn)
                for name, value in given.items()
            },
        )
        return prompts.fenced("calculation", self.give_run(run.n), self.boundary)

    def _stated(self) -> Support:
        """Every number that somebody or something of this conversation has stated."""
        given = [given for given in self.evidence.passages.values() if given.covered]
        texts = [self.question, *self.earlier, *(plain(passage.hit.text) for passage in given)]
        runs = [given.run for given in self.evidence.runs.values()]
        texts += [unit.text for run in self.evidence.runs.values() for unit in run.units]
        return support_of(texts, runs)

    def _origin(self, tool: Tool[Any], name: str, value: Any) -> Origin:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return "question"
        unit = tool.Inputs.unit_of(name)
        if _is_stated(float(value), unit, support_of([self.question])):
            return "question"
        slot = self.state.facts().get(name)
        if (slot is not None and slot.value == value) or _is_stated(float(value), unit, support_of(self.earlier)):
            return "earlier turn"
        return "question" if _follows(float(value), unit, support_of([self.question, *self.earlier])) else "catalog"


def _in_money(tool: Tool[Any], arguments: Mapping[str, Any]) -> bool:
    """Whether a price or a budget is given, which in Chinese is yuan where no currency is named."""
    money = any((tool.Inputs.unit_of(name) or "").startswith("money") for name in arguments)
    return money and "currency" in tool.Inputs.model_fields


def _invented(
    tool: Tool[Any], arguments: Mapping[str, Any], support: Support, state: DialogueState
) -> list[tuple[str, float]]:
    """Numeric arguments that nobody stated and that don't follow from two stated numbers."""
    facts = state.facts()
    strange = []
    for name, value in arguments.items():
        if name == "expression" and isinstance(value, str):
            strange += [(name, read) for read in _operands(value) if not _is_stated(read, None, support)]
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if name in facts and facts[name].value == value:
            continue
        unit = tool.Inputs.unit_of(name)
        if not _is_stated(float(value), unit, support) and not _follows(float(value), unit, support):
            strange.append((name, float(value)))
    return strange


def _operands(expression: str) -> list[float]:
    return [figure.readings[-1] for figure in figures(expression) if figure.readings[0] not in _CONSTANTS]


def _is_stated(value: float, unit: str | None, support: Support) -> bool:
    """Whether an amount, in its argument's unit, was stated in any unit, or as a bare number."""

    def near(other: float) -> bool:
        return math.isclose(value, abs(other), rel_tol=2e-3)

    if value == 0 or any(near(other) for other in (*support.values, *support.bare)):
        return True
    if any(near(count) for count, _ in support.counts):
        return True
    if unit is None:
        return any(near(other) for other, _ in support.typed)
    for other, other_unit in support.typed:
        try:
            if near(quantities.convert(other, other_unit, unit)):
                return True
        except IncompatibleUnits:
            continue
    return False


def _follows(value: float, unit: str | None, support: Support) -> bool:
    """Whether it is the product, ratio, sum or difference of two stated amounts ("double that", "20% off")."""
    own = []
    for other, other_unit in support.typed:
        try:
            own.append(quantities.convert(other, other_unit, unit or "1"))
        except IncompatibleUnits:
            own.append(other)
    amounts = list(dict.fromkeys([*own, *support.bare, *(count for count, _ in support.counts), 2.0, 0.5]))[:60]
    return any(
        math.isclose(value, derived, rel_tol=2e-3)
        for one, other in itertools.permutations(amounts, 2)
        for derived in (one * other, one / other if other else math.nan, one + other, one - other, one * (1 - other))
    )


def _heading(hit: Hit) -> str:
    date = f" ({hit.date})" if hit.date else ""
    return f"{hit.title} › {hit.section}{date}" if hit.section else f"{hit.title}{date}"


def _body(hit: Hit) -> str:
    return "\n".join(plain(line) for line in hit.text.split("\n") if line.strip())
