"""A folder of recordings may hold files named like modules: no process of ours imports them, unless one is named."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crash.commands import count, write_hums
from personare.web.app import AppServer
from personare.web.job_folders import new_job
from promise_counts import counted

TRAPS = ("polars", "numpy", "multiprocessing", "scipy", "soundfile", "typer", "json", "pickle", "pip", "ray", "torch")
TRAP = "open('ran-{name}', 'w').close()\n"
METHOD = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Quiet:
    '''Half as loud.'''

    def __call__(self, audio, *, rng):
        return type(audio)(audio.samples / 2, audio.rate_hz)
"""
TESTS = Path(__file__).resolve().parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus, and beside it a file for each trap."""
    write_hums(tmp_path / "corpus", speakers=2, utterances=2)
    for name in TRAPS:
        (tmp_path / f"{name}.py").write_text(TRAP.format(name=name))
    return tmp_path


def sprung(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("ran-*"))


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "personare", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


def test_the_traps_would_run(folder: Path) -> None:
    """Python itself falls into them: without this, the other tests could not fail."""
    subprocess.run([sys.executable, "-c", "import polars, multiprocessing"], check=True, cwd=folder)
    assert sprung(folder) == ["ran-multiprocessing", "ran-polars"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_and_its_workers_import_nothing_from_there(folder: Path, jobs: str) -> None:
    done = run(folder, "anonymize", "corpus", "out", "--method", "mcadams", "--jobs", jobs)
    assert done.returncode == 0, done.stderr
    assert count(folder / "out") == 4 and sprung(folder) == []


def test_a_method_that_is_named_is_found_there_and_nothing_else_is(folder: Path) -> None:
    (folder / "mine.py").write_text(METHOD)
    done = run(folder, "anonymize", "corpus", "out", "--method", "mine:Quiet", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert count(folder / "out") == 4 and sprung(folder) == []


def test_the_process_of_the_app_imports_nothing_from_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.chdir(folder)
    server = AppServer(folder / "jobs")
    job = new_job(folder / "jobs", source=str(folder / "corpus"), title="a job", rule="")
    server.start(job, "read")
    try:
        server._work[job.id].wait(timeout=300)
        assert sprung(folder) == []
        assert job.ended("read") is not None, (job.path / "log.txt").read_text()
    finally:
        server.stop(job)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs the extra 'neural'")
def test_processes_that_train_together_import_nothing_from_there(folder: Path) -> None:
    program = (
        "import sys; sys.path.remove('')\n"  # of -c; what is started by it must not have it either
        "from personare.training.parallel import worker_processes\n"
        "from test_foreign_folder import idle\n"
        "if __name__ == '__main__':\n"
        "    with worker_processes(2, idle):\n"
        "        pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
    command = [sys.executable, "-c", program]  # a worker that fell into a trap is waited for
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert sprung(folder) == []


def idle(rank: int) -> None:
    assert rank == 1


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra 'ray'")
@pytest.mark.parametrize("method", ["mcadams", "mine:Quiet"])
def test_workers_of_ray_import_nothing_from_there(folder: Path, method: str) -> None:
    (folder / "mine.py").write_text(METHOD)
    done = run(folder, "anonymize", "corpus", "out", "--method", method, "--engine", "ray", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert count(folder / "out") == 4 and sprung(folder) == []
    counted(f"ray: {len(TRAPS)} files named like modules in the working folder, {method}; none was imported")
