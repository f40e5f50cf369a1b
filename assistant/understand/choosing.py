"""Which calculations a question asks for: how strongly for each, with which arguments, and when to ask back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assistant.understand.changing import changed, merged_call
from assistant.understand.frames import FRAMES, frame_of
from assistant.understand.intent import GUIDANCE, OUT_OF_SCOPE, WANTS_FIGURE
from assistant.understand.mentions import Mentions, read_mentions
from assistant.understand.resolving import MAX_FOLLOW_UP_CHARACTERS, PRONOUN, Resolved
from assistant.understand.running import can_run
from assistant.understand.slots import Filling, Frame, fill
from assistant.understand.state import Call, DialogueState

_RELATED = re.compile(r"更|其他|别的|办法|\b(?:alternativ\w*|faster|cheaper|better|instead|else)\b", re.I)
"""A part that asks for something else than the part before it means nothing without it."""
ADVICE = re.compile(
    r"怎么(?!算|个算|分)|咋(?:办|整|弄)|如何|为什么|为啥|建议|该不该|要不要|应不应该|有必要|避免|有没有办法|选哪|哪个好|注意|必须|一定要|先(?:停|查|看)|哪些|区别|最(?:省|快|好|便宜|稳)的?(?:办法|方法|方式|做法)|风险|靠谱|可靠吗"
    r"|\bhow (?:do|can|should|would) (?!much|many|long)|\bhow to\b|\bwhy\b|\bshould\b|\bavoid|\badvice|\brecommend|\bworth\b|\bdifference\b|\b(?:best|cheapest|fastest|safest|right) way\b|\brisks?\b|\bbesides\b",
    re.I,
)
_AMOUNT_ASKED = re.compile(
    r"多少|几(?:张|天|个|台|块|倍|小时|卡|点|秒|分钟|吨|度|步|成|份|年|月)|多(?:久|大|长|快)|够(?:不够|用?吗|不|[^，。,?？]{0,12}吗)|(?:放|装|塞)得?下|能不能(?:跑|训|装|放)|够[训跑装]|跑得动|行不行?|[卡得能]行吗|算算|算一下|算下|估(?:算|一下|个|下)"
    r"|哪个便宜|划算|撑爆|会超|给个数|要个数|算笔账|具体数|\bhow (?:long|many|much|big|large|fast|often)\b|\beta\b|\bfits?\b|\bcosts? (?:of|us|me)|\bwhat (?:will|would|does|do)\b.{0,16}\bcost|\bprice of|\benough\b"
    r"|\bspeed-?up\b|\bbreak-?even point|\bout of memory\?|\bafford\b|\bfootprint\b|\b(?:a|the) (?:number|figures?)\b|\brun the numbers\b|\bin (?:dollars|euros|yuan|minutes|days|hours)\b|\bnumbers?,? please\b|\bballpark\b|\bcan (?:i|we) (?:fine-?tune|train|run|fit|host)\b|\bwork out\b|\bcalculate|\bestimate\b|\bfill up\b|\bwhen (?:will|do|does|is)\b|\btrain .{0,20}on (?:\d|one|two|my)",
    re.I,
)
MAX_CALLS = 4
TOOL_FLOOR = 0.6
SECOND_TOOL_FLOOR = 0.95
GUIDANCE_PART_FLOOR = 0.3
CLEARLY_ASKED = 0.5
MAX_UNDERSPECIFIED_CHARACTERS = 90
FIGURE_FLOOR = 0.6
UNCOVERED_FIGURE_FLOOR = 0.4
"""From here a question that states too little wants a figure; less where the documents have nothing for it."""
ASKED_FLOOR = 0.2
SUBJECTS = frozenset({"model", "parameters"})
"""Who names these speaks of a case of their own."""
ELLIPTIC_CHARACTERS = 14
BRIEF_CHARACTERS = 24
ELLIPTIC_WORDS = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what its vector says."""

    resolved: Resolved
    intents: Mapping[str, float]
    covered: bool

    def best_tool(self) -> str:
        """The calculator that the vector is nearest to."""
        return max((frame.tool for frame in FRAMES), key=lambda tool: self.intents.get(tool, 0.0))


@dataclass(frozen=True, slots=True)
class _Candidate:
    frame: Frame
    filling: Filling
    evidence: float


def for_whole(asked: Asked, state: DialogueState, turn: int) -> list[Call]:
    """Calculations for a message, taken as one question."""
    resolved = asked.resolved
    ranked = _ranked(asked, resolved.mentions)
    if state.calls and (calls := _follow_up(asked, ranked, state, turn)):
        return calls
    if resolved.asks_price:
        frame = frame_of("select_instances")
        return [merged_call(Call(tool=frame.tool), frame, _offer_of(fill(frame, resolved.mentions).arguments), turn)]
    facts = state.facts() if resolved.follow_up else {}
    calls = [
        merged_call(Call(tool=c.frame.tool, slots=facts), c.frame, arguments, turn)
        for c in _chosen(ranked)
        for arguments in (c.filling.arguments, *c.filling.variants)
    ][:MAX_CALLS] or _underspecified(asked, state, turn)
    if not asked.covered or resolved.follow_up:
        return calls
    own_case = _own_case(asked, ranked)
    return [
        call
        for call in calls
        if call.tool in own_case or is_worth_asking(asked, call.tool) or can_run(call, resolved.language)
    ]


def _own_case(asked: Asked, ranked: Sequence[_Candidate]) -> set[str]:
    """Calculators that a question with amounts of its own asks for so clearly that general advice would miss it."""
    if ADVICE.search(asked.resolved.mentions.text) or asked.intents.get(GUIDANCE, 0.0) >= CLEARLY_ASKED:
        return set()
    return {c.frame.tool for c in ranked if c.evidence >= SECOND_TOOL_FLOOR and c.filling.used}


def _offer_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name in ("gpu", "provider", "region", "purchase")}


def _follow_up(asked: Asked, ranked: Sequence[_Candidate], state: DialogueState, turn: int) -> list[Call]:
    """The last calculations changed; empty when the question is another one."""
    resolved = asked.resolved
    if len(resolved.message.text) > 2 * MAX_FOLLOW_UP_CHARACTERS or _asks_for_another(ranked[0], state.calls):
        return []
    stands_alone = ranked[0].evidence >= TOOL_FLOOR and ranked[0].filling.used > 1 and not state.awaiting
    advice = asked.intents.get(GUIDANCE, 0.0) >= CLEARLY_ASKED and not resolved.mentions.quantities
    advice = advice and not _states_another(state.calls, resolved)
    if not resolved.follow_up and (stands_alone or advice):
        return []
    return changed(state.calls, resolved, turn)


def _states_another(calls: Sequence[Call], resolved: Resolved) -> bool:
    """Whether a few words give the last calculation another value ("LoRA, not quantised")."""
    if len(resolved.message.text) > BRIEF_CHARACTERS or ADVICE.search(resolved.message.text):
        return False
    filled = fill(frame_of(calls[0].tool), resolved.mentions).arguments
    return any(name in filled and filled[name] != value for name, value in calls[0].values().items())


def _ranked(asked: Asked, mentions: Mentions) -> list[_Candidate]:
    candidates = [_candidate(frame, mentions, asked.intents) for frame in FRAMES]
    return sorted(candidates, key=lambda candidate: -candidate.evidence)


def _chosen(ranked: Sequence[_Candidate]) -> list[_Candidate]:
    chosen = [candidate for candidate in ranked[:1] if candidate.evidence >= TOOL_FLOOR]
    return chosen + [candidate for candidate in ranked[1:] if chosen and candidate.evidence >= SECOND_TOOL_FLOOR]


def for_parts(
    asked: Asked, state: DialogueState, part_intents: Sequence[Mapping[str, float]], turn: int
) -> tuple[list[Call], tuple[str, ...]]:
    """Calculations for the message, then for each part that wants another; and the parts that want guidance."""
    resolved = asked.resolved
    parts = [
        (text, read_mentions(text), probabilities)
        for text, probabilities in zip(resolved.parts, part_intents, strict=True)
    ]
    best = [max((_candidate(f, own, p) for f in FRAMES), key=lambda c: c.evidence) for _, own, p in parts]
    advised = [_is_advice(text, own, p, candidate) for (text, own, p), candidate in zip(parts, best, strict=True)]
    numeric = [text for (text, _, _), advice in zip(parts, advised, strict=True) if not advice]
    together = read_mentions("\n".join([resolved.message.setting, *numeric])) if any(advised) else resolved.mentions
    calls: list[Call] = []
    if numeric:
        calls = for_whole(replace(asked, resolved=replace(resolved, mentions=together)), state, turn)
    searches = []
    for index, ((_, own, probabilities), advice) in enumerate(zip(parts, advised, strict=True)):
        ranked = [_of_part(frame, own, resolved.mentions, probabilities) for frame in FRAMES]
        candidate = max(ranked, key=lambda c: c.evidence)
        if (
            not advice
            and candidate.evidence >= SECOND_TOOL_FLOOR
            and all(call.tool != candidate.frame.tool for call in calls)
        ):
            calls.append(
                merged_call(Call(tool=candidate.frame.tool), candidate.frame, candidate.filling.arguments, turn)
            )
        nearest = max((frame.tool for frame in FRAMES), key=lambda tool: probabilities.get(tool, 0.0))
        left_out = candidate.evidence < TOOL_FLOOR and all(call.tool != nearest for call in calls)
        if advice or left_out:
            searches.append(_with_context(resolved.parts, index))
    return calls[:MAX_CALLS], tuple(searches)


def _is_advice(text: str, own: Mentions, intents: Mapping[str, float], candidate: _Candidate) -> bool:
    """Whether a part of a message is answered from documents rather than worked out."""
    if ADVICE.search(text) and (candidate.evidence < SECOND_TOOL_FLOOR or not own.quantities):
        return True
    if candidate.evidence >= SECOND_TOOL_FLOOR:
        return False
    states = candidate.evidence >= TOOL_FLOOR and own.quantities
    return not states and (
        intents.get(WANTS_FIGURE, 0.0) < FIGURE_FLOOR or intents.get(GUIDANCE, 0.0) >= GUIDANCE_PART_FLOOR
    )


def _with_context(parts: Sequence[str], index: int) -> str:
    """A part, behind the ones before it for as long as they mean nothing alone."""
    start = index
    while start and _is_elliptic(parts[start]):
        start -= 1
    return "\n".join(parts[start : index + 1])


def _is_elliptic(text: str) -> bool:
    """Whether a part means nothing without the one before it."""
    short = len(text.split()) <= ELLIPTIC_WORDS if text.isascii() else len(text) < ELLIPTIC_CHARACTERS
    return bool(short or PRONOUN.search(text) or _RELATED.search(text))


def _of_part(frame: Frame, own: Mentions, whole: Mentions, intents: Mapping[str, float]) -> _Candidate:
    """A part takes what it doesn't state from the rest of the message; plain arithmetic only what it states itself."""
    candidate = _candidate(frame, own, intents)
    if frame.tool == "calculate" or not frame.asks.search(own.text):
        return candidate
    around = fill(frame, whole).arguments
    named = {choice.argument for choice in frame.choices}
    arguments = {name: value for name, value in around.items() if name not in named} | dict(candidate.filling.arguments)
    filling = replace(
        candidate.filling, arguments=arguments, variants=(), used=len(arguments), unused=0, ignores_money=False
    )
    return _Candidate(frame, filling, _evidence(frame, filling, own, intents))


def _underspecified(asked: Asked, state: DialogueState, turn: int) -> list[Call]:
    """A short question for a calculation that states too little ("does it fit?"): the calculator says what it needs."""
    resolved = asked.resolved
    text = resolved.mentions.text
    after_advice = resolved.follow_up and not state.calls and not state.awaiting
    if len(text) > MAX_UNDERSPECIFIED_CHARACTERS or (after_advice and not resolved.mentions.quantities):
        return []
    best = asked.best_tool()
    worded = [frame.tool for frame in FRAMES if frame.asks.search(text)]
    if best not in worded and asked.intents.get(best, 0.0) < CLEARLY_ASKED:
        best = max(worded, key=lambda tool: asked.intents.get(tool, 0.0), default="")
    if not best or asked.intents.get(best, 0.0) < ASKED_FLOOR or not is_worth_asking(asked, best):
        return []
    frame = frame_of(best)
    return [merged_call(Call(tool=best), frame, fill(frame, resolved.mentions).arguments, turn)]


def is_worth_asking(asked: Asked, tool: str) -> bool:
    """Whether a question that states too little wants a figure so clearly that asking back serves it better."""
    text = asked.resolved.mentions.text
    figure = asked.intents.get(WANTS_FIGURE, 0.0)
    if figure <= asked.intents.get(OUT_OF_SCOPE, 0.0):
        return False
    if not asked.covered:
        return figure >= UNCOVERED_FIGURE_FLOOR
    if not _AMOUNT_ASKED.search(text) or asked.intents.get(tool, 0.0) < ASKED_FLOOR:
        return False
    stated = fill(frame_of(tool), asked.resolved.mentions).arguments.keys() & SUBJECTS
    return figure >= (UNCOVERED_FIGURE_FLOOR if stated else FIGURE_FLOOR)


def _candidate(frame: Frame, mentions: Mentions, intents: Mapping[str, float]) -> _Candidate:
    filling = fill(frame, mentions)
    return _Candidate(frame, filling, _evidence(frame, filling, mentions, intents))


def _evidence(frame: Frame, filling: Filling, mentions: Mentions, intents: Mapping[str, float]) -> float:
    """How strongly the question asks for a calculation: meaning, words, and whether its amounts fit."""
    if frame.unless is not None and frame.unless.search(mentions.text):
        return 0.0
    worded = frame.words is not None and frame.words.search(mentions.text)
    if frame.needs and not worded and not any(filling.arguments.keys() >= set(names) for names in frame.needs):
        return 0.0
    asked = 0.35 if frame.asks.search(mentions.text) else 0.0
    fitting = 0.12 * min(3, filling.used) - 0.08 * min(3, filling.unused) - 0.3 * filling.ignores_money
    return intents.get(frame.tool, 0.0) + asked + fitting


def _asks_for_another(best: _Candidate, calls: Sequence[Call]) -> bool:
    return best.evidence >= SECOND_TOOL_FLOOR and all(call.tool != best.frame.tool for call in calls)
