"""Observations are kept by content and listener: nothing is observed twice, a changed entry is not believed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from listener_plugins import REFUSED, Likeness, Spelling
from personare.core.audio import Audio
from personare.core.errors import AudioError
from personare.core.observations import Observation, Stimulus
from personare.listeners.cache import forget, observe


def sound(frames: int) -> Audio:
    return Audio(np.linspace(-0.5, 0.5, frames, dtype=np.float32), 8_000)


@pytest.fixture
def batches() -> list[int]:
    Spelling.batches.clear()
    return Spelling.batches


def test_only_what_is_new_is_observed_in_one_batch(tmp_path: Path, batches: list[int]) -> None:
    def words(*frames: int) -> list[str | None]:
        batch = [Stimulus(sound(n)) for n in frames]
        return [one.words for one in observe(Spelling(), batch, remember=True, folder=tmp_path)]

    assert words(11) == ["11 samples"]
    assert words(11, 12, 11, 13) == ["11 samples", "12 samples", "11 samples", "13 samples"]
    assert words(13, 12) == ["13 samples", "12 samples"]
    assert batches == [1, 2]
    assert forget(folder=tmp_path) == 3
    assert words(13) == ["13 samples"] and batches == [1, 2, 1]


def test_nothing_is_kept_where_nothing_may_be_remembered(tmp_path: Path, batches: list[int]) -> None:
    for _ in range(2):
        observe(Spelling(), [Stimulus(sound(11))], remember=False, folder=tmp_path)
    assert batches == [1, 1] and not list(tmp_path.iterdir())


def test_an_entry_that_was_changed_or_is_of_another_listener_is_not_believed(
    tmp_path: Path, batches: list[int]
) -> None:
    stimulus = Stimulus(sound(11))
    observe(Spelling(), [stimulus], remember=True, folder=tmp_path)
    (entry,) = tmp_path.glob("observations/*/*.json")
    for change in ("11 samples", "spelling"):
        text = entry.read_text(encoding="utf-8")
        assert change in text
        entry.write_text(text.replace(change, "another"), encoding="utf-8")
        (again,) = observe(Spelling(), [stimulus], remember=True, folder=tmp_path)
        assert again == Observation("11 samples")
    entry.write_text(entry.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    assert observe(Spelling(), [stimulus], remember=True, folder=tmp_path) == [Observation("11 samples")]
    assert batches == [1, 1, 1, 1]


def test_a_pair_is_kept_as_a_pair_and_a_setting_is_another_listener(tmp_path: Path) -> None:
    one, other = sound(100), Audio(sound(100).samples[::-1].copy(), 8_000)

    def likeness(original: Audio, audio: Audio, scale: float) -> float:
        batch = [Stimulus(audio, original)]
        return observe(Likeness(scale), batch, remember=True, folder=tmp_path)[0].values["likeness"]

    assert likeness(one, one, 1.0) == pytest.approx(1)
    assert likeness(one, other, 1.0) == pytest.approx(-1)
    assert likeness(one, one, 3.0) == pytest.approx(3)
    assert likeness(one, one, 1.0) == pytest.approx(1)
    assert forget(folder=tmp_path) == 3


def test_a_refusal_is_not_kept_and_words_are_the_owners_alone(tmp_path: Path, batches: list[int]) -> None:
    for _ in range(2):
        with pytest.raises(AudioError):
            observe(Spelling(), [Stimulus(sound(REFUSED))], remember=True, folder=tmp_path)
    observe(Spelling(), [Stimulus(sound(11))], remember=True, folder=tmp_path)
    (entry,) = tmp_path.glob("observations/*/*.json")
    assert json.loads(entry.read_text(encoding="utf-8"))["observation"] == {"words": "11 samples"}
    assert (tmp_path / "observations").stat().st_mode & 0o077 == 0
