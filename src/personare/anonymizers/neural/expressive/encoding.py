"""From speech to symbols: where the sentences of a transcript lie in a recording, and how each was said.

Recognizers give words without times. A phrase is therefore divided by the letters of its words, over the frames that
are speech, and a border is moved to the quietest moment nearby. Only symbols leave this file: no time, no level, no F0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.cascade.expression import PLACES, PLAIN, SentenceSymbols, word_sizes
from personare.anonymizers.neural.words.phrases import RATE_HZ, Phrase, find_phrases
from personare.anonymizers.neural.words.transcript import Segment, SpokenPhrase
from personare.encoders.expression.labels import LabelMaker, numbers_of
from personare.encoders.expression.measuring import (
    SpeechTrack,
    f0_levels,
    final_movement,
    strongest_place,
    track_speech,
)
from personare.encoders.recognition import RecognizedWord

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.spoken import SpeakerFacts

    Floats = NDArray[np.float32]

MOST_S = 8.0  # of a sentence that is measured: the label maker was fitted to sentences
_SURVEYED_S, _SENTENCE_S, _PAUSE_S = (
    60.0,
    5.0,
    0.6,
)  # how much of a recording tells its speaker's manner, in which parts
_STEP = 320
_SPEECH_DB, _NEAR_STEPS = -30.0, 15


def manner_of(sound: Floats, maker: LabelMaker) -> tuple[tuple[float, ...], int]:
    """Measure how a speaker speaks in 16 kHz samples, whatever the expression: mean numbers, and of how many parts."""
    some = sound[: round(_SURVEYED_S * RATE_HZ)]
    phrases = find_phrases(some, longest_s=_SENTENCE_S, most_pause_s=_PAUSE_S)
    tracks = (track_speech(some[one.start : one.end]) for one in phrases)
    rows = [maker.unexplained(numbers_of(track)) for track in tracks if track is not None]
    if not rows:
        return (), 0
    mean = np.round(np.stack(rows).mean(axis=0), 4)
    return tuple(float(value) for value in mean), len(rows)


def encode_sentences(
    sound: Floats,
    spoken: Sequence[SpokenPhrase],
    texts: Sequence[Sequence[RecognizedWord]],
    phrases: Sequence[Sequence[Segment]],
    *,
    maker: LabelMaker,
    speaker: SpeakerFacts,
    points: int,
    final: bool,
) -> list[SentenceSymbols | None]:
    """Give the symbols of every text of a transcript; None for one without words.

    Parameters
    ----------
    phrases : what is spoken of each text; the strongest word is one of these words.
    points : of the F0 shape; 0 for the label alone.
    final : whether the final movement is given too.
    """
    symbols: list[SentenceSymbols | None] = []
    for pieces, segments in zip(_sounds(sound, spoken, texts), phrases, strict=True):
        words = " ".join(one.text for one in segments if one.kind == "words")
        if not words:
            symbols.append(None)
            continue
        track = track_speech(np.concatenate(pieces)[: round(MOST_S * RATE_HZ)]) if pieces else None
        symbols.append(PLAIN if track is None else _symbols(track, words, maker, speaker, points=points, final=final))
    return symbols


def _symbols(
    track: SpeechTrack, words: str, maker: LabelMaker, speaker: SpeakerFacts, *, points: int, final: bool
) -> SentenceSymbols:
    label = maker.label(numbers_of(track), offset=speaker.manner, sentences=speaker.sentences)
    if not points:
        return SentenceSymbols(label)
    strongest = strongest_word(word_sizes(words), strongest_place(track))
    return SentenceSymbols(label, f0_levels(track, points), strongest, final_movement(track) if final else "")


def strongest_word(sizes: Sequence[float], place: float) -> int:
    """Give the number of the word at a place (0 to 1) of a sentence; in a long one, one of 8 words that may be.

    >>> strongest_word((2.0, 5.0, 3.0), 0.5), strongest_word((1.0,) * 24, 0.99)
    (2, 23)
    """
    if len(sizes) > PLACES:
        place = (min(int(place * PLACES), PLACES - 1) + 0.5) / PLACES
    ends = np.cumsum(sizes) / sum(sizes)
    return min(int(np.searchsorted(ends, place, side="right")), len(sizes) - 1) + 1


def _sounds(
    sound: Floats, spoken: Sequence[SpokenPhrase], texts: Sequence[Sequence[RecognizedWord]]
) -> Iterator[list[Floats]]:
    """Give the pieces of sound of each text: its words are those of the phrases, in order."""
    borders = [_borders(sound, one) for one in spoken]
    words = [(number, place) for number, one in enumerate(spoken) for place in range(len(one.words))]
    first = 0
    for text in texts:
        own, first = words[first : first + len(text)], first + len(text)
        pieces = []
        for number in sorted({number for number, _ in own}):
            places = [place for which, place in own if which == number]
            pieces.append(sound[borders[number][places[0]] : borders[number][places[-1] + 1]])
        yield pieces


def _borders(sound: Floats, one: SpokenPhrase) -> list[int]:
    """Estimate where the words of a phrase begin, in samples of the recording; the last number is its end."""
    phrase: Phrase = one.phrase
    if not one.words:
        return [phrase.start, phrase.end]
    samples = sound[phrase.start : phrase.end].astype(np.float64)
    count = max(len(samples) // _STEP, 1)
    powers = np.square(np.resize(samples, count * _STEP)).reshape(count, _STEP).mean(axis=1) + 1e-12
    level_db = 10 * np.log10(powers / powers.max())
    speech = np.flatnonzero(level_db > _SPEECH_DB)
    sizes = word_sizes(" ".join(word.text for word in one.words))
    sizes = sizes if len(sizes) == len(one.words) else (1.0,) * len(one.words)
    shares = np.cumsum(sizes) / sum(sizes)
    borders = [phrase.start]
    for share in shares[:-1]:
        near = int(speech[min(int(share * len(speech)), len(speech) - 1)])
        window = slice(max(near - _NEAR_STEPS, 0), min(near + _NEAR_STEPS + 1, count))
        quiet = window.start + int(level_db[window].argmin())
        borders.append(max(phrase.start + quiet * _STEP, borders[-1]))
    return [*borders, phrase.end]
