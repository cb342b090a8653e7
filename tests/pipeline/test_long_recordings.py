"""A long recording needs no more memory than a short one by a method that works in blocks; the bytes stay the same."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import soundfile

from personare.core.audio import encode, read_channels
from personare.core.errors import AudioError
from personare.core.seeding import Key, rng_for
from personare.core.utterances import Utterance
from personare.pipeline.jobs.anonymize_blocks import in_blocks
from personare.pipeline.jobs.anonymize_file import anonymize_file
from personare.pipeline.system import System
from promise_counts import counted

SYSTEM = System("mcadams")
KEY = Key(bytes(range(32)))
MOST_MB = 400  # of a whole process, Python and its libraries included


def write_long(path: Path, *, minutes: float, rate_hz: int = 16_000, channels: int = 1) -> Path:
    """Write noise that comes and goes, a minute at a time."""
    rng = np.random.default_rng(1)
    with soundfile.SoundFile(path, "w", rate_hz, channels) as file:
        for _ in range(max(1, round(minutes))):
            frames = round(rate_hz * min(60.0, 60 * minutes))
            sound = rng.normal(0, 0.05, (frames, channels)) * np.sin(np.arange(frames) / rate_hz)[:, None]
            file.write(sound.astype(np.float32))
    return path


def peak_bytes(path: Path, target: Path) -> int:
    tracemalloc.start()
    try:
        anonymize_file(path, target, SYSTEM)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_length(tmp_path: Path) -> None:
    first, short, long = (write_long(tmp_path / f"{m}.wav", minutes=m, rate_hz=8_000) for m in (1, 8, 20))
    anonymize_file(first, tmp_path / "1.flac", SYSTEM)  # what is imported on the way counts for neither
    peaks = [peak_bytes(path, tmp_path / f"{path.stem}.flac") for path in (short, long)]
    assert soundfile.info(tmp_path / "20.flac").frames == 20 * 60 * 8_000
    assert peaks[1] < 1.05 * peaks[0], peaks  # all samples of the long one alone are 38 MB
    assert peaks[1] < 60e6


@pytest.mark.parametrize("suffix", ["flac", "wav"])
@pytest.mark.parametrize("channels", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_the_bytes_are_those_of_a_call_on_the_whole(tmp_path: Path, suffix: str, channels: int) -> None:
    path = write_long(tmp_path / "a.wav", minutes=1.5, rate_hz=22_050, channels=channels)
    place = tmp_path / f"out.{suffix}"
    recording = in_blocks([Utterance("u", "s", path)], place, SYSTEM, lambda: KEY)
    assert recording is not None
    seconds, digest = recording.finish(place)
    method = SYSTEM.build()
    whole = [method(one, rng=rng_for(KEY, "voice", "s")) for one in read_channels(path)]
    assert place.read_bytes() == encode(place, whole)
    assert digest == hashlib.sha256(place.read_bytes()).hexdigest()
    assert seconds == 120.0


def test_a_segment_and_one_channel_of_a_call(tmp_path: Path) -> None:
    path = write_long(tmp_path / "a.wav", minutes=0.1, channels=2)
    who = Utterance("u", "s", path, start_s=1.25, end_s=3.5, person_channel=2)
    recording = in_blocks([who], tmp_path / "b.wav", SYSTEM, lambda: KEY)
    assert recording is not None
    recording.finish(tmp_path / "b.wav")
    whole = SYSTEM.build()(who.read(), rng=rng_for(KEY, "voice", "s"))
    assert (tmp_path / "b.wav").read_bytes() == encode(tmp_path / "b.wav", whole)
    absent = Utterance("u", "s", path, person_channel=3)
    with pytest.raises(AudioError, match="has no channel 3; it has 2"):
        in_blocks([absent], tmp_path / "c.wav", SYSTEM, lambda: KEY)


def test_formats_and_methods_that_need_the_whole_get_it(tmp_path: Path) -> None:
    path = write_long(tmp_path / "a.wav", minutes=0.1)
    who = [Utterance("u", "s", path)]
    assert in_blocks(who, tmp_path / "b.opus", SYSTEM, lambda: KEY) is None
    assert in_blocks(who, tmp_path / "b.flac", System("formants"), lambda: KEY) is None


def test_sound_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    """NaN in the last block: what was written before goes."""
    samples = np.zeros((1 << 20) + 8, np.float32)
    samples[-1] = np.nan
    soundfile.write(tmp_path / "a.wav", samples, 16_000, subtype="FLOAT")
    recording = in_blocks([Utterance("u", "s", tmp_path / "a.wav")], tmp_path / "b.wav", SYSTEM, lambda: KEY)
    assert recording is not None
    with pytest.raises(AudioError, match="NaN"):
        recording.finish(tmp_path / "b.wav")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.wav"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """libsndfile goes on writing; the error of the system must reach the caller."""
    path = write_long(tmp_path / "a.wav", minutes=0.1)
    recording = in_blocks([Utterance("u", "s", path)], tmp_path / "b.flac", SYSTEM, lambda: KEY)
    assert recording is not None
    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        recording.write(full, tmp_path / "b.flac")


# ru_maxrss of a child counts the memory of the process that started it, so the child prints its own peak
WITH_PEAK = """
import atexit, runpy, sys
atexit.register(lambda: sys.stderr.write(open("/proc/self/status").read()))
runpy.run_module("personare", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
def test_two_hours_in_a_process_of_its_own(tmp_path: Path) -> None:
    write_long(tmp_path / "long.wav", minutes=120)
    words = ["anonymize", tmp_path / "long.wav", tmp_path / "out.flac", "--method", "mcadams"]
    child = subprocess.run(
        [sys.executable, "-P", "-c", WITH_PEAK, *map(str, words)], capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    assert soundfile.info(tmp_path / "out.flac").frames == 120 * 60 * 16_000
    (peak_kb,) = re.findall(r"^VmHWM:\s+(\d+) kB", child.stderr, re.MULTILINE)
    peak_mb = int(peak_kb) / 1024
    assert peak_mb < MOST_MB, f"{peak_mb:.0f} MB"
    counted(f"memory: two hours of 16 kHz by mcadams in {peak_mb:.0f} MB, the whole process included")
