"""The WeCom channel against WeCom's side on real sockets (see `wecom.py` beside this)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from fastapi.responses import JSONResponse
from hypothesis import given
from hypothesis import strategies as st

from assistant.advisor import Advisor
from assistant.bots.base import Reply
from assistant.bots.channels.wecom import WeComBot, WeComSettings
from assistant.bots.memory import Incoming
from assistant.bots.wecom_crypto import Envelope, InvalidEnvelope
from assistant.errors import InvalidInput
from assistant.settings import read_settings
from tests.assistant.bots.conftest import listening
from tests.assistant.bots.wecom import AES_KEY, TOKEN, FakeWeCom, encrypted, fake_wecom, query

SPOT = "When is a spot instance taken back?"


@pytest.fixture
def wecom() -> Iterator[FakeWeCom]:
    with fake_wecom() as playing:
        yield playing


@contextmanager
def serving(advisor: Advisor) -> Iterator[tuple[WeComBot, str]]:
    bot = WeComBot(advisor, WeComSettings(token=TOKEN, encoding_aes_key=AES_KEY))
    bot.resume()
    with listening(bot.web()) as url:
        yield bot, f"{url}/wecom/events"
        bot.close()


def test_the_example_of_the_documentation_is_opened() -> None:
    # https://developer.work.weixin.qq.com/document/path/90930: verification of the address, with these values
    envelope = Envelope(TOKEN, AES_KEY, "wx5823bf96d3bd56c7")
    sealed = "P9nAzCzyDtyTWESHep1vC5X9xho/qYX3Zpb4yKa9SKld1DsH3Iyt3tP3zNdtp+4RPcs8TgAE7OaBO+FZXvnaqQ=="
    signed = ("5c45ff5e21c57e6ad56bac8758b79b1d9ac89fd3", "1409659589", "263014780")
    assert envelope.open(sealed, *signed) == "1616140317555161061"
    with pytest.raises(InvalidEnvelope, match="somebody else"):
        Envelope(TOKEN, AES_KEY, "another").open(sealed, *signed)
    with pytest.raises(InvalidEnvelope, match="signature"):
        envelope.open(sealed, signed[0], signed[1], "1")


@given(text=st.text(max_size=200), noise=st.binary(max_size=80))
def test_what_is_sealed_is_opened_and_noise_is_refused(text: str, noise: bytes) -> None:
    import base64

    envelope = Envelope(TOKEN, AES_KEY, "")
    sealed = envelope.seal(text, 7, "n")
    assert envelope.open(sealed["encrypt"], sealed["msgsignature"], "7", "n") == text
    garbage = base64.b64encode(noise).decode()
    with pytest.raises(InvalidEnvelope):
        envelope.open(garbage, envelope.signature(garbage, "7", "n"), "7", "n")


def test_a_mention_is_answered_as_a_stream_with_a_card_of_sources(advisor: Advisor, wecom: FakeWeCom) -> None:
    with serving(advisor) as (_, url):
        first = wecom.deliver(url, wecom.message(SPOT, "CAIQ16HMjQYY/NGagIOAgAMgq4KM0AI="))
        reply = wecom.complete(url, first)
    assert "two minutes" in reply["stream"]["content"] and "[Spot rules](https://example.com/spot)" in str(reply)
    assert reply["template_card"]["horizontal_content_list"][0] == {
        "keyname": "[1]", "value": "Spot rules", "type": 1, "url": "https://example.com/spot",
    }  # fmt: skip


def test_a_message_that_comes_again_gets_the_same_answer_over_a_restart(advisor: Advisor, wecom: FakeWeCom) -> None:
    message = wecom.message("预算告警会自动停机吗？", "m1", direct=True)
    with serving(advisor) as (_, url):
        reply = wecom.complete(url, wecom.deliver(url, message))
    with serving(Advisor(advisor.settings)) as (bot, url):
        assert wecom.deliver(url, message) == reply
        assert wecom.deliver(url, wecom.refresh(reply["stream"]["id"])) == reply
        assert len(bot.advisor.conversations.answers(bot.memory.thread("u1").conversation_id)) == 1  # type: ignore[union-attr]
    assert "只发通知" in reply["stream"]["content"] and reply["template_card"]["main_title"]["title"] == "来源"


def test_each_person_in_a_group_keeps_a_conversation(advisor: Advisor, wecom: FakeWeCom) -> None:
    with serving(advisor) as (bot, url):
        for number, (text, user) in enumerate(
            [("40 TB over 500 Mbps, 75% usable, how many days?", "u1"), (SPOT, "u2"), ("and with 2 Gbps?", "u1")]
        ):
            wecom.complete(url, wecom.deliver(url, wecom.message(text, f"m{number}", user=user)))
        last = advisor.conversations.last(bot.memory.thread("g1:u1").conversation_id)  # type: ignore[union-attr]
    assert last.tool_runs[0].inputs["volume_bytes"].origin == "earlier turn"


def test_what_wecom_did_not_sign_is_refused_and_the_address_is_verified(advisor: Advisor, wecom: FakeWeCom) -> None:
    with serving(advisor) as (_, url):
        assert wecom.post(url, wecom.message(SPOT, "m1"), token="another").status_code == 403
        assert wecom.post(url, wecom.message(SPOT, "m1"), key=AES_KEY[::-1]).status_code == 403
        assert httpx.post(url, content=b"{", trust_env=False).status_code == 403
        sealed = encrypted("1616140317555161061", AES_KEY)
        answer = httpx.get(f"{url}?{query(TOKEN, sealed).set('echostr', sealed)}", trust_env=False)
    assert answer.text == "1616140317555161061"
    assert advisor.conversations.summaries() == []


def test_thumbs_come_in_as_feedback_and_from_the_card(advisor: Advisor, wecom: FakeWeCom) -> None:
    with serving(advisor) as (_, url):
        reply = wecom.complete(url, wecom.deliver(url, wecom.message(SPOT, "m1", direct=True)))
        feedback = {"id": reply["stream"]["feedback"]["id"], "type": 2, "inaccurate_reason_list": [2]}
        assert wecom.deliver(url, wecom.event("feedback_event", feedback)) is None
        click = {"card_type": "button_interaction", "event_key": "up", "task_id": reply["template_card"]["task_id"]}
        updated = wecom.deliver(url, wecom.event("template_card_event", click, user="u2"))
        assert wecom.deliver(url, wecom.event("enter_chat", {})) is None
    assert updated is not None and updated["response_type"] == "update_template_card"
    assert sorted(rated.rating for rated in advisor.conversations.feedback()) == ["down", "up"]


def test_what_one_message_cannot_hold_follows_and_rate_limits_are_respected(advisor: Advisor, wecom: FakeWeCom) -> None:
    busy = JSONResponse({"errcode": 45009, "errmsg": "api freq out of limit"})
    wecom.limits = [JSONResponse({}, 429, headers={"Retry-After": "1"}), busy]
    bot = WeComBot(advisor, WeComSettings(token=TOKEN, encoding_aes_key=AES_KEY))
    place: dict[str, Any] = {"response_url": f"{wecom.url}/cgi-bin/aibot/response?response_code=1"}
    bot.send(
        Incoming(id="1", thread="u1", user="u1", text=SPOT, place=place),
        Reply(["first", "second", "third"], [], [], "en", None),
    )
    bot.close()
    assert wecom.pushed[0]["markdown"]["content"].startswith("second\n\n(Shortened")
    assert wecom.refused_at[1] - wecom.refused_at[0] >= 1
    assert wecom.pushed[0]["at"] - wecom.refused_at[1] >= 1


def test_a_key_of_the_wrong_length_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_WECOM_TOKEN", "t")
    monkeypatch.setenv("ADVISOR_WECOM_ENCODING_AES_KEY", "short")
    with pytest.raises(InvalidInput, match="ADVISOR_WECOM_ENCODING_AES_KEY"):
        read_settings(WeComSettings)
