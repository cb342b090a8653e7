"""One function over many items: in this process or in a pool; knows nothing of speech."""

from __future__ import annotations

from personare.engine.local import ProcessPool, Serial
from personare.engine.result import Engine, Result, shard_of

__all__ = ["ENGINES", "Engine", "ProcessPool", "Result", "Serial", "engine_for", "engine_named", "shard_of"]

ENGINES = ("local", "ray")


def engine_for(jobs: int) -> Engine:
    """Choose where work runs: this process for one job, a pool of processes for more."""
    return Serial() if jobs == 1 else ProcessPool(jobs)


def engine_named(name: str, jobs: int) -> Engine:
    """Choose an engine by name: ``local``, or ``ray`` (the extra of that name) with as many workers as ``jobs``."""
    from personare.core.errors import UnknownNameError, did_you_mean

    if name not in ENGINES:
        raise UnknownNameError(f"no engine '{name}'; {did_you_mean(name, ENGINES)}")
    if name == "local":
        return engine_for(jobs)
    from personare.engine.ray import Ray

    return Ray(jobs)
