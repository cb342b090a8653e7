"""Attackers of every knowledge level in one study: each has the speech it may have, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

import personare as pn
from personare.attackers.attack import Attack, Attacker, attack
from personare.attackers.knowledge import Knowledge
from personare.core.embedding_files import read_embeddings
from personare.core.errors import PersonareError
from personare.core.seeding import load_or_make_key
from personare.core.speakers import speaker_tokens
from personare.core.tables import Corpus
from personare.pipeline.graph import Graph
from personare.pipeline.resolve import key_of
from personare.pipeline.run import read_corpora
from personare.pipeline.speech import FileDigests, with_digests
from personare.pipeline.stages.anonymize import AnonymizeJob
from personare.pipeline.stages.embed import EmbedJob
from personare.pipeline.stages.measure import AttackSources, VectorSource
from personare.pipeline.store import Store
from personare.pipeline.study import CorpusChoice, Study, read_study
from personare.pipeline.system import System, key_token
from personare.reports.run import read_run
from pipeline.blends import command, noted, write_blends
from pipeline.tiny import write_embedder

ALPHA = [0.6, 0.9]
SYSTEM = System("mcadams", {"alpha": ALPHA}).present_identity
DRAWS = 3


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Four people are attacked, four are learnt from; one study has all attackers."""
    folder = tmp_path_factory.mktemp("sources")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        write_embedder(folder / "net.onnx")
        write_blends(folder / "corpus", attacked=4, enrolment=2, trial=2, train=4)
        attackers: dict[str, dict[str, object]] = {
            level.value: {"knowledge": level.value, "embedder": "trained:net.onnx", "enroll_draws": DRAWS}
            for level in Knowledge
        }
        attackers["semi-informed"]["learns_from"] = {"method": "mcadams", "alpha": 0.8}
        choices = {
            "title": "all of them",
            "corpora": {"speech": {"path": "corpus"}},
            "anonymizers": {"original": {}, "b2": {"method": "mcadams", "alpha": ALPHA}},
            "attackers": attackers,
            "metrics": ["linkability"],
            "clips": 0,
        }
        (folder / "study.yaml").write_text(yaml.safe_dump(choices), encoding="utf-8")
        command("study", "run", folder / "study.yaml", "--out", folder / "run")
        yield folder


@pytest.fixture(scope="module")
def graph(place: Path) -> Graph:
    study, store = read_study(place / "study.yaml"), Store(place / "run" / "stages")
    digests = FileDigests(store.folder / "hashes.json")
    corpora = {label: with_digests(one, digests) for label, one in read_corpora(study, place, store).items()}
    return Graph(study, corpora, place, digests)


def sources_of(graph: Graph, level: Knowledge) -> AttackSources:
    """Give what one attacker has, against the anonymized speech where there is any."""
    where = "original" if level is Knowledge.ORIGINAL else "b2"
    for job in graph.measures:
        if job.labels["attacker"] == level.value and job.labels["anonymizer"] == where:
            assert job.attack is not None
            return job.attack
    raise AssertionError(level)


def draw_of(graph: Graph, source: VectorSource) -> str:
    """Whose key has drawn the pseudo-speakers of this speech: ``none`` where it is original."""
    if source.anonymization is None:
        return "none"
    study, (_, token) = graph.study, source.anonymization
    keys = {key_token(key_of(study, "attacker", draw)): f"attacker {draw}" for draw in range(1, DRAWS + 1)}
    keys |= {key_token(key_of(study, who)): who for who in ("owner", "training", "calibration")}
    return keys[token]


def test_every_level_has_the_speech_it_may_have(graph: Graph) -> None:
    own = [f"attacker {draw}" for draw in range(1, DRAWS + 1)]
    # knowledge -> enrolment, trial, training, the same training speech before it was anonymized
    allowed: dict[Knowledge, tuple[list[str], str, str | None, str | None]] = {
        Knowledge.ORIGINAL: (["none"], "none", None, None),
        Knowledge.IGNORANT: (["none"], "owner", None, None),
        Knowledge.LAZY_INFORMED: (own, "owner", None, None),
        Knowledge.SEMI_INFORMED: (own, "owner", "training", None),
        Knowledge.INFORMED: (own, "owner", "training", None),
        Knowledge.ALIGNED: (["none"], "owner", "training", "none"),
        Knowledge.INVERTING: (["none"], "owner", "training", "none"),
    }
    for level in Knowledge:
        has = sources_of(graph, level)
        given = (
            [draw_of(graph, one) for one in has.enroll],
            draw_of(graph, has.trial),
            None if has.training is None else draw_of(graph, has.training),
            None if has.training_original is None else draw_of(graph, has.training_original),
        )
        assert given == allowed[level], level
        systems = {one.anonymization[0] for one in (*has.enroll, has.trial) if one.anonymization}
        assert systems <= {SYSTEM}
        if has.training is not None:
            assert has.training.anonymization is not None
            learnt = System("mcadams", {"alpha": 0.8}).present_identity if level is Knowledge.SEMI_INFORMED else SYSTEM
            assert has.training.anonymization[0] == learnt


def test_nobody_attacked_is_learnt_from_and_nothing_enrolled_is_tested(graph: Graph, place: Path) -> None:
    store = Store(place / "run" / "stages")
    for level in Knowledge:
        split = sources_of(graph, level).inputs(store, 1).split()
        attacked = split.enroll.speakers | split.test.speakers
        assert attacked == {"s00", "s01", "s02", "s03"}
        assert not set(split.enroll.embeddings.ids) & set(split.test.embeddings.ids)
        for part in (split.training, split.original):
            assert part is None or part.speakers == {"s04", "s05", "s06", "s07"}


def test_an_attacker_learns_from_a_new_pseudo_speaker_for_every_utterance(graph: Graph) -> None:
    has = sources_of(graph, Knowledge.INFORMED)
    assert has.training is not None and _level_of(has.training) == "utterance"
    assert {_level_of(one) for one in (*has.enroll, has.trial)} == {"speaker"}


def _level_of(source: VectorSource) -> str:
    """How many pseudo-speakers a speaker has in this speech."""
    assert isinstance(source.job, EmbedJob) and isinstance(source.job.anonymized, AnonymizeJob)
    return source.job.anonymized.system.level


def test_several_draws_are_enrolled_as_the_mean_of_their_directions(graph: Graph, place: Path) -> None:
    store = Store(place / "run" / "stages")
    has = sources_of(graph, Knowledge.LAZY_INFORMED)
    draws = [read_embeddings(one.file(store).path).sorted() for one in has.enroll]
    assert len(draws) == DRAWS and not np.allclose(draws[0].vectors, draws[1].vectors, rtol=1e-3)
    units = [one.vectors / np.linalg.norm(one.vectors, axis=1, keepdims=True) for one in draws]
    enrolled = has.inputs(store, 1).split().enroll.embeddings
    assert enrolled.ids == draws[0].ids
    np.testing.assert_allclose(enrolled.vectors, np.mean(units, axis=0), atol=1e-6)


def test_what_the_study_measured_is_what_attack_gives(graph: Graph, place: Path) -> None:
    """The one implementation, called by hand on the same speech, gives the same gallery and the same vectors."""
    learning = (Knowledge.SEMI_INFORMED, Knowledge.INFORMED, Knowledge.INVERTING)
    store = Store(place / "run" / "stages")
    for level in Knowledge:
        inputs = sources_of(graph, level).inputs(store, 1)
        by_hand: Attack = attack(Attacker(level, inputs.attacker.embedder), inputs.split())
        played = inputs.played().attack
        assert by_hand.by_cosine == played.by_cosine == (level not in learning)
        np.testing.assert_array_equal(by_hand.gallery.vectors, played.gallery.vectors)
        np.testing.assert_array_equal(by_hand.trial.vectors, played.trial.vectors)


def test_speech_anonymized_under_the_attackers_own_key_is_refused(place: Path, tmp_path: Path) -> None:
    """An owner who happens to share the attacker's key would be attacked with a perfect copy: no number comes of it."""
    study = Study("any", {"any": CorpusChoice()}, {"any": None})
    load_or_make_key(tmp_path / "shared.key", new=key_of(study, "attacker"))
    words = ["--method", "mcadams", "--set", f"alpha={ALPHA}", "--names", "keep", "--key", tmp_path / "shared.key"]
    command("anonymize", place / "corpus", tmp_path / "anon", *words)
    how = ["--embedder", f"trained:{place / 'net.onnx'}", "--lengths", 1, "--key", tmp_path / "shared.key"]
    out = ["-k", "ignorant,lazy-informed", "--out", tmp_path / "run"]
    command("attack", place / "corpus", tmp_path / "anon", *how, *out, code=1)
    found = read_run(tmp_path / "run")
    hidden = [f for f in found.findings if f.conditions["anonymizer"] != "original"]
    assert {f.conditions["knowledge"] for f in hidden} == {"ignorant"}
    assert all("share their pseudo-speakers" in why for _, _, why in found.failures) and len(found.failures) == 2


def test_an_embedder_that_knows_the_attacked_is_refused(place: Path) -> None:
    known = noted(place / "net.onnx", place / "known.onnx", speakers=json.dumps(speaker_tokens(["s01", "s07"])))
    others = Corpus.load(place / "corpus" / "manifest.parquet")
    with pytest.raises(PersonareError, match=r"1 trial speakers are also in the training .*first: 's01'"):
        pn.evaluate(others, others, attackers=["original"], embedder=f"trained:{known}")
    fine = noted(place / "net.onnx", place / "fine.onnx", speakers=json.dumps(speaker_tokens(["s06", "s07"])))
    assert pn.evaluate(others, others, attackers=["original"], embedder=f"trained:{fine}", utterances_per_trial=[1])


def test_an_embedder_that_learnt_from_anonymized_speech_makes_its_attacker_informed(place: Path) -> None:
    """It needs no other training speech then, and nobody may call it ignorant."""
    notes = {"system": SYSTEM.fingerprint, "system_name": SYSTEM.name}
    taught = f"trained:{noted(place / 'net.onnx', place / 'taught.onnx', **notes)}"
    pn.anonymize_corpus(place / "corpus", place / "owners", method="mcadams", parameters={"alpha": ALPHA}, names="keep")
    attacked = Corpus(pn.read_corpus(place / "corpus").frame.filter(pl.col("part") != "train"))
    result = pn.evaluate(attacked, place / "owners", embedder=taught, utterances_per_trial=[1])
    assert {f.conditions["knowledge"] for f in result} == {"original", "informed"} and not result.failures
    assert any("The ignorant attacker was not played: its embedder has learnt" in note for note in result.notes)
    how = {"attackers": ["ignorant"], "embedder": taught, "utterances_per_trial": [1]}
    wrong = pn.evaluate(attacked, place / "owners", **how)  # type: ignore[arg-type]
    assert {f.conditions["knowledge"] for f in wrong} == {"original"}, "nothing is measured under a wrong name"
    assert wrong.failures and all("it is informed" in why for _, _, why in wrong.failures)
