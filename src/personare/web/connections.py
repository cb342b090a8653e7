"""Connections of a server of pages: so many at most, and none that is kept open without asking for anything.

uvicorn ends a connection that stays idle after an answer, but waits for ever for the first request, or for the rest of
one that was begun. Here every connection must bring a whole request head within ``REQUEST_S``. If there are more than
``MOST`` connections, the one that has been idle longest makes room for a new one; if all are busy, the new one is
answered with 503.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 200
REQUEST_S = 10.0


def most_connections() -> int:
    """Half of the files this process may open, where that is less."""
    try:
        import resource
    except ImportError:  # not on Windows
        return MOST
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else max(8, min(MOST, files // 2))


class LimitedConnection(H11Protocol):
    """One connection of a browser, in the number and time that are allowed."""

    idle_since: float = 0.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Accept a connection, if need be in place of the one that has been idle longest."""
        super().connection_made(transport)
        self.idle_since = self.loop.time()
        self._timer = self.loop.call_later(REQUEST_S, self._check)
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            others = [one for one in self.connections if isinstance(one, LimitedConnection) and one is not self]
            idle = [one for one in others if one.is_idle]
            if idle:
                min(idle, key=lambda one: one.idle_since).end()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def end(self) -> None:
        """Close it now; it counts no longer."""
        self.connections.discard(self)
        self.transport.abort()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _check(self) -> None:
        left_s = self.idle_since + REQUEST_S - self.loop.time() if self.is_idle else REQUEST_S
        if left_s <= 0:
            self.end()
        else:
            self._timer = self.loop.call_later(left_s, self._check)
