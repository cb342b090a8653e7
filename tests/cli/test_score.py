"""personare score: every kind of file gives the same numbers; every bad file gives one line; pictures are drawn."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import Command
from personare.core.tables import Scores
from personare.metrics.privacy.eer import rocch_eer
from personare.pipeline.scoring import ENROLLED_LEFT_OUT, NO_SPEAKERS


@pytest.fixture
def run(personare: Command) -> Command:
    """Call ``personare score``."""
    return partial(personare, "score")


def trials(seed: int = 0) -> pl.DataFrame:
    """Five enrolled speakers against twenty utterances of ten speakers, a tenth of the trials targets."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"s{e}", f"s{u % 10}-u{u}", e == u % 10, round(float(rng.normal(2.0 * (e == u % 10))), 6))
        for e in range(5)
        for u in range(50)
    ]
    return pl.DataFrame(rows, schema=["enroll", "test", "target", "score"], orient="row")


def write_lines(path: Path, *columns: Any) -> Path:
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in zip(*columns, strict=True)))
    return path


def labels(frame: pl.DataFrame) -> list[str]:
    return ["target" if t else "nontarget" for t in frame["target"]]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[Path | str]]:
    """The same scores in every known kind of file."""
    frame = trials()
    score, target = frame["score"].to_numpy(), frame["target"].to_numpy()
    np.savez(tmp_path / "two.npz", targets=score[target], nontargets=score[~target])
    np.savez(
        tmp_path / "four.npz",
        enroll=frame["enroll"].to_numpy().astype(str),
        test=frame["test"].to_numpy().astype(str),
        score=score,
        target=target,
    )
    Scores(frame).save(tmp_path / "table.parquet")
    Scores(frame).save(tmp_path / "table.tsv")
    key = write_lines(tmp_path / "trials", frame["enroll"], frame["test"], labels(frame))
    return {
        "kaldi": [write_lines(tmp_path / "k.scores", frame["enroll"], frame["test"], score), "--key", key],
        "four columns": [write_lines(tmp_path / "a.txt", frame["enroll"], frame["test"], labels(frame), score)],
        "two columns": [write_lines(tmp_path / "b.txt", score, labels(frame))],
        "npz of two": [tmp_path / "two.npz"],
        "npz of four": [tmp_path / "four.npz"],
        "parquet": [tmp_path / "table.parquet"],
        "tsv": [tmp_path / "table.tsv"],
    }


def test_every_kind_of_file_gives_the_same_numbers(run: Command, files: dict[str, list[Any]]) -> None:
    frame = trials()
    score, target = frame["score"].to_numpy(), frame["target"].to_numpy()
    for kind, words in files.items():
        done = run(*words, "--json")
        assert (done.code, done.stderr) == (0, ""), kind
        found = json.loads(done.stdout)["files"][0]
        values = {f["metric"]: f for f in found["findings"]}
        assert values["eer"]["value"] == pytest.approx(rocch_eer(score[target], score[~target])), kind
        assert (found["targets"], found["nontargets"]) == (25, 225)
        knows_speakers = kind not in ("two columns", "npz of two")
        assert values["eer"]["n"] == (5 if knows_speakers else 250)
        assert found["notes"] == [ENROLLED_LEFT_OUT if knows_speakers else NO_SPEAKERS]
        assert values["eer"]["low"] <= values["eer"]["value"] <= values["eer"]["high"]


def test_a_file_that_tells_who_speaks_redraws_and_deals_tested_speakers(run: Command, tmp_path: Path) -> None:
    """Each recording has one target trial: three speakers are enrolled, two tested; chance deals identities."""
    rng = np.random.default_rng(0)
    rows = [
        (f"s{e}", f"u{u}", e == u % 2, round(float(rng.normal(4.0 * (e == u % 2))), 3))
        for e in range(3)
        for u in range(20)
    ]
    frame = pl.DataFrame(rows, schema=["enroll", "test", "target", "score"], orient="row")
    Scores(frame).save(tmp_path / "told.parquet")
    found = json.loads(run(tmp_path / "told.parquet", "--json").stdout)["files"][0]
    eer = next(f for f in found["findings"] if f["metric"] == "eer")
    assert (eer["n"], found["notes"]) == (2, [])
    # a deal leaves 0, 1 or 2 of the two tested speakers their own identity: chance is far below that of shuffled labels
    labels_shuffled = json.loads(run(tmp_path / "told.parquet", "--json", "--seed", "2").stdout)
    other_seed = next(f for f in labels_shuffled["files"][0]["findings"] if f["metric"] == "eer")
    assert abs(eer["chance"] - other_seed["chance"]) < 0.08 and eer["chance"] < 0.42
    twice = frame.with_columns(target=pl.col("enroll").is_in(["s0", "s1"]) & (pl.col("test") == "u0"))
    Scores(twice).save(tmp_path / "twice.parquet")  # one recording, two enrolled speakers as targets
    assert json.loads(run(tmp_path / "twice.parquet", "--json").stdout)["files"][0]["notes"] == [ENROLLED_LEFT_OUT]


def test_the_table_names_definitions_tag_and_attainable_maximum(run: Command, files: dict[str, list[Any]]) -> None:
    done = run(*files["parquet"])
    assert done.code == 0
    for words in ("EER (ROCCH)", "EER (Kaldi compute-eer)", "min DCF (prior 0.01", "D_ECE", "log10(l)", "D_sys"):
        assert words in done.stdout
    assert "ZEBRA tag" in done.stdout
    assert "cannot exceed 2.37" in done.stdout
    assert run(*files["npz of two"]).stdout.count("note: no speakers in this file") == 1


def test_the_same_seed_gives_the_same_intervals(run: Command, files: dict[str, list[Any]]) -> None:
    first, second = run(*files["parquet"], "--json").stdout, run(*files["parquet"], "--json").stdout
    assert first == second
    assert run(*files["parquet"], "--json", "--seed", "2").stdout != first


def test_pictures_are_drawn_and_files_of_one_name_keep_apart(run: Command, tmp_path: Path) -> None:
    for folder in ("before", "after"):
        (tmp_path / folder).mkdir()
        Scores(trials(len(folder))).save(tmp_path / folder / "attack.parquet")
    out = tmp_path / "pictures"
    done = run(tmp_path / "before/attack.parquet", tmp_path / "after/attack.parquet", "--plot", out)
    assert done.code == 0
    names = {path.name for path in out.iterdir()}
    drawn = ("det", "ece", "scores-before-attack", "scores-after-attack")
    assert names == {f"{name}.{kind}" for name in drawn for kind in ("svg", "pdf")}
    for path in out.iterdir():
        assert path.read_bytes().startswith(b"%PDF-" if path.suffix == ".pdf" else b"<?xml")
        assert path.stat().st_size > 3000
    refused = run(tmp_path / "before/attack.parquet", "--plot", tmp_path / "det.png")
    assert refused.code == 2 and "det.png: pictures are drawn into a folder, as .svg and .pdf" in refused.stderr


@pytest.mark.shared
def test_golden_file_of_voiceprivacy_2020(run: Command, shared_folder: Path) -> None:
    golden = shared_folder / "golden" / "vpc2020"
    expected = json.loads((golden / "expected.json").read_text())["conditions"]["f_aa"]
    found = json.loads(run(golden / "scores_f_aa.npz", "--json").stdout)["files"][0]
    values = {f["metric"]: f["value"] for f in found["findings"]}
    assert 100 * values["eer"] == pytest.approx(expected["rocch_eer_pct"], rel=1e-5)
    for ours, theirs in (("cllr", "cllr"), ("min_cllr", "min_cllr"), ("d_ece", "d_ece"), ("dsys_reference", "dsys")):
        assert values[ours] == pytest.approx(expected[theirs], rel=1e-5)
    assert found["tag"] == expected["tag"]


GOOD = "s0 u0 1.5 target\ns0 u1 0.5 nontarget\ns1 u0 0.1 nontarget\n"
BAD_TEXTS = {
    "": "the file is empty",
    "\n\n": "the file is empty",
    "s0 u0 1.5\ns0 u1 0.5\n": "does not say which trials are targets; give the trials file with --key",
    GOOD + "s1 u1 nan nontarget\n": "1 scores are no finite numbers (first: 'nan' in trial 4)",
    GOOD + "s1 u1 inf nontarget\n": "1 scores are no finite numbers",
    GOOD + "s1 u1 high nontarget\n": "(first: 'high' in trial 4)",
    GOOD + "s1 u1 0.5 maybe\n": "'target' or 'nontarget', not 'maybe' (trial 4)",
    GOOD + "s0 u1 0.5 nontarget\n": "a trial must stand once; 2 lines repeat one (first: 's0 u1')",
    GOOD + "s1 u1 0.5\n": "every line must have 4 columns as the first one; line 4 has 3",
    "s0 u0 1.5 target\n": "there are no nontarget trials",
    "1.5 nontarget\n": "there are no target trials",
    "1\n2\n": "each line must be 'enroll test score'",
    "a b c d e\n": "each line must be 'enroll test score'",
}


@pytest.mark.parametrize(("text", "message"), BAD_TEXTS.items())
def test_a_bad_text_file_is_one_clear_line(run: Command, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    done = run(path)
    assert done.code == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"personare: {path}: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def bad_arrays(folder: Path) -> dict[str, Path]:
    """Arrays that are no scores, by the words that must be said about them."""
    made = {}
    for i, (message, arrays) in enumerate(
        {
            "there are no target trials": {"targets": np.zeros(0), "nontargets": np.ones(3)},
            "must be one list, not of shape [2, 2]": {"targets": np.ones((2, 2)), "nontargets": np.ones(3)},
            "arrays must be equally long, not score 3, target 2": {"score": np.ones(3), "target": np.ones(2, bool)},
            "needs a column 'score'": {"values": np.ones(3)},
            "no finite numbers": {"targets": np.array([np.nan]), "nontargets": np.ones(3)},
        }.items()
    ):
        made[message] = folder / f"{i}.npz"
        np.savez(made[message], **arrays)  # type: ignore[arg-type]
    made["not a NumPy .npz file"] = folder / "text.npz"
    made["not a NumPy .npz file"].write_text("hello")
    made["not a text file of scores"] = folder / "picture.txt"
    made["not a text file of scores"].write_bytes(bytes(range(256)))
    made["no such file"] = folder / "nowhere.txt"
    made["cannot be read"] = folder / "broken.parquet"
    made["cannot be read"].write_text("hello")
    return made


def test_bad_arrays_tables_and_places_are_one_clear_line_each(run: Command, tmp_path: Path) -> None:
    for message, path in bad_arrays(tmp_path).items():
        done = run(path)
        assert done.code == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("s0 u0 target\n", "trials (first: 's0 u1')"),
        ("s0 u0 target\ns0 u1 nontarget\ns0 u2 nontarget\n", "trials have no score (first: 's0 u2')"),
        ("s0 u0 target\ns0 u1 nontarget\ns0 u1 nontarget\n", "a trial must stand once"),
        ("s0 u0\ns0 u1\n", "each line must be 'enroll test target|nontarget'; it has 2 columns"),
        ("", "the file is empty"),
    ],
)
def test_a_key_that_does_not_fit_is_one_clear_line(run: Command, tmp_path: Path, key: str, message: str) -> None:
    scores, trials_file = tmp_path / "scores", tmp_path / "trials"
    scores.write_text("s0 u0 1.5\ns0 u1 0.5\n")
    trials_file.write_text(key)
    done = run(scores, "--key", trials_file)
    assert done.code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_key_that_is_not_needed_or_not_there_is_said(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "scores"
    path.write_text(GOOD)
    assert "leave --key out" in run(path, "--key", path).stderr
    path.write_text("s0 u0 1.5\ns0 u1 0.5\n")
    assert "nowhere: no such file" in run(path, "--key", tmp_path / "nowhere").stderr


def test_a_bad_file_does_not_stop_the_others(run: Command, tmp_path: Path, files: dict[str, list[Any]]) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("")
    done = run(bad, *files["parquet"], "--json")
    assert done.code == 2
    assert done.stderr == f"personare: {bad}: the file is empty\n"
    assert [Path(f["file"]).name for f in json.loads(done.stdout)["files"]] == ["table.parquet"]


def test_one_enrolled_speaker_has_numbers_without_intervals(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("s0 u0 1.5 target\ns0 u1 0.5 nontarget\n")
    done = run(path)
    assert done.code == 0
    assert "note: one enrolled speaker: no interval can be given" in done.stdout
    assert " % [-]" in done.stdout


@pytest.mark.parametrize("option", [("--prior", "1.5"), ("--prior", "0")])
def test_impossible_options_are_refused(run: Command, files: dict[str, list[Any]], option: tuple[str, str]) -> None:
    done = run(*files["parquet"], *option)
    assert done.code == 2
    assert done.stdout == ""
