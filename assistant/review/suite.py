"""Answered items as an evaluation suite, so that what was put right stays right."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from assistant.errors import InvalidInput
from assistant.review.items import Item


def suite(items: Iterable[Item]) -> str:
    """The suite's lines, for the data folder in which the documents are.

    Raises:
        InvalidInput: no item has an answer yet.
    """
    rows = [_case(item) for item in items if item.after is not None and item.after.status == "answered" and item.file]
    if not rows:
        raise InvalidInput("No item has been answered yet, so there is nothing to export.")
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _case(item: Item) -> dict[str, Any]:
    return {
        "id": f"review-{item.id[:8]}",
        "language": item.language,
        "topic": item.topic or "review",
        "turns": item.turns,
        "expect": {
            "status": "answered",
            "key_points": item.key_points,
            "sources": [{"document": f"*{item.file}", "section": None}],
        },
        "documents": None,
        "reviewed": item.last.date().isoformat(),
        "kind": item.kind,
    }
