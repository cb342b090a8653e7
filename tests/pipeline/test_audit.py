"""The audit names every kind of trace that was left on purpose; relinking sees what options take away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile

from conftest import Command, hum
from personare.anonymizers.signal.retiming import Timing
from personare.core.audio import Audio, read_mono, write
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.engine import Serial
from personare.pipeline.audit.audit import Audited, audit
from personare.pipeline.audit.tags import residual_tags
from personare.pipeline.audit.texts import names_within, spoken_identifiers
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.system import System

SYSTEM = System("mcadams", {"alpha": [0.6, 0.7]})
TEXTS = ["THE BIRCH CANOE", "GLUE THE SHEET", "RICE IS OFTEN", "FOUR HOURS OF", "LARGE SIZE IN", "THE BOY WAS"]


def phrased(seed: int) -> Audio:
    """Speech-like sounds with pauses of their own, so that loudness over time and length differ."""
    rng = np.random.default_rng(seed)
    parts = []
    for n in range(3):
        parts.append(hum(seed * 10 + n, duration_s=float(rng.uniform(0.2, 0.5))).samples)
        parts.append((1e-4 * rng.standard_normal(int(rng.uniform(0.1, 0.4) * 16_000))).astype(np.float32))
    return Audio(np.concatenate(parts), 16_000)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    rows = []
    for n in range(12):
        path = folder / "in" / f"speaker{n % 4}" / f"recording{n:03d}.wav"
        write(path, phrased(n))
        rows.append((f"recording{n:03d}", f"speaker{n % 4}", str(path), f"{TEXTS[n % 6]} {n // 6}"))
    corpus = Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "text"], orient="row"))
    corpus.save(folder / "in" / "manifest.parquet")
    anonymize(corpus, folder / "out", SYSTEM, engine=Serial())
    return folder


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    for name in ("in", "out", "out-private"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path / "out"


def kinds(found: Audited) -> set[str]:
    return {one.kind for one in found.findings}


def test_what_personare_writes_has_only_what_the_originals_tell(out: Path) -> None:
    assert not audit(out).findings
    found = audit(out, original=out.with_name("in"))
    assert kinds(found) >= {"relinking by duration", "relinking by energy envelope", "relinking by transcript"}
    assert {one.metric.name for one in found.relinking} == {
        f"relink_{k}" for k in ("duration", "envelope", "transcript", "waveform")
    }
    assert all(one.chance == pytest.approx(1 / 12) for one in found.relinking)


def test_retiming_and_leaving_text_out_leave_less_to_compare(made: Path, tmp_path: Path) -> None:
    corpus = read_corpus(made / "in").corpus
    timing = Timing(trim=True, retime=True, coarse_s=1.0)
    anonymize(corpus, tmp_path / "out", SYSTEM, engine=Serial(), timing=timing, text=False)
    before = {one.metric.name: one.estimate.value for one in audit(made / "out", original=made / "in").relinking}
    after = {one.metric.name: one.estimate.value for one in audit(tmp_path / "out", original=made / "in").relinking}
    assert before["relink_duration"] == 1.0 and after["relink_duration"] < 0.5
    assert after["relink_envelope"] < before["relink_envelope"]
    assert before["relink_transcript"] == 1.0 and "relink_transcript" not in after
    assert "text" not in pl.read_parquet(tmp_path / "out" / "manifest.parquet").columns


def manifest(out: Path, **columns: object) -> None:
    frame = pl.read_parquet(out / "manifest.parquet")
    frame.with_columns(**{n: pl.lit(v) for n, v in columns.items()}).write_parquet(out / "manifest.parquet")


def first(out: Path) -> Path:
    return min(out.rglob("*.flac"))


def tagged(out: Path) -> None:
    samples, rate_hz = soundfile.read(first(out), dtype="int16")
    with soundfile.SoundFile(first(out), "w", rate_hz, 1, "PCM_16", format="FLAC") as file:
        file.artist = "Anna"
        file.write(samples)


def put_original(out: Path, change: Callable[[Audio], Audio]) -> None:
    """Put an original, changed a little, in the place of its anonymized recording."""
    from personare.pipeline.given import pair_given
    from personare.pipeline.resolve import GivenFolder

    corpus = read_corpus(out.with_name("in")).corpus
    pairs = pair_given(corpus.frame, GivenFolder(out))
    name, place = next(iter(pairs.files.items()))
    source = corpus.frame.filter(pl.col("utterance") == name)["audio"][0]
    write(place, change(read_mono(Path(source))))


LEFT: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "tags": (tagged, "high", "tags in audio files"),
    "a recording that is not listed": (
        lambda out: shutil.copy(out.parent / "in" / "speaker0" / "recording000.wav", out / "audio" / "0.wav"),
        "high",
        "audio that the manifest does not list",
    ),
    "a foreign file": (lambda out: (out / "README").write_text("hello"), "medium", "foreign files"),
    "an absolute path": (lambda out: (out / "a.json").write_text('{"audio": "/data/x.wav"}'), "high", "absolute paths"),
    "a name in a path": (
        lambda out: first(out).rename(out / "audio" / "speaker1.flac"),
        "high",
        "ids of originals in paths",
    ),
    "a name in a table": (lambda out: manifest(out, session="recording003"), "high", "ids of originals in tables"),
    "a spoken number": (
        lambda out: manifest(out, text="call me at zero one seven one two three four"),
        "medium",
        "identifiers in transcripts",
    ),
    "an original": (lambda out: put_original(out, lambda a: a), "high", "untouched sound"),
    "an original, quieter": (
        lambda out: put_original(out, lambda a: Audio(a.samples * np.float32(0.5), a.rate_hz)),
        "high",
        "untouched sound",
    ),
    "an offset": (
        lambda out: write(first(out), Audio(hum(1).samples + np.float32(0.02), 16_000)),
        "medium",
        "constant offset (DC), which tells the recorder",
    ),
    "exact silence": (
        lambda out: write(first(out), Audio(np.concatenate([hum(1).samples, np.zeros(4000, np.float32)]), 16_000)),
        "low",
        "exact silence, which lies where it lay in the original",
    ),
    "a file twice": (lambda out: shutil.copy(first(out), out / "audio" / "b.flac"), "low", "identical files"),
}


@pytest.mark.parametrize("trace", LEFT)
def test_every_trace_is_named_with_its_severity(out: Path, trace: str) -> None:
    leave, severity, kind = LEFT[trace]
    leave(out)
    found = audit(out, original=out.with_name("in"))
    assert (severity, kind) in {(one.severity, one.kind) for one in found.findings}, kinds(found)


def test_an_untouched_channel_is_noticed(tmp_path: Path) -> None:
    for speaker in ("anna", "bela"):
        for n in range(2):
            write(tmp_path / "in" / speaker / f"{speaker}{n}.wav", [hum(n), hum(n + 5)])
    corpus = read_corpus(tmp_path / "in").corpus
    anonymize(corpus, tmp_path / "out", SYSTEM, engine=Serial(), names="keep")
    (place,) = (tmp_path / "out").rglob("anna0.flac")
    hidden = soundfile.read(place, dtype="float32")[0]
    write(place, [hum(0), Audio(np.ascontiguousarray(hidden[:, 1]), 16_000)])
    found = audit(tmp_path / "out", original=tmp_path / "in")
    (one,) = [one for one in found.findings if one.kind == "untouched sound"]
    assert one.count == 1 and one.examples[0].endswith("anna0: has a channel that nobody has touched")


def test_tags_of_every_container_are_found(tmp_path: Path) -> None:
    for suffix, container, subtype in (
        ("wav", "WAV", "PCM_16"),
        ("flac", "FLAC", "PCM_16"),
        ("ogg", "OGG", "VORBIS"),
        ("opus", "OGG", "OPUS"),
        ("mp3", "MP3", "MPEG_LAYER_III"),
        ("aiff", "AIFF", "PCM_16"),
    ):
        for named in (False, True):
            path = tmp_path / f"{named}.{suffix}"
            with soundfile.SoundFile(path, "w", 24_000, 1, subtype, format=container) as file:
                if named:
                    file.artist = "Anna"
                file.write(hum(1, rate_hz=24_000).samples)
            assert bool(residual_tags(path)) == named, (suffix, named, residual_tags(path))


def test_words_and_names() -> None:
    assert spoken_identifiers("Write to anna.b@example.org") == ["an e-mail address"]
    assert spoken_identifiers("mein name ist Anna") == ["somebody who says a name"]
    assert not spoken_identifiers("the year 1984 had 366 days, and two three four is no number")
    assert list(names_within(["audio/anna_3.flac", "hannah", "ab"], ["anna", "ab"])) == [("audio/anna_3.flac", "anna")]


def test_the_command_its_exit_code_and_the_report_section(out: Path, personare: Command, tmp_path: Path) -> None:
    assert personare("audit", out).code == 0
    done = personare("audit", out, "--original", out.with_name("in"), "--fail-on", "medium", "--json")
    assert done.code == 1
    assert {row["metric"] for row in json.loads(done.stdout)["relinking"]} >= {"relink_duration"}
    assert personare("audit", out, "--fail-on", "worst").code == 2


def test_originals_in_a_flat_folder_are_read_as_somebody_says_or_as_they_were_anonymized(
    made: Path, tmp_path: Path, personare: Command
) -> None:
    (tmp_path / "flat").mkdir()
    for path in sorted((made / "in").rglob("*.wav")):
        shutil.copy(path, tmp_path / "flat" / f"{path.parent.name}_{path.name}")
    rule, fast = ("--speaker-from", "{speaker}_{rest}"), ("--strength", "fast")
    assert personare("anonymize", tmp_path / "flat", tmp_path / "out", *rule, *fast).code == 0
    shutil.copytree(tmp_path / "flat", tmp_path / "theirs")  # another tool keeps names (and here sounds, too)
    words = ("--original", tmp_path / "flat", "--key", tmp_path / "out-private" / "key", "--json")
    for target, how in (("out", ()), ("out", rule), ("theirs", rule)):
        ended = personare("audit", tmp_path / target, *words, *how)
        assert len(json.loads(ended.stdout)["relinking"]) == 3, ended
    (tmp_path / "out-private" / "job.json").unlink()  # nobody has noted how they were read
    ended = personare("audit", tmp_path / "out", *words)
    assert ended.code == 2 and "say who speaks: --speaker-from" in ended.stderr
    assert len(json.loads(personare("audit", tmp_path / "out", *words, *rule).stdout)["relinking"]) == 3
