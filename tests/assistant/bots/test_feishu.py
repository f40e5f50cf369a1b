"""The Feishu channel with `lark-oapi` itself, against Feishu's side on real sockets (see `feishu.py` beside this)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assistant.advisor import Advisor
from assistant.bots.channels.feishu import FeishuBot, FeishuSettings, readable
from assistant.bots.errors import ChannelError
from tests.assistant.bots.conftest import eventually, listening, started
from tests.assistant.bots.feishu import ENCRYPT_KEY, SECRET, TOKEN, FakeFeishu, fake_feishu

SPOT = "When is a spot instance taken back?"


@pytest.fixture
def feishu() -> Iterator[FakeFeishu]:
    with fake_feishu() as playing:
        yield playing


def settings(feishu: FakeFeishu, **changes: Any) -> FeishuSettings:
    values = {
        "app_id": feishu.app_id, "app_secret": SECRET, "encrypt_key": ENCRYPT_KEY, "verification_token": TOKEN,
        "domain": feishu.url,
    }  # fmt: skip
    return FeishuSettings(**(values | changes))


@contextmanager
def serving(advisor: Advisor, feishu: FakeFeishu) -> Iterator[tuple[FeishuBot, str]]:
    bot = FeishuBot(advisor, settings(feishu))
    with listening(bot.web()) as url:
        yield bot, f"{url}/feishu/events"
        bot.close()


def content(message: dict[str, Any]) -> str:
    return "\n".join(element.get("content", "") for element in message["card"]["body"]["elements"])


def test_a_mention_is_answered_in_a_thread_with_a_card(advisor: Advisor, feishu: FakeFeishu) -> None:
    with serving(advisor, feishu) as (_, url):
        assert feishu.deliver(url, feishu.message(SPOT, "om_a")).status_code == 200
        message = eventually(lambda: feishu.sent)[0]
    assert (message["to"], message["reply_in_thread"]) == ("om_a", True)
    assert "two minutes" in content(message) and "&#91;1&#93;" in content(message)
    assert "[Spot rules](https://example.com/spot)" in content(message)


def test_the_thread_keeps_its_conversation_over_a_restart(advisor: Advisor, feishu: FakeFeishu) -> None:
    with serving(advisor, feishu) as (_, url):
        feishu.deliver(url, feishu.message("40 TB over 500 Mbps, 75% usable, how many days?", "om_a"))
        eventually(lambda: feishu.sent)
    again = Advisor(advisor.settings)
    with serving(again, feishu) as (bot, url):
        feishu.deliver(url, feishu.message("and with a 2 Gbps line?", "om_b", root_id="om_a"))
        eventually(lambda: len(feishu.sent) > 1)
        last = again.conversations.last(bot.memory.thread("oc_1:om_a").conversation_id)  # type: ignore[union-attr]
    assert last.tool_runs[0].inputs["volume_bytes"].origin == "earlier turn"


def test_an_event_that_comes_again_is_answered_once(advisor: Advisor, feishu: FakeFeishu) -> None:
    event = feishu.message(SPOT, "om_a")
    with serving(advisor, feishu) as (_, url):
        feishu.deliver(url, event)
        eventually(lambda: feishu.sent)
        assert feishu.deliver(url, event).status_code == 200
    with serving(Advisor(advisor.settings), feishu) as (_, url):
        assert feishu.deliver(url, event).status_code == 200
        feishu.deliver(url, feishu.message("预算告警会自动停机吗？", "om_b", direct=True, chat="oc_2"))
        eventually(lambda: len(feishu.sent) > 1)
    assert [message["to"] for message in feishu.sent] == ["om_a", "om_b"]
    assert "只发通知" in content(feishu.sent[1]) and "来源" in content(feishu.sent[1])


def test_what_feishu_did_not_sign_or_encrypt_is_refused(advisor: Advisor, feishu: FakeFeishu) -> None:
    with serving(advisor, feishu) as (_, url):
        for changes in ({"signed": False}, {"key": "another key"}):
            assert feishu.deliver(url, feishu.message(SPOT, "om_a"), **changes).status_code >= 400  # type: ignore[arg-type]
        challenge = {"type": "url_verification", "challenge": "c", "token": TOKEN}
        assert feishu.deliver(url, challenge).json() == {"challenge": "c"}
        assert feishu.deliver(url, challenge | {"token": "wrong"}).status_code >= 400
    assert feishu.sent == []


def test_rate_limits_of_the_gateway_and_of_a_chat_are_respected(advisor: Advisor, feishu: FakeFeishu) -> None:
    feishu.limits = [(429, 99991400, 1), (400, 230020, 0.2)]
    with serving(advisor, feishu) as (_, url):
        feishu.deliver(url, feishu.message(SPOT, "om_a"))
        message = eventually(lambda: feishu.sent)[0]
    assert feishu.refused_at[1] - feishu.refused_at[0] >= 1
    assert message["at"] - feishu.refused_at[1] >= 0.2
    assert len(feishu.sent) == 1


def test_groups_are_answered_only_where_the_bot_is_mentioned(advisor: Advisor, feishu: FakeFeishu) -> None:
    with serving(advisor, feishu) as (_, url):
        assert feishu.deliver(url, feishu.message(SPOT, "om_a", mentions=("ou_2",))).status_code == 200
        assert feishu.deliver(url, feishu.message(SPOT, "om_b", kind="image", content={"image_key": "k"})).is_success
        feishu.deliver(url, feishu.message(SPOT, "om_c", mentions=("ou_2", "ou_bot")))
        assert eventually(lambda: feishu.sent)[0]["to"] == "om_c"
    assert len(feishu.sent) == 1


def test_thumbs_are_kept(advisor: Advisor, feishu: FakeFeishu) -> None:
    with serving(advisor, feishu) as (_, url):
        feishu.deliver(url, feishu.message(SPOT, "om_a"))
        columns = eventually(lambda: feishu.sent)[0]["card"]["body"]["elements"][-1]["columns"]
        value = columns[1]["elements"][0]["behaviors"][0]["value"]
        assert "noted" in feishu.deliver(url, feishu.click(value)).json()["toast"]["content"]
    assert [rated.rating for rated in advisor.conversations.feedback()] == ["down"]


def test_markup_and_mentions_in_documents_mean_nothing(advisor: Advisor, feishu: FakeFeishu) -> None:
    from assistant.bots.markdown import parse

    bot = FeishuBot(advisor, settings(feishu))
    [text] = bot.write(parse("See <at id=all></at> and [here](https://evil.example) **now** `<b>`."))
    assert "<" not in text and "](" not in text and "**now**" in text
    bot.close()


def test_posts_are_read(advisor: Advisor) -> None:
    post = {
        "title": "A question",
        "content": [
            [{"tag": "at", "user_id": "@_user_1"}, {"tag": "text", "text": " how "}, {"tag": "a", "text": "long?"}]
        ],
    }
    import json

    assert readable("post", json.dumps(post), {"@_user_1": ""}) == "A question\n how long?"
    assert readable("text", '{"text": "@_user_1 @_user_10 hi"}', {"@_user_1": "", "@_user_10": "@Bo"}) == "@Bo hi"


def test_a_wrong_secret_is_one_clear_line(advisor: Advisor, feishu: FakeFeishu) -> None:
    bot = FeishuBot(advisor, settings(feishu, app_secret="wrong"))
    with pytest.raises(ChannelError, match="ADVISOR_FEISHU_APP_SECRET"):
        _ = bot.open_id
    bot.close()


def test_over_the_long_connection_as_the_command_starts_it(advisor: Advisor, feishu: FakeFeishu, data: Path) -> None:
    environment = os.environ | {
        "ADVISOR_DATA_DIR": str(data),
        "ADVISOR_FEISHU_APP_ID": feishu.app_id,
        "ADVISOR_FEISHU_APP_SECRET": SECRET,
        "ADVISOR_FEISHU_DOMAIN": feishu.url,
    }
    event = feishu.message(SPOT, "om_a")
    with started("feishu", environment):
        assert feishu.push(event)["code"] == 200
        message = eventually(lambda: feishu.sent)[0]
        assert feishu.push(event, pieces=2)["code"] == 200
        value = message["card"]["body"]["elements"][-1]["columns"][0]["elements"][0]["behaviors"][0]["value"]
        feishu.push(feishu.click(value))
    assert len(feishu.sent) == 1 and [rated.rating for rated in advisor.conversations.feedback()] == ["up"]
