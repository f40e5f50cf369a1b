"""From a question and what earlier turns fixed to a plan: which calculations with which arguments, and what to search.

`resolve` needs no vector and says what to search for; `plan` takes what the vectors say of the message and its parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from assistant.errors import InvalidField, MissingInputs
from assistant.schema import Language, Origin, ToolRun
from assistant.tools.base import Presentation, Tool
from assistant.tools.registry import get_tool
from assistant.understand.changes import bare_number, relative_changes, without_factor
from assistant.understand.frames import FRAMES, frame_of
from assistant.understand.intent import GUIDANCE, OUT_OF_SCOPE, UNLAWFUL
from assistant.understand.language import detect_language
from assistant.understand.mentions import Mentions, read_mentions
from assistant.understand.message import Message, read_message
from assistant.understand.slots import Filling, Frame, closest, fill
from assistant.understand.state import MAX_SUBJECT_CHARACTERS, MAX_UNDO, Call, DialogueState, Slot
from knowledge.lexical import terms

Refusal = Literal["unlawful", "out_of_scope", "no_ability", "no_forecast", "injection"]

_FOLLOW_UP = re.compile(
    r"^\s*(?:那(?:么|就|再|要是|如果)?|再|如果|要是|换(?:成|做|个)?|改(?:成|为|用)?|还是|上面|刚才|前面|第[一二三四]种|只|用|加上?|存|多|少|预算|呢"
    r"|and\b|what about|how about|with\b|then\b|what if|instead|but\b|same\b|ok\b|now\b|we can|let'?s|make (?:it|that)|use\b|go back"
    r"|for\b|over\b|only\b|sorry|no,|actually|i mean|oops|wait|不对|不是|错了|说错|打错|应该是|我是说|哦不)",
    re.I,
)
_FOLLOW_UP_END = re.compile(r"(?:呢|吗那)\s*[?？。]?\s*$|\b(?:instead|then)\s*[?.]?\s*$", re.I)
_PRONOUN = re.compile(
    r"它|这(?:个|样|种|些)|那(?:个|样|种|些)|\b(?:it|they|them|that|this|those|these|one|ones)\b", re.I
)
_RELATED = re.compile(r"更|其他|别的|办法|\b(?:alternativ\w*|faster|cheaper|better|instead|else)\b", re.I)
"""A part that asks for something else than the part before it means nothing without it."""
_UNDO = re.compile(
    r"(?:撤销|撤回|改回(?:去|来)?|还原|恢复(?:原来|之前|上一)|回到(?:之前|上一|原来)|算了.{0,6}(?:原来|之前)|undo|go back|revert|as before|the way it was)",
    re.I,
)
_ADVICE = re.compile(
    r"怎么(?!算|个算|分)|咋(?:办|整|弄)|如何|为什么|为啥|建议|该不该|要不要|应不应该|有必要|避免|有没有办法|选哪|哪个好|注意|必须|一定要|先(?:停|查|看)|哪些|区别|风险"
    r"|\bhow (?:do|can|should|would) (?!much|many|long)|\bhow to\b|\bwhy\b|\bshould\b|\bavoid|\badvice|\brecommend|\bworth\b|\bdifference\b|\brisks?\b|\bbesides\b",
    re.I,
)
_PRICE = re.compile(
    r"多少钱|什么价|啥价|价(?:格|位)|报价|单价|行情|租金|怎么收费|\bprices?\b|\bpricing\b|\bcosts?\b|\brates?\b|how much|\bquote\b",
    re.I,
)
"""A price that is looked up, where an accelerator is named and nothing is to be worked out."""
_FUTURE = re.compile(
    r"明年|后年|未来|以后|将来|会(?:降|涨|跌|升|便宜)|20(?:2[7-9]|[3-9]\d)|next (?:year|quarter|month)|\bwill\b.{0,20}\b(?:cost|be|drop|fall|rise)"
    r"|in (?:a|two|three|\d+) years?|\bforecast|\bpredict",
    re.I,
)
_AMOUNT_ASKED = re.compile(
    r"多少|几(?:张|天|个|台|块|倍|小时|卡|点)|多(?:久|大|长|快)|够(?:不够|吗|用吗|不)|(?:放|装|塞)得?下|能不能(?:跑|训|装|放)|够[训跑装]|跑得动|行不|算算|算一下|算下|估(?:算|一下|个|下)"
    r"|哪个便宜|划算|撑爆|会超|\bhow (?:long|many|much|big|large|fast|often)\b|\beta\b|\bfits?\b|\bcosts? (?:of|us|me)|\bwhat (?:will|would|does|do)\b.{0,16}\bcost|\bprice of|\benough\b"
    r"|\bspeed-?up\b|\bbreak-?even point|\bout of memory\?|\bafford\b|\bcan (?:i|we) (?:fine-?tune|train|run|fit|host)\b|\bwork out\b|\bcalculate|\bestimate\b|\bfill up\b|\bwhen will\b|\btrain .{0,20}on (?:\d|one|two|my)",
    re.I,
)
_OUTSIDE = re.compile(
    r"挖矿|挖(?:币|以太|比特|门罗)|门罗币|[一-鿿]{1,2}币(?!种)[^，。]{0,10}(?:挖|炒|涨)|转行|考研|考公|移民|矿机|比特币|以太坊|炒股|股票|股价|基金|彩票|理财|打游戏|游戏|帧数?高|帧率|吃(?:点|什么|啥)药|药|疼|痛(?!点)|头晕|心慌|症状|医生|面试|工资|薪资|跳槽|简历"
    r"|天气|旅游|机票|火车|食谱|\bmin(?:e|ing) (?:crypto|bitcoin|btc|eth|ethereum|monero|coins?)|\bcrypto(?:currency)?\b|\bbitcoin|\bethereum|\bstocks?\b|\bshares?\b(?= price| rise| fall|$)"
    r"|\bfps\b|\bgaming\b|\bgames?\b|\bpainkillers?|\bdos(?:e|age)\b|\bhurts?\b|\b(?:back|knee|wrist|neck) pain|\bdoctor\b|\bdizzy\b|\bheadache|\bsalar(?:y|ies)\b(?!.*cost)"
    r"|\bjob interview|\bresume\b|\bcareer\b|\bhoroscope|\bweather\b|\brecipe|\bflights?\b|\bceo\b|\bvisa\b",
    re.I,
)
"""Subjects that are none of ours, in words; the vector must agree a little."""
_FUTURE_PRICE = re.compile(
    r"(?:会|能|要)(?:不会|不能)?(?:降|跌|涨|升)(?:到|价|吗)|(?:降|跌|涨)到[^，。]{0,10}[块元]|\bwill\b[^.?]{0,40}\b(?:cost|price|cheaper|drop|fall)",
    re.I,
)
MAX_FOLLOW_UP_CHARACTERS = 60
MAX_CALLS = 4
TOOL_FLOOR = 0.6
SECOND_TOOL_FLOOR = 0.95
GUIDANCE_FLOOR = 0.2
GUIDANCE_PART_FLOOR = 0.3
REFUSAL_FLOOR = 0.65
UNCOVERED_REFUSAL_FLOOR = 0.35
UNLAWFUL_FLOOR = 0.5
COVERED_UNLAWFUL_FLOOR = 0.75
WORDED_REFUSAL_FLOOR = 0.1
"""A question outside the subject is refused at less where the documents don't answer it either."""
ASKED_FLOOR = 0.2
ASK_BACK_FLOOR = 0.35
MANY_WORDS = 4
"""A question with this many words of its own that states no amount is about something, not for a calculation."""
CLEARLY_ASKED = 0.5
"""A question that states nothing is one for a calculator from here, whatever the documents say."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A question with what it refers to."""

    question: str
    message: Message
    language: Language
    mentions: Mentions
    follow_up: bool
    undo: bool
    search_text: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The questions that the message asks, at least one."""
        return self.message.parts

    @property
    def asks_price(self) -> bool:
        """Whether a price is looked up: an accelerator is named and no amount that could be worked with."""
        used = [q for q in self.mentions.quantities if q.kind != "gpu memory" and q.unit != "second"]
        named = self.mentions.names_of("accelerator")
        one = all(q.unit in ("gpu", "node") and q.value == 1 for q in used)
        return bool(named and one and not self.mentions.names_of("model") and _PRICE.search(self.mentions.text))


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
    searches: tuple[str, ...] = ()
    """Parts of the message that want guidance of their own; empty when the whole message is one search."""

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

    def state_after(self, outcomes: Sequence[Outcome]) -> DialogueState:
        """The state with what the answer asks for."""
        awaiting = [name for outcome in outcomes if outcome.missing for name in outcome.missing.fields]
        return self.state.model_copy(update={"awaiting": awaiting})


def resolve(question: str, state: DialogueState) -> Resolved:
    """Read a question in the light of the conversation."""
    message = read_message(question)
    mentions = read_mentions(message.text)
    undo = bool(state.undo and _UNDO.search(message.text))
    follow_up = undo or _is_follow_up(message.text, state)
    subject = f"{state.subject}\n{message.text}" if follow_up and state.subject else message.text
    language = "zh" if message.pinyin else detect_language(question)
    return Resolved(question, message, language, mentions, follow_up, undo, subject)


def plan(
    resolved: Resolved,
    state: DialogueState,
    intents: Mapping[str, float],
    *,
    covered: bool,
    part_intents: Sequence[Mapping[str, float]] = (),
) -> Plan:
    """Decide what to calculate and whether guidance is wanted.

    Args:
        intents: label -> probability, from the query vector.
        covered: whether the documents answer the question.
        part_intents: the same for each part of a message that has several.
    """
    turn = state.turn + 1
    asked = _Asked(resolved, intents, covered)
    refusal = _refusal(asked, part_intents)
    calls: list[Call] = []
    searches: tuple[str, ...] = ()
    if resolved.undo:
        calls = list(state.undo[-1])
    elif refusal is None and len(resolved.parts) > 1 and part_intents:
        calls, searches = _several(asked, state, part_intents, turn)
    elif refusal is None:
        calls = _single(asked, state, turn)
        if covered and not resolved.follow_up:
            calls = [call for call in calls if _worth_asking(asked, call.tool) or _can_run(call, resolved.language)]
    guidance = refusal is None and (not calls or _wants_guidance(resolved, intents) or bool(searches))
    return Plan(resolved, tuple(calls), guidance, refusal, _next_state(resolved, state, calls, turn), searches)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with what its vector says."""

    resolved: Resolved
    intents: Mapping[str, float]
    covered: bool

    def best_tool(self) -> str:
        return max((frame.tool for frame in FRAMES), key=lambda tool: self.intents.get(tool, 0.0))


@dataclass(frozen=True, slots=True)
class _Candidate:
    frame: Frame
    filling: Filling
    evidence: float


def _is_follow_up(text: str, state: DialogueState) -> bool:
    if not state.turn:
        return False
    if state.awaiting and len(text) <= 2 * MAX_FOLLOW_UP_CHARACTERS:
        return True
    if len(text) > MAX_FOLLOW_UP_CHARACTERS:
        return False
    pronoun = _PRONOUN.search(text) and len(text) <= MAX_FOLLOW_UP_CHARACTERS // 2
    return bool(_FOLLOW_UP.search(text) or _FOLLOW_UP_END.search(text) or pronoun)


def _refusal(asked: _Asked, part_intents: Sequence[Mapping[str, float]]) -> Refusal | None:
    if asked.resolved.message.only_orders:
        return "injection"
    unlawful = COVERED_UNLAWFUL_FLOOR if asked.covered else UNLAWFUL_FLOOR
    if all(probabilities.get(UNLAWFUL, 0.0) >= unlawful for probabilities in (asked.intents, *part_intents)):
        return "unlawful"
    if asked.resolved.follow_up:
        return None
    if asked.resolved.mentions.names_of("accelerator") and _FUTURE_PRICE.search(asked.resolved.mentions.text):
        return "no_forecast"
    if asked.resolved.asks_price and _FUTURE.search(asked.resolved.mentions.text):
        return "no_forecast"
    if len(asked.resolved.parts) > 1:
        return None
    if asked.resolved.message.asks_to_act:
        return "no_ability"
    outside = asked.intents.get(OUT_OF_SCOPE, 0.0)
    if _OUTSIDE.search(asked.resolved.mentions.text) and outside >= WORDED_REFUSAL_FLOOR:
        return "out_of_scope"
    top = outside >= max(asked.intents.values(), default=1.0)
    floor = REFUSAL_FLOOR if asked.covered else UNCOVERED_REFUSAL_FLOOR
    if asked.resolved.message.asks_for_writing or (top and outside >= floor):
        return "out_of_scope"
    return None


def _single(asked: _Asked, state: DialogueState, turn: int) -> list[Call]:
    resolved = asked.resolved
    ranked = _ranked(asked, resolved.mentions)
    if state.calls and (changed := _follow_up(asked, ranked, state, turn)):
        return changed
    if resolved.asks_price:
        frame = frame_of("select_instances")
        return [_merged(Call(tool=frame.tool), frame, _offer_of(fill(frame, resolved.mentions).arguments), turn)]
    facts = state.facts() if resolved.follow_up else {}
    calls = [
        _merged(Call(tool=c.frame.tool, slots=facts), c.frame, arguments, turn)
        for c in _chosen(ranked)
        for arguments in (c.filling.arguments, *c.filling.variants)
    ]
    return calls[:MAX_CALLS] or _underspecified(asked, turn)


def _offer_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name in ("gpu", "provider", "region", "purchase")}


def _follow_up(asked: _Asked, ranked: Sequence[_Candidate], state: DialogueState, turn: int) -> list[Call]:
    """The last calculations changed; empty when the question is another one."""
    resolved = asked.resolved
    if len(resolved.message.text) > 2 * MAX_FOLLOW_UP_CHARACTERS or _asks_for_another(ranked[0], state.calls):
        return []
    stands_alone = ranked[0].evidence >= TOOL_FLOOR and ranked[0].filling.used > 1 and not state.awaiting
    if not resolved.follow_up and (stands_alone or asked.intents.get(GUIDANCE, 0.0) >= CLEARLY_ASKED):
        return []
    return _changed(state.calls, resolved, turn)


def _ranked(asked: _Asked, mentions: Mentions) -> list[_Candidate]:
    candidates = [_candidate(frame, mentions, asked.intents) for frame in FRAMES]
    return sorted(candidates, key=lambda candidate: -candidate.evidence)


def _chosen(ranked: Sequence[_Candidate]) -> list[_Candidate]:
    chosen = [candidate for candidate in ranked[:1] if candidate.evidence >= TOOL_FLOOR]
    return chosen + [candidate for candidate in ranked[1:] if chosen and candidate.evidence >= SECOND_TOOL_FLOOR]


def _several(
    asked: _Asked, state: DialogueState, part_intents: Sequence[Mapping[str, float]], turn: int
) -> tuple[list[Call], tuple[str, ...]]:
    """Calculations for the message, then for each part that wants another; and the parts that want guidance."""
    resolved = asked.resolved
    parts = [
        (text, read_mentions(text), probabilities)
        for text, probabilities in zip(resolved.parts, part_intents, strict=True)
    ]
    best = [max((_candidate(f, own, p) for f in FRAMES), key=lambda c: c.evidence) for _, own, p in parts]
    advised = [
        (p.get(GUIDANCE, 0.0) >= GUIDANCE_PART_FLOOR and candidate.evidence < TOOL_FLOOR)
        or (_ADVICE.search(text) is not None and candidate.evidence < SECOND_TOOL_FLOOR)
        for (text, _, p), candidate in zip(parts, best, strict=True)
    ]
    numeric = [text for (text, _, _), advice in zip(parts, advised, strict=True) if not advice]
    together = read_mentions("\n".join([resolved.message.setting, *numeric])) if any(advised) else resolved.mentions
    calls: list[Call] = []
    if numeric:
        calls = _single(replace(asked, resolved=replace(resolved, mentions=together)), state, turn)
    searches = []
    for index, ((text, own, probabilities), advice) in enumerate(zip(parts, advised, strict=True)):
        ranked = [_of_part(frame, own, resolved.mentions, probabilities) for frame in FRAMES]
        candidate = max(ranked, key=lambda c: c.evidence)
        if candidate.evidence >= SECOND_TOOL_FLOOR and all(call.tool != candidate.frame.tool for call in calls):
            calls.append(_merged(Call(tool=candidate.frame.tool), candidate.frame, candidate.filling.arguments, turn))
        if advice or (candidate.evidence < TOOL_FLOOR and not calls):
            before = (
                resolved.parts[index - 1]
                if index and (len(text) < 8 or _PRONOUN.search(text) or _RELATED.search(text))
                else ""
            )
            searches.append(f"{before}\n{text}".strip())
    return calls[:MAX_CALLS], tuple(searches)


def _of_part(frame: Frame, own: Mentions, whole: Mentions, intents: Mapping[str, float]) -> _Candidate:
    """A part takes what it doesn't state from the rest of the message; plain arithmetic only what it states itself."""
    candidate = _candidate(frame, own, intents)
    if frame.tool == "calculate" or not frame.asks.search(own.text):
        return candidate
    around = fill(frame, whole).arguments
    named = {choice.argument for choice in frame.choices}
    arguments = {name: value for name, value in around.items() if name not in named} | dict(candidate.filling.arguments)
    filling = replace(candidate.filling, arguments=arguments, variants=(), used=len(arguments), unused=0)
    return _Candidate(frame, filling, _evidence(frame, filling, own, intents))


def _underspecified(asked: _Asked, turn: int) -> list[Call]:
    """A short question for a calculation that states too little ("does it fit?"): the calculator says what it needs."""
    text = asked.resolved.mentions.text
    if len(text) > MAX_FOLLOW_UP_CHARACTERS:
        return []
    intents = asked.intents
    best = asked.best_tool()
    worded = [frame.tool for frame in FRAMES if frame.asks.search(text)]
    if best not in worded and intents.get(best, 0.0) < CLEARLY_ASKED:
        best = max(worded, key=lambda tool: intents.get(tool, 0.0), default="")
    floor = max(ASKED_FLOOR, intents.get(OUT_OF_SCOPE, 0.0), intents.get(GUIDANCE, 0.0))
    if not best or intents.get(best, 0.0) < floor or (asked.covered and not _worth_asking(asked, best)):
        return []
    frame = frame_of(best)
    return [_merged(Call(tool=best), frame, fill(frame, asked.resolved.mentions).arguments, turn)]


def _worth_asking(asked: _Asked, tool: str) -> bool:
    """Whether a question that the documents speak of too wants an amount so clearly that asking back serves it better."""
    mentions = asked.resolved.mentions
    if not _AMOUNT_ASKED.search(mentions.text) or asked.intents.get(tool, 0.0) < ASK_BACK_FLOOR:
        return False
    return bool(fill(frame_of(tool), mentions).arguments) or len(terms(mentions.text)) < MANY_WORDS


def _can_run(call: Call, language: Language) -> bool:
    try:
        get_tool(call.tool).run(call.values(), language)
    except MissingInputs:
        return False
    except InvalidField:
        return True
    return True


def _candidate(frame: Frame, mentions: Mentions, intents: Mapping[str, float]) -> _Candidate:
    filling = fill(frame, mentions)
    return _Candidate(frame, filling, _evidence(frame, filling, mentions, intents))


def _evidence(frame: Frame, filling: Filling, mentions: Mentions, intents: Mapping[str, float]) -> float:
    """How strongly the question asks for a calculation: meaning, words, and whether its amounts fit."""
    worded = frame.words is not None and frame.words.search(mentions.text)
    if frame.needs and not worded and not any(filling.arguments.keys() >= set(names) for names in frame.needs):
        return 0.0
    asked = 0.35 if frame.asks.search(mentions.text) else 0.0
    fitting = 0.12 * min(3, filling.used) - 0.08 * min(3, filling.unused)
    return intents.get(frame.tool, 0.0) + asked + fitting


def _changed(calls: Sequence[Call], resolved: Resolved, turn: int) -> list[Call]:
    """The last calculations with what a follow-up changes; empty when it changes nothing of them."""
    first = frame_of(calls[0].tool)
    values = calls[0].values()
    mentions = resolved.mentions
    claimed = fill(first, mentions).arguments.keys() - values.keys()
    relative = {} if claimed else relative_changes(mentions.text, mentions, values)
    if relative:
        mentions = without_factor(mentions)
    else:
        relative = bare_number(mentions, values)
    filling = fill(first, mentions)
    if (
        not relative
        and len(mentions.quantities) == 1
        and not mentions.names
        and not filling.arguments.keys() & values.keys()
    ):
        nearest = closest(first, mentions.quantities[0], mentions.text, values)
        relative = dict([nearest]) if nearest else {}
        mentions = replace(mentions, quantities=()) if nearest else mentions
        filling = fill(first, mentions)
    new = {name: value for name, value in filling.arguments.items() if values.get(name) != value}
    if new and filling.variants:
        return [_merged(calls[0], first, arguments, turn) for arguments in (filling.arguments, *filling.variants)]
    merged = []
    for call in calls:
        known = frame_of(call.tool).arguments
        stated = _new(call, mentions) | {name: value for name, value in relative.items() if name in known}
        if stated:
            merged.append(_merged(call, frame_of(call.tool), stated, turn))
    if not merged:
        return []
    kept = [call for call in calls if all(call.tool != other.tool for other in merged)]
    return list({call.model_dump_json(): call for call in (*merged, *kept)}.values())


def _new(call: Call, mentions: Mentions) -> dict[str, Any]:
    stated = fill(frame_of(call.tool), mentions).arguments
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
    return intents.get(GUIDANCE, 0.0) >= GUIDANCE_FLOOR or bool(_ADVICE.search(resolved.mentions.text))


def _next_state(resolved: Resolved, state: DialogueState, calls: Sequence[Call], turn: int) -> DialogueState:
    undo = state.undo[:-1] if resolved.undo else state.undo
    if calls and not resolved.undo and state.calls:
        undo = [*undo, state.calls][-MAX_UNDO:]
    return DialogueState(
        turn=turn,
        subject=state.subject if resolved.follow_up else resolved.message.text[:MAX_SUBJECT_CHARACTERS],
        calls=list(calls) or (state.calls if resolved.follow_up else []),
        undo=undo,
    )


def _has_money(tool: Tool[Any], arguments: Mapping[str, Any]) -> bool:
    """Whether prices were stated without a currency, which in Chinese are yuan."""
    if "currency" not in tool.Inputs.model_fields or not arguments.keys() <= tool.Inputs.model_fields.keys():
        return False
    return any((tool.Inputs.unit_of(name) or "").startswith("money") for name in arguments)


def _run(call: Call, turn: int, language: Language, number: str) -> Outcome:
    tool = get_tool(call.tool)
    origins: dict[str, Origin] = {
        name: "question" if slot.turn == turn else "earlier turn" for name, slot in call.slots.items()
    }
    arguments: dict[str, Any] = call.values()
    if language == "zh" and "currency" not in arguments and _has_money(tool, arguments):
        arguments["currency"] = "CNY"
        origins["currency"] = "default"
    try:
        run = tool.run(arguments, language, origins, number)
    except MissingInputs as missing:
        return Outcome(call.tool, missing=missing)
    except InvalidField as invalid:
        return Outcome(call.tool, invalid=invalid)
    return Outcome(call.tool, run=run, shown=tool.present(run, language))
