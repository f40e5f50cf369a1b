"""What the model is told of the conversation so far, shortened to fit what it can read.

What was stated for the calculations travels in the dialogue state, apart from these texts, so that shortening loses
none of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assistant.answer import prompts
from assistant.answer.verify.marks import without_marks
from assistant.schema import Answer, Language
from assistant.understand.state import DialogueState

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage

_WHOLE_TURNS = 3
"""The newest turns, which are told in full where there is room."""
_SHORT_CHARACTERS = 160
_WHOLE_CHARACTERS = 1_500
_SHARE = 0.35
"""Of the context, for the history; passages, calculations and the answer need the rest."""
_MESSAGE_TOKENS = 4


def tokens_of(text: str) -> int:
    """About how many tokens a text takes: one for a Chinese character, one for three and a half others."""
    han = len(re.findall(r"[\u3400-\u9fff\uff00-\uffef]", text))
    return han + math.ceil((len(text) - han) / 3.5) + _MESSAGE_TOKENS


def told(turns: Sequence[Answer], language: Language, context_tokens: int) -> list[AnyMessage]:
    """Earlier turns as messages: the newest whole, those before in a line each, the oldest dropped for want of room."""
    from langchain_core.messages import AIMessage, HumanMessage

    room = int(context_tokens * _SHARE)
    whole: list[AnyMessage] = []
    kept = 0
    for turn in reversed(turns[-_WHOLE_TURNS:]):
        answer = without_marks(turn.text)[:_WHOLE_CHARACTERS]
        cost = tokens_of(turn.question) + tokens_of(answer)
        if cost > room:
            break
        room -= cost
        kept += 1
        whole = [HumanMessage(turn.question), AIMessage(answer), *whole]
    lines: list[str] = []
    for turn in reversed(turns[: len(turns) - kept]):
        line = prompts.EARLIER_TURN[language].format(
            question=_short(turn.question), answer=_short(without_marks(turn.text))
        )
        if tokens_of(line) > room:
            break
        room -= tokens_of(line)
        lines.insert(0, line)
    if not lines:
        return whole
    return [HumanMessage(prompts.EARLIER[language].format(turns="\n".join(lines))), *whole]


def slots(state: DialogueState) -> str:
    """What earlier turns stated, as `name = value` pairs by calculator."""
    calls = [
        f"{call.tool}({', '.join(f'{name} = {slot.value}' for name, slot in call.slots.items())})"
        for call in state.calls
    ]
    return "; ".join(calls)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT_CHARACTERS else line[: _SHORT_CHARACTERS - 1] + "…"
