"""Fits the map that gives the neural voice its treble (8 to 12 kHz), to speech of Kokoro's voices, and says how well.

Run it after changing the bands or the inputs in src/personare/anonymizers/neural/xvector/treble.py; it needs the model
kokoro, and some minutes of one core:

    personare models fetch kokoro
    python examples/fit_treble.py src/personare/anonymizers/neural/xvector/shipped/treble.npz

Then write the SHA-256 it prints into treble.py. Eleven voices read 120 of our sentences; two others read 24 other
sentences, for the figures. Four of Kokoro's American voices are left out: they end at 10 kHz.
"""

from __future__ import annotations

import hashlib
import io
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.xvector import treble
from personare.core import bands
from personare.core.audio import resample
from personare.corpora.voices.reading_aloud import READERS, read_aloud
from personare.corpora.voices.text import sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

NARROW = ("af_jessica", "af_river", "am_eric", "am_liam")
HELD_OUT = ("af_sarah", "am_echo")
FITTED_SENTENCES, HELD_OUT_SENTENCES = 120, 24
QUIETEST_DB = -50.0  # against the loud moments of a sentence: softer frames are pauses, and nothing is learnt of them
UNITS, STEPS, BATCH, RATE, DECAY = (
    32,
    4000,
    512,
    2e-3,
    1e-3,
)  # units and decay: best on the last fifth of what is fitted
SEEN = (0.5, 99.5)  # percentiles of the levels of speech between which predictions stay
DB = 10 / np.log(10)


def measured(readers: list[int], first: int, count: int) -> tuple[Floats, Floats, Floats]:
    """Let readers read sentences in turn: inputs of the map, levels it shall give, and the power of the frames."""
    parts = []
    for k, sentence in enumerate(sentences()[first : first + count]):
        wide, _ = read_aloud(sentence.american, reader=readers[k % len(readers)], rate_hz=treble.RATE_HZ)
        inputs, power = treble.low_levels(resample(wide, bands.RATE_HZ).samples)
        above = treble.treble_powers(wide.samples)
        frames = np.flatnonzero(inputs[: len(above), -1] * DB > QUIETEST_DB)
        levels = np.log(above[frames] + 1e-12) - np.log(power[frames, None])
        parts.append((inputs[frames], levels, power[frames]))
    inputs, levels, power = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return inputs, levels, power


def fitted(inputs: Floats, levels: Floats, *, rng: np.random.Generator) -> treble.TrebleMap:
    """Fit the two layers by Adam to the least mean square of logarithms; the rate falls to 0 as a cosine."""
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0) + 1e-3
    centre, width = levels.mean(axis=0), levels.std(axis=0)
    layers = [rng.normal(size=(inputs.shape[1], UNITS)) / np.sqrt(inputs.shape[1]), np.zeros(UNITS)]
    layers += [rng.normal(size=(UNITS, levels.shape[1])) / np.sqrt(UNITS), np.zeros(levels.shape[1])]
    first, second = [np.zeros_like(one) for one in layers], [np.zeros_like(one) for one in layers]
    standard, wanted = np.clip((inputs - mean) / spread, -4, 4), (levels - centre) / width
    for step in range(STEPS):
        some = rng.integers(len(standard), size=BATCH)
        units = np.tanh(standard[some] @ layers[0] + layers[1])
        error = (units @ layers[2] + layers[3] - wanted[some]) / BATCH
        back = error @ layers[2].T * (1 - units**2)
        gradients = (standard[some].T @ back, back.sum(axis=0), units.T @ error, error.sum(axis=0))
        rate = RATE * (1 + np.cos(np.pi * step / STEPS)) / 2
        for k, gradient in enumerate(gradients):
            first[k] = 0.9 * first[k] + 0.1 * gradient
            second[k] = 0.999 * second[k] + 0.001 * gradient**2
            slope = first[k] / (1 - 0.9 ** (step + 1)) / (np.sqrt(second[k] / (1 - 0.999 ** (step + 1))) + 1e-12)
            layers[k] = layers[k] - rate * (slope + DECAY / RATE * layers[k])
    lowest, highest = np.percentile(levels, SEEN, axis=0)
    numbers = (mean, spread, layers[0], layers[1], layers[2] * width, layers[3] * width + centre, lowest, highest)
    return treble.TrebleMap(*(one.astype(np.float32) for one in numbers))


def main(place: Path) -> None:
    """Fit, write, and print what the map is worth on voices and sentences it has not seen."""
    fit = [k for k, name in enumerate(READERS) if name not in NARROW + HELD_OUT]
    inputs, levels, _ = measured(fit, 0, FITTED_SENTENCES)
    found = fitted(inputs, levels, rng=np.random.default_rng(1))
    stream = io.BytesIO()
    np.savez(stream, **asdict(found))
    place.write_bytes(stream.getvalue())
    inputs, levels, power = measured([READERS.index(name) for name in HELD_OUT], FITTED_SENTENCES, HELD_OUT_SENTENCES)
    guess = found(inputs)
    print("| band, kHz | correlation | error, dB | power, dB |\n|---|---|---|---|")
    for k, centre_hz in enumerate(np.linspace(*treble.BAND_HZ, treble.TREBLE_BANDS)):
        correlation = np.corrcoef(guess[:, k], levels[:, k])[0, 1]
        error_db = DB * float(np.sqrt(np.mean(np.square(guess[:, k] - levels[:, k]))))
        power_db = DB * float(np.log(np.mean(power * np.exp(guess[:, k])) / np.mean(power * np.exp(levels[:, k]))))
        print(f"| {centre_hz / 1000:.1f} | {correlation:.2f} | {error_db:.1f} | {power_db:+.1f} |")
    print(f"{len(inputs)} held-out frames; {place.stat().st_size / 1000:.0f} kB")
    print(f"SHA-256 {hashlib.sha256(place.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
