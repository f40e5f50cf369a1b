"""The default encoder's tokenizer: a Unigram model over a memory-mapped trie.

`tokenizers` needs 0.65 s to read this vocabulary of 250 thousand pieces, most of what one answer may take in a new
process; the trie of `marisa_trie` is mapped in a millisecond. Both give the same ids (the tests compare them).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import marisa_trie  # type: ignore[import-not-found]  # compiled, without stubs
import numpy as np

from knowledge.encoders.weights import Vocabulary

FILES = ("pieces.marisa", "piece_ids.npy", "piece_scores.npy", "tokenizer.json")
SPACE = "\u2581"
FULLWIDTH_TILDE = "\uff5e"
"""NFKC makes an ASCII tilde of it; the rules of this vocabulary keep it, and it is a piece of its own."""
_LONGEST_PIECE = 16
"""Characters; the longest piece of the vocabulary has 16."""
_UNKNOWN_PENALTY = 10.0
"""An unknown character scores this much below the worst piece (SentencePiece's kUnkPenalty)."""


def normalise(text: str, replacements: Mapping[int, str]) -> str:
    """SentencePiece's nmt_nfkc: control characters go, every kind of space is a space, the rest is NFKC."""
    clean = text.encode("utf-8", "replace").decode().translate(replacements)
    return FULLWIDTH_TILDE.join(unicodedata.normalize("NFKC", part) for part in clean.split(FULLWIDTH_TILDE))


def write_tokenizer(vocabulary: Vocabulary, folder: Path) -> None:
    """Write the files that `UnigramTokenizer` maps into memory. Special pieces are left out: text can't make them."""
    special = {vocabulary.bos, vocabulary.eos, vocabulary.pad, vocabulary.unk, len(vocabulary.pieces) - 1}
    ids = {piece: i for i, piece in enumerate(vocabulary.pieces) if i not in special}
    trie = marisa_trie.Trie(ids)
    order = np.empty(len(ids), np.int32)
    for piece, piece_id in ids.items():
        order[trie[piece]] = piece_id
    trie.save(str(folder / "pieces.marisa"))
    np.save(folder / "piece_ids.npy", order)
    np.save(folder / "piece_scores.npy", vocabulary.scores[order])
    rules = {
        "bos": vocabulary.bos,
        "eos": vocabulary.eos,
        "unk": vocabulary.unk,
        "unk_score": float(vocabulary.scores.min()) - _UNKNOWN_PENALTY,
        "replacements": {ord(source): target for source, target in vocabulary.replacements.items()},
    }
    (folder / "tokenizer.json").write_text(json.dumps(rules), encoding="utf-8")


class UnigramTokenizer:
    """Text to piece ids, the most probable segmentation (Viterbi)."""

    def __init__(self, folder: Path) -> None:
        trie_file, ids_file, scores_file, rules_file = (folder / name for name in FILES)
        rules = json.loads(rules_file.read_text(encoding="utf-8"))
        self._bos, self._eos, self._unk = int(rules["bos"]), int(rules["eos"]), int(rules["unk"])
        self._unk_score = float(rules["unk_score"])
        self._replacements = {int(code): str(target) for code, target in rules["replacements"].items()}
        self._trie = marisa_trie.Trie()
        self._trie.mmap(str(trie_file))
        # A memoryview gives plain Python numbers, several times quicker than numpy scalars.
        self._ids = memoryview(np.load(ids_file, mmap_mode="r"))
        self._scores = memoryview(np.load(scores_file, mmap_mode="r"))

    def encode(self, text: str, limit: int) -> list[int]:
        """Ids with the start and end tokens, cut to `limit` in all."""
        room = limit - 2
        ids: list[int] = []
        for word in normalise(text, self._replacements).split():
            # No piece is longer, so the pieces that fit in the room lie in this part.
            ids.extend(self._word(SPACE + word[: room * _LONGEST_PIECE]))
            if len(ids) >= room:
                break
        return [self._bos, *ids[:room], self._eos]

    def count(self, text: str) -> int:
        """Number of tokens of a text that begins a word, without start and end tokens."""
        return len(self.encode(text, 1 << 20)) - 2

    def _word(self, word: str) -> list[int]:
        end = len(word)
        best = [0.0] + [-np.inf] * end
        # Start of the piece that ends here, and its key in the trie; -1 for an unknown character.
        came_from: list[tuple[int, int]] = [(0, -1)] * (end + 1)
        scores, prefixes = self._scores, self._trie.iter_prefixes_with_ids
        for start in range(end):
            here = best[start]
            known = False
            for piece, key in prefixes(word[start : start + _LONGEST_PIECE]):
                stop = start + len(piece)
                known = known or stop == start + 1
                score = here + scores[key]
                if score > best[stop]:
                    best[stop], came_from[stop] = score, (start, key)
            if not known and here + self._unk_score > best[start + 1]:
                best[start + 1], came_from[start + 1] = here + self._unk_score, (start, -1)
        ids: list[int] = []
        at = end
        while at > 0:
            at, key = came_from[at]
            piece_id = self._ids[key] if key >= 0 else self._unk
            if piece_id != self._unk or not ids or ids[-1] != self._unk:  # a run of unknown characters is one token
                ids.append(piece_id)
        ids.reverse()
        return ids
