"""The one tokenizer of lexical search: passages and questions in Chinese, English and mixed into comparable terms.

Chinese becomes character bigrams, after traditional characters are mapped to simplified ones. Latin words are stemmed.
A term of several parts ("p5.48xlarge", "GPT-2", "8×H100") is found as a whole and by its parts. Function words of both
languages are left out: in a passage they say nothing about its subject, and in a question they outweigh what does.
"""

from __future__ import annotations

import itertools
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

VERSION = 1
"""Goes up whenever the terms of a text change; part of what makes an indexed document out of date."""

_INVISIBLE = dict.fromkeys([0x00AD, *range(0x200B, 0x2010), 0x2060, 0xFEFF])
# Chinese ideographs, kana and hangul: scripts that are written without spaces, or whose words inflect at the end.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE = re.compile(
    rf"(?P<cjk>[{_CJK}]+)"
    r"|(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d))"
    rf"|(?P<word>[^\W_{_CJK}]+(?:[-._/'’+:@][^\W_{_CJK}]+)*\+{{0,2}})"
)
# A decimal point does not part ("qwen2.5", "1.5t"), the point of "p5.48xlarge" does.
_PART = re.compile(r"(?:(?<=\d)\.(?=\d+(?![a-z]{3}|\d))|[^-._/'’+:@])+")
_JOINED = re.compile(r"[^/+:@]+")
_RUN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_APOSTROPHE = re.compile(r"['’](?:s|t|re|ve|ll|d|m)$")

ENGLISH_STOP_WORDS = frozenset(
    """a about after again all also am an and any are as at be because been before being both but by can could did do
    does doing done down during each either else ever few for from further get gets getting give go goes going
    got had has have having he her here hers him his how however i if in instead into is isn it its itself just
    let like ll may me might mine more most much must my need needs neither no nor not now of off on once one
    only onto or other our ours out over own please per rather really s same she should shall since so some
    still such t than that the their theirs them then there these they thing things this those through to too
    under until up upon us use used using ve very via want wants was we were what whatever when where whether
    which while who whom whose why will with within without would yes yet you your yours don doesn didn won
    wouldn couldn shouldn aren wasn weren hasn haven re im ive""".split()  # noqa: SIM905 - a list takes a line a word
)
_CHINESE_PARTICLES = frozenset("的了吗呢吧嘛啊呀哦哈么咱您你我他她它们这那哪谁啥咋怎很太更最也都就还又才却")
_CHINESE_STOP_BIGRAMS = frozenset(
    """什么 怎么 怎样 如何 为何 为什 多少 几个 哪些 哪个 是否 是不 不是 有没 没有 可以 能否 能不 不能
    可不 需要 应该 应当 必须 一个 一些 一下 一种 这个 那个 如果 假如 因为 所以 但是 而且 或者
    以及 还是 并且 然后 之后 之前 时候 情况 其中 对于 关于 通过 进行 使用 问题 请问 知道 觉得
    好不 要不 想要 我想 有什 有哪 要怎 该怎 该如 以后 已经 其实 比较 非常 特别 目前 现在 一般
    到底 究竟 有人 别人 大家 有点 一点""".split()  # noqa: SIM905 - a list takes a line a word
)


def terms(text: str) -> list[str]:
    """Terms of a text in reading order, with repetitions; empty when it holds function words and signs alone."""
    return list(_terms(text))


def term_counts(text: str) -> Counter[str]:
    """How often each term occurs."""
    return Counter(_terms(text))


def normalise(text: str) -> str:
    """NFKC, invisible characters gone, case folded, traditional characters simplified."""
    clean = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).casefold()
    return clean if clean.isascii() else clean.translate(_simplified())


def _terms(text: str) -> Iterator[str]:
    for match in _PIECE.finditer(normalise(text)):
        if match.lastgroup == "cjk":
            yield from _chinese(match.group())
        elif match.lastgroup == "number":
            yield match.group().replace(",", "")
        else:
            yield from _word(match.group())


def _chinese(run: str) -> Iterator[str]:
    if len(run) == 1:
        if run not in _CHINESE_PARTICLES:
            yield run
        return
    for first, second in itertools.pairwise(run):
        bigram = first + second
        if bigram not in _CHINESE_STOP_BIGRAMS and not _CHINESE_PARTICLES.intersection(bigram):
            yield bigram


@lru_cache(maxsize=65536)
def _word(word: str) -> tuple[str, ...]:
    word = _APOSTROPHE.sub("", word)
    parts = _PART.findall(word)
    found = [term for part in parts for term in _part(part)]
    if len(parts) > 1 and _JOINED.fullmatch(word):
        found.insert(0, "".join(parts))
    elif word.endswith("++"):
        found.insert(0, word)
    return tuple(dict.fromkeys(term for term in found if term))


def _part(part: str) -> Iterator[str]:
    if part.isalpha():
        if part not in ENGLISH_STOP_WORDS:
            yield _stem(part)
        return
    yield part
    runs = _RUN.findall(part)
    # "a100" and "70b" are names and amounts of their own; "48xlarge" and "80gb" are also looked for by their parts.
    if len(runs) > 1 and any(run.isalpha() and len(run) > 1 for run in runs):
        for run in runs:
            if len(run) > 1:
                yield _stem(run) if run.isalpha() else run


def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word)) if word.isascii() and len(word) > 2 else word


_of_thread = threading.local()


def _stemmer() -> Any:
    """One for each thread: it keeps the word that it is at in itself."""
    if not hasattr(_of_thread, "stemmer"):
        import snowballstemmer  # type: ignore[import-untyped]

        _of_thread.stemmer = snowballstemmer.stemmer("english")
    return _of_thread.stemmer


def simplify(text: str) -> str:
    """The text with traditional characters simplified, one for one: offsets stay."""
    return text if text.isascii() else text.translate(_simplified())


@cache
def _simplified() -> Mapping[int, str]:
    """OpenCC's table of characters, the first choice where there are several."""
    from importlib.resources import files

    table = files("opencc").joinpath("dictionary/TSCharacters.txt").read_text(encoding="utf-8")
    pairs = (line.split("\t") for line in table.splitlines())
    return {ord(traditional): choices.split(" ")[0] for traditional, choices in pairs}
