"""Language identification stretch by stretch: which parts of a recording are speech, and in which language.

A recording is cut into stretches of at most 5 s at its pauses. A segmentation network says how much of each is speech;
Whisper gives the probability of each language for those that hold some. An accent sounds like the speaker's first
language, so that the confidence of an English recognizer is a second opinion: it is sure of the words of accented
English, and unsure of the words that it makes of another language. Both give the odds that a stretch is in a language
that can be spoken. Short stretches are weak evidence. The stretches of a recording are therefore pooled by a hidden
Markov model, and the odds of a speaker over all recordings are added where single stretches of that speaker are not
clear. Beside a change of language, halves of stretches are judged by themselves, so that no words of the other language
remain. benchmarks/languages.py prints how often this is right.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.words.phrases import RATE_HZ, Phrase, find_phrases
from personare.core.errors import ConfigError
from personare.core.spoken import LanguageOdds, SpeakerFacts
from personare.encoders.recognition import recognize
from personare.encoders.segmentation import Segmentation
from personare.encoders.whisper import LANGUAGES, language_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MODELS = ("segmentation", "whisper-base", "moonshine")
SPOKEN = ("en",)
"""Languages that every voice can speak; the second opinion above is about the first one."""
AUTO = "auto"
_STRETCH_S, _MOST_PAUSE_S = 5.0, 0.6
_LEAST_SPEECH_S = 0.25  # less of it in a stretch is none
_PADDED_S = 7.0  # short stretches are followed by silence up to here: Whisper names their language more often
_LEVEL = 0.05  # root mean square of the loudest stretches that recognizers are given
_LEVEL_SHARE = 95  # percentile of the levels of 20 ms that is brought to it
_LEAST_HALF_S = 0.8
_FLOOR = 1e-3  # of a probability
_FULL_WEIGHT_S = 2.0  # speech of a stretch whose odds count in full
_MOST_ODDS = 7.0  # logarithm; one stretch alone never decides
_DECIDED = (0.003, 0.97)  # outside of it, the probability of English needs no second opinion
# how the English recognizer's confidence changes the odds: a logistic regression on short recordings of Mandarin
# speakers of English and of Germans
_WORD_SLOPE, _WORD_CENTRE = 9.0, 0.25
_SWITCH = 0.4  # probability that the next stretch is another language
# a speaker whose stretches have larger odds than this, on average, is clear: every stretch is judged by itself, and
# those of somebody who mostly speaks another language more strictly. Else the speaker's mean decides with the stretch.
_CLEAR, _STRICT, _STRICTER = 3.5, 1.0, 3.0
_OFFSET, _POOLED_SLOPE, _MOST_POOLED = 1.3, 8.0, 5.0
_UNCLEAR = 0.9  # a stretch of a clear speaker below this chance may hold two languages
_LEAST_CONTEXT = 3  # in fewer stretches, one that is not clear is an accent rather than another language
_SURE_OF_OTHER = 0.8  # share of a language other than English among all of them, from which on it is spoken
_NEVER_HELPED = 0.02  # a stretch of which English is less likely than this gains nothing by its speaker
NAMES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hi": "Hindi",
    "hu": "Hungarian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}


@dataclass(frozen=True)
class Stretch:
    """A part of a recording: where it is, how much of it is speech, and in which language ("": no speech).

    ``spoken`` are the languages that may be spoken here: those of the voice, or English alone where the language is
    another one and not sure.
    """

    phrase: Phrase
    speech_s: float
    language: str
    confidence: float
    spoken: tuple[str, ...] = SPOKEN

    @property
    def is_spoken(self) -> bool:
        """Whether its language is identified and supported."""
        return self.language in self.spoken


def language_name(code: str) -> str:
    """Write a language for people.

    >>> language_name("de"), language_name("eu")
    ('German (de)', 'eu')
    """
    return f"{NAMES[code]} ({code})" if code in NAMES else code


def identify(
    samples: Floats, *, language: str, speaker: SpeakerFacts, spoken: tuple[str, ...] = SPOKEN
) -> list[Stretch]:
    """Identify the language of every stretch of 16 kHz samples; ``language`` is a code that is known, or ``auto``.

    ``spoken`` are the languages of the voice.
    """
    phrases = find_phrases(samples, longest_s=_STRETCH_S, most_pause_s=_MOST_PAUSE_S)
    if not phrases:
        return []
    speech_s = _speech_seconds(samples, phrases)
    heard = [place for place, seconds in enumerate(speech_s) if seconds >= _LEAST_SPEECH_S]
    if language != AUTO:
        return _stretches(phrases, speech_s, dict.fromkeys(heard, (language, 1.0, spoken)))
    evidence = [_evidence(samples, phrases[place], speech_s[place]) for place in heard]
    gain = _gain(speaker.language or _odds_of(evidence)) if evidence else 0.0
    chances = _chances(evidence, gain)
    others = np.sum([one.probabilities * speech_s[place] for place, one in zip(heard, evidence, strict=True)], axis=0)
    named = {
        place: _named(one.probabilities, chance, others, spoken)
        for place, one, chance in zip(heard, evidence, chances, strict=True)
    }
    is_clear = gain == -_STRICT and len(heard) >= _LEAST_CONTEXT
    stretches = _stretches(phrases, speech_s, named)
    return _at_changes(samples, stretches, min(gain, -_STRICT), is_clear=is_clear, spoken=spoken)


_Named = tuple[str, float, tuple[str, ...]]  # language, confidence, languages that may be spoken there


def _named(probabilities: Floats, chance: float, others: Floats, spoken: tuple[str, ...]) -> _Named:
    """Give the language of a stretch that is English with this ``chance``; if not, the likeliest other one.

    Another language is sure where it has nearly all of the probability that English leaves, in the stretch or, where
    that is short, in the recording.
    """
    if chance > 0.5:
        return SPOKEN[0], chance, spoken
    rows = [np.where(np.isin(LANGUAGES, SPOKEN), 0.0, row) for row in (probabilities, others)]
    own = int(rows[0].argmax())
    row = rows[0] if rows[0][own] >= 0.5 else rows[1]  # short stretches get the recording's language
    best = int(row.argmax())
    share = float(row[best] / max(float(row.sum()), 1e-9))
    if LANGUAGES[best] in spoken and share >= _SURE_OF_OTHER:
        return LANGUAGES[best], share * (1.0 - chance), spoken
    return LANGUAGES[best], 1.0 - chance, SPOKEN


def check_language(language: str, *, where: str, spoken: tuple[str, ...] = SPOKEN) -> None:
    """Refuse a language that cannot be spoken."""
    if language != AUTO and language not in spoken:
        known = ", ".join(language_name(code) for code in spoken)
        raise ConfigError(f"{where}: language must be auto or one that it speaks ({known}), not '{language}'")


@dataclass(frozen=True)
class LanguageEvidence:
    """What a recording says of its speaker's languages.

    Parameters
    ----------
    odds : that it is in English; None without speech, or where the language is known.
    languages : seconds of speech in each language that is identified and can be spoken.
    """

    speech_s: float
    odds: LanguageOdds | None = None
    languages: tuple[tuple[str, float], ...] = ()


def language_evidence(samples: Floats, *, language: str, spoken: tuple[str, ...] = SPOKEN) -> LanguageEvidence:
    """Identify the languages of 16 kHz samples for a survey of their speaker; ``spoken`` are those of the voice."""
    if language != AUTO:
        length_s = len(samples) / RATE_HZ
        return LanguageEvidence(length_s, None, ((language, length_s),))
    phrases = find_phrases(samples, longest_s=_STRETCH_S, most_pause_s=_MOST_PAUSE_S)
    speech_s = _speech_seconds(samples, phrases)
    heard = [(phrase, s) for phrase, s in zip(phrases, speech_s, strict=True) if s >= _LEAST_SPEECH_S]
    if not heard:
        return LanguageEvidence(0.0)
    evidence = [_evidence(samples, phrase, s) for phrase, s in heard]
    odds = _odds_of(evidence)
    others = np.sum([one.probabilities * s for one, (_, s) in zip(evidence, heard, strict=True)], axis=0)
    languages: dict[str, float] = {}
    for one, chance, (_, s) in zip(evidence, _chances(evidence, _gain(odds)), heard, strict=True):
        code, _, may = _named(one.probabilities, chance, others, spoken)
        if code in may:
            languages[code] = round(languages.get(code, 0.0) + s, 2)
    return LanguageEvidence(sum(s for _, s in heard), odds, tuple(sorted(languages.items())))


def overall_language(stretches: Sequence[Stretch]) -> tuple[str, float]:
    """Give the language of most of the speech, and its mean confidence by seconds; nothing without speech."""
    seconds: dict[str, float] = {}
    for stretch in stretches:
        if stretch.language:
            seconds[stretch.language] = seconds.get(stretch.language, 0.0) + stretch.speech_s
    if not seconds:
        return "", 0.0
    code = max(sorted(seconds), key=lambda name: seconds[name])
    own = [stretch for stretch in stretches if stretch.language == code]
    return code, sum(one.confidence * one.speech_s for one in own) / seconds[code]


def _stretches(phrases: Sequence[Phrase], speech_s: Sequence[float], named: dict[int, _Named]) -> list[Stretch]:
    return [
        Stretch(phrase, seconds if place in named else 0.0, *named.get(place, ("", 0.0, SPOKEN)))
        for place, (phrase, seconds) in enumerate(zip(phrases, speech_s, strict=True))
    ]


def _probabilities(samples: Floats, phrase: Phrase) -> Floats:
    sound = levelled(samples[phrase.start : phrase.end])
    return language_probabilities(np.pad(sound, (0, max(0, round(_PADDED_S * RATE_HZ) - len(sound)))))


@dataclass(frozen=True, eq=False)
class _Evidence:
    """What a stretch says of its language: probabilities by its sound, log-odds that it is spoken, and their weight."""

    probabilities: Floats
    odds: float
    weight: float


def _evidence(samples: Floats, phrase: Phrase, speech_s: float) -> _Evidence:
    probabilities = _probabilities(samples, phrase)
    english = float(probabilities[LANGUAGES.index("en")])
    bounded = min(max(english, _FLOOR), 1 - _FLOOR)
    odds = float(np.log(bounded / (1 - bounded)))
    if _DECIDED[0] < english < _DECIDED[1]:
        words = recognize(levelled(samples[phrase.start : phrase.end]), model="moonshine")
        confidence = float(np.mean([word.confidence for word in words])) if words else 0.0
        odds += _WORD_SLOPE * (confidence - _WORD_CENTRE)
    return _Evidence(probabilities, float(np.clip(odds, -_MOST_ODDS, _MOST_ODDS)), min(1.0, speech_s / _FULL_WEIGHT_S))


def _odds_of(evidence: Sequence[_Evidence]) -> LanguageOdds:
    weight = sum(one.weight for one in evidence)
    mean = sum(one.weight * one.odds for one in evidence) / weight
    clarity = sum(one.weight * abs(one.odds) for one in evidence) / weight
    return LanguageOdds(round(mean, 4), round(clarity, 4), round(weight, 4))


def levelled(samples: Floats) -> Floats:
    """Bring the loud parts of a phrase to one level: its loudness decides nothing."""
    step = 320
    whole = samples[: len(samples) // step * step].astype(np.float64)
    if not len(whole):
        return samples
    loud = float(np.sqrt(np.percentile(np.square(whole).reshape(-1, step).mean(axis=1), _LEVEL_SHARE)))
    return np.asarray(samples * np.float32(_LEVEL / loud), np.float32) if loud > 0 else samples


def _chances(evidence: Sequence[_Evidence], gain: float) -> list[float]:
    """Give the probability that each stretch can be spoken, by the forward-backward algorithm over two states.

    ``gain`` is added to the log-odds of each for what is known of the speaker.
    """
    if not evidence:
        return []
    english = LANGUAGES.index("en")
    helped = [min(gain, 0.0) if one.probabilities[english] < _NEVER_HELPED else gain for one in evidence]
    ratios = [float(np.exp(one.weight * (one.odds + more))) for one, more in zip(evidence, helped, strict=True)]
    forward, backward = [ratios[0]], [1.0] * len(ratios)  # both as odds
    for ratio in ratios[1:]:
        forward.append(ratio * _after(forward[-1]))
    for place in range(len(ratios) - 2, -1, -1):
        backward[place] = _after(ratios[place + 1] * backward[place + 1])
    both = [before * after for before, after in zip(forward, backward, strict=True)]
    return [odds / (1 + odds) for odds in both]


def _after(odds: float) -> float:
    """The odds of the next stretch, given those of this one."""
    return ((1 - _SWITCH) * odds + _SWITCH) / (_SWITCH * odds + 1 - _SWITCH)


def _gain(speaker: LanguageOdds) -> float:
    """What is added to the log-odds of a stretch for what is known of its speaker."""
    mean = speaker.mean + _OFFSET
    if speaker.clarity >= _CLEAR:
        return -_STRICT if mean > 0 else -_STRICTER
    return _OFFSET + float(np.clip(_POOLED_SLOPE * mean, -_MOST_POOLED, _MOST_POOLED))


def _at_changes(
    samples: Floats, stretches: Sequence[Stretch], gain: float, *, is_clear: bool, spoken: tuple[str, ...]
) -> list[Stretch]:
    """Judge the halves of spoken stretches beside speech in another language by themselves, and their halves in turn.

    Where the speaker is clear (``is_clear``), so are the halves of stretches that are not: two languages may be in one.
    ``gain`` is never above 0 here: a stretch beside another language gains nothing by its speaker.
    """
    judged, settled = list(stretches), set[Phrase]()
    while True:
        doubtful = {
            place
            for place in _beside_another_language(judged) | (_unclear(judged) if is_clear else set())
            if judged[place].phrase not in settled
        }
        if not doubtful:
            return judged
        parts: list[Stretch] = []
        for place, stretch in enumerate(judged):
            if place not in doubtful:
                parts.append(stretch)
                continue
            halves = _halves(samples, stretch, gain, spoken)
            settled |= {half.phrase for half in halves if half.phrase.duration_s < 2 * _LEAST_HALF_S}
            parts += halves
        judged = parts


def _beside_another_language(stretches: Sequence[Stretch]) -> set[int]:
    speech = [place for place, stretch in enumerate(stretches) if stretch.language]
    return {
        place
        for before, after in itertools.pairwise(speech)
        for place, other in ((before, after), (after, before))
        if stretches[place].is_spoken and stretches[place].language != stretches[other].language
    }


def _unclear(stretches: Sequence[Stretch]) -> set[int]:
    return {
        place
        for place, stretch in enumerate(stretches)
        if stretch.language == SPOKEN[0] and stretch.confidence < _UNCLEAR
    }


def _halves(samples: Floats, stretch: Stretch, gain: float, spoken: tuple[str, ...]) -> list[Stretch]:
    phrase = stretch.phrase
    if phrase.duration_s < 2 * _LEAST_HALF_S:
        parts = [phrase]
    else:
        middle = _quietest(samples, phrase)
        parts = [Phrase(phrase.start, middle), Phrase(middle, phrase.end)]
    judged = []
    for part in parts:
        seconds = stretch.speech_s * part.duration_s / phrase.duration_s
        evidence = _evidence(samples, part, _FULL_WEIGHT_S)
        (chance,) = _chances([evidence], gain)
        named = _named(evidence.probabilities, chance, evidence.probabilities, spoken)
        judged.append(Stretch(part, seconds, *named))
    return judged


def _quietest(samples: Floats, phrase: Phrase) -> int:
    """The middle of the quietest 50 ms in the inner half of a phrase."""
    length, step = phrase.end - phrase.start, RATE_HZ // 20
    first = phrase.start + length // 4
    inner = samples[first : phrase.end - length // 4].astype(np.float64)
    powers = np.square(inner[: len(inner) // step * step]).reshape(-1, step).sum(axis=1)
    return first + int(powers.argmin()) * step + step // 2 if len(powers) else phrase.start + length // 2


def _speech_seconds(samples: Floats, phrases: Sequence[Phrase]) -> list[float]:
    speech = Segmentation().speech(samples)
    return [float(np.count_nonzero(speech[phrase.start : phrase.end])) / RATE_HZ for phrase in phrases]
