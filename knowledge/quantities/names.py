"""What holds digits and is no amount: names of GPUs and models, versions, dates, addresses.

A model's name carries its size and a GPU's name its memory; both are given as what they are.
"""
# ruff: noqa: E501

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

GPU_MARK, MODEL_MARK, OTHER_MARK = "\ue000", "\ue001", "\ue002"
"""What `masked` puts in the place of a name, one for each of its characters."""

_GPU_NAME = (
    r"(?:(?:nvidia|tesla|geforce|英伟达)\s?)?"
    r"(?:(?:rtx|gtx)\s?-?a?\d{4}(?:\s?(?:ti|super|ada|d))?"
    r"|(?:gb|gh|mi)-?[1-9]\d{2}x?"
    r"|[ahb]-?(?:10|16|30|40|100|200|300|800)(?:g|s|x)?|a\d{4}(?:\sada)?|h20|l-?(?:2|4|20|40)s?|[vp]-?100s?|p40|t4|k80|m60"
    r"|(?:1[06]|[2-5]0)[5-9]0(?:\s?(?:ti|super|d))?"
    r"|(?:(?:ascend|昇腾|atlas)\s?)?910[abc]\d?|(?:ascend|昇腾|atlas)\s?\d{3}\w?|gaudi\s?\d|tpu\s?v\d\w?|trn\d|trainium\s?\d?|mlu\s?\d{3}|dcu\s?\w\d+)"
)
_GPU = re.compile(
    rf"(?=[ntgrahblvpkmd1-59英昇])(?:(?<![A-Za-z0-9.])|(?<=\dx))(?P<name>{_GPU_NAME})(?P<form>[\s-]?(?:sxm\d?|pcie|nvl))?"
    r"(?:(?:[\s,-]*[（(]\s?|[\s-]+)(?P<memory>\d{2,3})\s?(?P<unit>gib|gb|g)(?P<close>\s?[)）])?(?![A-Za-z0-9/]))?(?![a-rt-wyz0-9]|\.\d)",
    re.I | re.A,
)
_SPACED_GPU = re.compile(
    r"(?<![A-Za-z0-9])(?P<name>[AHV] 100)(?:[\s-]+(?P<memory>\d{2,3})\s?(?P<unit>GB|G)(?![A-Za-z0-9/]))?(?!\s?[A-Za-z0-9%])"
)
_MODEL_FAMILY = (
    r"llama|qwen|deepseek|mixtral|mistral|glm|chatglm|baichuan|gemma|phi|bert|roberta|gpt|bloom|falcon|opt|yi|internlm"
    r"|codellama|starcoder|vicuna|alpaca|pythia|mpt|olmo|t5|palm|gopher|chinchilla|minicpm|moonshot|kimi|ernie|grok|nemotron"
    r"|通义千问|千问|百川|书生|悟道|文心"
)
_VERSIONED = (
    r"cuda|cudnn|python|torch|pytorch|driver|nccl|ubuntu|debian|centos|tensorrt|vllm|megatron|deepspeed|transformers|jax|tensorflow"
    r"|kubernetes|k8s|slurm|iso|iso/iec|gb/t|rfc|ipv|zero|zero\s?stage|stage|version|ver|版本|等保|pcie|gen|wifi|web|win|windows|pci-e|nvlink|sxm|usb|tls|http|sha|md"
)
_SIZE = r"(?P<size>\d+(?:\.\d+)?)\s?(?P<scale>[bBmMtT])(?![A-Za-z0-9])"
_MODEL = re.compile(
    rf"(?<![A-Za-z0-9])(?P<model>(?:{_MODEL_FAMILY})(?![a-z])[\s-]?v?(?:\d+(?:\.\d+)?(?![\d.]*\s?(?:[bBmMtTkKwW](?![A-Za-z])|[万亿千百%年天张卡块台×*]|x\d)))?(?:[\s-]?(?:chat|base|instruct|coder|math|vl|moe|v\d(?:\.\d)?))?)"
    rf"[\s-]*(?:的)?(?:(?P<experts>\d+)\s?[xX×]\s?)?(?:{_SIZE})?(?:-?[aA](?P<active>\d+(?:\.\d+)?)[bB](?![A-Za-z]))?(?:[\s-](?:chat|base|instruct|hf))?",
    re.I | re.A,
)
_HYPHENATED_MODEL = re.compile(
    rf"(?<![A-Za-z0-9.])[A-Za-z][A-Za-z]{{1,15}}[\w.]{{0,12}}(?:-[\w.]{{1,16}}){{0,3}}-(?:(?P<experts>\d+)[xX])?{_SIZE}(?:-[aA](?P<active>\d+(?:\.\d+)?)[bB](?![A-Za-z]))?"
)
_EXPERTS = re.compile(
    r"(?<![\w.])(?P<experts>\d{1,3})\s?[xX×]\s?(?P<size>\d+(?:\.\d+)?)(?P<scale>[bB])(?![A-Za-z0-9])", re.A
)
_ACTIVE = re.compile(r"(?<![A-Za-z0-9])[aA](?P<active>\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])", re.A)
_DATES = re.compile(
    r"""
    (?<![\d.$¥€£])(?=\d)(?:
      (?:19[5-9]|20[0-4])\d\s?(?:年(?:\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?)?(?:底|初)?|[-/](?:0?[1-9]|1[0-2])(?:[-/](?:0?[1-9]|[12]\d|3[01]))?(?![\d.])|\.(?:0?[1-9]|1[0-2])\.(?:0?[1-9]|[12]\d|3[01])(?![\d.]))
    | [12]\d年(?=[底初上下Qq第春夏秋冬])
    | (?<!个)(?:1[0-2]|[1-9])\s?月(?:\s?[0-3]?\d\s?[日号]|(?=[底初中上下份]|[^\d]|$))
    | \d{1,2}\s?[日号](?!志)
    | \d{1,2}:\d{2}(?::\d{2})?(?!\d)
    | (?:24\s?/\s?7|7\s?[xX×*]\s?24)(?!\d)
    | \d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?
    | (?<![A-Za-z])\d+(?:st|nd|rd|th)(?![A-Za-z])
    | (?<![A-Za-z])\d{1,2}[\s-]?(?:bits?|位)(?![A-Za-z0-9/]|\s?(?:/|per))
    )
    """,
    re.I | re.A | re.X,
)
_WORDED = re.compile(
    r"""
    (?<![A-Za-z])(?=[a-z\#第版等阶])(?:
      (?:https?://|www\.)[^\s，。]+
    | (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s\d{1,2}(?:st|nd|rd|th)?(?:,?\s(?:19|20)\d\d)?(?![A-Za-z0-9.])
    | (?:第|\#|no\.?)\s?[\d一二三四五六七八九十]+(?:[种个条步章节次轮张台天周月年季代])?
    | (?=[^\d，。\n]{1,16}\d)(?:"""
    + _VERSIONED
    + r""")[\s-]{0,2}v?\d+(?:\.\w+)*(?![\d.]*\s?(?:[%万亿千百年天张卡块台元]|[xX×]\s?\d))
    | (?<!\d)(?:fp|bf|int|uint|nf|tf|e|w|a)\d{1,2}(?:m\d)?(?![A-Za-z0-9.]|-[A-Za-z])
    )
    """,
    re.I | re.A | re.X,
)
_ATTACHED = re.compile(
    r"(?<![A-Za-z0-9])(?!(?:RMB|CNY|USD|US|EUR|HKD|x|X|MFU|PUE|bs|rank|seq|ctx|k?gCO|tCO)\d)[A-Za-z]{1,24}[-_.]?[A-Za-z]{0,24}\d[\w.]{0,40}(?:-[\w.]{1,24}){0,4}(?!\w)",
    re.A,
)


_CURRENCY_SIGNS = ("$", "¥", "€", "£")
_COUNTED = re.compile(
    r"\s?(?:steps?|tokens?|tok|hours?|days?|examples?|[KMGTP](?:i?b(?:ps|it|/s)?)?(?![a-z])|kwh|w(?![a-z])|[a-z]?flops?|[%元步个条天小万亿台份周年月度份美])",
    re.I | re.A,
)
"""What follows a number that only looks like a GeForce name."""


@dataclass(frozen=True, slots=True)
class NameSpan:
    """Text that is no amount, with the sizes that it names."""

    start: int
    end: int
    kind: str
    """gpu, model or other."""
    name: str = ""
    parameters: float | None = None
    active_parameters: float | None = None
    experts: bool = False
    memory: float | None = None
    """Bytes of one GPU."""
    memory_span: tuple[int, int] = (0, 0)


_SCALES = {"b": 1e9, "m": 1e6, "t": 1e12}


def _model(match: re.Match[str]) -> NameSpan:
    groups = match.groupdict()
    size = groups.get("size")
    experts = groups.get("experts")
    parameters = float(size) * _SCALES[groups["scale"].lower()] * float(experts or 1) if size else None
    active = groups.get("active")
    return NameSpan(
        match.start(),
        match.end(),
        "model",
        match.group().strip(),
        parameters=parameters,
        active_parameters=float(active) * 1e9 if active else None,
        experts=bool(experts),
    )


def _gpu(match: re.Match[str]) -> NameSpan:
    memory = match["memory"]
    factor = 2.0**30 if (match["unit"] or "").lower() == "gib" else 1e9
    return NameSpan(
        match.start(),
        match.end(),
        "gpu",
        match["name"].strip(),
        memory=float(memory) * factor if memory else None,
        memory_span=(match.start("memory"), match.end("unit")) if memory else (0, 0),
    )


def _is_amount(text: str, match: re.Match[str]) -> bool:
    """Whether digits that look like a GeForce name are a number: "$4090", "3050 GiB"."""
    return text[match.start() - 1 : match.start()] in _CURRENCY_SIGNS or bool(_COUNTED.match(text, match.end("name")))


def _found(text: str) -> Iterator[NameSpan]:
    for match in _GPU.finditer(text):
        if not (match["name"].isdigit() and _is_amount(text, match)):
            yield _gpu(match)
    for match in _SPACED_GPU.finditer(text):
        yield _gpu(match)
    for pattern in (_HYPHENATED_MODEL, _MODEL, _EXPERTS, _ACTIVE):
        for match in pattern.finditer(text):
            yield _model(match)
    for pattern in (_DATES, _WORDED, _ATTACHED):
        for match in pattern.finditer(text):
            yield NameSpan(match.start(), match.end(), "other", match.group())


def names_in(text: str) -> list[NameSpan]:
    """Non-overlapping spans in order of the text; GPUs before models before the rest, the first found wins."""
    taken: list[NameSpan] = []
    for span in _found(text):
        at = bisect_left(taken, span.start, key=_start)
        if (at == 0 or taken[at - 1].end <= span.start) and (at == len(taken) or taken[at].start >= span.end):
            taken.insert(at, span)
    return taken


def _start(span: NameSpan) -> int:
    return span.start


def masked(text: str, names: list[NameSpan]) -> str:
    """The text with marks in the place of names, so that no digit of a name is read; offsets stay."""
    marks = {"gpu": GPU_MARK, "model": MODEL_MARK, "other": OTHER_MARK}
    parts, at = [], 0
    for name in names:
        parts += [text[at : name.start], marks[name.kind] * (name.end - name.start)]
        at = name.end
    return "".join([*parts, text[at:]])
