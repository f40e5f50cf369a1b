"""Conversations by OpenAI's clients, LangChain and curl; the second turn says only what is different."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from tests.service.serving import Server

FIRST = "64 张 H100 训 7B 模型、2T token 要多久？"
SECOND = "那换成 A100 呢？"
NODE = Path(__file__).with_name("conversation.mjs")


@pytest.fixture
def client(server: Server) -> Iterator[openai.OpenAI]:
    plain = httpx.Client(trust_env=False)
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", http_client=plain) as opened:
        yield opened


def check_second(advisor: Any, content: str) -> None:
    """The second turn is about the first one's model and tokens, on the other card."""
    run = advisor["tool_runs"][0]
    assert advisor["status"] == "answered"
    assert run["inputs"]["parameters"] == {"value": 7e9, "unit": "parameter", "origin": "earlier turn"} or (
        run["inputs"]["parameters"]["value"] == 7e9 and run["inputs"]["parameters"]["origin"] == "earlier turn"
    )
    assert run["inputs"]["tokens"]["value"] == 2e12 and run["inputs"]["gpu_count"]["value"] == 64
    assert "A100" in run["inputs"]["gpu"]["value"]
    check_footnotes(content)


def check_footnotes(content: str) -> None:
    """Every mark has its footnote and every footnote its mark."""
    text, _, notes = content.rpartition("\n\n")
    named = re.findall(r"^\[\^(T?\d+)\]: .+$", notes, re.M)
    assert named and set(named) == set(re.findall(r"\[\^(T?\d+)\]", text))


def test_python_client_holds_a_conversation(client: openai.OpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": FIRST}]
    first = client.chat.completions.create(model="advisor", messages=messages)
    assert first.choices[0].finish_reason == "stop" and first.usage is not None
    messages += [
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": SECOND},
    ]
    second = client.chat.completions.create(model="advisor", messages=messages, temperature=0)
    check_second((second.model_extra or {})["advisor"], second.choices[0].message.content or "")


def test_python_client_reads_a_stream(client: openai.OpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "Answer as a pirate."},
        {"role": "user", "content": FIRST},
        {"role": "assistant", "content": "…"},
        {"role": "user", "content": SECOND},
    ]
    stream = client.chat.completions.create(
        model="advisor", messages=messages, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    last = chunks[-2]
    assert last.choices[0].finish_reason == "stop"
    assert [chunk.usage.total_tokens for chunk in chunks if chunk.usage] == [0]
    check_second((last.model_extra or {})["advisor"], text)
    whole = client.chat.completions.create(model="advisor", messages=messages)
    assert whole.choices[0].message.content == text


def test_every_turn_of_a_long_conversation_counts(client: openai.OpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = []
    for question in ("7B 全参微调要多少显存，A100 80G", "用LoRA呢", "13B呢", "预算告警会自动停机吗", "换成 4090 呢"):
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": "…"}]
    answer = client.chat.completions.create(model="advisor", messages=messages[:-1])
    inputs = (answer.model_extra or {})["advisor"]["tool_runs"][0]["inputs"]
    assert inputs["method"]["value"] == "lora" and inputs["parameters"]["value"] == 13e9


def test_citations_are_in_the_extension_and_in_footnotes(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="advisor", messages=[{"role": "user", "content": [{"type": "text", "text": "抢占式实例会被收回吗？"}]}]
    )
    extension = (answer.model_extra or {})["advisor"]
    content = answer.choices[0].message.content or ""
    check_footnotes(content)
    assert extension["citations"][0]["quote"] in extension["text"] and "[^1]: 抢占式实例 › " in content


def test_langchain_holds_a_conversation(server: Server) -> None:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    with httpx.Client(trust_env=False) as plain:
        model = ChatOpenAI(base_url=f"{server.url}/v1", api_key=SecretStr("none"), model="advisor", http_client=plain)
        messages: list[BaseMessage] = [HumanMessage(FIRST)]
        first = model.invoke(messages)
        assert isinstance(first, AIMessage)
        messages += [first, HumanMessage(SECOND)]
        streamed = "".join(str(chunk.content) for chunk in model.stream(messages))
    assert "A100" in streamed and "7B" in streamed
    check_footnotes(streamed)


def test_curl_holds_a_conversation(server: Server) -> None:
    def curl(path: str, *arguments: str) -> Any:
        command = ["curl", "-sS", "--noproxy", "*", "--fail-with-body", f"{server.url}{path}", *arguments]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    def ask(path: str, body: Any) -> Any:
        return curl(path, "-H", "content-type: application/json", "-d", json.dumps(body))

    assert [model["id"] for model in curl("/v1/models")["data"]] == ["advisor"]
    first = ask("/v1/ask", {"question": FIRST})
    second = ask("/v1/ask", {"question": SECOND, "conversation_id": first["conversation_id"]})
    assert second["tool_runs"][0]["inputs"]["tokens"]["value"] == 2e12
    said = [{"role": "user", "content": FIRST}, {"role": "user", "content": SECOND}]
    third = ask("/v1/chat/completions", {"model": "advisor", "messages": said})
    check_second(third["advisor"], third["choices"][0]["message"]["content"])


@pytest.mark.long
def test_node_client_holds_a_conversation(server: Server, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm isn't installed: apt-get install nodejs npm")
    subprocess.run(["npm", "install", "--silent", "--no-audit", "openai@6"], cwd=tmp_path, check=True, timeout=300)
    script = tmp_path / NODE.name
    script.write_text(NODE.read_text("utf-8"), "utf-8")
    done = subprocess.run(
        ["node", script.name, server.url, FIRST, SECOND], cwd=tmp_path, check=True, capture_output=True
    )
    said = json.loads(done.stdout)
    check_second(said["advisor"], said["streamed"])
    assert said["streamed"] == said["whole"] and said["code"] == "model_not_found"


@pytest.mark.parametrize(
    ("change", "status", "code", "param"),
    [
        ({"model": "gpt-9"}, 404, "model_not_found", None),
        ({"messages": []}, 400, "invalid_request", "body/messages"),
        ({"messages": [{"role": "user", "content": "  "}]}, 400, "invalid_input", None),
        ({"messages": [{"role": "user", "content": "x" * 9000}]}, 400, "invalid_input", None),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, 400, "invalid_value", "messages"),
        ({"n": 2}, 400, "invalid_request", "body/n"),
        ({"response_format": {"type": "json_object"}}, 400, "invalid_request", "body/response_format/type"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, 400, "invalid_request", None),
    ],
)  # fmt: skip
def test_errors_are_openais(server: Server, change: dict[str, Any], status: int, code: str, param: str | None) -> None:
    body: dict[str, Any] = {"model": "advisor", "messages": [{"role": "user", "content": "hello"}]}
    answer = server.post("/v1/chat/completions", body | change)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert (error["code"], error["type"]) == (code, "invalid_request_error") and error["message"]
    assert param is None or error["param"] == param


def test_client_sees_typed_errors(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="There is no model"):
        client.chat.completions.create(model="gpt-9", messages=[{"role": "user", "content": "hi"}])
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-9")
    assert client.models.retrieve("advisor").id == "advisor"
