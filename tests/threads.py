"""Threads that begin at the same moment."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier
from time import monotonic
from typing import TypeVar

T = TypeVar("T")


def at_once(*work: Callable[[], T]) -> list[T]:
    """Do all of it at once, each in a thread of its own.

    Returns: what each returned, in order. Raises: what one of them raised, after all have ended.
    """
    start = Barrier(len(work))

    def begin(each: Callable[[], T]) -> T:
        start.wait()
        return each()

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(begin, work))


def rounds(seconds: float) -> Iterator[int]:
    """The numbers from 1 up, one at the least, until the time is over."""
    end = monotonic() + seconds
    for number in count(1):
        yield number
        if monotonic() > end:
            return
