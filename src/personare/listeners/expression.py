"""Is it said as before? F0 and energy contours, speaking rate and pauses of original and anonymized speech compared.

For speech whose timing the method changes: pauses are cut and time is normalized before contours are correlated (see
``metrics.utility.shape``). Every number stands beside its zero line: the same number with the rendering of another
recording of the same words. A words-only method lies on that line.

rate     syllable-like peaks of the level per second of speech, in octaves
pauses   share of the time between the first and the last sound that is at least 30 dB below the loudest
Both are compared by concordance (CCC) over all utterances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError, MetricError
from personare.core.findings import Finding
from personare.core.observations import (
    FROM_ORIGINAL,
    SIDES,
    Observation,
    ObservedUtterance,
    Side,
    Stimulus,
    SummaryContext,
    UtilitySummary,
)
from personare.core.protocols import Listener
from personare.core.requirements import Requirements
from personare.encoders.spectra import RATE_HZ, STEP, power_spectra
from personare.listeners.means import no_estimate
from personare.listeners.pitch import WorldPitch
from personare.listeners.windows import is_silent
from personare.metrics import card
from personare.metrics.utility.concordance import ccc, ccc_estimate
from personare.metrics.utility.quality import mean_estimate
from personare.metrics.utility.shape import POINTS, contour_points, same_words_pairs, shape_correlations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SHORTEST_S = 0.3
FEWEST_VOICED = 5
GATE_DB = 30.0
PROMINENCE_DB = 3.0
SHAPES = ("f0_shape", "energy_shape")
AGREEMENTS = ("rate", "pauses")
TEXT = "text"
NO_PAIRS = "no two utterances share their words, so there is no zero line; compare with a words-only method"
_FRAME_S = STEP / RATE_HZ
_SMOOTH = 9  # frames of 10 ms


@dataclass(frozen=True)
class Expression(Listener):
    """Compare how something is said: F0 and energy shape without tempo, speaking rate and pauses."""

    paper: ClassVar[str] = ""
    gives: ClassVar[tuple[str, ...]] = (*SHAPES, "ccc")
    requires = Requirements("the listener 'expression'", {"pyworld": "pitch"})

    fingerprint = "expression-1"

    @property
    def summary_fingerprint(self) -> str:
        """How contours are compared."""
        return "expression-summary-1"

    @property
    def needs_original(self) -> bool:
        """Everything compares with the original."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """The words, for the zero line."""
        return (TEXT,)

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Measure the contours, the rate and the pauses of each stimulus."""
        return [Observation(values=measured(stimulus.audio)) for stimulus in batch]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Correlate each original with its rendering, and with those of other recordings of the same words."""
        kept = [row for row in rows if all(side in row.sides for side in SIDES)]
        speakers = [context.speakers[row.utterance] for row in kept]
        texts = context.noted.get(TEXT, {})
        one, other = same_words_pairs([texts.get(row.utterance, "") for row in kept], speakers)
        notes = [NO_PAIRS] if kept and not len(one) else []
        findings = [*_shapes(kept, speakers, context, (one, other))]
        for name in AGREEMENTS:
            before, after = (np.array([row.sides[side].values[name] for row in kept]) for side in SIDES)
            estimate, zero, failed = no_estimate(), None, context.total
            try:
                estimate, failed = ccc_estimate(before, after, speakers=speakers), failed - len(kept)
                zero = ccc(before[one], after[other]) if len(one) > 1 else None
            except MetricError as error:  # one utterance, or the same value each time
                notes.append(f"{name}: {error}")
            about = {"of": name, "reference": FROM_ORIGINAL}
            findings.append(Finding(card("ccc"), estimate, about, failed=failed, chance=zero))
        return UtilitySummary(tuple(findings), tuple(notes))


def _shapes(
    rows: Sequence[ObservedUtterance],
    speakers: Sequence[str],
    context: SummaryContext,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> Iterator[Finding]:
    for name in SHAPES:
        points: dict[Side, Floats] = {side: _points(rows, side, name) for side in SIDES}
        estimate, zero, failed = no_estimate(), None, context.total
        if rows:
            own = shape_correlations(points["original"], points["anonymized"])
            defined = np.isfinite(own)
            if defined.any():
                who = [speaker for speaker, known in zip(speakers, defined, strict=True) if known]
                estimate = mean_estimate(own[defined], speakers=who, bounds=card(name).bounds)
                failed -= len(who)
            others = shape_correlations(points["original"][pairs[0]], points["anonymized"][pairs[1]])
            zero = float(np.nanmean(others)) if np.isfinite(others).any() else None
        yield Finding(card(name), estimate, {"reference": FROM_ORIGINAL}, failed=failed, chance=zero)


def _points(rows: Sequence[ObservedUtterance], side: Side, name: str) -> Floats:
    return np.array([[row.sides[side].values[f"{name}_{i}"] for i in range(POINTS)] for row in rows])


def measured(audio: Audio) -> Mapping[str, float]:
    """Measure one sound: the points of F0 (octaves) and level (dB), the rate (octaves) and the share of pauses."""
    sound = resample(audio, RATE_HZ)
    if sound.duration_s < SHORTEST_S or is_silent(sound):
        raise AudioError(f"expression needs {SHORTEST_S:g} s of sound; this is silent or shorter")
    level = 10 * np.log10(power_spectra(sound.samples).sum(axis=1) + 1e-10)
    track = WorldPitch()([sound])[0][: len(level)]
    level = level[: len(track)]
    speech = level >= np.quantile(level, 0.95) - GATE_DB
    voiced = (track > 0) & speech
    if voiced.sum() < FEWEST_VOICED:
        raise AudioError(f"expression needs {FEWEST_VOICED} voiced frames; this has {int(voiced.sum())}")
    octaves = np.full(len(track), np.nan)
    octaves[voiced] = np.log2(track[voiced])
    contours = {"f0_shape": contour_points(octaves, speech), "energy_shape": contour_points(level, speech)}
    spoken = np.flatnonzero(speech)
    within = speech[spoken[0] : spoken[-1] + 1]
    rate_hz = max(1, _peaks(level, speech)) / (speech.sum() * _FRAME_S)
    values = {f"{name}_{i}": float(value) for name, points in contours.items() for i, value in enumerate(points)}
    return {**values, "rate": float(np.log2(rate_hz)), "pauses": float(1 - within.mean())}


def _peaks(level: Floats, speech: NDArray[np.bool_]) -> int:
    """Count syllable-like peaks of the smoothed level."""
    from scipy import signal

    floor = level[speech].min()
    window = np.hanning(_SMOOTH + 2)[1:-1]
    smooth = np.convolve(np.maximum(level, floor), window / window.sum(), mode="same")
    return len(signal.find_peaks(smooth, prominence=PROMINENCE_DB)[0])
