"""Who the invented speakers are and what each of them reads: a pure plan, drawn from a seed, before any sound is made.

Of Kokoro's voices speakers alternate female and male: each gender begins with the English voices themselves and goes on
with mixtures of two of them. Piper's 904 voices come in an order that the seed draws. Who ``v007`` is and what
``v007-03`` says depends on the seed alone, not on how many others are asked for.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import combinations

from personare.core.errors import ConfigError
from personare.core.seeding import Key, rng_for
from personare.corpora.voices.piper_source import noted_speakers, piper_speaker
from personare.corpora.voices.speakers import Gender, Source, Speaker
from personare.corpora.voices.text import Reading, row_of_words, sentences
from personare.languages import language as language_row
from personare.languages.sentences import sentences_in
from personare.voices.kokoro import INGREDIENTS
from personare.voices.piper import VOICES as PIPER_VOICES

# The name tells: a/b = American/British, f/m = female/male. Clear readers first; nicole, who whispers, comes last.
OWN_VOICES: dict[Gender, tuple[str, ...]] = {
    "f": (
        *("af_heart", "bf_emma", "af_bella", "af_sarah", "bf_isabella", "af_aoede", "af_kore", "bf_alice"),
        *("af_alloy", "af_nova", "bf_lily", "af_jessica", "af_river", "af_sky", "af_nicole"),
    ),
    "m": (
        *("am_michael", "bm_george", "am_fenrir", "am_puck", "bm_fable", "am_echo", "am_eric", "bm_lewis"),
        *("am_liam", "am_onyx", "bm_daniel", "am_adam", "am_santa"),
    ),
}
ENGLISH = "en"
SHARE_RANGE = (0.4, 0.6)  # of the first voice in a mixture: the middle lies farthest from both
OTHER_PACE_RANGE = (0.95, 1.1)  # the same in other languages, which these voices speak with an accent
PACE_RANGE = (1.0, 1.25)  # speaking rate, 1 is the voice's own, which is slow
MOST_ROWS = 2_000  # rows of words that one speaker reads at most


@dataclass(frozen=True)
class PlannedUtterance:
    """One sentence read by one speaker: all that is needed to make its sound."""

    name: str
    speaker: Speaker
    text: str
    phonemes: str
    language: str = ENGLISH


def most_speakers(source: Source = "kokoro", language: str = ENGLISH) -> int:
    """How many distinct speakers there can be; Kokoro's with genders balanced.

    >>> most_speakers(), most_speakers("piper"), most_speakers("kokoro", "de")
    (182, 904, 72)
    """
    if source == "piper":
        return PIPER_VOICES
    voices = OWN_VOICES if language == ENGLISH else INGREDIENTS
    return 2 * min(len(own) + len(own) * (len(own) - 1) // 2 for own in voices.values())


def speaker(number: int, *, seed: int, language: str = ENGLISH) -> Speaker:
    """Invent the speaker with this number, from 1; in other languages, of the voices that are best understood there.

    >>> speaker(1, seed=1).voices, speaker(2, seed=1).voices, len(speaker(41, seed=1).voices)
    (('af_heart',), ('am_michael',), 2)
    """
    key, name = Key.from_seed(seed).child("voices"), f"v{number:03d}"
    gender: Gender = "f" if number % 2 else "m"
    rank, own = (number - 1) // 2, OWN_VOICES[gender] if language == ENGLISH else INGREDIENTS[gender]
    chance = rng_for(key, "speaker", name)
    paces = PACE_RANGE if language == ENGLISH else OTHER_PACE_RANGE
    share, pace = chance.uniform(*SHARE_RANGE), round(chance.uniform(*paces), 3)
    if rank < len(own):
        voices, share = (own[rank],), 1.0
    else:
        pairs = list(combinations(own, 2))
        order = rng_for(key, "pairs", gender).permutation(len(pairs))
        voices, share = pairs[order[rank - len(own)]], round(share, 3)
    return Speaker(name, gender, "american" if voices[0].startswith("a") else "british", voices, share, pace)


def plan(
    speakers: int,
    utterances: int,
    *,
    seed: int,
    source: Source = "kokoro",
    reading: Reading = "sentences",
    skip: int = 0,
    language: str = ENGLISH,
    noted_gender: bool = False,
) -> list[PlannedUtterance]:
    """Plan ``utterances`` different sentences, or rows of words, for each of ``speakers`` people after the first ones.

    ``noted_gender`` takes only those of Piper's voices whose gender was measured.
    In another ``language`` than English, Kokoro's speakers read the sentences of that language.

    >>> [u.name for u in plan(2, 2, seed=1)]
    ['v001-01', 'v001-02', 'v002-01', 'v002-02']
    """
    most = noted_speakers() if noted_gender and source == "piper" else most_speakers(source, language)
    invent = functools.partial(speaker, language=language)
    if source == "piper":
        invent = functools.partial(piper_speaker, noted_gender=noted_gender)
    if skip < 0:
        raise ConfigError(f"skip must be 0 or more, not {skip}")
    if not 1 <= speakers <= most - skip:
        raise ConfigError(f"speakers must be 1 to {most - skip}, not {speakers}; {source} has no more distinct voices")
    if language != ENGLISH and (source != "kokoro" or reading != "sentences"):
        raise ConfigError(f"Piper and rows of words are English; in '{language}' use source kokoro, reading sentences")
    if reading == "words" and source != "piper":
        raise ConfigError("rows of words need a voice that reads any word: source piper")
    texts = len(sentences() if language == ENGLISH else sentences_in(language))
    most_utterances = texts if reading == "sentences" else MOST_ROWS
    if not 1 <= utterances <= most_utterances:
        why = "nobody reads a sentence twice" if reading == "sentences" else "ask for more speakers"
        raise ConfigError(f"utterances must be 1 to {most_utterances}, not {utterances}; {why}")
    read = _sentences if reading == "sentences" else _rows_of_words
    if language != ENGLISH:
        read = functools.partial(_sentences_in, language)
    return [
        utterance
        for number in range(skip + 1, skip + speakers + 1)
        for utterance in read(invent(number, seed=seed), utterances, seed)
    ]


def _sentences(who: Speaker, count: int, seed: int) -> list[PlannedUtterance]:
    """Choose the sentences that one speaker reads."""
    order = rng_for(Key.from_seed(seed).child("voices"), "sentences", who.name).permutation(len(sentences()))
    chosen = [sentences()[index] for index in order[:count]]
    return [
        PlannedUtterance(f"{who.name}-{place:02d}", who, sentence.text, sentence.phonemes(who.accent))
        for place, sentence in enumerate(chosen, start=1)
    ]


def _sentences_in(code: str, who: Speaker, count: int, seed: int) -> list[PlannedUtterance]:
    """Choose the sentences of another language that one speaker reads."""
    texts, row = sentences_in(code), language_row(code)
    order = rng_for(Key.from_seed(seed).child("voices"), "sentences", code, who.name).permutation(len(texts))
    chosen = [texts[index] for index in order[:count]]
    return [
        PlannedUtterance(f"{who.name}-{code}{place:02d}", who, text, row.pronounce(text), code)
        for place, text in enumerate(chosen, start=1)
    ]


def _rows_of_words(who: Speaker, count: int, seed: int) -> list[PlannedUtterance]:
    """Draw the rows of words that one speaker reads; each is a function of the seed, the speaker and its place."""
    key = Key.from_seed(seed).child("voices")
    names = [f"{who.name}-w{place:03d}" for place in range(1, count + 1)]
    return [PlannedUtterance(name, who, row_of_words(rng_for(key, "words", name)), "") for name in names]
