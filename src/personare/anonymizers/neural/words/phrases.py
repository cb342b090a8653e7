"""Where somebody speaks: a recording cut into phrases at its pauses, by how its own level rises and falls.

A phrase is what is recognized and spoken at a time. Short ones are joined to their neighbours, because a recognizer
errs less with more context; long ones are cut where they are quietest. Levels are compared with the recording's own,
so that a recording that is twice as loud has the same phrases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RATE_HZ = 16_000
STEP_S = 0.02
PAUSE_S = 0.3  # quieter for so long is a pause
SHORT_S, LONG_S = 2.5, 12.0  # shorter phrases look for company; longer ones are cut
_JOINED_S = 8.0  # two phrases are joined up to here
_JOIN_PAUSE_S = 0.6  # over no longer pause
_RANGE_DB = 40.0  # speech is at most so far below the loudest of the recording
_SHARE = 0.3  # of the way from the quietest to the loudest, where speech begins
_MUTED_S = 0.2
_MARGIN_S, _WIDE_MARGIN_S = 0.1, 0.3  # sound kept around a phrase, and around one that need not be in its place


@dataclass(frozen=True)
class Phrase:
    """A stretch of a recording in which somebody speaks, in samples of 16 kHz."""

    start: int
    end: int

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return (self.end - self.start) / RATE_HZ


def find_phrases(
    samples: Floats, *, longest_s: float | None = None, most_pause_s: float = float("inf")
) -> list[Phrase]:
    """Cut 16 kHz samples into phrases; silence has none.

    With ``longest_s``, neighbours are joined up to so long over pauses of at most ``most_pause_s``, and more sound is
    kept around them: where it does not matter when a phrase began, more context gives fewer errors.
    """
    step = round(STEP_S * RATE_HZ)
    powers = _powers(samples, step)
    if not len(powers) or powers.max() <= 0:
        return []
    runs = _runs(_speaking(powers))
    joined = _join(runs) if longest_s is None else _join_all(runs, longest_s, most_pause_s)
    longest = round((longest_s or LONG_S) / STEP_S)
    cut = [part for run in joined for part in _cut(run, powers, longest=longest)]
    margin, last = round((_MARGIN_S if longest_s is None else _WIDE_MARGIN_S) / STEP_S), len(powers)
    ends = [0, *(run[1] for run in cut[:-1])]
    starts = [*(run[0] for run in cut[1:]), last]
    return [
        Phrase(step * max(first - margin, before), min(step * min(end + margin, after), len(samples)))
        for (first, end), before, after in zip(cut, ends, starts, strict=True)
    ]


def _powers(samples: Floats, step: int) -> NDArray[np.float64]:
    """Mean square of every 20 ms, the last one filled up with silence."""
    count = -(-len(samples) // step)
    powers = np.zeros(count)
    for first in range(0, count, 4096):  # long recordings are not copied whole
        some = samples[first * step : (first + 4096) * step].astype(np.float64)
        some = np.pad(some, (0, -len(some) % step))
        powers[first : first + len(some) // step] = np.square(some).reshape(-1, step).mean(axis=1)
    return powers


def _speaking(powers: NDArray[np.float64]) -> NDArray[np.bool_]:
    levels = 10 * np.log10(np.maximum(powers, 1e-12 * powers.max()))
    heard = levels[levels > levels.max() - 3 * _RANGE_DB]  # digital silence says nothing about the room
    loud, quiet = np.percentile(heard, 95), np.percentile(heard, 10)
    threshold = max(loud - _RANGE_DB, min(quiet + _SHARE * (loud - quiet), loud - 15))
    above: NDArray[np.bool_] = levels > threshold
    return above


def _runs(speaking: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First step and the one after the last of every run that no pause interrupts."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], speaking.astype(np.int8), [0]])))
    runs: list[tuple[int, int]] = []
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if runs and (first - runs[-1][1]) * STEP_S < PAUSE_S:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((first, end))
    return runs


def _join(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, end in runs:
        if joined:
            before = joined[-1]
            is_short = min(before[1] - before[0], end - first) * STEP_S < SHORT_S
            fits = (end - before[0]) * STEP_S <= _JOINED_S and (first - before[1]) * STEP_S <= _JOIN_PAUSE_S
            if is_short and fits:
                joined[-1] = (before[0], end)
                continue
        joined.append((first, end))
    return joined


def _join_all(runs: list[tuple[int, int]], longest_s: float, most_pause_s: float) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, end in runs:
        near = joined and (first - joined[-1][1]) * STEP_S <= most_pause_s
        if near and (end - joined[-1][0]) * STEP_S <= longest_s:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((first, end))
    return joined


def _cut(run: tuple[int, int], powers: NDArray[np.float64], *, longest: int) -> list[tuple[int, int]]:
    """Cut a run of more than ``longest`` steps in the quietest 0.2 s of its second half, again and again."""
    first, end = run
    width = round(0.2 / STEP_S)
    parts: list[tuple[int, int]] = []
    while end - first > longest:
        smooth = np.convolve(powers[first : first + longest], np.full(width, 1 / width), mode="valid")
        half = len(smooth) // 2
        cut = first + half + int(smooth[half:].argmin()) + width // 2
        parts.append((first, cut))
        first = cut
    return [*parts, (first, end)]


def digital_silences(samples: Floats, rate_hz: int) -> list[float]:
    """Where, in seconds, stretches of at least 0.2 s without any sound at all begin: what was muted stays muted."""
    still = (samples == 0).astype(np.int8)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still, [0]])))
    runs = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    return [first / rate_hz for first, end in runs if end - first >= _MUTED_S * rate_hz]
