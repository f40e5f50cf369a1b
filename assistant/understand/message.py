"""A message before it is understood: written plainly, freed of orders to the assistant, and divided into its questions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assistant.understand.pinyin import is_pinyin, to_han
from knowledge.lexical import simplify

MAX_PARTS = 6

_ORDER = re.compile(
    r"(?:ignore|disregard|forget|override|bypass|drop)\b[^.。!?\n]{0,30}"
    r"\b(?:instruction|rule|prompt|previous|above|guideline|polic|restriction|safety)"
    r"|(?:system|initial|hidden|developer|secret)\s*(?:prompt|message|instruction)"
    r"|(?:reveal|print|show|repeat|output|dump|leak)\b[^.。!?\n]{0,20}\byour (?:\w+ )?(?:rules?|prompts?|instructions?|config\w*)"
    r"|(?:忽略|无视|忘(?:掉|记)|跳过|绕过|抛开|不要(?:管|遵守))[^。！？\n]{0,12}(?:指令|规则|提示|要求|设定|限制|说明|约束)"
    r"|系统提示(?:词)?|(?:输出|打印|展示|重复|复述|告诉我)[^。！？\n]{0,10}(?:提示词|prompt|内部设定|你的(?:设定|规则|指令))"
    r"|you are now\b|from now on,? you|你现在是(?!在)|从现在(?:起|开始)[，,]?你|你(?:要|来)?扮演|扮演一个(?:没有|不受)"
    r"|\b(?:jailbreak|dan mode|developer mode|no restrictions|do anything now)\b|越狱模式|开发者模式|不受(?:任何)?限制"
    r"|<\|im_start\|>|\[/?INST\]|</?system>"
    r"|(?:cite|quote|use|引用|标注|采用|注明)[^。！？\n]{0,40}https?://\S+[^。！？\n]{0,20}(?:as|作为|当作?|为)[^。！？\n]{0,8}"
    r"(?:source|reference|来源|出处|依据)"
    r"|(?:end|finish|start|begin) (?:your|the|every) (?:answer|reply|response)s? with|(?:回答|答案|回复)(?:的)?(?:末尾|结尾|开头|最后)[^。！？\n]{0,8}(?:加上|写上|附上|说)",
    re.I,
)
"""Orders that would change the assistant rather than ask it something."""

_CLAIM = re.compile(
    r"(?:(?:你们?|贵司|这|这份|你这)的?(?:的)?(?=文档|资料|知识库|手册|文章)|(?<![的份])(?=资料库|知识库|文档库))(?:文档|资料|知识库|手册|文章|资料库|文档库)(?:里|中|上)?(?:明明|都|不是)?(?:写|说|提到|标|列|讲|有)"
    r"|\byour (?:own )?(?:docs?|documents?|documentation|knowledge base|guide|corpus|material|files?)\b[^.?!\n]{0,20}"
    r"\b(?:says?|states?|claims?|lists?|mentions?|gives?|writes?|promis\w+|quotes?)",
    re.I,
)
"""What the asker says that the documents say."""

_SENTENCE_END = re.compile(r"(?<=[?？。!！;；\n])|(?<=[a-z)%][.])(?=\s+[A-Za-z(])")
_NUMBERED = re.compile(
    r"(?:(?<=\s)|^|(?<=[?？。;；，,：:]))(?:[(（]\d{1,2}[)）]|\d{1,2}[、)）](?=\s*\S)|\d{1,2}\.(?=\s*[^\d\s])|[①-⑨])\s*"
)
_ADDED = re.compile(
    r"[，,]\s*(?=(?:另外|还有|顺便|以及|同时|再(?:问|帮)|此外|外加)|(?:换|改)(?:成|用|做)?[^，,。？?]{0,14}(?:多少|呢|怎么|省|几))"
    r"|[，,]\s*(?=[^，,。？?]{0,10}(?:的话)?[^，,。？?]{0,8}(?:要注意|注意(?:啥|什么|哪)|合规(?:吗|上)|有啥风险|咋办|怎么办))"
    r"|[,;]?\s+(?=(?:and|also|plus|additionally),? (?:also |then )?"
    r"(?:what|how|which|where|when|why|who|should|can|could|do|does|is|are|will|would)\b)"
    r"|[，,]\s*(?=(?:怎么|咋|如何|为什么|为啥|该|要不要|需不需要|先)[^，,]{0,12}(?:办|整|弄|好|停|避|选|吗|啥|？|\?))",
    re.I,
)
_ALSO = re.compile(r"(?:and|also|plus)\b,? (?:is|are|does|do|can|will|how|what|which|should)\b|另外|还有|顺便", re.I)
"""What begins with these follows another question, however that is spelt."""
_ASKS = re.compile(
    r"[?？]|会不会|有没有|能否|是否|该不该|回答|解释|说说|吗|呢|多少|几(?:天|张|个|台|小时|倍|点)|多(?:久|大|长|快|贵)|怎么|咋|如何|为什么|为啥|哪|什么|啥|是不是|能不能|要不要|够不够|行不|算(?:一下|算)"
    r"|\b(?:what|how|which|where|when|why|who|should|can|could|do we|does|is it|are|will|would|explain|tell me|give me|estimate|calculate)\b",
    re.I,
)


_TO_WRITE = re.compile(
    r"(?:帮|给|替|请)(?:我|咱|我们|忙)?(?:再)?(?:写|编|画|翻译|润色|起草|拟)(?!进|入|到|死|满|明|清楚)|^(?:写|编|画|翻译)(?:一|个|篇|首|段|份|条)|软文|文案|朋友圈|通稿|公众号"
    r"|\b(?:write|draft|compose|make up|translate|design) (?:me |us |up )?(?:an? |some |the |my )?(?:\w+ ){0,3}"
    r"(?:posts?|poems?|articles?|blogs?|copy|ads?|adverts?|tweets?|e-?mails?|letters?|press|slogans?|stor(?:y|ies)|essays?|testimonials?|scripts?"
    r"|components?|code|programs?|functions?|apps?|websites?|resumes?|cvs?|songs?|jokes?)\b",
    re.I,
)
_TO_ACT = re.compile(
    r"(?:帮|给|替)(?:我|咱|我们)(?:直接|马上|现在)?(?:下单|买|订|租|开|开通|登录|部署|启动|关|停|删|付|充值|退订|打电话|联系|发邮件|提交|申请|执行|跑一下)"
    r"|直接(?:下单|购买|付款)|\blog ?in(?:to)? (?:to )?my\b|\b(?:order|book|buy|purchase|launch|start|stop|delete|deploy|cancel|pay|call|email|provision|terminate)\b"
    r"[^.?!\n]{0,40}\b(?:for me|on my behalf|my (?:account|bill|card|instance)s?|right away)\b|\b(?:access to|check|open|read) my (?:aws|gcp|azure|cloud|account|bill|console|cluster)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Message:
    """A message ready to be understood."""

    text: str
    """Without orders; traditional characters simplified and Pinyin written in characters."""
    parts: tuple[str, ...]
    """Its questions, at least one."""
    setting: str
    """What the message states outside its questions."""
    ordered: bool
    """Whether it held orders to the assistant."""
    only_orders: bool
    asks_for_writing: bool
    """Whether a text or a program is to be written, which is outside the subject whatever it is about."""
    asks_to_act: bool
    """Whether something is to be done in the world: bought, started, looked up in an account."""
    claims_document: bool
    """Whether it says what the documents say."""
    pinyin: bool


def read_message(question: str) -> Message:
    """Read a message as a person would who takes no orders from it."""
    pinyin = is_pinyin(question)
    plain = to_han(question) if pinyin else simplify(question)
    text, ordered = _without_orders(plain)
    pieces = _pieces(text)
    asked = tuple(
        piece
        for piece, then in zip(pieces, (*pieces[1:], ""), strict=False)
        if _ASKS.search(piece) or _ALSO.match(then)
    )
    if len(_NUMBERED.findall(text)) > 1:
        # The numbers of a list are no amounts.
        text = _NUMBERED.sub("\n", text).strip()
    return Message(
        text=text or plain,
        parts=(asked if 1 < len(asked) <= MAX_PARTS else ()) or (text or plain,),
        setting=" ".join(piece for piece in pieces if piece not in asked),
        ordered=ordered,
        only_orders=ordered and not text,
        asks_for_writing=bool(_TO_WRITE.search(plain)),
        asks_to_act=bool(_TO_ACT.search(plain)),
        claims_document=bool(_CLAIM.search(plain)),
        pinyin=pinyin,
    )


def _without_orders(text: str) -> tuple[str, bool]:
    """The text without sentences that order, or, where nothing else is left, without such clauses."""
    if not _ORDER.search(text):
        return text, False
    for separator in (_SENTENCE_END, re.compile(r"(?<=[，,：])|(?<=:)(?=\s)")):
        kept = "".join(piece for piece in separator.split(text) if not _ORDER.search(piece)).strip(" ，,：:。.\n")
        if len(kept) > 5 and _ASKS.search(kept):
            return kept, True
    return "", True


def _pieces(text: str) -> list[str]:
    pieces = [text]
    for separator in (_SENTENCE_END, _NUMBERED, _ADDED):
        pieces = [piece for whole in pieces for piece in separator.split(whole)]
    joined: list[str] = []
    for piece in (piece.strip() for piece in pieces):
        if joined and piece and (len(piece) < 4 or _ELLIPTIC.match(piece)):
            joined[-1] += piece
        elif piece:
            joined.append(piece)
    return joined


_ELLIPTIC = re.compile(
    r"(?:[^，,?？]{1,8}呢|[^\w]*(?:why|谢谢|thanks|正常吗|是吗|对吗|right|对吧))\s*[?？。.!！]?$", re.I
)
"""A piece that means nothing alone: "四张呢？", "正常吗"."""
