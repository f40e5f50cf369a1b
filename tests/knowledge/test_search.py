from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from knowledge.encoders import Encoder, load_encoder
from knowledge.errors import EncoderMismatch
from knowledge.ingest import ingest
from knowledge.reencode import reencode
from knowledge.search import Searcher, question_language
from knowledge.store import Store
from tests.knowledge.hashing import HashingEncoder

HASHING = HashingEncoder()

DOCUMENTS = {
    "spot.md": "# Spot machines\n\n## Notice before a reclaim\n\nThe provider gives two minutes of notice before it"
    " takes a spot machine back. Save a checkpoint when the notice arrives.\n",
    "aws.md": "# Machines for training\n\n## AWS\n\nThe p5.48xlarge has eight H100 cards with 80 GB each.\n",
    "网络.md": "# 多机网络\n\n## 需要 RDMA 吗\n\n多机训练时梯度同步占用大量带宽，RDMA 网络能降低通信延迟。\n\n"
    "## 万兆网够不够\n\n十吉比特以太网只适合两台机器的小模型。\n",
    "存储.md": "# 数据存储\n\n## 冷热分层\n\n旧的检查点可以放到归档存储，取回需要几个小时。\n\n## 出网流量\n\n把数据"
    "下载到云外按流量收费。\n",
    "合规.md": "# 等级保护\n\n## 三级测评\n\n信息系统定级备案之后，每年要做一次等保测评。\n",
    "显存.md": "# 显存估算\n\n## 全参微调\n\n混合精度训练每个参数大约占十六字节显存。\n\n## LoRA\n\nLoRA 只训练少量"
    "参数，优化器状态很小。\n",
}


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_encoder()


@pytest.fixture(scope="module")
def searcher(encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    folder = tmp_path_factory.mktemp("search")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    with Store.open(folder / "store") as store:
        ingest(store, encoder, [folder / name for name in DOCUMENTS])
        yield Searcher(store, encoder)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store") as opened:
        yield opened


def names(searcher: Searcher, question: str, k: int) -> list[str]:
    return [Path(hit.location).name for hit in searcher.search(question, k).hits]


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("被收走之前会提前多久通知", "spot.md"),
        ("竞价机器要被拿走时我来得及存盘吗", "spot.md"),
        ("how much memory does each weight take in full fine-tuning", "显存.md"),
        ("does the bill grow when I download files", "存储.md"),
        ("is 10 gigabit ethernet fast enough", "网络.md"),
        ("p5 有几张卡", "aws.md"),
    ],
)
def test_questions_find_documents_in_the_other_language(searcher: Searcher, question: str, document: str) -> None:
    assert document in names(searcher, question, 3)


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("p5.48xlarge", "aws.md"),
        ("ＲＤＭＡ", "网络.md"),
        ("等保測評", "合规.md"),
        ("checkpoints", "spot.md"),
        ("lora", "显存.md"),
    ],
)
def test_terms_find_their_passage_first(searcher: Searcher, question: str, document: str) -> None:
    assert names(searcher, question, 1) == [document]


def test_coverage_tells_answered_from_other_questions(searcher: Searcher) -> None:
    answered = ["两台机器用万兆网够不够", "how long before they take my spot machine away", "旧的检查点放哪里便宜"]
    other = ["红烧肉怎么做", "how do I grow tomatoes", "推荐几部电影"]
    lowest = min(searcher.search(question).coverage for question in answered)
    highest = max(searcher.search(question).coverage for question in other)
    assert highest < 0.5 < lowest


def test_hits_are_sound(searcher: Searcher) -> None:
    result = searcher.search("多机训练的网络 network", 4)
    assert len(result.hits) == 4
    assert 0 <= result.coverage <= 1
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    for hit in result.hits:
        source = searcher._store.source_text(hit.document_id)
        assert hit.text == source[hit.start : hit.end]
        assert hit.sentences
        for sentence in hit.sentences:
            assert sentence.text == source[sentence.start : sentence.end]
            assert hit.start <= sentence.start < sentence.end <= hit.end
            assert -1 <= sentence.score <= 1
    assert result.hits[0].section


@pytest.mark.parametrize("question", ["怎么", "???", "the", "\u200b", "a" * 5000, "\ud83d\ude00", "的" * 300])
def test_any_question_is_searched(searcher: Searcher, question: str) -> None:
    assert 0 <= searcher.search(question, 3).coverage <= 1


def test_empty_store(store: Store) -> None:
    result = Searcher(store, HASHING).search("anything")
    assert result.hits == ()
    assert result.coverage == 0


def test_a_running_searcher_sees_changes(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n\nAbout apples.\n", encoding="utf-8")
    searcher = Searcher(store, HASHING)
    with Store.open(store.folder) as other:
        ingest(other, HASHING, [path])
        (hit,) = searcher.search("apples").hits
        assert hit.text == "About apples."
        path.write_text("# A\n\nAbout pears and plums.\n", encoding="utf-8")
        ingest(other, HASHING, [path])
        (hit,) = searcher.search("apples").hits
        assert hit.text == "About pears and plums."
        other.remove(hit.document_id)
        assert searcher.search("apples").hits == ()


def test_a_read_only_store_is_searched(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n\nAbout apples.\n", encoding="utf-8")
    ingest(store, HASHING, [path])
    with Store.open(store.folder, read_only=True) as reader:
        assert len(Searcher(reader, HASHING).search("apples").hits) == 1


def test_another_encoder_is_refused(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n\nAbout apples.\n", encoding="utf-8")
    ingest(store, HASHING, [path])
    with pytest.raises(EncoderMismatch, match="hashing-64"):
        Searcher(store, HashingEncoder("other"))


def test_a_store_takes_another_encoder(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n\n## One\n\nAbout apples.\n\n## Two\n\nAbout pears.\n", encoding="utf-8")
    ingest(store, HASHING, [path])
    before = Searcher(store, HASHING)
    assert before.search("pears", 1).hits[0].text == "About pears."
    other = HashingEncoder("hashing-32", 32)
    assert reencode(store, other) == 2
    assert Searcher(store, other).search("pears", 1).hits[0].text == "About pears."
    with pytest.raises(EncoderMismatch):
        before.search("pears")
    assert [file.status for file in ingest(store, other, [path]).files] == ["unchanged"]
    reencode(store, HASHING)
    assert before.search("apples", 1).hits[0].text == "About apples."


def test_threads_share_a_searcher(searcher: Searcher) -> None:
    questions = ["RDMA 网络", "spot notice", "等保测评", "显存"] * 5
    with ThreadPoolExecutor(4) as pool:
        together = [result.hits[0].chunk_id for result in pool.map(searcher.search, questions)]
    assert together == [searcher.search(question).hits[0].chunk_id for question in questions]


def test_language_of_a_question() -> None:
    assert question_language("H100 多少钱") == "zh"
    assert question_language("H100 price") == "en"
