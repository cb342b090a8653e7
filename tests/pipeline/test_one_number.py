"""The same speech gives the same number, to the last digit, by every command and from Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from numpy.typing import NDArray

import personare as pn
from personare.attackers.attack import Attack
from personare.core.embedding_files import read_embeddings, write_embeddings
from personare.core.seeding import load_or_make_key
from personare.core.tables import Corpus
from personare.pipeline.attack_inputs import PlayedAttack
from personare.pipeline.measures import rng_of
from personare.pipeline.measures.detection import Detection
from personare.pipeline.measures.linkability import LinkabilityMeasure
from personare.pipeline.resolve import key_of
from personare.pipeline.study import CorpusChoice, Study
from pipeline.blends import Answer, Question, answers, answers_in, command, write_blends
from pipeline.tiny import write_embedder

SEED = 1
LENGTHS = (1, 3)
ALPHA = [0.7, 0.9]
LEVELS = ("original", "ignorant", "lazy-informed", "informed")
PARTS = ("enrolment", "trial")


class Speech:
    """One corpus, anonymized once under the key of a study's owner; names are kept, so that rows can be chosen."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.corpus, self.anonymized = folder / "corpus", folder / "anonymized"
        self.embedder = f"trained:{write_embedder(folder / 'net.onnx')}"
        write_blends(self.corpus)
        self.anonymize(self.corpus, "anonymized", "owner")

    def anonymize(self, source: Path, name: str, who: str) -> Path:
        """Anonymize under the key that this study would give somebody."""
        key = self.folder / f"{name}.key"
        study = Study("any", {"any": CorpusChoice()}, {"any": None}, seed=SEED)
        load_or_make_key(key, new=key_of(study, who))  # type: ignore[arg-type]
        how = ("--method", "mcadams", "--set", f"alpha={ALPHA}", "--names", "keep")
        command("anonymize", source, self.folder / name, *how, "--key", key)
        return self.folder / name

    @property
    def both(self) -> list[object]:
        """What evaluate and attack are called with."""
        return [self.corpus, self.anonymized, "--embedder", self.embedder, "--lengths", "1,3", "--seed", SEED]


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Speech]:
    folder = tmp_path_factory.mktemp("one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        yield Speech(folder)


@pytest.fixture(scope="module")
def evaluated(speech: Speech) -> dict[Question, Answer]:
    command("evaluate", *speech.both, "--out", speech.folder / "evaluated")
    return answers_in(speech.folder / "evaluated")


def study_file(speech: Speech, name: str, **changes: object) -> Path:
    """The same choices as a study file, under labels of its own."""
    choices = {
        "title": "the same",
        "corpora": {"recordings": {"path": "corpus"}},
        "anonymizers": {"original": {}, "hidden": {"given": "anonymized"}},
        "attackers": {f"attacker {i}": {"knowledge": k, "embedder": "trained:net.onnx"} for i, k in enumerate(LEVELS)},
        "metrics": ["linkability", "eer"],
        "utterances_per_trial": [3, 1],
        "seed": SEED,
    }
    path = speech.folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({**choices, **changes}), encoding="utf-8")
    return path


def test_the_numbers_are_worth_comparing(evaluated: dict[Question, Answer]) -> None:
    """Every attacker is measured at both L, by both metrics; most numbers are neither 0 nor 1."""
    asked = {(metric, level, length) for metric, _, level, _, length, _, _ in evaluated}
    assert asked == {(m, k, n) for m in ("eer", "linkability") for k in LEVELS for n in LENGTHS}
    ends = [(low, value, high) for value, low, high, *_ in evaluated.values() if low is not None and high is not None]
    inside = [value for low, value, high in ends if 0 < value < 1 and low < value < high]
    assert len(inside) > 0.8 * len(evaluated)
    assert len({answer[:3] for answer in evaluated.values()}) > 0.8 * len(evaluated)


def test_attack_gives_what_evaluate_gives(speech: Speech, evaluated: dict[Question, Answer]) -> None:
    command("attack", *speech.both, "--out", speech.folder / "attacked")
    assert answers_in(speech.folder / "attacked") == evaluated


def test_a_study_with_the_same_choices_and_other_labels_gives_it(
    speech: Speech, evaluated: dict[Question, Answer]
) -> None:
    command("study", "run", study_file(speech, "given"), "--out", speech.folder / "studied")
    assert answers_in(speech.folder / "studied") == evaluated


def test_a_study_that_anonymizes_itself_gives_it(speech: Speech, evaluated: dict[Question, Answer]) -> None:
    """The folder was made under the study's own key: whether speech is given or made makes no difference."""
    made = {"original": {}, "b2": {"method": "mcadams", "alpha": ALPHA}}
    command("study", "run", study_file(speech, "made", anonymizers=made), "--out", speech.folder / "made")
    assert answers_in(speech.folder / "made") == evaluated


def test_python_gives_it_on_two_workers(speech: Speech, evaluated: dict[Question, Answer]) -> None:
    corpus = pn.read_corpus(speech.corpus)
    result = pn.evaluate(corpus, str(speech.anonymized), embedder=speech.embedder, seed=SEED, jobs=2)
    assert answers(result) == evaluated
    assert answers(result["eer"]) == {q: a for q, a in evaluated.items() if q[0] == "eer"}


def test_the_order_of_rows_makes_no_difference(speech: Speech, evaluated: dict[Question, Answer]) -> None:
    folders = []
    for place in (speech.corpus, speech.anonymized):
        frame = Corpus.load(place / "manifest.parquet").frame.sample(fraction=1.0, shuffle=True, seed=5)
        folders.append(speech.folder / f"shuffled-{place.name}" / "manifest.parquet")
        Corpus(frame).save(folders[-1])
    how = {"parameters": {"alpha": ALPHA}, "key": speech.folder / "anonymized.key", "embedder": speech.embedder}
    result = pn.evaluate(*folders, method="mcadams", **how)  # type: ignore[arg-type]
    assert answers(result) == evaluated


def vectors(speech: Speech, source: Path, name: str, part: str) -> Path:
    """Embed a corpus, and keep the utterances that the original corpus has in this part."""
    whole, chosen = speech.folder / f"{name}-whole.npz", speech.folder / f"{name}.npz"
    command("embed", source, whole, "--embedder", speech.embedder)
    wanted = set(Corpus.load(speech.corpus / "manifest.parquet").of_part(part).frame["utterance"])
    everything = read_embeddings(whole)
    write_embeddings(everything.rows([i for i, name in enumerate(everything.ids) if name in wanted]), chosen)
    return chosen


def linked(test: Path, enroll: Path) -> dict[tuple[int, int], Answer]:
    """Linkability by L and N, as the command ``link`` gives it."""
    told = command("link", test, enroll, "--lengths", "1,3", "--json", "--seed", SEED).stdout
    rows = [(f, f["conditions"]) for f in json.loads(told)["findings"]]
    return {(c["L"], c["N"]): (f["value"], f["low"], f["high"], f["chance"], f["n"]) for f, c in rows}


def linkability_of(level: str, given: dict[Question, Answer]) -> dict[tuple[int, int], Answer]:
    rows = ((q, a) for q, a in given.items() if q[0] == "linkability" and q[2:4] == (level, "cosine") and q[6] is None)
    return {(q[4], q[5]): answer for q, answer in rows}


def test_embed_and_link_give_it(speech: Speech, evaluated: dict[Question, Answer]) -> None:
    trial = speech.folder / "trial.npz"
    command("embed", speech.corpus, trial, "--part", "trial", "--embedder", speech.embedder)
    enrolment = vectors(speech, speech.corpus, "enrolment", "enrolment")
    anonymized = vectors(speech, speech.anonymized, "anonymized", "trial")
    assert linked(trial, enrolment) == linkability_of("original", evaluated)
    assert linked(anonymized, enrolment) == linkability_of("ignorant", evaluated)


def test_embed_and_the_metrics_of_the_library_give_it(speech: Speech, evaluated: dict[Question, Answer]) -> None:
    """Vectors in, numbers out: means of directions, cosines and trials within a gender made here, by plain numpy."""
    corpus = pn.read_corpus(speech.corpus)
    enrolment, trial = (pn.embed(corpus, embedder=speech.embedder, part=part)[0].sorted() for part in PARTS)
    gender = dict(corpus.frame.select("speaker", "gender").iter_rows())
    names = sorted(set(enrolment.speakers))
    people = np.stack([_directions(enrolment.of_speakers({name}).vectors).mean(axis=0) for name in names])
    for length in LENGTHS:
        tests = PlayedAttack(Attack(enrolment, trial), SEED).tests(length)
        scores = _directions(tests.vectors) @ _directions(people).T
        same = np.array(tests.speakers)[:, None] == np.array(names)[None, :]
        allowed = np.array([[gender[a] == gender[b] for b in names] for a in tests.speakers])
        owner = np.broadcast_to(np.array(tests.speakers)[:, None], same.shape)
        detection = Detection(("eer",), length)
        found = pn.metrics.eer(
            scores[same],
            scores[allowed & ~same],
            target_speakers=owner[same],
            nontarget_speakers=owner[allowed & ~same],
            nontarget_enrolled=np.broadcast_to(np.array(names)[None, :], same.shape)[allowed & ~same],
            rng=rng_of(detection, SEED),
        )
        assert _numbers(found) == _without_chance(evaluated["eer", "none", "original", "cosine", length, None, None])
        link = LinkabilityMeasure(length=length)
        sides = (tests.vectors, tests.speakers, enrolment.vectors, enrolment.speakers)
        linked = pn.metrics.linkability(*sides, N=len(names), rng=rng_of(link, SEED))
        question = ("linkability", "none", "original", "cosine", length, len(names), None)
        assert _numbers(linked.estimate) == _without_chance(evaluated[question])
        assert linked.chance == (evaluated[question][3],)


def _directions(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    unit: NDArray[np.float64] = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return unit


def _numbers(estimate: pn.Estimate) -> tuple[float, float | None, float | None, int]:
    return estimate.value, estimate.low, estimate.high, estimate.n


def _without_chance(answer: Answer) -> tuple[float, float | None, float | None, int]:
    return (*answer[:3], answer[4])


def test_anonymize_embed_and_link_are_a_lazy_informed_attacker(speech: Speech) -> None:
    """Enrolment anonymized by hand under the attacker's key, once, is what the attacker does."""
    words = ["--knowledge", "lazy-informed", "--enroll-draws", 1, "--out", speech.folder / "lazy"]
    command("attack", *speech.both, *words)
    own = speech.anonymize(speech.corpus, "attackers", "attacker")
    enrolment = vectors(speech, own, "attackers-enrolment", "enrolment")
    anonymized = vectors(speech, speech.anonymized, "anonymized", "trial")
    by_hand = linked(anonymized, enrolment)
    assert len(by_hand) == 2 and by_hand == linkability_of("lazy-informed", answers_in(speech.folder / "lazy"))


def test_a_corpus_without_parts_is_split_alike_by_every_command(speech: Speech, tmp_path: Path) -> None:
    frame = Corpus.load(speech.corpus / "manifest.parquet").frame.filter(pl.col("part") != "train").drop("part")
    Corpus(frame).save(tmp_path / "whole" / "manifest.parquet")
    both = [tmp_path / "whole", *speech.both[1:]]
    command("evaluate", *both, "--out", tmp_path / "evaluated")
    study = study_file(speech, "whole", corpora={"all of it": {"path": str(tmp_path / "whole")}})
    choices = yaml.safe_load(study.read_text(encoding="utf-8"))
    choices["attackers"].pop("attacker 3")  # nobody is left to learn from
    study.write_text(yaml.safe_dump(choices), encoding="utf-8")
    command("study", "run", study, "--out", tmp_path / "studied")
    found = answers_in(tmp_path / "evaluated")
    assert found == answers_in(tmp_path / "studied") and {q[2] for q in found} == set(LEVELS[:3])


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_real_speech_has_one_number_too(shared_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve people of the shared corpus, a published embedder; evaluate, attack, a study, Python, embed and link."""
    monkeypatch.chdir(tmp_path)
    frame = Corpus.load(shared_folder / "corpus" / "manifest.tsv").frame.filter(pl.col("part") == "eval").drop("part")
    people = frame["speaker"].unique(maintain_order=True).to_list()[:12]
    frame = frame.filter(pl.col("speaker").is_in(people)).group_by("speaker", maintain_order=True).head(9)
    place = pl.int_range(pl.len()).over("speaker")
    parted = frame.with_columns(pl.when(place < 3).then(pl.lit("enrolment")).otherwise(pl.lit("trial")).alias("part"))
    Corpus(parted).save(tmp_path / "corpus" / "manifest.parquet")
    how = ("--method", "mcadams", "--set", f"alpha={ALPHA}", "--names", "keep")
    command("anonymize", "corpus", "anonymized", *how, "--jobs", 2)
    both = ["corpus", "anonymized", "--embedder", "ge2e"]
    command("evaluate", *both, "--out", "evaluated", "--jobs", 2)
    expected = answers_in(tmp_path / "evaluated")
    command("attack", *both, "--out", "attacked")
    choices = {
        "title": "the same",
        "corpora": {"recordings": {"path": "corpus"}},
        "anonymizers": {"original": {}, "hidden": {"given": "anonymized"}},
        "attackers": {f"attacker {i}": {"knowledge": k, "embedder": "ge2e"} for i, k in enumerate(LEVELS[:3])},
        "utterances_per_trial": [1, 3],
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(choices), encoding="utf-8")
    command("study", "run", "study.yaml", "--out", "studied")
    assert answers_in(tmp_path / "attacked") == expected == answers_in(tmp_path / "studied")
    assert answers(pn.evaluate("corpus", "anonymized", embedder="ge2e")) == expected
    for part in PARTS:
        command("embed", "corpus", f"{part}.npz", "--part", part, "--embedder", "ge2e")
    assert linked(tmp_path / "trial.npz", tmp_path / "enrolment.npz") == linkability_of("original", expected)
