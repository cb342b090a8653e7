"""The sounds of a panel: equally loud, cut, opaque; a tone that loudspeakers cancel; noise nobody understands."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from conftest import hum
from panels.pools import write_test_panel
from personare.core.audio import Audio, probe, read_channels, read_mono, write
from personare.core.errors import AudioError
from personare.core.loudness import integrated_lufs
from personare.core.seeding import Key
from personare.panels.design import PanelStimulus
from personare.panels.folder import STIMULI
from personare.panels.recordings import Recording
from personare.panels.stimuli import spectrum_noise, write_headphone_check, write_stimuli

KEY = Key.from_seed(1)


def recording(folder: Path, name: str, *, gain: float, rate_hz: int = 16_000, duration_s: float = 1.0) -> Recording:
    sound = hum(len(name), duration_s=duration_s, rate_hz=rate_hz)
    write(folder / f"{name}.wav", Audio((gain * sound.samples).astype(np.float32), rate_hz))
    return Recording("anna", name, path=folder / f"{name}.wav")


def test_all_are_equally_loud_of_one_rate_and_opaque(tmp_path: Path) -> None:
    rows = [
        recording(tmp_path, "loud", gain=3.0),
        recording(tmp_path, "quiet", gain=0.02),
        recording(tmp_path, "narrow", gain=0.5, rate_hz=8_000),
    ]
    stimuli = [PanelStimulus(r, "trial") for r in rows]
    seconds = write_stimuli(stimuli, tmp_path / "out", key=KEY)
    files = sorted((tmp_path / "out").iterdir())
    assert len(files) == 3 and all(re.fullmatch(r"[0-9a-f]{24}\.flac", f.name) for f in files)
    sounds = [read_mono(f) for f in files]
    levels = [integrated_lufs(s.samples.astype(np.float64), s.rate_hz) for s in sounds]
    assert {s.rate_hz for s in sounds} == {16_000} and max(levels) - min(levels) < 0.1
    assert max(float(np.abs(s.samples).max()) for s in sounds) < 0.9
    assert seconds == {s.token(KEY): pytest.approx(1.0, abs=0.01) for s in stimuli}
    assert not any(b"anna" in f.read_bytes() for f in files)


def test_a_cut_keeps_the_beginning_and_a_short_recording_is_whole(tmp_path: Path) -> None:
    long, short = (recording(tmp_path, n, gain=0.5, duration_s=d) for n, d in (("long", 4.0), ("brief", 1.0)))
    lengths = write_stimuli([PanelStimulus(r, "recording", 3.0) for r in (long, short)], tmp_path / "out", key=KEY)
    assert sorted(lengths.values()) == pytest.approx([1.0, 3.0], abs=0.01)


def test_silence_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "s.wav", Audio(np.zeros(16_000, np.float32), 16_000))
    with pytest.raises(AudioError, match="silent"):
        write_stimuli(
            [PanelStimulus(Recording("anna", "s", path=tmp_path / "s.wav"), "trial")], tmp_path / "out", key=KEY
        )


def test_noise_keeps_the_spectrum_and_loses_the_rhythm() -> None:
    rng = np.random.default_rng(1)
    sound = np.concatenate([np.zeros(8000), rng.standard_normal(8000)])
    noise = spectrum_noise(sound, rng)
    old, new = (np.abs(np.fft.rfft(x)) for x in (sound, noise))
    assert np.corrcoef(old, new)[0, 1] > 0.999
    assert 0.8 < np.std(noise[:8000]) / np.std(noise[8000:]) < 1.25, "silence is filled"


def test_over_loudspeakers_another_tone_seems_quiet(tmp_path: Path) -> None:
    for token, quiet in write_headphone_check(tmp_path, key=KEY).items():
        left, right = read_channels(tmp_path / f"{token}.flac")
        both = (left.samples + right.samples) / 2  # what a listener far from two loudspeakers hears
        step = round(1.28 * left.rate_hz)
        part = slice(round(0.2 * left.rate_hz), round(0.6 * left.rate_hz))
        alone = [float(np.std(left.samples[i * step :][part])) for i in range(3)]
        together = [float(np.std(both[i * step :][part])) for i in range(3)]
        assert int(np.argmin(alone)) + 1 == quiet != int(np.argmin(together)) + 1


def test_a_panel_names_nobody_outside_its_design(tmp_path: Path) -> None:
    panel = write_test_panel(tmp_path, "mos", sessions=1, trials=6)
    for path in panel.path.rglob("*"):
        if path.is_file() and path.name != "design.parquet":
            assert b"anna" not in path.read_bytes() and "anna" not in path.name, path
    assert all(probe(f).duration_s > 0.3 for f in (panel.path / STIMULI).iterdir())
