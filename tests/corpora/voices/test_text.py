"""The sentences that invented speakers read: our own, varied, spelled in symbols the voices know."""

# ruff: noqa: RUF001 - phonetic letters look like others on purpose

from __future__ import annotations

import re
from collections import Counter

import pytest

from personare.corpora.voices.text import sentences
from personare.voices.kokoro import symbol_ids

# the sounds of General American and of Southern British English in Kokoro's symbols
CONSONANTS = set("pbtdkɡfvθðszʃʒhʧʤmnŋlɹwj")
AMERICAN_VOWELS = set("iɪɛæɑɔʊuʌəɜAIOWY")
BRITISH_VOWELS = set("iɪɛaɑɒɔʊuʌəɜAIQWY")


def test_there_are_enough_and_none_is_twice() -> None:
    texts = [s.text for s in sentences()]
    assert len(texts) >= 200 and len({t.lower() for t in texts}) == len(texts)


def test_each_is_one_plain_sentence() -> None:
    for sentence in sentences():
        assert re.fullmatch(r"[A-Z][a-zA-Z]*(,? [a-zA-Z]+)+[.?]", sentence.text), sentence.text
        assert 5 <= len(sentence.text.split()) <= 10 or len(sentence.text) > 20, sentence.text
        for phonemes in (sentence.american, sentence.british):
            assert 20 <= len(phonemes) <= 50, "about two seconds of speech"
            assert phonemes[-1] == sentence.text[-1] and phonemes.count(",") == sentence.text.count(",")


def test_every_sound_of_the_language_is_read() -> None:
    american = Counter("".join(s.american for s in sentences()))
    british = Counter("".join(s.british for s in sentences()))
    for counts, sounds in ((american, CONSONANTS | AMERICAN_VOWELS), (british, CONSONANTS | BRITISH_VOWELS)):
        assert min(counts[sound] for sound in sounds) >= 5, "even the rarest sound comes several times"


def test_the_accents_differ() -> None:
    assert sum(s.american != s.british for s in sentences()) > 0.9 * len(sentences())
    assert all("ɒ" not in s.american and "Q" not in s.american and "O" not in s.british for s in sentences())


@pytest.mark.models
def test_every_symbol_is_one_the_voices_know() -> None:
    for sentence in sentences():
        for phonemes in (sentence.american, sentence.british):
            ids = symbol_ids(phonemes)
            assert len(ids) == len(phonemes) and all(0 < i < 178 for i in ids)
