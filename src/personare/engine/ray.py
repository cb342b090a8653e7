"""Work on a Ray cluster: the same promise as the pool, on as many machines as the cluster has (extra ``ray``).

A thin adapter: tasks are small batches of items for one CPU with one thread; a worker process loads a model once and
keeps it for the next batch. A bounded number of batches is in flight, a failure is a Result, and what a lost worker or
machine had in hand is done again elsewhere. Where none is named (``address``, ``RAY_ADDRESS``), a local one is
started with the first work and ends with this process. All machines must see the same files under the same paths.

Ray puts the current directory of the program first on the import path of its workers. Here it is joined from the folder
of Python's own library instead, and workers append the program's import path to theirs: nothing installed is shadowed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from personare.core import telemetry
from personare.core.catalog import register_all, registrations
from personare.core.errors import ConfigError, MissingExtraError
from personare.core.processes import SAFE_PATH, inherited_variables
from personare.engine.local import IN_FLIGHT_PER_WORKER, THREAD_VARIABLES, _attempt
from personare.engine.result import Item, Result, Value, line_of

STARTS = 3
RETRIES = 5  # how often a batch is done again that was lost with its worker or machine
BATCH = 8


@dataclass(frozen=True)
class Ray:
    """``jobs`` batches of ``batch`` items at a time on a Ray cluster."""

    jobs: int
    address: str | None = None
    batch: int = BATCH

    def __post_init__(self) -> None:
        if self.jobs < 1 or self.batch < 1:
            raise ConfigError(f"jobs and batch must be at least 1, not {self.jobs} and {self.batch}")
        _library()

    def map(
        self, work: Callable[[Item], Value], items: Iterable[Item], *, ordered: bool = True
    ) -> Iterator[Result[Item, Value]]:
        """Yield one Result per item; ``work`` and the items must be picklable."""
        ray = _library()
        _join(ray, self.jobs, self.address)
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(_batch)
        sent = ray.put(_Sent(work, registrations()))
        limit = IN_FLIGHT_PER_WORKER * self.jobs
        yield from _stream(ray, task, sent, items, ordered=ordered, limit=limit, batch=self.batch)


@dataclass(frozen=True)
class _Sent:
    """The work, and the methods that the program has registered; where its code lies is known before it is unpacked."""

    work: Callable[[Any], Any]
    known: Mapping[tuple[str, str], type]

    def __call__(self, item: Any) -> Any:
        return self.work(item)

    def __reduce__(self) -> tuple[Callable[..., _Sent], tuple[str, list[str], bytes]]:
        folder = str(Path.cwd())
        searched = [place or folder for place in sys.path]  # '' is the folder of an interactive session
        return _unpacked, (folder, searched, _library().cloudpickle.dumps((self.work, self.known)))


def _unpacked(folder: str, searched: Sequence[str], packed: bytes) -> _Sent:
    """Unpack the work in a worker: the program's folders are searched last, and its relative paths hold there."""
    sys.path.extend(place for place in searched if place not in sys.path)
    with contextlib.suppress(OSError):  # a folder that another machine does not have
        os.chdir(folder)
    return _Sent(*_library().cloudpickle.loads(packed))


def _batch(sent: _Sent, numbered: Sequence[tuple[int, Any]]) -> list[Result[Any, Any]]:
    """Do some items, in a worker."""
    register_all(sent.known)
    return [_attempt(sent, index, item) for index, item in numbered]


def _library() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "the engine 'ray'") from None
    return ray


def _join(ray: Any, jobs: int, address: str | None) -> None:
    """Join the cluster that runs, else start a local one of ``jobs`` workers; a busy machine gets a second chance."""
    there = address or os.environ.get("RAY_ADDRESS")
    variables = {"env_vars": {**SAFE_PATH, **dict.fromkeys(THREAD_VARIABLES, "1"), **telemetry.VARIABLES}}
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "runtime_env": variables}
    reason = ""
    if ray.is_initialized():
        _refuse_another(ray, there)
        return
    for _ in range(STARTS):
        if ray.is_initialized():
            return
        try:
            with inherited_variables(), contextlib.chdir(Path(os.__file__).parent):
                if there:
                    ray.init(address=there, **quiet)
                else:
                    ray.init(address="local", num_cpus=jobs, include_dashboard=False, **quiet)
        except Exception as error:  # Ray raises plain exceptions of many kinds
            reason = line_of(error)[:200]
            ray.shutdown()
    if not ray.is_initialized():
        where = f"the cluster at {there}" if there else "a local Ray cluster"
        raise ConfigError(f"{where} could not be joined ({reason}); try again, or use --engine local")


def _refuse_another(ray: Any, wanted: str | None) -> None:
    """Refuse to work on the cluster that this process has joined where another one is asked for by host and port."""
    joined = ray.get_runtime_context().gcs_address
    if wanted and wanted not in ("auto", "local", joined) and "://" not in wanted:
        raise ConfigError(
            f"this process works on the Ray cluster at {joined} already, and cannot join the one at {wanted} too; "
            "call ray.shutdown() first"
        )


def _stream(
    ray: Any, task: Any, work: Any, items: Iterable[Item], *, ordered: bool, limit: int, batch: int
) -> Iterator[Result[Item, Value]]:
    """Keep at most ``limit`` batches submitted; yield results as asked."""
    running: dict[Any, list[tuple[int, Item]]] = {}
    pending = enumerate(items)
    try:
        while True:
            while len(running) < limit and (numbered := list(itertools.islice(pending, batch))):
                running[task.remote(work, numbered)] = numbered
            if not running:
                return
            done = [next(iter(running))] if ordered else ray.wait(list(running), num_returns=1)[0]
            for reference in done:
                yield from _outcomes(ray, reference, running.pop(reference))
    finally:
        for reference in running:  # whoever stops reading leaves no work behind
            ray.cancel(reference, force=True)


def _outcomes(ray: Any, reference: Any, numbered: Sequence[tuple[int, Item]]) -> list[Result[Item, Value]]:
    try:
        found: list[Result[Item, Value]] = ray.get(reference)
    except Exception as error:  # lost more often than it is tried again, or a result that cannot be pickled
        return [Result(index, item, None, line_of(error)[:500]) for index, item in numbered]
    return found
