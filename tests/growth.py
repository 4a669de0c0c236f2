"""Growth: what takes twice the input takes hardly more than twice the time."""

from collections.abc import Callable
from functools import partial
from time import process_time
from timeit import repeat
from typing import TypeVar

T = TypeVar("T")


def seconds(run: Callable[[], object], times: int = 5) -> float:
    """Processor time of a run, the least of several: what else the machine does only adds."""
    return min(repeat(run, number=1, repeat=times, timer=process_time))


def check_growth(run: Callable[[T], object], make: Callable[[int], T], size: int) -> None:
    """Eight times as much takes less than 24 times as long.

    run: what is timed. make: (size) -> what it is given, which is made beforehand.
    """
    once, eightfold = (seconds(partial(run, make(n))) for n in (size, 8 * size))
    assert eightfold < 24 * once
