"""Work that goes on beside the caller's: items made ahead of need, and results that come when they are done."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
_WAKE_SECONDS = 0.2


@contextmanager
def ahead(items: Iterable[Item], size: int) -> Iterator[Iterator[Item]]:
    """The items, made in a thread that is at most `size` and the one in its hands ahead of the caller.

    What making them raises is raised where the caller would have got the next. On leaving, the thread ends with the
    item that it is making.
    """
    made: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(size)
    left = threading.Event()

    def put(item: Item | None, error: BaseException | None = None) -> None:
        while not left.is_set():
            try:
                made.put((item, error), timeout=_WAKE_SECONDS)
                return
            except queue.Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put(item)
                if left.is_set():
                    return
            put(None, StopIteration())
        except BaseException as error:
            put(None, error)

    def taken() -> Iterator[Item]:
        while True:
            item, error = made.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]

    thread = threading.Thread(target=work, name="ahead", daemon=True)
    thread.start()
    try:
        yield taken()
    finally:
        left.set()
        thread.join()
