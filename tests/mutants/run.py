"""How much the tests notice: small faults are put into the code one by one, and the tests that run it must fail.

``make mutants``, or ``PYTHONPATH=tests python -m mutants.run metrics --sample 250``. The project is copied, never
changed in place. A trace finds which tests call which function; a mutant is met only by those, in the order of their
speed, for a bounded processor time. The sample is drawn from a seed and is the same on every machine. Mutants that
change nothing a test could see are listed in equivalent.tsv with the reason, and do not count. ``--again LOG`` tries
only those that an earlier run, printed into LOG, let live.
"""

from __future__ import annotations

import argparse
import csv
import math
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mutants.faults import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "pyproject.toml")
# package -> mutated files below src/personare, and the tests that may notice
PACKAGES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "metrics": (
        ("metrics/**/*.py", "core/vectors.py"),
        ("tests/metrics", "tests/golden", "tests/core/test_vectors.py", "src/personare/metrics", "src/personare/core"),
    ),
    "attackers": (("attackers/*.py",), ("tests/attackers", "tests/golden", "src/personare/attackers")),
    "seeding": (("core/seeding.py",), ("tests/core", "tests/metrics/test_flat.py", "src/personare/core/seeding.py")),
    "engine": (("engine/*.py",), ("tests/engine", "src/personare/engine")),
}
MARKS = "not slow and not shared and not models"  # what a fresh clone can run
PRELOADED = ("numpy", "scipy.optimize", "scipy.special", "scipy.stats", "scipy.sparse.csgraph", "polars", "hypothesis")
Calls = dict[str, tuple[float, set[str]]]


class Tracer:
    """A pytest plugin that notes which functions of ours each passing test calls, and how long it takes."""

    def __init__(self, sources: Path) -> None:
        self.sources, self.calls = f"{sources}/", Calls()

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool:
        """Run one test under the trace."""
        from _pytest.runner import runtestprotocol

        seen: set[str] = set()

        def trace(frame: Any, event: str, argument: Any) -> None:
            code = frame.f_code
            if code.co_filename.startswith(self.sources):
                seen.add(f"{code.co_filename.removeprefix(self.sources)}:{code.co_firstlineno}")

        forget()
        began = time.process_time()
        sys.settrace(trace)
        try:
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
        finally:
            sys.settrace(None)
        if all(report.passed for report in reports):
            self.calls[item.nodeid] = time.process_time() - began, seen
        return True


def forget() -> None:
    """Empty what functions of ours remember: a remembered result is no call, and its test would not be chosen."""
    modules = [module for name, module in sys.modules.items() if name.startswith("personare.")]
    for function in [value for module in modules for value in vars(module).values()]:
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def in_child(project: Path, tests: Sequence[str], answers: Any, *, cpu_s: float, traced: bool) -> None:
    """Run tests of a copy of the project in this (forked) process; answer with their calls, or whether they passed."""
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cpu_s), math.ceil(cpu_s) + 5))
    os.chdir(project)
    os.environ["PYTHONPATH"] = str(project / "src")
    sys.path.insert(0, str(project / "src"))
    sys.dont_write_bytecode = True
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    tracer = Tracer(project)
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", "-m", MARKS]
    code = pytest.main([*words, *([] if traced else ["-x"]), *tests], plugins=[tracer] if traced else [])
    answers.put(tracer.calls if traced else code == 0)


def run_child(project: Path, tests: Sequence[str], *, cpu_s: float, traced: bool = False) -> Any:
    """Run tests in a forked process; None when it needs more processor time or dies.

    Processor time, not the clock: a busy machine must not make a mutant look as if the tests had noticed it.
    """
    context = multiprocessing.get_context("fork")
    answers: Any = context.Queue()
    child = context.Process(target=in_child, args=(project, tests, answers), kwargs={"cpu_s": cpu_s, "traced": traced})
    child.start()
    answer = None
    while answer is None and child.is_alive():
        answer = _taken(answers, 0.05)
    answer = _taken(answers, 0.5) if answer is None else answer
    child.kill()
    child.join()
    return answer


def _taken(answers: Any, seconds: float) -> Any:
    import queue

    try:
        return answers.get(timeout=seconds)
    except queue.Empty:
        return None


def tests_for(mutant: Mutant, calls: Calls) -> tuple[list[str], float]:
    """Choose the tests that call the mutant's function (or anything in its file), quickest first; give their time."""
    exact = f"{mutant.path}:{mutant.function}"
    chosen = [(took, test) for test, (took, seen) in calls.items() if exact in seen]
    if not chosen:
        chosen = [(took, t) for t, (took, seen) in calls.items() if any(s.startswith(f"{mutant.path}:") for s in seen)]
    chosen.sort()
    return [test for _, test in chosen], sum(took for took, _ in chosen)


def sampled(mutants: list[Mutant], sample: int, seed: int) -> list[Mutant]:
    """Draw a sample that depends on the seed and the code only, in random order: an early end stays a fair sample."""
    order = random.Random(seed).sample(range(len(mutants)), len(mutants))  # noqa: S311 - a sample, no secret
    return [mutants[i] for i in order[: sample or None]]


def survivors(log: Path) -> set[tuple[str, str, str]]:
    """Read from what an earlier run printed which mutants lived, as (file, the line as it was, as it is now)."""
    lines = log.read_text(encoding="utf-8").splitlines()
    heads = [i for i, line in enumerate(lines[:-2]) if line.startswith(("survived: ", "no test: "))]
    return {(lines[i].split(": ", 1)[1].rpartition(":")[0], lines[i + 1].strip(), lines[i + 2].strip()) for i in heads}


def outcomes(project: Path, mutants: Sequence[Mutant], calls: Calls, cpu_s: float) -> Iterator[tuple[Mutant, str]]:
    """Meet each mutant with its tests: killed, survived, not run by any test, or running on and on (noticed, too)."""
    for mutant in mutants:
        tests, took = tests_for(mutant, calls)
        if not tests:
            yield mutant, "no test"
            continue
        path = project / mutant.path
        source = path.read_text(encoding="utf-8")
        path.write_text(mutant.applied(source), encoding="utf-8")
        passed = run_child(project, tests, cpu_s=min(cpu_s, 10 + 3 * took))
        path.write_text(source, encoding="utf-8")
        yield mutant, "survived" if passed else "killed" if passed is False else "too long"


def equivalents() -> dict[tuple[str, str, str], str]:
    """Read the table of mutants that change nothing: file, the line as it was and as it is now, the reason."""
    with (Path(__file__).parent / "equivalent.tsv").open(encoding="utf-8", newline="") as stream:
        return {(r["file"], r["was"], r["now"]): r["reason"] for r in csv.DictReader(stream, delimiter="\t")}


def mutate(name: str, options: argparse.Namespace, known: Mapping[tuple[str, str, str], str]) -> str:
    """Mutate one package; print what survived, give its line of the table."""
    patterns, tests = PACKAGES[name]
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "project"
        for part in COPIED:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            (project / part).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / part, project / part)
        files = [p for pattern in patterns for p in (project / "src/personare").glob(pattern)]
        every = mutants_of([p for p in files if options.only in p.as_posix()], project)
        if options.again:
            lived = survivors(options.again)
            every = [mutant for mutant in every if mutant.key in lived]
        calls = run_child(project, tests, cpu_s=1800, traced=True)
        if not calls:
            sys.exit(f"{name}: its tests do not pass, or take more than half an hour; no mutant was tried")
        counted: Counter[str] = Counter()
        end = time.monotonic() + 60 * options.minutes
        for mutant, outcome in outcomes(project, sampled(every, options.sample, options.seed), calls, options.seconds):
            outcome = "equivalent" if outcome == "survived" and mutant.key in known else outcome
            counted[outcome] += 1
            if outcome in ("survived", "no test"):
                print(f"{outcome}: {mutant.path}:{mutant.line}\n\t{mutant.was}\n\t{mutant.now}", flush=True)
            if time.monotonic() > end:
                break
    outcomes_counted = ("killed", "too long", "survived", "no test")
    tried = sum(counted[name] for name in outcomes_counted)
    share = f"{(counted['killed'] + counted['too long']) / tried:.1%}" if tried else "-"
    numbers = [len(every), tried, *(counted[name] for name in (*outcomes_counted, "equivalent"))]
    return f"{name:12}{''.join(f'{n:>12}' for n in numbers)}{share:>10}"


def main() -> None:
    """Mutate the packages named, or all, and print a score for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", choices=[*PACKAGES, []], help="which packages; all without")
    parser.add_argument("--sample", type=int, default=50, help="mutants per package; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="which mutants")
    parser.add_argument("--minutes", type=float, default=60, help="end each package after so long")
    parser.add_argument("--seconds", type=float, default=120, help="processor seconds per mutant at most")
    parser.add_argument("--only", default="", help="mutate only files with this in their path")
    parser.add_argument("--again", type=Path, help="only those that lived in an earlier run, printed into this file")
    options = parser.parse_args()
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"), "1"))
    for module in PRELOADED:
        __import__(module)
    known = equivalents()
    lines = [mutate(name, options, known) for name in options.packages or PACKAGES]
    head = "".join(
        f"{word:>12}" for word in ("mutants", "counted", "killed", "too long", "survived", "no test", "equivalent")
    )
    print(f"{'package':12}{head}{'killed':>10}", *lines, sep="\n")


if __name__ == "__main__":
    main()
