"""The DingTalk channel with `dingtalk-stream` itself, against DingTalk's side on real sockets (see `dingtalk.py`)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dingtalk_stream import DingTalkStreamClient, stream
from fastapi.responses import JSONResponse

from assistant.advisor import Advisor
from assistant.bots.channels.dingtalk import DingTalkBot, DingTalkSettings
from assistant.bots.errors import ChannelError
from tests.assistant.bots.conftest import eventually, started
from tests.assistant.bots.dingtalk import CLIENT_ID, CLIENT_SECRET, FakeDingTalk, fake_dingtalk

SPOT = "When is a spot instance taken back?"


@pytest.fixture
def dingtalk(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDingTalk]:
    with fake_dingtalk() as playing:
        monkeypatch.setattr(stream, "DINGTALK_OPENAPI_ENDPOINT", playing.url)
        address = f"{playing.url}/v1.0/gateway/connections/open"
        monkeypatch.setattr(DingTalkStreamClient, "OPEN_CONNECTION_API", address)
        yield playing


def settings(secret: str = CLIENT_SECRET) -> DingTalkSettings:
    return DingTalkSettings(client_id=CLIENT_ID, client_secret=secret)


@contextmanager
def connected(advisor: Advisor) -> Iterator[DingTalkBot]:
    """The bot on the stream, whose endless loop is stopped from outside."""
    bot = DingTalkBot(advisor, settings())
    loop = asyncio.new_event_loop()
    task = loop.create_task(bot.client().start())

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_forever()
        for pending in asyncio.all_tasks(loop):
            pending.cancel()
        loop.run_until_complete(asyncio.sleep(0.1))
        loop.run_until_complete(loop.shutdown_default_executor())

    thread = threading.Thread(target=run)
    thread.start()
    yield bot
    bot.close()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    task.cancel()
    loop.close()


def test_a_mention_is_answered_with_a_card_and_sources(advisor: Advisor, dingtalk: FakeDingTalk) -> None:
    with connected(advisor):
        dingtalk.push(dingtalk.message(SPOT, "m-a"))
        card = eventually(lambda: dingtalk.sent)[0]["actionCard"]
    assert "two minutes" in card["text"] and "[1]" in card["text"]
    assert "[Spot rules](https://example.com/spot)" in card["text"]
    assert card["btns"][1]["actionURL"] == "dtmd://dingtalkclient/sendMessage?content=%F0%9F%91%8E"


def test_each_person_keeps_a_conversation_and_thumbs_count_for_its_last_answer(
    advisor: Advisor, dingtalk: FakeDingTalk
) -> None:
    with connected(advisor) as bot:
        dingtalk.push(dingtalk.message("40 TB over 500 Mbps, 75% usable, how many days?", "m-a"))
        eventually(lambda: dingtalk.sent)
        dingtalk.push(dingtalk.message("and with a 2 Gbps line?", "m-b", kind="richText"))
        eventually(lambda: len(dingtalk.sent) > 1)
        dingtalk.push(dingtalk.message("and with a 2 Gbps line?", "m-c", user="u2"))
        eventually(lambda: len(dingtalk.sent) > 2)
        dingtalk.push(dingtalk.message("👎", "m-d"))
        eventually(lambda: len(dingtalk.sent) > 3)
        mine, others = (bot.memory.thread(f"cid1:{user}") for user in ("u1", "u2"))
    assert mine is not None and others is not None
    last = advisor.conversations.last(mine.conversation_id)
    assert last.tool_runs[0].inputs["volume_bytes"].origin == "earlier turn"
    assert len(advisor.conversations.answers(others.conversation_id)) == 1
    assert [(rated.rating, rated.answer.id) for rated in advisor.conversations.feedback()] == [("down", last.id)]
    assert dingtalk.sent[3]["msgtype"] == "markdown" and dingtalk.sent[3]["at"]["atUserIds"] == ["u1"]


def test_rate_limits_are_respected(advisor: Advisor, dingtalk: FakeDingTalk) -> None:
    slow = JSONResponse({"errcode": 130101, "errmsg": "send too fast, exceed 20 times per minute"})
    dingtalk.limits = [JSONResponse({}, 429, headers={"Retry-After": "1"}), slow]
    with connected(advisor):
        dingtalk.push(dingtalk.message(SPOT, "m-a"))
        sent = eventually(lambda: dingtalk.sent)[0]
    assert dingtalk.refused_at[1] - dingtalk.refused_at[0] >= 1
    assert sent["at_time"] - dingtalk.refused_at[1] >= 1
    assert len(dingtalk.sent) == 1


def test_as_the_command_starts_it_a_message_that_comes_again_is_answered_once_over_a_restart(
    advisor: Advisor, dingtalk: FakeDingTalk, data: Path
) -> None:
    environment = os.environ | {
        "ADVISOR_DATA_DIR": str(data),
        "ADVISOR_DINGTALK_CLIENT_ID": CLIENT_ID,
        "ADVISOR_DINGTALK_CLIENT_SECRET": CLIENT_SECRET,
        "DINGTALK_OPENAPI_ENDPOINT": dingtalk.url,
    }
    message = dingtalk.message("预算告警会自动停机吗？", "m-a", direct=True)
    with started("dingtalk", environment):
        dingtalk.push(message)
        eventually(lambda: dingtalk.sent)
        dingtalk.push(message)
    dingtalk.connections.clear()
    with connected(advisor):
        dingtalk.push(message)
        dingtalk.push(dingtalk.message(SPOT, "m-b", kind="picture"))
        dingtalk.push(dingtalk.message(SPOT, "m-c"))
        eventually(lambda: len(dingtalk.sent) > 1)
    first, second = (sent["actionCard"]["text"] for sent in dingtalk.sent)
    assert "只发通知" in first and "来源" in first and "two minutes" in second


def test_a_wrong_secret_is_one_clear_line(advisor: Advisor, dingtalk: FakeDingTalk) -> None:
    bot = DingTalkBot(advisor, settings("wrong"))
    with pytest.raises(ChannelError, match="ADVISOR_DINGTALK_CLIENT_SECRET"):
        bot.run("127.0.0.1", 0)
    bot.close()
