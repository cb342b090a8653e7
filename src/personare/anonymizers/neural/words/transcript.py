"""Transcription, phrase by phrase, with the recognizer's confidence: only words that were said may be spoken.

A stretch of speech whose language is not supported, or whose words the recognizer does not know, is omitted and
counted; a recording of which it is the larger part is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from personare.anonymizers.neural.words.languages import (
    AUTO,
    SPOKEN,
    Stretch,
    identify,
    levelled,
    overall_language,
)
from personare.anonymizers.neural.words.phrases import Phrase, find_phrases
from personare.anonymizers.neural.words.redaction import left_out
from personare.core.errors import RejectedSpeechError
from personare.core.language_codes import language_title
from personare.core.progress import advance
from personare.core.spoken import SpeakerFacts, SpeechNotes
from personare.core.weights import require
from personare.encoders.recognition import RecognizedWord, recognize
from personare.languages import language as language_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Unsure = Literal["speak", "silence", "tone"]
LEAST_JUDGED_S = 0.8  # in so much speech a phrase should have a word
JUDGED_S, LEAST_WORDS_PER_S = 4.0, 0.4  # of so much speech, fewer words are far too few
_SHORTEST_WORDS, _LONGEST_WORDS, _ENDS = 6, 24, ".?!"  # of a sentence that is spoken at a time
_MARK_S, _TONE_HZ, _TONE_LEVEL = 0.3, 330.0, 0.02


@dataclass(frozen=True)
class SpokenPhrase:
    """A phrase and its words; none where it must not be spoken (``omitted_s`` of its speech) or is no speech."""

    phrase: Phrase
    words: tuple[RecognizedWord, ...]
    omitted_s: float = 0.0


@dataclass(frozen=True)
class Segment:
    """A part of what is spoken anew: words, or a mark (``tone`` or ``silence``) where some are left out."""

    kind: Literal["words", "tone", "silence"]
    text: str = ""
    language: str = SPOKEN[0]


@dataclass(frozen=True)
class Recognizing:
    """How words are recognized.

    Parameters
    ----------
    model : the recognizer.
    again : the recognizer of a phrase whose words the first one is less sure of than ``sure_from``, on average.
    longest_s : joins phrases up to so long (see ``find_phrases``).
    refuse_below : a phrase whose words are less sure than this on average counts as not recognized.
    language : of all speech; ``auto`` identifies it.
    spoken : languages of the voice. Those other than English are recognized by the model that their row of
        ``personare.languages`` names.
    models : what a language needs that is not needed for every recording; missing ones fail the recording.
    """

    model: str
    again: str | None = None
    sure_from: float = 0.0
    longest_s: float | None = None
    refuse_below: float = 0.0
    language: str = AUTO
    spoken: tuple[str, ...] = SPOKEN
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Transcript:
    """The phrases of a recording in order, and notes on them."""

    spoken: tuple[SpokenPhrase, ...]
    notes: SpeechNotes


def transcribe(samples: Floats, *, how: Recognizing, speaker: SpeakerFacts, method: str) -> Transcript:
    """Transcribe 16 kHz samples; speech that must not be spoken is refused, or omitted where it is the smaller part.

    Speech is spoken only if its language is identified and supported and its words were recognized. Sound without
    speech has no words, and the notes say so.
    """
    stretches = identify(samples, language=how.language, speaker=speaker, spoken=how.spoken)
    codes = sorted({one.language for one in stretches if one.is_spoken})
    require(*(model for code in codes for model in how.models.get(code, ())))
    spoken = []
    phrases = find_phrases(samples, longest_s=how.longest_s)
    for phrase, omitted_s, speech_s, language in _cut_at_languages(phrases, stretches):
        words = _recognized(samples, phrase, how, language) if speech_s else ()
        if speech_s >= LEAST_JUDGED_S and (not words or _mean(words) < how.refuse_below):
            words, omitted_s = (), speech_s
        spoken.append(SpokenPhrase(phrase, words, omitted_s))
        advance(phrase.duration_s)
    return _judged(Transcript(tuple(spoken), _notes(spoken, stretches)), stretches, how, method)


def _recognized(samples: Floats, phrase: Phrase, how: Recognizing, code: str) -> tuple[RecognizedWord, ...]:
    """Recognize one phrase, brought to one level: its loudness decides nothing.

    The larger recognizer's answer counts where it has at least half as many words: it sometimes has none for digits
    and repetitions that the smaller one writes correctly.
    """
    sound = levelled(samples[phrase.start : phrase.end])
    if code != SPOKEN[0]:
        model = language_row(code).recognizer
        return tuple(replace(word, language=code) for word in recognize(sound, model=model, language=code))
    words = tuple(recognize(sound, model=how.model))
    if how.again is None or _mean(words) >= how.sure_from:
        return words
    others = tuple(recognize(sound, model=how.again, proposed_by=how.model))
    return others if 2 * len(others) >= len(words) else words


def _mean(words: Sequence[RecognizedWord]) -> float:
    """The mean confidence of words; 0 without words."""
    return float(np.mean([word.confidence for word in words])) if words else 0.0


def mean_confidence(spoken: Sequence[SpokenPhrase]) -> float:
    """The mean over all words of how sure the recognizer was; 0 without words."""
    return _mean([word for one in spoken for word in one.words])


def _cut_at_languages(
    phrases: Sequence[Phrase], stretches: Sequence[Stretch]
) -> Iterator[tuple[Phrase, float, float, str]]:
    """Cut phrases where the language changes: (phrase, seconds omitted, seconds to recognize, language)."""
    for phrase in phrases:
        inside = [one for one in stretches if _overlap(one.phrase, phrase)]
        kinds = _kinds(inside)
        starts = [place for place, kind in enumerate(kinds) if not place or kind != kinds[place - 1]]
        start = phrase.start
        for first, last in itertools.pairwise([*starts, len(inside)]):
            end = phrase.end if last == len(inside) else inside[last].phrase.start
            part = Phrase(start, max(min(end, phrase.end), start))
            seconds = sum(_speech_in(one, part) for one in inside[first:last])
            omitted = kinds[first] == _OMITTED
            yield part, seconds if omitted else 0.0, 0.0 if omitted else seconds, kinds[first] or SPOKEN[0]
            start = part.end
        if not inside:
            yield phrase, 0.0, 0.0, SPOKEN[0]


_OMITTED = "omitted"


def _kinds(stretches: Sequence[Stretch]) -> list[str]:
    """The language that each is spoken in, or ``omitted``; sound without speech goes with its neighbours."""
    kinds = [_kind(one) for one in stretches]
    for order in (range(1, len(kinds)), range(len(kinds) - 2, -1, -1)):
        for place in order:
            neighbour = kinds[place - 1 if order.step > 0 else place + 1]
            if not kinds[place] and neighbour != _OMITTED:
                kinds[place] = neighbour
    return kinds


def _kind(stretch: Stretch) -> str:
    return stretch.language if stretch.is_spoken or not stretch.language else _OMITTED


def _overlap(one: Phrase, other: Phrase) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))


def _speech_in(stretch: Stretch, phrase: Phrase) -> float:
    length = stretch.phrase.end - stretch.phrase.start
    return stretch.speech_s * _overlap(stretch.phrase, phrase) / length if length else 0.0


def _notes(spoken: Sequence[SpokenPhrase], stretches: Sequence[Stretch]) -> SpeechNotes:
    language, confidence = overall_language(stretches)
    speech_s = sum(one.speech_s for one in stretches)
    return SpeechNotes(
        language,
        round(confidence, 4),
        round(speech_s, 2),
        round(min(sum(one.omitted_s for one in spoken), speech_s), 2),
        sum(len(one.words) for one in spoken),
        round(mean_confidence(spoken), 4),
    )


def _judged(transcript: Transcript, stretches: Sequence[Stretch], how: Recognizing, method: str) -> Transcript:
    """Refuse a recording most of whose speech cannot be spoken, or whose words are far fewer than its speech."""
    notes = transcript.notes
    if not notes.is_speech:
        return transcript
    spoken_s = notes.speech_s - notes.omitted_s
    foreign_s = sum(one.speech_s for one in stretches if _kind(one) == _OMITTED)
    reason = ""
    if 2 * foreign_s > notes.speech_s:
        reason = _other_language(notes, how.spoken, method)
    elif not notes.words or 2 * spoken_s < notes.speech_s:
        reason = (
            f"no words were recognized in {notes.omitted_s or notes.speech_s:.1f} of {notes.speech_s:.1f} s of speech, "
            f"so {method} would lose what was said; listen to the recording, or use --strength fast, which keeps every "
            "sound but only changes the voice"
        )
    elif spoken_s >= JUDGED_S and notes.words < LEAST_WORDS_PER_S * spoken_s:
        reason = (
            f"only {notes.words} words were recognized in {spoken_s:.1f} s of speech, so {method} would lose most "
            "of what was said; listen to the recording, or use --strength fast, which keeps every sound but only "
            "changes the voice"
        )
    if reason:
        raise RejectedSpeechError(reason, speech_s=notes.speech_s, language=notes.language)
    return transcript


def _other_language(notes: SpeechNotes, spoken: tuple[str, ...], method: str) -> str:
    supported, sure = ", ".join(language_title(code) for code in spoken), 100 * notes.language_confidence
    if notes.language in spoken and notes.language not in SPOKEN:
        return (
            f"this sounds like {language_title(notes.language)}, but {method} is not sure enough of it to speak its "
            f"words; add --language {notes.language} if that is right, leave the recording out, or use --strength fast "
            "(it only changes the voice)"
        )
    if len(spoken) > 1:
        return (
            f"this sounds like {language_title(notes.language)}, which {method} does not speak ({supported}); leave "
            "the recording out, use --strength fast (it only changes the voice), or add --language CODE if you know "
            "that it is another language"
        )
    return (
        f"this sounds like {language_title(notes.language)}, {sure:.0f} % sure that it is not {supported}, the only "
        f"language that {method} speaks; leave the recording out, use --strength fast (it only changes the voice), or "
        "add --language en if it is English"
    )


def sentences(words: Sequence[RecognizedWord]) -> list[tuple[RecognizedWord, ...]]:
    """Cut words into sentences by their punctuation and number alone, wherever the speaker paused.

    >>> heard = [RecognizedWord(text, 0.9) for text in "I saw him. Then the old dog barked. Loud.".split()]
    >>> [" ".join(word.text for word in one) for one in sentences(heard)]
    ['I saw him. Then the old dog barked.', 'Loud.']
    """
    cut: list[list[RecognizedWord]] = [[]]
    for word in words:
        ended = len(cut[-1]) >= _SHORTEST_WORDS and cut[-1][-1].text[-1:] in _ENDS
        switched = bool(cut[-1]) and cut[-1][-1].language != word.language
        if len(cut[-1]) >= _LONGEST_WORDS or ended or switched:
            cut.append([])
        cut[-1].append(word)
    return [tuple(one) for one in cut if one]


def passages(spoken: Sequence[SpokenPhrase]) -> list[tuple[RecognizedWord, ...]]:
    """Give the sentences of a recording in order; an empty one stands for speech that is omitted.

    >>> said = SpokenPhrase(Phrase(0, 1), (RecognizedWord("Yes.", 0.9),))
    >>> [len(one) for one in passages([said, SpokenPhrase(Phrase(1, 2), (), omitted_s=3.0), said])]
    [1, 0, 1]
    """
    cut: list[tuple[RecognizedWord, ...]] = []
    words: list[RecognizedWord] = []
    for phrase in spoken:
        words += phrase.words
        if phrase.omitted_s:
            cut += sentences(words)
            words = []
            if not cut or cut[-1]:  # neighbours that are omitted get one mark
                cut.append(())
    return [*cut, *sentences(words)]


def segments_of(
    words: Sequence[RecognizedWord], *, unsure: Unsure, sure_from: float, redact: Sequence[str]
) -> list[Segment]:
    """Put neighbouring words together that are spoken, and a mark in the place of those that are not (or of none).

    >>> heard = [RecognizedWord("Call", 0.9), RecognizedWord("Xyz", 0.1), RecognizedWord("at", 0.9)]
    >>> [s.text or s.kind for s in segments_of(heard, unsure="tone", sure_from=0.4, redact=())]
    ['Call', 'tone', 'at']
    """
    if not words:
        return [Segment("tone")]
    out = left_out([word.text for word in words], redact)
    segments: list[Segment] = []
    for word, hidden in zip(words, out, strict=True):
        doubtful = word.confidence < sure_from and unsure != "speak"
        if not hidden and not doubtful:
            if segments and segments[-1].kind == "words" and segments[-1].language == word.language:
                segments[-1] = replace(segments[-1], text=f"{segments[-1].text} {word.text}")
            else:
                segments.append(Segment("words", word.text, word.language))
            continue
        kind: Literal["tone", "silence"] = "silence" if not hidden and unsure == "silence" else "tone"
        if not segments or segments[-1].kind != kind:
            segments.append(Segment(kind))
    return segments


def mark_sound(kind: Literal["tone", "silence"], rate_hz: int) -> Floats:
    """A soft tone, or nothing, for as long as a word: stands for what is not spoken."""
    times = np.arange(round(_MARK_S * rate_hz)) / rate_hz
    tone = _TONE_LEVEL * np.sin(2 * np.pi * _TONE_HZ * times) * np.sin(np.pi * times / _MARK_S) ** 2
    return (tone if kind == "tone" else np.zeros_like(times)).astype(np.float32)
