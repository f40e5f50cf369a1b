"""What a bot says by itself, in both languages."""

from __future__ import annotations

from assistant.schema import Language

_WORDS: dict[str, dict[Language, str]] = {
    "sources": {"en": "Sources", "zh": "来源"},
    "follow_ups": {"en": "You can also ask", "zh": "还可以问"},
    "up": {"en": "Helpful", "zh": "有帮助"},
    "down": {"en": "Not helpful", "zh": "没帮助"},
    "thanks": {"en": "Thank you, noted.", "zh": "谢谢，已记下。"},
    "answer": {"en": "Answer", "zh": "回答"},
    "working": {"en": "Looking it up …", "zh": "正在查找……"},
    "shortened": {
        "en": "(Shortened: the answer is longer than a reply here can be.)",
        "zh": "（回答超出长度，已截断。）",
    },
    "page": {"en": "p. {page}", "zh": "第 {page} 页"},
}
EMPTY = "What would you like to know about training models in the cloud? / 想了解云上训练模型的什么问题？"
BROKEN = "Something went wrong here; please ask again later. / 出了点问题，请稍后再问。"


def word(key: str, language: Language) -> str:
    """A text in the reader's language."""
    return _WORDS[key][language]
