"""What a proof costs: no recording is embedded twice and no draw is made twice, however many attackers need it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import personare as pn
from personare.attackers.folds import FEWEST_SPEAKERS
from personare.core.audio import Audio
from personare.core.tables import Corpus
from personare.encoders.statistics import Statistics
from personare.pipeline import attack_sets
from personare.pipeline.jobs import anonymize_work
from personare.pipeline.stages import anonymize as anonymize_stage
from personare.pipeline.system import key_token
from pipeline.blends import command, write_blends

ENROLMENT, TRIAL, OTHERS = 2, 2, 8
DRAWS = 5


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(attack_sets, "EMBEDDERS", ("energy", "spectrum"))
    monkeypatch.setattr(attack_sets, "VOICE", "energy")
    write_blends(tmp_path / "both", attacked=FEWEST_SPEAKERS, enrolment=ENROLMENT, trial=TRIAL, train=OTHERS)
    frame = Corpus.load(tmp_path / "both" / "manifest.parquet").frame
    for name, chosen in (("others", pl.col("part") == "train"), ("corpus", pl.col("part") != "train")):
        Corpus(frame.filter(chosen).drop("part")).save(tmp_path / name / "manifest.parquet")
    command("anonymize", tmp_path / "corpus", tmp_path / "anonymous", "--method", "mcadams", "--names", "keep")
    return tmp_path


def test_the_usual_attackers_embed_every_sound_once_and_share_their_draws(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: Counter[tuple[str, bytes]] = Counter()
    drawn: Counter[tuple[str, str, str]] = Counter()
    embed = Statistics.__call__

    def counted(self: Statistics, batch: Sequence[Audio]) -> NDArray[np.float32]:
        heard.update((self.NAME, audio.samples.tobytes()) for audio in batch)
        return embed(self, batch)

    class CountedWork(anonymize_work.AnonymizeWork):
        def __call__(self, one: anonymize_work.Assignment) -> anonymize_work.AnonymizedUtterance:
            drawn[key_token(self.key), self.system.level, one.utterance] += 1
            return super().__call__(one)

    monkeypatch.setattr(Statistics, "__call__", counted)
    monkeypatch.setattr(anonymize_stage, "AnonymizeWork", CountedWork)
    result = pn.evaluate(place / "corpus", place / "anonymous", train=place / "others", out=place / "run")
    played = {str(f.conditions["attacker"]) for f in result if "attacker" in f.conditions}
    heard_or_read = {"original", "ignorant", "lazy-informed", "informed", "inverting", "words", "words, trained"}
    assert played == heard_or_read and not result.failures
    assert set(heard.values()) == {1}, "embedded more than once"
    assert set(drawn.values()) == {1}, "anonymized more than once under one key"
    attacked, others = FEWEST_SPEAKERS, OTHERS * 3
    enrolled = attacked * ENROLMENT
    draws = enrolled * (DRAWS + attack_sets.TRAIN_DRAWS) + others * attack_sets.TRAIN_DRAWS
    assert len(drawn) == draws, "lazy-informed and informed enrol the same draws"
    anonymized = draws + attacked * TRIAL
    originals = attacked * (ENROLMENT + TRIAL)
    by_name = Counter(name for name, _ in heard)
    assert by_name["energy"] >= anonymized + originals
    undone = attacked * TRIAL + others
    assert by_name["energy"] <= anonymized + undone + originals + others, "at most everything there is, once"
