"""Doing the work of stages: items of many stages go through one engine together, failures become rows.

Stages of one kind do not build on each other, so that all their items form one wave: workers are started once, load
their models once, and none of them waits for a small stage to end.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from personare.engine import Engine, Result
from personare.pipeline.store import Failures, Stage, Store


class Job(Protocol):
    """How one stage is done: its items, the work on each of them, and what is written at the end."""

    @property
    def stage(self) -> Stage:
        """The stage this does."""
        ...

    def items(self, store: Store, /) -> Sequence[Any]:
        """List what has to be done; called when everything the stage builds on is there."""
        ...

    def work(self, store: Store, /) -> Callable[[Any], Any]:
        """Give the function that an engine calls on each item, here or in another process."""
        ...

    def name(self, item: Any, /) -> str:
        """Name an item in the list of failures."""
        ...

    def finish(self, store: Store, results: Sequence[Result[Any, Any]], /) -> Failures:
        """Write the results, in the order of the items; give further failures found in them."""
        ...


class WholeStage:
    """What jobs of one single item share: the item is the stage itself, and its work writes all results."""

    label: str

    def items(self, _store: Store, /) -> Sequence[str]:
        """One."""
        return [self.label]

    def name(self, item: Any, /) -> str:
        """The whole stage."""
        return str(item)

    def finish(self, _store: Store, _results: Sequence[Result[Any, Any]], /) -> Failures:
        """The work has written everything."""
        return ()


class Watcher(Protocol):
    """Is told what happens, for progress and logs."""

    def began(self, wave: str, jobs: Sequence[Job], items: int) -> None:
        """A wave of so many items begins."""
        ...

    def did(self, job: Job | None, result: Result[Any, Any]) -> None:
        """One item is done, or failed; ``job`` is None for a voice that is invented."""
        ...

    def ended(self, job: Job, failures: Failures, seconds: float) -> None:
        """A stage is complete."""
        ...


@dataclass(frozen=True)
class WaveWork:
    """The work on an item of any stage of a wave: ``(which stage, item)``."""

    works: tuple[Callable[[Any], Any], ...]

    def __call__(self, item: tuple[int, Any]) -> tuple[Any, float]:
        """Do it; gives the value and the seconds it took."""
        began = time.perf_counter()
        return self.works[item[0]](item[1]), time.perf_counter() - began


def run_wave(name: str, jobs: Sequence[Job], store: Store, *, engine: Engine, watch: Watcher) -> int:
    """Do all stages of a wave that are not done yet; give how many were."""
    todo = _once([job for job in jobs if not _complete(store, job.stage)])
    listed = [list(job.items(store)) for job in todo]
    pairs = [(at, item) for at, items in enumerate(listed) for item in items]
    watch.began(name, todo, len(pairs))
    found: dict[int, list[Result[Any, Any]]] = defaultdict(list)
    seconds = [0.0] * len(todo)
    for at, items in enumerate(listed):
        if not items:
            _end(todo[at], [], store, watch, 0.0)
    work = WaveWork(tuple(job.work(store) for job in todo))
    for result in engine.map(work, pairs, ordered=False) if pairs else ():
        at, item = result.item
        value, took = result.value if result.value is not None else (None, 0.0)
        seconds[at] += took
        found[at].append(Result(result.index, item, value, result.error))
        watch.did(todo[at], found[at][-1])
        if len(found[at]) == len(listed[at]):
            _end(todo[at], found.pop(at), store, watch, seconds[at])
    return len(todo)


def _complete(store: Store, stage: Stage) -> bool:
    """A stage in which something failed is tried again: a full disk or a killed worker may have been the reason."""
    done = store.done(stage)
    return done is not None and not done.failures


def _once(jobs: Sequence[Job]) -> list[Job]:
    """Do equal stages once: two attackers with the same embedder need the same vectors."""
    return list({job.stage.key: job for job in jobs}.values())


def _end(job: Job, results: list[Result[Any, Any]], store: Store, watch: Watcher, seconds: float) -> None:
    ordered = sorted(results, key=lambda result: result.index)
    failures = [(job.name(r.item), r.error or "failed") for r in ordered if not r.ok]
    failures += job.finish(store, ordered)
    store.finish(job.stage, failures, seconds=seconds)
    watch.ended(job, tuple(failures), seconds)
