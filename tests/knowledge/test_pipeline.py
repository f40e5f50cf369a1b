import threading
from collections.abc import Iterator

import pytest

from knowledge.pipeline import ahead


def test_items_come_in_order_and_no_more_than_so_many_ahead() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(20):
            made.append(number)
            yield number

    with ahead(items(), 2) as taken:
        for expected, number in enumerate(taken):
            assert number == expected
            assert len(made) <= number + 1 + 2 + 2
    assert made == list(range(20))


def test_an_error_is_raised_in_its_place() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    with ahead(items(), 5) as taken:
        assert next(taken) == 1
        with pytest.raises(OSError, match="gone"):
            next(taken)


def test_leaving_early_ends_the_thread() -> None:
    def items() -> Iterator[int]:
        while True:
            yield 1

    before = threading.active_count()
    with pytest.raises(ValueError, match="enough"), ahead(items(), 3) as taken:
        assert next(taken) == 1
        raise ValueError("enough")
    assert threading.active_count() == before
