"""Voices of cascade that are offline text-to-speech networks: Kokoro for six languages, Piper for English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from personare.anonymizers.neural.cascade.coarse_prosody import PhraseProsody
from personare.anonymizers.neural.cascade.speaking import PhraseSpeaker, spoken_freely
from personare.anonymizers.neural.words.phrases import RATE_HZ
from personare.anonymizers.neural.words.transcript import Segment
from personare.core.audio import Audio, resample
from personare.core.fingerprint import Fingerprinted
from personare.core.seeding import Key
from personare.core.spoken import SpeakerFacts
from personare.encoders import swift
from personare.languages import LANGUAGES
from personare.voices import kokoro, piper
from personare.voices.kokoro import Kokoro
from personare.voices.piper import Piper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

GOOD_VOICE = 2.8  # DNSMOS of the short sentence of the table, from which on a voice may be drawn
_PITCH_S = 60.0  # how much of a long recording the pitch is measured on
_MALE_BELOW_HZ = 165.0


@dataclass(frozen=True, eq=False)
class OfflineSpeaker:
    """A pseudo-speaker of an offline synthesizer, with its random generator."""

    phrases: PhraseSpeaker
    rng: np.random.Generator

    @property
    def identity(self) -> int:
        """The number of the synthesizer's voice."""
        return self.phrases.voice

    @property
    def rate_hz(self) -> int:
        """Sample rate of what it speaks: the recording's."""
        return self.phrases.rate_hz

    def with_prosody(self, prosody: tuple[PhraseProsody, ...]) -> Self:
        """Give the same pseudo-speaker with a prosody for each place."""
        return replace(self, phrases=replace(self.phrases, prosody=prosody))

    def speak(self, segments: Sequence[Segment], *, place: int, rate: float) -> Floats:
        """Speak one phrase."""
        return self.phrases.speak(segments, place=place, rate=rate)

    def speak_freely(
        self, phrases: Sequence[Sequence[Segment]], pauses_s: Sequence[float] | None, *, length_s: float
    ) -> Floats:
        """Speak phrases one after the other."""
        return spoken_freely(self.phrases, phrases, pauses_s, rng=self.rng, length_s=length_s)

    def at_rate(self, sound: Floats, rate_hz: int) -> Floats:
        """Bring what was spoken to another sample rate."""
        return resample(Audio(sound, self.rate_hz), rate_hz).samples


@dataclass(frozen=True)
class _OfflineVoice(Fingerprinted):
    """A synthesizer and the numbers of its voices that may be drawn."""

    VERSION: ClassVar[int] = 1
    needs_vector: ClassVar[bool] = False
    gender_models: ClassVar[tuple[str, ...]] = (swift.MODEL,)

    synthesizer: Piper | Kokoro = field(init=False, repr=False)

    @property
    def models(self) -> tuple[str, ...]:
        """Fetched models that it speaks with."""
        return self.synthesizer.MODELS

    def pool(self, gender: str | None) -> tuple[int, ...]:
        """The voices that may be drawn, by the gender they sound like; None for all of them."""
        raise NotImplementedError

    def describe(self, sound: Floats) -> tuple[tuple[float, ...], float]:
        """Guess the gender of a speaker by the median pitch: octaves above what divides women's and men's voices."""
        return (), gender_score(sound)

    def draw(
        self,
        speaker: SpeakerFacts,  # noqa: ARG002 - any voice fits any speaker
        *,
        gender: str | None,
        rng: np.random.Generator,
        rate_hz: int,
    ) -> OfflineSpeaker:
        """Draw a voice: one number, so that the same generator draws the same voice for any recording."""
        drawn, pool = rng.random(), self.pool(gender)
        key = Key.from_seed(int(rng.integers(2**63)))
        return OfflineSpeaker(PhraseSpeaker(self.synthesizer, pool[int(drawn * len(pool))], key, rate_hz), rng)


@dataclass(frozen=True)
class PiperVoice(_OfflineVoice):
    """Piper's 904 voices, without those that were measured as bad; English."""

    name: ClassVar[str] = "piper"
    languages: ClassVar[tuple[str, ...]] = ("en",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "synthesizer", Piper())

    def pool(self, gender: str | None) -> tuple[int, ...]:
        """The voices that may be drawn: all but bad ones, or the good ones of a guessed gender."""
        return piper_pool(gender)


@dataclass(frozen=True)
class KokoroVoice(_OfflineVoice):
    """Pseudo-speakers mixed from Kokoro's voices; each speaks every language of ``personare.languages``."""

    name: ClassVar[str] = "kokoro"
    languages: ClassVar[tuple[str, ...]] = tuple(LANGUAGES)

    def __post_init__(self) -> None:
        object.__setattr__(self, "synthesizer", Kokoro())

    def pool(self, gender: str | None) -> tuple[int, ...]:
        """The pseudo-speakers that may be drawn, by the gender they sound like."""
        return kokoro_pool(gender)


@lru_cache(maxsize=4)
def piper_pool(gender: str | None) -> tuple[int, ...]:
    """Numbers of Piper's voices."""
    measured = piper.measured_voices()
    if gender is None:
        bad = {voice.number for voice in measured if voice.dnsmos < GOOD_VOICE}
        return tuple(number for number in range(piper.VOICES) if number not in bad)
    return tuple(voice.number for voice in measured if voice.dnsmos >= GOOD_VOICE and voice.gender == gender)


@lru_cache(maxsize=4)
def kokoro_pool(gender: str | None) -> tuple[int, ...]:
    """Numbers of Kokoro's pseudo-speakers."""
    return tuple(voice.number for voice in kokoro.measured_voices() if gender in (None, voice.gender))


def gender_score(sound: Floats) -> float:
    """Give how far the median pitch of 16 kHz samples lies above what divides women's and men's voices, in octaves."""
    some = np.ascontiguousarray(sound[: round(_PITCH_S * RATE_HZ)])
    f0_hz, confidence = swift.swift_track(some, lowest_hz=60.0, highest_hz=400.0)
    voiced = f0_hz[confidence >= swift.VOICED_FROM]
    return float(np.log2(np.median(voiced) / _MALE_BELOW_HZ)) if len(voiced) else 0.0
