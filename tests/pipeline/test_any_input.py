"""Whatever people have: one file, pipes, calls, videos, other formats; no identity in names, tags or tables of any."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile

from conftest import Command, hum
from media_files import NAMES, av, language_tags, make_sound, make_video, picture_packets
from personare.core.audio import read_channels, write
from personare.core.seeding import load_key, load_or_make_key
from personare.pipeline.system import rehearse

FAST = ("--method", "mcadams")


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording with tags that name a person."""
    path = tmp_path / "anna.flac"
    sound = hum(1)
    with soundfile.SoundFile(path, "w", 16_000, 1, format="FLAC") as file:
        file.artist, file.title, file.comment = "Anna Beispiel", "anna", "anna at home"
        file.write(sound.samples)
    return path


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "opus", "mp3"])
def test_one_file_in_every_format_carries_no_tag(
    personare: Command, recording: Path, tmp_path: Path, suffix: str
) -> None:
    target = tmp_path / f"hidden.{suffix}"
    done = personare("anonymize", recording, target, *FAST)
    assert done.code == 0, done.stderr
    assert "1 new voice" in done.stdout and f"{target.name}-private" in done.stdout.replace("\n", "")
    content = target.read_bytes()
    assert not [name for name in ("anna", "Anna", "Beispiel") if name.encode() in content]
    with soundfile.SoundFile(target) as file:
        tags = {name: value for name, value in file.copy_metadata().items() if value}
    assert not set(tags) - {"software", "comment", "license"} and "anna" not in str(tags).lower()
    (heard,) = read_channels(target)
    assert abs(heard.duration_s - 1.0) < 0.05 and not np.allclose(
        heard.samples[:8000], hum(1).samples[:8000], atol=0.05
    )
    private = tmp_path / f"hidden.{suffix}-private"
    assert load_key(private / "key") and json.loads((private / "job.json").read_text())["recording"] == str(recording)
    assert (private / "key").stat().st_mode & 0o77 == 0 and private.stat().st_mode & 0o77 == 0


def test_a_key_keeps_the_voice_and_without_one_it_is_another(
    personare: Command, recording: Path, tmp_path: Path
) -> None:
    for name in ("a.wav", "b.wav"):
        assert personare("anonymize", recording, tmp_path / name, *FAST, "--key", tmp_path / "k").code == 0
    assert personare("anonymize", recording, tmp_path / "c.wav", *FAST).code == 0
    a, b, c = ((tmp_path / name).read_bytes() for name in ("a.wav", "b.wav", "c.wav"))
    assert a == b != c
    assert not (tmp_path / "a.wav-private" / "key").exists()


def test_channels_of_one_call_share_a_voice_or_have_one_each(personare: Command, tmp_path: Path) -> None:
    write(tmp_path / "call.wav", [hum(1), hum(1)])
    for name, words in {"one.wav": (), "two.wav": ("--speaker-from", "channel")}.items():
        assert personare("anonymize", tmp_path / "call.wav", tmp_path / name, *FAST, *words).code == 0
    (left, right), (first, second) = read_channels(tmp_path / "one.wav"), read_channels(tmp_path / "two.wav")
    assert np.array_equal(left.samples, right.samples) and not np.array_equal(first.samples, second.samples)


def piped(*words: object, given: bytes = b"", cwd: Path) -> subprocess.CompletedProcess[bytes]:
    call = [sys.executable, "-m", "personare", *map(str, words)]
    return subprocess.run(call, input=given, capture_output=True, check=False, cwd=cwd)


def test_a_pipe_carries_sound_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "in.wav", hum(1))
    heard = (tmp_path / "in.wav").read_bytes()
    done = piped("anonymize", "-", "-", *FAST, given=heard, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    samples, rate_hz = soundfile.read(io.BytesIO(done.stdout))
    assert rate_hz == 16_000 and len(samples) == 16_000 and len(done.stdout) < len(heard) + 100
    assert b"key of this pipe is forgotten" in done.stderr
    open_ended = heard[:4] + b"\xff\xff\xff\xff" + heard[8:40] + b"\xff\xff\xff\xff" + heard[44:]  # as ffmpeg pipes it
    again = piped("anonymize", "-", "out.flac", *FAST, given=open_ended, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert len(read_channels(tmp_path / "out.flac")[0].samples) == 16_000
    for given, line in ((b"", "standard input: holds nothing"), (b"these are words", "standard input: not audio")):
        bad = piped("anonymize", "-", "-", *FAST, given=given, cwd=tmp_path)
        assert bad.returncode == 2 and line in bad.stderr.decode() and not bad.stdout


def test_a_video_keeps_its_picture_and_gets_the_voice(personare: Command, tmp_path: Path) -> None:
    made = make_video(tmp_path / "anna's interview.mp4")
    done = personare("anonymize", made, tmp_path / "hidden.mp4", *FAST)
    assert done.code == 0, done.stderr
    assert "the picture is copied as it is" in done.stderr
    content = (tmp_path / "hidden.mp4").read_bytes()
    assert not [name for name in NAMES if name.encode() in content]
    assert not language_tags(tmp_path / "hidden.mp4")
    assert picture_packets(tmp_path / "hidden.mp4") == picture_packets(made)
    (before,), (after,) = read_channels(made), read_channels(tmp_path / "hidden.mp4")
    assert abs(before.duration_s - after.duration_s) < 0.05
    count = min(len(before.samples), len(after.samples))
    assert not np.allclose(before.samples[:count], after.samples[:count], atol=0.05)
    assert personare("anonymize", made, tmp_path / "sound.mp3", *FAST).code == 0


@pytest.mark.parametrize("file_format", ["flac", "wav", "opus", "mp3"])
def test_a_mixed_folder_in_every_format_tells_nobody(personare: Command, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "aufnahmen"
    write(folder / "Käthe_1.wav", hum(1, rate_hz=8_000))
    write(folder / "Käthe_2.flac", [hum(2, rate_hz=48_000), hum(3, rate_hz=48_000)])
    write(folder / "Zoë_1.opus", hum(4, rate_hz=44_100))
    av()
    make_sound(folder / "Zoë_2.m4a", codec="aac", rate_hz=44_100)
    words = ("--speaker-from", "{speaker}_{rest}", "--format", file_format)
    done = personare("anonymize", folder, tmp_path / "out", *FAST, *words)
    assert done.code == 0, done.stderr
    assert "files, 2 speakers, 4 utterances, such as Käthe (2), Zoë (2)" in done.stderr
    files = list((tmp_path / "out" / "audio").rglob(f"*.{file_format}"))
    assert len(files) == 4
    for path in (tmp_path / "out").rglob("*"):
        seen = str(path.relative_to(tmp_path / "out")).encode() + (path.read_bytes() if path.is_file() else b"")
        assert not [name for name in ("Käthe", "Zoë", "Beispiel", "aufnahmen") if name.encode() in seen]
    again = personare("anonymize", folder, tmp_path / "out", *FAST, *words, "--json")
    summary = json.loads(again.stdout)
    assert (summary["done"], summary["kept"], summary["failed"]) == (4, 4, 0)


def test_calls_get_a_voice_per_channel_and_stay_calls(personare: Command, tmp_path: Path) -> None:
    same = hum(1, rate_hz=8_000)
    write(tmp_path / "calls" / "call-1.wav", [same, same])
    write(tmp_path / "calls" / "call-2.wav", [same, hum(3, rate_hz=8_000)])
    (tmp_path / "calls" / "call-3.wav").write_bytes(b"words")
    words = ("--speaker-from", "channel", "--key", tmp_path / "k")
    done = personare("anonymize", tmp_path / "calls", tmp_path / "out", *FAST, *words)
    assert done.code == 1 and "failed: call-3:" in done.stderr, "a broken call is a row"
    frame = pl.read_parquet(tmp_path / "out" / "manifest.parquet")
    assert frame["speaker"].n_unique() == 4 and sorted(frame["person_channel"]) == [1, 1, 2, 2]
    voices = [c.samples.tobytes() for p in sorted(set(frame["audio"])) for c in read_channels(tmp_path / "out" / p)]
    assert len(voices) == len(set(voices)) == 4, "the same sound in another channel gets another voice"
    for shard in ("1/2", "2/2"):
        personare("anonymize", tmp_path / "calls", tmp_path / "parts", *FAST, *words, "--shard", shard)
    assert pl.read_parquet(tmp_path / "parts" / "manifest.parquet").equals(frame)
    refused = personare("evaluate", tmp_path / "calls", tmp_path / "out")
    assert refused.code == 2
    found = personare("lookup", frame["utterance"][0], tmp_path / "out", "--key", tmp_path / "k", "--json")
    (match,) = json.loads(found.stdout)["matches"]
    assert match["utterance_token"] == frame["utterance"][0] and match["audio"].endswith(".wav")


def test_a_dry_run_says_everything_and_writes_nothing(personare: Command, small_corpus: Path, tmp_path: Path) -> None:
    (small_corpus / "anna" / "anna-1.wav").write_bytes(b"words")
    before = set(tmp_path.rglob("*"))
    done = personare("anonymize", small_corpus, tmp_path / "out", *FAST, "--dry-run")
    assert done.code == 0 and set(tmp_path.rglob("*")) == before
    for word in (
        "people       4",
        "utterances   16 (1 unreadable)",
        "speech",
        "mcadams per speaker",
        "out-private/key",
    ):
        assert word in done.stdout
    assert re.search(r"takes about  \d", done.stdout) and "nothing is written" in done.stdout
    plan = json.loads(personare("anonymize", small_corpus, tmp_path / "out", *FAST, "--dry-run", "--json").stdout)
    assert plan["people"] == 4 and plan["utterances"] == 16 and plan["expected_s"] > 0
    one = personare("anonymize", small_corpus / "anna" / "anna-0.wav", tmp_path / "x.flac", *FAST, "--dry-run")
    assert one.code == 0 and "would write" in one.stdout and set(tmp_path.rglob("*")) == before


def test_a_speaker_with_nearly_all_of_the_speech_is_pointed_out(personare: Command, tmp_path: Path) -> None:
    for name, seconds in {"anna": 0.1, "bela": 0.1, "cora": 0.12, "team": 20.0}.items():
        write(tmp_path / "in" / name / "u.wav", hum(1, duration_s=seconds, rate_hz=8_000))
    line = "1 speaker has more than 100 times as much speech as the median speaker (first: 'team')"
    assert line in personare("corpus", "info", tmp_path / "in").stdout
    assert line in personare("anonymize", tmp_path / "in", tmp_path / "out", *FAST, "--dry-run").stderr


def test_a_token_is_looked_up_both_ways_and_only_with_the_key(
    personare: Command, small_corpus: Path, tmp_path: Path
) -> None:
    personare("anonymize", small_corpus, tmp_path / "out", *FAST)
    frame = pl.read_parquet(tmp_path / "out" / "manifest.parquet")
    private = tmp_path / "out-private"
    token, speaker = frame.select("utterance", "speaker").row(0)
    for asked in (token, f"audio/{token[:2]}/{token}.flac"):
        (match,) = json.loads(personare("lookup", asked, private, "--json").stdout)["matches"]
        assert match["speaker_token"] == speaker and (small_corpus / match["speaker"]).is_dir()
    everything = json.loads(personare("lookup", speaker, tmp_path / "out", "--json").stdout)["matches"]
    assert len(everything) == 4 and len({m["speaker"] for m in everything}) == 1
    back = personare("lookup", match["speaker"], small_corpus, "--key", private / "key")
    assert back.stdout.splitlines()[0] == f"speaker {match['speaker']} = {speaker}" and token in back.stdout
    load_or_make_key(tmp_path / "other.key")
    for words, line in {
        (token, small_corpus): "name the key with --key FILE",
        (token, small_corpus, "--key", tmp_path / "other.key"): "is it the right key?",
        (token, private, "--key", tmp_path / "gone"): "no such key file",
        ("nobody", private): "'nobody' is no token, utterance or speaker",
        ("ana", private): "did you mean 'anna'? Or is it the right key?",
        (token, private, "--level", "speker"): "did you mean 'speaker'",
    }.items():
        done = personare("lookup", *words)
        assert done.code == 2 and line in done.stderr and len(done.stderr.splitlines()) == 1


def test_at_utterance_level_a_speakers_token_is_one_utterance(
    personare: Command, small_corpus: Path, tmp_path: Path
) -> None:
    personare("anonymize", small_corpus, tmp_path / "out", *FAST, "--level", "utterance")
    token = pl.read_parquet(tmp_path / "out" / "manifest.parquet")["speaker"][0]
    assert len(json.loads(personare("lookup", token, tmp_path / "out", "--json").stdout)["matches"]) == 1


def test_rehearsing_a_method_is_what_says_that_it_draws() -> None:
    from personare.anonymizers.presets import PRESETS
    from personare.pipeline.system import System

    assert rehearse(System(PRESETS["fast"].method, PRESETS["fast"].parameters))
