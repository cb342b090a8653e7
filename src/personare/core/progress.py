"""How far work on sounds is: whoever does it says so, whoever wants to know is told; nobody has to.

Methods are called with a sound and give one back; what they say on the way goes to whoever watches this call, without
being part of the call: nothing that is computed can depend on it. Of many recordings, short and long, ``WorkProgress``
tells how much is done and how long the rest takes.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar

LEAST_S = 2.0  # no estimate from less than this
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
    with passed_to(None if outer is None else lambda seconds: outer(share * seconds)):
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

    with passed_to(tell):
        yield
    tell(total_s - done_s)


@contextlib.contextmanager
def passed_to(watch: Watch | None) -> Iterator[None]:
    """Pass what is said inside on to ``watch`` as it is; None: to nobody."""
    before = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(before)


class WorkProgress:
    """How far work on recordings of different lengths is; by their lengths, so that one long one does not surprise.

    Parameters
    ----------
    lengths : how much work each recording is, by its name, in any unit; only shares of the whole matter.
    total : how many recordings there are, where not all of their lengths are known: the others are of mean length.
    workers : how many recordings are worked on at once.
    """

    def __init__(
        self,
        lengths: Mapping[str, float],
        *,
        total: int | None = None,
        workers: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total, self.done = len(lengths) if total is None else total, 0
        known = sum(lengths.values())
        self._usual = known / len(lengths) if known > 0 else 1.0
        self._whole = known + self._usual * (self.total - len(lengths))
        self._lengths = dict(lengths)  # of those that are not done
        self._longest = sorted(lengths, key=lambda name: lengths[name])  # the last one is the longest
        self._at_hand: dict[str, float] = {}
        self._worked = self._kept = 0.0
        self._workers, self._clock = max(1, min(workers, self.total)), clock
        self._first: tuple[float, float] | None = None  # when the first work was heard of, and how much that was

    def step(self, name: str, share: float) -> None:
        """So much more of one recording (1: all of it) is done."""
        self._at_hand[name] = min(1.0, self._at_hand.get(name, 0.0) + max(0.0, share))
        self._heard()

    def end(self, name: str, *, kept: bool = False) -> None:
        """One recording is done; ``kept``: nothing had to be done, which says nothing of how long others take."""
        self.done += 1
        self._at_hand.pop(name, None)
        length = self._lengths.pop(name, self._usual)
        if kept:
            self._kept += length
        else:
            self._worked += length
            self._heard()

    def _heard(self) -> None:
        if self._first is None and self._now_worked() > 0:
            self._first = (self._clock(), self._now_worked())

    @property
    def share(self) -> float:
        """How much of all the work is done, from 0 to 1; what an earlier run had done included."""
        if self.done >= self.total:
            return 1.0
        if self._whole <= 0:
            return 0.0
        done = (self._now_worked() + self._kept) / self._whole
        return min(1.0, round(done, 9))  # sums in another order differ in the last digit: a bar must not go back by it

    @property
    def left_s(self) -> float | None:
        """How many seconds the rest takes at the speed so far; None while nobody can know.

        The speed is measured from the first word of work on. The time before it is mostly start-up: processes begin
        and models are loaded, which takes as long for a minute of speech as for a day of it.

        >>> times = iter([25.0, 35.0])
        >>> progress = WorkProgress({"a": 1.0, "b": 2.0, "c": 7.0}, clock=lambda: next(times))
        >>> progress.end("a")  # after 25 s
        >>> progress.end("b")  # after 35 s
        >>> progress.left_s
        35.0
        """
        if self.done >= self.total:
            return 0.0
        if self._first is None:
            return None
        worked, spent_s = self._now_worked(), self._clock() - self._first[0]
        if spent_s < LEAST_S or worked <= self._first[1]:
            return None
        speed = (worked - self._first[1]) / spent_s
        shared = max(0.0, self._whole - self._kept - worked) / speed
        return max(shared, self._longest_rest() * self._workers / speed)  # only one worker can do one recording

    def _now_worked(self) -> float:
        return self._worked + sum(share * self._lengths.get(n, self._usual) for n, share in self._at_hand.items())

    def _longest_rest(self) -> float:
        while self._longest and self._longest[-1] not in self._lengths:
            self._longest.pop()
        if not self._longest:
            return 0.0
        name = self._longest[-1]
        return self._lengths[name] * (1.0 - self._at_hand.get(name, 0.0))
