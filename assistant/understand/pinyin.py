"""Chinese that was typed in Pinyin without tones: recognised, and written in characters where the words are known."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_SYLLABLE = re.compile(
    r"(?:[bpmf](?:a|o|ai|ei|ao|ou|an|en|ang|eng|i|ie|iao|iu|ian|in|ing|u)"
    r"|[dtnl](?:a|e|ai|ei|ao|ou|an|en|ang|eng|ong|i|ia|ie|iao|iu|ian|in|iang|ing|u|uo|ui|uan|un|v|ve|ue)"
    r"|[gkh](?:a|e|ai|ei|ao|ou|an|en|ang|eng|ong|u|ua|uo|uai|ui|uan|un|uang)"
    r"|[jqx](?:i|ia|ie|iao|iu|ian|in|iang|ing|iong|u|ue|uan|un)"
    r"|(?:zh|ch|sh|[zcsr])(?:a|e|i|ai|ei|ao|ou|an|en|ang|eng|ong|u|ua|uo|uai|ui|uan|un|uang)"
    r"|y(?:a|o|e|ao|ou|an|ang|i|in|ing|ong|u|ue|uan|un)|w(?:a|o|ai|ei|an|en|ang|eng|u)"
    r"|a|ai|an|ang|ao|e|en|er|ou)+"
)
_WORD = re.compile(r"[A-Za-z]+")
_TELLING = re.compile(r"zh|[xq](?=[iu])|j(?=i[aeou])|iao|uang|iang|iong|uai|uo(?![a-z])|iu(?![a-z])")
"""Letters that English hardly has; without them one known word of several syllables tells."""


def is_pinyin(text: str) -> bool:
    """Whether a text is Chinese typed in Pinyin; names and units between the syllables don't matter."""
    if any("\u4e00" <= character <= "\u9fff" for character in text):
        return False
    words = [word for word in _WORD.findall(text) if word.islower() and len(word) > 1]
    syllables = [word for word in words if _SYLLABLE.fullmatch(word)]
    if len(syllables) < 2 or len(syllables) < 0.6 * len(words):
        return False
    telling = sum(bool(_TELLING.search(word)) for word in syllables)
    return 4 * telling >= len(syllables) or (
        len(syllables) == len(words) and any(len(_words()[2].get(word, "")) > 1 for word in syllables)
    )


def to_han(text: str) -> str:
    """The text with the known words in characters; the rest stays as it is."""
    run, word, words = _words()
    written = run.sub(lambda match: word.sub(lambda one: words[_key(one.group())], match.group()), text)
    return re.sub(r"(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])", "", written)


def _key(written: str) -> str:
    return re.sub(r"\s", "", written)


@cache
def _words() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, str]]:
    """A run of known words, one of them, and Pinyin -> characters."""
    from pypinyin import lazy_pinyin

    words: dict[str, str] = {}
    spellings: dict[str, str] = {}
    for word in files("assistant.understand").joinpath("pinyin_words.txt").read_text("utf-8").split():
        syllables = lazy_pinyin(word)
        words.setdefault("".join(syllables), word)
        spellings.setdefault("".join(syllables), r"\s?".join(syllables))
    one = "|".join(spellings[key] for key in sorted(spellings, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z])(?:(?:{one})\s?)+(?![A-Za-z])"), re.compile(one), words
