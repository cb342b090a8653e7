"""The neural voice of cascade: a network reads the words, and the synthesizer of xvector speaks as a pseudo-speaker.

The words are spelled in sounds, and a network that was trained on synthetic readers turns them into content: the same
for everybody who says these words. One of its readers and a tempo are drawn for each speaker. F0 contour, voicing and
energy are predicted from content and pseudo-speaker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from personare.anonymizers.neural.cascade.coarse_prosody import NEUTRAL, PhraseProsody
from personare.anonymizers.neural.cascade.expression import SentencePart, changed_bands, sentence_parts, shaped
from personare.anonymizers.neural.cascade.speaking import as_loud, trimmed
from personare.anonymizers.neural.words.transcript import Segment, mark_sound
from personare.anonymizers.neural.xvector.generating import fitted_generator, own_vector, unit
from personare.anonymizers.neural.xvector.prosody_choice import ProsodyChoice, chosen_prosody, retime_rows
from personare.anonymizers.neural.xvector.synthesis import fixed_level, synthesize
from personare.anonymizers.neural.xvector.treble import RATE_HZ as TREBLE_RATE_HZ
from personare.anonymizers.neural.xvector.treble import add_treble
from personare.anonymizers.neural.xvector.weights import (
    ENGLISH,
    SHIPPED,
    SynthesizerModel,
    open_weights,
    reader_languages,
)
from personare.anonymizers.signal.retiming import new_ends
from personare.core.audio import Audio, resample
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import advance
from personare.core.spoken import SpeakerFacts
from personare.encoders.grid import CONTENT_STEP, RATE_HZ, STEP, WIDTH, frame_count, on_frames
from personare.encoders.prosody import F0Statistics
from personare.languages import language
from personare.pseudospeakers.assignment import for_synthesis
from personare.pseudospeakers.generator import PseudoSpeakerGenerator
from personare.voices.pronunciation import pronounce
from personare.voices.spelling import spell, symbol_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

TEMPO, TEMPO_OCTAVES = 1.15, 0.3  # readers are slowed down a little, and by chance more or less
PAUSE_S, PAUSE_SPREAD = 0.3, 0.3  # the median of a pause between sentences, and the spread of its logarithm
_FADE_S = 0.01
_LEAST_PAUSE_S = 0.1


@dataclass(frozen=True)
class NeuralVoice(Fingerprinted):
    """Our own reader and voice, trained on synthetic speech.

    Parameters
    ----------
    pseudospeakers : the generator of pseudo-speakers, or the file of a fitted one; fitted to ``pool``, or to the
        shipped voices.
    f0 : the contour is predicted, or flat.
    treble : add noise from 8 to 12 kHz where the source has a rate of 24 kHz or more.
    weights : folder of another voice than the shipped one.
    """

    VERSION: ClassVar[int] = 2
    name: ClassVar[str] = "neural"
    MODELS: ClassVar[tuple[str, ...]] = ("ge2e",)
    SHIPPED_BY: ClassVar[type] = SynthesizerModel
    needs_vector: ClassVar[bool] = True
    gender_models: ClassVar[tuple[str, ...]] = ()

    pseudospeakers: PseudoSpeakerGenerator[Any] | Path
    f0: Literal["predicted", "flat"] = "predicted"
    treble: bool = True
    pool: Path | None = None
    weights: Path | None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that its reader was trained on."""
        return reader_languages(self.weights or SHIPPED)

    @property
    def models(self) -> tuple[str, ...]:
        """Fetched models that it speaks with; its own networks are shipped."""
        return self.MODELS

    def describe(self, sound: Floats) -> tuple[tuple[float, ...], float]:
        """Embed a speaker, and predict the gender from the embedding."""
        own = own_vector(sound)
        return tuple(own.tolist()), open_weights(self.weights or SHIPPED).bank.gender_score(own)

    def draw(
        self,
        speaker: SpeakerFacts,
        *,
        gender: str | None,
        rng: np.random.Generator,
        rate_hz: int,  # noqa: ARG002 - it speaks at 16 kHz
    ) -> NeuralSpeaker:
        """Generate a pseudo-speaker, and draw its reader and tempo."""
        model = open_weights(self.weights or SHIPPED)
        generator = fitted_generator(self.pseudospeakers, self.pool, model.bank)
        vectors = for_synthesis(generator, np.array(speaker.vector, np.float32), rng=rng, gender=gender)
        vector, number = unit(vectors.envelope), int(rng.integers(model.reader.readers))
        choice = ProsodyChoice(f0=self.f0, energy="predicted", timing="even")
        target = model.bank.f0_of(vector)
        return NeuralSpeaker(model, choice, vector, target, number, reading_tempo(rng), rng, self.treble)


@dataclass(frozen=True, eq=False)
class NeuralSpeaker:
    """A pseudo-speaker who reads.

    Parameters
    ----------
    choice : whether F0 is predicted or flat.
    vector, target : the pseudo-speaker's vector, and the median and range of its F0.
    number : which of the model's readers gives content and durations; of other languages, one that it stands for.
    tempo : how many times as long everything lasts.
    prosody : how high and how loud the phrase of each place is spoken against the others; none: all alike.
    """

    model: SynthesizerModel
    choice: ProsodyChoice
    vector: Floats
    target: F0Statistics
    number: int
    tempo: float
    rng: np.random.Generator
    treble: bool = True
    prosody: tuple[PhraseProsody, ...] = ()

    @property
    def identity(self) -> bytes:
        """The pseudo-speaker's vector."""
        return self.vector.tobytes()

    @property
    def rate_hz(self) -> int:
        """Sample rate of what it speaks."""
        return RATE_HZ

    def with_prosody(self, prosody: tuple[PhraseProsody, ...]) -> Self:
        """Give the same pseudo-speaker with a prosody for each place."""
        return replace(self, prosody=prosody)

    def speak(self, segments: Sequence[Segment], *, place: int, rate: float) -> Floats:
        """Speak one phrase, without silence at its ends, at one loudness."""
        prosody = self._prosody(place)
        parts = [
            as_loud(Audio(trimmed(sound, RATE_HZ), RATE_HZ)) if segment.kind == "words" else sound
            for segment, sound in zip(segments, self._segments(segments, rate, prosody), strict=True)
        ]
        return np.concatenate(parts) * np.float32(prosody.gain) if parts else np.zeros(0, np.float32)

    def speak_freely(
        self, phrases: Sequence[Sequence[Segment]], pauses_s: Sequence[float] | None, *, length_s: float
    ) -> Floats:
        """Read passage by passage, at one loudness as a whole, with other silence at both ends."""
        parts: list[Floats] = []
        for place, segments in enumerate(phrases):
            pause_s = float(np.exp(self.rng.normal(np.log(PAUSE_S), PAUSE_SPREAD)))
            if pauses_s is not None and place:
                pause_s = max(pauses_s[place - 1], _LEAST_PAUSE_S)
            prosody = self._prosody(place)
            sound = np.concatenate(self._segments(segments, 1.0, prosody))
            if prosody.expression is not None:
                sound = as_loud(Audio(sound, RATE_HZ))
            if len(sound):
                sound = sound if prosody == NEUTRAL else sound * np.float32(prosody.gain)
                parts += [np.zeros(round(pause_s * RATE_HZ) if parts else 0, np.float32), sound]
            advance(length_s / len(phrases))
        if not parts:
            return np.zeros(0, np.float32)
        return new_ends(Audio(fixed_level(np.concatenate(parts)), RATE_HZ), rng=self.rng).samples

    def at_rate(self, sound: Floats, rate_hz: int) -> Floats:
        """Bring what was spoken to another sample rate, with treble where there is room for it."""
        spoken = Audio(sound, RATE_HZ)
        if self.treble and rate_hz >= TREBLE_RATE_HZ:
            return add_treble(spoken, rate_hz, rng=self.rng).samples
        return resample(spoken, rate_hz).samples

    def content(self, text: str, *, code: str = ENGLISH, duration: float = 1.0) -> Floats:
        """Read a text, ``duration`` times as long: content on the synthesizer's frames; without a sound, none."""
        spelled = spell(pronounce(text)) if code == ENGLISH else language(code).pronounce(text)
        if not any(symbol.isalpha() for symbol in spelled):
            return np.zeros((0, WIDTH), np.float32)
        tempo = self.tempo * duration
        content = self.model.read(symbol_numbers(spelled), language=code, number=self.number, tempo=tempo)
        return on_frames(content, frame_count(len(content) * CONTENT_STEP))

    def sound(
        self, content: Floats, *, code: str = ENGLISH, semitones: float = 0.0, part: SentencePart | None = None
    ) -> Floats:
        """Make sound of content [frames, 288] of a language, silent at both ends; of no content, none."""
        if not len(content):
            return np.zeros(0, np.float32)
        predicted = self.model.predict_prosody(content, self.vector, language=code)
        target = self.target
        if part is not None:
            predicted, semitones = shaped(predicted, part), semitones + part.manner.semitones
            target = replace(target, range_octaves=target.range_octaves * part.manner.f0_range)
        target = replace(target, median_log2_hz=target.median_log2_hz + semitones / 12)
        prosody = chosen_prosody(self.choice, None, predicted, source=None, target=target)
        label = None if part is None else part.expression.label
        sound = synthesize(
            self.model,
            content,
            prosody,
            self.vector,
            length=len(content) * STEP,
            rng=self.rng,
            is_read=True,
            language=code,
            change=None if label is None else lambda bands: changed_bands(bands, label, prosody.voiced),
        )
        ramp = np.minimum((np.arange(len(sound), dtype=np.float32) + 0.5) / (_FADE_S * RATE_HZ), 1)
        faded: Floats = sound * np.minimum(ramp, ramp[::-1])
        return faded

    def _segments(self, segments: Sequence[Segment], rate: float, prosody: PhraseProsody) -> list[Floats]:
        parts = sentence_parts([one.text for one in segments], prosody.expression)
        return [self._segment(one, rate, prosody, part) for one, part in zip(segments, parts, strict=True)]

    def _segment(self, segment: Segment, rate: float, prosody: PhraseProsody, part: SentencePart | None) -> Floats:
        if segment.kind != "words":
            return mark_sound(segment.kind, RATE_HZ)
        duration = 1.0 if part is None else part.manner.duration
        content = self.content(segment.text, code=segment.language, duration=duration)
        if rate != 1.0 and len(content):
            content = retime_rows(content, np.linspace(0, len(content) - 1, max(1, round(len(content) / rate))))
        return self.sound(content, code=segment.language, semitones=prosody.semitones, part=part)

    def _prosody(self, place: int) -> PhraseProsody:
        return self.prosody[place] if self.prosody else NEUTRAL


def reading_tempo(rng: np.random.Generator) -> float:
    """Draw how many times as long as the readers' own everything lasts: 0.93 to 1.42."""
    return TEMPO * float(np.exp2(rng.uniform(-TEMPO_OCTAVES, TEMPO_OCTAVES)))
