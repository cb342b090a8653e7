"""Language identification stretch by stretch: which parts of a recording are speech, and in which language.

A recording is cut into stretches of at most 5 s at its pauses. A segmentation network says how much of each is speech;
Whisper base gives the probability of each language for those that hold some, and Whisper small where that is not clear.
An accent sounds like the speaker's first language. Two more opinions are therefore asked: the confidence of an English
recognizer, which is sure of the words of accented English and unsure of the words that it makes of another language;
and how much likelier Whisper finds its transcript in English than in the likeliest others. Together they give the odds
that a stretch is English. Short stretches are weak evidence. The stretches of a recording are therefore pooled
by a hidden Markov model, and the odds of a speaker over all recordings are added where single stretches of that speaker
are not clear; so are the probabilities of the other languages. A recording alone needs clearer evidence than one of
several of a speaker, and where its language stays unsure, it is not spoken. Beside a change of language, halves of
stretches are judged by themselves, so that no words of the other language remain. benchmarks/languages.py prints how
often this is right.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.words.phrases import RATE_HZ, Phrase, find_phrases
from personare.core.errors import ConfigError
from personare.core.language_codes import AUTO as AUTO
from personare.core.language_codes import language_title
from personare.core.spoken import LEAST_LOG, LanguageOdds, SpeakerFacts
from personare.encoders.recognition import recognize
from personare.encoders.segmentation import Segmentation
from personare.encoders.whisper import LANGUAGES, language_probabilities, transcript_likelihood
from personare.languages import LANGUAGES as LANGUAGE_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SECOND_OPINION = "whisper-small"
MODELS = ("segmentation", "whisper-base", SECOND_OPINION, "moonshine")
SPOKEN = ("en",)
"""Languages that every voice can speak; the second opinion above is about the first one."""
_STRETCH_S, _MOST_PAUSE_S = 5.0, 0.6
_LEAST_SPEECH_S = 0.25  # less of it in a stretch is none
# short stretches are followed by silence up to here: Whisper base names their language more often, and small is quicker
_PADDED_S, _PADDED_SMALL_S = 7.0, 4.0
_LEVEL = 0.05  # root mean square of the loudest stretches that recognizers are given
_LEVEL_SHARE = 95  # percentile of the levels of 20 ms that is brought to it
_LEAST_HALF_S = 0.8
_FLOOR = 1e-3  # of a probability
_FULL_WEIGHT_S = 2.0  # speech of a stretch whose odds count in full
_MOST_ODDS = 7.0  # logarithm; one stretch alone never decides
_DECIDED = (0.003, 0.97)  # outside of it, the probability of English needs no other opinion
_NAMED = 0.9  # nor does another language of this probability
# how the English recognizer's confidence and the likelihood of Whisper's transcripts change the odds: chosen on short
# recordings of Mandarin speakers of English and of Germans, French and Spaniards
_WORD_SLOPE, _WORD_CENTRE = 6.0, 0.25
_TRANSCRIPT_SLOPE, _MOST_LIKELIER = 2.0, 1.0
_RIVALS = tuple(code for code in LANGUAGE_ROWS if code not in SPOKEN)
_SWITCH = 0.4  # probability that the next stretch is another language
# a speaker whose stretches have larger odds than this, on average, is clear: every stretch is judged by itself, and
# those of somebody who mostly speaks another language more strictly. Else the speaker's mean decides with the stretch.
_CLEAR, _STRICT, _STRICTER = 3.5, 1.0, 3.0
_MOSTLY_ENGLISH = -1.3  # mean odds of a clear speaker
_POOLED_SLOPE, _MOST_POOLED = 8.0, 6.0
# the mean odds that separate English from other languages, where they rest on so many stretches of 2 s
_STRETCHES, _SEPARATES = (2.0, 6.0), (2.1, 0.2)
_UNCLEAR = 0.9  # a stretch of a clear speaker below this chance may hold two languages
_LEAST_CONTEXT = 3  # in fewer stretches, one that is not clear is an accent rather than another language
_SURE_OF_OTHER = 0.8  # share of a language other than English among all of them, from which on it is spoken
_LEAST_OWN, _MOST_ENGLISH = 0.05, 0.2  # and its own share in the stretch, and the chance of English
_MOST_STRETCHES = 3.0  # of a speaker's others that count beside a stretch
# somebody who is heard in a language that is not spoken here, over so many stretches, more often has an accent: real
# speech in such a language is far clearer. By so much less evidence it is English
_ACCENT_FROM, _ACCENT, _CLEAR_ACCENT = 4.0, 1.7, 2.0
_NEVER_HELPED = 0.02  # a stretch of which English is less likely than this gains nothing by its speaker
_OTHER_NAMED, _OTHER_HEARD = 0.85, -1.5  # nor does one of which another language is so likely, and the odds so low
# Latin and Sanskrit are names that Whisper gives to speech it is unsure of: nobody speaks them as a first language
_NOBODYS_CODES = ("la", "sa")
_NOBODYS = [LANGUAGES.index(code) for code in _NOBODYS_CODES]
_COMPARED, _LEAST_COMPARED, _COMPARED_SLOPE = 3, 0.03, 2.0


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
    pooled = speaker.language or (_odds_of(evidence) if evidence else None)
    chances = _chances(evidence, pooled)
    named = {
        place: _named(one.probabilities, chance, pooled, spoken)
        for place, one, chance in zip(heard, evidence, chances, strict=True)
    }
    gain = _gain(pooled) if pooled else 0.0
    is_clear = gain == -_STRICT and len(heard) >= _LEAST_CONTEXT
    stretches = _stretches(phrases, speech_s, named)
    return _at_changes(samples, stretches, min(gain, -_STRICT), is_clear=is_clear, spoken=spoken)


_Named = tuple[str, float, tuple[str, ...]]  # language, confidence, languages that may be spoken there


def _named(probabilities: Floats, chance: float, pooled: LanguageOdds | None, spoken: tuple[str, ...]) -> _Named:
    """Give the language of a stretch that is English with this ``chance``; if not, the likeliest other one.

    Another language is sure where it has nearly all of the probability that English leaves: in the stretch or, where
    that is not clear, together with the other stretches of its speaker (or of its recording).
    """
    if chance > 0.5:
        return SPOKEN[0], chance, spoken
    row = np.where(np.isin(LANGUAGES, SPOKEN), 0.0, probabilities.astype(np.float64))
    own = row / max(float(row.sum()), 1e-9)
    shares = own if own.max() >= _SURE_OF_OTHER or pooled is None else _with_others(own, pooled)
    best = int(shares.argmax())
    is_sure = shares[best] >= _SURE_OF_OTHER and own[best] >= _LEAST_OWN and chance <= _MOST_ENGLISH
    if LANGUAGES[best] in spoken and is_sure:
        return LANGUAGES[best], float(shares[best]) * (1.0 - chance), spoken
    return LANGUAGES[best], 1.0 - chance, SPOKEN


def _with_others(own: NDArray[np.float64], pooled: LanguageOdds) -> NDArray[np.float64]:
    """Multiply the shares of languages by those of the other stretches, of which one is this."""
    others = np.array([pooled.languages.get(code, LEAST_LOG) for code in LANGUAGES])
    logs = np.log(np.maximum(own, np.exp(LEAST_LOG))) + others * np.clip(pooled.weight - 1, 0, _MOST_STRETCHES)
    logs[np.isin(LANGUAGES, SPOKEN)] = -np.inf
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum(), np.float64)


def check_language(language: str, *, where: str, spoken: tuple[str, ...] = SPOKEN) -> None:
    """Refuse a language that cannot be spoken."""
    if language != AUTO and language not in spoken:
        known = ", ".join(language_title(code) for code in spoken)
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
    languages: dict[str, float] = {}
    for one, chance, (_, s) in zip(evidence, _chances(evidence, odds), heard, strict=True):
        code, _, may = _named(one.probabilities, chance, odds, spoken)
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


def _probabilities(sound: Floats) -> Floats:
    """Give the probability of each language: Whisper base's, or Whisper small's where that is not clear."""
    probabilities = _of_somebody(language_probabilities(_padded(sound, _PADDED_S)))
    english = probabilities[LANGUAGES.index("en")]
    if english >= _DECIDED[1] or (english <= _DECIDED[0] and probabilities.max() >= _NAMED):
        return probabilities
    return _of_somebody(language_probabilities(_padded(sound, _PADDED_SMALL_S), model=SECOND_OPINION))


def _of_somebody(probabilities: Floats) -> Floats:
    """Leave out the languages that nobody speaks as a first one."""
    living = probabilities.copy()
    living[_NOBODYS] = 0.0
    total = float(living.sum())
    return living / np.float32(total) if total > 0 else probabilities


def _padded(sound: Floats, least_s: float) -> Floats:
    return np.pad(sound, (0, max(0, round(least_s * RATE_HZ) - len(sound))))


@dataclass(frozen=True, eq=False)
class _Evidence:
    """What a stretch says of its language: probabilities by its sound, log-odds that it is spoken, and their weight."""

    probabilities: Floats
    odds: float
    weight: float


def _evidence(samples: Floats, phrase: Phrase, speech_s: float) -> _Evidence:
    sound = levelled(samples[phrase.start : phrase.end])
    probabilities = _probabilities(sound)
    english = float(probabilities[LANGUAGES.index("en")])
    bounded = min(max(english, _FLOOR), 1 - _FLOOR)
    odds = float(np.log(bounded / (1 - bounded)))
    if _DECIDED[0] < english < _DECIDED[1]:
        words = recognize(sound, model="moonshine")
        confidence = float(np.mean([word.confidence for word in words])) if words else 0.0
        odds += _WORD_SLOPE * (confidence - _WORD_CENTRE) + _TRANSCRIPT_SLOPE * _likelier_in_english(
            sound, probabilities
        )
    if odds < 0:
        probabilities = _compared(sound, probabilities)
    return _Evidence(probabilities, float(np.clip(odds, -_MOST_ODDS, _MOST_ODDS)), min(1.0, speech_s / _FULL_WEIGHT_S))


def _compared(sound: Floats, probabilities: Floats) -> Floats:
    """Weigh the likeliest languages other than English by the likelihood of their transcripts, where none is clear."""
    rivals = np.argsort(-np.where(np.isin(LANGUAGES, SPOKEN), 0.0, probabilities))[:_COMPARED]
    others = float(1.0 - probabilities[LANGUAGES.index(SPOKEN[0])])
    rivals = rivals[probabilities[rivals] > _LEAST_COMPARED * others]
    if len(rivals) < 2 or probabilities[rivals[0]] >= _SURE_OF_OTHER * others:
        return probabilities
    likelihoods = np.array([transcript_likelihood(sound, language=LANGUAGES[rival]) for rival in rivals])
    if not np.isfinite(likelihoods).any():
        return probabilities
    weights = probabilities[rivals] * np.exp(_COMPARED_SLOPE * (likelihoods - likelihoods.max()))
    compared = probabilities.copy()
    compared[rivals] = weights / weights.sum() * probabilities[rivals].sum()
    return compared


def _likelier_in_english(sound: Floats, probabilities: Floats) -> float:
    """By how much the transcript in English is likelier than that in either of the two likeliest rivals; within bounds.

    Rivals are the other languages of ``personare.languages``, which Whisper transcribes well.
    """
    rivals = sorted(_RIVALS, key=lambda code: -probabilities[LANGUAGES.index(code)])[:2]
    english, *others = (transcript_likelihood(sound, language=code) for code in (SPOKEN[0], *rivals))
    if not np.isfinite(english):
        return -_MOST_LIKELIER
    return float(np.clip(english - max(others), -_MOST_LIKELIER, _MOST_LIKELIER))


def _odds_of(evidence: Sequence[_Evidence]) -> LanguageOdds:
    weight = sum(one.weight for one in evidence)
    mean = sum(one.weight * one.odds for one in evidence) / weight
    clarity = sum(one.weight * abs(one.odds) for one in evidence) / weight
    logs = np.log(np.maximum([one.probabilities for one in evidence], np.exp(LEAST_LOG)))
    means = np.average(logs, axis=0, weights=[one.weight for one in evidence])
    heard = {code: round(float(log), 4) for code, log in zip(LANGUAGES, means, strict=True) if log > LEAST_LOG + 0.01}
    return LanguageOdds(round(mean, 4), round(clarity, 4), round(weight, 4), heard)


def levelled(samples: Floats) -> Floats:
    """Bring the loud parts of a phrase to one level: its loudness decides nothing."""
    step = 320
    whole = samples[: len(samples) // step * step].astype(np.float64)
    if not len(whole):
        return samples
    loud = float(np.sqrt(np.percentile(np.square(whole).reshape(-1, step).mean(axis=1), _LEVEL_SHARE)))
    return np.asarray(samples * np.float32(_LEVEL / loud), np.float32) if loud > 0 else samples


def _chances(evidence: Sequence[_Evidence], speaker: LanguageOdds | None) -> list[float]:
    """Give the probability that each stretch is English, by the forward-backward algorithm over two states.

    ``speaker`` is what is known of the speaker; it changes the log-odds of each stretch.
    """
    return _pooled(evidence, [_help(one, speaker) if speaker else 0.0 for one in evidence])


def _pooled(evidence: Sequence[_Evidence], gains: Sequence[float]) -> list[float]:
    """Give the probability that each stretch is English; ``gains`` are added to the log-odds."""
    if not evidence:
        return []
    ratios = [float(np.exp(one.weight * (one.odds + gain))) for one, gain in zip(evidence, gains, strict=True)]
    forward, backward = [ratios[0]], [1.0] * len(ratios)  # both as odds
    for ratio in ratios[1:]:
        forward.append(ratio * _after(forward[-1]))
    for place in range(len(ratios) - 2, -1, -1):
        backward[place] = _after(ratios[place + 1] * backward[place + 1])
    both = [before * after for before, after in zip(forward, backward, strict=True)]
    return [odds / (1 + odds) for odds in both]


def _help(evidence: _Evidence, speaker: LanguageOdds) -> float:
    """What is added to the log-odds of a stretch for its speaker; nothing helps one clearly in another language."""
    gain = _gain(speaker)
    likeliest = max(float(evidence.probabilities[LANGUAGES.index(code)]) for code in _RIVALS)
    is_another = likeliest >= _OTHER_NAMED and evidence.odds < _OTHER_HEARD
    if is_another or float(evidence.probabilities[LANGUAGES.index(SPOKEN[0])]) < _NEVER_HELPED:
        return min(gain, 0.0)
    return gain


def _after(odds: float) -> float:
    """The odds of the next stretch, given those of this one."""
    return ((1 - _SWITCH) * odds + _SWITCH) / (_SWITCH * odds + 1 - _SWITCH)


def _gain(speaker: LanguageOdds) -> float:
    """What is added to the log-odds of a stretch for what is known of its speaker."""
    may_be_accent = _may_be_accent(speaker)
    if speaker.clarity >= _CLEAR:
        if speaker.mean > _MOSTLY_ENGLISH:
            return _CLEAR_ACCENT - _STRICT if may_be_accent else -_STRICT
        return -_STRICTER
    limit = float(np.interp(speaker.weight, _STRETCHES, _SEPARATES)) - (_ACCENT if may_be_accent else 0.0)
    return float(np.clip(_POOLED_SLOPE * (speaker.mean - limit), -_MOST_POOLED, _MOST_POOLED)) - limit


def _may_be_accent(speaker: LanguageOdds) -> bool:
    """Whether the likeliest language of a speaker beside English is none of the rivals."""
    others = {code: log for code, log in speaker.languages.items() if code not in (*SPOKEN, *_NOBODYS_CODES)}
    return speaker.weight >= _ACCENT_FROM and bool(others) and max(others, key=lambda c: others[c]) not in _RIVALS


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
        (chance,) = _pooled([evidence], [gain])
        named = _named(evidence.probabilities, chance, None, spoken)
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
