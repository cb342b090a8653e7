"""A long recording says how far it is, alone or in a folder: step by step, to all of it, and its bits are the same."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import personare
from conftest import Command, hum
from personare.cli import show
from personare.core.audio import Audio, write
from personare.core.seeding import Key
from personare.pipeline.jobs.anonymize_file import anonymize_file
from personare.pipeline.jobs.anonymize_work import hide_channels
from personare.pipeline.system import System

LONG_S, RATE_HZ = 24.0, 8_000
SYSTEMS = {
    "mcadams": {},
    "world": {},
    "formants": {},
    "chain": {"steps": [{"name": "mcadams"}, {"name": "mcadams", "parameters": {"alpha": 0.9}}]},
}


def long_sound(seed: int = 1) -> Audio:
    """Speech-like sound with pauses; longer than a phrase may be."""
    sound = hum(seed, duration_s=LONG_S, rate_hz=RATE_HZ)
    speaking = np.sin(2 * np.pi * 0.2 * np.arange(len(sound.samples)) / RATE_HZ) > -0.8
    return Audio((sound.samples * speaking).astype(np.float32), RATE_HZ)


@pytest.mark.parametrize("method", list(SYSTEMS))
def test_a_long_sound_is_told_of_in_steps_and_stays_the_same(method: str) -> None:
    system, key, told = System(method, SYSTEMS[method], "speaker"), Key.from_seed(1), list[float]()
    tracks = [("anna", "u1", long_sound())]
    (watched,) = hide_channels(system, key, tracks, watch=told.append)
    (plain,) = hide_channels(system, key, tracks)
    assert watched.samples.tobytes() == plain.samples.tobytes()
    assert len(told) >= 3 and sum(told) == pytest.approx(LONG_S) and max(told) < 0.95 * LONG_S


def test_a_method_that_says_nothing_is_told_of_when_it_is_done() -> None:
    class Silent:
        fingerprint = "silent"

        def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
            return audio

    class Built:
        def build(self) -> Silent:
            return Silent()

        def names_of(self, who: str, what: str) -> tuple[str, ...]:
            return (who, what)

    told: list[float] = []
    tracks = [("anna", f"u{n}", Audio(np.zeros(RATE_HZ, np.float32), RATE_HZ)) for n in range(2)]
    built: Any = Built()
    hide_channels(built, Key.from_seed(1), tracks, watch=told.append)
    assert told == [1.0, 1.0], "one step for each channel"


def test_a_file_of_two_channels_counts_both(tmp_path: Path) -> None:
    write(tmp_path / "in.wav", [long_sound(1), long_sound(2)])
    told: list[tuple[float, float]] = []
    system = System("mcadams", {}, "speaker")
    anonymize_file(tmp_path / "in.wav", tmp_path / "out.flac", system, watch=lambda *now: told.append(now))
    done = [now for now, _ in told]
    assert done[0] == 0.0 and done[-1] == pytest.approx(2 * LONG_S) and done == sorted(done) and len(done) >= 4
    assert {total for _, total in told} == {2 * LONG_S}


def test_the_command_shows_whole_seconds_of_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, personare: Command
) -> None:
    bars: list[tuple[str, int, list[int]]] = []

    @contextlib.contextmanager
    def counted(title: str, total: int) -> Iterator[Callable[[int], None]]:
        bars.append((title, total, []))
        yield bars[-1][2].append

    monkeypatch.setattr(show, "progress", counted)
    write(tmp_path / "in.wav", long_sound())
    ended = personare("anonymize", tmp_path / "in.wav", tmp_path / "out.flac", "--method", "mcadams")
    assert ended.code == 0, ended.stderr
    ((title, total, ticks),) = bars
    assert (title, total) == ("anonymizing, seconds", 24) and sum(ticks) == 24
    assert len(ticks) >= 3 and min(ticks) >= 1


def test_a_sound_of_half_a_second_is_one_step() -> None:
    with show.sound_progress("x") as watch:
        watch(0.0, 0.5)
        watch(0.5, 0.5)


SHORT_S, SHORT = 0.4, 5


def folder_with_one_long(folder: Path) -> Path:
    """Five short recordings and a long one of two people."""
    for n in range(SHORT):
        write(folder / f"anna{n % 2}" / f"short{n}.wav", hum(n, duration_s=SHORT_S, rate_hz=RATE_HZ))
    write(folder / "anna0" / "long.wav", long_sound())
    return folder


def within(told: list[tuple[int, float]]) -> list[float]:
    """How much more was told of without a recording that ended."""
    return [after[1] - before[1] for before, after in itertools.pairwise(told) if after[0] == before[0]]


@pytest.mark.parametrize("jobs", [1, 2])
def test_in_a_folder_the_bar_moves_within_the_long_recording(tmp_path: Path, jobs: int) -> None:
    speech, told = folder_with_one_long(tmp_path / "speech"), list[tuple[int, float]]()
    made = personare.anonymize_corpus(
        speech, tmp_path / "out", method="mcadams", jobs=jobs, told=lambda now: told.append((now.done, now.share))
    )
    assert made.done == SHORT + 1 and told[-1] == (SHORT + 1, 1.0)
    shares = [share for _, share in told]
    assert shares == sorted(shares), "never backwards"
    most = LONG_S / (LONG_S + SHORT * SHORT_S)
    inside = [step for step in within(told) if step > 0.1]
    assert len(inside) >= 2 and max(inside) < 0.8 * most, "the long one counts by its length, and moves in steps"
    again: list[tuple[int, float | None]] = []
    personare.anonymize_corpus(
        speech, tmp_path / "out", method="mcadams", jobs=jobs, told=lambda now: again.append((now.done, now.left_s))
    )
    assert again[:-1] == [(n, None) for n in range(1, SHORT + 1)] and again[-1] == (SHORT + 1, 0.0), "all were kept"


def test_one_that_cannot_be_read_is_of_mean_length_and_is_counted(tmp_path: Path) -> None:
    speech, told = folder_with_one_long(tmp_path / "speech"), list[tuple[int, float]]()
    (speech / "anna1" / "words.wav").write_text("these are words")
    made = personare.anonymize_corpus(
        speech, tmp_path / "out", method="mcadams", told=lambda now: told.append((now.done, now.share))
    )
    assert made.failed == 1 and told[-1] == (SHORT + 2, 1.0) and all(0 <= share <= 1 for _, share in told)


def test_the_command_says_how_many_how_much_and_how_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, personare: Command
) -> None:
    monkeypatch.setattr("personare.cli.work_progress.QUIET_SECONDS", -1.0)  # a line for every word
    speech = folder_with_one_long(tmp_path / "speech")
    ended = personare("anonymize", speech, tmp_path / "out", "--method", "mcadams")
    lines = [line for line in ended.stderr.splitlines() if line.startswith("anonymizing: ")]
    assert ended.code == 0 and len(lines) >= SHORT + 2
    assert all(re.fullmatch(r"anonymizing: \d/6, \d+ %(, about [\d.]+ (s|min) left)?", line) for line in lines), lines
    assert len({line.split("/")[0] for line in lines}) < len(lines), "more than one line while one was worked on"
