"""Every published table that is a study: it has a page, can run on invented voices, and on the real corpus."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import personare.codecs.usc
from personare.anonymizers.neural.xvector.anonymizer import XVector
from personare.cli import app
from personare.core.errors import ConfigError, StudyError
from personare.pipeline.read import file_problems
from personare.pipeline.resolve import resolve_anonymizer, resolve_attackers
from personare.pipeline.roles import ENROLMENT, TRAIN, TRIAL
from personare.pipeline.speech import study_corpus
from personare.pipeline.study import ORIGINAL, read_study, with_corpus, with_pool

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reference" / "recipes"
RECIPES = sorted((ROOT / "recipes").iterdir())
TWO_CORPORA = {"legal-figure1-many"}  # they stand for one corpus that nobody has the time to synthesize
each_recipe = pytest.mark.parametrize("system", RECIPES, ids=[path.stem for path in RECIPES])
on_one_corpus = [path for path in RECIPES if path.stem not in TWO_CORPORA]
each_on_one_corpus = pytest.mark.parametrize("system", on_one_corpus, ids=[path.stem for path in on_one_corpus])


def test_the_five_papers_are_there() -> None:
    assert {"legal-figure1", "vpc2020", "zebra-vpc2020", "rp-gmm", "usc-ranks", "usc"} <= {
        path.stem for path in RECIPES
    }


@each_recipe
def test_every_recipe_is_a_study(system: Path) -> None:
    assert system.suffix == ".yaml" and file_problems(system) == []


@each_recipe
def test_every_recipe_has_a_page_that_names_its_command_and_its_methods(system: Path) -> None:
    page = (PAGES / f"{system.stem}.md").read_text(encoding="utf-8")
    assert f"personare study run recipes/{system.name}" in page and "--corpus" in page
    for heading in ("## What the paper reports", "## What we get", "## Why they differ"):
        assert heading in page
    for label in read_study(system).anonymizers:
        assert f"| {label} |" in page, f"no row of {label}"
    for place, link in ((PAGES / "index.md", f"({system.stem}.md)"), (ROOT / "docs" / "index.md", "recipes/index.md")):
        assert link in place.read_text(encoding="utf-8")


@pytest.mark.models
@each_recipe
def test_every_recipe_can_run_on_invented_voices(system: Path, tmp_path: Path) -> None:
    if system.stem == "usc" and not (Path(personare.codecs.usc.__file__).parent / "shipped").is_dir():
        pytest.skip("the codec's weights are not shipped in this copy")
    done = CliRunner().invoke(app, ["study", "check", str(system), "--out", str(tmp_path / "run")])
    assert done.exit_code == 0 and "can run" in done.output, done.output
    assert not (tmp_path / "run").exists()


@pytest.mark.models
def test_all_recipes_are_checked_by_one_command_and_each_wrong_file_is_named(tmp_path: Path) -> None:
    """``study check recipes/*.yaml``: the folder holds studies only."""
    files = sorted((ROOT / "recipes").glob("*.yaml"))
    done = CliRunner().invoke(app, ["study", "check", *map(str, files)])
    assert done.exit_code == 0 and done.output.count(": can run") == len(files), done.output
    wrong = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    wrong[0].write_text("method: mcadams\n")
    done = CliRunner().invoke(app, ["study", "check", str(wrong[0]), str(files[0]), str(wrong[1])])
    assert isinstance(done.exception, StudyError) and ": can run" in done.output
    assert [any(line.startswith(str(path)) for line in done.exception.problems) for path in wrong] == [True, True]


@pytest.mark.shared
@each_on_one_corpus
def test_on_the_real_corpus_who_is_learnt_from_is_never_attacked(
    system: Path, shared_folder: Path, tmp_path: Path
) -> None:
    study = with_corpus(read_study(system), shared_folder / "corpus", speakers=12, utterances=6)
    (label,) = (label for label, choice in study.corpora.items() if choice.is_attacked)
    speech = study_corpus(label, study, stages=tmp_path)
    parts = {role: set(speech.of(role)["part"]) for role in (TRAIN, ENROLMENT, TRIAL)}
    assert parts == {TRAIN: {"train"}, ENROLMENT: {"eval"}, TRIAL: {"eval"}}
    attacked = speech.frame.filter(pl.col("role") != TRAIN)
    for part in (attacked, speech.of(TRAIN)):
        assert part["speaker"].n_unique() == 12 and part["speaker"].value_counts()["count"].max() <= 6  # type: ignore[operator]
        assert set(part.unique("speaker")["gender"].value_counts()["count"]) == {6}
    assert not set(attacked["speaker"]) & set(speech.of(TRAIN)["speaker"])


def test_two_corpora_cannot_be_replaced_by_one(tmp_path: Path) -> None:
    for name in TWO_CORPORA:
        study = read_study(ROOT / "recipes" / f"{name}.yaml")
        assert sum(choice.is_attacked for choice in study.corpora.values()) == 2
        with pytest.raises(ConfigError, match="--corpus replaces the one corpus of a study; this one has 2"):
            with_corpus(study, tmp_path)


@each_on_one_corpus
def test_a_corpus_without_parts_sets_the_same_share_aside_as_the_demo(system: Path, tmp_path: Path) -> None:
    study = read_study(system)
    assert ORIGINAL in study.anonymizers
    (choice,) = (one for one in study.corpora.values() if one.is_attacked)
    (other,) = (one for one in with_corpus(study, tmp_path).corpora.values() if one.is_attacked)
    assert choice.speakers and other.train == pytest.approx(choice.train / choice.speakers)
    assert other.speakers is None and other.utterances is None


def test_a_pool_reaches_every_method_that_generates_and_no_other(tmp_path: Path) -> None:
    study = read_study(ROOT / "recipes" / "rp-gmm.yaml")
    with pytest.raises(ConfigError, match="no such file; make one with personare pseudospeakers pool"):
        with_pool(study, tmp_path / "pool.npz")
    (tmp_path / "pool.npz").write_bytes(b"")
    chosen = with_pool(study, tmp_path / "pool.npz").anonymizers
    having = {label for label, settings in chosen.items() if "pool" in (settings or {})}
    assert having == set(study.anonymizers) - {ORIGINAL, "b2"}
    with pytest.raises(ConfigError, match="no method of this study generates"):
        with_pool(read_study(ROOT / "recipes" / "legal-figure1.yaml"), tmp_path / "pool.npz")


F0_KEPT = {"pitch": "keep", "f0": "keep", "energy": "keep", "timing": "keep"}


@pytest.mark.parametrize("name", ["vpc2020", "zebra-vpc2020", "rp-gmm", "legal-figure1-many"])
def test_b1_and_its_family_keep_f0_energy_and_timing_as_published(name: str) -> None:
    study = read_study(ROOT / "recipes" / f"{name}.yaml")
    systems = [resolve_anonymizer(label, settings or {}, ROOT) for label, settings in study.anonymizers.items()]
    systems += [one.similar for one in resolve_attackers(study, systems, ROOT) if one.similar is not None]
    built = {one.label: one.system.build() for one in systems if one.system is not None}
    family = [method for method in built.values() if isinstance(method, XVector)]
    assert isinstance(built["b1"], XVector) and built["b1"] in family
    for method in family:
        assert {setting: getattr(method, setting) for setting in F0_KEPT} == F0_KEPT
