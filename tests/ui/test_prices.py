"""A visitor's price file counts in their calculations and answers, and in nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.events import Event, StageStarted
from assistant.tools.registry import get_tool
from knowledge import catalog
from knowledge.errors import InvalidInput
from ui.batches import batched
from ui.prices import Prices, prices_html

HEAD = "provider,instance,gpu,gpu_count,price_per_gpu_hour,currency,as_of\n"
ASKED = {"parameters": "7B", "tokens": "2T", "gpu": "H100", "gpu_count": 64}


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    return Prices(tmp_path / "kept")


def _sheet(folder: Path, *rows: str, name: str = "own.csv") -> Path:
    path = folder / name
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows), "utf-8")
    return path


def _price() -> Any:
    return get_tool("estimate_training_cost").run(ASKED, "en").result["price_per_gpu_hour"]


def test_own_prices_count_for_their_owner_alone(prices: Prices, tmp_path: Path) -> None:
    listed = _price()
    prices.take("visitor:a", _sheet(tmp_path, "own,rack,H100,8,1.37,USD,2026-11-01"))
    with prices.of("visitor:a"):
        assert _price() == 1.37
    with prices.of("visitor:b"):
        assert _price() == listed
    assert _price() == listed
    prices.drop("visitor:a")
    with prices.of("visitor:a"):
        assert _price() == listed


def test_a_later_file_replaces_the_earlier_and_a_bad_one_does_not(prices: Prices, tmp_path: Path) -> None:
    prices.take("a", _sheet(tmp_path, "own,rack,H100,8,1.37,USD,2026-11-01"))
    with pytest.raises(InvalidInput, match=r"line 2"):
        prices.take("a", _sheet(tmp_path, "own,rack,Warp9000,8,1,USD,2026-11-01", name="bad.csv"))
    prices.take("a", _sheet(tmp_path, "own,rack,H100,8,1.5,USD,2026-11-01", "own,x,Warp9000,8,1,USD,", name="new.csv"))
    used = prices.in_use("a")
    assert used is not None and used[0] == "new.csv" and len(used[1].problems) == 1
    html = prices_html(used, "en")
    assert "new.csv" in html and "Warp9000" in html and "2026-11-01" in html


def test_what_a_file_holds_is_shown_as_text(prices: Prices, tmp_path: Path) -> None:
    prices.take("a", _sheet(tmp_path, "<script>x</script>,<img src=x>,H100,8,1.5,USD,", name="<b>.csv"))
    html = prices_html(prices.in_use("a"), "zh")
    assert "<script>" not in html and "<img" not in html and "<b>.csv" not in html


def test_an_answer_is_worked_on_with_the_owners_prices(prices: Prices, tmp_path: Path) -> None:
    prices.take("a", _sheet(tmp_path, "own,rack,H100,8,1.37,USD,2026-11-01"))
    seen: list[Any] = []

    def events() -> Iterator[Event]:
        for _ in range(3):
            seen.append(_price())
            yield StageStarted("calculating")

    assert sum(len(batch) for batch in batched(prices.during("a", events()))) == 3
    assert seen == [1.37] * 3
    assert all(row.name != "rack" for row in catalog.instances())


def test_a_stopped_answer_ends_in_its_own_thread(prices: Prices, tmp_path: Path) -> None:
    prices.take("a", _sheet(tmp_path, "own,rack,H100,8,1.37,USD,2026-11-01"))

    def endless() -> Iterator[Event]:
        while True:
            yield StageStarted("calculating")

    batches = batched(prices.during("a", endless()))
    next(batches)
    batches.close()  # type: ignore[attr-defined]
