from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from personare.cli.corpus import LAYOUT_HELP
from personare.core.audio import Audio, write
from personare.core.tables import Corpus
from personare.corpora import BUILTIN, read_corpus


@pytest.fixture
def run(personare: Command) -> Command:
    """Call ``personare corpus``."""
    return partial(personare, "corpus")


def test_info_prints_what_is_there(run: Command, small_corpus: Path) -> None:
    (small_corpus / "anna" / "broken.wav").write_bytes(b"RIFF but not really")
    frame = Corpus.load(small_corpus / "manifest.parquet").frame
    broken = frame.head(1).with_columns(utterance=frame["utterance"].head(1) + "x", audio=frame["audio"].head(1))
    broken = broken.with_columns(audio=broken["audio"].str.replace("anna-0", "broken"))
    Corpus(frame.vstack(broken)).save(small_corpus / "manifest.parquet")
    done = run("info", small_corpus)
    assert (done.code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == (
        f"{small_corpus}: layout manifest (manifest.parquet with the columns utterance, speaker, audio, gender, text)"
    )
    facts = dict(line.strip().split("  ", 1) for line in lines[1:10])
    assert {name: value.strip() for name, value in facts.items()} == {
        "speakers": "4 (f 2, m 2)",
        "such as": "anna (5), bela (4), cora (4)",
        "utterances": "17 in 17 files",
        "hours": "0.00 (from headers)",
        "per speaker": "4 least, 4 median, 5 most",
        "transcripts": "17 of 17 utterances (51 words)",
        "languages": "not given (--language auto identifies some)",
        "rates": "16,000 Hz: 16",
        "channels": "1: 16",
    }
    assert lines[-4:-1] == ["utterances per speaker (speakers)", f"  4  {'█' * 40} 3", f"  5  {'█' * 14} 1"]
    assert lines[-1].startswith("problem: audio: 1 audio file cannot be read (first: ")
    assert "broken.wav: not audio that libsndfile" in lines[-1]


def test_info_as_json(run: Command, small_corpus: Path) -> None:
    (small_corpus / "anna" / "anna-0.wav").unlink()
    done = run("info", small_corpus, "--json")
    facts = json.loads(done.stdout)
    assert (facts["layout"], facts["speakers"], facts["utterances"]) == ("manifest", 4, 15)
    assert facts["hours"] == pytest.approx(15 * 0.8 / 3600)
    assert facts["rates_hz"] == {"16000": 15}
    assert [(p["kind"], p["count"]) for p in facts["problems"]] == [("missing-audio", 1)]


def test_without_probing_hours_are_unknown(run: Command, small_corpus: Path) -> None:
    facts = json.loads(run("info", small_corpus, "--no-probe", "--json").stdout)
    assert (facts["hours"], facts["hours_from"], facts["rates_hz"]) == (None, "unknown", {})
    assert "unknown without reading headers" in run("info", small_corpus, "--no-probe").stdout


def test_a_mistake_is_one_line(run: Command, tmp_path: Path) -> None:
    for words, line in [
        (("info", tmp_path / "gone"), "no such file or folder"),
        (("info", tmp_path), "no known layout; looked for"),
        (("info", tmp_path, "--layout", "kladi"), "no layout 'kladi'; did you mean 'kaldi'?"),
        (("convert", tmp_path, tmp_path / "x", "--to", "kaldy"), "no layout 'kaldy' to write; did you mean 'kaldi'?"),
    ]:
        done = run(*words)
        assert done.code == 2
        assert done.stderr.startswith("personare: ") and line in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert done.stdout == ""


def test_convert_and_back(run: Command, small_corpus: Path, tmp_path: Path) -> None:
    assert run("convert", small_corpus, tmp_path / "kaldi", "--to", "kaldi").code == 0
    done = run("convert", tmp_path / "kaldi", tmp_path / "lists", "--to", "parquet")
    assert done.stdout == f"{tmp_path}/kaldi (kaldi) -> {tmp_path}/lists (parquet): 4 speakers, 16 utterances\n"
    original = read_corpus(small_corpus).corpus.frame
    back = read_corpus(tmp_path / "lists").corpus.frame.select(original.columns)
    assert back.sort("utterance").equals(original.sort("utterance"))


def test_convert_keeps_trials(run: Command, tmp_path: Path) -> None:
    source = tmp_path / "data"
    write(source / "u1.wav", Audio(np.full(1600, 0.1, np.float32), 16_000))
    (source / "wav.scp").write_text("u1 u1.wav\n")
    (source / "utt2spk").write_text("u1 a\n")
    (source / "trials").write_text("a u1 target\n")
    assert run("convert", source, tmp_path / "lists", "--to", "parquet").code == 0
    trials = read_corpus(tmp_path / "lists").trials
    assert trials is not None and trials.frame.rows() == [("a", "u1", True)]


def test_convert_overwrites_nothing(run: Command, small_corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").touch()
    done = run("convert", small_corpus, tmp_path / "full", "--to", "parquet")
    assert done.code == 2
    assert done.stderr == f"personare: {tmp_path}/full: exists and is not an empty folder; name a new one\n"
    assert os.listdir(tmp_path / "full") == ["precious"]  # noqa: PTH208 - names are what is compared


def test_the_help_names_every_layout() -> None:
    assert all(name in LAYOUT_HELP for name in BUILTIN)


@pytest.mark.parametrize("command", ["info", "convert"])
def test_help_shows_examples(run: Command, command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert f"personare corpus {command} " in done.stdout
