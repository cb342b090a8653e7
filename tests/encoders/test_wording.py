"""Word choice as a vector: texts of one author are alike, no text is one line, and a study passes the words on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import hum
from personare.attackers.cache import EmbedWork
from personare.core.audio import Audio, write
from personare.core.errors import AudioError
from personare.core.tables import Corpus
from personare.core.utterances import Utterance
from personare.core.vectors import cosine
from personare.encoders.wording import FUNCTION_WORDS, Vocabulary, Wording, word_place
from personare.pipeline.stages.embed import EmbedJob


def test_habits_are_found_whatever_the_subject() -> None:
    words = Wording()
    mine = [words.of_text(f"well i would think that the {what} is what you should have") for what in ("cat", "ship")]
    other = words.of_text("seven quick zebras jumped across frozen lakes toward distant mountain villages")
    assert mine[0].shape == (Wording.DIMENSIONS,) and mine[0].dtype == np.float32
    alike, different = cosine(mine[0][None], mine[1][None])[0, 0], cosine(mine[0][None], other[None])[0, 0]
    assert alike > different + 0.3
    assert len(set(FUNCTION_WORDS)) == len(FUNCTION_WORDS)


def test_the_vocabulary_counts_every_word_once_per_place() -> None:
    vector = Vocabulary().of_text("Whale, whale! sea")
    assert vector[word_place("whale")] == pytest.approx(1 + np.log(2)) and vector[word_place("sea")] == 1.0
    assert np.count_nonzero(vector) == 3 and word_place("whale") != word_place("sea")


def test_case_and_punctuation_say_nothing() -> None:
    words = Wording()
    assert np.array_equal(words.of_text("Don't go, THERE!"), words.of_text("don't go there"))


@pytest.mark.parametrize("embedder", [Wording(), Vocabulary()])
def test_no_words_are_a_vector_and_no_text_is_one_line(tmp_path: Path, embedder: Wording | Vocabulary) -> None:
    nothing = embedder.of_text("... 12")
    assert np.count_nonzero(nothing) == 1 and np.array_equal(nothing, embedder.of_text("")), "everybody has the same"
    assert nothing[-1] == embedder.of_text("some words")[-1] > 0
    with pytest.raises(AudioError, match="reads the text"):
        embedder([Audio(np.zeros(10, np.float32), 16_000)])
    silent = Utterance("u1", "s1", tmp_path / "nothing.wav")
    with pytest.raises(AudioError, match="u1: the embedder words needs its words"):
        EmbedWork("words")(silent)


def test_words_are_read_and_sounds_are_heard(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    write(path, hum(1, duration_s=0.4))
    item = Utterance("u1", "s1", path, text="what you say")
    alone = EmbedWork("words", tmp_path)(item)
    assert np.array_equal(alone, Wording().of_text("what you say"))
    both = EmbedWork("energy+words", tmp_path)(item)
    assert len(both) == 45 + Wording.DIMENSIONS
    assert np.allclose(both[45:], alone / np.linalg.norm(alone), atol=1e-6)


def test_other_words_are_another_stage(tmp_path: Path) -> None:
    def job(text: str, embedder: str) -> str:
        frame = pl.DataFrame({"utterance": ["u"], "speaker": ["s"], "audio": ["a.wav"], "text": [text]})
        return EmbedJob("x", Corpus(frame).frame.with_columns(digest=pl.lit("d")), embedder).stage.key

    assert job("one", "words") != job("two", "words") and job("one", "energy+words") != job("two", "energy+words")
    assert job("one", "energy") == job("two", "energy"), "who only hears does not depend on what is written"
