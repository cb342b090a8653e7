"""Commands that are killed at random moments, asked to end, or run at the same time end with the same bytes."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from crash.commands import content, count, finish, left_over, start, stop_when, write_hums
from personare.core.audio import resample, write
from personare.languages import LANGUAGES
from personare.languages.sentences import sentences_in
from personare.pipeline.jobs.verify import verify
from personare.voices.kokoro import Kokoro
from pipeline.tiny import write_study
from promise_counts import counted

MCADAMS = ("--method", "mcadams", "--set", "alpha=[0.5, 0.9]", "--jobs", 2)
CASCADE = ("--method", "cascade", "--jobs", 2)
KILLS = int(os.environ.get("KILLS", "10"))  # of each method; more of them by KILLS=50 make slow
STUDY_KILLS = max(1, KILLS * 2 // 5)


def whole(source: Path, target: Path, *how: object) -> dict[str, str]:
    """Anonymize without any disturbance; makes the key too."""
    code, _, errors = finish(start("anonymize", source, target, "--key", target.with_name("key"), *how))
    assert code == 0, errors
    return content(target)


def kill_often(source: Path, target: Path, how: tuple[object, ...], *, kills: int, seed: int) -> int:
    """Run and kill until ``kills`` commands were killed, beginning anew when one has finished; gives finished jobs."""
    key, rng = target.with_name("key"), np.random.default_rng(seed)
    expected, killed, jobs = whole(source, target.with_name("whole"), *how), 0, 0
    items = count(target.with_name("whole"))
    while killed < kills:
        goal = count(target) + int(rng.integers(0, 4))
        process = start("anonymize", source, target, "--key", key, *how)
        killed += stop_when(process, lambda goal=goal: count(target) >= goal)  # type: ignore[misc]
        if count(target) == items or killed == kills:
            jobs += 1
            code, printed, errors = finish(start("anonymize", source, target, "--key", key, *how))
            assert code == 0, printed + errors
            assert content(target) == expected
            assert not verify(target, key_file=key).problems
            assert not left_over(target, target.with_name(f"{target.name}-private"))
            shutil.rmtree(target)
            shutil.rmtree(target.with_name(f"{target.name}-private"))
    return jobs


@pytest.mark.slow
def test_a_job_that_is_killed_twice_ends_with_the_same_bytes(tmp_path: Path) -> None:
    source = write_hums(tmp_path / "in")
    kill_often(source, tmp_path / "out", MCADAMS, kills=2, seed=1)


def told(method: str, jobs: int) -> str:
    ended = f"{jobs} jobs, all byte-identical, nothing left over"
    return f"killed: {KILLS} times anonymize by {method} with 2 processes, {ended}"


@pytest.mark.slow
def test_random_kills_of_mcadams(tmp_path: Path) -> None:
    jobs = kill_often(write_hums(tmp_path / "in"), tmp_path / "out", MCADAMS, kills=KILLS, seed=2)
    counted(told("mcadams", jobs))


def write_sentences(folder: Path) -> Path:
    """Twelve spoken sentences of three people: hums are no speech, and a method that transcribes rejects them."""
    kokoro, rng, texts = Kokoro(), np.random.default_rng(1), sentences_in("en")
    for number in range(12):
        speaker, text = number % 3, texts[number % len(texts)]
        sound = kokoro.speak_phonemes(LANGUAGES["en"].pronounce(text), voice=speaker + 1, rate=1.0, rng=rng)
        write(folder / f"s{speaker}" / f"s{speaker}-{number}.wav", resample(sound, 16_000))
    return folder


@pytest.mark.slow
@pytest.mark.models
def test_random_kills_of_cascade(tmp_path: Path) -> None:
    source = write_sentences(tmp_path / "in")
    counted(told("cascade", kill_often(source, tmp_path / "out", CASCADE, kills=KILLS, seed=3)))


@pytest.mark.slow
def test_random_kills_of_a_study(tmp_path: Path) -> None:
    study = write_study(tmp_path)
    without = ("log.txt", "done.json", "environment.json", "hashes.json", "vectors", "observations")
    code, _, errors = finish(start("study", "run", study, "--out", tmp_path / "whole", home=tmp_path / "home0"))
    assert code == 0, errors
    expected, files = content(tmp_path / "whole", without=without), count(tmp_path / "whole", "*")
    rng, killed, jobs, out = np.random.default_rng(4), 0, 0, tmp_path / "run"
    while killed < STUDY_KILLS:
        home = tmp_path / f"home{jobs + 1}"
        words = ("study", "run", study, "--out", out, "--resume", "--jobs", 2)
        goal = count(out, "*") + int(rng.integers(0, files // 3))
        killed += stop_when(start(*words, home=home), lambda goal=goal: count(out, "*") >= goal)  # type: ignore[misc]
        if killed == STUDY_KILLS or (out / "findings.parquet").is_file():
            jobs += 1
            code, _, errors = finish(start(*words, home=home))
            assert code == 0, errors
            assert content(out, without=without) == expected
            assert not left_over(out)
            shutil.rmtree(out)
    counted(f"killed: {STUDY_KILLS} times study run, 2 processes: {jobs} studies, byte-identical, nothing left over")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_it_with_one_line_and_stops_the_workers(tmp_path: Path, name: str) -> None:
    source, target = write_hums(tmp_path / "in", utterances=40), tmp_path / "out"
    number = getattr(signal, name)
    process = start("anonymize", source, target, *MCADAMS)
    assert stop_when(process, lambda: count(target) >= 2, number), "it had finished before it was asked to end"
    assert process.stdout is not None and process.stderr is not None
    lines = process.stderr.read().splitlines()  # ends only when every worker has closed it
    process.stdout.close()
    process.stderr.close()
    assert process.returncode == 128 + number
    assert lines[-1] == "personare: interrupted; run the same command again to go on" and "Traceback" not in lines
    assert not left_over(target, tmp_path / "out-private")
    done = count(target)
    time.sleep(0.2)
    assert count(target) == done < 160


@pytest.mark.parametrize("processes", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_several_processes_on_one_target_agree(tmp_path: Path, processes: int) -> None:
    source, target = write_hums(tmp_path / "in"), tmp_path / "out"
    running = [start("anonymize", source, target, *MCADAMS[:-2]) for _ in range(processes)]
    ends = [finish(process) for process in running]
    assert [code for code, _, _ in ends] == [0] * processes, ends
    assert not verify(target).problems and not left_over(target, tmp_path / "out-private")
    code, _, errors = finish(
        start("anonymize", source, tmp_path / "one", "--key", tmp_path / "out-private" / "key", *MCADAMS)
    )
    assert code == 0 and content(tmp_path / "one") == content(target), errors
    counted(f"several: {processes} processes at once on one target; byte-identical to one, nothing left over")
