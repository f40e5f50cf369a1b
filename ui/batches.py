"""Events of an answer in batches: what comes in a burst is shown at once, so that a fast answer isn't slowed by its
stages, and a slow one still shows each."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from queue import Empty, SimpleQueue
from threading import Event as Flag
from threading import Thread

from assistant.events import Answered, Event

BURST_SECONDS = 0.08
"""Longest time that an event waits for those after it."""


def batched(events: Generator[Event]) -> Iterator[list[Event]]:
    """Batches in order, none empty. Closing it ends the work before its next step; its errors are raised here."""
    queue: SimpleQueue[Event | Exception | None] = SimpleQueue()
    stopped = Flag()

    def produce() -> None:
        try:
            for event in events:
                queue.put(event)
                if stopped.is_set():
                    return
        except Exception as error:
            queue.put(error)
        finally:
            events.close()  # here, since what it holds belongs to this thread
            queue.put(None)

    Thread(target=produce, name="answer", daemon=True).start()
    try:
        over = False
        while not over:
            batch: list[Event] = []
            fault, over = _collect(queue, batch)
            if batch:
                yield batch
            if fault is not None:
                raise fault
    finally:
        stopped.set()


def _collect(queue: SimpleQueue[Event | Exception | None], batch: list[Event]) -> tuple[Exception | None, bool]:
    """Fill a batch; returns the error that ended the events, and whether they are over."""
    deadline: float | None = None
    while True:
        try:
            item = queue.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
        except Empty:
            return None, False
        if item is None or isinstance(item, Exception):
            return item, True
        batch.append(item)
        if isinstance(item, Answered):
            return None, False
        deadline = deadline or time.monotonic() + BURST_SECONDS
