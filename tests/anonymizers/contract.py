"""What every anonymizer promises, as clauses that take a method and fail when it breaks one.

`test_contract.py` holds every name of the catalog to every clause. What a method cannot promise it declares:
``loudness_lufs`` (one loudness for everything instead of each recording's own), ``needs_words`` (it speaks words, and
gives silence where it finds none: it is then tried on words), ``keeps_timing`` (as it is set, lengths change: what is
held to the place of a sound is then held for its variant ``in_time``).
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from anonymizers.bs1770 import loudness
from personare.core.audio import Audio, resample
from personare.core.errors import PersonareError, RejectedSpeechError
from personare.core.protocols import Anonymizer, in_time, keeps_timing
from personare.voices.piper import Piper

RATE_HZ = 16_000


def voice(seconds: float, *, rate_hz: int = RATE_HZ, pitch_hz: float = 120.0, peak: float = 0.5) -> Audio:
    """Make a buzz with four moving resonances and pauses: enough like speech to be analysed as speech."""
    sound = _buzz(seconds, rate_hz, pitch_hz)
    return Audio((peak * sound / np.abs(sound).max()).astype(np.float32), rate_hz)


@lru_cache(maxsize=64)  # every clause of every method asks for the same few
def _buzz(seconds: float, rate_hz: int, pitch_hz: float) -> NDArray[np.float64]:
    count = max(1, round(seconds * rate_hz))
    t = np.arange(count) / rate_hz
    phase = np.cumsum(pitch_hz * (1 + 0.1 * np.sin(2 * np.pi * 0.7 * t))) / rate_hz
    sound = np.zeros(count)
    for k in range(1, int(min(4000, 0.45 * rate_hz) / pitch_hz)):
        f = k * pitch_hz
        formants = ((500 + 150 * np.sin(3 * t), 80), (1500 + 300 * np.sin(2 * t), 120), (2500, 160), (3500, 200))
        strength = sum(1 / (1 + ((f - centre) / width) ** 2) for centre, width in formants)
        sound += strength * np.sin(2 * np.pi * k * phase) / k
    sound *= np.clip(2 * np.sin(2 * np.pi * 1.3 * t + 0.5), 0, 1)  # syllables with true silence between
    sound += 1e-4 * np.random.default_rng(5).normal(size=count) * (sound != 0)
    return sound


def sound_for(
    method: Anonymizer, seconds: float, *, rate_hz: int = RATE_HZ, pitch_hz: float = 120.0, peak: float = 0.5
) -> Audio:
    """Give a method what it works on: ``voice``, or, where it declares ``needs_words``, words by an offline voice."""
    if not getattr(method, "needs_words", False):
        return voice(seconds, rate_hz=rate_hz, pitch_hz=pitch_hz, peak=peak)
    spoken = resample(_spoken(3 if pitch_hz < 165 else 4), rate_hz).samples  # a low voice and a high one
    samples = np.resize(spoken, max(1, round(seconds * rate_hz)))
    return Audio((peak * samples / np.abs(samples).max()).astype(np.float32), rate_hz)


@cache
def _spoken(voice_number: int) -> Audio:
    text = "She threw the ball high above the chimney, and the fox slipped through a gap in the fence. "
    return Piper()(text, voice=voice_number, rate=1.0, rng=np.random.default_rng(1))


def hide(method: Anonymizer, audio: Audio, seed: int = 7) -> NDArray[np.float32]:
    return method(audio, rng=np.random.default_rng(seed)).samples


def level_db(samples: NDArray[np.float32]) -> float:
    return float(10 * np.log10(np.mean(np.square(samples.astype(np.float64)))))


def same_key_same_sound(method: Anonymizer) -> None:
    audio = sound_for(method, 1.0)
    assert np.array_equal(hide(method, audio), hide(method, audio))


def sound_changes(method: Anonymizer) -> None:
    audio = sound_for(method, 1.0)
    difference = hide(in_time(method), audio) - audio.samples
    assert level_db(difference) > level_db(audio.samples) - 20


def input_is_untouched(method: Anonymizer) -> None:
    audio = sound_for(method, 0.5)
    before = audio.samples.copy()
    audio.samples.flags.writeable = False
    hide(method, audio)
    assert np.array_equal(audio.samples, before)


def length_and_rate_are_kept(method: Anonymizer) -> None:
    for rate_hz in (8_000, 11_025, 16_000, 22_050, 44_100, 48_000):
        audio = sound_for(method, 0.5, rate_hz=rate_hz)
        result = in_time(method)(audio, rng=np.random.default_rng(1))
        assert (len(result.samples), result.rate_hz) == (len(audio.samples), rate_hz)
        assert np.isfinite(result.samples).all()


def other_lengths_are_declared(method: Anonymizer) -> None:
    audio = sound_for(method, 3.0)
    lengths = {len(hide(method, audio, seed)) for seed in (1, 2, 3)}
    assert keeps_timing(in_time(method))
    if keeps_timing(method):
        assert lengths == {len(audio.samples)}
        assert in_time(method) is method
    else:  # drawn, and never so far off that words could be missing
        assert len(lengths) > 1
        assert all(0.3 * len(audio.samples) < length < 2.5 * len(audio.samples) for length in lengths)
        assert method(audio, rng=np.random.default_rng(1)).rate_hz == audio.rate_hz


def silence_stays_silent(method: Anonymizer) -> None:
    for count in (1, 100, 16_000):
        assert not hide(method, Audio(np.zeros(count, dtype=np.float32), RATE_HZ)).any()


def silence_within_speech_stays_silent(method: Anonymizer) -> None:
    audio = sound_for(method, 1.0)
    gap = np.zeros(RATE_HZ, dtype=np.float32)
    result = hide(in_time(method), Audio(np.concatenate([audio.samples, gap, audio.samples]), RATE_HZ))
    assert np.abs(result[RATE_HZ + 1600 : 2 * RATE_HZ - 1600]).max() < 1e-4


def short_clips_survive(method: Anonymizer) -> None:
    for count in (1, 2, 3, 10, 79, 80, 159, 160, 161, 319, 320, 321, 1000):
        audio = Audio(sound_for(method, 0.4).samples[2000 : 2000 + count], RATE_HZ)
        assert len(hide(in_time(method), audio)) == count
        result = hide(method, audio)
        assert np.isfinite(result).all()
        assert np.abs(result).max() <= 1.0


def first_samples_are_not_zeroed(method: Anonymizer) -> None:
    audio = Audio(sound_for(method, 1.0).samples[1600:].copy(), RATE_HZ)
    if getattr(method, "needs_words", False):  # words are spoken anew: they begin where speech begins
        assert np.abs(hide(in_time(method), audio)[: RATE_HZ // 4]).max() > 0.01
        return
    first, result = slice(0, RATE_HZ // 100), hide(in_time(method), audio)
    kept = level_db(audio.samples) if getattr(method, "loudness_lufs", None) is None else level_db(result)
    assert level_db(result[first]) - kept > level_db(audio.samples[first]) - level_db(audio.samples) - 12


def loud_sound_stays_within_full_scale(method: Anonymizer) -> None:
    loud = sound_for(method, 1.0, peak=1.0)
    clipped = Audio(np.clip(loud.samples * 20, -1, 1), RATE_HZ)
    noise = Audio(np.random.default_rng(3).choice(np.array([-1, 1], dtype=np.float32), RATE_HZ), RATE_HZ)
    for audio in (loud, clipped, noise):
        result = hide(method, audio)
        assert np.isfinite(result).all()
        assert np.abs(result).max() <= 1.0


def loudness_is_kept_or_fixed(method: Anonymizer) -> None:
    """A method that declares ``loudness_lufs`` gives every recording that loudness; all others keep each one's own."""
    fixed = getattr(method, "loudness_lufs", None)
    for pitch_hz in (100.0, 220.0):
        for peak in (0.5, 0.01):
            audio = sound_for(method, 3.0, pitch_hz=pitch_hz, peak=peak)
            expected = loudness(audio.samples, RATE_HZ) if fixed is None else fixed
            assert abs(loudness(hide(method, audio), RATE_HZ) - expected) < 1.0


def strange_sounds_survive(method: Anonymizer) -> None:
    """They give sound; a method that speaks words may refuse half a second of them, in one line, as it does words."""
    for name, samples in _strange(method, 0.5).items():
        try:
            result = hide(method, Audio(samples.astype(np.float32), RATE_HZ))
        except RejectedSpeechError as error:
            assert getattr(method, "needs_words", False) and "\n" not in str(error), name
            continue
        assert np.isfinite(result).all(), name
        assert np.abs(result).max() <= 1.0, name


def what_is_no_speech_is_not_spoken(method: Anonymizer) -> None:
    """A method that speaks words leaves other sounds silent, and still hears words that are distorted."""
    if not getattr(method, "needs_words", False):
        return
    for name, samples in _strange(method, 3.0).items():
        result = hide(method, Audio(samples.astype(np.float32), RATE_HZ))
        assert np.isfinite(result).all() and np.abs(result).max() <= 1.0, name
        assert result.any() == (name in ("8 bit", "speech on a constant")), name


def _strange(method: Anonymizer, seconds: float) -> dict[str, NDArray[np.float64]]:
    t = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    rng = np.random.default_rng(2)
    return {
        "constant": np.full(len(t), 0.5),
        "tone": 0.5 * np.sin(2 * np.pi * 440 * t),
        "nyquist": 0.5 * np.cos(np.pi * np.arange(len(t))),
        "click": np.eye(1, len(t), 4000)[0],
        "noise": rng.uniform(-1, 1, len(t)),
        "8 bit": np.round(sound_for(method, seconds).samples * 127) / 128,
        "tiny": 1e-30 * rng.normal(size=len(t)),
        "speech on a constant": sound_for(method, seconds).samples * 0.5 + 0.4,
    }


def nan_is_refused(method: Anonymizer) -> None:
    for bad in (np.nan, np.inf):
        samples = sound_for(method, 0.2).samples.copy()
        samples[1234] = bad
        with pytest.raises(PersonareError, match="NaN or infinite"):
            hide(method, Audio(samples, RATE_HZ))


def nothing_gives_nothing(method: Anonymizer) -> None:
    assert len(hide(method, Audio(np.zeros(0, dtype=np.float32), RATE_HZ))) == 0


def ten_minutes_survive(method: Anonymizer) -> None:
    minute = sound_for(method, 60.0, rate_hz=8_000)
    audio = Audio(np.tile(minute.samples, 10), 8_000)
    result = hide(method, audio)
    assert not keeps_timing(method) or len(result) == len(audio.samples)
    assert np.isfinite(result).all()
    assert np.abs(result).max() <= 1.0


def fingerprint_is_of_this_class_and_version(method: Anonymizer) -> None:
    assert isinstance(method, Anonymizer)
    cls: type = type(method)
    assert isinstance(vars(cls)["VERSION"], int)
    before, version = method.fingerprint, vars(cls)["VERSION"]
    try:
        cls.VERSION = version + 1  # type: ignore[attr-defined]
        assert method.fingerprint != before
    finally:
        cls.VERSION = version  # type: ignore[attr-defined]
    assert method.fingerprint == before


def fingerprint_is_the_same_in_another_process(method: Anonymizer) -> None:
    process = _other_process()
    assert process.stdin is not None and process.stdout is not None
    pickle.dump(method, process.stdin)
    process.stdin.flush()
    assert process.stdout.readline().decode().strip() == method.fingerprint


@cache
def _other_process() -> subprocess.Popen[bytes]:
    """One process for all methods, which ends with this one: it prints the fingerprint of every method it is sent."""
    code = (
        "import pickle, sys\ntry:\n"
        "    while True: print(pickle.load(sys.stdin.buffer).fingerprint, flush=True)\n"
        "except EOFError: pass"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


CLAUSES: dict[str, Callable[[Anonymizer], None]] = {
    clause.__name__: clause
    for clause in (
        same_key_same_sound,
        sound_changes,
        input_is_untouched,
        length_and_rate_are_kept,
        other_lengths_are_declared,
        silence_stays_silent,
        silence_within_speech_stays_silent,
        short_clips_survive,
        first_samples_are_not_zeroed,
        loud_sound_stays_within_full_scale,
        loudness_is_kept_or_fixed,
        strange_sounds_survive,
        what_is_no_speech_is_not_spoken,
        nan_is_refused,
        nothing_gives_nothing,
        ten_minutes_survive,
        fingerprint_is_of_this_class_and_version,
        fingerprint_is_the_same_in_another_process,
    )
}
