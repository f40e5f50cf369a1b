"""Sentences that need no source, since they state nothing: questions to the reader, lead-ins, what is missing."""

from __future__ import annotations

import re

from assistant.schema import Language

_ASKS_READER = re.compile(
    r"\b(?:you|your|which|what|how (?:many|much|long|large)|do we|shall|would|could)\b|你|您|请|哪|多少|几|是否|吗|么|什么|多大|多久",
    re.I,
)
_REQUEST = re.compile(
    r"^\W*(?:请(?:先|再)?(?:说明|提供|告诉|补充|给出|确认|指定|把)|还(?:差|缺|需要).{0,12}(?:信息|知道|参数|条件)|(?:如果|只要)(?:你|您).{0,40}(?:我|就)(?:可以|能|会)"
    r"|(?:please|kindly) (?:say|give|tell|provide|name|confirm|specify|share|let)|(?:just )?(?:tell|give|send) me\b"
    r"|to (?:work|figure|calculate|estimate|answer)\b.{0,30}\bi(?: would| will)?(?:'d|'ll)? need\b|i(?: would|'d)? (?:still )?need (?:to know|the|your)"
    r"|if you (?:tell|give|share|provide|let)\b|once you (?:tell|give|share|provide))",
    re.I,
)
_NOT_IN_SOURCES = re.compile(
    r"(?:资料|文档|来源|知识库|原文|段落)[^，。]{0,16}(?:没有|未|不)(?:[^，。]{0,4})(?:说|提|给|写|涉及|包含|回答|找到|覆盖|说明|列|讲)|没有(?:找到|查到)[^，。]{0,20}(?:资料|依据|来源|出处|说法|内容|报价)"
    r"|\b(?:documents?|sources?|passages?|guidance|material|knowledge base)\b[^.]{0,40}\b(?:do(?:es)?(?: not|n't)|did(?: not|n't)|say nothing|says nothing|no(?:thing)?|not)\b"
    r"|\b(?:no|nothing in the) (?:documents?|sources?|passages?)\b|\bi (?:found|have|could find) (?:nothing|no (?:source|document|passage))",
    re.I,
)
_LEAD_IN = re.compile(r"[:：][*_\s]*$")
_COURTESY = re.compile(
    r"^\W*(?:(?:sure|certainly|of course|great question|good question|hello|hi|thanks|thank you|you'?re welcome|ok(?:ay)?|happy to help|hope (?:this|that) helps)\b[^.!]{0,40}"
    r"|(?:好的|当然(?:可以)?|没问题|你好|您好|谢谢|不客气|希望(?:这|对)[^。！]{0,20}|以下是[^。！]{0,24}|下面[^。！]{0,24}|总之|综上(?:所述)?))[.!。！，,]*$",
    re.I,
)
MAX_LEAD_IN: dict[Language, int] = {"zh": 60, "en": 140}
MAX_HEADING = 90


def is_framing(text: str, language: Language) -> bool:
    """Whether a sentence without a mark states nothing that would need one."""
    bare = text.strip(" *_>#-")
    if not re.search(r"\w", bare):
        return True
    if bare.endswith(("?", "？")):
        return bool(_ASKS_READER.search(bare)) and len(bare) <= 2 * MAX_LEAD_IN[language]
    if _LEAD_IN.search(bare):
        return len(bare) <= MAX_LEAD_IN[language] and not re.search(r"[.。；;]\s*\S", bare[:-1])
    if re.fullmatch(r"\*\*[^*]{1,60}\*\*[:：]?", text.strip()):
        return True
    return bool(_REQUEST.search(bare) or _COURTESY.match(bare) or _NOT_IN_SOURCES.search(bare))
