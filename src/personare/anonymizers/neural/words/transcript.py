"""What was said, phrase by phrase, with how sure the recognizer was: and whether it was English at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from personare.anonymizers.neural.words.phrases import Phrase, find_phrases
from personare.anonymizers.neural.words.redaction import left_out
from personare.core.errors import AudioError
from personare.core.progress import advance
from personare.encoders.recognition import RecognizedWord, recognize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Unsure = Literal["speak", "silence", "tone"]
JUDGED_WORDS = 12  # fewer words are no evidence for or against a language
JUDGED_S = 5.0  # and in so much sound there should have been some
_SHORTEST_WORDS, _LONGEST_WORDS, _ENDS = 6, 24, ".?!"  # of a sentence that is spoken at a time
_LEVEL = 0.05  # root mean square of the loudest stretches that the recognizer is given
_LEVEL_SHARE = 95  # percentile of the levels of 20 ms that is brought to it


@dataclass(frozen=True)
class SpokenPhrase:
    """A phrase and its words; none where none was recognized."""

    phrase: Phrase
    words: tuple[RecognizedWord, ...]


@dataclass(frozen=True)
class Segment:
    """A part of what is spoken anew: words, or a mark (``tone`` or ``silence``) where some are left out."""

    kind: Literal["words", "tone", "silence"]
    text: str = ""


def transcribe(
    samples: Floats, *, model: str, again: str | None = None, sure_from: float = 0.0, longest_s: float | None = None
) -> list[SpokenPhrase]:
    """Recognize 16 kHz samples, phrase by phrase, each brought to one level: how loud it was decides nothing.

    Parameters
    ----------
    again : the recognizer of a phrase whose words the first one is less sure of than ``sure_from``, on average.
    longest_s : joins phrases up to so long (see ``find_phrases``).
    """
    spoken = []
    for phrase in find_phrases(samples, longest_s=longest_s):
        sound = _level(samples[phrase.start : phrase.end])
        one = SpokenPhrase(phrase, tuple(recognize(sound, model=model)))
        if again is not None and mean_confidence([one]) < sure_from:
            one = SpokenPhrase(phrase, tuple(recognize(sound, model=again, proposed_by=model)))
        spoken.append(one)
        advance(phrase.duration_s)
    return spoken


def mean_confidence(spoken: Sequence[SpokenPhrase]) -> float:
    """The mean over all words of how sure the recognizer was; 0 without words."""
    confidences = [word.confidence for one in spoken for word in one.words]
    return float(np.mean(confidences)) if confidences else 0.0


def refuse_other_languages(spoken: Sequence[SpokenPhrase], *, least: float, otherwise: str) -> None:
    """Refuse a recording that the recognizer, which knows English only, is unsure of as a whole.

    ``otherwise`` says what else could be done.
    """
    words = sum(len(one.words) for one in spoken)
    sounding_s = sum(one.phrase.duration_s for one in spoken)
    if least <= 0 or (words < JUDGED_WORDS and sounding_s < JUDGED_S):
        return
    mean = mean_confidence(spoken)
    if mean < least:
        raise AudioError(
            f"this is hardly English speech: the recognizer is {100 * mean:.0f} % sure of its words on average, less "
            f"than {100 * least:.0f} %, and knows English only. {otherwise[0].upper()}{otherwise[1:]}, or set "
            "refuse_below=0"
        )


def sentences(words: Sequence[RecognizedWord]) -> list[tuple[RecognizedWord, ...]]:
    """Cut words into sentences by their punctuation and number alone, wherever the speaker paused.

    >>> heard = [RecognizedWord(text, 0.9) for text in "I saw him. Then the old dog barked. Loud.".split()]
    >>> [" ".join(word.text for word in one) for one in sentences(heard)]
    ['I saw him. Then the old dog barked.', 'Loud.']
    """
    cut: list[list[RecognizedWord]] = [[]]
    for word in words:
        if len(cut[-1]) >= _LONGEST_WORDS or (len(cut[-1]) >= _SHORTEST_WORDS and cut[-1][-1].text[-1:] in _ENDS):
            cut.append([])
        cut[-1].append(word)
    return [tuple(one) for one in cut if one]


def segments_of(
    words: Sequence[RecognizedWord], *, unsure: Unsure, sure_from: float, redact: Sequence[str]
) -> list[Segment]:
    """Put neighbouring words together that are spoken, and a mark in the place of those that are not.

    >>> heard = [RecognizedWord("Call", 0.9), RecognizedWord("Xyz", 0.1), RecognizedWord("at", 0.9)]
    >>> [s.text or s.kind for s in segments_of(heard, unsure="tone", sure_from=0.4, redact=())]
    ['Call', 'tone', 'at']
    """
    out = left_out([word.text for word in words], redact)
    segments: list[Segment] = []
    for word, hidden in zip(words, out, strict=True):
        doubtful = word.confidence < sure_from and unsure != "speak"
        if not hidden and not doubtful:
            if segments and segments[-1].kind == "words":
                segments[-1] = Segment("words", f"{segments[-1].text} {word.text}")
            else:
                segments.append(Segment("words", word.text))
            continue
        kind: Literal["tone", "silence"] = "silence" if not hidden and unsure == "silence" else "tone"
        if not segments or segments[-1].kind != kind:
            segments.append(Segment(kind))
    return segments


def _level(samples: Floats) -> Floats:
    """Bring the loud parts of a phrase to one level."""
    step = 320
    whole = samples[: len(samples) // step * step].astype(np.float64)
    if not len(whole):
        return samples
    loud = float(np.sqrt(np.percentile(np.square(whole).reshape(-1, step).mean(axis=1), _LEVEL_SHARE)))
    return np.asarray(samples * np.float32(_LEVEL / loud), np.float32) if loud > 0 else samples
