"""Per-speaker decisions and per-recording notes of methods that re-synthesize speech.

A method may need to know more of a speaker than one recording says: the gender of the pseudo-voice, or the language of
a recording of two words. It gives ``SpeakerEvidence`` of each recording; ``pool`` makes ``SpeakerFacts`` of the
evidence of all recordings of a speaker, whatever their order; the method is given them back with every recording. What
it did with a recording comes back as ``SpeechNotes``, which manifests, summaries and reports show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from personare.core.audio import Audio
from personare.core.protocols import Anonymizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_SHARE = 0.005  # less likely languages are left out of what is known of a speaker
_FLOOR = 1e-4


@dataclass(frozen=True)
class SpeakerEvidence:
    """What one recording says about its speaker.

    Parameters
    ----------
    speech_s : seconds of speech it rests on.
    vector : a speaker embedding; empty where the method needs none.
    languages : the probability of each language; empty where the method needs none.
    gender_score : above 0 for a woman's voice; None where the method needs none.
    """

    speech_s: float = 0.0
    vector: tuple[float, ...] = ()
    languages: Mapping[str, float] = field(default_factory=dict)
    gender_score: float | None = None


@dataclass(frozen=True)
class SpeakerFacts:
    """What is known of a speaker from all of their recordings; empty where only the recording at hand is known.

    Parameters
    ----------
    gender : f or m, given by the corpus or guessed.
    vector : the mean speaker embedding, of length 1.
    languages : the probability of each language that is likely enough.
    """

    gender: str | None = None
    vector: tuple[float, ...] = ()
    languages: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for a JSON file."""
        return {"gender": self.gender, "vector": list(self.vector), "languages": dict(self.languages)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SpeakerFacts:
        """Read plain values."""
        return cls(values["gender"], tuple(values["vector"]), dict(values["languages"]))


NOTHING_KNOWN = SpeakerFacts()


def pool(evidence: Sequence[SpeakerEvidence], *, gender: str | None = None) -> SpeakerFacts:
    """Make the facts of a speaker from the evidence of their recordings; a ``gender`` that is given (f, m) counts.

    >>> both = [SpeakerEvidence(3.0, (), {"en": 0.4, "de": 0.6}, -0.1), SpeakerEvidence(9.0, (), {"en": 0.9}, 0.2)]
    >>> facts = pool(both)
    >>> facts.gender, max(facts.languages, key=facts.languages.get)
    ('f', 'en')
    """
    vectors = [np.array(one.vector) for one in evidence if one.vector]
    scores = [(one.gender_score, one.speech_s) for one in evidence if one.gender_score is not None]
    if gender not in ("f", "m"):
        total = sum(score * max(speech_s, _FLOOR) for score, speech_s in scores)
        gender = ("f" if total > 0 else "m") if scores else None
    return SpeakerFacts(gender, _mean_vector(vectors), _mean_languages(evidence))


def _mean_vector(vectors: Sequence[NDArray[np.float64]]) -> tuple[float, ...]:
    if not vectors:
        return ()
    mean = np.mean(vectors, axis=0)
    return tuple((mean / max(float(np.linalg.norm(mean)), 1e-9)).tolist())


def _mean_languages(evidence: Sequence[SpeakerEvidence]) -> dict[str, float]:
    """The geometric mean of probabilities, each by its seconds of speech: one odd recording decides nothing."""
    known = [one for one in evidence if one.languages]
    weights = [max(one.speech_s, _FLOOR) for one in known]
    codes = sorted({code for one in known for code in one.languages})
    logs = {
        code: sum(w * np.log(max(one.languages.get(code, 0.0), _FLOOR)) for one, w in zip(known, weights, strict=True))
        for code in codes
    }
    shares = {code: float(np.exp(log / sum(weights))) for code, log in logs.items()}
    total = sum(shares.values())
    likely = {code: round(share / total, 4) for code, share in shares.items()}
    return {code: share for code, share in likely.items() if share >= _LEAST_SHARE}


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
    """

    language: str = ""
    language_confidence: float = 0.0
    speech_s: float = 0.0
    omitted_s: float = 0.0
    words: int = 0
    word_confidence: float = 0.0

    @property
    def is_speech(self) -> bool:
        """Whether any speech was heard."""
        return self.speech_s > 0


@dataclass(frozen=True)
class SpokenAudio:
    """An anonymized channel, and notes on it where the method transcribes."""

    audio: Audio
    notes: SpeechNotes | None = None


@runtime_checkable
class SpeakerAware(Protocol):
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
    if isinstance(anonymizer, SpeakerAware):
        return anonymizer.speak(audio, rng=rng, speaker=speaker)
    return SpokenAudio(anonymizer(audio, rng=rng))
