"""A node of a Ray cluster that is lost with work in hand, in every run, whatever the speed of the machine.

The node that is to be lost stops at the first item it is given and tells so; then it is killed. The other node waits
with its own first item until that one has begun. Workers import this file: the cluster is started with tests/ in its
PYTHONPATH.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from personare.engine import Result, engine_named
from personare.engine.ray import BATCH

PATIENCE_S = 600.0  # a busy machine is no wrong answer


@dataclass(frozen=True)
class Held:
    """Work that does not end on the node ``lost``, and does not begin elsewhere before it has begun there."""

    work: Callable[[Any], Any]
    lost: str
    begun: Path

    def __call__(self, item: Any) -> Any:
        import ray

        if ray.get_runtime_context().get_node_id() == self.lost:
            self.begun.touch()
            time.sleep(PATIENCE_S)  # until it is killed
        end = time.monotonic() + PATIENCE_S
        while not self.begun.exists() and time.monotonic() < end:
            time.sleep(0.01)
        return self.work(item)


@dataclass
class LosesANode:
    """An engine on a cluster whose ``second`` node is killed with a batch in hand, in the first work of several.

    ``alive`` counts the nodes before and after.
    """

    cluster: Any
    second: Any
    begun: Path
    alive: list[int] = field(default_factory=list)

    def map(
        self, work: Callable[[Any], Any], items: Iterable[Any], *, ordered: bool = True
    ) -> Iterator[Result[Any, Any]]:
        """Yield one Result per item."""
        listed, engine = list(items), engine_named("ray", 2, self.cluster.address)
        if len(listed) <= BATCH or self.begun.exists():
            yield from engine.map(work, listed, ordered=ordered)
            return
        ended = threading.Event()
        killer = threading.Thread(target=self._kill, args=[ended], daemon=True)
        killer.start()
        try:
            yield from engine.map(Held(work, self.second.node_id, self.begun), listed, ordered=ordered)
        finally:
            ended.set()
            killer.join()

    def _kill(self, ended: threading.Event) -> None:
        import ray

        while not self.begun.exists():
            if ended.wait(0.01):
                return
        self.alive.append(sum(node["Alive"] for node in ray.nodes()))
        self.cluster.remove_node(self.second, allow_graceful=False)
        end = time.monotonic() + PATIENCE_S
        while (alive := sum(node["Alive"] for node in ray.nodes())) == self.alive[0] and time.monotonic() < end:
            time.sleep(0.01)  # until the cluster knows
        self.alive.append(alive)
