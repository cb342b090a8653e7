"""Speech from words: what was recognized is read anew, so that nothing but the words can tell who said them.

How somebody pronounces, hesitates and hurries passes through a content encoder, whatever voice speaks its content. Here
the recognizer's words are spelled in sounds, and a network that has learnt from synthetic readers turns them into
content: the same for everybody who says these words. One of its readers is drawn for each speaker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.words.transcript import SpokenPhrase, mark_sound, passages
from personare.anonymizers.neural.xvector.prosody_choice import ProsodyChoice, chosen_prosody, retime_rows
from personare.anonymizers.neural.xvector.synthesis import fixed_level, synthesize
from personare.anonymizers.neural.xvector.weights import SynthesizerModel
from personare.core.progress import advance
from personare.encoders.grid import CONTENT_STEP, RATE_HZ, STEP, WIDTH, frame_count, on_frames
from personare.encoders.prosody import F0Statistics
from personare.encoders.recognition import RecognizedWord
from personare.voices.pronunciation import pronounce
from personare.voices.spelling import spell, symbol_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LONGEST_S = 16.0  # of speech that is recognized at a time, pauses and all
SURE_FROM = 0.9  # mean confidence from which on a phrase is not recognized again by the larger model
TEMPO, TEMPO_OCTAVES = 1.15, 0.3  # readers are slowed down a little, and by chance more or less
PAUSE_S, PAUSE_SPREAD = 0.3, 0.3  # the median of a pause between sentences, and the spread of its logarithm
_FADE_S = 0.01


@dataclass(frozen=True, eq=False)
class ReadingVoice:
    """A pseudo-speaker who reads.

    Parameters
    ----------
    choice : whether F0 is predicted or flat.
    vector, target : the pseudo-speaker's vector, and the median and range of its F0.
    number : which of the model's readers gives content and durations.
    tempo : how many times as long everything lasts.
    """

    model: SynthesizerModel
    choice: ProsodyChoice
    vector: Floats
    target: F0Statistics
    number: int
    tempo: float
    rng: np.random.Generator

    def content(self, text: str) -> Floats:
        """Read a text: content on the synthesizer's frames; a text without a sound has none."""
        spelled = spell(pronounce(text))
        if not any(symbol.isalpha() for symbol in spelled):
            return np.zeros((0, WIDTH), np.float32)
        content = self.model.reader(symbol_numbers(spelled), reader=self.number, tempo=self.tempo)
        return on_frames(content, frame_count(len(content) * CONTENT_STEP))

    def speak(self, content: Floats) -> Floats:
        """Make sound of content [frames, 288], silent at both ends; of no content, none."""
        if not len(content):
            return np.zeros(0, np.float32)
        predicted = self.model.predict_prosody(content, self.vector)
        prosody = chosen_prosody(self.choice, None, predicted, source=None, target=self.target)
        length = len(content) * STEP
        sound = synthesize(self.model, content, prosody, self.vector, length=length, rng=self.rng, is_read=True)
        ramp = np.minimum((np.arange(len(sound), dtype=np.float32) + 0.5) / (_FADE_S * RATE_HZ), 1)
        faded: Floats = sound * np.minimum(ramp, ramp[::-1])
        return faded


def reading_tempo(rng: np.random.Generator) -> float:
    """Draw how many times as long as the readers' own everything lasts: 0.93 to 1.42."""
    return TEMPO * float(np.exp2(rng.uniform(-TEMPO_OCTAVES, TEMPO_OCTAVES)))


def read_freely(voice: ReadingVoice, spoken: Sequence[SpokenPhrase], *, length: int) -> Floats:
    """Read sentence by sentence with drawn pauses between them; without words, silence of ``length`` samples.

    A soft tone stands for speech that is omitted.
    """
    parts: list[Floats] = []
    texts = passages(spoken)
    spoken_s = sum(one.phrase.duration_s for one in spoken)
    for text in texts:
        pause_s = float(np.exp(voice.rng.normal(np.log(PAUSE_S), PAUSE_SPREAD)))
        sound = voice.speak(voice.content(_text(text))) if text else mark_sound("tone", RATE_HZ)
        if len(sound):
            parts += [np.zeros(round(pause_s * RATE_HZ) if parts else 0, np.float32), sound]
        advance(spoken_s / len(texts))
    return fixed_level(np.concatenate(parts)) if parts else np.zeros(length, np.float32)


def read_in_place(voice: ReadingVoice, spoken: Sequence[SpokenPhrase], *, length: int) -> Floats:
    """Read phrase by phrase, each in the time it took, in silence of ``length`` samples."""
    whole = np.zeros(length, np.float32)
    for one in spoken:
        if one.omitted_s:
            tone = mark_sound("tone", RATE_HZ)[: one.phrase.end - one.phrase.start]
            whole[one.phrase.start : one.phrase.start + len(tone)] = tone
        content, count = voice.content(_text(one.words)), (one.phrase.end - one.phrase.start) // STEP
        if len(content) and count:
            sound = voice.speak(retime_rows(content, np.linspace(0, len(content) - 1, count)))
            whole[one.phrase.start : one.phrase.start + len(sound)] = sound[: length - one.phrase.start]
        advance(one.phrase.duration_s)
    return fixed_level(whole)


def _text(words: Sequence[RecognizedWord]) -> str:
    return " ".join(word.text for word in words)
