"""What a method that transcribes heard reaches everybody: manifest, card, JSON, lines, the private list, the plan."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import polars as pl
import pytest

import personare as pn
from conftest import Command
from personare.core.audio import read_mono, write
from personare.core.errors import RejectedSpeechError
from personare.core.spoken import SpeechNotes, UncertainRecording
from personare.core.tables import Corpus
from personare.pipeline.jobs.anonymize import private_folder
from personare.pipeline.jobs.anonymize_journal import read_results
from personare.pipeline.jobs.least_certain import MOST_LISTED, heard_in, write_least_certain
from personare.pipeline.system import CARD
from pipeline.test_speaker_survey import sound

METHOD = ("--method", "pipeline.plugins:Speaking")
NOTED = ["language", "language_confidence", "word_confidence", "omitted_s"]
# by its peak, a recording is English, English of which half is omitted, no speech, or rejected
PEAKS = {"sure": 0.8, "unsure": 0.3, "partly": 0.2, "music": 0.1, "german": 0.9}


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """A folder in which everything that can be heard is heard."""
    for name, peak in PEAKS.items():
        write(tmp_path / "in" / "anna" / f"{name}.wav", sound(peak, duration_s=2.0))
    return tmp_path / "in"


def anonymized(personare: Command, source: Path, target: Path, *words: str) -> dict[str, object]:
    done = personare("anonymize", source, target, *METHOD, "--json", *words)
    assert done.code == 1, done.stderr
    summary: dict[str, object] = json.loads(done.stdout)
    return summary


def test_rejected_speech_is_a_failure_with_its_reason(recordings: Path, tmp_path: Path, personare: Command) -> None:
    summary = anonymized(personare, recordings, tmp_path / "out")
    assert (summary["done"], summary["failed"]) == (4, 1)
    assert summary["ledger"] | {"found": 5, "rejected": 1, "anonymized": 4, "failed": 0} == summary["ledger"]  # type: ignore[operator]
    head, row = (private_folder(tmp_path / "out") / "failures.tsv").read_text().splitlines()
    assert head == "utterance\toutcome\terror" and row == "anna/german\trejected\tthis sounds like German (de)"
    assert len(list((tmp_path / "out").rglob("*.flac"))) == 4
    told = personare("anonymize", recordings, tmp_path / "out", *METHOD)
    assert told.code == 1 and "this sounds like German (de)" in told.stderr
    assert "5 recordings found: 1 rejected, 4 anonymized" in told.stdout


def test_a_language_that_is_given_overrides_and_is_no_matter_to_other_methods(
    recordings: Path, tmp_path: Path, personare: Command
) -> None:
    done = personare("anonymize", recordings, tmp_path / "out", *METHOD, "--language", "en", "--json")
    assert done.code == 0 and json.loads(done.stdout)["done"] == 5, done.stderr
    card = json.loads((tmp_path / "out" / CARD).read_text())
    assert card["parameters"] == {"language": "en"}, "whoever gets the folder sees that it was not identified"
    for code in ("en", "de"):
        fast = personare("anonymize", recordings, tmp_path / code, "--strength", "fast", "--language", code)
        assert fast.code == 0, fast.stderr
    piper = ("--method", "cascade", "--set", "voice=piper")
    refused = personare("anonymize", recordings, tmp_path / "no", *piper, "--language", "de")
    assert refused.code == 2 and refused.stderr.count("\n") == 1
    assert "voice piper: language must be auto or one that it speaks (English (en)), not 'de'" in refused.stderr
    assert not (tmp_path / "no").exists()


def test_manifest_and_card_say_what_was_heard(recordings: Path, tmp_path: Path, personare: Command) -> None:
    anonymized(personare, recordings, tmp_path / "out", "--names", "keep")
    frame = Corpus.load(tmp_path / "out" / "manifest.parquet").frame.sort("utterance")
    assert [name for name in frame.columns if name in NOTED] == NOTED
    assert frame.select("utterance", *NOTED).rows() == [
        ("anna/music", "", 0.0, 0.0, 0.0),
        ("anna/partly", "en", 0.2, 0.5, 1.0),
        ("anna/sure", "en", 0.8, 0.5, 0.0),
        ("anna/unsure", "en", 0.3, 0.5, 0.0),
    ]
    card = json.loads((tmp_path / "out" / CARD).read_text())
    ledger = card["ledger"]
    assert (ledger["languages"], ledger["non_speech"], ledger["partly"]) == ({"en": 3}, 1, 1)
    with_silence = {row["utterance"]: row["audio"] for row in frame.iter_rows(named=True)}
    assert not read_mono(Path(with_silence["anna/music"])).samples.any()


def test_methods_that_do_not_transcribe_add_no_columns(recordings: Path, tmp_path: Path, personare: Command) -> None:
    assert personare("anonymize", recordings, tmp_path / "out", "--strength", "fast").code == 0
    frame = Corpus.load(tmp_path / "out" / "manifest.parquet").frame
    assert not set(NOTED) & set(frame.columns)


def test_summary_and_json_count_what_is_silent_omitted_and_longer(
    recordings: Path, tmp_path: Path, personare: Command
) -> None:
    speech = anonymized(personare, recordings, tmp_path / "out")["speech"]
    assert speech == {
        "source_s": 8.0,
        "result_s": 16.0,
        "languages": {"en": 3},
        "non_speech": 1,
        "partly": 1,
        "omitted_s": 1.0,
        "other_speaker": 0,
    }
    told = personare("anonymize", recordings, tmp_path / "out", *METHOD).stdout
    assert "Length: 8.0 s before, 16.0 s after (+100 %). 1.0 s of speech are omitted." in told
    assert "Languages: 3 en. 1 recording without speech is silent. Some speech of 1 recordings is omitted" in told
    assert str(private_folder(tmp_path / "out") / "least-certain.tsv") in told.replace("\n", "")


def test_what_was_heard_outlives_an_interruption(recordings: Path, tmp_path: Path, personare: Command) -> None:
    first = anonymized(personare, recordings, tmp_path / "out")
    again = anonymized(personare, recordings, tmp_path / "out")
    assert again["kept"] == 4 and again["speech"] == first["speech"]
    assert again["least_certain"] == first["least_certain"]
    noted = read_results(private_folder(tmp_path / "out")).filter(pl.col("notes").is_not_null())
    assert set(noted["lead"]) == {f"anna/{name}" for name in ("sure", "unsure", "partly", "music")} and set(
        noted["source_s"]
    ) == {2.0}


def test_the_least_certain_recordings_are_listed_privately_the_worst_first(
    recordings: Path, tmp_path: Path, personare: Command
) -> None:
    summary = anonymized(personare, recordings, tmp_path / "out")
    place = private_folder(tmp_path / "out") / "least-certain.tsv"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    head, *rows = [line.split("\t") for line in place.read_text().splitlines()]
    assert head == ["utterance", "result", *NOTED]
    worst_first = ["anna/partly", "anna/unsure", "anna/sure"]  # omitted speech, then the least sure
    assert [row[0] for row in rows] == worst_first
    assert [row[2:] for row in rows][:2] == [["en", "0.20", "0.50", "1.0"], ["en", "0.30", "0.50", "0.0"]]
    assert all((tmp_path / "out" / row[1]).is_file() for row in rows)
    assert [one["utterance"] for one in summary["least_certain"]] == worst_first  # type: ignore[attr-defined]
    names = {path.name for path in (tmp_path / "out").rglob("*")}
    assert "least-certain.tsv" not in names, "it names sources"


def test_the_list_is_short_and_independent_of_the_order() -> None:
    notes = [SpeechNotes("en", 1 - n / 1000, 1.0, 0.0, 3, 0.5) for n in range(500)]
    results = [(f"u{n:03d}", f"{n}.flac", 1.0, 2.0, one) for n, one in enumerate(notes)]
    summary, listed = heard_in(results)
    assert [one.utterance for one in listed] == [f"u{n}" for n in range(499, 499 - MOST_LISTED, -1)]
    assert heard_in(results[::-1])[1] == listed
    assert (summary.source_s, summary.result_s, summary.languages) == (500, 1000, {"en": 500})
    assert heard_in([("u", "u.flac", 1.0, 1.0, None)])[1] == (), "nothing was transcribed"


def test_a_list_of_nothing_is_no_file(tmp_path: Path) -> None:
    write_least_certain(tmp_path, [UncertainRecording("two\tnames", "a.flac", "en", 0.5, 0.5, 0.0)])
    place = tmp_path / "least-certain.tsv"
    assert place.read_text().splitlines()[1] == "two names\ta.flac\ten\t0.50\t0.50\t0.0"
    write_least_certain(tmp_path, [])
    assert not place.exists()


def test_a_dry_run_says_how_long_the_result_becomes(recordings: Path, tmp_path: Path, personare: Command) -> None:
    plan = personare("anonymize", recordings, tmp_path / "out", *METHOD, "--dry-run")
    assert plan.code == 0 and "(+100 %, by a sample)" in plan.stdout
    same = personare("anonymize", recordings, tmp_path / "out", "--strength", "fast", "--dry-run")
    assert "new length   the same" in same.stdout
    numbers = json.loads(personare("anonymize", recordings, tmp_path / "out", *METHOD, "--dry-run", "--json").stdout)
    assert numbers["length_factor"] == pytest.approx(2.0)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sure", "language en (80 %), 5 words (50 % sure)"),
        ("partly", "language en (20 %), 5 words (50 % sure); 1.0 s of speech are omitted, marked by a tone"),
        ("music", "no speech was heard: the result is silent"),
    ],
)
def test_one_recording_is_described(recordings: Path, tmp_path: Path, personare: Command, name: str, said: str) -> None:
    source = recordings / "anna" / f"{name}.wav"
    done = personare("anonymize", source, tmp_path / "out.wav", *METHOD)
    assert done.code == 0 and said in done.stdout.splitlines()
    assert f"{tmp_path / 'out.wav'}: 4.0 s (before: 2.0 s)" in done.stdout
    facts = json.loads(personare("anonymize", source, tmp_path / "two.wav", *METHOD, "--json").stdout)
    assert (facts["source_s"], facts["speech_s"]) == (2.0, 4.0)
    assert facts["notes"]["language"] == ("" if name == "music" else "en")


def test_one_rejected_recording_is_an_error_and_leaves_no_file(
    recordings: Path, tmp_path: Path, personare: Command
) -> None:
    source = recordings / "anna" / "german.wav"
    refused = personare("anonymize", source, tmp_path / "out.wav", *METHOD)
    assert refused.code == 2 and "this sounds like German (de)" in refused.stderr.splitlines()[-1]
    assert not (tmp_path / "out.wav").exists()
    with pytest.raises(RejectedSpeechError):
        pn.anonymize(source, method="pipeline.plugins:Speaking")
    assert pn.anonymize(source, method="pipeline.plugins:Speaking", language="en").samples.any()
