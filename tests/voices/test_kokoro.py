"""Kokoro's pseudo-speakers: the same bytes in any process, long input in parts, plain errors, the shipped table."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.audio import Audio
from personare.core.errors import ConfigError, WeightsError
from personare.voices import kokoro
from personare.voices.kokoro import LONGEST, LOUDEST, RATE_HZ, Kokoro, measured_voices, mixture, split_phonemes
from personare.voices.synthesizer import PhonemeSynthesizer

PHONEMES = "ɡˈuːtən tˈɑːk."
SPEAK = f"""
import hashlib, numpy as np
from personare.voices.kokoro import Kokoro
audio = Kokoro().speak_phonemes({PHONEMES!r}, voice=3, rate=1.0, rng=np.random.default_rng(7))
print(hashlib.sha256(audio.samples.tobytes()).hexdigest())
"""


def speak(phonemes: str, *, voice: int = 3, rate: float = 1.0) -> Audio:
    return Kokoro().speak_phonemes(phonemes, voice=voice, rate=rate, rng=np.random.default_rng(1))


@given(st.text(alphabet="aˈʃ ,.;—?", max_size=80), st.integers(4, 20))
def test_parts_hold_every_symbol_and_are_short_enough(phonemes: str, longest: int) -> None:
    parts = split_phonemes(phonemes, longest=longest)
    assert all(0 < len(part) <= longest for part in parts)
    assert "".join(parts).replace(" ", "") == phonemes.replace(" ", "")


def test_parts_end_at_sentences_then_clauses_then_words() -> None:
    assert split_phonemes("aaa aa. aa, aa aaa", longest=16) == ["aaa aa.", "aa, aa aaa"]
    assert split_phonemes("aaa aa, aa aa aaa", longest=14) == ["aaa aa,", "aa aa aaa"]
    assert split_phonemes("aaa aa aa", longest=6) == ["aaa aa", "aa"]
    assert split_phonemes("aaaaaaaa", longest=5) == ["aaaaa", "aaa"]
    assert split_phonemes(" ") == []


@given(st.integers(0, 9999))
def test_a_number_is_always_the_same_mixture_of_one_gender(number: int) -> None:
    speaker = mixture(number)
    mixture.cache_clear()
    assert mixture(number) == speaker
    assert 2 <= len(speaker.voices) == len(set(speaker.voices)) == len(speaker.shares) <= 3
    assert {voice[1] for voice in speaker.voices} == {speaker.gender}
    assert sum(speaker.shares) == pytest.approx(1.0) and min(speaker.shares) > 0.15


def test_the_table_of_pseudo_speakers() -> None:
    voices = measured_voices()
    assert len({voice.number for voice in voices}) == len(voices) >= 2
    for voice in voices:
        assert voice.gender == mixture(voice.number).gender
        assert 70 < voice.f0_hz < 350 and 1 <= voice.dnsmos <= 5


def test_mistakes_are_one_line() -> None:
    with pytest.raises(ConfigError, match="pseudo-speakers 0 to 9999, not 10000"):
        speak(PHONEMES, voice=10_000)
    with pytest.raises(ConfigError, match="rate must be"):
        speak(PHONEMES, rate=9.0)
    assert isinstance(Kokoro(), PhonemeSynthesizer)


def test_a_missing_model_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path))
    with pytest.raises(WeightsError, match=r"personare models fetch kokoro kokoro-languages$"):
        speak(PHONEMES)


@pytest.mark.models
def test_the_same_input_gives_the_same_bytes_also_in_another_process() -> None:
    take, again, other = speak(PHONEMES), speak(PHONEMES), speak(PHONEMES, voice=5)
    assert np.array_equal(take.samples, again.samples)
    assert take.samples.tobytes() != other.samples.tobytes()
    done = subprocess.run([sys.executable, "-c", SPEAK], capture_output=True, check=True)
    assert done.stdout.decode().strip() == hashlib.sha256(take.samples.tobytes()).hexdigest()


@pytest.mark.models
def test_rate_level_and_silence() -> None:
    slow, fast = speak(PHONEMES, rate=0.7), speak(PHONEMES, rate=1.4)
    assert slow.rate_hz == RATE_HZ and 1.4 < slow.duration_s / fast.duration_s < 2.6
    assert np.abs(slow.samples).max() <= LOUDEST and slow.samples.std() > 0.01
    assert not len(speak(" ,. ").samples) and not len(speak("").samples)
    with pytest.raises(ConfigError, match="Kokoro has no symbol 'ж'"):
        speak("ж")


def test_long_input_is_spoken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    monkeypatch.setattr(kokoro, "symbol_ids", lambda part: [1] * len(part))
    monkeypatch.setattr(kokoro, "mixed_style", lambda *_, length: lengths.append(length))
    monkeypatch.setattr(kokoro, "speak_ids", lambda ids, **_: np.full(len(ids), 2.0, np.float32))
    audio = speak("ɡˈuːtən tˈɑːk. " * 80)
    assert len(lengths) == 3 and max(lengths) <= LONGEST and len(audio.samples) == sum(lengths)
    assert np.abs(audio.samples).max() == pytest.approx(LOUDEST)
