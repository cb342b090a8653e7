"""The column ``language``: read from every layout that has it, brought to codes, written again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import personare as pn
from conftest import Command
from personare.core.audio import Audio, write
from personare.core.errors import TableError, UnknownNameError
from personare.core.language_codes import checked_language
from personare.core.tables import Corpus
from personare.corpora import read_corpus, writer_named


@pytest.fixture
def sounds(tmp_path: Path) -> Path:
    for name in ("a1", "b1"):
        write(tmp_path / f"{name}.wav", Audio(np.zeros(1600, np.float32), 16_000))
    return tmp_path


def languages(path: Path) -> dict[str, str | None]:
    return dict(read_corpus(path).corpus.frame.select("utterance", "language").iter_rows())


def test_manifests_write_languages_in_many_ways(sounds: Path) -> None:
    rows = ["utterance\tspeaker\taudio\tlanguage", "a1\tanna\ta1.wav\tde-DE", "b1\tbob\tb1.wav\tEnglish"]
    (sounds / "manifest.tsv").write_text("\n".join(rows) + "\n")
    assert languages(sounds) == {"a1": "de", "b1": "en"}
    assert pn.read_corpus(sounds).languages == ["de", "en"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_hub_tables(sounds: Path, kind: str) -> None:
    frame = pl.DataFrame({"file_name": ["a1.wav", "b1.wav"], "speaker_id": ["anna", "bob"], "lang": ["fr", None]})
    place = sounds / f"metadata.{kind}"
    if kind == "jsonl":
        place.write_text("".join(json.dumps(row) + "\n" for row in frame.iter_rows(named=True)))
    else:
        getattr(frame, f"write_{kind}")(place)
    assert languages(sounds) == {"a1": "fr", "b1": None}


def test_kaldi_reads_and_writes_utt2lang(sounds: Path) -> None:
    for name, lines in {
        "wav.scp": "a1 a1.wav\nb1 b1.wav\n",
        "utt2spk": "a1 anna\nb1 bob\n",
        "utt2lang": "a1 deu\nb1 spa\n",
    }.items():
        (sounds / name).write_text(lines)
    assert languages(sounds) == {"a1": "de", "b1": "es"}
    writer_named("kaldi")(read_corpus(sounds).corpus, sounds / "again")
    assert (sounds / "again" / "utt2lang").read_text() == "a1 de\nb1 es\n"


def test_common_voice_locales(tmp_path: Path) -> None:
    write(tmp_path / "clips" / "c1.wav", Audio(np.zeros(1600, np.float32), 16_000))
    head, row = "client_id\tpath\tsentence\tlocale", "x\tc1.wav\tOlá.\tpt"
    (tmp_path / "validated.tsv").write_text(f"{head}\n{row}\n")
    assert languages(tmp_path) == {"c1": "pt"}


def test_lhotse_supervisions(sounds: Path) -> None:
    recording = {"id": "r", "sources": [{"type": "file", "source": "a1.wav"}], "duration": 0.1}
    spoken = {"id": "a1", "recording_id": "r", "start": 0, "duration": 0.1, "speaker": "anna", "language": "Italian"}
    (sounds / "recordings.jsonl").write_text(json.dumps(recording) + "\n")
    (sounds / "supervisions.jsonl").write_text(json.dumps(spoken) + "\n")
    assert languages(sounds) == {"a1": "it"}


def test_what_is_no_language_is_noted_and_left_empty(sounds: Path) -> None:
    rows = ["utterance\tspeaker\taudio\tlanguage", "a1\tanna\ta1.wav\tGermnish", "b1\tbob\tb1.wav\tund"]
    (sounds / "manifest.tsv").write_text("\n".join(rows) + "\n")
    reading = read_corpus(sounds)
    assert "language" not in reading.corpus.frame.columns
    assert reading.notes == ("language 'Germnish' (1 row) is no language code and is left empty",)


def test_a_corpus_refuses_what_is_no_code() -> None:
    with pytest.raises(TableError, match="language 'German' is no code"):
        Corpus(pl.DataFrame({"utterance": ["u"], "speaker": ["s"], "audio": ["a.wav"], "language": ["German"]}))


def test_a_typed_language_is_checked_with_a_suggestion() -> None:
    assert checked_language("pt-BR") == "pt" and checked_language("AUTO") == "auto"
    with pytest.raises(UnknownNameError, match="no language 'germn'; did you mean 'de' \\(German\\)"):
        checked_language("germn")
    with pytest.raises(UnknownNameError, match="no language 'xx'"):
        checked_language("xx")


def test_corpus_info_prints_languages(sounds: Path, personare: Command) -> None:
    rows = ["utterance\tspeaker\taudio\tlanguage", "a1\tanna\ta1.wav\tde", "b1\tbob\tb1.wav\t"]
    (sounds / "manifest.tsv").write_text("\n".join(rows) + "\n")
    done = personare("corpus", "info", sounds, "--no-probe")
    assert "German (de) 1, not given 1" in done.stdout
    stated = personare("corpus", "info", sounds, "--no-probe", "--json")
    assert json.loads(stated.stdout)["languages"] == {"de": 1, "not given": 1}
    wrong = personare("corpus", "info", sounds, "--language", "germn")
    assert wrong.code == 2 and wrong.stderr.count("\n") == 1
