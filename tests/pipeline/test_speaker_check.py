"""Recordings with several speakers are reported before and after they are anonymized; unknown is said, not silence."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import soundfile

from conftest import hum
from personare.core import weights
from personare.core.audio import Audio, write
from personare.core.tables import Corpus
from personare.core.utterances import Utterance
from personare.pipeline.jobs import speaker_check
from personare.pipeline.jobs.speaker_check import channels_differ, check_corpus, check_file, check_utterance
from personare.pipeline.jobs.target import private_folder
from web.test_app_uploads import call


def test_calls_differ_and_stereo_does_not(tmp_path: Path) -> None:
    from personare.core.audio import read_channels

    call(tmp_path / "call.wav")
    assert channels_differ(read_channels(tmp_path / "call.wav"))
    sound = hum(1, duration_s=4.0)
    softer = Audio(sound.samples * np.float32(0.3), sound.rate_hz)
    silent = Audio(np.zeros_like(sound.samples), sound.rate_hz)
    noise = np.random.default_rng(1).normal(0, 1e-4, (2, len(sound.samples))).astype(np.float32)
    noisy = [Audio(one.samples + hiss, one.rate_hz) for one, hiss in zip((sound, softer), noise, strict=True)]
    for pair in ([sound, sound], [sound, softer], [sound, silent], noisy, [silent, silent], [sound]):
        assert not channels_differ(pair)


def test_a_sample_is_spread_and_stays_within_its_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = []
    for n in range(200):
        write(tmp_path / f"{n}.wav", hum(n, duration_s=0.1))
        rows.append((f"u{n}", f"anna{n}", str(tmp_path / f"{n}.wav")))
    corpus = Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio"], orient="row"))
    seen: list[str] = []
    monkeypatch.setattr(speaker_check, "several_speakers", lambda _: False)
    found = check_corpus(corpus, most_s=2.0, watch=lambda result: seen.append(result.item.utterance))
    assert found.checked == 20 and found.recordings == 200 and len(set(seen)) == 20
    assert {int(name[1:]) // 50 for name in seen} == {0, 1, 2, 3}
    assert "20 of 200 recordings were checked" in found.notes[0]
    assert check_corpus(corpus).notes == []


def write_steps(path: Path, *, minutes: int) -> Path:
    """Write a recording whose level rises with every minute: the sound tells where it was cut out."""
    with soundfile.SoundFile(path, "w", 8_000, 1) as file:
        for minute in range(minutes):
            file.write(np.full(60 * 8_000, (minute + 1) / 100, np.float32))
    return path


def test_a_long_recording_is_checked_over_its_whole_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Audio] = []

    def one_speaker(sound: Audio) -> bool:
        heard.append(sound)
        return False

    monkeypatch.setattr(speaker_check, "several_speakers", one_speaker)
    check_file(write_steps(tmp_path / "short.wav", minutes=10), each_channel=False)
    check_file(write_steps(tmp_path / "long.wav", minutes=30), each_channel=False)
    short, long = heard
    assert short.duration_s == 600.0, "ten minutes are checked whole"
    assert 300.0 <= long.duration_s <= 600.0
    assert {round(100 * level) for level in np.unique(long.samples)} == set(range(1, 31)), "some of every minute"


def test_the_check_holds_no_more_of_a_long_recording_than_of_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speaker_check, "several_speakers", lambda _: False)
    peaks = []
    for minutes in (10, 60):
        one = Utterance("u", "s", write_steps(tmp_path / f"{minutes}.wav", minutes=minutes))
        tracemalloc.start()
        assert check_utterance(one).shared is False
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0], peaks  # all samples of the long one alone are 115 MB


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two people with two recordings each; the check takes those of 4 s for several people."""
    for name, seconds in (("anna/1", 1.0), ("anna/2", 4.0), ("bela/1", 1.0), ("bela/2", 1.0)):
        write(tmp_path / "speech" / f"{name}.wav", hum(len(name), duration_s=seconds))
    monkeypatch.setattr(speaker_check, "several_speakers", lambda sound: sound.duration_s > 3)
    monkeypatch.setattr(weights, "missing", lambda *_: [])
    return tmp_path / "speech"


def test_corpus_info_names_them(folder: Path, personare: Any) -> None:
    ended = personare("corpus", "info", folder)
    assert "1 recording has more than one speaker on one channel (first: 'anna/2')" in ended.stdout
    problems = json.loads(personare("corpus", "info", folder, "--json").stdout)["problems"]
    assert [one["names"] for one in problems if one["kind"] == "several-speakers"] == [["anna/2"]]
    assert "several-speakers" not in personare("corpus", "info", folder, "--json", "--no-probe").stdout


def test_anonymize_warns_before_and_counts_after(folder: Path, tmp_path: Path, personare: Any) -> None:
    plan = personare("anonymize", folder, tmp_path / "out", "--strength", "fast", "--dry-run")
    assert "more than one speaker on one channel (first: 'anna/2')" in plan.stderr
    assert "two speakers 1 of 4 checked" in " ".join(plan.stdout.split())
    told = json.loads(
        personare("anonymize", folder, tmp_path / "out", "--method", "mcadams", "--dry-run", "--json").stdout
    )
    assert (told["several_speakers"], told["speakers_checked"]) == (["anna/2"], 4)
    ended = personare("anonymize", folder, tmp_path / "out", "--method", "mcadams", "--json")
    assert ended.code == 0 and "more than one speaker on one channel" in ended.stderr
    summary = json.loads(ended.stdout)
    assert summary["several_speakers"] == ["anna/2"]
    counts = {"found": 4, "anonymized": 4, "speakers_checked": 4, "several_speakers": 1}
    card = json.loads((tmp_path / "out" / "anonymization.json").read_text())
    for ledger in (summary["ledger"], card["ledger"]):
        assert {name: ledger[name] for name in counts} == counts
    assert "anna" not in json.dumps(card)
    again = personare("anonymize", folder, tmp_path / "out", "--method", "mcadams")
    assert "4 recordings found: 4 anonymized\nMore than one speaker on a channel: 1 recording (all" in again.stdout
    assert "anna" in (private_folder(tmp_path / "out") / "journal").read_text()


def test_not_checked_is_said(folder: Path, tmp_path: Path, personare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speaker_check, "several_speakers", lambda _: None)
    monkeypatch.setattr(weights, "missing", lambda *names: list(names))
    assert "not checked whether recordings have more than one speaker" in personare("corpus", "info", folder).stdout
    ended = personare("anonymize", folder, tmp_path / "out", "--method", "mcadams")
    assert "not checked whether" in ended.stderr and "More than one speaker on a channel: not checked." in ended.stdout


def test_a_call_that_is_read_as_one_person_is_reported(tmp_path: Path, personare: Any) -> None:
    call(tmp_path / "calls" / "anna" / "call.wav")
    ended = personare("corpus", "info", tmp_path / "calls")
    assert "two-channel recording has another speaker on each channel" in ended.stdout
    assert "--speaker-from channel" in ended.stdout
    ended = personare("corpus", "info", tmp_path / "calls", "--speaker-from", "channel")
    assert "another speaker on each channel" not in ended.stdout


def test_every_kind_of_failure_is_counted_and_adds_up(folder: Path, tmp_path: Path, personare: Any) -> None:
    (folder / "loose.wav").write_bytes((folder / "anna" / "1.wav").read_bytes())
    (folder / "anna" / "broken.wav").write_bytes(b"RIFF")
    ended = personare("anonymize", folder, tmp_path / "out", "--method", "mcadams", "--json")
    assert ended.code == 1
    ledger = json.loads(ended.stdout)["ledger"]
    assert (ledger["found"], ledger["left_out"], ledger["unreadable"], ledger["anonymized"]) == (6, 1, 1, 4)
    rows = (private_folder(tmp_path / "out") / "failures.tsv").read_text().splitlines()
    assert rows[0] == "utterance\toutcome\terror" and [row.split("\t")[:2] for row in rows[1:]] == [
        ["anna/broken", "unreadable"],
        ["loose.wav", "left out"],
    ]


def test_a_journal_of_an_earlier_version_is_read(folder: Path, tmp_path: Path, personare: Any) -> None:
    from personare.core.journal import decode_line, encode_line

    out = tmp_path / "out"
    assert personare("anonymize", folder, out, "--method", "mcadams").code == 0
    journal = private_folder(out) / "journal"
    lines = [decode_line(line) for line in journal.read_bytes().splitlines(keepends=True)]
    journal.write_bytes(b"".join(encode_line(values[:8]) for values in lines if values))
    told = json.loads(personare("anonymize", folder, out, "--method", "mcadams", "--json").stdout)
    assert told["kept"] == 4 and told["ledger"]["speakers_checked"] == 0


def test_one_file_is_checked_too(folder: Path, tmp_path: Path, personare: Any) -> None:
    source = folder / "anna" / "2.wav"
    plan = personare("anonymize", source, tmp_path / "out.flac", "--method", "mcadams", "--dry-run")
    assert "1 recording has more than one speaker on one channel (first: '2.wav')" in plan.stderr
    ended = personare("anonymize", source, tmp_path / "out.flac", "--method", "mcadams", "--json")
    assert json.loads(ended.stdout)["several_speakers"] is True and "more than one speaker" in ended.stderr
    ended = personare("anonymize", folder / "bela" / "1.wav", tmp_path / "b.flac", "--method", "mcadams", "--json")
    assert json.loads(ended.stdout)["several_speakers"] is False and "more than one" not in ended.stderr
