"""A corpus that is read in parts of a few rows is anonymized to the same bytes as one that is in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import personare as pn
from conftest import hum
from personare.cli import app
from personare.core import pieces
from personare.core.audio import Audio, write
from personare.core.corpus_parts import CorpusParts
from personare.core.errors import OutputError
from personare.core.tables import Corpus
from personare.corpora import read_corpus, read_in_parts
from personare.engine import Serial
from personare.pipeline.jobs import worktable
from personare.pipeline.jobs.anonymize import anonymize, refuse_names
from personare.pipeline.jobs.corpus_facts import people_of, speech_problems
from personare.pipeline.system import System
from pipeline.test_anonymize import content

SYSTEM = System("mcadams", {"alpha": [0.6, 0.9]})


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "ROWS", 3)
    monkeypatch.setattr(pieces, "_SPREAD", 2)
    monkeypatch.setattr(worktable, "_ROWS", 2)


def write_table(folder: Path, rows: list[dict[str, Any]]) -> Path:
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(folder / "manifest.parquet")
    return folder


def calls(folder: Path) -> Path:
    """Four calls of two people, their rows far from each other in the table, and recordings of one person between."""
    rows: list[dict[str, Any]] = []
    for n in range(4):
        sounds = [Audio(np.resize(hum(10 * n + c, duration_s=0.3).samples, 4800), 16_000) for c in (1, 2)]
        write(folder / f"call{n}.wav", sounds)
        write(folder / f"alone{n}.wav", hum(n, duration_s=0.2))
    for c in (2, 1):
        for n in range(4):
            rows.append({"utterance": f"call{n}/{c}", "speaker": f"p{n}{c}", "audio": f"call{n}.wav"})
            rows[-1] |= {"person_channel": c, "text": f"{n} {c}", "gender": "fm"[c - 1]}
            alone = {"utterance": f"alone{n}-{c}", "speaker": f"p{n}1", "audio": f"alone{n}.wav"}
            rows.append(alone | {"person_channel": None, "text": "alone", "gender": None})
    return write_table(folder, rows)


def segments(folder: Path) -> Path:
    write(folder / "long.wav", hum(1, duration_s=2.0))
    times = [{"start_s": 0.2 * n, "end_s": 0.2 * n + 0.2} for n in range(8)]
    names = [{"utterance": f"u{n}", "speaker": f"s{n % 3}", "audio": "long.wav"} for n in range(8)]
    return write_table(folder, [{**name, **time} for name, time in zip(names, times, strict=True)])


@pytest.mark.parametrize("how", [{}, {"names": "keep"}, {"text": False, "shard": "1/2"}])
@pytest.mark.parametrize("made", [calls, segments])
def test_parts_end_with_the_bytes_of_the_whole(made: Any, how: dict[str, Any], tmp_path: Path) -> None:
    source = made(tmp_path / "in")
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
    options = {"engine": Serial(), "key_file": tmp_path / "key", **how}
    corpus = read_corpus(source, person_channels=True).corpus
    summary = anonymize(corpus, tmp_path / "whole" / "out", SYSTEM, **options)
    with read_in_parts(source) as reading:
        assert len(list(reading.corpus.frames())) > 2
        again = anonymize(reading.corpus, tmp_path / "parts" / "out", SYSTEM, **options)
    assert summary.done == again.done > 2 and not again.failed
    assert content(tmp_path / "whole" / "out") == content(tmp_path / "parts" / "out")


def test_the_command_and_the_library_read_parts(tmp_path: Path) -> None:
    source, key = calls(tmp_path / "in"), tmp_path / "key"
    corpus = read_corpus(source, person_channels=True).corpus
    anonymize(corpus, tmp_path / "whole", SYSTEM, engine=Serial(), key_file=key)
    read: list[object] = []

    def noting(corpus: Corpus | CorpusParts, *words: Any, **how: Any) -> Any:
        read.append(corpus)
        return anonymize(corpus, *words, **how)

    with mock.patch("personare.pipeline.jobs.anonymize.anonymize", noting):
        parameters = {"alpha": [0.6, 0.9]}
        pn.anonymize_corpus(source, tmp_path / "library", method="mcadams", parameters=parameters, key=key)
        words = ["--method", "mcadams", "--set", "alpha=[0.6, 0.9]", "--key", str(key)]
        told = CliRunner().invoke(app, ["anonymize", str(source), str(tmp_path / "command"), *words])
    assert told.exit_code == 0, told.output
    assert "manifest, 8 speakers, 16 utterances, such as p01 (3), p11 (3), p21 (3)" in told.stderr
    assert all(isinstance(one, CorpusParts) for one in read) and len(read) == 2
    for name in ("library", "command"):
        assert content(tmp_path / name) == content(tmp_path / "whole")


def keep(folder: Path, *ids: tuple[str, str]) -> list[str]:
    """Say what is told of ids that are kept as names, read whole and in parts."""
    rows = []
    for n, (speaker, utterance) in enumerate(ids):
        (folder / f"{n}.wav").touch()
        rows.append({"utterance": utterance, "speaker": speaker, "audio": f"{n}.wav", "person_channel": 1})
    write_table(folder, rows)
    errors = []
    with read_in_parts(folder) as reading:
        for corpus in (reading.corpus.whole(), reading.corpus):
            with pytest.raises(OutputError) as caught:
                refuse_names(corpus, "wav")
            errors.append(str(caught.value))
    return errors


def test_ids_that_would_share_a_file_are_told_alike(tmp_path: Path) -> None:
    others = [("s", f"z{n}") for n in range(6)]
    shared = keep(tmp_path, ("b", "B"), *others, ("x", "y"), ("B", "b"), ("X", "Y"), ("b", "β"))
    below = keep(tmp_path, *others, ("a", "x.wav/y"), ("a", "x"), ("a", "x.wav/z"))
    expected = "'B' of 'b' and 'b' of 'B' would be written to one file; rename one, or leave out --names keep"
    assert shared == [expected, expected]
    assert len(set(below)) == 1 and below[0].startswith("'x.wav/y' would be written below 'audio/a/x.wav', which is")


def test_people_and_their_speech_are_counted_alike(tmp_path: Path) -> None:
    rows = []
    for n in range(20):
        who = "ab"[n % 2] if n < 8 else f"p{n}"
        (tmp_path / f"{n}.wav").write_bytes(b"x" * (50_000 if n < 8 and n % 2 else 10))
        rows += [{"utterance": f"{n}-{k}", "speaker": who, "audio": f"{n}.wav"} for k in range(1 + n % 3)]
    write_table(tmp_path, rows)
    with read_in_parts(tmp_path) as reading:
        for question in (people_of, speech_problems):
            assert question(reading.corpus) == question(reading.corpus.whole())
        people, (problem,) = people_of(reading.corpus), speech_problems(reading.corpus)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["speaker"]] = counts.get(row["speaker"], 0) + 1
    expected = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:3]
    assert people.count == len(counts) and [(one.speaker, one.utterances) for one in people.examples] == expected
    assert problem.names == ("b",)
