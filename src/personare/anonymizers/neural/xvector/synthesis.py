"""Synthesis: content, prosody and a speaker vector made into sound, at the level of the original or at a fixed one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from personare.core import bands
from personare.core.loudness import integrated_lufs
from personare.encoders.grid import PAIR, RATE_HZ
from personare.encoders.prosody import ProsodyTrack, features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.anonymizers.neural.xvector.weights import SynthesizerModel

    Floats = NDArray[np.float32]

CROSSFADE = 320  # samples by which a phrase reaches into its neighbours
_LEVEL_S = 2.0  # the level of the original is followed under windows of this length
_PAUSE_DB, _SILENCE_DB, _ATTENUATION_DB = -30.0, -45.0, 12.0  # noise in pauses is attenuated: it carries no words
_MAX_GAIN = 30.0
LOUDNESS_LUFS = -23.0  # of sound whose level has nothing to do with the original's: broadcasting's (EBU R 128)


def synthesize(
    model: SynthesizerModel,
    content: Floats,
    track: ProsodyTrack,
    vector: Floats,
    *,
    length: int,
    rng: np.random.Generator,
    mask: bool = False,
    is_read: bool = False,
    language: str = "en",
    change: Callable[[Floats], Floats] | None = None,
) -> Floats:
    """Make ``length`` samples at 16 kHz from content on the network's frames [frames, 288].

    With ``mask``, from content with less of the speaker in it; ``is_read``: the reader of ``language`` made it.
    ``change`` is applied to the log-strengths of the bands [fine frames, bands].
    """
    count = len(content)
    content = model.masked(content) if mask else content
    logs = model.log_bands(content, features(track, count), vector, is_read=is_read, language=language)
    logs = logs.reshape(-1, bands.BANDS)
    logs = logs if change is None else change(logs)
    logs[:, bands.HARMONIC_BANDS :] -= _pause_attenuation(track.energy_db[: len(logs)])[:, None]
    harmonic = bands.pulses(track.f0_hz[: count * PAIR], phase=float(rng.random()))
    noise = rng.standard_normal(len(harmonic), dtype=np.float32)
    return bands.synthesize(harmonic, noise, logs)[:length]


def _pause_attenuation(energy_db: Floats) -> Floats:
    """How much softer the noise of a frame becomes (natural logarithm): not in speech, by 12 dB in sure pauses."""
    share = np.clip((_PAUSE_DB - energy_db) / (_PAUSE_DB - _SILENCE_DB), 0.0, 1.0)
    attenuation: Floats = (share * (_ATTENUATION_DB / 20 * np.log(10))).astype(np.float32)
    return attenuation


def crossfade(pieces: Iterable[tuple[int, Floats]], length: int) -> Floats:
    """Put pieces of sound at their first samples; where they overlap, each fades into the next."""
    result, total = np.zeros((2, length), np.float32)
    for first, piece in pieces:
        last = first + len(piece)
        rising = np.minimum((np.arange(len(piece), dtype=np.float32) + 1) / (2 * CROSSFADE), 1)
        share = np.ones_like(rising) if first == 0 else rising
        share = share if last == length else np.minimum(share, rising[::-1])
        result[first:last] += piece * share
        total[first:last] += share
    return result / total


def one_after_another(pieces: Iterable[Floats]) -> tuple[list[tuple[int, Floats]], int]:
    """Lay out pieces whose lengths are known only when they are made: first samples, and the length of the whole."""
    laid, end = list[tuple[int, "Floats"]](), 0
    for piece in pieces:
        laid.append((max(0, end - 2 * CROSSFADE), piece))
        end = laid[-1][0] + len(piece)
    return laid, end


def match_level(original: Floats, synthesized: Floats) -> Floats:
    """Follow the level of the original under windows of 2 s; where the whole became longer, so do they."""
    ours, theirs = _levels(synthesized), _levels(original)
    theirs = np.interp(np.linspace(0, len(theirs) - 1, len(ours)), np.arange(len(theirs)), theirs)
    gains = np.minimum(theirs / np.maximum(ours, 1e-9), _MAX_GAIN)
    step = round(_LEVEL_S * RATE_HZ / 4)
    centres = np.arange(len(gains)) * step
    return synthesized * np.interp(np.arange(len(synthesized)), centres, gains).astype(np.float32)


def fixed_level(synthesized: Floats) -> Floats:
    """Give the sound one loudness, whatever the original's was."""
    lufs = integrated_lufs(synthesized.astype(np.float64), RATE_HZ)
    if not np.isfinite(lufs):
        return synthesized
    return synthesized * np.float32(10 ** ((LOUDNESS_LUFS - lufs) / 20))


def _levels(sound: Floats) -> NDArray[np.float64]:
    """Root mean square under Hann windows of 2 s, a quarter of a window apart, the first around the start."""
    size = round(_LEVEL_S * RATE_HZ)
    padded = np.pad(sound.astype(np.float64), (size // 2, size))
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)[:: size // 4][: len(sound) // (size // 4) + 2]
    levels: NDArray[np.float64] = np.sqrt(np.einsum("ft,ft,t->f", windows, windows, np.hanning(size + 2)[1:-1]))
    return levels


def silent_stretches(sound: Floats, *, least_s: float) -> NDArray[np.bool_]:
    """Stretches of at least so long without any sound at all."""
    least = round(least_s * RATE_HZ)
    still = (sound == 0).astype(np.int8)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still, [0]])))
    silent = np.zeros(len(sound), bool)
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        if last - first >= least:
            silent[first:last] = True
    return silent
