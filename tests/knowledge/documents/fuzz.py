"""Mutated files of every format: each ends read or refused, within bounds of time and memory.

`python -m tests.knowledge.documents.fuzz --inputs 10000`; the tests run 200.
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import random
import resource
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from knowledge.chunking import chunk
from knowledge.documents import load_bytes
from knowledge.errors import DocumentError
from knowledge.limits import Limits
from tests.knowledge.documents.corpus import documents

LIMITS = Limits(
    max_bytes=5_000_000, max_unpacked_bytes=50_000_000, max_pages=500, max_characters=5_000_000, max_seconds=20
)
HANG_SECONDS = 30
MEMORY_MEGABYTES = 1_500
TOKENS = (
    b"<table>", b"<!--", b"</p>", b"```", b"|", b"---\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"endobj", b"stream",
    b"<</Length 99999999>>", b"rowspan='99999'", b"<w:tbl>", b"&#x110000;", b"(" * 500, b"<div>" * 300, b"[" * 300,
    "。".encode(), b"\r", b"{{x}}", b"<|im_start|>",
)  # fmt: skip


@dataclass
class Outcome:
    """What a run came to."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    slowest_name: str = ""


def mutated(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """A few random changes to a file; half of the zipped ones are changed inside a part."""
    if data[:2] == b"PK" and rng.random() < 0.6:
        return _rezipped(data, rng)
    if data[:4] not in (b"%PDF", b"PK\x03\x04") and rng.random() < 0.6:
        return _rewritten(data.decode(), rng).encode("utf-8", "replace")
    return _changed(data, other, rng)


def _changed(data: bytes, other: bytes, rng: random.Random) -> bytes:
    content = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(content) + 1)
        kind = rng.randrange(7)
        if kind == 0 and content:
            content[rng.randrange(len(content))] = rng.randrange(256)
        elif kind == 1:
            del content[at : at + rng.choice([1, 10, 1_000, 100_000])]
        elif kind == 2:
            content[at:at] = rng.choice(TOKENS) * rng.choice([1, 1, 50])
        elif kind == 3:
            start = rng.randrange(len(content) + 1)
            content[at:at] = content[start : start + rng.choice([10, 1_000])] * rng.choice([1, 20])
        elif kind == 4:
            start = rng.randrange(len(other) + 1)
            content[at:at] = other[start : start + 500]
        elif kind == 5:
            content[at:at] = rng.randbytes(rng.choice([1, 8, 200]))
        elif rng.random() < 0.2:
            del content[at:]
    return bytes(content)


def _rewritten(text: str, rng: random.Random) -> str:
    """Changes of whole characters, so that the text can still be decoded."""
    tokens = [token.decode() for token in TOKENS if token.isascii()]
    for _ in range(rng.choice([1, 3, 10, 50])):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:at] + rng.choice(tokens) * rng.choice([1, 3, 100]) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.choice([1, 5, 500]) :]
        elif kind == 2:
            text = text[:at] + chr(rng.choice([rng.randrange(32, 0xD800), rng.randrange(0xE000, 0x30000)])) + text[at:]
        else:
            start = rng.randrange(len(text) + 1)
            text = text[:at] + text[start : start + rng.choice([20, 2_000])] * rng.choice([1, 10]) + text[at:]
    return text


def _rezipped(data: bytes, rng: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        names = source.namelist()
        chosen = set(rng.sample(names, min(len(names), rng.choice([1, 2]))))
        for name in names:
            content = source.read(name)
            if name in chosen:
                if rng.random() < 0.1:
                    continue
                content = _changed(content, content, rng)
            target.writestr(name, content)
    return out.getvalue()


def run(inputs: int, seed: int) -> Outcome:
    """Read mutated files; a hang ends the process with a traceback, anything but a DocumentError is raised."""
    rng = random.Random(seed)
    originals = [(planted.name, planted.data) for planted in documents(36, seed)]
    outcome = Outcome()
    for number in range(inputs):
        name, data = originals[number % len(originals)]
        changed = mutated(data, rng.choice(originals)[1], rng)
        if rng.random() < 0.1:
            name = rng.choice(originals)[0]
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        started = time.process_time()
        try:
            document = load_bytes(changed, name, LIMITS)
            for passage in chunk(document):
                assert document.text[passage.start : passage.end].strip()
            assert "\ufeff" not in document.text
            outcome.counts["read"] += 1
        except DocumentError as error:
            outcome.counts["refused"] += 1
            outcome.reasons[_kind(str(error))] += 1
        finally:
            faulthandler.cancel_dump_traceback_later()
        seconds = time.process_time() - started
        if seconds > outcome.slowest:
            outcome.slowest, outcome.slowest_name = seconds, name
    return outcome


def _kind(reason: str) -> str:
    return " ".join(reason.split("(")[0].split()[:9])


def peak_megabytes() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000


def _lines(outcome: Outcome) -> Iterator[str]:
    yield ", ".join(f"{kind} {count}" for kind, count in outcome.counts.items())
    yield f"slowest {outcome.slowest:.2f} s ({outcome.slowest_name}), peak memory {peak_megabytes():.0f} MB"
    for reason, count in outcome.reasons.most_common(12):
        yield f"{count:6}  {reason}"


def main() -> None:
    """Run and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    outcome = run(arguments.inputs, arguments.seed)
    print("\n".join(_lines(outcome)))
    if peak_megabytes() > MEMORY_MEGABYTES:
        raise SystemExit(f"More than {MEMORY_MEGABYTES} MB were used.")


if __name__ == "__main__":
    main()
