"""People for the load run: Locust's file. Each holds one conversation after another, and checks every answer.

Run by `tests.service.load`; `-H URL` names the server.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

from locust import FastHttpUser, between, task

from tests.service.serving import ABOUT_HANDBOOK

TIMEOUT_SECONDS = 30.0
VERSION = re.compile(r"(?<!\d)[1-9]\d{5}(?!\d)")
"""The number of a version of the handbook that is replaced every second; it stands in each of its sentences."""
GUIDANCE = (
    "怎么防止云上训练的账单失控？",
    "抢占式实例会被随时收回吗，训练时要怎么办？",
    "How do I keep spot training jobs from losing work?",
    "Do budget alerts stop spending?",
    "数据上云怎么传更快？",
)


class Person(FastHttpUser):
    """Reads an answer for some seconds before asking on."""

    wait_time = between(2, 6)
    connection_timeout = network_timeout = TIMEOUT_SECONDS

    @task(3)
    def calculation(self) -> None:
        """Two turns by conversation id; the second says only what is different."""
        gpus, size = random.choice((8, 32, 64)), random.choice((7, 13, 70))
        first = self.ask("calculation", f"{gpus} 张 H100 训 {size}B、2T token 要多久？")
        if first is None:
            return
        self.wait()
        second = self.ask("ellipsis", "那换成 A100 呢？", first["conversation_id"])
        if second is not None:
            inputs = second["tool_runs"][0]["inputs"]
            same = (inputs["gpu_count"]["value"], inputs["parameters"]["value"]) == (gpus, size * 1e9)
            self.note("ellipsis", same and "A100" in inputs["gpu"]["value"], "another conversation's amounts")

    @task(2)
    def guidance(self) -> None:
        """One question of the shipped guidance, as a stream of OpenAI's chunks."""
        self.wait()
        messages = [{"role": "user", "content": random.choice(GUIDANCE)}]
        body = {"model": "advisor", "messages": messages, "stream": True}
        with self.client.post("/v1/chat/completions", json=body, name="guidance", catch_response=True) as response:
            events = [line[6:] for line in (response.text or "").split("\n") if line.startswith("data: ")]
            if response.status_code != 200 or events[-1:] != ["[DONE]"]:
                response.failure(f"status {response.status_code}, {len(events)} events")
                return
            last = json.loads(events[-2])
            if last["advisor"]["status"] != "answered" or not last["advisor"]["citations"]:
                response.failure(f"not answered: {last['advisor']['status']}")

    @task(2)
    def handbook(self) -> None:
        """A question on the document that is being replaced: wholly of one version."""
        answer = self.ask("replaced document", ABOUT_HANDBOOK)
        if answer is not None:
            said = answer["text"] + "".join(f"{c['title']} {c['quote']}" for c in answer["citations"])
            versions = set(VERSION.findall(said))
            self.note("replaced document", len(versions) == 1, f"versions {sorted(versions)}")
        self.wait()

    def ask(self, name: str, question: str, conversation: str | None = None) -> dict[str, Any] | None:
        """A question that must be answered; None when it wasn't."""
        body = {"question": question, "conversation_id": conversation}
        with self.client.post("/v1/ask", json=body, name=name, catch_response=True) as response:
            if response.status_code != 200:
                response.failure(f"status {response.status_code}: {(response.text or '')[:200]}")
                return None
            answer: dict[str, Any] = response.json()
            if answer["status"] != "answered":
                response.failure(f"{answer['status']}: {answer['text'][:100]}")
                return None
            return answer

    def note(self, name: str, holds: bool, wrong: str) -> None:
        """Count an answer that came but is wrong as a failure."""
        if not holds:
            self.environment.events.request.fire(
                request_type="CHECK", name=name, response_time=0, response_length=0, exception=ValueError(wrong)
            )
