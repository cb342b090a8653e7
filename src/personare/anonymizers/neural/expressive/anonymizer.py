"""expressive: transcribe the speech, and re-synthesize it with a few symbols of how it was said.

1. words and languages as in ``cascade``, with the same rules for what is refused or omitted;
2. each sentence gets symbols: an emotion label, an F0 shape, the strongest word (see ``cascade/expression.py``);
3. a pseudo-speaker renders them on the time axis of its own speech.
Nothing else of the source passes: no F0 level or range, no loudness, no tempo, no pauses, no probability. Two
recordings with the same words and symbols give the same sound.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from personare.anonymizers.neural.cascade.anonymizer import Cascade, Script
from personare.anonymizers.neural.cascade.coarse_prosody import NEUTRAL, PhraseProsody
from personare.anonymizers.neural.cascade.expression import RECIPE, SentenceSymbols
from personare.anonymizers.neural.cascade.neural_voice import NeuralVoice
from personare.anonymizers.neural.expressive.encoding import encode_sentences, manner_of
from personare.anonymizers.neural.words.phrases import RATE_HZ
from personare.anonymizers.neural.words.transcript import Segment, SpokenPhrase
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError
from personare.core.spoken import NOTHING_KNOWN, SpeakerEvidence, SpeakerFacts, SpeechNotes
from personare.core.weights import require
from personare.encoders import swift
from personare.encoders.expression.labels import LEAST_SENTENCES, LabelMaker, shipped_labels
from personare.encoders.ge2e import N_DIMENSIONS as VECTOR_SIZE
from personare.encoders.recognition import RecognizedWord

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Keep = Literal["words", "label", "intonation", "fine"]
KEEPS: dict[str, int] = {"words": 0, "label": 0, "intonation": 4, "fine": 8}  # points of the F0 shape


@dataclass(frozen=True)
class Expressive(Cascade):
    """Transcribe the speech and re-synthesize it with symbols of its expression: an emotion label and the intonation.

    It has the parameters of ``cascade``, except ``prosody``, and the voices ``neural`` and ``kokoro``.

    Parameters
    ----------
    keep : of the expression of each sentence: ``words``, nothing; ``label``, one emotion label of five;
        ``intonation``, also an F0 shape of 4 points and 3 levels and the strongest word; ``fine``, F0 with 8 points.
    final : with ``intonation`` and ``fine``, also whether F0 rises, falls or stays level at the end of a sentence.
    """

    NAME: ClassVar[str] = "expressive"
    VERSION: ClassVar[int] = 1
    SHIPPED_BY: ClassVar[type] = LabelMaker

    keep: Keep = "intonation"
    final: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.voice == "piper":
            raise ConfigError("expressive: the voice piper has no input for F0; use voice=neural or voice=kokoro")
        if self.prosody != "own":
            raise ConfigError("expressive: prosody=coarse is a parameter of cascade; leave it out, and choose keep")

    @property
    def needed_models(self) -> tuple[str, ...]:
        """Fetched models without which nothing works."""
        return tuple(dict.fromkeys((*super().needed_models, swift.MODEL)))

    def evidence(self, audio: Audio) -> SpeakerEvidence:
        """Tell what ``cascade`` needs to know of a speaker, and how the speaker speaks, whatever the expression."""
        known = super().evidence(audio)
        if self.keep == "words" or not audio.samples.any():
            return known
        manner, sentences = manner_of(resample(audio, RATE_HZ).samples, shipped_labels())
        return replace(known, manner=manner, sentences=sentences)

    def encode(self, audio: Audio, *, speaker: SpeakerFacts) -> tuple[Script, str, SpeechNotes]:
        """Encode one channel: words and symbols, the gender of its pseudo-speaker ("": any), and notes."""
        if not audio.samples.any():
            return Script(()), "", SpeechNotes()
        script, notes = self.script(audio, speaker=speaker)
        lacks_gender = self.gender in ("same", "cross") and not speaker.gender
        known = self._described(self.speaking, resample(audio, RATE_HZ).samples, speaker) if lacks_gender else speaker
        return Script(script.phrases, script.prosody), self._target_gender(known) or "", notes

    def speak_symbols(
        self, script: Script, *, gender: str, languages: Collection[str], rng: np.random.Generator, rate_hz: int
    ) -> Audio:
        """Speak words and symbols as a pseudo-speaker; ``languages`` are all that the pseudo-speaker needs."""
        generator = self.speaking.pseudospeakers if isinstance(self.speaking, NeuralVoice) else None
        if isinstance(generator, Path) or getattr(generator, "follows_original", False):
            raise ConfigError(
                "expressive: symbols hold no embedding of the speaker, which this generator needs; use o1"
            )
        if getattr(generator, "dissimilar", False):
            raise ConfigError("expressive: symbols hold no embedding to be unlike of; use the generator o1")
        require(*self.needed_models)
        voice = self._voice_for(replace(NOTHING_KNOWN, languages=tuple(languages)), script.languages)
        nobody = replace(NOTHING_KNOWN, gender=gender or None, vector=(0.0,) * VECTOR_SIZE)
        speaker = voice.draw(nobody, gender=gender or None, rng=rng, rate_hz=rate_hz)
        spoken = self.spoken_script(script, speaker, rate_hz=rate_hz, duration_s=0.0)
        return Audio(spoken, rate_hz)

    def _phrase_prosody(
        self,
        sound: Floats,
        spoken: Sequence[SpokenPhrase],
        texts: Sequence[Sequence[RecognizedWord]],
        phrases: Sequence[Sequence[Segment]],
        speaker: SpeakerFacts,
    ) -> tuple[PhraseProsody, ...]:
        if self.keep == "words":
            return ()
        maker = shipped_labels()
        if speaker.sentences < LEAST_SENTENCES:  # a long recording tells its speaker's manner itself
            manner, sentences = manner_of(sound, maker)
            speaker = replace(speaker, manner=manner, sentences=sentences)
        symbols = encode_sentences(
            sound, spoken, texts, phrases, maker=maker, speaker=speaker, points=KEEPS[self.keep], final=self.final
        )
        return tuple(map(rendered_as, symbols))


def rendered_as(expression: SentenceSymbols | None) -> PhraseProsody:
    """Give the prosody of a sentence with these symbols; None for one without words."""
    if expression is None:
        return NEUTRAL
    return PhraseProsody(level_db=RECIPE[expression.label].level_db, expression=expression)
