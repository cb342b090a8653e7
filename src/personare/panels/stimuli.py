"""The sounds of a panel: cut, all equally loud, under names that say nothing, without tags.

All are brought to one loudness (ITU-R BS.1770), as loud as the loudest peak allows, and to one sample rate, so that
neither tells original from anonymized speech; what a system took from the sound is not given back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from personare.core.audio import Audio, probe, read_mono, resample, write
from personare.core.errors import AudioError
from personare.core.loudness import integrated_lufs
from personare.core.seeding import Key, rng_for
from personare.panels.design import PanelStimulus

LOUDNESS_DB, PEAK_DB, FADE_S = -23.0, -1.0, 0.01
TONE_S, TONE_HZ, TONE_DB, QUIETER_DB, ROUNDS, TONES = 0.8, 200.0, -20.0, 6.0, 3, 3
HEADPHONES = "headphones"


def write_stimuli(
    stimuli: Iterable[PanelStimulus], folder: Path, *, key: Key, watch: Callable[[int], None] = lambda _: None
) -> dict[str, float]:
    """Write every stimulus once; gives the seconds of each by its token."""
    by_token = {one.token(key): one for one in stimuli}
    rate_hz = max(probe(one.recording.path).rate_hz for one in by_token.values())
    measured = {}
    for token, one in by_token.items():
        sound = _sound(one, rate_hz, key)
        level = integrated_lufs(sound.samples.astype(np.float64), rate_hz)
        if not math.isfinite(level):
            raise AudioError(
                f"{one.recording.path}: silent for as long as it would be heard; leave it out of the study"
            )
        measured[token] = (level, 20 * math.log10(float(np.abs(sound.samples).max())))
    common = min(LOUDNESS_DB, *(level + PEAK_DB - peak for level, peak in measured.values()))
    seconds = {}
    for number, (token, one) in enumerate(by_token.items(), start=1):
        sound = _sound(one, rate_hz, key)
        gain = 10 ** ((common - measured[token][0]) / 20)
        write(folder / f"{token}.flac", Audio((sound.samples * gain).astype(np.float32), rate_hz))
        seconds[token] = sound.duration_s
        watch(number)
    return seconds


def _sound(stimulus: PanelStimulus, rate_hz: int, key: Key) -> Audio:
    """Read a recording as it is heard: cut, faded at both ends, of this rate."""
    r = stimulus.recording
    end = r.end_s
    if stimulus.cut_s is not None:
        end = min(r.start_s + stimulus.cut_s, math.inf if end is None else end, probe(r.path).duration_s)
    sound = resample(read_mono(r.path, start_s=r.start_s, stop_s=end), rate_hz)
    samples = sound.samples.astype(np.float64)
    if stimulus.made == "noise":
        samples = spectrum_noise(samples, rng_for(key, "noise", r.utterance))
    fade = min(round(FADE_S * rate_hz), len(samples) // 2)
    if fade:
        ramp = np.linspace(0.0, 1.0, fade)
        samples[:fade] *= ramp
        samples[-fade:] *= ramp[::-1]
    return Audio(samples.astype(np.float32), rate_hz)


def spectrum_noise(
    samples: np.ndarray[tuple[int], np.dtype[np.float64]], rng: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Keep how strong every frequency is, and draw all phases anew: nothing can be understood any more."""
    spectrum = np.fft.rfft(samples)
    phases = np.exp(2j * np.pi * rng.random(len(spectrum)))
    noise = np.fft.irfft(np.abs(spectrum) * phases, len(samples))
    return noise / max(1e-9, float(np.abs(noise).max())) * 0.5


def write_headphone_check(folder: Path, *, key: Key, tone_s: float = TONE_S) -> Mapping[str, int]:
    """Write the headphone check: three tones, one of them quieter; gives the place of the quiet one by token.

    One of the other tones is in antiphase: over loudspeakers it cancels and seems to be the quiet one, over headphones
    it does not (Woods et al., Attention, Perception & Psychophysics 79, 2017).
    """
    from personare.core.seeding import token_for

    rate_hz = 44_100
    quiet_at = {}
    for number in range(ROUNDS):
        rng = rng_for(key, HEADPHONES, str(number))
        quiet, anti, plain = (int(i) for i in rng.permutation(TONES))
        t = np.arange(round(tone_s * rate_hz)) / rate_hz
        shape = np.minimum(1.0, np.minimum(t, tone_s - t) / (tone_s / 8))
        tone = 10 ** (TONE_DB / 20) * np.sin(2 * np.pi * TONE_HZ * t) * shape
        pause = np.zeros(round(0.6 * tone_s * rate_hz))
        sides = {quiet: (10 ** (-QUIETER_DB / 20),) * 2, anti: (1.0, -1.0), plain: (1.0, 1.0)}
        channels = []
        for side in (0, 1):
            parts = [part for place in range(TONES) for part in (sides[place][side] * tone, pause)]
            channels.append(Audio(np.concatenate(parts[:-1]).astype(np.float32), rate_hz))
        token = token_for(key, HEADPHONES, str(number), digits=24)
        write(folder / f"{token}.flac", channels)
        quiet_at[token] = quiet + 1
    return quiet_at
