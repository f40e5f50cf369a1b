"""The Slack channel with Bolt itself, against Slack's side on real sockets (see `tests/assistant/bots/slack.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode import SocketModeHandler

from assistant.advisor import Advisor
from assistant.bots.channels.slack import SlackBot, SlackSettings, readable
from assistant.bots.errors import ChannelError
from assistant.errors import InvalidInput
from assistant.settings import read_settings
from tests.assistant.bots.conftest import eventually, listening
from tests.assistant.bots.slack import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, FakeSlack, fake_slack

SPOT = "When is a spot instance taken back?"
TRANSFER = "40 TB over 500 Mbps, 75% usable, how many days?"


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with fake_slack() as playing:
        yield playing


def settings(slack: FakeSlack, **changes: Any) -> SlackSettings:
    values = {"bot_token": BOT_TOKEN, "signing_secret": SIGNING_SECRET, "api_url": slack.api_url}
    return SlackSettings(**(values | changes))


@contextmanager
def serving(advisor: Advisor, slack: FakeSlack) -> Iterator[tuple[SlackBot, str]]:
    """The bot over signed requests; gives the address that Slack calls."""
    bot = SlackBot(advisor, settings(slack))
    bot.resume()
    with listening(bot.web()) as url:
        yield bot, f"{url}/slack/events"
        bot.close()


@contextmanager
def connected(advisor: Advisor, slack: FakeSlack) -> Iterator[SlackBot]:
    """The bot over its own socket."""
    bot = SlackBot(advisor, settings(slack, app_token=APP_TOKEN, signing_secret=None))
    handler = SocketModeHandler(bot.bolt, APP_TOKEN)
    handler.connect()
    eventually(lambda: slack.connections)
    yield bot
    bot.close()
    handler.close()


def texts(message: dict[str, Any], kind: str) -> str:
    found = [block for block in message["blocks"] if block["type"] == kind]
    return "\n".join(
        element["text"] if isinstance(element["text"], str) else element["text"]["text"]
        for block in found
        for element in (block["elements"] if "elements" in block else [block["text"] | {"text": block["text"]["text"]}])
    )


def test_a_mention_is_answered_in_its_thread_with_sources_in_blocks(advisor: Advisor, slack: FakeSlack) -> None:
    with serving(advisor, slack) as (_, url):
        assert slack.deliver(url, slack.mention(SPOT, "100.1")).status_code == 200
        message = eventually(lambda: slack.posted)[0]
    assert (message["channel"], message["thread_ts"]) == ("C1", "100.1")
    assert "two minutes" in texts(message, "section") and "[1]" in texts(message, "section")
    assert "<https://example.com/spot|Spot rules>" in texts(message, "context")
    assert "Helpful" in texts(message, "actions")


def test_the_thread_keeps_its_conversation_over_a_restart(advisor: Advisor, slack: FakeSlack) -> None:
    with serving(advisor, slack) as (_, url):
        slack.deliver(url, slack.mention(TRANSFER, "100.1"))
        eventually(lambda: slack.posted)
    with serving(Advisor(advisor.settings), slack) as (bot, url):
        slack.deliver(url, slack.mention("and with a 2 Gbps line?", "100.2", "100.1"))
        eventually(lambda: len(slack.posted) > 1)
        slack.deliver(url, slack.mention("and with a 2 Gbps line?", "200.1", channel="C2"))
        eventually(lambda: len(slack.posted) > 2)
        [first, second] = bot.advisor.conversations.answers(bot.memory.thread("T1:C1:100.1").conversation_id)  # type: ignore[union-attr]
    assert second.tool_runs[0].inputs["volume_bytes"].origin == "earlier turn"
    assert first.conversation_id != bot.memory.thread("T1:C2:200.1").conversation_id  # type: ignore[union-attr]


def test_an_event_that_comes_again_is_answered_once(advisor: Advisor, slack: FakeSlack) -> None:
    event = slack.mention(SPOT, "100.1")
    with serving(advisor, slack) as (_, url):
        slack.deliver(url, event)
        eventually(lambda: slack.posted)
        assert slack.deliver(url, event, retry=1).status_code == 200
        # A mention in a channel comes as a message too, where the app subscribes to both.
        both = slack.event(
            type="message", channel_type="channel", channel="C1", user="U1", ts="100.1", text=f"<@UBOT> {SPOT}"
        )
        slack.deliver(url, both)
    with serving(Advisor(advisor.settings), slack) as (_, url):
        assert slack.deliver(url, event, retry=2).status_code == 200
        slack.deliver(url, slack.mention("thanks", "300.1"))
        eventually(lambda: any(message["thread_ts"] == "300.1" for message in slack.posted))
    assert [message["thread_ts"] for message in slack.posted].count("100.1") == 1


def test_what_came_in_before_a_crash_is_answered_after_it(advisor: Advisor, slack: FakeSlack) -> None:
    from assistant.bots.memory import Incoming, Memory

    lost = Incoming(id="C1:1.0", thread="T1:C1:1.0", user="U1", text=SPOT, place={"channel": "C1", "thread_ts": "1.0"})
    assert Memory("slack", advisor.conversations).claim(lost)
    with serving(advisor, slack) as (_, url):
        assert "two minutes" in eventually(lambda: slack.posted)[0]["text"]
        slack.deliver(url, slack.mention(SPOT, "1.0"), retry=1)
    assert len(slack.posted) == 1


@pytest.mark.parametrize(("secret", "age"), [("another secret", 0), (SIGNING_SECRET, 600)])
def test_a_request_that_slack_did_not_sign_is_refused(
    advisor: Advisor, slack: FakeSlack, secret: str, age: float
) -> None:
    with serving(advisor, slack) as (_, url):
        assert slack.deliver(url, slack.mention(SPOT, "100.1"), secret=secret, age=age).status_code == 401
        challenge = {"type": "url_verification", "challenge": "c", "token": "unused"}
        assert slack.deliver(url, challenge).json() == {"challenge": "c"}
    assert slack.posted == []


def test_rate_limits_are_respected(advisor: Advisor, slack: FakeSlack) -> None:
    slack.limits = [1, 0.2]
    with serving(advisor, slack) as (_, url):
        slack.deliver(url, slack.mention(SPOT, "100.1"))
        message = eventually(lambda: slack.posted)[0]
    assert slack.refused_at[1] - slack.refused_at[0] >= 1
    assert message["at"] - slack.refused_at[1] >= 0.2
    assert len(slack.posted) == 1


def test_a_long_answer_comes_in_parts_in_order(advisor: Advisor, slack: FakeSlack) -> None:
    question = "How should checkpoints be stored? List all the rules."
    with serving(advisor, slack) as (bot, url):
        slack.deliver(url, slack.direct(question, "100.1"))
        eventually(lambda: any(texts(message, "actions") for message in slack.posted))
        answer = bot.advisor.conversations.last(bot.memory.thread("T1:D1").conversation_id)  # type: ignore[union-attr]
    assert "".join(bot.compose(answer).texts) == "".join(texts(message, "section") for message in slack.posted)
    assert all("thread_ts" not in message for message in slack.posted)
    assert [bool(texts(message, "actions")) for message in slack.posted][:-1] == [False] * (len(slack.posted) - 1)


def test_only_direct_messages_are_answered_without_a_mention(advisor: Advisor, slack: FakeSlack) -> None:
    with serving(advisor, slack) as (_, url):
        talk = slack.event(type="message", channel_type="channel", channel="C1", user="U1", ts="1.1", text=SPOT)
        own = slack.direct(SPOT, "1.2", bot_id="B1")
        edited = slack.direct(SPOT, "1.3", subtype="message_changed")
        for event in (talk, own, edited, slack.direct("预算告警会自动停机吗？", "1.4")):
            assert slack.deliver(url, event).status_code == 200
        message = eventually(lambda: slack.posted)[0]
    assert "只发通知" in message["text"] and "来源" in texts(message, "context")
    assert len(slack.posted) == 1


def test_thumbs_are_kept_and_thanked_for(advisor: Advisor, slack: FakeSlack) -> None:
    with serving(advisor, slack) as (_, url):
        slack.deliver(url, slack.mention(SPOT, "100.1"))
        message = eventually(lambda: slack.posted)[0]
        down = next(block for block in message["blocks"] if block["type"] == "actions")["elements"][1]
        assert slack.deliver(url, slack.click(down)).status_code == 200
        assert "noted" in eventually(lambda: slack.told)[0]["text"]
        slack.deliver(url, slack.direct("预算告警会自动停机吗？", "2.1"))
        eventually(lambda: len(slack.posted) > 1)
        slack.deliver(url, slack.direct(":+1:", "2.2"))
        eventually(lambda: len(slack.posted) > 2)
    ratings = [(rated.rating, rated.answer.language) for rated in advisor.conversations.feedback()]
    assert sorted(ratings) == [("down", "en"), ("up", "zh")]


def test_over_the_socket(advisor: Advisor, slack: FakeSlack) -> None:
    event = slack.mention(SPOT, "100.1")
    with connected(advisor, slack):
        slack.push("events_api", event)
        message = eventually(lambda: slack.posted)[0]
        slack.push("events_api", event, retry=1)
        slack.disconnect()
        eventually(lambda: slack.connections)
        up = next(block for block in message["blocks"] if block["type"] == "actions")["elements"][0]
        slack.push("interactive", slack.click(up))
        assert "noted" in eventually(lambda: slack.told)[0]["text"]
    assert len(slack.posted) == 1 and [rated.rating for rated in advisor.conversations.feedback()] == ["up"]


def test_an_error_is_told_in_the_thread_and_does_not_stop_the_bot(advisor: Advisor, slack: FakeSlack) -> None:
    with serving(advisor, slack) as (_, url):
        slack.deliver(url, slack.mention("x" * 9000, "1.1"))
        assert "more than the limit" in eventually(lambda: slack.posted)[0]["text"]
        slack.deliver(url, slack.mention("", "1.2"))
        slack.deliver(url, slack.mention(SPOT, "1.3"))
        eventually(lambda: len(slack.posted) == 3)


def test_mentions_links_and_entities_are_read_as_people_wrote_them() -> None:
    text = "<@UBOT> does <https://a.example/x|this page> &amp; <#C7|gpu> &lt;help&gt; <@U2>, <!here>?"
    assert readable(text, "UBOT") == "does this page & #gpu <help> @U2, @here?"


def test_a_wrong_token_and_missing_settings_are_one_clear_line(
    advisor: Advisor, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = SlackBot(advisor, settings(slack, bot_token="xoxb-wrong"))
    with pytest.raises(ChannelError, match="ADVISOR_SLACK_BOT_TOKEN"):
        _ = bot.bolt
    with pytest.raises(InvalidInput, match="ADVISOR_SLACK_BOT_TOKEN is not set"):
        read_settings(SlackSettings)
    monkeypatch.setenv("ADVISOR_SLACK_BOT_TOKEN", "xoxb-1")
    with pytest.raises(InvalidInput, match="ADVISOR_SLACK_APP_TOKEN"):
        read_settings(SlackSettings)
    bot.close()
