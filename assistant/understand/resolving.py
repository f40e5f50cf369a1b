"""A question in the light of the conversation: what it states, whether it follows up on something, and what to search."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assistant.schema import Language
from assistant.understand.frames import frame_of
from assistant.understand.language import detect_language
from assistant.understand.mentions import Mentions, read_mentions
from assistant.understand.message import Message, read_message
from assistant.understand.slots import fill
from assistant.understand.state import DialogueState
from knowledge.lexical import terms

MAX_FOLLOW_UP_CHARACTERS = 60
ELLIPTIC_WORDS = 2
BRIEF_CHARACTERS = 24
"""A turn with no more words of its own than these says nothing alone."""

_FOLLOW_UP = re.compile(
    r"^\s*(?:那(?:么|就|再|要是|如果)?|再|如果|要是|换(?:成|做|个)?|改(?:成|为|用)?|还是|上面|刚才|前面|第[一二三四]种|只|用|加上?|存|多|少|预算|呢"
    r"|and\b|what about|how about|with\b|then\b|what if|instead|but\b|same\b|ok\b|now\b|we can|let'?s|make (?:it|that)|use\b|go back"
    r"|for\b|over\b|in(?:side)?\b|within\b|on\b|without\b|if\b|or\b|only\b|sorry|no,|actually|i mean|oops|wait|不对|不是|错了|说错|打错|应该是|我是说|哦不)",
    re.I,
)
_FOLLOW_UP_END = re.compile(r"呢\s*(?:[?？。，,]|$)|吗那\s*[?？。]?\s*$|\b(?:instead|then)\s*[?.]?\s*$", re.I)
PRONOUN = re.compile(
    r"它|这(?:个|样|种|些)|那(?:个|样|种|些)|\b(?:it|they|them|that|this|those|these|one|ones)\b", re.I
)
_UNDO = re.compile(
    r"撤销|撤回|还原|恢复(?:原来|之前|上一)|(?:退|改|换|回|返|调|变)(?:回|到|成)?(?:去|来)?(?:了)?(?:上一?(?:步|个|次|版|种|轮)|之前|原来|原先|最初|刚才|刚刚)"
    r"|改回(?:去|来)?(?!\s*\d)|退回(?:去|来)?(?!\s*\d)|算了.{0,6}(?:原来|之前|刚才)|按(?:原来|之前|上一?个?)的"
    r"|\bundo\b|\brevert\b|\b(?:go|take|change|switch|put|roll|turn|bring)\b(?: \w+){0,2} back\b|\bback to (?:the )?(?:previous|original|first|old|last)\b"
    r"|\bas (?:it was )?before\b|\bthe way it was\b|\b(?:forget|scrap|never ?mind) (?:that|the last|it)\b",
    re.I,
)
_PRICE = re.compile(
    r"多少钱|什么价|啥价|价(?:格|位)|报价|单价|行情|租金|怎么收费|\bprices?\b|\bpricing\b|\bcosts?\b|\brates?\b|how much|\bquote\b",
    re.I,
)
"""A price that is looked up, where an accelerator is named and nothing is to be worked out."""


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


def resolve(question: str, state: DialogueState) -> Resolved:
    """Read a question in the light of the conversation."""
    message = read_message(question)
    mentions = read_mentions(message.text)
    undo = bool(state.undo and _UNDO.search(message.text))
    follow_up = undo or _is_follow_up(message.text, mentions, state)
    subject = f"{state.subject}\n{message.text}" if follow_up and state.subject else message.text
    language = "zh" if message.pinyin else detect_language(question)
    return Resolved(question, message, language, mentions, follow_up, undo, subject)


def _is_follow_up(text: str, mentions: Mentions, state: DialogueState) -> bool:
    if not state.turn:
        return False
    if state.awaiting and len(text) <= 2 * MAX_FOLLOW_UP_CHARACTERS:
        return True
    if len(text) > MAX_FOLLOW_UP_CHARACTERS:
        return False
    pronoun = PRONOUN.search(text) and len(text) <= MAX_FOLLOW_UP_CHARACTERS // 2
    elliptic = not mentions.quantities and len(terms(text)) <= ELLIPTIC_WORDS
    if len(text) <= BRIEF_CHARACTERS and 1 <= len(mentions.quantities) <= 2:
        # A few words with an amount that the last calculation has a place for.
        elliptic = any(fill(frame_of(call.tool), mentions).used for call in state.calls)
    return bool(_FOLLOW_UP.search(text) or _FOLLOW_UP_END.search(text) or pronoun or elliptic)
