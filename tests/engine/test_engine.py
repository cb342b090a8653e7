"""Engines: one result per item, errors as rows, bounded in flight, one thread per worker, a clean end on Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from personare.core.errors import AudioError, ConfigError
from personare.core.progress import advance
from personare.engine import Engine, ProcessPool, Serial, engine_for, shard_of
from personare.engine.local import THREAD_VARIABLES

ENGINES = [Serial(), ProcessPool(2)]
LONG_S = 300.0  # what an item that is not stopped would take: far longer than any machine needs to stop it


def work(number: int) -> int:
    if number == 3:
        raise AudioError("three.wav: holds no samples")
    if number == 5:
        raise ValueError("five\nis odd")
    return number * number


def waits_for_the_others(item: tuple[int, str]) -> int:
    """Number 0 ends when the others have been received, or far too late where it blocks them."""
    number, others_received = item
    end = time.monotonic() + 60
    while number == 0 and not Path(others_received).exists() and time.monotonic() < end:
        time.sleep(0.02)
    return number


def die(number: int) -> int:
    if number == 1:
        os._exit(9)
    return number


def threads(_: int) -> dict[str, str]:
    return {name: os.environ.get(name, "") for name in THREAD_VARIABLES}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("ordered", [True, False])
def test_one_result_per_item_and_failures_are_rows(engine: Engine, ordered: bool) -> None:
    results = list(engine.map(work, range(12), ordered=ordered))
    if ordered:
        assert [r.index for r in results] == list(range(12))
    by_item = {r.item: r for r in results}
    assert len(by_item) == 12 and all(by_item[n].value == n * n for n in range(12) if n not in (3, 5))
    assert by_item[3].error == "three.wav: holds no samples" and not by_item[3].ok
    assert by_item[5].error == "ValueError: five is odd"


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: type(e).__name__)
def test_no_items_no_results(engine: Engine) -> None:
    assert list(engine.map(work, [])) == []


def test_as_completed_does_not_wait_for_the_slow_one(tmp_path: Path) -> None:
    signal_file = tmp_path / "received"
    received = []
    for result in ProcessPool(2).map(waits_for_the_others, [(n, str(signal_file)) for n in range(4)], ordered=False):
        received.append(result.value)
        if len(received) == 3:
            signal_file.touch()
    assert {*received[:3]} == {1, 2, 3} and received[3:] == [0]


def test_items_in_flight_are_bounded() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield number

    stream = ProcessPool(2).map(work, items())
    next(stream)
    assert taken <= 2 * 4 + 1
    stream.close()  # type: ignore[attr-defined]


def test_workers_have_one_thread_and_the_parent_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in THREAD_VARIABLES[1:]:
        monkeypatch.setenv(name, "7")  # what the machine says must not reach a worker
    monkeypatch.delenv(THREAD_VARIABLES[0], raising=False)
    assert {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"} <= {*THREAD_VARIABLES}
    for result in ProcessPool(2).map(threads, range(4)):
        assert result.value == dict.fromkeys(THREAD_VARIABLES, "1")
    assert THREAD_VARIABLES[0] not in os.environ
    assert {os.environ[name] for name in THREAD_VARIABLES[1:]} == {"7"}


def matrix_threads(_: int) -> set[int]:
    import scipy.linalg  # noqa: F401 - brings one of its own

    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_this_process_multiplies_matrices_as_a_worker_does() -> None:
    """Several threads add up in another order: scores of one process differed from those of two by 3e-6."""
    with threadpool_limits(2, user_api="blas"):
        here = [result.value for result in Serial().map(matrix_threads, range(2))]
        assert here == [{1}, {1}] and matrix_threads(0) == {2}, "and whoever asked keeps their threads"
    assert [result.value for result in ProcessPool(1).map(matrix_threads, range(1))] == [{1}]


def test_a_dead_worker_is_a_row_for_each_item_it_held() -> None:
    results = list(ProcessPool(1).map(die, range(6)))
    assert len(results) == 6 and "worker process died" in (results[1].error or "")


def test_what_cannot_be_pickled_is_a_row() -> None:
    results = list(ProcessPool(1).map(lambda n: n, range(2)))
    assert len(results) == 2 and all(r.error for r in results)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_or_a_kill_ends_at_once_and_leaves_no_worker(how: signal.Signals) -> None:
    program = (
        "import sys, time\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_engine import sleepy\n"
        "from personare.engine import ProcessPool\n"
        "if __name__ == '__main__':\n"
        "    for r in ProcessPool(2).map(sleepy, range(50)): print(r.value, flush=True)\n"
    )
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    workers = [int(process.stdout.readline()) for _ in range(2)]
    process.send_signal(how)
    process.wait(timeout=LONG_S / 2)
    end = time.monotonic() + LONG_S / 2
    while any(_lives(pid) for pid in workers) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(_lives(pid) for pid in workers) and process.returncode != 0


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def sleepy(number: int) -> int:
    time.sleep(0.2 if number < 2 else LONG_S)
    return os.getpid()


def test_jobs_choose_the_engine() -> None:
    assert engine_for(1) == Serial() and engine_for(3) == ProcessPool(3)
    with pytest.raises(ConfigError):
        engine_for(0)


@given(st.integers(1, 7), st.sets(st.text(max_size=5), max_size=40))
def test_shards_are_a_partition(count: int, names: set[str]) -> None:
    everyone = sorted(names)
    shards = [shard_of(f"{i}/{count}", everyone, name=str) for i in range(1, count + 1)]
    assert sorted(name for shard in shards for name in shard) == everyone


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3"])
def test_bad_shards(text: str) -> None:
    with pytest.raises(ConfigError, match="must be i/n"):
        shard_of(text, ["a"], name=str)


@dataclass(frozen=True)
class Patient:
    """Says that a quarter of an item is done, and goes on when whoever hears that has written it down."""

    folder: Path

    def __call__(self, item: int) -> int:
        """Wait as long as it takes."""
        advance(0.25)
        for _ in range(6_000):
            if (self.folder / str(item)).exists():
                return item
            time.sleep(0.01)
        raise TimeoutError("nobody has heard it")


@pytest.mark.parametrize("engine", [Serial(), ProcessPool(2)], ids=["serial", "pool"])
@pytest.mark.parametrize("ordered", [True, False])
def test_how_far_an_item_is_is_heard_while_it_is_worked_on(
    engine: Serial | ProcessPool, ordered: bool, tmp_path: Path
) -> None:
    heard: list[tuple[int, float]] = []

    def told(index: int, share: float) -> None:
        heard.append((index, share))
        (tmp_path / str(index)).touch()

    results = list(engine.map(Patient(tmp_path), range(3), ordered=ordered, told=told))
    assert sorted(heard) == [(0, 0.25), (1, 0.25), (2, 0.25)]
    assert all(result.ok for result in results), [result.error for result in results]
