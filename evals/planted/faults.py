"""Turns a true statement into a false one, by class: numbers, negation, names, links."""

from __future__ import annotations

import random
import re

from knowledge.catalog.mentions import mentions

_NUMBER = re.compile(
    r"(?<![\w.\-–])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w.])|(?<![\w.\-–])\d+(?:\.\d+)?(?![\w.\d]*-\w)(?![A-Za-z0-9])"
)
_INVENTED_EN = (
    ", which saves about {n}% in practice", ", typically within {n} days", ", at around ${n} an hour",
    ", and {n} GB is enough for this", ", as {n} of 100 teams report",
)  # fmt: skip
_INVENTED_ZH = (
    "，实际大约能省 {n}%",
    "，一般 {n} 天内见效",
    "，每小时约 {n} 元",
    "，{n} GB 就够了",
    "，{n} 家企业的实践证明了这一点",
)
_NEGATIONS_EN: tuple[tuple[str, str], ...] = (
    (r"\b(is|are|was|were) not\b", r"\1"), (r"\b(do|does)(?: not|n't) (\w+)", r"\2"), (r"\bcannot\b|\bcan't\b", "can"),
    (r"\b(should|must|will|may|can) not\b", r"\1"), (r"\bno longer\b", "still"), (r"\bnever\b", "always"),
    (r"\b(should|must|will|may|can|could|would)\b(?! not)", r"\1 not"), (r"\b(is|are|was|were)\b(?! not)", r"\1 not"),
    (r"\b(needs?|requires?|keeps?|gives?|takes?|holds?|costs?|suits?|covers?|removes?|reduces?|saves?|helps?|belongs?|hides?)\b",
     r"does not \1"),
)  # fmt: skip
_NEGATIONS_ZH: tuple[tuple[str, str], ...] = (
    (r"不能|不可以|无法", "能"), (r"不会", "会"), (r"不需要|不必|无需", "需要"), (r"不应当?|不要", "应当"), (r"不是", "是"), (r"没有", "有"),
    (r"不(?=[占用支收计含])", ""), (r"可以", "不可以"), (r"必须", "不必"), (r"需要", "不需要"), (r"(?<![不只])会(?![议话计])", "不会"),
    (r"应(?=[在当把先同按与由提])", "不应"), (r"(?<![不就也都还])是(?=[^否])", "不是"), (r"(?<![不可])能(?=[^力耗源])", "不能"), (r"要(?=[在和看把先按同写付对连与])", "不要"),
    (r"适合", "不适合"),
)  # fmt: skip
_OPPOSITES: tuple[tuple[str, str], ...] = (
    ("increase", "decrease"), ("higher", "lower"), ("more", "less"), ("faster", "slower"), ("cheaper", "dearer"), ("before", "after"),
    ("提高", "降低"), ("增加", "减少"), ("更多", "更少"), ("更快", "更慢"), ("便宜", "昂贵"), ("之前", "之后"),
)  # fmt: skip
_PROVIDERS_EN = (
    "AWS",
    "Azure",
    "Google Cloud",
    "Alibaba Cloud",
    "Tencent Cloud",
    "Huawei Cloud",
    "Oracle Cloud",
    "CoreWeave",
)
_PROVIDERS_ZH = ("阿里云", "腾讯云", "华为云", "火山引擎", "AWS", "Azure", "谷歌云")
_CARDS = ("A100", "H100", "H200", "L40S", "V100", "A10", "B200")
_LINKS_EN = (
    " See https://docs.{host}.com/training/{word}.html for details.", " ([{word} guide](https://www.{host}.io/{word}))",
    " More at www.{host}.com/{word}.", " Source: {host}.ai/blog/{word}.",
)  # fmt: skip
_LINKS_ZH = (
    "详见 https://help.{host}.com/{word}。",
    "（[{word} 文档](https://www.{host}.cn/{word})）",
    "更多见 www.{host}.com/{word}。",
)
_HOSTS = ("cloudtraininghub", "gpu-insights", "awsguide", "aliyun-docs", "mlops-today", "trainfast")
_WORDS = ("pricing", "checkpoint", "spot", "budget", "network", "storage")


def wrong_number(text: str, chinese: bool, chance: random.Random) -> str:
    """One number changed where there is one, else one put in."""
    found = list(_NUMBER.finditer(text))
    if found:
        match = chance.choice(found)
        return text[: match.start()] + _other_number(match.group(), text, chance) + text[match.end() :]
    clause = chance.choice(_INVENTED_ZH if chinese else _INVENTED_EN).format(
        n=chance.choice((13, 17, 23, 35, 42, 65, 85))
    )
    stop = re.search(r"[。.!！]?$", text)
    at = stop.start() if stop else len(text)
    return text[:at] + clause + text[at:]


def _other_number(written: str, text: str, chance: random.Random) -> str:
    value = float(written.replace(",", ""))
    while True:
        other = value * chance.choice((0.3, 0.5, 0.6, 0.75, 1.3, 1.5, 1.8, 2, 3, 5)) + chance.choice((0, 1))
        shown = f"{other:,.1f}" if "." in written and other < 1000 else f"{other:,.0f}"
        if "," not in written and value < 10_000:
            shown = shown.replace(",", "")
        if shown != written and shown not in text and float(shown.replace(",", "")) > 0:
            return shown


def negated(text: str, chinese: bool, chance: random.Random) -> str | None:
    """A "not" put in or taken out, or a word replaced by its opposite; None where the text offers no place."""
    rules = [*(_NEGATIONS_ZH if chinese else _NEGATIONS_EN)]
    turned = [re.sub(pattern, new, text, count=1) for pattern, new in rules if re.search(pattern, text)]
    for one, other in _OPPOSITES:
        boundary = "" if chinese else r"\b"
        turned += [
            re.sub(f"{boundary}{a}{boundary}", b, text, count=1)
            for a, b in ((one, other), (other, one))
            if re.search(f"{boundary}{a}{boundary}", text)
        ]
    options = [new for new in dict.fromkeys(turned) if new != text]
    return chance.choice(options) if options else None


def renamed(text: str, chinese: bool, chance: random.Random) -> str | None:
    """A cloud or an accelerator replaced by another one; None where none is named."""
    found = [m for m in mentions(text) if m.kind in ("provider", "accelerator")]
    if not found:
        return None
    match = chance.choice(found)
    written = text[match.start : match.end]
    names = _CARDS if match.kind == "accelerator" else _PROVIDERS_ZH if chinese else _PROVIDERS_EN
    taken = {m.name for m in found}
    fresh = [name for name in names if not {m.name for m in mentions(name)} & taken and name not in text]
    return text.replace(written, chance.choice(fresh)) if fresh else None


def with_link(text: str, chinese: bool, chance: random.Random) -> str:
    """An address that nobody gave."""
    link = chance.choice(_LINKS_ZH if chinese else _LINKS_EN)
    return (
        text.rstrip("。.")
        + ("。" if chinese else ".")
        + link.format(host=chance.choice(_HOSTS), word=chance.choice(_WORDS))
    )
