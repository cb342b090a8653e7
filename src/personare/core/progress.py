"""How far the work on one long sound is: whoever does it says so, whoever wants to know is told; nobody has to.

Methods are called with a sound and give one back; what they say on the way goes to whoever watches this call, without
being part of the call: nothing that is computed can depend on it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

Watch = Callable[[float], None]
_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


def advance(seconds: float) -> None:
    """Say that so many more seconds of the sound at hand are done."""
    watch = _WATCH.get()
    if watch is not None:
        watch(seconds)


@contextlib.contextmanager
def part(share: float) -> Iterator[None]:
    """What is done inside is one of several passes over the sound, and so much of all the work.

    >>> told = []
    >>> with watched(told.append, total_s=8.0):
    ...     with part(0.25):
    ...         advance(8.0)
    ...     with part(0.75):
    ...         advance(4.0)
    >>> told
    [2.0, 3.0, 3.0]
    """
    outer = _WATCH.get()
    with _told(None if outer is None else lambda seconds: outer(share * seconds)):
        yield


@contextlib.contextmanager
def watched(watch: Watch, *, total_s: float) -> Iterator[None]:
    """Tell ``watch`` of every step inside: of ``total_s`` in all when the block ends, and never of more."""
    done_s = 0.0

    def tell(seconds: float) -> None:
        nonlocal done_s
        step = min(seconds, total_s - done_s)
        if step > 0:
            done_s += step
            watch(step)

    with _told(tell):
        yield
    tell(total_s - done_s)


@contextlib.contextmanager
def _told(watch: Watch | None) -> Iterator[None]:
    before = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(before)
