"""Invented voices under real models: an embedder must tell the speakers apart, a recognizer must hear their words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from personare.attackers import embedder
from personare.core.audio import read_mono
from personare.core.tables import Corpus
from personare.core.vectors import cosine
from personare.corpora.voices.plan import speaker
from personare.engine import ProcessPool
from personare.listeners.moonshine import Moonshine
from personare.listeners.normalize import WhisperEnglish
from personare.metrics.privacy.eer import rocch_eer
from personare.metrics.utility.wer import wer, word_errors
from personare.pipeline.jobs.voices import Wanted, make_voices

pytestmark = [pytest.mark.slow, pytest.mark.models]
MANY = Wanted(speakers=40, utterances=6, seed=1, rate_hz=16_000)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Forty speakers, twelve of them mixtures, with six sentences each."""
    folder = tmp_path_factory.mktemp("voices")
    assert make_voices(folder / "many", MANY, engine=ProcessPool(2)).failed == 0
    return Corpus.load(folder / "many" / "manifest.parquet")


@pytest.fixture(scope="module")
def vectors(corpus: Corpus) -> NDArray[np.float32]:
    tested = embedder("ecapa")
    return np.concatenate([tested([read_mono(Path(path))]) for path in corpus.frame["audio"]])


def error_rate(corpus: Corpus, vectors: NDArray[np.float32], among: NDArray[np.bool_]) -> float:
    """EER of single utterances against single utterances of the same gender, ``among`` [n] of which one is in."""
    speakers, genders = (corpus.frame[c].to_numpy() for c in ("speaker", "gender"))
    scores = cosine(vectors, vectors)
    same = speakers[:, None] == speakers
    asked = np.triu(np.ones_like(same), 1) & (genders[:, None] == genders) & (among[:, None] | among)
    return rocch_eer(scores[asked & same], scores[asked & ~same])


def test_speakers_are_distinct(corpus: Corpus, vectors: NDArray[np.float32]) -> None:
    assert error_rate(corpus, vectors, np.ones(len(corpus), dtype=bool)) < 0.10


def test_mixtures_are_distinct_from_all_others(corpus: Corpus, vectors: NDArray[np.float32]) -> None:
    mixed = np.array([len(speaker(int(name[1:]), seed=MANY.seed).voices) == 2 for name in corpus.frame["speaker"]])
    assert mixed.sum() == 12 * MANY.utterances and error_rate(corpus, vectors, mixed) < 0.10


def test_words_are_there(corpus: Corpus) -> None:
    tested, plain = Moonshine(), WhisperEnglish()
    heard = [plain(text) for path in corpus.frame["audio"] for text in tested([read_mono(Path(path))])]
    said = [plain(text) for text in corpus.frame["text"]]
    assert wer(word_errors(said, heard)) < 0.15
