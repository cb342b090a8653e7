"""Timing that is not the speaker's: the same rate for everybody, by what is said, and pauses that are drawn.

How fast somebody speaks, how long their sounds are, and where they stop to think, tell people apart as a voice does.
Nobody here knows the words; but content changes as they go by, and how far it moves in a second tells the rate at which
they are spoken: USUAL_SPEED and RATE_SLOPE are fitted to letters a second of training speakers
(benchmarks/speech_rate.py prints the fit, and what is left).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.xvector.prosody_choice import stretch_speeds
from personare.encoders.grid import PAIR, RATE_HZ, STEP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FRAME_S = STEP / RATE_HZ
USUAL_SPEED = 1.92  # how far smoothed content moves from one frame to the next, where somebody speaks at a usual rate
RATE_SLOPE = 2.5  # letters a second rise as this power of the speed of content
MOST_CHANGE = 1.4  # nobody becomes more than so many times as fast or as slow, before their tempo is drawn
LOCAL = 0.4  # how far sounds that last are shortened against those that change: 0 not at all, 1 until all are alike
PAUSE_DB = 30.0  # below the loud parts: nobody speaks
CLOSURE_S = 0.07  # silence up to this belongs to sounds (the closure of a p or t); longer ones become this, or a pause
APART_S = (1.2, 3.0)  # of speech from one pause to the next
PAUSE_S, PAUSE_SPREAD = 0.22, 0.3  # the median of a pause, and the spread of its logarithm
_LEAST_SPEED = 0.01  # a steady tone: content stands still
_SMOOTH = np.hanning(11)[1:-1] / np.hanning(11).sum()


def quiet_frames(energy_db: Floats, count: int) -> NDArray[np.bool_]:
    """Where nobody speaks, for each of ``count`` frames; ``energy_db`` is the level of fine frames, two for each."""
    level = energy_db[: count * PAIR].reshape(count, PAIR).mean(axis=1)
    quiet: NDArray[np.bool_] = level < np.quantile(level, 0.95) - PAUSE_DB
    return quiet


def even_places(
    content: Floats, quiet: NDArray[np.bool_], *, reach: float, tempo: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw where each frame of the result comes from, rising, from 0 to the last of ``content`` [frames, 288].

    Speech of every rate becomes ``tempo`` times as long as speech of the usual rate, and sounds that last a little
    shorter against the others; pauses are as many and as long as chance has it, and so is each stretch of speech, by
    ``reach`` (see ``retimed_places``).
    """
    spoken = ~quiet if not quiet.all() else quiet
    speed = content_speed(content)
    mean = float(speed[spoken].mean())
    rate = float(np.clip((mean / USUAL_SPEED) ** RATE_SLOPE, 1 / MOST_CHANGE, MOST_CHANGE))
    local = (speed / mean) ** LOCAL
    lasts = tempo * rate * (local / local[spoken].mean())
    if reach:
        lasts /= stretch_speeds(len(lasts), reach=reach, rng=rng)
    spoken_s = FRAME_S * np.concatenate([[0.0], np.cumsum(np.where(quiet, 0.0, lasts))])
    paused_s, apart_s = 0.0, rng.uniform(*APART_S)
    for first, last in _runs(quiet):
        length_s, becomes_s = (last - first) * FRAME_S, CLOSURE_S
        if length_s <= CLOSURE_S:
            continue
        if spoken_s[first] - paused_s >= apart_s:
            becomes_s = float(np.exp(rng.normal(np.log(PAUSE_S), PAUSE_SPREAD)))
            paused_s, apart_s = float(spoken_s[first]), rng.uniform(*APART_S)
        lasts[first:last] = becomes_s / length_s
    return _inverse(lasts)


def content_speed(content: Floats) -> NDArray[np.float64]:
    """How far smoothed content moves from each frame to the next, [frames]; of one frame alone, as far as usual."""
    if len(content) < 2:
        return np.full(len(content), USUAL_SPEED)
    padded = np.pad(content, ((len(_SMOOTH) // 2,) * 2, (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, len(_SMOOTH), axis=0)
    smooth = windows @ _SMOOTH.astype(np.float32)
    moved = np.linalg.norm(np.diff(smooth, axis=0), axis=1).astype(np.float64)
    speed: NDArray[np.float64] = np.maximum(np.concatenate([moved[:1], moved]), _LEAST_SPEED)
    return speed


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(first), int(last)) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def _inverse(lasts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where each frame of the result lies in the source, of whose frames each lasts so many."""
    ends = np.concatenate([[0.0], np.cumsum(lasts)])
    count = max(1, round(float(ends[-1])))
    places = np.interp((np.arange(count) + 0.5) * ends[-1] / count, ends, np.arange(len(ends))) - 0.5
    inside: NDArray[np.float64] = np.clip(places, 0, len(lasts) - 1)
    return inside
