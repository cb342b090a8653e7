"""Per-speaker decisions and per-recording notes of methods that re-synthesize speech.

A method may need to know more of a speaker than one recording says: the gender of the pseudo-voice, or the language of
a recording of two words. It gives ``SpeakerEvidence`` of each recording; ``pool`` makes ``SpeakerFacts`` of the
evidence of all recordings of a speaker, whatever their order; the method is given them back with every recording. What
it did with a recording comes back as ``SpeechNotes``, which manifests, summaries and reports show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from personare.core.audio import Audio
from personare.core.protocols import Anonymizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLOOR = 1e-4
LEAST_LOG = -6.0  # of the log-probability of a language
LEAST_SHARE = 0.1  # of a speaker's speech: a language below it is not one of theirs


@dataclass(frozen=True)
class LanguageOdds:
    """How likely speech is in a language that a method speaks: the mean log-odds of its stretches.

    ``clarity`` is the mean of their absolute values: large where every stretch is clear, whatever it is; ``weight``,
    how many stretches it rests on. ``languages`` are the mean log-probabilities of the languages that are heard at all;
    the others have ``LEAST_LOG``.
    """

    mean: float
    clarity: float
    weight: float
    languages: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SpeakerEvidence:
    """What one recording says about its speaker.

    Parameters
    ----------
    speech_s : seconds of speech it rests on.
    vector : a speaker embedding; empty where the method needs none.
    language : the odds of its language; None where the method needs none, or knows it.
    gender_score : above 0 for a woman's voice; None where the method needs none.
    languages : seconds of speech in each language that was identified and can be spoken.
    manner : how the speaker speaks, whatever the expression, as numbers of a label maker; empty where none is needed.
    sentences : how many sentences ``manner`` is the mean of.
    """

    speech_s: float = 0.0
    vector: tuple[float, ...] = ()
    language: LanguageOdds | None = None
    gender_score: float | None = None
    languages: tuple[tuple[str, float], ...] = ()
    manner: tuple[float, ...] = ()
    sentences: int = 0


@dataclass(frozen=True)
class SpeakerFacts:
    """What is known of a speaker from all of their recordings; empty where only the recording at hand is known.

    Parameters
    ----------
    gender : f or m, given by the corpus or guessed.
    vector : the mean speaker embedding, of length 1.
    language : the odds of the language over all recordings.
    languages : codes of the languages that the speaker speaks, the most frequent first; empty where nobody knows. Each
        has at least ``LEAST_SHARE`` of the speech: a stretch here and there is more often an error than a language.
    manner, sentences : how the speaker speaks, the mean over so many sentences; empty where no label is made.
    """

    gender: str | None = None
    vector: tuple[float, ...] = ()
    language: LanguageOdds | None = None
    languages: tuple[str, ...] = ()
    manner: tuple[float, ...] = ()
    sentences: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for a JSON file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SpeakerFacts:
        """Read plain values."""
        odds = values["language"]
        known = None if odds is None else LanguageOdds(**odds)
        manner, sentences = tuple(values.get("manner", ())), int(values.get("sentences", 0))
        return cls(
            values["gender"], tuple(values["vector"]), known, tuple(values.get("languages", ())), manner, sentences
        )


NOTHING_KNOWN = SpeakerFacts()


def pool(evidence: Sequence[SpeakerEvidence], *, gender: str | None = None) -> SpeakerFacts:
    """Make the facts of a speaker from the evidence of their recordings; a ``gender`` that is given (f, m) counts.

    >>> short = SpeakerEvidence(3.0, (), LanguageOdds(-1.0, 1.0, 1.0), -0.1)
    >>> facts = pool([short, SpeakerEvidence(9.0, (), LanguageOdds(5.0, 5.0, 3.0), 0.2)])
    >>> facts.gender, facts.language
    ('f', LanguageOdds(mean=3.5, clarity=4.0, weight=4.0, languages={}))
    """
    vectors = [np.array(one.vector) for one in evidence if one.vector]
    scores = [(one.gender_score, one.speech_s) for one in evidence if one.gender_score is not None]
    if gender not in ("f", "m"):
        total = sum(score * max(speech_s, _FLOOR) for score, speech_s in scores)
        gender = ("f" if total > 0 else "m") if scores else None
    odds = _mean_odds([one.language for one in evidence])
    return SpeakerFacts(gender, _mean_vector(vectors), odds, _languages(evidence), *_mean_manner(evidence))


def _mean_manner(evidence: Sequence[SpeakerEvidence]) -> tuple[tuple[float, ...], int]:
    """Pool how a speaker speaks: the mean over all sentences, and how many there are.

    >>> _mean_manner([SpeakerEvidence(manner=(1.0,), sentences=1), SpeakerEvidence(manner=(4.0,), sentences=2)])
    ((3.0,), 3)
    """
    known = [one for one in evidence if one.sentences]
    if not known:
        return (), 0
    total = sum(one.sentences for one in known)
    mean = np.sum([one.sentences * np.array(one.manner) for one in known], axis=0) / total
    return tuple(np.round(mean, 4).tolist()), total


def _languages(evidence: Sequence[SpeakerEvidence]) -> tuple[str, ...]:
    """Name the languages that have a share of the speech worth the name.

    >>> _languages([SpeakerEvidence(60.0, languages=(("en", 55.0), ("de", 5.0))), SpeakerEvidence(9.0)])
    ('en',)
    """
    seconds: dict[str, float] = {}
    for code, speech_s in (pair for one in evidence for pair in one.languages):
        seconds[code] = seconds.get(code, 0.0) + speech_s
    least_s = LEAST_SHARE * sum(seconds.values())
    return tuple(code for code in sorted(seconds, key=lambda code: (-seconds[code], code)) if seconds[code] >= least_s)


def _mean_vector(vectors: Sequence[NDArray[np.float64]]) -> tuple[float, ...]:
    if not vectors:
        return ()
    mean = np.mean(vectors, axis=0)
    return tuple((mean / max(float(np.linalg.norm(mean)), 1e-9)).tolist())


def _mean_odds(odds: Sequence[LanguageOdds | None]) -> LanguageOdds | None:
    known = [one for one in odds if one is not None]
    weight = sum(one.weight for one in known)
    if not weight:
        return None
    mean = sum(one.mean * one.weight for one in known) / weight
    clarity = sum(one.clarity * one.weight for one in known) / weight
    codes = sorted({code for one in known for code in one.languages})
    languages = {
        code: round(sum(one.languages.get(code, LEAST_LOG) * one.weight for one in known) / weight, 4) for code in codes
    }
    return LanguageOdds(round(mean, 4), round(clarity, 4), round(weight, 4), languages)


@dataclass(frozen=True)
class SpeechNotes:
    """What a method that transcribes heard and spoke in one recording.

    Parameters
    ----------
    language : code of the language of most of its speech ("": no speech was heard).
    language_confidence : probability of that language, 0 to 1; 1 where the user gave it.
    speech_s : seconds of speech that were heard.
    omitted_s : those of them that are not spoken, because their language is not supported or no word was recognized.
    words : how many words were spoken.
    word_confidence : how sure the recognizer was of them on average, 0 to 1.
    other_speaker : whether another pseudo-speaker than the speaker's usual one speaks it, because the usual one lacks
        one of its languages.
    """

    language: str = ""
    language_confidence: float = 0.0
    speech_s: float = 0.0
    omitted_s: float = 0.0
    words: int = 0
    word_confidence: float = 0.0
    other_speaker: bool = False

    @property
    def is_speech(self) -> bool:
        """Whether any speech was heard."""
        return self.speech_s > 0


def combine(notes: Sequence[SpeechNotes | None]) -> SpeechNotes | None:
    """Put the notes of the channels of a recording together: the language is that of most of their speech.

    >>> combine([SpeechNotes("en", 0.9, 2.0, 0.0, 5, 0.8), SpeechNotes()]).words
    5
    """
    known = [one for one in notes if one is not None]
    if not known:
        return None
    most = max(known, key=lambda one: one.speech_s)
    words = sum(one.words for one in known)
    confidence = sum(one.words * one.word_confidence for one in known) / words if words else 0.0
    return SpeechNotes(
        most.language,
        most.language_confidence,
        round(sum(one.speech_s for one in known), 2),
        round(sum(one.omitted_s for one in known), 2),
        words,
        round(confidence, 4),
        any(one.other_speaker for one in known),
    )


@dataclass(frozen=True)
class SpeechSummary:
    """What the recordings of a folder hold, and how long they were before and after.

    Parameters
    ----------
    source_s, result_s : seconds of all recordings before and after.
    languages : how many recordings are in which language, by a method that transcribes.
    non_speech : recordings without any speech, which such a method leaves silent.
    partly : recordings of which some speech is omitted; ``omitted_s`` seconds in all.
    other_speaker : recordings that another pseudo-speaker speaks than the other ones of their speaker.
    """

    source_s: float = 0.0
    result_s: float = 0.0
    languages: Mapping[str, int] = field(default_factory=dict)
    non_speech: int = 0
    partly: int = 0
    omitted_s: float = 0.0
    other_speaker: int = 0

    @property
    def other_speaker_line(self) -> str:
        """Say how many recordings have another pseudo-speaker; nothing where none has.

        >>> SpeechSummary(other_speaker=2).other_speaker_line
        '2 recordings hold a language that the pseudo-speaker of their speaker does not speak: another one speaks them.'
        """
        if not self.other_speaker:
            return ""
        many = f"{self.other_speaker:,} recording{' holds' if self.other_speaker == 1 else 's hold'}"
        return f"{many} a language that the pseudo-speaker of their speaker does not speak: another one speaks them."

    @property
    def length_line(self) -> str:
        """Say how long the recordings were and are.

        >>> SpeechSummary(1200.0, 1728.0, {"en": 9}, partly=1, omitted_s=6.2).length_line
        'Length: 20.0 min before, 28.8 min after (+44 %). 6.2 s of speech are omitted.'
        """
        omitted = f" {self.omitted_s:.1f} s of speech are omitted." if self.partly else ""
        if not self.source_s:
            return omitted.strip()
        change = 100 * (self.result_s / self.source_s - 1)
        same = abs(change) < 0.5
        after = "unchanged" if same else f"{_minutes(self.result_s)} after ({change:+.0f} %)"
        return f"Length: {_minutes(self.source_s)} before, {after}.{omitted}"


def _minutes(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


@dataclass(frozen=True)
class UncertainRecording:
    """A recording to listen to: its name, its result, and how certain its language and its words are."""

    utterance: str
    result: str
    language: str
    language_confidence: float
    word_confidence: float
    omitted_s: float

    @property
    def certainty(self) -> float:
        """The product of both confidences; below 0 where speech is omitted."""
        return self.language_confidence * self.word_confidence - (1.0 if self.omitted_s else 0.0)


@dataclass(frozen=True)
class SpokenAudio:
    """An anonymized channel, and notes on it where the method transcribes."""

    audio: Audio
    notes: SpeechNotes | None = None


@runtime_checkable
class DecidesPerSpeaker(Protocol):
    """An anonymizer that decides some things once per speaker."""

    def evidence(self, audio: Audio) -> SpeakerEvidence:
        """Tell what one channel says about its speaker."""
        ...

    def speak(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts) -> SpokenAudio:
        """Anonymize one channel of a speaker about whom this is known."""
        ...


def speak(
    anonymizer: Anonymizer, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts = NOTHING_KNOWN
) -> SpokenAudio:
    """Anonymize one channel by any method; one that knows no speakers gives no notes."""
    if isinstance(anonymizer, DecidesPerSpeaker):
        return anonymizer.speak(audio, rng=rng, speaker=speaker)
    return SpokenAudio(anonymizer(audio, rng=rng))
