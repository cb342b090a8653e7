"""Work on a Ray cluster: the same promise as the pool, on as many machines as the cluster has (extra ``ray``).

A thin adapter: every item is one task of one CPU with one thread, a bounded number of them is in flight, a failure is a
Result. Where no cluster is running (``RAY_ADDRESS``), a local one is started with the first work and ends with this
process. All machines must see the same files under the same paths.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from personare.core.catalog import register_all, registrations
from personare.core.errors import ConfigError, MissingExtraError
from personare.engine.local import IN_FLIGHT_PER_WORKER, THREAD_VARIABLES, _attempt
from personare.engine.result import Item, Result, Value, line_of

STARTS = 3


@dataclass(frozen=True)
class Ray:
    """``jobs`` items at a time on a Ray cluster."""

    jobs: int

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ConfigError(f"jobs must be at least 1, not {self.jobs}")
        _library()

    def map(
        self, work: Callable[[Item], Value], items: Iterable[Item], *, ordered: bool = True
    ) -> Iterator[Result[Item, Value]]:
        """Yield one Result per item; ``work`` and the items must be picklable."""
        ray = _library()
        _join(ray, self.jobs)
        task = ray.remote(num_cpus=1, max_retries=1)(_attempt)
        sent = ray.put(_Sent(work, registrations()))
        yield from _stream(ray, task, sent, items, ordered=ordered, limit=IN_FLIGHT_PER_WORKER * self.jobs)


@dataclass(frozen=True)
class _Sent:
    """The work, and the methods that the program has registered."""

    work: Callable[[Any], Any]
    known: Mapping[tuple[str, str], type]

    def __call__(self, item: Any) -> Any:
        register_all(self.known)
        return self.work(item)


def _library() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "the engine 'ray'") from None
    return ray


def _join(ray: Any, jobs: int) -> None:
    """Join the cluster that runs, else start a local one of ``jobs`` workers; a busy machine gets a second chance."""
    there = bool(os.environ.get("RAY_ADDRESS"))
    variables = {"env_vars": dict.fromkeys(THREAD_VARIABLES, "1")}
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "runtime_env": variables}
    reason = ""
    for _ in range(STARTS):
        if ray.is_initialized():
            return
        try:
            ray.init(**quiet) if there else ray.init(num_cpus=jobs, include_dashboard=False, **quiet)
        except Exception as error:  # Ray raises plain exceptions of many kinds
            reason = line_of(error)[:200]
            ray.shutdown()
    if not ray.is_initialized():
        where = "the cluster at RAY_ADDRESS" if there else "a local Ray cluster"
        raise ConfigError(f"{where} could not be joined ({reason}); try again, or use --engine local")


def _stream(
    ray: Any, task: Any, work: Any, items: Iterable[Item], *, ordered: bool, limit: int
) -> Iterator[Result[Item, Value]]:
    """Keep at most ``limit`` tasks submitted; yield results as asked."""
    running: dict[Any, tuple[int, Item]] = {}
    pending = enumerate(items)
    while True:
        for index, item in pending:
            running[task.remote(work, index, item)] = (index, item)
            if len(running) >= limit:
                break
        if not running:
            return
        done = [next(iter(running))] if ordered else ray.wait(list(running), num_returns=1)[0]
        for reference in done:
            index, item = running.pop(reference)
            yield _outcome(ray, reference, index, item)


def _outcome(ray: Any, reference: Any, index: int, item: Item) -> Result[Item, Value]:
    try:
        found: Result[Item, Value] = ray.get(reference)
    except Exception as error:  # a worker that died, or a result that cannot be pickled
        return Result(index, item, None, line_of(error)[:500])
    return found
