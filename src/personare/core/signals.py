"""Signals that ask a program to end (SIGTERM, SIGHUP) end it like Ctrl-C: workers stopped, one line, an exit code.

A service that is stopped, a machine that shuts down and a terminal that is closed send them; without this, Python ends
at once and leaves its workers and its half-written files behind.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def ended_by_signals() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt on a signal that asks to end; gives a list in which its number appears.

    A signal that is ignored (``nohup``) stays ignored; handlers are put back at the end.
    """
    received: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        for one in ENDING:
            if signal.getsignal(one) is signal.SIG_DFL:
                before[one] = signal.signal(one, interrupt)
    try:
        yield received
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
