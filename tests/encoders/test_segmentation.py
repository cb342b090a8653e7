"""Several speakers on one channel: turns, clusters, and real voices one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.core import weights
from personare.core.audio import Audio, read_mono, resample
from personare.encoders import segmentation
from personare.encoders.published import WeSpeaker
from personare.encoders.segmentation import FRAME, RATE_HZ, people_in, several_speakers, turns


def test_a_turn_ends_with_its_speaker_or_a_pause_and_overlap_is_nobodys() -> None:
    active = np.zeros((589, 3), np.bool_)
    active[0:100, 0] = True
    active[110:200, 0] = True  # 0.17 s of pause: the same turn
    active[230:300, 0] = True  # 0.5 s: another one
    active[300:400, 1] = True
    active[380:420, 2] = True  # 20 frames of overlap
    found = [((first - 1000) // FRAME, (last - 1000) // FRAME) for first, last in turns(active, 1000)]
    assert found == [(0, 200), (230, 300), (300, 380), (400, 420)]


def test_people_are_clusters_with_enough_speech() -> None:
    anna, bela = np.eye(2, dtype=np.float32)
    near = np.array([0.8, 0.6], np.float32)  # cosine 0.8 with anna
    assert people_in(np.stack([anna, near]), [3.0, 3.0]) == 1
    assert people_in(np.stack([anna, bela]), [3.0, 3.0]) == 2
    assert people_in(np.stack([anna, bela]), [3.0, 1.0]) == 1, "one second may be anybody"
    assert people_in(np.stack([anna, anna, bela]), [20.0, 20.0, 2.0]) == 1, "a twentieth of the speech"
    short = np.array([0.48, np.sqrt(1 - 0.48**2)], np.float32)
    assert people_in(np.stack([anna, short]), [3.0, 3.0]) == 2
    assert people_in(np.stack([anna, short]), [3.0, 1.5]) == 1, "short speech must be further away"


def test_without_the_models_nothing_is_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    assert several_speakers(hum(1, duration_s=2.0)) is None


@pytest.mark.models
def test_what_is_no_speech_has_no_two_speakers() -> None:
    noise = np.random.default_rng(1).normal(0, 0.05, 12 * RATE_HZ).astype(np.float32)
    assert several_speakers(Audio(noise, RATE_HZ)) is False
    assert several_speakers(Audio(np.zeros(100, np.float32), 8_000)) is False


@pytest.mark.models
def test_a_recording_too_short_for_two_people_is_not_given_to_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two people with 1.25 s of speech each need 2.5 s, whatever the network would say."""
    asked: list[int] = []

    def one_speaker(_self: object, samples: NDArray[Any]) -> list[tuple[int, NDArray[Any]]]:
        asked.append(len(samples))
        return []

    monkeypatch.setattr(segmentation.Segmentation, "__call__", one_speaker)
    assert several_speakers(hum(1, duration_s=2.49, rate_hz=8_000)) is False and not asked
    assert several_speakers(hum(1, duration_s=2.5, rate_hz=8_000)) is False and asked == [40_000]


@pytest.mark.models
def test_a_long_recording_costs_no_more_embeddings(monkeypatch: pytest.MonkeyPatch) -> None:
    active = np.zeros((589, 3), np.bool_)
    for first in range(0, 560, 90):
        active[first : first + 70, 0] = True
    windows = [(start, active) for start in range(0, 100 * segmentation.WINDOW, segmentation.WINDOW)]
    embedded: list[int] = []

    def embed(_self: object, batch: list[Audio]) -> NDArray[np.float32]:
        embedded.append(len(batch))
        return np.ones((len(batch), 2), np.float32)

    monkeypatch.setattr(segmentation.Segmentation, "__call__", lambda _self, _samples: iter(windows))
    monkeypatch.setattr(WeSpeaker, "__call__", embed)
    sound = Audio(np.zeros(100 * segmentation.WINDOW, np.float32), RATE_HZ)
    assert several_speakers(sound) is False and embedded == [segmentation.MOST_TURNS]


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_real_speakers_are_told_apart(shared_folder: Path) -> None:
    """LibriSpeech, part eval: of 6 x 5 recordings at most 1 is taken for two people, and all 15 pairs are found."""
    if weights.missing(*segmentation.NEEDS):
        pytest.skip(f"needs models: personare models fetch {' '.join(segmentation.NEEDS)}")
    rows = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", infer_schema=False)
    rows = rows.filter(pl.col("part") == "eval", pl.col("corpus") == "librispeech-mini")
    sounds = {
        str(who): [resample(read_mono(shared_folder / "corpus" / path), RATE_HZ).samples for path in group["audio"][:5]]
        for (who,), group in rows.group_by("speaker", maintain_order=True)
    }
    alarms = [several_speakers(Audio(one, RATE_HZ)) for some in sounds.values() for one in some]
    assert sum(map(bool, alarms)) <= 1
    names = sorted(map(str, sounds))
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    heard = [several_speakers(Audio(np.concatenate([sounds[a][0], sounds[b][0]]), RATE_HZ)) for a, b in pairs]
    assert all(heard)
