"""What in a statement can't come from its source, told by rule: figures, names, certainty, negation, direction.

Each rule is one-sided: it objects only to what the statement has and neither the span nor its context has, or to the
opposite of what the span says. Silence is no proof of support.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from evals.numbers import Figure, close, read_figures
from evals.text import fold, normalise

_CERTAIN = re.compile(
    r"一定(?!程度|的?(?:规模|比例|数量|量|条件))|必然|必定|肯定|绝对|永远|永久|总是|从不|从来不|毫无|百分之百|完全(?:不|没|无)|保证|零(?:风险|成本|改动)"
    r"|任何情况|无条件|\balways\b|\bnever\b|\bforever\b|\bpermanent|\bguarantee|\bcertainly\b|\babsolutely\b|\bdefinitely\b|\bunconditional"
    r"|\bin (?:all|every) cases?\b|\bno risk\b|\b(?<!\d)100 ?%",
    re.I,
)
_AUTOMATIC = re.compile(r"自动|\bautomatic(?:ally)?\b", re.I)
_DENIES = re.compile(
    r"不(?!仅|但|同|断|妨|限|少|过|可用|足|稳)|没(?!错)|未(?!来|必)|无(?!论|线)|禁止|严禁|切勿|勿"
    r"|\bnot?\b(?! only)|n['’]t\b|\bnever\b|\bcannot\b|\bnobody\b|\bnone\b|\bneither\b|\bnor\b|\bforbid|\bprohibit"
    r"|\bwithout\b",
    re.I,
)
_SOMEHOW_DENIES = re.compile(
    _DENIES.pattern
    + r"|避免|免|省|减|降|难|少|缺|仅|只|才|除非|否则|而非|非|除外|例外|拒|停|关|失|误|代替|替代|转移|脱|告别|止|清|删"
    r"|除|最后|尽力|尽量|best[- ]effort"
    r"|\bavoid|\bsav(?:e|ing)|\bfree\b|\bless\b|\bfewer\b|\black|\bonly\b|\bunless\b|\binstead\b|\brather\b|\bexcept"
    r"|\bun\w{4,}|\bdis\w{4,}|\brefus|\breject|\breliev|\breduc|\blower|\bstop|\bfail|\bshift|\bmove"
    r"|\boff\b|\btransfer|\bskip|\bnon-|\bpurg|\bdelet|\bremov|\blast\b",
    re.I,
)
_WITHOUT_DENYING = re.compile(
    r"避免|免|缺|仅|只|才|除非|否则|而非|非|除外|例外|拒|失败|代替|替代|告别|少|难"
    r"|\bavoid|\bfree\b|\bless\b|\bfew|\black|\bonly\b|\bunless\b|\binstead\b|\brather\b|\bexcept|\brefus|\breject|\bfail"
    r"|\brarely\b|\bhardly\b|\bseldom\b|\bstays?\b|\bremains?\b|\bkeeps?\b|\bapart\b|\bseparate",
    re.I,
)
"""Words that deny without a negation; a statement with one may well repeat a denial."""
_OPPOSITES: tuple[tuple[str, str], ...] = (
    (
        r"提升|提高|增加|增大|加快|上升|上涨|升高|扩大|\bincreas|\bimprov|\brais(?:e|ing)|\bfaster\b|\bhigher\b"
        r"|\bspeeds? up|\bgrow",
        r"降低|减少|减小|减慢|下降|下跌|缩小|放慢|变慢|拖慢|\bdecreas|\breduc|\blower|\bslow|\bshrink|\bcuts?\b|\bfewer\b",
    ),
    (r"便宜|低廉|更省|\bcheap|\bless expensive", r"(?<!不)昂贵|更贵|(?<!不)贵|\bexpensive|\bcostl|\bdearer"),
    (
        r"允许|可以|准许|\ballow|\bpermit|\bmay\b|\bcan\b",
        r"禁止|不允许|不得|不准|严禁|\bforbid|\bprohibit|\bmust not|\bnot allowed",
    ),
    (
        r"开启|启用|打开|\benabl|\bturn(?:ed|s)? on|\bswitch(?:ed|es)? on",
        r"关闭|禁用|停用|\bdisabl|\bturn(?:ed|s)? off|\bswitch(?:ed|es)? off",
    ),
    (
        r"免费|不收费|不要钱|\bfree of charge|\bfor free|\bcosts? nothing|\bno (?:cost|charge|fee)",
        r"收费|付费|计费|费用|\bpaid\b|\bpay|\bcharg|\bbilled",
    ),
    (
        r"保留|留存|\bkept?\b|\bretain|\bpreserv|\bstay",
        r"清理|清除|删除|清掉|\bpurg|\bdelet|\bremov|\berase|\bdiscard",
    ),
    (
        r"至少|不少于|最低|\bat least|\bminimum|\bno fewer",
        r"至多|最多|不超过|上限|\bat most|\bup to|\bmaximum|\bno more than",
    ),
    (
        r"最佳|最好|适合|放心|\bbest\b|\bgood\b|\bideal|\bsuits?\b|\bsuitable",
        r"不适合|不宜|糟糕|最差|\bpoor\b|\bbad\b|\bworst\b|\bunsuitable",
    ),
    (r"同一|相同|\bsame\b", r"另一|不同|其他|\banother\b|\bdifferent\b|\bother\b"),
    (r"乘以|相乘|\bmultipl|\btimes\b", r"除以|相除|\bdivid"),
    (r"在线|联网|\bonline\b", r"离线|\boffline\b"),
    (r"短于|更短|\bshort", r"长于|更长|\blong"),
    (r"内部|私有|\bprivate|\binternal", r"公开|公共|公网|\bpublic"),
    (r"自动|\bautomatic", r"手动|人工|手工|\bmanual|\bby hand"),
    (
        r"必须|需要|\bmust\b|\brequir|\bmandatory|\bneed",
        r"无需|不必|可选|不需要|\boptional|\bnot (?:need|require)|\bno need",
    ),
)
"""Each direction as it is written in either language; a span that goes both ways objects to nothing."""

_VENDORS = (
    r"\baws\b|\bamazon\b|亚马逊",
    r"\bazure\b|\bmicrosoft\b|微软",
    r"\bgcp\b|\bgoogle\b|谷歌",
    r"\balibaba\b|\baliyun\b|阿里",
    r"\btencent\b|腾讯",
    r"\bhuawei\b|华为",
    r"\boracle\b|\boci\b|甲骨文",
    r"\bvolcengine\b|\bbytedance\b|火山|字节跳动",
    r"\bbaidu\b|百度",
    r"\bnvidia\b|英伟达",
    r"\bamd\b|超威",
)
"""Makers and providers under the names they have in either language."""
_NAME = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9.]*|[A-Za-z]+\d[A-Za-z0-9.]*)(?![A-Za-z0-9])")
_COMMON_NAME = re.compile(
    r"[GCT]PUs?|AI|ML|LLMs?|NLP|APIs?|VRAM|OOM|RAM|SSD|HDD|IT|ID|OK|FAQ|PC|UI|SLA|QA|CI|MFU|[KMGTP]i?B|USD|CNY|RMB|kWh",
    re.I,
)
"""Abbreviations that only translate a common word of the other language, and units (left to the rule on figures)."""


def contradictions(statement: str, span: str, context: str) -> list[str]:
    """What speaks against taking the statement from the span; empty when nothing does."""
    rules: tuple[Callable[[str, str, str], str], ...] = (_figures, _names, _certainty, _negation, _direction)
    return [objection for rule in rules if (objection := rule(statement, span, context))]


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _figures(statement: str, span: str, context: str) -> str:
    given = [*read_figures(span), *read_figures(context)]
    for month in re.findall(rf"\b({'|'.join(_MONTHS)})[a-z]*\b", span, re.I):
        given += read_figures(str(_MONTHS.index(month.casefold()) + 1))
    strange = [f.text for f in read_figures(statement) if not any(same_figure(f, other) for other in given)]
    return "figures not in the source: " + ", ".join(strange) if strange else ""


def same_figure(figure: Figure, other: Figure) -> bool:
    """Whether two figures may be the same amount, within one per cent or the rounding that their decimals show.

    Where both have a unit, they must agree in the quantity, or in what a scale makes of the number (`1.25B` may be
    tokens); a bare number agrees with the plain or scaled value, or as a share with a percentage.
    """
    tolerance = max(0.01, figure.rounding * 1.05)

    def alike(ours: Iterable[float], theirs: Iterable[float]) -> bool:
        return any(close(v, w, tolerance) for v in ours for w in theirs)

    if figure.quantities and other.quantities:
        return any(
            d == o and close(v, w, tolerance) for d, v in figure.quantities for o, w in other.quantities
        ) or alike((v for v in figure.scaled if v != figure.plain), (w for _, w in other.quantities))
    shares = [v for one in (figure, other) for d, v in one.quantities if d == "fraction"]
    return alike(figure.scaled, other.scaled) or alike(shares, other.scaled if figure.quantities else figure.scaled)


def _names(statement: str, span: str, context: str) -> str:
    known = re.sub(r"[^a-z0-9\u4e00-\u9fff]", "", fold(span + " " + context))
    strange: list[str] = []
    for name in dict.fromkeys(_NAME.findall(normalise(statement))):
        bare = re.sub(r"[^a-z0-9]", "", name.casefold())
        if not _COMMON_NAME.fullmatch(name) and bare not in known and bare.removesuffix("s") not in known:
            strange.append(name)
    for vendor in _VENDORS:
        named = re.search(vendor, statement, re.I)
        if named and not re.search(vendor, f"{span} {context}", re.I):
            strange.append(named.group())
    return "names not in the source: " + ", ".join(dict.fromkeys(strange)) if strange else ""


def _certainty(statement: str, span: str, context: str) -> str:
    """Objects to "always" and "guaranteed" where the source has nothing of the kind."""
    claimed = _CERTAIN.search(statement)
    if claimed and not _CERTAIN.search(span):
        return f"more certain than the source: {claimed.group()}"
    automatic = _AUTOMATIC.search(statement)
    if automatic and not re.search(rf"{_AUTOMATIC.pattern}|默认|系统|\bdefault|\bscheduler", span, re.I):
        return f"says that it is {automatic.group()}, which the source doesn't"
    return ""


def _negation(statement: str, span: str, context: str) -> str:
    if _DENIES.search(statement) and not _SOMEHOW_DENIES.search(span):
        return "denies what the source doesn't deny"
    return ""


def affirms_a_denial(statement: str, clause: str) -> bool:
    """Whether the clause that the statement takes up is a denial, and the statement isn't nor says "avoid"."""
    return bool(_DENIES.search(clause)) and not (_DENIES.search(statement) or _WITHOUT_DENYING.search(statement))


def _direction(statement: str, span: str, context: str) -> str:
    for one, other in _OPPOSITES:
        for said, opposite in ((one, other), (other, one)):
            mine = re.search(said, statement, re.I)
            if (
                mine
                and not re.search(opposite, re.sub(said, " ", statement, flags=re.I), re.I)
                and re.search(opposite, span, re.I)
                and not re.search(said, span, re.I)
            ):
                return f"says the opposite of the source: {mine.group()}"
    return ""
