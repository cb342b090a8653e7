"""Work in this process or in a pool of processes, with one thread each: the same digits, however many there are.

The pool is spawned, not forked (safe with threads and on every platform), holds a bounded number of items in flight
(memory does not grow with the list), turns a failure into a Result, and ends its workers when the caller stops
reading or presses Ctrl-C.
"""

from __future__ import annotations

import contextlib
import functools
import io
import multiprocessing
import multiprocessing.connection
import os
import pickle
import queue as queues
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.queues import Queue
from types import FunctionType
from typing import Any

from personare.core.catalog import register_all, registrations
from personare.core.errors import ConfigError
from personare.core.processes import inherited_variables
from personare.core.progress import passed_to
from personare.engine.result import Item, Result, Told, Value, failure

# every library that starts threads of its own reads one of these at import
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
)
IN_FLIGHT_PER_WORKER = 4
LISTEN_EVERY_S = 0.2


@dataclass(frozen=True)
class Serial:
    """This process, one item after the other."""

    def map(
        self,
        work: Callable[[Item], Value],
        items: Iterable[Item],
        *,
        ordered: bool = True,
        told: Told | None = None,
    ) -> Iterator[Result[Item, Value]]:
        """Yield one Result per item, in order; ``told`` hears how far items are, where the work says so."""
        del ordered  # one after the other is both
        for index, item in enumerate(items):
            with _one_thread():
                result = _attempt(work, index, item, told)
            yield result


@dataclass(frozen=True)
class ProcessPool:
    """``jobs`` processes on this machine, one thread each."""

    jobs: int

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ConfigError(f"jobs must be at least 1, not {self.jobs}")

    def map(
        self,
        work: Callable[[Item], Value],
        items: Iterable[Item],
        *,
        ordered: bool = True,
        told: Told | None = None,
    ) -> Iterator[Result[Item, Value]]:
        """Yield one Result per item; ``work`` and the items must be picklable.

        ``told`` hears, while results are waited for, how far items are, where the work says so
        (``core.progress.advance``, with the whole item as 1).
        """
        known = registrations()
        _check_importable((work, known))
        with inherited_variables(**dict.fromkeys(THREAD_VARIABLES, "1")):
            context = multiprocessing.get_context("spawn")
            steps = Steps(context.Queue(), told) if told else None
            given = (known, steps.queue if steps else None)
            pool = ProcessPoolExecutor(self.jobs, context, initializer=_in_worker, initargs=given)
            try:
                in_flight = IN_FLIGHT_PER_WORKER * self.jobs
                yield from _stream(pool, work, items, ordered=ordered, in_flight=in_flight, steps=steps)
            except BaseException:
                _end_now(pool)
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def _one_thread() -> contextlib.AbstractContextManager[Any]:
    """Let products of matrices have one thread, as in a pool: several add up in another order, to other last digits."""
    limited: contextlib.AbstractContextManager[Any] = _matrix_libraries().limit(limits=1, user_api="blas")
    return limited


@functools.cache
def _matrix_libraries() -> Any:
    import scipy.linalg  # noqa: F401 - brings one of its own: it must be there to be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _MainPickler(pickle.Pickler):
    """Refuses functions and classes of ``__main__``."""

    def reducer_override(self, value: Any) -> Any:
        """Look at every function and class on the way."""
        if getattr(value, "__module__", "") == "__main__" and isinstance(value, type | FunctionType):
            raise ConfigError(
                f"'{value.__qualname__}' was typed at a prompt or in a notebook, where worker processes cannot find it;"
                " put it into a file and import it from there, or work in one process (jobs 1)"
            )
        return NotImplemented


def _check_importable(work: object) -> None:
    """Refuse work whose code only this process knows; a script's own classes are found by importing it again."""
    main = sys.modules["__main__"]
    if getattr(main, "__file__", None) is None and getattr(main, "__spec__", None) is None:
        with contextlib.suppress(pickle.PicklingError, TypeError, AttributeError):  # told with the item, as ever
            _MainPickler(io.BytesIO()).dump(work)


def _attempt(work: Callable[[Item], Value], index: int, item: Item, told: Told | None = None) -> Result[Item, Value]:
    try:
        if told is None:
            return Result(index, item, work(item))
        with passed_to(lambda share: told(index, share)):
            return Result(index, item, work(item))
    except Exception as error:
        return failure(index, item, error)


@dataclass(frozen=True)
class Steps:
    """What workers say of the items at hand, and who is told; read by the one process that waits for results."""

    queue: Queue[tuple[int, float]]
    told: Told

    def pass_on(self) -> None:
        """Tell of everything that has come."""
        with contextlib.suppress(queues.Empty):
            while True:
                self.told(*self.queue.get_nowait())


_STEPS: Queue[tuple[int, float]] | None = None  # of a worker


def _say(index: int, share: float) -> None:
    """Say in a worker how much more of an item is done."""
    if _STEPS is not None:
        _STEPS.put((index, share))


def _attempt_in_worker(work: Callable[[Item], Value], index: int, item: Item) -> Result[Item, Value]:
    return _attempt(work, index, item, _say if _STEPS is not None else None)


def _stream(
    pool: ProcessPoolExecutor,
    work: Callable[[Item], Value],
    items: Iterable[Item],
    *,
    ordered: bool,
    in_flight: int,
    steps: Steps | None,
) -> Iterator[Result[Item, Value]]:
    """Keep at most ``in_flight`` items submitted; yield results as asked."""
    running: deque[tuple[Future[Result[Item, Value]], int, Item]] = deque()
    pending = enumerate(items)
    exhausted = False
    while True:
        while not exhausted and len(running) < in_flight:
            try:
                index, item = next(pending)
            except StopIteration:
                exhausted = True
                break
            running.append((_submit(pool, work, index, item), index, item))
        if not running:
            return
        if ordered:
            future, index, item = running.popleft()
            _wait([future], steps)
            yield _outcome(future, index, item)
        else:
            done = _wait([entry[0] for entry in running], steps)
            finished = [entry for entry in running if entry[0] in done]
            running = deque(entry for entry in running if entry[0] not in done)
            for future, index, item in finished:
                yield _outcome(future, index, item)


def _wait(futures: list[Future[Result[Item, Value]]], steps: Steps | None) -> set[Future[Result[Item, Value]]]:
    """Wait for one of them; meanwhile pass on what workers say."""
    if steps is None:
        return wait(futures, return_when=FIRST_COMPLETED).done
    while True:
        done = wait(futures, timeout=LISTEN_EVERY_S, return_when=FIRST_COMPLETED).done
        steps.pass_on()
        if done:
            return done


def _submit(
    pool: ProcessPoolExecutor, work: Callable[[Item], Value], index: int, item: Item
) -> Future[Result[Item, Value]]:
    try:
        return pool.submit(_attempt_in_worker, work, index, item)
    except BrokenProcessPool as error:
        broken: Future[Result[Item, Value]] = Future()
        broken.set_exception(error)
        return broken


def _outcome(future: Future[Result[Item, Value]], index: int, item: Item) -> Result[Item, Value]:
    try:
        return future.result()
    except BrokenProcessPool:
        return Result(index, item, None, "a worker process died (out of memory?); run again with fewer jobs")
    except Exception as error:  # e.g. a result that cannot be pickled
        return failure(index, item, error)


def _in_worker(known: Mapping[tuple[str, str], type], steps: Queue[tuple[int, float]] | None) -> None:
    """Leave Ctrl-C to the parent, which ends its workers itself; and end when it is killed and cannot.

    ``known`` are the methods that the parent has registered; ``steps`` is where it hears how far items are.
    """
    global _STEPS
    _STEPS = steps
    if steps is not None:
        steps.cancel_join_thread()  # nobody waits for words that nobody reads any more
    register_all(known)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):  # a terminal that is closed tells every process
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _end_now(pool: ProcessPoolExecutor) -> None:
    """End the workers without waiting for the items they hold."""
    for process in list((pool._processes or {}).values()):
        with contextlib.suppress(OSError, ValueError):
            process.terminate()
