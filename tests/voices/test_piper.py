"""Piper's voices: the same bytes from the same chance, in any process; plain errors; the shipped table."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from personare.core.errors import ConfigError, WeightsError
from personare.voices import piper
from personare.voices.piper import RATE_HZ, VOICES, Piper, measured_voices, symbol_ids
from personare.voices.synthesizer import Synthesizer

pytestmark = pytest.mark.models
PHONEMES = "wˈɔːɾɚ"
SPEAK = f"""
import hashlib, numpy as np
from personare.voices.piper import Piper
audio = Piper().speak({PHONEMES!r}, voice=3, rate=1.0, rng=np.random.default_rng(7))
print(hashlib.sha256(audio.samples.tobytes()).hexdigest())
"""


def test_the_same_chance_gives_the_same_bytes_also_in_another_process() -> None:
    take = Piper().speak(PHONEMES, voice=3, rate=1.0, rng=np.random.default_rng(7))
    again = Piper().speak(PHONEMES, voice=3, rate=1.0, rng=np.random.default_rng(7))
    other = Piper().speak(PHONEMES, voice=3, rate=1.0, rng=np.random.default_rng(8))
    assert np.array_equal(take.samples, again.samples)
    assert take.samples.tobytes() != other.samples.tobytes()
    done = subprocess.run([sys.executable, "-c", SPEAK], capture_output=True, check=True)
    assert done.stdout.decode().strip() == hashlib.sha256(take.samples.tobytes()).hexdigest()


def test_rate_voice_and_silence() -> None:
    rng = np.random.default_rng
    slow, fast = (Piper(0, 0).speak(PHONEMES, voice=9, rate=rate, rng=rng(1)) for rate in (0.7, 1.4))
    assert slow.rate_hz == RATE_HZ and 1.6 < slow.duration_s / fast.duration_s < 2.4
    assert np.abs(slow.samples).max() <= piper.LOUDEST and slow.samples.std() > 0.01
    for empty in ("", " ", ",.?"):
        assert len(Piper()(empty, voice=0, rate=1.0, rng=rng(1)).samples) == 0
    assert isinstance(Piper(), Synthesizer)


def test_mistakes_are_one_line() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(ConfigError, match="voices 0 to 903, not 904"):
        Piper().speak(PHONEMES, voice=VOICES, rate=1.0, rng=rng)
    with pytest.raises(ConfigError, match="rate must be"):
        Piper().speak(PHONEMES, voice=1, rate=9.0, rng=rng)
    with pytest.raises(ConfigError, match="no symbol 'Q'"):
        symbol_ids("Q")
    with pytest.raises(ConfigError, match="variation must be 0 to 1"):
        Piper(variation=2)


def test_a_missing_model_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    with pytest.raises(WeightsError, match=r"personare models fetch piper$"):
        Piper().speak(PHONEMES, voice=1, rate=1.0, rng=np.random.default_rng(1))


def test_the_table_of_voices() -> None:
    voices = measured_voices()
    assert len({voice.number for voice in voices}) == len(voices) > 40
    for voice in voices:
        assert 0 <= voice.number < VOICES and 60 < voice.f0_hz < 400 and 1 <= voice.dnsmos <= 5
        assert voice.gender == ("m" if voice.f0_hz < 150 else "f" if voice.f0_hz > 180 else "")
