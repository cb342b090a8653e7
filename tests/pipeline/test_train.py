"""The informed attacker on real speech: an embedder trained on anonymized speech recognizes more of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import polars as pl
import pytest

import personare as pn
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Corpus
from personare.engine import engine_for
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.jobs.train_embedder import open_run, train_embedder
from personare.pipeline.jobs.training_files import sources_of, system_of
from personare.pipeline.study import AttackerChoice
from personare.pipeline.system import System
from personare.training.embedder.settings import shipped

RECIPE = System("mcadams", {"alpha": [0.5, 0.9]}, "speaker")
STEPS = 300


def _some(shared: Path, part: str, *, speakers: int, each: int) -> Corpus:
    whole = Corpus.load(shared / "corpus" / "manifest.tsv").frame
    frame = whole.filter((pl.col("part") == part) & (pl.col("corpus") == "speechocean762")).sort("utterance")
    chosen = frame["speaker"].unique(maintain_order=True)[:speakers]
    frame = frame.filter(pl.col("speaker").is_in(chosen.to_list()))
    return Corpus(frame.group_by("speaker", maintain_order=True).head(each))


def _trained(corpus: Corpus, folder: Path, attacked: list[str], system: SystemIdentity | None) -> str:
    small = shipped("xvector")
    settings = dataclasses.replace(small, plan=dataclasses.replace(small.plan, steps=STEPS, patience=0))
    run = open_run(corpus, settings, attacked=attacked)
    done = train_embedder(run, folder, sources=sources_of(corpus), system=system)
    assert done.eer.value < done.first_eer - 0.03, "held-out people are told apart better than before"
    return f"trained:{done.exported.model}"


@pytest.mark.slow
@pytest.mark.shared
def test_informed_training_lowers_the_error_by_a_clear_margin(
    shared_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "cache"))
    engine = engine_for(1)
    others, trials = (
        _some(shared_folder, "train", speakers=100, each=8),
        _some(shared_folder, "eval", speakers=60, each=6),
    )
    trials.save(tmp_path / "trials" / "manifest.parquet")
    anonymize(trials, tmp_path / "hidden", RECIPE, engine=engine)
    own = dataclasses.replace(RECIPE, level="utterance")
    anonymize(others, tmp_path / "others", own, engine=engine, names="keep")
    found = {}
    hidden = Corpus.load(tmp_path / "others" / "manifest.parquet")
    for level, corpus in {"lazy-informed": others, "informed": hidden}.items():
        system = system_of(tmp_path / "others") if corpus is hidden else None
        tested = _trained(corpus, tmp_path / level, trials.speakers, system)
        attacker = {level: AttackerChoice(level, tested, enroll_draws=1)}
        result = pn.evaluate(tmp_path / "trials", tmp_path / "hidden", attackers=attacker, metrics=["eer"], jobs=2)
        (overall,) = result["eer"].where(knowledge=level, L=1, gender=None)
        found["informed" if corpus is hidden else "lazy"] = overall.estimate
    assert found["informed"].value < found["lazy"].value - 0.04, f"{found}"
    assert found["informed"].high < found["lazy"].low + 0.03, f"the intervals are nearly apart: {found}"


@pytest.mark.models
def test_an_anonymized_folder_says_which_system_made_it(small_corpus: Path, tmp_path: Path) -> None:
    assert system_of(small_corpus) is None and system_of(small_corpus / "manifest.parquet") is None
    anonymize(Corpus.load(small_corpus / "manifest.parquet"), tmp_path / "hidden", RECIPE, engine=engine_for(1))
    own = dataclasses.replace(RECIPE, level="utterance")
    assert system_of(tmp_path / "hidden") == own.identity and own.name == "mcadams (alpha = [0.5, 0.9])"
