"""The text attacker: tf-idf against values computed another way, degenerate texts, and real audiobook readers."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import personare as pn
from personare.attackers.attack import Attack, Attacker, attack
from personare.attackers.idf import idf_weights
from personare.attackers.knowledge import Knowledge
from personare.attackers.split import EmbeddedSpeech, Split
from personare.core.tables import Corpus, Embeddings
from personare.encoders.wording import CONSTANT, Vocabulary, Wording, word_place
from personare.pipeline.study import AttackerChoice, CorpusChoice, Study

ENROLLED = {
    "ann": ["the harpoon struck the whale", "a whale and the sea"],
    "bob": ["the garden of roses", "roses and the bees"],
    "cem": ["the ledger and the bank", "a bank in the city"],
}
TESTED = {"ann": ["the whale sank"], "bob": ["a garden and the bees"], "cem": ["the bank is closed"]}
WORDS = sorted({word for texts in (*ENROLLED.values(), *TESTED.values()) for text in texts for word in text.split()})


def embedded(texts: dict[str, list[str]], side: str) -> EmbeddedSpeech:
    rows = [(f"{side} {who} {i}", who, text) for who, said in texts.items() for i, text in enumerate(said)]
    vectors = np.stack([Vocabulary().of_text(text) for *_, text in rows])
    return EmbeddedSpeech(Embeddings(tuple(r[0] for r in rows), tuple(r[1] for r in rows), vectors))


def played(
    enrolled: dict[str, list[str]], tested: dict[str, list[str]], training: dict[str, list[str]] | None = None
) -> Attack:
    attacker = Attacker(Knowledge.ORIGINAL, "vocabulary", "idf")
    others = None if training is None else embedded(training, "training")
    return attack(attacker, Split(Knowledge.ORIGINAL, embedded(enrolled, "enrol"), embedded(tested, "test"), others))


def scores_by_hand(
    enrolled: dict[str, list[str]], tested: dict[str, list[str]], speakers: list[list[str]]
) -> list[list[float]]:
    """tf-idf and cosines from counts of words, without vectors of ours: [tests][enrolled]."""
    said = [{word for text in texts for word in text.split()} for texts in speakers]
    idf = {word: math.log(len(said) / max(1, sum(word in one for one in said))) for word in WORDS}

    def unit(weights: dict[str, float]) -> dict[str, float]:
        length = math.sqrt(sum(w * w for w in weights.values()))
        return {word: w / length for word, w in weights.items()}

    def utterance(text: str) -> dict[str, float]:
        counted = {word: (1 + math.log(count)) * idf[word] for word, count in Counter(text.split()).items()}
        return unit(counted | {"": CONSTANT})

    def person(texts: list[str]) -> dict[str, float]:
        each = [utterance(text) for text in texts]
        return unit({word: sum(one.get(word, 0.0) for one in each) / len(each) for word in ("", *WORDS)})

    gallery = [person(enrolled[who]) for who in sorted(enrolled)]
    tests = [person([text]) for who in sorted(tested) for text in tested[who]]
    return [[sum(test[word] * one[word] for word in test) for one in gallery] for test in tests]


@pytest.mark.parametrize("training", [None, {"dee": ["the whale of the city"], "eli": ["the sea is closed"]}])
def test_scores_are_tf_idf_cosines_computed_by_hand(training: dict[str, list[str]] | None) -> None:
    assert len({word_place(word) for word in WORDS}) == len(WORDS), "no two of these words share a place"
    mine = played(ENROLLED, TESTED, training)
    found = mine.scores(mine.trial)
    by_hand = scores_by_hand(ENROLLED, TESTED, [*ENROLLED.values(), *(training or {}).values()])
    assert mine.by_cosine and np.allclose(found, by_hand, atol=1e-5)
    assert found.argmax(1).tolist() == [0, 1, 2], "a rare word finds its speaker"


def test_a_word_that_everybody_says_weighs_nothing_and_a_word_of_one_person_most() -> None:
    weights = idf_weights([embedded(ENROLLED, "enrol").embeddings])
    said = {word: float(weights[word_place(word)]) for word in ("the", "and", "a", "whale")}
    assert said["the"] == said["and"] == 0.0
    assert said["a"] == pytest.approx(math.log(3 / 2)) and said["whale"] == pytest.approx(math.log(3))


def eer_and_links(enrolled: dict[str, list[str]], tested: dict[str, list[str]]) -> tuple[float, float]:
    mine = played(enrolled, tested)
    trials = mine.trials(mine.trial, genders={})
    eer = float(pn.metrics.eer(trials.targets, trials.nontargets).value)
    rows = mine.scores(mine.trial)
    own = np.array([sorted(enrolled).index(who) for who in mine.trial.speakers])
    right = rows[np.arange(len(own)), own]
    others = rows[np.arange(rows.shape[1]) != own[:, None]].reshape(len(own), -1)
    return eer, float(np.mean((others < right[:, None]).all(1)))


@pytest.mark.parametrize("text", ["the same words for everybody", "hello", "", "12 ... !"])
def test_where_everybody_says_the_same_the_attacker_guesses(text: str) -> None:
    people = [f"p{i}" for i in range(6)]
    eer, linked = eer_and_links({who: [text, text] for who in people}, {who: [text] for who in people})
    assert eer == 0.5 and linked == 0.0, "all scores are equal: nobody is linked, and errors are those of guessing"


def test_one_word_of_ones_own_links_every_time_and_silence_never() -> None:
    people = [f"p{i}" for i in range(6)]
    own = {who: [f"word{chr(97 + i)}"] for i, who in enumerate(people)}
    assert eer_and_links(own, own) == (0.0, 1.0)
    eer, linked = eer_and_links(own, {who: [""] for who in people})
    assert eer == 0.5 and linked == 0.0, "who has nothing to read guesses"


@pytest.mark.parametrize("texts", [["the same", "for everybody"], ["hello", "hello"], ["", ""]])
def test_a_trained_attacker_who_reads_the_same_from_everybody_guesses(texts: list[str]) -> None:
    """Nothing tells training speakers apart, so that no back-end can be fitted: that is chance, not a failure."""

    def spoken(names: range, prefix: str) -> EmbeddedSpeech:
        rows = [(f"{prefix} {i} {u}", f"{i}", Wording().of_text(text)) for i in names for u, text in enumerate(texts)]
        ids, speakers, vectors = zip(*rows, strict=True)
        return EmbeddedSpeech(Embeddings(ids, speakers, np.stack(vectors)))

    split = Split(Knowledge.ORIGINAL, spoken(range(6), "e"), spoken(range(6), "t"), spoken(range(10, 26), "train"))
    mine = attack(Attacker(Knowledge.ORIGINAL, "words", "chosen"), split)
    trials = mine.trials(mine.trial, genders={})
    assert np.isfinite(trials.score).all()
    assert pn.metrics.eer(trials.targets, trials.nontargets).value == pytest.approx(0.5)


@given(st.permutations(range(3)), st.integers(1, 4))
def test_neither_order_nor_repetition_of_enrolment_texts_matters(order: list[int], times: int) -> None:
    names = list(ENROLLED)
    shuffled = {names[i]: ENROLLED[names[i]] * times for i in order}
    one, two = played(ENROLLED, TESTED), played(shuffled, TESTED)
    assert np.allclose(one.scores(one.trial), two.scores(two.trial), atol=1e-6)


@pytest.mark.shared
def test_audiobook_readers_are_linked_by_rare_words(tmp_path: Path, shared_folder: Path) -> None:
    """18 readers: stronger than the overlap of rare words (27.5 % and 15.6 %), and much stronger than style alone."""
    frame = pn.read_corpus(shared_folder / "corpus").frame.filter(pl.col("corpus") == "librispeech-mini").drop("part")
    Corpus(frame).save(tmp_path / "readers.parquet")
    attackers = {
        "rare words": AttackerChoice("original", "vocabulary", "idf"),
        "style": AttackerChoice("original", "words"),
    }
    corpora = {"readers": CorpusChoice(path=tmp_path / "readers.parquet", one_sided="drop")}
    study = Study("x", corpora, {"original": {}}, attackers, utterances_per_trial=(1, 3), skip_impossible=True, clips=0)
    result = pn.run_study(study, tmp_path / "run")

    def value(metric: str, attacker: str, length: int) -> float:
        (found,) = result[metric].where(attacker=attacker, L=length, gender=None)
        return found.estimate.value

    assert value("eer", "rare words", 1) < 0.22 and value("eer", "rare words", 3) < 0.11
    assert value("linkability", "rare words", 1) > 0.55 and value("linkability", "rare words", 3) > 0.85
    for length in (1, 3):
        assert value("eer", "rare words", length) < value("eer", "style", length) - 0.1
