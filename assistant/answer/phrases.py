"""The assistant's own words, in both languages: frames around statements, never statements themselves."""

from __future__ import annotations

from assistant.schema import Language

_PHRASES: dict[str, dict[Language, str]] = {
    "quoted_language": {
        "zh": "已索引的资料里只有英文内容回答这个问题，原文如下：",
        "en": "The indexed documents answer this in Chinese only; in their own words:",
    },
    "unsourced_claim": {
        "zh": "（资料如此声称，未附出处；请先核实其前提）",
        "en": " (the document claims this without a source; check its conditions first)",
    },
    "not_covered": {
        "zh": "已索引的资料没有回答这个问题，所以我不作猜测。",
        "en": "The indexed documents don't answer this, so I won't guess.",
    },
    "near": {
        "zh": "资料里相近的主题是：{topics}。",
        "en": " The nearest subjects they cover: {topics}.",
    },
    "out_of_scope": {
        "zh": "这个问题不在我的范围内：我只回答在云上训练模型的问题（费用、选型、平台、安全、数据传输、存储等）。",
        "en": "That is outside what I cover: training models in the cloud (cost, instances, platforms, security, "
        "data transfer, storage).",
    },
    "refused_unlawful": {
        "zh": "这件事我不能帮忙。与在云上训练模型有关的其他问题可以继续问。",
        "en": "I can't help with that. Other questions about training models in the cloud are welcome.",
    },
    "refused_injection": {
        "zh": "我不会按这类指示改变规则、展示内部设定或引用指定的来源。请直接提出关于在云上训练模型的问题。",
        "en": "I don't change my rules, show my internals or cite a source on instruction. "
        "Ask about training models in the cloud instead.",
    },
    "left_out": {
        "zh": "有内容未通过来源核对，已略去。",
        "en": "Something did not pass the source check and was left out.",
    },
}


def phrase(name: str, language: Language, **values: str) -> str:
    """A frame in the reader's language."""
    return _PHRASES[name][language].format(**values)
