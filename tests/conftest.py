"""What all tests share: the folder of real speech (or a clear skip), speech-like sounds, a small corpus, commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray

from personare.core.audio import Audio, write
from personare.core.tables import Corpus
from promise_counts import summary

# A busy machine is no wrong answer: no test fails because an example, or finding one, took long.
settings.register_profile("personare", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("personare")

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


# the longest files, first: at the end of a run one worker would work alone on the last of them
LONGEST = (
    "anonymizers/test_contract.py",
    "packaging/test_wheel.py",
    "web/test_app_pages.py",
    "web/test_panel_pages.py",
    "docs/test_first_hour.py",
    "docs/test_examples.py",
    "pipeline/test_word_risk.py",
    "pipeline/test_one_number.py",
    "security/test_nothing_leaves.py",
    "crash/test_kills.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; the others stay in their order."""
    tests = Path(__file__).parent
    place = {tests / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End a run of the slow tests with what the crash, power, Ray and fuzz tests have counted."""
    if terminalreporter.config.option.markexpr == "slow":
        terminalreporter.section("what was counted")
        for line in summary(terminalreporter.stats):
            terminalreporter.write_line(line)


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody says how wide the screen is: a runner that does would change what commands print."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of small files are not forced to the disk one by one, except where a test is about that."""
    if request.node.get_closest_marker("disk") is None:
        monkeypatch.setattr(os, "fsync", lambda _handle: None)


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder with real speech and golden values that lies beside the project on development machines."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared (real speech and golden values), which is not on this machine")
    return SHARED


def hum(seed: int, *, duration_s: float = 1.0, rate_hz: int = 16_000, f0_hz: float = 120.0) -> Audio:
    """A voiced, speech-like sound: a pulse train through a few resonances, with a little noise, level 0.3."""
    return Audio(_hum_samples(seed, duration_s, rate_hz, f0_hz).copy(), rate_hz)


@lru_cache(maxsize=2048)  # small corpora are written by hundreds of tests from the same few sounds
def _hum_samples(seed: int, duration_s: float, rate_hz: int, f0_hz: float) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    n = max(1, round(duration_s * rate_hz))
    t = np.arange(n) / rate_hz
    harmonics = np.arange(1, int(min(4000, 0.45 * rate_hz) // f0_hz) + 1)
    formants = np.sort(rng.uniform([300, 900, 2200], [800, 1900, 3200]))
    gains = sum(1.0 / (1.0 + ((harmonics * f0_hz - f) / 120.0) ** 2) for f in formants)
    sound = (gains[:, None] * np.sin(2 * np.pi * f0_hz * harmonics[:, None] * t)).sum(0)
    sound = sound * (0.6 + 0.4 * np.sin(2 * np.pi * 3.0 * t)) + 0.01 * rng.standard_normal(n)
    samples: NDArray[np.float32] = (0.3 * sound / max(1e-9, np.abs(sound).max())).astype(np.float32)
    return samples


@pytest.fixture(scope="session")
def tiny_codec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an exported universal speech codec with random weights."""
    from tiny_codec import write_tiny_codec

    return write_tiny_codec(tmp_path_factory.mktemp("codec"))


@pytest.fixture
def small_corpus(tmp_path: Path) -> Path:
    """A folder of 4 speakers x 4 utterances with a manifest; names that would give the speakers away."""
    folder = tmp_path / "original"
    rows = []
    for s, (speaker, gender) in enumerate([("anna", "f"), ("bela", "m"), ("cora", "f"), ("dirk", "m")]):
        for u in range(4):
            path = folder / speaker / f"{speaker}-{u}.wav"
            write(path, hum(10 * s + u, duration_s=0.8, f0_hz=100.0 + 25 * s))
            rows.append((f"{speaker}-{u}", speaker, str(path), gender, f"SENTENCE NUMBER {u}"))
    frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "gender", "text"], orient="row")
    Corpus(frame).save(folder / "manifest.parquet")
    return folder


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, and what it printed."""

    code: int
    stdout: str
    stderr: str


Command = Callable[..., Ended]


@pytest.fixture
def personare(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Call ``personare WORDS``."""

    from personare.cli import main

    def call(*words: str | Path) -> Ended:
        monkeypatch.setattr(sys, "argv", ["personare", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Ended(ended.value.code if isinstance(ended.value.code, int) else 0, printed.out, printed.err)

    return call
