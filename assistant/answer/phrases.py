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
    "disagrees": {
        "zh": "但《{title}》的说法不同：",
        "en": "But “{title}” says otherwise: ",
    },
    "not_covered": {
        "zh": "已索引的资料没有回答这个问题，所以我不作猜测。",
        "en": "The indexed documents don't answer this, so I won't guess.",
    },
    "contact": {
        "zh": "可以问人：{contact}",
        "en": "Ask a person: {contact}",
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
    "no_ability": {
        "zh": "我做不了这件事：我不能下单、登录、查看或操作任何账户和机器，只能依据资料和计算回答在云上训练模型的问题。",
        "en": "I can't do that: I have no access to accounts or machines and can't order, start or look up anything. "
        "I answer questions about training models in the cloud from documents and calculations.",
    },
    "no_forecast": {
        "zh": "我没有对未来价格的依据，不作预测。现有的有日期的公开报价可以查；当前价请以厂商官网或询价为准，给我单价就能算。",
        "en": "I have no basis for future prices and don't forecast them. Ask for the listed prices with their dates; "
        "for the current price see the vendor's official page or a quote, and I can calculate with it.",
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
    "no_such_claim": {
        "zh": "已索引的资料里没有找到这样的说法，不能当作依据。",
        "en": "The indexed documents do not say that: no such statement was found in them, so it can't be relied on.",
    },
    "listed_price": {
        "zh": "没有实时价格；下面是目录里有出处、有日期的公开报价，当前价请以厂商官网或询价为准，也可以把你拿到的单价给我来算。",
        "en": "There are no live prices here; these are listed prices with source and date. For the current price see the "
        "vendor's official price page or ask for a quote, and give me that price to calculate with.",
    },
    "no_price": {
        "zh": "没有实时价格，目录里也没有这一项有出处的报价；请看厂商官网或询价，把单价给我，我可以接着算。",
        "en": "There are no live prices here, and the catalog has no sourced price for this. See the vendor's official "
        "price page or ask for a quote; with that price I can calculate.",
    },
    "order_ignored": {
        "zh": "（提问里要求改变规则或指定来源的部分没有照做。）",
        "en": "(The part that tried to change my rules or sources was not followed.)",
    },
    "model_left_out": {
        "zh": "（有几处内容未通过来源核对，已略去。）",
        "en": "(Some statements did not pass the source check and were left out.)",
    },
    "model_left_out_one": {
        "zh": "（有一处内容未通过来源核对，已略去。）",
        "en": "(One statement did not pass the source check and was left out.)",
    },
    "model_failed": {
        "zh": "（对话模型没有给出可用的回答：{reason}。以上由内置方式根据资料和计算作答。）",
        "en": "(The chat model gave no usable answer: {reason}. This was composed from the documents and calculations "
        "without it.)",
    },
    "model_broke_off": {
        "zh": "（对话模型中途停止：{reason}。以上是已核对的部分。）",
        "en": "(The chat model stopped midway: {reason}. The above is what had been checked.)",
    },
    "left_out": {
        "zh": "有内容未通过来源核对，已略去。",
        "en": "Something did not pass the source check and was left out.",
    },
}


def phrase(name: str, language: Language, **values: str) -> str:
    """A frame in the reader's language."""
    return _PHRASES[name][language].format(**values)
