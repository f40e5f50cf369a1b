"""What is not answered, and why: unlawful, outside the subject, an order to the assistant, beyond its abilities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from assistant.understand.frames import FRAMES
from assistant.understand.intent import ORDERS, OUT_OF_SCOPE, TO_ACT, UNLAWFUL, WANTS_FIGURE
from assistant.understand.resolving import Resolved

Refusal = Literal["unlawful", "out_of_scope", "no_ability", "no_forecast", "injection"]

_FUTURE = re.compile(
    r"明年|后年|未来|以后|将来|会(?:降|涨|跌|升|便宜)|20(?:2[7-9]|[3-9]\d)|next (?:year|quarter|month)|\bwill\b.{0,20}\b(?:cost|be|drop|fall|rise)"
    r"|in (?:a|two|three|\d+) years?|\bforecast|\bpredict",
    re.I,
)
_FUTURE_PRICE = re.compile(
    r"(?:会|能|要)(?:不会|不能)?(?:降|跌|涨|升)(?:到|价|吗)|(?:降|跌|涨)到[^，。]{0,10}[块元]|\bwill\b[^.?]{0,40}\b(?:cost|price|cheaper|drop|fall)",
    re.I,
)
OUTSIDE_FLOOR = 0.8
UNCOVERED_OUTSIDE_FLOOR = 0.4
TOOL_FLOOR = 0.4
"""A question outside the subject is refused at less where the documents don't answer it."""
_PLEASE = re.compile(
    r"\b(?:please|pls|kindly)\b(?! (?:explain|tell|say|help|advise))|(?:帮|替)我(?!算|看|想|分析|解释|比|估|选|推荐)|现在就|马上",
    re.I,
)
WORDED_TO_ACT_FLOOR = 0.4
FLOOR = 0.5
COVERED_FLOOR = 0.9
"""What is unlawful, an order, or to be done in the world must be surer where the documents speak of it."""
STATED = 2
"""A question with this many amounts wants a calculation, whatever its vector says."""


def refusal_of(
    resolved: Resolved, intents: Mapping[str, float], part_intents: Sequence[Mapping[str, float]], *, covered: bool
) -> Refusal | None:
    """Why a message is not answered at all; None when it, or a part of it, is."""
    if resolved.message.only_orders:
        return "injection"

    def wholly(label: str) -> bool:
        floor = COVERED_FLOOR if covered else FLOOR
        return all(probabilities.get(label, 0.0) >= floor for probabilities in (intents, *part_intents))

    if wholly(UNLAWFUL):
        return "unlawful"
    if resolved.follow_up:
        return None
    mentions = resolved.mentions
    if mentions.names_of("accelerator") and _FUTURE_PRICE.search(mentions.text):
        return "no_forecast"
    if resolved.asks_price and _FUTURE.search(mentions.text):
        return "no_forecast"
    if len(mentions.quantities) >= STATED:
        return None
    if wholly(ORDERS):
        return "injection"
    if wholly(TO_ACT) or (_PLEASE.search(mentions.text) and intents.get(TO_ACT, 0.0) >= WORDED_TO_ACT_FLOOR):
        return "no_ability"
    if len(resolved.parts) == 1 and resolved.message.asks_to_act:
        return "no_ability"
    if len(resolved.parts) > 1 and not wholly(OUT_OF_SCOPE):
        return None
    return "out_of_scope" if _is_outside(resolved, intents, covered) else None


def _is_outside(resolved: Resolved, intents: Mapping[str, float], covered: bool) -> bool:
    outside = intents.get(OUT_OF_SCOPE, 0.0)
    if resolved.message.asks_for_writing:
        return True
    if resolved.asks_price:
        return False
    floor = OUTSIDE_FLOOR if covered else UNCOVERED_OUTSIDE_FLOOR
    # "The carbon footprint of my run" sounds like small talk to the one judge and like a calculation to the other.
    if outside < floor:
        return False
    tool = max((frame for frame in FRAMES), key=lambda frame: intents.get(frame.tool, 0.0))
    worded = tool.asks.search(resolved.mentions.text) is not None
    wanted = worded or intents.get(WANTS_FIGURE, 0.0) > outside
    return not (wanted and intents.get(tool.tool, 0.0) >= TOOL_FLOOR)
