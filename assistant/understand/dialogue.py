"""From a question and what earlier turns fixed to a plan: which calculations with which arguments, and what to search.

`resolve` needs no vector and says what to search for; `plan` takes the vector that the search encoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, Origin, ToolRun
from assistant.tools.base import Presentation
from assistant.tools.registry import get_tool
from assistant.understand.frames import FRAMES, frame_of
from assistant.understand.intent import GUIDANCE, OUT_OF_SCOPE, UNLAWFUL
from assistant.understand.language import detect_language
from assistant.understand.mentions import Mentions, read_mentions
from assistant.understand.slots import Filling, Frame, fill
from assistant.understand.state import MAX_SUBJECT_CHARACTERS, MAX_UNDO, Call, DialogueState, Slot

Refusal = Literal["unlawful", "out_of_scope", "injection"]

_FOLLOW_UP = re.compile(
    r"^\s*(?:那(?:么|就|再|要是|如果)?|再|如果|要是|换(?:成|做|个)?|改(?:成|为|用)?|还是|上面|刚才|前面|第[一二三四]种|只|用|加上?|存|多|少|预算|呢"
    r"|and\b|what about|how about|with\b|then\b|what if|instead|but\b|same\b|ok\b|now\b|we can|let'?s|make (?:it|that)|use\b|go back)",
    re.I,
)
_FOLLOW_UP_END = re.compile(r"(?:呢|吗那)\s*[?？。]?\s*$|\b(?:instead|then)\s*[?.]?\s*$", re.I)
_UNDO = re.compile(
    r"(?:撤销|撤回|改回(?:去|来)?|还原|恢复(?:原来|之前|上一)|回到(?:之前|上一|原来)|undo|go back|revert|as before|the way it was)",
    re.I,
)
_ADVICE = re.compile(
    r"怎么(?!算|个算)|咋(?:办|整|弄)|如何|为什么|为啥|建议|该不该|要不要|应不应该|有必要|避免|有没有办法|选哪|哪个好|注意"
    r"|\bhow (?:do|can|should|would) (?!much|many|long)|\bhow to\b|\bwhy\b|\bshould\b|\bavoid|\badvice|\brecommend|\bworth\b",
    re.I,
)
_INJECTION = re.compile(
    r"(?:ignore|disregard|forget|override)\b[^.。\n]{0,30}\b(?:instruction|rule|prompt|previous|above|guideline)"
    r"|(?:system|initial|hidden|developer)\s*(?:prompt|message|instruction)"
    r"|(?:忽略|无视|忘(?:掉|记)|跳过|绕过)[^。\n]{0,12}(?:指令|规则|提示|要求|设定|限制|说明|约束)"
    r"|系统提示(?:词)?|(?:输出|打印|展示|告诉我)[^。\n]{0,8}(?:提示词|prompt)|you are now|你现在是(?!在)|<\|im_start\|>|\[/?INST\]"
    r"|(?:cite|引用|标注)[^。\n]{0,40}https?://\S+[^。\n]{0,20}(?:as|作为|当)[^。\n]{0,6}(?:source|来源|出处)",
    re.I,
)
MAX_FOLLOW_UP_CHARACTERS = 60
MAX_CALLS = 4
TOOL_FLOOR = 0.62
SECOND_TOOL_FLOOR = 0.95
GUIDANCE_FLOOR = 0.2
REFUSAL_FLOOR = 0.6


@dataclass(frozen=True, slots=True)
class Resolved:
    """A question with what it refers to."""

    question: str
    language: Language
    mentions: Mentions
    follow_up: bool
    undo: bool
    injection: bool
    search_text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one planned calculation: a run, or why there is none."""

    tool: str
    run: ToolRun | None = None
    shown: Presentation | None = None
    missing: MissingInputs | None = None
    invalid: InvalidField | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do for a question."""

    resolved: Resolved
    calls: tuple[Call, ...]
    guidance: bool
    refusal: Refusal | None
    state: DialogueState

    @property
    def language(self) -> Language:
        """Of the answer."""
        return self.resolved.language

    def run(self) -> list[Outcome]:
        """Run the calculations in order."""
        outcomes: list[Outcome] = []
        for call in self.calls:
            number = f"T{sum(outcome.run is not None for outcome in outcomes) + 1}"
            outcomes.append(_run(call, self.state.turn, self.language, number))
        return outcomes


def resolve(question: str, state: DialogueState) -> Resolved:
    """Read a question in the light of the conversation."""
    mentions = read_mentions(question)
    undo = bool(state.undo and _UNDO.search(question))
    follow_up = undo or _is_follow_up(question, state)
    subject = f"{state.subject}\n{question}" if follow_up and state.subject else question
    return Resolved(
        question, detect_language(question), mentions, follow_up, undo, bool(_INJECTION.search(question)), subject
    )


def plan(resolved: Resolved, state: DialogueState, intents: Mapping[str, float], *, covered: bool) -> Plan:
    """Decide what to calculate and whether guidance is wanted.

    Args:
        intents: label -> probability, from the query vector.
        covered: whether the documents answer the question.
    """
    turn = state.turn + 1
    refusal = _refusal(resolved, intents)
    calls: list[Call] = []
    if resolved.undo:
        calls = list(state.undo[-1])
    elif refusal is None:
        calls = _calls(resolved, state, intents, turn) or ([] if covered else _underspecified(resolved, intents, turn))
    guidance = refusal is None and (not calls or _wants_guidance(resolved, intents))
    return Plan(resolved, tuple(calls), guidance, refusal, _next_state(resolved, state, calls, turn))


def _is_follow_up(question: str, state: DialogueState) -> bool:
    if not state.turn:
        return False
    if state.awaiting:
        return len(question) <= 2 * MAX_FOLLOW_UP_CHARACTERS
    if len(question) > MAX_FOLLOW_UP_CHARACTERS:
        return False
    return bool(_FOLLOW_UP.search(question) or _FOLLOW_UP_END.search(question))


def _refusal(resolved: Resolved, intents: Mapping[str, float]) -> Refusal | None:
    if resolved.injection and not resolved.mentions.quantities:
        return "injection"
    if intents.get(UNLAWFUL, 0.0) >= REFUSAL_FLOOR:
        return "unlawful"
    if intents.get(OUT_OF_SCOPE, 0.0) >= REFUSAL_FLOOR and not resolved.follow_up:
        return "out_of_scope"
    return None


def _calls(resolved: Resolved, state: DialogueState, intents: Mapping[str, float], turn: int) -> list[Call]:
    candidates = [_candidate(frame, resolved, intents) for frame in FRAMES]
    ranked = sorted(candidates, key=lambda candidate: -candidate.evidence)
    if resolved.follow_up and state.calls and not _asks_for_another(ranked[0], state.calls):
        changed = _changed(state.calls, resolved, turn)
        if changed:
            return changed
    chosen = [c for c in ranked[:1] if c.evidence >= TOOL_FLOOR]
    chosen += [c for c in ranked[1:] if chosen and c.evidence >= SECOND_TOOL_FLOOR]
    facts = state.facts() if resolved.follow_up else {}
    calls = [
        _merged(Call(tool=c.frame.tool, slots=facts), c.frame, arguments, turn)
        for c in chosen
        for arguments in (c.filling.arguments, *c.filling.variants)
    ]
    return calls[:MAX_CALLS]


def _underspecified(resolved: Resolved, intents: Mapping[str, float], turn: int) -> list[Call]:
    """A short question for a calculation that states nothing ("does it fit?"): the calculator says what it needs."""
    if len(resolved.question) > MAX_FOLLOW_UP_CHARACTERS:
        return []
    asked = [frame for frame in FRAMES if frame.asks.search(resolved.mentions.text)]
    if not asked:
        return []
    frame = max(asked, key=lambda frame: intents.get(frame.tool, 0.0))
    return [_merged(Call(tool=frame.tool), frame, fill(frame, resolved.mentions).arguments, turn)]


@dataclass(frozen=True, slots=True)
class _Candidate:
    frame: Frame
    filling: Filling
    evidence: float


def _candidate(frame: Frame, resolved: Resolved, intents: Mapping[str, float]) -> _Candidate:
    """How strongly the question asks for a calculation: meaning, words, and whether its amounts fit."""
    filling = fill(frame, resolved.mentions)
    if frame.needs and not any(all(name in filling.arguments for name in names) for names in frame.needs):
        return _Candidate(frame, filling, 0.0)
    asked = 0.35 if frame.asks.search(resolved.mentions.text) else 0.0
    fitting = 0.12 * min(3, filling.used) - 0.08 * min(3, filling.unused)
    return _Candidate(frame, filling, intents.get(frame.tool, 0.0) + asked + fitting)


def _changed(calls: Sequence[Call], resolved: Resolved, turn: int) -> list[Call]:
    """The last calculations with what a follow-up changes; empty when it changes nothing of them."""
    first = frame_of(calls[0].tool)
    filling = fill(first, resolved.mentions)
    new = {name: value for name, value in filling.arguments.items() if calls[0].values().get(name) != value}
    if new and filling.variants:
        return [_merged(calls[0], first, arguments, turn) for arguments in (filling.arguments, *filling.variants)]
    merged = [_merged(call, frame_of(call.tool), _new(call, resolved), turn) for call in calls]
    return (
        list({call.model_dump_json(): call for call in merged}.values())
        if any(_new(c, resolved) for c in calls)
        else []
    )


def _new(call: Call, resolved: Resolved) -> dict[str, Any]:
    stated = fill(frame_of(call.tool), resolved.mentions).arguments
    return {name: value for name, value in stated.items() if call.values().get(name) != value}


def _asks_for_another(best: _Candidate, calls: Sequence[Call]) -> bool:
    return best.evidence >= SECOND_TOOL_FLOOR and all(call.tool != best.frame.tool for call in calls)


def _merged(call: Call, frame: Frame, stated: Mapping[str, Any], turn: int) -> Call:
    """Earlier slots that the frame knows, with what is stated now."""
    dropped = frame.dropped_by(stated)
    slots = {name: slot for name, slot in call.slots.items() if name in frame.arguments and name not in dropped}
    slots |= {name: Slot(value=value, turn=turn) for name, value in stated.items()}
    settled = frame.settle({name: slot.value for name, slot in slots.items()})
    return Call(
        tool=frame.tool,
        slots={
            name: slots[name] if name in slots and slots[name].value == value else Slot(value=value, turn=turn)
            for name, value in settled.items()
        },
    )


def _wants_guidance(resolved: Resolved, intents: Mapping[str, float]) -> bool:
    return intents.get(GUIDANCE, 0.0) >= GUIDANCE_FLOOR or bool(_ADVICE.search(resolved.question))


def _next_state(resolved: Resolved, state: DialogueState, calls: Sequence[Call], turn: int) -> DialogueState:
    undo = state.undo[:-1] if resolved.undo else state.undo
    if calls and not resolved.undo and state.calls:
        undo = [*undo, state.calls][-MAX_UNDO:]
    return DialogueState(
        turn=turn,
        subject=state.subject if resolved.follow_up else resolved.question[:MAX_SUBJECT_CHARACTERS],
        calls=list(calls) or (state.calls if resolved.follow_up else []),
        undo=undo,
    )


def _run(call: Call, turn: int, language: Language, number: str) -> Outcome:
    tool = get_tool(call.tool)
    origins: dict[str, Origin] = {
        name: "question" if slot.turn == turn else "earlier turn" for name, slot in call.slots.items()
    }
    arguments: dict[str, Any] = call.values()
    try:
        run = tool.run(arguments, language, origins, number)
    except MissingInputs as missing:
        return Outcome(call.tool, missing=missing)
    except InvalidField as invalid:
        return Outcome(call.tool, invalid=invalid)
    return Outcome(call.tool, run=run, shown=tool.present(run, language))
