"""personare link and single-out: tables, JSON, plots, comparisons; one clear line for every bad file or wish."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from personare.cli import app
from personare.core.embedding_files import read_embeddings, write_embeddings
from personare.core.errors import PersonareError
from personare.core.tables import Embeddings


def vectors(path: Path, *, people: int, each: int, noise: float, seed: int) -> Path:
    voice = np.random.default_rng(99).standard_normal((people, 16))
    heard = np.repeat(voice, each, axis=0) + noise * np.random.default_rng(seed).standard_normal((people * each, 16))
    ids = tuple(f"{path.stem}-{i}" for i in range(len(heard)))
    speakers = tuple(f"s{i:02d}" for i in range(people) for _ in range(each))
    write_embeddings(Embeddings(ids, speakers, heard.astype(np.float32)), path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("vectors")
    vectors(place / "test.npz", people=30, each=12, noise=1.0, seed=1)
    vectors(place / "enroll.parquet", people=30, each=8, noise=1.0, seed=2)
    vectors(place / "noisy.npz", people=30, each=12, noise=9.0, seed=3)
    return place


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_link_prints_the_curve_and_the_guesser(folder: Path) -> None:
    said = run("link", folder / "test.npz", folder / "enroll.parquet", "--lengths", "1,3", "--who", "2")
    assert said.count("exposed") == 4 and "5.0 %" in said and "3.3 %" in said
    assert "L = 1, N = 30: greatest risk s" in said


def test_link_json_holds_every_number_and_every_speaker(folder: Path) -> None:
    said = run("link", folder / "test.npz", folder / "enroll.parquet", "--lengths", "1,3,30", "--json")
    found = json.loads(said)
    assert [(f["conditions"]["L"], f["conditions"]["N"]) for f in found["findings"]] == [
        (1, 20), (1, 30), (3, 20), (3, 30)
    ]  # fmt: skip
    for row in found["findings"]:
        assert row["low"] <= row["value"] <= row["high"] and row["chance"] == 1 / row["conditions"]["N"]
    assert len(found["risks"][0]["speakers"]) == 30
    assert found["findings"][1]["value"] == pytest.approx(np.mean(list(found["risks"][0]["speakers"].values())))
    assert any("L = 30: not measured" in note for note in found["notes"])


def test_two_attackers_one_plot_and_a_forecast(folder: Path, tmp_path: Path) -> None:
    more = f"anonymized={folder / 'noisy.npz'},{folder / 'enroll.parquet'}"
    options = ["--name", "original", "--also", more, "--lengths", "1", "--population", "1e4", "--plot", tmp_path]
    said = run("link", folder / "test.npz", folder / "enroll.parquet", *options)
    assert "original" in said and "anonymized" in said and "10,000" in said and "unchecked forecast" in said
    assert (tmp_path / "linkability.pdf").read_bytes()[:5] == b"%PDF-" and (tmp_path / "linkability.svg").exists()


def test_the_papers_sampling(folder: Path) -> None:
    said = run("link", folder / "test.npz", folder / "enroll.parquet", "--lengths", "1", "--paper", "--json")
    assert json.loads(said)["findings"][0]["n"] == 30


def test_single_out_with_control_and_plot(folder: Path, tmp_path: Path) -> None:
    options = ["--lengths", "1", "--sizes", "10", "--predicates", "15", "--control", "--plot", tmp_path]
    said = run("single-out", folder / "test.npz", folder / "enroll.parquet", *options)
    assert "exposed" in said and "(control): the data add risk" in said
    assert "exp(-1), the paper" in (tmp_path / "singling-out.svg").read_text(encoding="utf-8")


def test_single_out_repeats_itself_and_the_seed_matters(folder: Path) -> None:
    words = ["single-out", folder / "test.npz", folder / "enroll.parquet", "--lengths", "1,3", "--json"]
    one, two, other = run(*words), run(*words), run(*words, "--seed", 2)
    assert one == two != other
    found = json.loads(one)
    assert found["findings"][0]["chance"] == pytest.approx(0.357, abs=0.005)
    assert {f["conditions"]["L"] for f in found["findings"]} == {1, 3}


def bad_files(folder: Path, place: Path) -> dict[str, tuple[list[object], str]]:
    good, enroll = folder / "test.npz", folder / "enroll.parquet"
    np.savez(place / "nan.npz", vectors=np.full((2, 16), np.nan), speakers=["s00", "s01"])
    np.savez(place / "narrow.npz", vectors=np.ones((2, 3)), speakers=["s00", "s01"])
    np.savez(place / "strangers.npz", vectors=np.ones((2, 16)), speakers=["x", "y"])
    np.savez(place / "keyless.npz", vectors=np.ones((2, 16)))
    np.savez(place / "empty.npz", vectors=np.ones((0, 16)), speakers=[])
    return {
        "missing file": ([place / "none.npz", enroll], "no such file"),
        "NaN": ([place / "nan.npz", enroll], "NaN or infinite"),
        "dimension": ([place / "narrow.npz", enroll], "3 dimensions, enrolment vectors 16"),
        "nobody enrolled": ([place / "strangers.npz", enroll], "needs a speaker, tested and enrolled"),
        "missing key": ([place / "keyless.npz", enroll], "needs the array 'speakers'"),
        "empty": ([place / "empty.npz", enroll], "holds no vectors"),
        "same utterances": ([good, good], "must not share utterances; 360 utterances are in both"),
        "lengths": ([good, enroll, "--lengths", "1,x"], "'x' is no whole number"),
        "sizes": ([good, enroll, "--lengths", "1", "--sizes", "31"], "N = 31 is impossible, 30 speakers are enrolled"),
        "two names": ([good, enroll, "--also", f"attacker={good},{enroll}"], "two attackers are called 'attacker'"),
        "also": ([good, enroll, "--also", "nonsense"], "write NAME=FILE,FILE"),
        "length": ([good, enroll, "--lengths", "40"], "L = 40 needs"),
    }


def test_bad_files_and_wishes_are_one_line_each(folder: Path, tmp_path: Path) -> None:
    for words, says in bad_files(folder, tmp_path).values():
        with pytest.raises(PersonareError) as caught:
            run("link", *words)
        assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["link", "single-out", "ranks"])
def test_every_command_takes_the_tested_file_first_and_explains_the_other_order(folder: Path, command: str) -> None:
    test, enroll = folder / "test.npz", folder / "enroll.parquet"
    assert run(command, test, enroll, *(() if command == "ranks" else ("--lengths", "1")))
    for words in ((enroll, test), (test, enroll, "--also", f"other={enroll},{test}")):
        with pytest.raises(PersonareError, match=r"come first, then the enrolment.* write test\.npz enroll\.parquet"):
            run(command, *words)


def test_single_out_tests_the_first_file_against_the_voices_of_the_second(folder: Path, tmp_path: Path) -> None:
    """Only 10 of the 30 tested speakers are enrolled: so many voices are tried, and all 30 people are the gallery."""
    enroll = read_embeddings(folder / "enroll.parquet")
    few = [i for i, name in enumerate(enroll.speakers) if name < "s10"]
    own = Embeddings(tuple(enroll.ids[i] for i in few), tuple(enroll.speakers[i] for i in few), enroll.vectors[few])
    write_embeddings(own, tmp_path / "ten.npz")
    found = json.loads(run("single-out", folder / "test.npz", tmp_path / "ten.npz", "--lengths", "1", "--json"))
    assert {row["conditions"]["N"] for row in found["findings"]} == {20, 30}


def test_the_door_shows_one_line_and_exit_2(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "personare", "single-out", tmp_path / "a.npz", tmp_path / "b.npz"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("personare: ") and done.stderr.count("\n") == 1


@pytest.mark.shared
def test_golden_x_vectors_through_the_door(shared_folder: Path) -> None:
    place = shared_folder / "golden" / "vpc2020"
    expected = json.loads((place / "expected.json").read_text())["linkability_counts"]["m_aa"]
    words = ["link", place / "xvectors_trial_m_anon.npz", place / "xvectors_enroll_anon.npz"]
    found = json.loads(run(*words, "--lengths", "1", "--sizes", "29", "--json"))
    assert found["findings"][0]["value"] == pytest.approx(expected[0] / expected[1], rel=1e-12)
    assert any("are not enrolled and cannot be linked" in note for note in found["notes"])


def test_vectors_from_a_memory_map_give_the_same_numbers(folder: Path, tmp_path: Path) -> None:
    for name in ("test.npz", "enroll.parquet"):
        known = read_embeddings(folder / name)
        np.save(tmp_path / f"{Path(name).stem}.npy", known.vectors)
        names = pl.DataFrame({"utterance": known.ids, "speaker": known.speakers})
        names.write_csv(tmp_path / f"{Path(name).stem}.tsv", separator="\t")
    words = ("--lengths", "1,3", "--json")
    before = run("link", folder / "test.npz", folder / "enroll.parquet", *words)
    assert run("link", tmp_path / "test.npy", tmp_path / "enroll.npy", *words) == before
    assert isinstance(read_embeddings(tmp_path / "test.npy").vectors.base, np.memmap | np.ndarray)


def test_rows_of_a_memory_map_without_names_are_people(tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", np.eye(3, dtype=np.float32))
    assert read_embeddings(tmp_path / "e.npy").speakers == ("000000000", "000000001", "000000002")
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY nothing")
    with pytest.raises(PersonareError, match="cannot be read as npy"):
        read_embeddings(tmp_path / "bad.npy")


def test_ranks_prints_both_percentiles_and_the_guesser(folder: Path) -> None:
    said = run("ranks", folder / "test.npz", folder / "enroll.parquet", "--tests", "20")
    assert "Median rank, linkability (USC)" in said
    told = json.loads(run("ranks", folder / "test.npz", folder / "enroll.parquet", "--tests", "20", "--json"))
    assert told["findings"][0]["chance"] == pytest.approx(15.5, abs=1.0), "the middle of 30 people, as dealt here"
    rows = json.loads(run("ranks", folder / "noisy.npz", folder / "enroll.parquet", "--original", "--json"))["findings"]
    assert [row["metric"] for row in rows] == ["rank_single_p50", "rank_single_p1"]
    assert rows[0]["value"] > 5


def test_ranks_of_people_who_are_not_enrolled_is_one_line(folder: Path, tmp_path: Path) -> None:
    heard = read_embeddings(folder / "test.npz")
    others = Embeddings(heard.ids, tuple(f"token-{name}" for name in heard.speakers), heard.vectors)
    write_embeddings(others, tmp_path / "others.npz")
    with pytest.raises(PersonareError, match="no test speaker is enrolled; test and enrolment must share speakers"):
        run("ranks", tmp_path / "others.npz", folder / "enroll.parquet")


def test_single_out_in_two_processes_prints_the_same(folder: Path) -> None:
    words = ("single-out", folder / "test.npz", folder / "enroll.parquet", "--lengths", "1,2", "--json")
    assert run(*words, "--jobs", "2") == run(*words)
