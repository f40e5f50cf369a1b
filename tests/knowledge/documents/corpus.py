"""Documents of every format with planted facts: how many are found, exactly and in the right section.

`python -m tests.knowledge.documents.corpus --documents 300` prints it by format.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.chunking import chunk
from knowledge.documents import load_bytes
from knowledge.records import Chunk, LoadedDocument
from tests.knowledge.documents.writers import WRITERS, Content, Part, Section, rows_only


def _words(text: str) -> list[str]:
    return text.split()


EN_TOPICS = _words(
    "storage network checkpoints budget quotas spot regions security monitoring scheduling images drivers"
)
ZH_TOPICS = _words("存储 网络 检查点 预算 配额 竞价 区域 安全 监控 调度 镜像 驱动")
EN_NAMES = _words("Kestrel Heron Osprey Falcon Merlin Plover Curlew Dunlin Avocet Gannet")
ZH_NAMES = _words("红隼 苍鹭 鱼鹰 游隼 灰背 金斑 白鹭 滨鹬 反嘴 鲣鸟")
EN_FILLER = (
    "Teams review the settings of {t} every week, e.g. after a release, and note what changed.",
    "If {t} is the bottleneck, GPUs wait; if it isn't, look at the data loader instead.",
    "Version {v} changed how {t} is billed, so old estimates no longer hold.",
    "Most of the cost of {t} appears only at scale, as the operators found in {y}.",
)
ZH_FILLER = (
    "团队每周检查一次{t}的设置，并记录改动，例如发布新版本之后。",
    "如果{t}成为瓶颈，GPU 就会空等；如果不是，应先检查数据加载。",
    "从 {v} 版本起{t}的计费方式有所变化，旧的估算不再成立。",
    "{t}的大部分成本只有在规模扩大之后才会显现，运维人员在 {y} 年发现了这一点。",
)


@dataclass(frozen=True)
class Fact:
    """What is planted, and under which heading."""

    place: str
    text: tuple[str, ...]
    """All in one statement: one string, or the cells of a row."""
    section: str


@dataclass(frozen=True)
class Planted:
    """A generated file with its facts."""

    format: str
    name: str
    data: bytes
    content: Content
    facts: tuple[Fact, ...]


def documents(count: int, seed: int) -> Iterator[Planted]:
    """Files over all formats in turn."""
    formats = list(WRITERS)
    for i in range(count):
        yield _planted(formats[i % len(formats)], random.Random(f"{seed}-{i}"), i)


def _planted(format_: str, rng: random.Random, number: int) -> Planted:
    zh = rng.random() < 0.5
    topics = rng.sample(ZH_TOPICS if zh else EN_TOPICS, rng.randint(2, 5))
    facts: list[Fact] = []
    sections: list[Section] = []
    for i, topic in enumerate(topics):
        level = 3 if i and rng.random() < 0.4 and format_ not in ("txt", "pptx", "xlsx", "csv") else 2
        title = f"{topic}的要点" if zh else f"Notes on {topic}"
        if rng.random() < 0.3 and format_ not in ("csv", "xlsx"):
            title = (
                f"{topic}需要 {rng.randint(10, 99)} 台节点" if zh else f"Plan {rng.randint(10, 99)} nodes for {topic}"
            )
            facts.append(Fact("heading", (title,), title))
        parts = tuple(_parts(format_, topic, title, zh, rng, facts))
        sections.append(Section(title, level, parts))
    if format_ in ("csv", "xlsx"):
        sections = list(rows_only(sections))
        if format_ == "csv":
            sections = sections[:1]
        kept = {section.title for section in sections}
        facts = [fact for fact in facts if fact.place == "table" and fact.section in kept]
    title = f"云端训练手册 {number}" if zh else f"Cloud training handbook {number}"
    content = Content(title, "zh" if zh else "en", tuple(sections))
    return Planted(format_, f"{number}.{format_}", WRITERS[format_](content), content, tuple(facts))


def _parts(format_: str, topic: str, title: str, zh: bool, rng: random.Random, facts: list[Fact]) -> Iterator[Part]:
    yield Part("paragraph", (_paragraph(topic, zh, rng, rng.randint(2, 5)),))
    kinds = ["prose", "list", "table", "footnote"]
    if format_ == "pptx":
        kinds = ["prose", "list", "table", "footnote"][: rng.randint(2, 4)]
    rng.shuffle(kinds)
    if format_ in ("csv", "xlsx") and "table" not in kinds:
        kinds.append("table")
    for kind in kinds:
        if kind == "prose":
            fact = _fact(zh, rng)
            facts.append(Fact("prose", (fact,), title))
            before, after = _paragraph(topic, zh, rng, 1), _paragraph(topic, zh, rng, 2)
            gap = "" if zh else " "
            yield Part("paragraph", (f"{before}{gap}{fact}{gap}{after}",))
        elif kind == "list":
            lines = [_fact(zh, rng) for _ in range(rng.randint(2, 6))]
            facts.extend(Fact("list", (line,), title) for line in lines)
            yield Part(rng.choice(["list", "numbered"]), tuple(lines))
        elif kind == "table":
            head = ("集群", "每小时价格", "显存") if zh else ("Cluster", "Price per hour", "Memory")
            rows = [_row(zh, rng) for _ in range(rng.choice([3, 6, 40]) if format_ != "pptx" else 4)]
            facts.extend(Fact("table", row, title) for row in rows)
            yield Part("table", rows=(head, *rows))
        else:
            note = _fact(zh, rng)
            facts.append(Fact("footnote", (note,), title))
            yield Part("footnote", (_paragraph(topic, zh, rng, 1), note))


def _paragraph(topic: str, zh: bool, rng: random.Random, sentences: int) -> str:
    chosen = rng.choices(ZH_FILLER if zh else EN_FILLER, k=sentences)
    filled = [
        line.format(t=topic, v=f"{rng.randint(1, 9)}.{rng.randint(0, 20)}", y=rng.randint(2018, 2026))
        for line in chosen
    ]
    return ("" if zh else " ").join(filled)


def _fact(zh: bool, rng: random.Random) -> str:
    name = f"{rng.choice(ZH_NAMES if zh else EN_NAMES)}-{rng.randint(100, 999)}"
    price = f"{rng.randint(1, 900)}.{rng.randint(10, 99)}"
    if zh:
        return f"{name} 集群每小时收费 {price} 元，显存 {rng.randint(16, 640)} GB。"
    return f"The {name} cluster costs {price} USD per hour with {rng.randint(16, 640)} GB of memory."


def _row(zh: bool, rng: random.Random) -> tuple[str, str, str]:
    name = f"{rng.choice(ZH_NAMES if zh else EN_NAMES)}-{rng.randint(100, 999)}"
    return name, f"{rng.randint(1, 900)}.{rng.randint(10, 99)} {'元' if zh else 'USD'}", f"{rng.randint(16, 640)} GB"


def is_found(fact: Fact, document: LoadedDocument, chunks: list[Chunk], format_: str) -> bool:
    """Whether a fact stands in one statement of a chunk whose section is the right one."""
    if fact.place == "heading":
        return any(fact.section in chunk.section for chunk in chunks)
    for passage in chunks:
        if format_ == "csv":
            pass
        elif format_ == "xlsx":
            if not any(name[2:] == fact.section[:29] for name in passage.section):
                continue
        elif not passage.section or passage.section[-1] != fact.section:
            continue
        for span in passage.sentences:
            quote = document.text[span.start : span.end]
            if all(piece in quote for piece in fact.text):
                return True
    return False


def measure(count: int, seed: int) -> dict[str, dict[str, list[int]]]:
    """[found, planted] by format and place."""
    result: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for planted in documents(count, seed):
        document = load_bytes(planted.data, planted.name)
        chunks = chunk(document)
        for fact in planted.facts:
            cell = result[planted.format][fact.place]
            cell[0] += is_found(fact, document, chunks, planted.format)
            cell[1] += 1
    return result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    result = measure(arguments.documents, arguments.seed)
    found = planted = 0
    for format_, places in result.items():
        cells = "  ".join(f"{place} {a}/{b}" for place, (a, b) in sorted(places.items()))
        ours, all_ = (sum(cell[i] for cell in places.values()) for i in (0, 1))
        found, planted = found + ours, planted + all_
        print(f"{format_:5} {ours / all_:7.1%}  {cells}")
    print(f"all   {found / planted:7.1%}  {found}/{planted} facts in {arguments.documents} documents")


if __name__ == "__main__":
    main()
