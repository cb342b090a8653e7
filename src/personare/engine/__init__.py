"""One function over many items: in this process or in a pool; knows nothing of speech."""

from __future__ import annotations

from personare.engine.local import Here, Pool
from personare.engine.result import Engine, Result, shard_of

__all__ = ["Engine", "Here", "Pool", "Result", "engine_for", "shard_of"]


def engine_for(jobs: int) -> Engine:
    """Choose where work runs: this process for one job, a pool of processes for more."""
    return Here() if jobs == 1 else Pool(jobs)
