"""Streams: the same bits as a finished file, no later than promised, without growth, and clear refusals."""

from __future__ import annotations

import io
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from anonymizers.contract import hide, voice
from personare.anonymizers import BUILTIN, anonymizer
from personare.anonymizers.signal.mcadams import McAdams
from personare.anonymizers.stream import pump, stream
from personare.core.audio import Audio, quantize
from personare.core.errors import AudioError, ConfigError
from personare.core.seeding import load_or_make_key

RANDOM = np.random.default_rng


def blocks_of(samples: NDArray[np.float32], size: int) -> Iterator[NDArray[np.float32]]:
    return (samples[i : i + size] for i in range(0, len(samples), size))


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050])
@pytest.mark.parametrize("size", [1, 80, 441, 4096])
def test_a_stream_gives_the_bits_of_the_whole(rate_hz: int, size: int) -> None:
    seconds = 0.3 if size == 1 else 2.0
    audio = voice(seconds, rate_hz=rate_hz, peak=0.9)
    method = McAdams(alpha=(0.5, 0.9))
    out = list(stream(blocks_of(audio.samples, size), method=method, rate_hz=rate_hz, rng=RANDOM(7)))
    assert np.array_equal(np.concatenate(out), hide(method, audio))


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 44_100, 48_000])
def test_a_sample_comes_out_within_thirty_milliseconds(rate_hz: int) -> None:
    method = McAdams()
    latency = method.latency_samples(rate_hz)
    assert latency / rate_hz <= 0.030
    came_in = 0

    def counted() -> Iterator[NDArray[np.float32]]:
        nonlocal came_in
        for block in blocks_of(voice(0.5, rate_hz=rate_hz).samples, 16):
            came_in += len(block)
            yield block

    came_out, latest = 0, 0
    for block in stream(counted(), method=method, rate_hz=rate_hz, rng=RANDOM(1)):
        latest = max(latest, came_in - came_out)  # the oldest sample still held when this block came
        came_out += len(block)
    assert latest <= latency + 16  # and the block it came in with


def test_hours_do_not_grow() -> None:
    sizes = []

    def endless() -> Iterator[NDArray[np.float32]]:
        block = voice(1.0, rate_hz=8_000).samples
        for second in range(120):
            if second in (20, 119):
                sizes.append(tracemalloc.get_traced_memory()[0])
            yield block

    tracemalloc.start()
    for _ in stream(endless(), method=McAdams(), rate_hz=8_000, rng=RANDOM(1)):
        pass
    tracemalloc.stop()
    assert sizes[1] - sizes[0] < 50_000


def test_pcm_in_pcm_out_even_when_a_read_splits_a_sample() -> None:
    audio = voice(0.5)
    codes = quantize(audio.samples, bits=16)
    raw = codes.astype("<i2").tobytes()

    class Splitting(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return self.read(333)

    sink = io.BytesIO()
    count = pump(Splitting(raw), sink, method=McAdams(alpha=0.8), rate_hz=16_000, rng=RANDOM(7))
    heard = Audio(codes.astype(np.float32) / np.float32(32_768), 16_000)
    assert count == len(codes)
    assert sink.getvalue() == quantize(hide(McAdams(alpha=0.8), heard), bits=16).astype("<i2").tobytes()


def test_half_a_sample_is_refused_when_everything_before_it_has_been_written() -> None:
    codes = quantize(voice(0.2).samples, bits=16).astype("<i2").tobytes()
    whole, cut = io.BytesIO(), io.BytesIO()
    pump(io.BytesIO(codes), whole, method=McAdams(), rate_hz=16_000, rng=RANDOM(1))
    with pytest.raises(AudioError, match="in the middle of a 16-bit sample"):
        pump(io.BytesIO(codes + b"\0"), cut, method=McAdams(), rate_hz=16_000, rng=RANDOM(1))
    assert cut.getvalue() == whole.getvalue()
    assert len(cut.getvalue()) == len(codes)


def test_methods_that_must_hear_the_whole_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"world cannot work on a stream.*Use: mcadams"):
        stream([], method=anonymizer("world"), rate_hz=16_000, rng=RANDOM(1))


def test_rates_outside_speech_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"4000 Hz is outside 8000\.\.48000 Hz"):
        stream([], method=McAdams(), rate_hz=4_000, rng=RANDOM(1))


def personare(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    call = [sys.executable, "-c", "from personare.cli import main; main()", *words]
    return subprocess.run(call, input=given, capture_output=True, check=False)


def test_the_command_streams_and_a_key_keeps_the_voice(tmp_path: Path) -> None:
    key = tmp_path / "key"
    load_or_make_key(key)
    raw = quantize(voice(0.5, rate_hz=8_000).samples, bits=16).astype("<i2").tobytes()
    words = ("stream", "--rate", "8000", "--set", "alpha=[0.5, 0.9]", "--key", str(key), "--name", "anna")
    first, again = personare(*words, given=raw), personare(*words, given=raw)
    assert first.returncode == 0, first.stderr
    assert len(first.stdout) == len(raw)
    assert first.stdout == again.stdout != raw
    other = personare(*words[:-1], "bela", given=raw)
    assert other.stdout != first.stdout


def test_each_stream_draws_a_voice_and_says_so(tmp_path: Path) -> None:
    raw = quantize(voice(0.5, rate_hz=8_000).samples, bits=16).astype("<i2").tobytes()
    first, again = (personare("stream", "--rate", "8000", given=raw) for _ in range(2))
    assert first.returncode == again.returncode == 0 and first.stdout != again.stdout
    assert first.stderr.decode().splitlines() == [
        "a new voice is drawn for this stream; with --key FILE --name NAME it stays the same"
    ]
    fixed = personare("stream", "--rate", "8000", "--set", "alpha=0.8", given=raw)
    assert "draws nothing by chance: everybody gets the same change" in fixed.stderr.decode()


def test_a_wrong_method_is_one_line() -> None:
    done = personare("stream", "--rate", "8000", "--method", "mcadam")
    assert done.returncode == 2
    told = done.stderr.decode()
    assert (
        told.startswith("personare: no anonymizer 'mcadam'; did you mean 'mcadams'? Known: ") and told.count("\n") == 1
    )
    assert set(told.rstrip().partition("Known: ")[2].split(", ")) >= {*BUILTIN, "B1", "RP+GMM"}


def test_a_number_in_any_notation_is_a_number() -> None:
    done = personare("stream", "--rate", "8000", "--set", "alpha=1e300")
    assert done.returncode == 2
    assert done.stderr.decode() == "personare: mcadams: alpha must lie between 0.1 and 2, not 1e+300\n"
    assert personare("stream", "--rate", "8000", "--set", "alpha=8e-1", given=b"\0\0").returncode == 0
