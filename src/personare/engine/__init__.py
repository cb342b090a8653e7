"""One function over many items: in this process or in a pool; knows nothing of speech."""

from __future__ import annotations

from personare.engine.local import ProcessPool, Serial
from personare.engine.result import Engine, Result, shard_of

__all__ = [
    "ENGINES",
    "Engine",
    "ProcessPool",
    "Result",
    "Serial",
    "check_engine",
    "engine_for",
    "engine_named",
    "shard_of",
]

ENGINES = ("local", "ray")


def engine_for(jobs: int) -> Engine:
    """Choose where work runs: this process for one job, a pool of processes for more."""
    return Serial() if jobs == 1 else ProcessPool(jobs)


def engine_named(name: str, jobs: int, address: str | None = None) -> Engine:
    """Choose an engine by name: ``local``, or ``ray`` (the extra of that name) with as many workers as ``jobs``.

    ``address`` is that of a running Ray cluster; without it, and without RAY_ADDRESS, a local one is started.
    """
    check_engine(name, address)
    if name == "local":
        return engine_for(jobs)
    from personare.engine.ray import Ray

    return Ray(jobs, address)


def check_engine(name: str, address: str | None = None) -> None:
    """Refuse an engine that does not exist, and an address that nobody would join."""
    from personare.core.errors import ConfigError, UnknownNameError, did_you_mean

    if name not in ENGINES:
        raise UnknownNameError(f"no engine '{name}'; {did_you_mean(name, ENGINES)}")
    if address is not None and name != "ray":
        raise ConfigError(f"--address {address} is that of a Ray cluster; add --engine ray")
