"""Comparing an anonymized folder with its originals: what is the same, and how often one is found from the other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from personare.core.audio import Audio, resample
from personare.core.findings import Finding
from personare.core.utterances import Utterance
from personare.engine import Engine, Result
from personare.metrics.privacy import relink

_WAVE_HZ, _WAVE_S = 4_000, 2.0
_SAME = 0.999
_SILENCE_S = 0.05


@dataclass(frozen=True, eq=False)
class Trace:
    """What of a recording can be compared without knowing any voice."""

    duration_s: float
    samples: int
    rate_hz: int
    envelope: NDArray[np.float64]
    wave: NDArray[np.float64]
    channels: tuple[bytes, ...]
    dc: float
    zero_runs: int


@dataclass(frozen=True)
class TraceWork:
    """Reads one recording, for any engine."""

    def __call__(self, item: Utterance) -> Trace:
        """Give what can be compared of it."""
        channels = item.read_channels()
        return trace_of(channels)


def trace_of(channels: Sequence[Audio]) -> Trace:
    """Take the traces of a recording; all channels count for untouched ones, the first one for the others."""
    first = channels[0]
    mono = first.samples
    slow = resample(
        Audio(np.ascontiguousarray(mono[: round((_WAVE_S + 0.5) * first.rate_hz)]), first.rate_hz), _WAVE_HZ
    )
    wave = np.zeros(round(_WAVE_S * _WAVE_HZ))
    some = slow.samples[: len(wave)].astype(np.float64)
    wave[: len(some)] = some
    marks = tuple(hashlib.sha256(np.rint(c.samples * 32767).astype("<i2").tobytes()).digest() for c in channels)
    return Trace(
        first.duration_s,
        len(mono),
        first.rate_hz,
        relink.envelope_of(mono, first.rate_hz),
        wave,
        marks,
        float(mono.mean(dtype=np.float64)),
        _zero_runs(mono, first.rate_hz),
    )


def _zero_runs(samples: NDArray[np.float32], rate_hz: int) -> int:
    """Count stretches of exact zeros of 50 ms and more: silence that a machine made, and that lies where it lay."""
    zero = np.concatenate([[False], samples == 0, [False]])
    edges = np.flatnonzero(np.diff(zero.astype(np.int8)))
    return int(((edges[1::2] - edges[::2]) >= _SILENCE_S * rate_hz).sum())


def traces(
    items: Sequence[Utterance], *, engine: Engine, watch: Callable[[Result[Utterance, Trace]], None]
) -> tuple[dict[str, Trace], list[tuple[str, str]]]:
    """Take the traces of many recordings: by utterance, and (utterance, reason) of those that cannot be read."""
    found, failed = {}, []
    for result in engine.map(TraceWork(), items):
        watch(result)
        if result.value is None:
            failed.append((result.item.utterance, result.error or "failed"))
        else:
            found[result.item.utterance] = result.value
    return found, failed


@dataclass(frozen=True, eq=False)
class Pairs:
    """Anonymized recordings whose original is known: their traces, words and speakers, row by row."""

    names: Sequence[str]
    speakers: Sequence[str]
    anonymized: Sequence[Trace]
    right: Sequence[int]
    anonymized_texts: Sequence[str | None]
    originals: Sequence[Trace]
    original_texts: Sequence[str | None]


def relink_findings(pairs: Pairs) -> list[Finding]:
    """Measure relinking by duration, envelope, transcript and waveform; chance is 1/N."""
    before, after, chance = pairs.originals, pairs.anonymized, 1 / len(pairs.originals)
    tables = [
        (relink.DURATION_CARD, relink.duration_likeness([t.duration_s for t in after], [t.duration_s for t in before])),
        (relink.ENVELOPE_CARD, np.stack([t.envelope for t in after]) @ np.stack([t.envelope for t in before]).T),
        (
            relink.WAVEFORM_CARD,
            relink.waveform_likeness(np.stack([t.wave for t in after]), np.stack([t.wave for t in before])),
        ),
    ]
    if any(text is not None for text in pairs.anonymized_texts):
        tables.append((relink.TRANSCRIPT_CARD, relink.text_likeness(pairs.anonymized_texts, pairs.original_texts)))
    findings = []
    for card, likeness in tables:
        estimate = relink.relink_estimate(likeness, pairs.right, speakers=list(pairs.speakers))
        findings.append(Finding(card, estimate, {"N": len(before)}, chance=chance))
    return findings


def untouched(pairs: Pairs) -> list[tuple[str, str]]:
    """Name recordings that are the original, have a channel of it, or only its samples with a gain or a delay."""
    found = []
    for name, after, right in zip(pairs.names, pairs.anonymized, pairs.right, strict=True):
        before = pairs.originals[right]
        if set(after.channels) == set(before.channels):
            found.append((name, "is its original, sample by sample"))
        elif set(after.channels) & set(before.channels):
            found.append((name, "has a channel that nobody has touched"))
        elif float(relink.waveform_likeness(after.wave[None], before.wave[None])[0, 0]) > _SAME:
            found.append((name, "is its original with a gain or a delay, which can be undone"))
    return found
