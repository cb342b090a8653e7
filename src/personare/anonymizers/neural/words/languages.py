"""Language identification stretch by stretch: which parts of a recording are speech, and in which language.

A recording is cut into stretches of at most 5 s at its pauses. A segmentation network says how much of each is speech;
Whisper gives the probability of each language for those that hold some. Short stretches are weak evidence, so the
stretches of a recording are pooled by a hidden Markov model whose states are languages: neighbours share their language
unless the sound says otherwise, and what is known of the speaker from other recordings is the prior. Beside a change of
language, halves of stretches are judged by themselves, so that no words of the other language remain.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.words.phrases import RATE_HZ, Phrase, find_phrases
from personare.core.errors import ConfigError
from personare.core.spoken import SpeakerFacts
from personare.encoders.recognition import recognize
from personare.encoders.segmentation import Segmentation
from personare.encoders.whisper import LANGUAGES, language_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MODELS = ("segmentation", "whisper-base", "moonshine")
SPOKEN = ("en",)
"""Languages whose words can be recognized and spoken."""
AUTO = "auto"
SURE_FROM = 0.5  # posterior probability from which on a stretch is taken to be in a language
_STRETCH_S, _MOST_PAUSE_S = 5.0, 0.6
_LEAST_SPEECH_S = 0.25  # less of it in a stretch is none
_PADDED_S = 7.0  # short stretches are followed by silence up to here: Whisper names their language more often
_LEVEL = 0.05  # root mean square of the loudest stretches that recognizers are given
_LEVEL_SHARE = 95  # percentile of the levels of 20 ms that is brought to it
_FLOOR = 1e-3  # of a probability: one stretch alone never decides
_SWITCH = 0.3  # probability that the next stretch is in another language
# log-odds that other recordings of a speaker count for and against speaking a stretch: never enough to overrule one
# whose language is clear, and more against than for, because refusing is better than inventing words
_MOST_FOR, _MOST_AGAINST = 2.0, 3.4
_DECIDED = (0.003, 0.97)  # outside of it, the probability of English needs no second opinion
# how the English recognizer's confidence changes the odds of English: logistic regression on short recordings of
# Mandarin speakers of English, and of Germans, which Whisper alone confuses with other languages
_WORD_SLOPE, _WORD_CENTRE = 9.0, 0.25
_FULL_WEIGHT_S = 2.0  # speech of a stretch whose probabilities count in full
_LEAST_HALF_S = 0.8
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
    """A part of a recording: where it is, how much of it is speech, and in which language ("": no speech)."""

    phrase: Phrase
    speech_s: float
    language: str
    confidence: float

    @property
    def is_spoken(self) -> bool:
        """Whether its language is identified and supported."""
        return self.language in SPOKEN and self.confidence >= SURE_FROM


def language_name(code: str) -> str:
    """Write a language for people.

    >>> language_name("de"), language_name("eu")
    ('German (de)', 'eu')
    """
    return f"{NAMES[code]} ({code})" if code in NAMES else code


def identify(samples: Floats, *, language: str, speaker: SpeakerFacts) -> list[Stretch]:
    """Identify the language of every stretch of 16 kHz samples; ``language`` is a code that is known, or ``auto``."""
    phrases = find_phrases(samples, longest_s=_STRETCH_S, most_pause_s=_MOST_PAUSE_S)
    if not phrases:
        return []
    speech_s = _speech_seconds(samples, phrases)
    heard = [place for place, seconds in enumerate(speech_s) if seconds >= _LEAST_SPEECH_S]
    if language != AUTO:
        named = dict.fromkeys(heard, (language, 1.0))
        return _stretches(phrases, speech_s, named)
    rows = [_likelihood(samples, phrases[place], speech_s[place]) for place in heard]
    probabilities = np.array(rows).reshape(-1, len(LANGUAGES))
    posterior = _posterior(probabilities, speaker)
    best = posterior.argmax(axis=1)
    named = {
        place: (LANGUAGES[code], float(row[code]))
        for place, code, row in zip(heard, best.tolist(), posterior, strict=True)
    }
    return _at_changes(samples, _stretches(phrases, speech_s, named))


def check_language(language: str, *, where: str) -> None:
    """Refuse a language that cannot be spoken."""
    if language != AUTO and language not in SPOKEN:
        known = ", ".join(language_name(code) for code in SPOKEN)
        raise ConfigError(f"{where}: language must be auto or one that it speaks ({known}), not '{language}'")


def recording_languages(samples: Floats, *, language: str) -> tuple[float, dict[str, float]]:
    """Give the seconds of speech in 16 kHz samples, and the probability of each language that is likely at all.

    Where the ``language`` is known, nothing is measured.
    """
    if language != AUTO:
        return len(samples) / RATE_HZ, {language: 1.0}
    found = find_phrases(samples, longest_s=_STRETCH_S, most_pause_s=_MOST_PAUSE_S)
    speech_s = _speech_seconds(samples, found)
    heard = [(phrase, s) for phrase, s in zip(found, speech_s, strict=True) if s >= _LEAST_SPEECH_S]
    if not heard:
        return 0.0, {}
    logs = [np.log(_likelihood(samples, phrase, s)) for phrase, s in heard]
    shares = np.exp(np.sum(logs, axis=0) / sum(_weight(s) for _, s in heard))
    shares /= shares.sum()
    likely = {code: round(float(p), 4) for code, p in zip(LANGUAGES, shares, strict=True) if p >= 2 * _FLOOR}
    return sum(s for _, s in heard), likely


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


def _stretches(
    phrases: Sequence[Phrase], speech_s: Sequence[float], named: dict[int, tuple[str, float]]
) -> list[Stretch]:
    return [
        Stretch(phrase, seconds if place in named else 0.0, *named.get(place, ("", 0.0)))
        for place, (phrase, seconds) in enumerate(zip(phrases, speech_s, strict=True))
    ]


def _probabilities(samples: Floats, phrase: Phrase) -> Floats:
    sound = levelled(samples[phrase.start : phrase.end])
    return language_probabilities(np.pad(sound, (0, max(0, round(_PADDED_S * RATE_HZ) - len(sound)))))


def _likelihood(samples: Floats, phrase: Phrase, speech_s: float) -> NDArray[np.float64]:
    """Give the likelihood of each language, by its sound and, where that leaves a doubt, by its words.

    An accent sounds like the speaker's first language. Then the confidence of an English recognizer decides: it is sure
    of the words of accented English, and unsure of those that it makes of another language.
    """
    shares = _probabilities(samples, phrase).astype(np.float64)
    english = LANGUAGES.index("en")
    if _DECIDED[0] < shares[english] < _DECIDED[1]:
        words = recognize(levelled(samples[phrase.start : phrase.end]), model="moonshine")
        confidence = float(np.mean([word.confidence for word in words])) if words else 0.0
        shares[english] *= np.exp(_WORD_SLOPE * (confidence - _WORD_CENTRE))
        shares /= shares.sum()
    weighted: NDArray[np.float64] = np.maximum(shares, _FLOOR) ** _weight(speech_s)
    return weighted


def levelled(samples: Floats) -> Floats:
    """Bring the loud parts of a phrase to one level: its loudness decides nothing."""
    step = 320
    whole = samples[: len(samples) // step * step].astype(np.float64)
    if not len(whole):
        return samples
    loud = float(np.sqrt(np.percentile(np.square(whole).reshape(-1, step).mean(axis=1), _LEVEL_SHARE)))
    return np.asarray(samples * np.float32(_LEVEL / loud), np.float32) if loud > 0 else samples


def _weight(speech_s: float) -> float:
    return min(1.0, speech_s / _FULL_WEIGHT_S)


def _prior(speaker: SpeakerFacts) -> NDArray[np.float64]:
    """The probability of each language before a recording is heard; odds against the likeliest are bounded."""
    shares = np.array([max(speaker.languages.get(code, 0.0), _FLOOR) for code in LANGUAGES])
    most = _MOST_FOR if LANGUAGES[int(shares.argmax())] in SPOKEN else _MOST_AGAINST
    bounded = np.maximum(shares / shares.max(), np.exp(-most))
    prior: NDArray[np.float64] = bounded / bounded.sum()
    return prior


def _posterior(likelihood: NDArray[np.float64], speaker: SpeakerFacts) -> NDArray[np.float64]:
    """Pool the stretches [stretches, languages] by the forward-backward algorithm."""
    prior = _prior(speaker)
    forward, backward = np.empty_like(likelihood), np.ones_like(likelihood)
    for place, own in enumerate(likelihood):
        before = prior if place == 0 else (1 - _SWITCH) * forward[place - 1] + _SWITCH * prior
        forward[place] = before * own
        forward[place] /= forward[place].sum()
    for place in range(len(likelihood) - 2, -1, -1):
        after = backward[place + 1] * likelihood[place + 1]
        backward[place] = (1 - _SWITCH) * after + _SWITCH * float(prior @ after)
        backward[place] /= backward[place].sum()
    both = forward * backward
    posterior: NDArray[np.float64] = both / both.sum(axis=1, keepdims=True)
    return posterior


def _at_changes(samples: Floats, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Judge the halves of spoken stretches beside speech in another language by themselves."""
    speech = [place for place, stretch in enumerate(stretches) if stretch.language]
    beside = {
        place
        for before, after in itertools.pairwise(speech)
        for place, other in ((before, after), (after, before))
        if stretches[place].is_spoken and not stretches[other].is_spoken
    }
    judged: list[Stretch] = []
    for place, stretch in enumerate(stretches):
        judged += _halves(samples, stretch) if place in beside else [stretch]
    return judged


def _halves(samples: Floats, stretch: Stretch) -> list[Stretch]:
    phrase = stretch.phrase
    if phrase.duration_s < 2 * _LEAST_HALF_S:
        parts = [phrase]
    else:
        middle = _quietest(samples, phrase)
        parts = [Phrase(phrase.start, middle), Phrase(middle, phrase.end)]
    share = [stretch.speech_s * part.duration_s / phrase.duration_s for part in parts]
    judged = []
    for part, seconds in zip(parts, share, strict=True):
        row = _likelihood(samples, part, _FULL_WEIGHT_S)
        own = float(row[LANGUAGES.index(stretch.language)])
        best = int(row.argmax())
        code, confidence = (stretch.language, own) if own >= SURE_FROM else (LANGUAGES[best], float(row[best]))
        judged.append(Stretch(part, seconds, code, confidence))
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
