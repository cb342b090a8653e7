"""Attributes are guessed from anonymized voices: beside majority and control, with a risk that has an interval."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import personare as pn
from conftest import hum
from personare.core.audio import write
from personare.core.errors import ConfigError, PersonareError
from personare.core.tables import Corpus, write_frame
from personare.corpora import read_corpus
from personare.pipeline.attributes import attribute_of
from pipeline.blends import command
from pipeline.tiny import write_embedder

ALPHA = {"alpha": [0.6, 0.9]}


def people(folder: Path, prefix: str, *, count: int, town: bool = True) -> Path:
    """Speakers of two towns, with other resonances in each; the first comes from nowhere that anybody noted."""
    rows = []
    for s in range(count):
        for u in range(2):
            path = folder / f"{prefix}{s}" / f"{prefix}{s}-{u}.wav"
            write(path, hum(s % 2, duration_s=0.6 + 0.05 * u, f0_hz=100.0 + 7 * s))
            rows.append((f"{prefix}{s}-{u}", f"{prefix}{s}", str(path), ("upper", "lower")[s % 2] if s else None))
    frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "town"], orient="row")
    if not town:
        write_frame(frame.select("speaker", "town").unique(maintain_order=True), folder / "speakers.tsv")
    Corpus(frame if town else frame.drop("town")).save(folder / "manifest.parquet")
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("infer")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        write_embedder(folder / "net.onnx")
        people(folder / "attacked", "a", count=9)
        people(folder / "others", "o", count=8)
        pn.anonymize_corpus(folder / "attacked", folder / "anonymized", method="mcadams", parameters=ALPHA)
        yield folder


def guessed(place: Path, train: Path, **how: object) -> pn.Results:
    given = {"embedder": f"trained:{place / 'net.onnx'}", "attributes": ["town"], **how}
    return pn.infer(place / "attacked", place / "anonymized", train=train, **given)  # type: ignore[arg-type]


def test_a_column_of_the_manifest_is_guessed(place: Path) -> None:
    words = ["infer", place / "attacked", place / "anonymized", "--train", place / "others", "-a", "town"]
    done = command(*words, "--embedder", f"trained:{place / 'net.onnx'}", "--out", place / "run")
    assert "informed of town" in done.stdout and "town: I succeed in" in done.stdout
    assert "nobody noted it for 1 of the attacked speakers, who are left out" in done.stdout
    (finding,) = guessed(place, place / "others")
    assert finding.metric.name == "risk_over_control" and finding.estimate.n == 8
    assert finding.conditions["attribute"] == "town" and finding.conditions["knowledge"] == "informed"
    attack, control = (float(finding.conditions[name]) for name in ("attack", "control"))
    assert attack >= 7 / 8 > control and finding.estimate.low <= finding.estimate.value <= finding.estimate.high
    assert float(finding.conditions["baseline"]) == 0.5


def test_towns_that_are_noted_beside_either_corpus_are_found(place: Path, tmp_path: Path) -> None:
    """In a table of speakers beside the corpus that is learnt from: the same numbers."""
    beside = people(tmp_path / "others", "o", count=8, town=False)
    rows = [result.to_dict() for result in (guessed(place, place / "others"), guessed(place, beside))]
    assert rows[0] == rows[1]


def test_one_corpus_with_a_train_part_serves_both(place: Path, tmp_path: Path) -> None:
    """Whoever is attacked is left out of what is learnt from; nobody of the part 'train' is attacked."""
    frames = [
        Corpus.load(place / name / "manifest.parquet").frame.with_columns(part=pl.lit(part))
        for name, part in (("attacked", "eval"), ("others", "train"))
    ]
    both = tmp_path / "both"
    Corpus(pl.concat(frames)).save(both / "manifest.parquet")
    how = {
        "embedder": f"trained:{place / 'net.onnx'}",
        "attributes": ["town"],
        "key": place / "anonymized-private/key",
    }
    result = pn.infer(both, place / "anonymized", train=both, **how)  # type: ignore[arg-type]
    (finding,), (expected,) = result, guessed(place, place / "others")
    assert finding.estimate == expected.estimate and not result.failures
    assert any("attacked speakers are left out of the training speech" in note for note in result.notes)
    assert any("nobody of the corpus' own part 'train' is attacked" in note for note in result.notes)


def test_all_speech_is_tested_and_nothing_enrolled(place: Path) -> None:
    result = guessed(place, place / "others", out=place / "kept")
    log = (result.folder / "log.txt").read_text(encoding="utf-8")
    assert "anonymize attacked trial" in log and "enrolment" not in log


def test_what_is_missing_is_one_line(place: Path) -> None:
    for words, line in (
        ({"attributes": ["tonw"]}, "did you mean 'town'"),
        ({"attributes": ["utterance"]}, "has more than one utterance"),
    ):
        with pytest.raises(PersonareError, match=line):
            guessed(place, place / "others", **words)
    same = place / "same"
    frame = Corpus.load(place / "others" / "manifest.parquet").frame
    Corpus(frame.with_columns(town=pl.lit("upper"))).save(same / "manifest.parquet")
    with pytest.raises(PersonareError, match="town needs two values among the train speakers, there are 1"):
        guessed(place, same)


def test_attributes_come_from_speakers_tsv_too_and_mistakes_are_one_line(tmp_path: Path) -> None:
    folder = people(tmp_path / "a", "a", count=3)
    rows = {"speaker": ["a0", "a1", "a2"], "age_group": ["child", "adult", None], "age": [str(i) for i in range(3)]}
    write_frame(pl.DataFrame(rows), folder / "speakers.tsv")
    corpus = read_corpus(folder).corpus
    assert attribute_of("age_group", (folder, corpus)) == {"a0": "child", "a1": "adult", "a2": None}
    with pytest.raises(ConfigError, match="did you mean 'town'"):
        attribute_of("tonw", (folder, corpus))
    many = corpus.frame.with_columns(pl.col("utterance").alias("town"))
    with pytest.raises(ConfigError, match="speaker 'a0' has more than one town"):
        attribute_of("town", (folder, Corpus(many)))
    crowd = pl.DataFrame({c: [f"{c}{i}" for i in range(30)] for c in ("utterance", "speaker", "audio", "village")})
    with pytest.raises(ConfigError, match="30 values, too many"):
        attribute_of("village", (tmp_path, Corpus(crowd)))


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_mcadams_lets_gender_and_accent_through(shared_folder: Path, tmp_path: Path) -> None:
    """86 people, 140 others to learn from; which corpus is accent and recording conditions at once. -s prints it."""
    whole = read_corpus(shared_folder / "corpus").corpus.frame.group_by("speaker", maintain_order=True).head(3)
    parts = {}
    for part in ("eval", "train"):
        parts[part] = tmp_path / part
        Corpus(whole.filter(pl.col("part") == part).drop("part")).save(parts[part] / "manifest.parquet")
        known = pl.read_csv(shared_folder / "corpus" / "speakers.tsv", separator="\t").select("speaker", "age_group")
        write_frame(known.filter(pl.col("age_group").is_not_null()), parts[part] / "speakers.tsv")
    done = pn.anonymize_corpus(parts["eval"], tmp_path / "anonymized", method="mcadams", parameters=ALPHA, jobs=2)
    attributes = ("gender", "age_group", "corpus")
    result = pn.infer(parts["eval"], done, train=parts["train"], attributes=attributes, embedder="ge2e", jobs=2)
    print(result, *result.notes, sep="\n")
    by = {str(f.conditions["attribute"]): f for f in result}
    assert set(by) == set(attributes) and by["gender"].estimate.n == by["corpus"].estimate.n == 86
    assert by["gender"].estimate.low > 0 and by["gender"].differs_from_chance
    assert float(by["corpus"].conditions["attack"]) > float(by["corpus"].conditions["control"])
