"""What speaks against taking a statement from its source, told by rule: names, negation, direction, certainty.

Similarity of meaning does not see a "not" or another vendor's name, so these are looked for. Each rule is one-sided: it
objects to what the statement has and the source has not, or to the opposite of what the source says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.catalog.mentions import mentions
from knowledge.lexical import terms

_HARD_ZH = r"(?<!差)不(?!仅|但|同|断|妨|过(?!期)|止|管|论|光|只|少(?!于)|错|时|外乎|可用|足|够|稳)|(?<![分识类区特差级个])别(?!的|人|处|离|名|墅)|没有?(?!错|收)|未(?!来|必)|无(?!论|线|服务器|监督|人)|切勿|勿|并非|绝非"
_HARD_EN = r"\bnot\b(?! only| just| necessarily)|\bno\b(?! longer than)|n['’]t\b|\bnever\b|\bcannot\b|\bnone\b|\bneither\b|\bnor\b|\bnothing\b|\bwithout\b|\brather than\b|\binstead of\b"
_HARD = re.compile(f"{_HARD_ZH}|{_HARD_EN}", re.I)
_SOFT = re.compile(
    r"足|够|抵|消|免|缺|仅|只|才|除非|否则|而非|非(?!常)|除外|除了|例外|拒|失|误|代替|替代|取代|脱|停|关|禁|少|难|防|减|省|离|止|清|删|撤|最后|之前|以前|尽力|几乎|很低|弱|差|空|旧|错|光|独|唯|忘|漏|丢|白|宕|断"
    r"|\bavoid|\bfree\b|\bless\b|\bfew|\black|\bonly\b|\bunless\b|\binstead\b|\brather\b|\bexcept|\bapart\b|\bother than"
    r"|\brefus|\breject|\bfail|\brarely\b|\bhardly\b|\bseldom\b|\bbarely\b|\bstays?\b|\bremain|\bkeeps?\b|\bstill\b|\bseparate|\bun\w{4,}"
    r"|\bdis\w{4,}|\bim\w{5,}|\bin(?:sufficient|complete|valid|effective|dependent|ability|capable)|\bno[nt]-|\bstop|\bprevent|\bblock|\bforbid|\bprohibit|\bban"
    r"|\bmiss|\blos[es]|\bdeni|\bdeny|\boff\b|\bend[s ]|\bout of\b|\btoo\b|\bbefore\b|\buntil\b|\balone\b|\bexclud|\bomit|\bskip|\bremov|\bdelet"
    r"|\breduc|\bcut|\bsav(?:e|ing)|\blow|\bworse|\bweak|\bbeyond\b|\bmere|\bjust\b|\bimpossible",
    re.I,
)
"""Words that may carry a denial without a negation: a statement with one may well repeat a denial, or come from one."""
_CERTAIN = re.compile(
    r"一定(?!程度|的|规模|比例|数量|要|时间|期限|量|条件|范围)|必然|必定|肯定(?!会不)|绝对|永远|总是|从不|从来|百分之百|彻底|保证(?!金)|零风险|任何情况|无条件|万无一失"
    r"|\balways\b|\bnever\b|\bforever\b|\bguarantee|\bcertainly\b|\babsolutely\b|\bdefinitely\b|\bunconditional|\bin (?:all|every) cases?\b|\bno risk\b|\bfully\b|\bcompletely\b|\bentirely\b",
    re.I,
)
_CERTAIN_ENOUGH = re.compile(
    _CERTAIN.pattern
    + r"|都|全|每|任何|所有|必须|不能|不会|不可|不得|无法|只|仅|一律|一直|凡|\ball\b|\bevery\b|\bany\b|\bmust\b|\bonly\b|\bcannot\b|\bnot\b|\bno\b|\bwhole\b|\bfull|\bcomplet|\bentire|\bensur|n['’]t\b",
    re.I,
)
_OPPOSITES: tuple[tuple[str, str], ...] = (
    (
        r"提升|提高|增加|增大|加快|上升|上涨|升高|扩大|变快|变大|更快|更高|更多|更大|\bincreas|\bimprov|\brais(?:e|ing)|\bfaster\b|\bhigher\b|\bmore\b|\blarger\b|\bbigger\b|\bspeeds? up|\bgrow|\brises?\b|\bexpand",
        r"降低|减少|减小|减慢|下降|下跌|缩小|放慢|变慢|拖慢|更慢|更低|更少|更小|节省|省下|\bsav(?:e|es|ed|ing)\b|\bdecreas|\breduc|\blower|\bslow|\bshrink|\bcuts?\b|\bfewer\b|\bless\b|\bsmaller\b|\bfalls?\b|\bdrop",
    ),
    (
        r"便宜|低廉|更省|划算|\bcheap|\bless expensive|\baffordable",
        r"(?<!不)昂贵|更贵|(?<!不)贵|\bexpensive|\bcostl(?:y|ier)|\bdearer|\bpric[ei]er",
    ),
    (
        r"(?<!不)允许|(?<!不)可以|(?<!不)能够?|准许|\ballow|\bpermit|\bmay\b|\bcan\b(?!not)",
        r"禁止|不允许|不得|不准|严禁|不能|不可|无法|\bforbid|\bprohibit|\bmust not|\bnot allowed|\bcannot\b|\bcan't\b|\bunable\b",
    ),
    (
        r"开启|启用|打开|\benabl|\bturn(?:ed|s)? on|\bswitch(?:ed|es)? on",
        r"关闭|禁用|停用|关掉|\bdisabl|\bturn(?:ed|s)? off|\bswitch(?:ed|es)? off",
    ),
    (
        r"免费|不收费|不要钱|不计费|\bfree of charge|\bfor free|\bcosts? nothing|\bno (?:cost|charge|fee)|\bis free\b|\bare free\b",
        r"(?<!不)收费|付费|(?<!不)(?<!停止)计费|\bpaid\b|\bpay|(?<!no )(?<!of )\bcharge|\bbilled|\bbilling|\bcosts? (?!nothing|less)",
    ),
    (
        r"保留|留存|\bkept?\b|\bretain|\bpreserv",
        r"清理|清除|删除|清掉|丢弃|\bpurg|\bdelet|\bremov|\berase|\bdiscard|\bdestroy",
    ),
    (
        r"至少|不少于|最低|下限|\bat least|\bminimum|\bno fewer|\bno less",
        r"至多|最多|不超过|上限|\bat most|\bup to|\bmaximum|\bno more than",
    ),
    (
        r"(?<!不)适合|(?<!不)宜|最佳|最好|\bbest\b|\bideal|(?<!not )\bsuits?\b|(?<!not )\bsuitable",
        r"不适合|不宜|糟糕|最差|\bpoor\b|\bbad\b|\bworst\b|\bunsuitable|\bnot suit",
    ),
    (r"同一|相同|一样|\bsame\b|\bidentical", r"另一|不同|不一样|\banother\b|\bdifferent\b"),
    (r"乘以|相乘|\bmultipl|\btimes\b", r"除以|相除|\bdivid"),
    (r"在线|联网|\bonline\b", r"离线|\boffline\b"),
    (r"短于|更短|缩短|\bshort", r"长于|更长|延长|\blonger|\blengthen|\bextend"),
    (r"私有|内网|\bprivate\b|\binternal", r"公开|公共|公网|\bpublic"),
    (r"(?<!不)自动|\bautomatic", r"手动|人工|手工|\bmanual|\bby hand"),
    (
        r"必须|(?<!不)需要|务必|\bmust\b|\brequir|\bmandatory|\bneed",
        r"无需|不必|可选|不需要|不用|\boptional|\bnot (?:need|require)|\bno need|n't need|n't have to|\bunnecessary",
    ),
    (
        r"(?<!不)支持|(?<!not )(?<!n't )(?<!no )\bsupport",
        r"不支持|\bnot support|n't support|\bunsupported|\bno support",
    ),
    (
        r"(?<!不)安全(?!组|管|审|策|部|事|评|区|团|等|责|性|认)|\bsafe\b|\bsecure\b",
        r"不安全|危险|有风险|\bunsafe|\binsecure|\bdanger|\brisky",
    ),
    (
        r"之前|以前|提前|事先|(?<![向朝往])前(?![提端缀沿者面身置])|\bbefore\b|\bprior to",
        r"之后|以后|事后|后(?![端缀者面果台续退门悔])|\bafter(?!wards)\b",
    ),
    (r"之内|以内|内部|里面|\binside\b|\bwithin\b", r"之外|以外|外部|外面|\boutside\b|\bbeyond\b"),
    (r"(?<!不)容易|简单|\beasy\b|\beasier|\bsimple", r"困难|很难|复杂|\bhard\b|\bharder|\bdifficult|\bcomplex"),
    (
        r"长期|稳定|\blong-term|\bsteady|\bstable",
        r"短期|波动|临时|突发|\bshort-term|\bvolatile|\btemporar|\bbursty|\boccasional",
    ),
    (r"线性|\blinear(?:ly)?", r"次线性|亚线性|\bsub-?linear|\bnon-?linear"),
    (
        r"多于|大于|高于|超过|\bmore than|\bgreater than|\babove\b|\bexceed",
        r"少于|小于|低于|不足|\bless than|\bbelow\b|\bunder\b|\bfewer than",
    ),
    (
        r"(?<!不)会(?!议|话|计)|\bwill\b(?! not)|\bdoes\b(?! not|n't)",
        r"不会|\bwill not|\bwon't|\bdoes not|\bdoesn't|\bdo not|\bdon't",
    ),
    (r"先(?!进|前|占)|首先|\bfirst\b", r"最后|\blast\b|\bfinally"),
    (r"上传|\bupload|\bingress|入向|入站|流入", r"下载|\bdownload|\begress|出向|出站|流出"),
)
"""Each direction as it is written in either language; a source that goes both ways objects to nothing."""
_COMPILED = tuple((re.compile(one, re.I), re.compile(other, re.I)) for one, other in _OPPOSITES)

_NAME = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9.]*|[A-Za-z]+\d[A-Za-z0-9.]*)(?![A-Za-z0-9])")
_PROPER = re.compile(r"(?<=[a-z,] )(?<![.!?:] )[A-Z][a-z]{2,}(?:[A-Z]\w*)?")
_COMMON_NAME = re.compile(
    r"[GCTDN]PUs?|AI|ML|LLMs?|NLP|APIs?|VRAM|OOM|RAM|SSDs?|HDDs?|IT|ID|OK|FAQs?|PC|UI|SLAs?|QA|CI|MFU|[KMGTP]i?[Bb]|USD|CNY|RMB|kWh|TCO|I|VMs?|IO|"
    r"I/?O|HTTPS?|URLs?|PDF|CSV|JSON|FLOPs?|TFLOPS?|PFLOPS?|R&D|US|EU|UK|BF16|FP16|FP8|FP32|INT8|INT4",
    re.I,
)
"""Abbreviations that translate a common word of the other language, and units (left to the rule on numbers)."""
_LATIN_IN_CHINESE = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Za-z]{2,}(?![A-Za-z0-9])")
_CLAUSE = re.compile(
    r"[，,；;：:。.!?！？]\s*|\s[–—-]\s|(?:但是?|不过|然而|而不是|而非|\band (?=not\b)|\bbut (?=not\b)|\bso\b|\bbecause\b|\botherwise\b|\bbut\b|\bwhile\b|\bwhereas\b|\bhowever\b|\balthough\b)"
)
_LEAST_SHARED = 0.5
"""Share of the shorter clause's words that another must have to be the one that it takes up."""
_LEAST_ALIKE = 0.34
"""The same of all words of both."""


def objections(statement: str, source: str, around: str, *, same_language: bool) -> Iterator[str]:
    """What speaks against the statement.

    Args:
        source: the sentences that it rests on.
        around: what they are understood with: headings, title, the rest of the passage, the question.
    """
    if names := strange_names(statement, source, around):
        yield "names that the source has not: " + ", ".join(names)
    if sure := _certain(statement, source):
        yield f"more certain than the source: {sure}"
    statement, source = _without_choices(statement), _without_choices(source)
    if same_language and (turned := _turned_clause(statement, source)):
        yield f"denies what the source says, or says what it denies: {turned}"
    elif len(_HARD.findall(statement)) > len(_HARD.findall(source)) + len(_softened(source)):
        yield "denies what the source does not deny"
    elif _HARD.search(source) and not _affirms(source) and not (_HARD.search(statement) or _SOFT.search(statement)):
        yield "leaves out that the source denies it"
    if opposite := _opposite(statement, source):
        yield f"says the opposite of the source: {opposite}"


def strange_names(statement: str, source: str, around: str) -> list[str]:
    """Names of the statement that its source does not have.

    A cloud, accelerator or model must stand in the sentences themselves where these name one of its kind; any other name
    may also stand near them.
    """
    strange: list[str] = []
    own, given, near = _catalog_names(statement), _catalog_names(source), _catalog_names(around)
    for kind, names in own.items():
        known = given.get(kind) or near.get(kind, {})
        strange += [written for value, written in names.items() if not _known(value, known)]
    held = _squeezed(f"{source} {around}")
    mentioned = {written for names in own.values() for written in names.values()}
    for name in _other_names(statement):
        bare = _squeezed(name)
        if any(name in written or written in name for written in mentioned) or _COMMON_NAME.fullmatch(name):
            continue
        if bare not in held and bare.removesuffix("s") not in held:
            strange.append(name)
    return list(dict.fromkeys(strange))


def _catalog_names(text: str) -> dict[str, dict[str, str]]:
    """Kind -> (name in the catalog -> as written)."""
    found: dict[str, dict[str, str]] = {}
    for mention in mentions(text):
        if mention.kind in ("provider", "accelerator", "model"):
            written = text[mention.start : mention.end]
            found.setdefault(mention.kind, {})[mention.name or written.casefold()] = written
    return found


def _known(value: str, known: dict[str, str]) -> bool:
    """H100 and H100-SXM-80GB are one card where only one of them is more exact."""
    folded = value.casefold()
    return any(folded == name.casefold() or folded.split("-")[0] == name.casefold().split("-")[0] for name in known)


def _other_names(statement: str) -> list[str]:
    names = _NAME.findall(statement) + _PROPER.findall(statement)
    if re.search(r"[\u4e00-\u9fff]", statement):
        names += _LATIN_IN_CHINESE.findall(statement)
    return list(dict.fromkeys(names))


def _squeezed(text: str) -> str:
    return re.sub(r"[^a-z0-9\u4e00-\u9fff]", "", text.casefold())


def _certain(statement: str, source: str) -> str:
    claimed = _CERTAIN.search(statement)
    return claimed.group() if claimed and not _CERTAIN_ENOUGH.search(source) else ""


def _turned_clause(statement: str, source: str) -> str:
    """A clause that takes up one of the source with the negation put in or taken out."""
    theirs = [(clause, set(terms(_bare(clause)))) for clause in _clauses(source)]
    for clause in _clauses(statement):
        own = set(terms(_bare(clause)))
        if len(own) < 2:
            continue
        best, shared = max(((c, t) for c, t in theirs), key=lambda pair: _shared(own, pair[1]), default=("", set()))
        if _shared(own, shared) < _LEAST_SHARED or len(own & shared) < _LEAST_ALIKE * len(own | shared):
            continue
        mine, other = _denials(clause), _denials(best)
        if mine % 2 != other % 2 and not _excused(clause, best, mine > other):
            return clause.strip()
    return ""


def _excused(clause: str, source: str, denies: bool) -> bool:
    """Whether the side without a negation has a word of its own that may stand for one."""
    one, other = (source, clause) if denies else (clause, source)
    return bool(_softened(one) - _softened(other))


def _softened(text: str) -> set[str]:
    """The words of a text that may stand for a negation."""
    return {match.group().casefold() for match in _SOFT.finditer(_without_hard(text))}


def _without_choices(text: str) -> str:
    """Without the "not" of questions that leave open whether: 是不是, 包不包含, 能否."""
    return re.sub(r"([\u4e00-\u9fff])不\1", r"\1", text)


def _without_hard(text: str) -> str:
    return _HARD.sub(" ", text)


def _bare(clause: str) -> str:
    return _without_hard(clause)


def _shared(own: set[str], other: set[str]) -> float:
    return len(own & other) / max(1, min(len(own), len(other))) if own and other else 0.0


def _denials(clause: str) -> int:
    return len(_HARD.findall(clause))


def _clauses(text: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(text) if clause and len(clause.strip()) > 3]


def _affirms(source: str) -> bool:
    """Whether some clause of the source denies nothing, so that a statement without a denial may rest on it."""
    return any(not _HARD.search(clause) for clause in _clauses(source))


def _opposite(statement: str, source: str) -> str:
    for pair in _COMPILED:
        for said, opposite in (pair, pair[::-1]):
            mine = said.search(statement)
            if (
                mine
                and not opposite.search(said.sub(" ", statement))
                and opposite.search(source)
                and not said.search(opposite.sub(" ", source))
            ):
                return mine.group()
    return ""
