"""The main language of a question, which is the language of its answer."""

from __future__ import annotations

import re

from assistant.schema import Language

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")
_TECHNICAL = re.compile(
    r"[A-Z0-9]|^(?:ckpt|gpu|cpu|lora|qlora|token|tokens|ssd|nvme|spot|batch|loss|cuda|nccl|step|epoch)$"
)
"""Names and terms that Chinese writers keep in English: they say nothing about the writer's language."""


def detect_language(text: str) -> Language:
    """Chinese when the prose is, however many English terms it holds."""
    han = len(_HAN.findall(text))
    if han == 0:
        return "en"
    words = [word for word in _LATIN_WORD.findall(text) if not _TECHNICAL.search(word)]
    return "zh" if han >= 1.2 * len(words) else "en"
