"""Speak a transcript with a pseudo-speaker: one phrase after the other, or each in its place without losing a word.

A phrase is spoken at the voice's own rate. Where it has a place and would not end before the original phrase did, it is
spoken faster, as far as that still sounds natural; then it may use the pause that follows, and only then is it hurried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from personare.anonymizers.neural.cascade.coarse_prosody import NEUTRAL, PhraseProsody, at_pitch
from personare.anonymizers.neural.cascade.expression import SentencePart, changed_f0, filtered, sentence_parts
from personare.anonymizers.neural.words.transcript import Segment, mark_sound
from personare.core.audio import Audio, resample
from personare.core.loudness import integrated_lufs
from personare.core.progress import advance
from personare.core.seeding import Key, rng_for
from personare.encoders import swift
from personare.languages import language
from personare.voices.synthesizer import PhonemeSynthesizer, SpeaksWithF0, Synthesizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LOUDNESS_LUFS = -23.0  # of every phrase, whatever the original's was: broadcasting's (EBU R 128)
NATURAL_RATES, HURRIED_RATE = (0.8, 1.35), 2.0  # Kokoro speaks no faster than twice its rate
GAP_S = 0.1  # between two phrases at least
PAUSES_S, MARGIN_S = (0.25, 0.45), (0.05, 0.25)  # drawn between phrases, and at both ends
_FADE_S = 0.005
_QUIET_DB = 45.0  # so far below its peak, a spoken phrase has not begun or is over
_CLOSE = 1.02  # within 2 % of the time there is


@dataclass(frozen=True)
class Slot:
    """When a phrase was spoken, when the next one begins, and until when it may be spoken anew, in seconds."""

    start_s: float
    end_s: float
    next_s: float
    until_s: float


class SpeaksPhrases(Protocol):
    """A pseudo-speaker, as far as it speaks phrase by phrase."""

    @property
    def rate_hz(self) -> int:
        """Sample rate of what it speaks."""
        ...

    def speak(self, segments: Sequence[Segment], *, place: int, rate: float) -> Floats:
        """Speak one phrase; ``place`` is its number in the recording."""
        ...


@dataclass(frozen=True)
class PhraseSpeaker:
    """A voice of an offline synthesizer with its key; the same place and rate give the same sound.

    Parameters
    ----------
    rate_hz : sample rate of what it gives.
    prosody : how high and how loud the phrase of each place is spoken against the others; none: all alike.
    """

    synthesizer: Synthesizer | PhonemeSynthesizer
    voice: int
    key: Key
    rate_hz: int
    prosody: tuple[PhraseProsody, ...] = ()

    def speak(self, segments: Sequence[Segment], *, place: int, rate: float) -> Floats:
        """Speak one phrase; ``place`` is its number in the recording."""
        parts = []
        prosody = self.prosody[place] if self.prosody else NEUTRAL
        sentence = sentence_parts([one.text for one in segments], prosody.expression)
        for number, (segment, part) in enumerate(zip(segments, sentence, strict=True)):
            if segment.kind == "words":
                rng = rng_for(self.key, "phrase", str(place), str(number))
                parts.append(self._words(segment, rate, prosody, part, rng))
            else:
                parts.append(mark_sound(segment.kind, self.rate_hz))
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def _words(
        self,
        segment: Segment,
        rate: float,
        prosody: PhraseProsody,
        part: SentencePart | None,
        rng: np.random.Generator,
    ) -> Floats:
        if part is not None:
            audio = self._expressed(segment, rate, part)
        elif isinstance(self.synthesizer, PhonemeSynthesizer):
            phonemes = language(segment.language).pronounce(segment.text)
            audio = self.synthesizer.speak_phonemes(phonemes, voice=self.voice, rate=rate, rng=rng)
        else:
            audio = self.synthesizer(segment.text, voice=self.voice, rate=rate, rng=rng)
        speech = Audio(_faded(trimmed(audio.samples, audio.rate_hz), audio.rate_hz), audio.rate_hz)
        return as_loud(at_pitch(speech, prosody.semitones, rate_hz=self.rate_hz)) * np.float32(prosody.gain)

    def _expressed(self, segment: Segment, rate: float, part: SentencePart) -> Audio:
        """Speak words with symbols: F0 and durations inside the network, spectral balance by a filter after it."""
        assert isinstance(self.synthesizer, SpeaksWithF0), "a method with symbols has a voice whose F0 can be changed"
        audio = self.synthesizer.speak_with_f0(
            language(segment.language).pronounce(segment.text),
            voice=self.voice,
            rate=rate / part.manner.duration,
            change=lambda f0_hz: changed_f0(f0_hz, part),
        )
        track = resample(audio, swift.RATE_HZ).samples
        if len(track) < swift.STEP:
            return audio
        _, confidence = swift.swift_track(track, lowest_hz=60.0, highest_hz=600.0)
        step = max(1, round(swift.STEP * audio.rate_hz / swift.RATE_HZ))
        return filtered(audio, part.expression.label, confidence >= swift.VOICED_FROM, step=step)


def spoken_in_slots(
    speaker: SpeaksPhrases, phrases: Sequence[Sequence[Segment]], slots: Sequence[Slot], *, rate: Literal["own", "fit"]
) -> Iterator[tuple[int, Floats]]:
    """Give where each phrase begins, in samples, and its sound: as near to its slot as its words allow."""
    free_s = 0.0
    for place, (segments, slot) in enumerate(zip(phrases, slots, strict=True)):
        start_s = max(slot.start_s, free_s)
        sound = _fitted(speaker, segments, place, start_s=start_s, slot=slot, rate=rate)
        free_s = start_s + len(sound) / speaker.rate_hz + GAP_S
        yield round(start_s * speaker.rate_hz), sound
        advance(slot.end_s - slot.start_s)


def _fitted(
    speaker: SpeaksPhrases,
    segments: Sequence[Segment],
    place: int,
    *,
    start_s: float,
    slot: Slot,
    rate: Literal["own", "fit"],
) -> Floats:
    own = speaker.speak(segments, place=place, rate=1.0)
    length_s, room_s = len(own) / speaker.rate_hz, max(slot.until_s - GAP_S - start_s, 0.05)
    slot_s = max(slot.end_s - start_s, 0.05)
    slowest = NATURAL_RATES[0] if rate == "fit" else 1.0
    natural = float(np.clip(length_s / slot_s, slowest, NATURAL_RATES[1]))
    needed = min(max(natural, _CLOSE * length_s / room_s if length_s / natural > room_s else 0.0), HURRIED_RATE)
    return own if 1 / _CLOSE < needed < _CLOSE else speaker.speak(segments, place=place, rate=needed)


def spoken_freely(
    speaker: PhraseSpeaker,
    phrases: Sequence[Sequence[Segment]],
    pauses_s: Sequence[float] | None,
    *,
    rng: np.random.Generator,
    length_s: float = 0.0,
) -> Floats:
    """Speak the phrases one after the other, wherever they were; pauses are ``pauses_s`` after each, or drawn.

    ``length_s`` is how much progress to report.
    """
    drawn_s = [float(rng.uniform(*PAUSES_S)) for _ in phrases]
    ends_s = rng.uniform(*MARGIN_S, size=2)
    gaps_s = [*(drawn_s if pauses_s is None else [max(pause_s, GAP_S) for pause_s in pauses_s])][:-1]
    parts = [_silence(ends_s[0], speaker.rate_hz)]
    for place, (segments, after_s) in enumerate(zip(phrases, [*gaps_s, ends_s[1]], strict=True)):
        parts += [speaker.speak(segments, place=place, rate=1.0), _silence(after_s, speaker.rate_hz)]
        advance(length_s / len(phrases))
    return np.concatenate(parts)


def _silence(seconds: float, rate_hz: int) -> Floats:
    return np.zeros(max(1, round(seconds * rate_hz)), np.float32)


def laid_out(pieces: Iterator[tuple[int, Floats]], length: int, *, rate_hz: int) -> Floats:
    """Put sounds in their places in silence of ``length`` samples; what reaches over the end fades out there."""
    whole = np.zeros(length, np.float32)
    for start, sound in pieces:
        kept = sound[: max(length - start, 0)]
        if len(kept) < len(sound):
            kept = _faded(kept, rate_hz)
        whole[start : start + len(kept)] += kept
    return whole


def trimmed(samples: Floats, rate_hz: int) -> Floats:
    """Cut off the silence before and after speech."""
    loud = np.flatnonzero(np.abs(samples) > np.abs(samples).max(initial=0.0) * 10 ** (-_QUIET_DB / 20))
    margin = round(_FADE_S * rate_hz)
    return samples[max(loud[0] - margin, 0) : loud[-1] + margin] if len(loud) else samples[:0]


def _faded(samples: Floats, rate_hz: int) -> Floats:
    size = min(round(_FADE_S * rate_hz), len(samples) // 2)
    if not size:
        return samples
    ramp = np.linspace(0.0, 1.0, size, dtype=np.float32)
    faded = samples.copy()
    faded[:size] *= ramp
    faded[-size:] *= ramp[::-1]
    return faded


def as_loud(audio: Audio) -> Floats:
    """Bring a phrase to one loudness."""
    lufs = integrated_lufs(audio.samples.astype(np.float64), audio.rate_hz) if len(audio.samples) else -np.inf
    return audio.samples * np.float32(10 ** ((LOUDNESS_LUFS - lufs) / 20)) if np.isfinite(lufs) else audio.samples
