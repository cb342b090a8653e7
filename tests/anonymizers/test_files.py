"""Files as they come: 8, 16, 24 bit, float, several channels, constant, clipped; and empty ones, refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from anonymizers.bs1770 import loudness
from anonymizers.contract import voice
from personare.anonymizers import anonymizer
from personare.core.audio import read_channels, write
from personare.core.errors import AudioError

METHODS: dict[str, dict[str, object]] = {
    "mcadams": {},
    "formants": {},
    "world": {},
    "chain": {"steps": [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": 0.9}}]},
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW"])
@pytest.mark.parametrize("channels", [1, 2])
def test_any_encoding_and_every_channel(tmp_path: Path, subtype: str, channels: int, name: str) -> None:
    left, right = voice(1.0, rate_hz=8_000), voice(1.0, rate_hz=8_000, pitch_hz=210.0)
    frames = np.stack([left.samples, right.samples][:channels], axis=1)
    soundfile.write(tmp_path / "in.wav", frames, 8_000, subtype=subtype)
    heard = read_channels(tmp_path / "in.wav")
    method = anonymizer(name, **METHODS[name])
    hidden = [method(channel, rng=np.random.default_rng(1)) for channel in heard]
    write(tmp_path / "out.flac", hidden)
    again = read_channels(tmp_path / "out.flac")
    assert [len(c.samples) for c in again] == [8_000] * channels
    for before, after in zip(heard, again, strict=True):
        assert abs(loudness(after.samples, 8_000) - loudness(before.samples, 8_000)) < 1.0
        assert not np.array_equal(after.samples, before.samples)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "in.wav", np.zeros((0, 1)), 8_000)
    with pytest.raises(AudioError, match="holds no samples"):
        read_channels(tmp_path / "in.wav")


def test_nan_in_a_file_is_refused(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "in.wav", np.array([0.0, np.nan, 0.5]), 8_000, subtype="FLOAT")
    with pytest.raises(AudioError, match="NaN"):
        read_channels(tmp_path / "in.wav")
