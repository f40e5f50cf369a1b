"""The widget's script: one small file, whole in both languages, that never parses HTML."""

from __future__ import annotations

import gzip
import re

from fastapi import FastAPI
from fastapi.testclient import TestClient

from ui.widget import LIMIT_BYTES, compressed, script, serve


def test_size_and_what_it_leaves_out() -> None:
    assert len(compressed()) < LIMIT_BYTES
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function|https?://(?!www\.w3\.org)", script()
    )


def test_every_text_is_there_in_both_languages() -> None:
    source = script()
    english, chinese = (re.search(rf"\n  {name}: {{\n(.*?)\n  }},", source, re.DOTALL) for name in ("en", "zh"))
    assert english is not None and chinese is not None
    keys = [set(re.findall(r"(?:^|\s)(\w+): \"", block[1])) for block in (english, chinese)]
    assert keys[0] == keys[1] and len(keys[0]) > 25
    rest = source.replace(english[0], "").replace(chinese[0], "")
    assert set(re.findall(r"\bwords\.(\w+)", rest)) <= keys[0]
    named = re.search(r"const MESSAGES = \{(.*?)\};", rest)
    assert named is not None and set(re.findall(r': "(\w+)"', named[1])) <= keys[0]


def test_it_is_served_to_any_page_and_not_sent_twice() -> None:
    app = FastAPI()
    app.add_api_route("/widget.js", serve)
    client = TestClient(app)
    first = client.get("/widget.js")
    assert first.text == script() and first.headers["content-encoding"] == "gzip"
    assert first.headers["cross-origin-resource-policy"] == "cross-origin"
    assert client.get("/widget.js", headers={"if-none-match": first.headers["etag"]}).status_code == 304
    plain = client.get("/widget.js", headers={"accept-encoding": "identity"})
    assert plain.text == script() and "content-encoding" not in plain.headers
    assert gzip.decompress(compressed()).decode() == script()
