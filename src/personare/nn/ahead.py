"""Preparing the next batches while the network still learns from this one; in order, and few at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Batch = TypeVar("Batch")


def ahead(make: Callable[[int], Batch], steps: range, *, workers: int) -> Iterator[Batch]:
    """Yield ``make(step)`` for every step, in order; ``workers`` threads make up to twice their number in advance.

    >>> list(ahead(lambda step: step * step, range(2, 5), workers=2))
    [4, 9, 16]
    """
    if workers < 1:
        yield from map(make, steps)
        return
    waiting: deque[Future[Batch]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for step in steps:
                waiting.append(pool.submit(make, step))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
