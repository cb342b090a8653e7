"""The strongest attackers through the commands: fusions, draws, folds; who is played by default, and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import personare as pn
from personare.attackers.folds import FEWEST_SPEAKERS
from personare.core.carriers import WEIGHTS
from personare.core.errors import PersonareError
from personare.core.tables import Corpus
from personare.pipeline import attack_sets
from personare.pipeline.attack_choices import CHOICES, TOGETHER
from personare.pipeline.attacker_choice import AttackerChoice
from personare.reports.run import read_run
from pipeline.blends import answers, command, write_blends

FUSION = "energy+spectrum"
STRONG = {"knowledge": "informed", "embedder": FUSION, "scorer": "chosen", "enroll_draws": 2}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Sixteen people who are attacked, and ten others."""
    folder = tmp_path_factory.mktemp("strong")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        write_blends(folder / "both", attacked=FEWEST_SPEAKERS, enrolment=3, trial=2, train=10)
        frame = Corpus.load(folder / "both" / "manifest.parquet").frame
        for name, chosen in (("others", pl.col("part") == "train"), ("corpus", pl.col("part") != "train")):
            Corpus(frame.filter(chosen).drop("part")).save(folder / name / "manifest.parquet")
        command("anonymize", folder / "corpus", folder / "anonymous", "--method", "mcadams", "--names", "keep")
        yield folder


def played(place: Path, name: str, *, train: bool = False, **how: object) -> pn.Results:
    choice = AttackerChoice(**{**STRONG, **how})  # type: ignore[arg-type]
    others = {"train": place / "others"} if train else {}
    return pn.evaluate(
        place / "corpus",
        place / "anonymous",
        attackers={"informed": choice},
        utterances_per_trial=[1],
        out=place / name,
        **others,  # type: ignore[arg-type]
    )


def test_an_informed_attacker_in_folds_needs_no_other_speech(place: Path) -> None:
    found = played(place, "folds", folds=4)
    eer = [f for f in found if f.metric.name == "eer" and "gender" not in f.conditions]
    assert {f.conditions["anonymizer"] for f in eer} == {"original", "mcadams"}
    assert {f.estimate.n for f in eer} == {FEWEST_SPEAKERS} and not found.failures
    run = read_run(place / "folds")
    choices = [a for a in run.of_kind(CHOICES) if a.conditions["anonymizer"] == "mcadams"]
    assert len(choices) == 2, "with the EER and with linkability"
    table = pl.read_parquet(choices[0].path)
    assert table["model"].n_unique() == 6, "one for every two of four folds"
    assert table["embedder"].unique(maintain_order=True).to_list() == ["energy", "spectrum", TOGETHER]
    assert table["area"].is_between(0.4, 1.0).all()
    log = (place / "folds" / "log.txt").read_text(encoding="utf-8")
    assert "done anonymize corpus enrolment by mcadams (training)" in log, "each utterance anew, not the enrolled draws"


def test_several_draws_of_other_speech_are_learnt_from(place: Path) -> None:
    once = played(place, "once", train=True)
    twice = played(place, "twice", train=True, train_draws=2)
    assert answers(once) != answers(twice)
    drawn = sorted(path.name for path in (place / "twice" / "stages").glob("anonymize-*"))
    assert len(drawn) - len(list((place / "once" / "stages").glob("anonymize-*"))) == 1
    assert not twice.failures


def test_an_attacker_who_adapts_the_last_layer_is_played_and_what_was_chosen_is_kept(place: Path) -> None:
    found = played(place, "adapted", train=True, embedder="spectrum", scorer="adapted")
    assert not found.failures
    assert {f.conditions["scorer"] for f in found} == {"adapted"}
    (choice, *_) = [a for a in read_run(place / "adapted").of_kind(CHOICES) if a.conditions["anonymizer"] == "mcadams"]
    table = pl.read_parquet(choice.path)
    assert table["embedder"].to_list() == ["spectrum", TOGETHER]
    assert "adapter of" in table["comparison"][0] and table["area"].is_between(0.4, 1.0).all()


def test_too_few_people_for_folds_are_one_line(place: Path) -> None:
    frame = Corpus.load(place / "corpus" / "manifest.parquet").frame
    few = place / "few"
    Corpus(frame.filter(pl.col("speaker") < "s10")).save(few / "manifest.parquet")
    need = "learns in folds from the attacked corpus, which needs 16 speakers"
    with pytest.raises(PersonareError, match=need) as caught:
        pn.evaluate(few, place / "anonymous", attackers={"informed": AttackerChoice(**STRONG, folds=4)})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


class TestUsualSet:
    """Who is played where nobody is named."""

    def test_the_strongest_hear_with_everything_that_is_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(attack_sets, "missing", lambda *_: [])
        chosen = attack_sets.strongest_set(attacked=100, learnt_from=0)
        informed = chosen.attackers["informed"]
        assert informed.embedder == "+".join(attack_sets.EMBEDDERS) and informed.scorer == "chosen"
        assert informed.train_draws == attack_sets.TRAIN_DRAWS and informed.folds == 4
        assert {one.embedder for one in chosen.attackers.values() if one is not informed} == {"wespeaker"}
        assert list(chosen.attackers) == ["original", "ignorant", "lazy-informed", "informed"]
        assert "semi-informed" in chosen.notes[0] and "ecapa beside wespeaker" in chosen.notes[0]
        assert len(chosen.notes) == 1

    def test_what_is_missing_is_left_out_and_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        gone = {"wespeaker", "swift-f0"}
        monkeypatch.setattr(attack_sets, "missing", lambda *names: [n for n in names if n in gone])
        chosen = attack_sets.strongest_set(attacked=15, learnt_from=40)
        assert chosen.attackers["informed"].embedder == "ecapa+ge2e+wakehubert+energy+rhythm+durations+spectrum"
        assert chosen.attackers["ignorant"].embedder == "ecapa" and chosen.attackers["informed"].folds == 0
        said = " ".join(chosen.notes)
        assert (
            "wespeaker, f0, phrases, symbols; personare models fetch wespeaker swift-f0. Voices are compared by ecapa"
            in said
        )
        assert "15 people are too few" in said

    @pytest.mark.parametrize(("learnt_from", "scorer"), [(7, "plda"), (8, "chosen"), (0, "chosen")])
    def test_a_handful_of_people_cannot_judge_back_ends(self, learnt_from: int, scorer: str) -> None:
        chosen = attack_sets.strongest_set(attacked=15, learnt_from=learnt_from)
        assert chosen.attackers["informed"].scorer == scorer
        assert any("compares by PLDA" in note for note in chosen.notes) == (scorer == "plda")
        with_folds = attack_sets.strongest_set(attacked=16, learnt_from=learnt_from)
        assert with_folds.attackers["informed"].scorer == "chosen", "the attacked corpus has enough of them"

    def test_quick_is_one_embedder_for_everybody(self) -> None:
        chosen = attack_sets.quick_set()
        assert {(one.embedder, one.scorer, one.folds, one.train_draws) for one in chosen.attackers.values()} == {
            ("ecapa", None, 0, 1)
        }
        assert "leave out --quick" in chosen.notes[0]
        assert attack_sets.plain_set("ge2e").notes == (), "whoever names an embedder knows what is played"

    def test_evaluate_and_attack_play_it(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(attack_sets, "EMBEDDERS", ("energy", "spectrum"))
        monkeypatch.setattr(attack_sets, "VOICE", "energy")
        monkeypatch.setattr(attack_sets, "PLAIN", "spectrum")
        how = [place / "corpus", place / "anonymous", "--lengths", "1"]
        command("evaluate", *how, "--out", place / "usual")
        usual = read_run(place / "usual")
        embedders = {(f.conditions["attacker"], f.conditions["embedder"]) for f in usual.findings}
        assert embedders == {
            ("original", "energy"),
            ("ignorant", "energy"),
            ("lazy-informed", "energy"),
            ("informed", "energy+spectrum"),
            ("words", "vocabulary"),
        }
        assert {f.conditions["scorer"] for f in usual.findings if f.conditions["attacker"] == "informed"} >= {"chosen"}
        assert "Not among the usual attackers" in " ".join(usual.notes)
        done = command("attack", *how, "--out", place / "attacked")
        assert read_run(place / "attacked").findings == usual.findings, "attack plays the same attackers"
        assert "most exposed to the informed attacker" in done.stdout


def test_models_that_embedders_need_are_known() -> None:
    from personare.pipeline.stages.embed import models_of_embedder

    needed = {name: models_of_embedder(name) for name in attack_sets.EMBEDDERS}
    assert needed["f0"] == ("swift-f0",) and needed["energy"] == () and needed["wespeaker"] == ("wespeaker",)
    assert all(model in WEIGHTS for models in needed.values() for model in models)


def test_a_comparison_of_methods_has_an_attacker_who_learns_where_people_are_enough() -> None:
    enough, few = (attack_sets.comparison_set(attacked=count) for count in (FEWEST_SPEAKERS, FEWEST_SPEAKERS - 1))
    assert list(enough.attackers) == ["ignorant", "lazy-informed", "informed"]
    assert enough.attackers["informed"].folds and enough.attackers["informed"].scorer == "chosen"
    assert list(few.attackers) == ["ignorant", "lazy-informed"]
    assert f"{FEWEST_SPEAKERS - 1} people are too few" in " ".join(few.notes)
