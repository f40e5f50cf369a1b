"""How many requests one caller and one address may send."""

from __future__ import annotations

import math
import time

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from assistant.api.problems import Refused


class Rate:
    """A limit over a moving window. Safe to share between threads."""

    def __init__(self, limit: str) -> None:
        """`limit` as in "600/minute"; empty for none."""
        self._item: RateLimitItem | None = parse(limit) if limit else None
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def count(self, who: str) -> None:
        """Count a request.

        Raises:
            Refused: 429; it is one too many.
        """
        if self._item is None or self._limiter.hit(self._item, who):
            return
        wait = max(1, math.ceil(self._limiter.get_window_stats(self._item, who).reset_time - time.time()))
        raise Refused(
            429, "rate_limited", f"More than {self._item.amount} requests in {self._item.get_expiry()} s. Go on in "
            f"{wait} s.", headers={"retry-after": str(wait)},
        )  # fmt: skip
