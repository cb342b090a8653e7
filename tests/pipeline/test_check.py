"""Bad studies fail before any work, with one clear line for each problem, all of them at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from personare.cli import app
from personare.core.audio import write
from personare.core.errors import StudyError
from personare.core.tables import Corpus
from pipeline.tiny import voice, write_corpus, write_study


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("check")


def lines(place: Path, **changes: Any) -> list[str]:
    """Check the tiny study with these changes; give the problem lines."""
    done = CliRunner().invoke(app, ["study", "check", str(write_study(place, **changes))])
    assert done.exception is None or isinstance(done.exception, StudyError), done.output
    assert not (place / "study-run").exists()
    return list(done.exception.problems) if isinstance(done.exception, StudyError) else []


def attackers(**one: Any) -> dict[str, Any]:
    return {"attackers": {"a": {"knowledge": "ignorant", "embedder": "trained:net.onnx", **one}}}


def corpus(**choice: Any) -> dict[str, Any]:
    return {"corpora": {"hums": {"path": "corpus", **choice}}}


TRAIN = {"parts": {"train": "train"}}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"metriks": ["eer"]}, "has no key 'metriks'; did you mean 'metrics'?"),
    ({"corpora": {"hums": {"path": "corpus", "spilt": "halves"}}}, "no key 'spilt'; did you mean 'split'?"),
    ({"corpora": {"hums": {"path": "nowhere"}}}, "nowhere: no such file or folder"),
    (corpus(parts={"train": "trian"}), "no part 'trian' (for train); did you mean 'train'?"),
    ({"anonymizers": {"b2": {"method": "mcadam"}}}, "no anonymizer 'mcadam'; did you mean 'mcadams'?"),
    ({"anonymizers": {"b2": {"method": "mcadams", "alhpa": 1}}}, "no parameter 'alhpa'; did you mean 'alpha'?"),
    ({"anonymizers": {"b2": {}}}, "needs a method (or a generator, or given)"),
    (attackers(knowledge="informd"), "attackers: a: no attacker 'informd'; did you mean 'informed'?"),
    (attackers(embedder="trained:none.onnx"), "none.onnx: no such file"),
    (attackers(embedder="ekapa"), "no embedder 'ekapa'; did you mean 'ecapa'?"),
    (attackers(knowledge="informed") | corpus(parts={"attacked": "eval"}), "learns from training speech"),
    (attackers(knowledge="semi-informed"), "learns_from another anonymizer"),
    (attackers(knowledge="informed", scorer="cosine"), "cosine cannot"),
    ({"metrics": ["linkabilty"]}, "metrics: 'linkabilty' does not exist; did you mean 'linkability'?"),
    ({"metrics": ["wer"]}, "wer needs a listener; add one of them to listeners: moonshine, whisper"),
    ({"metrics": ["eer"], "attackers": {}}, "eer needs an attacker"),
    ({"metrics": ["cllr"]}, "cllr needs log-likelihood ratios"),
    ({"metrics": ["uar"]}, "uar needs a listener; add one of them to listeners: affect"),
    ({"metrics": ["inference"]}, "inference needs an attacker who learns"),
    (
        attackers(knowledge="informed") | {"metrics": ["inference"], "attributes": ["agegroup"]},
        "no corpus has a column 'agegroup'",
    ),
    (attackers(knowledge="informed") | {"metrics": ["inference"], "attributes": ["part"]}, "part needs two values"),
    ({"listeners": {"mood": {"listener": "affect:none.json"}}}, "listeners: mood: "),
    ({"listeners": {"mood": {"listener": "affect:none.txt"}}}, "an affect model is a .onnx or .json file"),
    ({"metrics": ["population_linkability"]}, "needs populations"),
    ({"listeners": ["moonshin"]}, "no listener 'moonshin'; did you mean 'moonshine'?"),
    (corpus(**TRAIN, utterances=2) | {"metrics": ["similarity"]}, "nobody has two; give more utterances"),
    ({"utterances_per_trial": [1, 9]}, "L = 9 is impossible, the most trial utterances of a speaker are 2"),
    ({"utterances_per_trial": [2], "metrics": ["singling_out"]}, "Singling Out at L = 2 needs 4 trial utterances"),
    ({"gallery_sizes": [99]}, "N = 99 is impossible for linkability, 4 speakers are enrolled"),
    ({"gallery_sizes": [99], "metrics": ["singling_out"]}, "N = 99 is impossible for Singling Out, 4 speakers have"),
    ({"bounds": [{"metric": "eer"}]}, "needs at_most or at_least"),
    ({"bounds": [{"metric": "wer", "at_most": 1}]}, "wer is not measured by this study"),
    (
        {"bounds": [{"metric": "eer", "at_least": 0.3, "anonymizer": "b3"}]},
        "no anonymizer 'b3' in this study; Known: b2",
    ),
    ({"anonymizers": {"gen": {"generator": "b1"}}} | corpus(parts={"attacked": "eval"}), "learns voices from training"),
    ({"title": None}, "needs the key 'title'"),
]


@pytest.mark.parametrize(("changes", "line"), BAD, ids=[line[:40] for _, line in BAD])
def test_each_mistake_is_one_clear_line(place: Path, changes: dict[str, Any], line: str) -> None:
    found = lines(place, **changes)
    assert [one for one in found if line in one], found
    assert len(found) <= 2


def test_a_good_study_can_run_and_all_problems_are_listed_together(place: Path) -> None:
    assert lines(place) == []
    found = lines(
        place,
        metrics=["err", "eer", "linkability", "wer"],
        utterances_per_trial=[9],
        gallery_sizes=[99],
        listeners=["pish"],
    )
    assert len(found) == 5, found
    several = lines(place, metriks=[], seeed=1, utterances_per_trial="many", attackers={"a": {"knowlege": "ignorant"}})
    assert len(several) == 4 and "did you mean 'seed'?" in " ".join(several)


def test_a_speaker_in_one_part_only_and_missing_audio_are_named(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "corpus")
    frame = Corpus.load(folder / "manifest.parquet").frame
    alone = folder / "s99" / "s99-0.wav"
    write(alone, voice(9, 0))
    row = {"utterance": "s99-0", "speaker": "s99", "audio": str(alone), "gender": "f", "text": "x", "part": "eval"}
    Corpus(pl.concat([frame, pl.DataFrame([row])])).save(folder / "manifest.parquet")
    assert "1 speaker is enrolled but never tested (first: 's99')" in lines(tmp_path)[0]
    assert lines(tmp_path, **corpus(**TRAIN, one_sided="keep")) == []
    alone.unlink()
    assert "1 entry names an audio file that does not exist" in lines(tmp_path)[0]


def test_an_attacked_speaker_in_the_train_part_is_refused(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "corpus")
    frame = Corpus.load(folder / "manifest.parquet").frame
    mixed = pl.when(pl.col("utterance") == "s00-0").then(pl.lit("train")).otherwise(pl.col("part"))
    Corpus(frame.with_columns(part=mixed)).save(folder / "manifest.parquet")
    assert "1 attacked speakers are also in the train part (first: 's00')" in lines(tmp_path)[0]


def test_run_checks_first_and_writes_nothing(place: Path) -> None:
    path = write_study(place, utterances_per_trial=[9])
    done = CliRunner().invoke(app, ["study", "run", str(path), "--out", str(place / "never")])
    assert isinstance(done.exception, StudyError) and "L = 9 is impossible" in str(done.exception)
    assert not (place / "never").exists()
