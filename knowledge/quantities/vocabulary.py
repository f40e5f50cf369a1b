"""Words for units and scales, in both languages, compiled into the patterns that `reading` matches with."""
# ruff: noqa: E501

from __future__ import annotations

import re

from knowledge.quantities.names import GPU_MARK

SCALES = {
    "十": 10.0, "百": 1e2, "千": 1e3, "十万": 1e5, "百万": 1e6, "千万": 1e7, "万": 1e4, "十亿": 1e9, "百亿": 1e10, "千亿": 1e11,
    "亿": 1e8, "万亿": 1e12,
    "thousand": 1e3, "mil": 1e6, "mn": 1e6, "mln": 1e6, "million": 1e6, "bn": 1e9, "bln": 1e9, "billion": 1e9, "trillion": 1e12,
    "hundred": 1e2, "dozen": 12.0,
}  # fmt: skip
SCALE = re.compile(
    r"\s?(?:(?P<word>(?:[百千十](?=[万亿]))?(?:万亿|亿|万(?!兆))|千(?![兆瓦克米卡万亿字])|百(?![兆分万亿])|十(?=[张台块卡个天]))"
    r"|(?P<en>thousand|million|billion|trillion|hundred|dozen|mil|mn|mln|bn|bln)(?![A-Za-z])"
    r"|(?P<letter>[kKMmBbTtGgPpEwW])(?![A-Za-z]|\s?/\s?(?:s(?![A-Za-z])|kwh))|(?P<joined>[kKMBT])(?=(?:tok|param|step|example|sample|iter|row|gpu)))",
    re.I | re.A,
)
LETTERS = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "g": 1e9, "p": 1e15, "e": 1e18, "w": 1e4}

_GPU_NOUN = r"(?:gpus?|cards?|accelerators?|显卡|加速卡|算力卡)"
UNITS: tuple[tuple[str, float, str, str, str], ...] = (
    # (group, factor, unit, written, pattern); Latin words are matched whole, without regard to case
    ("gpu_hour", 1.0, "gpu-hour", "gpu-hour", rf"(?:(?:{GPU_MARK}+)[\s·-]?)?(?:gpu|card|卡|张卡?|accelerator)[\s·*×-]?(?:hours?|hrs?|h(?![a-z])|小时|时(?!间|候))|(?:{GPU_MARK}+)[\s·-]?(?:hours?|小时)"),
    ("gpu_day", 24.0, "gpu-hour", "gpu-day", rf"(?:(?:{GPU_MARK}+)[\s·-]?)?(?:gpu|卡|card)[\s·*×-]?(?:days?|天)"),
    ("token_rate", 1.0, "token/s", "token/s", r"tps(?![a-z])|t/s(?![a-z])"),
    ("tokens", 1.0, "tokens", "token", r"个?\s?(?:to?k(?:e|n|en|ne)?n?s?)(?![a-z])|个?词元"),
    ("parameters", 1.0, "parameters", "parameter", r"个?(?:参数量?)|(?:of\s)?(?:param(?:eter)?s?)(?![a-z])|-param(?:eter)?(?![a-z])|级?别?(?:大|语言)*模型|级模型|-?\s?models?(?![a-z])"),
    ("ms", 1e-3, "second", "ms", r"毫秒|ms(?![a-z])|milliseconds?(?![a-z])|msec(?![a-z])"),
    ("us", 1e-6, "second", "us", r"微秒|[uμµ]s(?![a-z])|microseconds?(?![a-z])"),
    ("minute", 60.0, "second", "minute", r"分钟|个?分(?=钟|\d+秒)|-?mins?(?:utes?)?(?![a-z])"),
    ("hour", 3600.0, "second", "hour", r"个?多?小时|个?钟头?|-?hours?(?![a-z])|hrs?(?![a-z])|h(?![a-z])"),
    ("day", 86400.0, "second", "day", r"个?(?:自然|工作|整)?天(?!数|气|线)|个(?:自然|工作)日|-?(?:business\s|calendar\s)?days?(?![a-z])|d(?![a-z/])"),
    ("week", 7 * 86400.0, "second", "week", r"个?(?:星期|礼拜)|周(?!期|末|一|二|三|四|五|六|日|围)|-?weeks?(?![a-z])|wks?(?![a-z])"),
    ("quarter", 91.25 * 86400.0, "second", "quarter", r"个?季度|quarters?(?![a-z])"),
    ("month", 30 * 86400.0, "second", "month", r"个多?月|-?months?(?![a-z])|mos?(?![a-z])"),
    ("year", 365 * 86400.0, "second", "year", r"年(?!级|龄|代|轻|[12]?\d月)|-?(?:years?|yrs?)(?![a-z])"),
    ("second", 1.0, "second", "second", r"秒钟?|secs?(?![a-z])|seconds?(?![a-z])|s(?![a-z])"),
    ("fraction", 0.01, "fraction", "%", r"%|percent(?:age)?(?:\spoints?)?(?![a-z])|pct(?![a-z])|个百分点|个点(?![击赞])"),
    ("permille", 0.001, "fraction", "‰", r"‰"),
    ("tenth", 0.1, "fraction", "成", r"成(?!本|功|立|为|交|果|员|绩|都|长|熟|品|像|分|多少|了)"),
    ("off", 0.1, "fraction", "折", r"折(?!旧|腾|合|算[成为]|叠|扣|磨)"),
    ("usd", 1.0, "USD", "USD", r"刀(?!片)|美元|美金|美刀|块美金|usd(?![a-z])|us\s?dollars?|dollars?(?![a-z])|bucks?(?![a-z])|u\.s\.\sdollars?"),
    ("cent", 0.01, "USD", "USD", r"美分|(?:us\s)?cents?(?![a-z])"),
    ("fen", 0.01, "CNY", "CNY", r"分钱"),
    ("mao", 0.1, "CNY", "CNY", r"毛钱?(?!利|病|坯)|角钱"),
    ("hkd", 1.0, "HKD", "HKD", r"港币|港元|hkd(?![a-z])"),
    ("eur", 1.0, "EUR", "EUR", r"欧元|€|eur(?:os?)?(?![a-z])"),
    ("gbp", 1.0, "GBP", "GBP", r"英镑|£|gbp(?![a-z])"),
    ("jpy", 1.0, "JPY", "JPY", r"日元|jpy(?![a-z])|yen(?![a-z])"),
    ("cny", 1.0, "CNY", "CNY", rf"元(?!素|数据|学习)(?:人民币)?|块钱|人民币|rmb(?![a-z])|cny(?![a-z])|yuan(?![a-z])|大洋|块(?!\s?(?:{_GPU_NOUN}|{GPU_MARK}+|卡|硬盘|盘|ssd|gpu|板|\d+\s?[gG]))(?:人民币)?"),
    ("gpu", 1.0, "gpu", "gpu", rf"(?:张|块|片|颗)(?:\s?(?:{_GPU_NOUN}|卡))?(?!图|照|表|纸|\s?硬?盘|\s?ssd)|-?卡(?!死|住|顿|壳|脖|点|车|在|了)|个?\s?-?{_GPU_NOUN}(?![a-z])|个卡"),
    ("node", 1.0, "node", "node", r"台(?:机器|服务器|主机|节点|机(?!柜))?|个?(?:计算|GPU)?节点|个?实例|机(?=\s?\d+\s?卡|\s?[一二两三四五六七八九十]+卡|[\s，,。？?]|$)|-?(?:nodes?|servers?|machines?|boxes|box|instances?|hosts?|vms?)(?![a-z])"),
    ("device", 1.0, "device", "device", r"(?:台|个|块)?(?:迁移|离线|存储)?(?:设备|硬盘|盘(?!点))|(?:台)?闪电立方|-?(?:devices?|appliances?|snowballs?|drives?|disks?|hdds?|ssds?)(?![a-z])"),
    ("step", 1.0, "step", "step", r"步(?!骤)|个?\s?-?steps?(?![a-z])|iter(?:ation)?s?(?![a-z])|个?iters?"),
    ("epoch", 1.0, "epoch", "epoch", r"个?\s?-?epochs?(?![a-z])|轮(?!次|胎)|passes(?![a-z])"),
    ("example", 1.0, "example", "example", r"个?(?:条|样本|例)(?:数据|样本|指令|对话|记录)?|(?:训练)?样本|[\s-]?(?:training\s)?(?:examples?|samples?|rows?|records?|instructions?|pairs?|conversations?|dialogues?)(?![a-z])"),
    ("checkpoint", 1.0, "checkpoint", "checkpoint", r"(?:个|份|次)?\s?(?:检查点|断点|ckpts?(?![a-z])|checkpoints?(?![a-z]))"),
    ("copy", 1.0, "copy", "copy", r"(?:个|份)?(?:副本|拷贝)|份(?!额|子)|-?(?:copies|copy|replicas?)(?![a-z])"),
    ("person", 1.0, "person", "person", r"个?(?:人(?!民|工|类)|工程师|研究员|运维)|people(?![a-z])|persons?(?![a-z])|(?:full-?time\s)?engineers?(?![a-z])|ftes?(?![a-z])|researchers?(?![a-z])"),
    ("file", 1.0, "file", "file", r"个?(?:小)?文件|-?(?:small\s)?files?(?![a-z])"),
    ("image", 1.0, "image", "image", r"(?:张|幅)?(?:图片?|照片|影像)|images?(?![a-z])|pictures?(?![a-z])"),
    ("run", 1.0, "run", "run", r"[次回](?!复|答|收|本|来)|(?:training\s)?runs?(?![a-z])"),
    ("core", 1.0, "core", "core", r"核(?!心|算|对)|v?cpus?(?![a-z])|v?cores?(?![a-z])"),
    ("layer", 1.0, "layer", "layer", r"层|layers?(?![a-z])"),
    ("char", 1.0, "char", "char", r"(?:个)?(?:汉?字(?!节|段|典)|字符)|char(?:acter)?s?(?![a-z])|words?(?![a-z])"),
    ("times", 1.0, "times", "times", rf"倍|times(?![a-z])|[xX×](?!\s?[\dA-Za-z{GPU_MARK}])|-?fold(?![a-z])"),
    ("mwh", 1e3, "kWh", "MWh", r"mwh(?![a-z])|兆瓦时"),
    ("gwh", 1e6, "kWh", "GWh", r"gwh(?![a-z])|吉瓦时"),
    ("kwh", 1.0, "kWh", "kWh", r"kwh(?![a-z])|kw[·\s]?h(?![a-z])|千瓦时|度电?(?!数|量)"),
    ("wh", 1e-3, "kWh", "Wh", r"wh(?![a-z])|瓦时"),
    ("kw", 1e3, "W", "kW", r"kw(?![a-z])|千瓦|kilowatts?(?![a-z])"),
    ("mw", 1e6, "W", "MW", r"mw(?![a-z])|兆瓦|megawatts?(?![a-z])"),
    ("watt", 1.0, "W", "W", r"瓦特?|watts?(?![a-z])"),
    ("tonne", 1e6, "g", "tonne", r"吨|tonnes?(?![a-z])|metric\stons?(?![a-z])|tco2e?(?![a-z])"),
    ("kg", 1e3, "g", "kg", r"kg(?:co2e?)?(?![a-z])|公斤|千克"),
    ("gram", 1.0, "g", "g", r"克|grams?(?![a-z])|g(?=\s?/\s?kwh)|gco2e?q?(?![a-z])"),
)  # fmt: skip
_FIRST = "".join(
    sorted({char for *_, pattern in UNITS for char in pattern if not char.isascii() and char not in GPU_MARK})
)
UNIT = re.compile(
    rf"\s?(?=[A-Za-z%×{_FIRST}{GPU_MARK}-])(?:"
    + "|".join(f"(?P<{group}>{pattern})" for group, _, _, _, pattern in UNITS)
    + ")",
    re.I | re.A,
)
BY_GROUP = {group: (factor, unit, written) for group, factor, unit, written, _ in UNITS}

_SPELT = {
    "tokens": "tokens", "token": "tokens", "parameters": "parameters", "months": "month", "month": "month",
    "minutes": "minute", "minute": "minute", "seconds": "second", "percent": "fraction", "dollars": "usd",
    "checkpoints": "checkpoint", "checkpoint": "checkpoint", "epochs": "epoch", "weeks": "week", "examples": "example",
    "samples": "example", "machines": "node", "replicas": "copy",
}  # fmt: skip
"""Units long enough to be known when a letter is wrong."""
_VOWELS = re.compile(r"(?<!^)[aeiou]")


def misspelt_unit(word: str) -> str | None:
    """The group of the unit that a word is a misspelling of: one letter too many, missing, wrong or swapped, or no vowels."""
    if word in _SPELT:
        return None
    for spelt, group in _SPELT.items():
        if word[0] == spelt[0] and (word == _VOWELS.sub("", spelt) or _one_apart(word, spelt)):
            return group
    return None


def _one_apart(one: str, other: str) -> bool:
    """Whether one edit, or one swap of neighbours, makes one word of the other."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    left, right = one[start:], other[start:]
    return (
        left[1:] == right
        or left == right[1:]
        or left[1:] == right[1:]
        or (left[:2] == right[1::-1] and left[2:] == right[2:])
    )


BYTES = re.compile(
    r"\s?(?:个)?\s?(?:(?P<prefix>[kKMmGgTtPpEe])(?P<binary>i)?(?P<unit>[Bb](?:it|yte)?s?|比特|字节)|(?P<word>字节|[Bb](?=\s?/\s?(?:param|参数))|[Bb]ytes?|比特|bits?)"
    r"|(?P<long>kilo|mega|giga|tera|peta)(?P<long_unit>bytes?|bits?)|(?P<gigs>gigs?))(?P<rate>ps|PS)?(?![A-Za-z])"
)
BIT_LETTER_RATE = re.compile(r"\s?(?P<prefix>[KMGTkmgt])(?P<rate>bps|/s|ps|/秒|每秒|bit/s)(?![A-Za-z])", re.A)
FLOPS = re.compile(
    r"\s?(?P<prefix>[KMGTPEZ]|exa|peta|tera|zetta|giga)?-?(?:FLOP(?P<rate>/s|S(?![a-z])|s/s|s per second)?s?|次?浮点运算)(?![A-Za-z])",
    re.I | re.A,
)
NETWORK_WORD = re.compile(r"\s?(?P<size>百|千|万)兆|\s?兆", re.A)
PER_SECOND = re.compile(r"\s?(?:/\s?|每|per\s|a\s)(?:s(?:ec(?:ond)?)?|秒钟?)(?![A-Za-z])", re.I | re.A)
PER = re.compile(
    r"\s?(?:/\s?|每|per[\s-]|\ba\s|\ban\s|·|一|-(?=month))\s?(?:"
    r"(?P<gpu_hour>(?:gpu|卡|card|张卡?)[\s·*-]?(?:小时|时(?!间)|h(?:our|r)?s?)(?![a-z])"
    rf"|(?:{GPU_MARK}+)[\s·-]?(?:hours?|hr?|小时)(?![a-z]))"
    r"|(?P<hour>个?小时|钟头?|hours?(?![a-z])|hr?s?(?![a-z]))|(?P<day>天|日|days?(?![a-z])|d(?![a-z]))|(?P<week>周|星期|week(?![a-z]))"
    r"|(?P<month>个?月|months?(?![a-z])|mon?(?![a-z]))|(?P<year>年|years?(?![a-z])|yr(?![a-z]))|(?P<minute>分钟?|min(?:ute)?(?![a-z]))|(?P<second>秒钟?|s(?:ec(?:ond)?)?(?![a-z]))"
    r"|(?P<tb>TB?(?![a-z])|tera(?![a-z]))|(?P<gb>GB?(?![a-z])|gig(?![a-z]))|(?P<mbps>Mbps|M带宽)"
    r"|(?P<mtok>(?:(?:1\s?)?m(?:illion)?|百万)\s?(?:tokens?|toks?)(?![a-z]))|(?P<ktok>(?:1\s?)?(?:k|千)\s?(?:tokens?|toks?)(?![a-z]))"
    r"|(?P<million>(?:1\s?)?million(?![a-z])(?:\s(?:requests?|calls?))?|百万[次条个]?(?!\s?tok))|(?P<ten_thousand>万[次条](?:请求|调用)?)"
    r"|(?P<token>个?tokens?(?![a-z]))|(?P<parameter>个?参数|param(?:eter)?(?![a-z]))|(?P<kwh>度电?|kwh(?![a-z]))|(?P<step>步|steps?(?![a-z])|it(?:er(?:ation)?)?(?![a-z]))"
    r"|(?P<node>台(?:机器)?|节点|机(?!房)|nodes?(?![a-z])|instances?(?![a-z])|servers?(?![a-z])|box(?![a-z])|machines?(?![a-z]))"
    r"|(?P<gpu>张?卡|张|块|gpus?(?![a-z])|cards?(?![a-z])|device(?![a-z]))|(?P<run>次|run(?![a-z]))|(?P<checkpoint>ckpt|checkpoint)|(?P<person>人|person(?![a-z])|head(?![a-z]))"
    r"|(?P<file>个?文件|file(?![a-z]))|(?P<example>条|个?样本|example(?![a-z])|sample(?![a-z]))|(?P<epoch>个?epoch|轮)"
    r")",
    re.I | re.A,
)
