"""What a benchmark is asked for and does not have is one line with the nearest name, not a traceback."""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
import pytest

from benchmark_modules import benchmark
from conftest import hum
from personare.core.audio import write
from personare.core.errors import TableError, UnknownNameError


def test_only_names_what_there_is() -> None:
    methods = benchmark("methods")
    assert methods.picked("b;a", {"a": 1, "b": 2, "c": 3}) == {"b": 2, "a": 1}
    with pytest.raises(UnknownNameError, match="--only: no 'wrold'; did you mean 'world'"):
        methods.picked("mcadams;wrold", {"mcadams": 1, "world": 2})


def test_what_is_refused_is_one_line_and_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    def refused() -> None:
        raise TableError("no part 'train'")

    with pytest.raises(SystemExit) as ended:
        benchmark("methods").ended_by_mistakes(refused)
    assert ended.value.code == 2 and capsys.readouterr().err == "error: no part 'train'\n"


def test_a_corpus_without_parts_is_attacked_whole_and_others_are_learnt_from(tmp_path: Path) -> None:
    for name, people in (("attacked", (1, 2)), ("others", (3, 4, 5))):
        (tmp_path / name).mkdir()
        for person in people:
            write(tmp_path / name / f"{person}.wav", hum(person, duration_s=0.5))
        rows = {"utterance": [f"u{p}" for p in people], "speaker": [f"p{p}" for p in people]}
        frame = pl.DataFrame({**rows, "audio": [f"{p}.wav" for p in people]})
        frame.write_csv(tmp_path / name / "manifest.tsv", separator="\t")
    words = argparse.Namespace(
        corpus=tmp_path / "attacked", corpora="", train=None, train_utterances=3, apart=False, speakers=9, utterances=8
    )
    module = benchmark("attack_table")
    with pytest.raises(TableError, match="--train"):
        module.corpora_of(words, tmp_path / "lists")
    words.train = tmp_path / "others"
    (choice,) = module.corpora_of(words, tmp_path / "lists").values()
    assert sorted(pl.read_parquet(choice.path)["speaker"]) == ["p1", "p2"]
    assert sorted(pl.read_parquet(choice.train_path)["speaker"]) == ["p3", "p4", "p5"]


@pytest.mark.parametrize("written", [None, "utterance\tspeaker\n1\tanna\n"], ids=["no manifest", "no corpus"])
def test_languages_refuses_a_wrong_folder_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str | None
) -> None:
    if written:
        (tmp_path / "manifest.tsv").write_text(written)
    monkeypatch.setattr("sys.argv", ["languages.py", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        benchmark("languages").main()
    line = str(ended.value.code)
    assert line.startswith("languages.py: ") and "\n" not in line and len(line) > len("languages.py: ") + 5


def test_languages_mixes_english_german_and_english(tmp_path: Path) -> None:
    paths = []
    for number in range(6):
        paths.append(tmp_path / f"{number}.wav")
        write(paths[-1], hum(number, duration_s=1.0))
    mixed = benchmark("languages").mixes(paths[:2], paths[2:], count=1, pause_s=0.5)
    ((sound, begin_s, end_s),) = mixed
    assert (begin_s, end_s, sound.duration_s) == (1.5, 7.5, 8.5)
