"""Reading and writing sound: every container, the one quantizer, clear refusals, nothing carried over."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from conftest import hum
from personare.core.audio import Audio, probe, quantize, read_channels, read_mono, resample, write
from personare.core.decoder_messages import quiet_decoder
from personare.core.errors import AudioError, OutputError


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 44_100, 48_000])
@pytest.mark.parametrize("suffix", ["wav", "flac"])
@pytest.mark.parametrize("encoding", ["pcm16", "pcm24"])
def test_what_is_written_is_read_back_within_half_a_step(
    tmp_path: Path, rate_hz: int, suffix: str, encoding: str
) -> None:
    audio = hum(1, duration_s=0.1, rate_hz=rate_hz)
    path = tmp_path / f"a.{suffix}"
    write(path, audio, encoding=encoding)  # type: ignore[arg-type]
    back = read_mono(path)
    half_step = 0.5 / (1 << (15 if encoding == "pcm16" else 23))
    assert back.rate_hz == rate_hz and np.abs(back.samples - audio.samples).max() <= half_step * 1.01


def test_wav_and_flac_hold_the_same_codes(tmp_path: Path) -> None:
    """libsndfile floors WAV and rounds FLAC when given floats; we round once, before it."""
    audio = hum(2)
    write(tmp_path / "a.wav", audio)
    write(tmp_path / "a.flac", audio)
    wav, flac = (soundfile.read(tmp_path / name, dtype="int16")[0] for name in ("a.wav", "a.flac"))
    assert np.array_equal(wav, flac) and np.array_equal(wav, quantize(audio.samples, bits=16))


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW"])
def test_every_sample_format_is_read(tmp_path: Path, subtype: str) -> None:
    audio = hum(3, duration_s=0.05)
    soundfile.write(tmp_path / "a.wav", audio.samples, audio.rate_hz, subtype=subtype)
    assert np.abs(read_mono(tmp_path / "a.wav").samples - audio.samples).max() < 0.02


def test_channels_are_kept_apart_and_mixed_only_on_request(tmp_path: Path) -> None:
    left, right = hum(4, duration_s=0.1), hum(5, duration_s=0.1)
    write(tmp_path / "two.wav", [left, right])
    first, second = read_channels(tmp_path / "two.wav")
    assert np.allclose(first.samples, left.samples, atol=1e-4) and np.allclose(second.samples, right.samples, atol=1e-4)
    mixed = read_mono(tmp_path / "two.wav")
    assert np.allclose(mixed.samples, (left.samples + right.samples) / 2, atol=1e-4)


def test_a_part_of_a_file(tmp_path: Path) -> None:
    audio = hum(6, duration_s=1.0)
    write(tmp_path / "a.wav", audio, encoding="float32")
    part = read_mono(tmp_path / "a.wav", start_s=0.25, stop_s=0.5)
    assert np.array_equal(part.samples, audio.samples[4000:8000])
    with pytest.raises(AudioError, match=r"ends at 1\.00 s, before 3"):
        read_mono(tmp_path / "a.wav", start_s=0.5, stop_s=3.0)


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("suffix", ["ogg", "opus", "mp3"])
def test_lossy_formats_take_any_rate_and_keep_the_sound(tmp_path: Path, suffix: str, rate_hz: int) -> None:
    audio = hum(1, duration_s=1.0, rate_hz=rate_hz)
    write(tmp_path / f"a.{suffix}", [audio, audio])
    left, _ = read_channels(tmp_path / f"a.{suffix}")
    assert abs(left.duration_s - 1.0) < 0.01 and left.rate_hz >= min(rate_hz, 48_000)
    middle, same = left.samples[len(left.samples) // 4 :], resample(audio, left.rate_hz).samples[left.rate_hz // 4 :]
    assert np.corrcoef(middle[: len(same)], same[: len(middle)])[0, 1] > 0.95


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "opus", "mp3"])
def test_the_same_sound_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    """Ogg streams are numbered by the clock; a file must not tell when it was written."""
    write(tmp_path / f"a.{suffix}", hum(1))
    time.sleep(1.1 if suffix in ("ogg", "opus") else 0.0)
    write(tmp_path / f"b.{suffix}", hum(1))
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_three_channels_do_not_fit_into_mp3(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="cannot be written as mp3, 3 channels"):
        write(tmp_path / "a.mp3", [hum(1)] * 3)
    assert not list(tmp_path.iterdir())


def test_no_metadata_is_carried(tmp_path: Path) -> None:
    write(tmp_path / "a.flac", hum(7, duration_s=0.1))
    with soundfile.SoundFile(tmp_path / "a.flac") as file:
        assert not any(file.copy_metadata().values())


def test_refusals_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "words.wav").write_text("these are words, not sound")
    (tmp_path / "empty.wav").write_bytes(b"")
    soundfile.write(tmp_path / "none.wav", np.zeros(0, np.float32), 16_000)
    soundfile.write(tmp_path / "nan.wav", np.array([0.0, np.nan], np.float32), 16_000, subtype="FLOAT")
    for name, rule in {
        "words.wav": "not audio",
        "empty.wav": "not audio",
        "none.wav": "holds no samples",
        "nan.wav": "NaN",
        "absent.wav": "no such file",
        ".": "is a folder",
    }.items():
        with pytest.raises(AudioError, match=rule) as caught:
            read_mono(tmp_path / name)
        assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)


def test_an_absurd_header_costs_no_memory(tmp_path: Path) -> None:
    """A WAV that promises 2 GB and holds 100 samples is read as 100 samples, not allocated as 2 GB."""
    body = np.zeros(100, np.int16).tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 0x7FFFFFF0, b"WAVE", b"fmt ", 16, 1, 1, 16_000, 32_000, 2, 16,
                       b"data", 0x7FFFFF00)  # fmt: skip
    (tmp_path / "liar.wav").write_bytes(head + body)
    assert len(read_mono(tmp_path / "liar.wav").samples) == 100
    head = head[:24] + struct.pack("<I", 0) + head[28:]
    (tmp_path / "zero.wav").write_bytes(head + body)
    with pytest.raises(AudioError):
        probe(tmp_path / "zero.wav")


def test_a_wav_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.wav", hum(1))
    whole = (tmp_path / "a.wav").read_bytes()
    (tmp_path / "half.wav").write_bytes(whole[: len(whole) // 2])
    for look in (read_mono, probe):
        with pytest.raises(AudioError, match=r"cut short \(16022 bytes are missing"):
            look(tmp_path / "half.wav")
    (tmp_path / "longer.wav").write_bytes(whole + b"LIST\x04\x00\x00\x00abcd")
    assert len(read_mono(tmp_path / "longer.wav").samples) == 16_000


def test_writing_refuses_nan_clipping_and_unknown_containers(tmp_path: Path) -> None:
    loud = Audio(np.array([0.0, 1.5], np.float32), 16_000)
    bad = Audio(np.array([0.0, np.inf], np.float32), 16_000)
    none = Audio(np.zeros(0, np.float32), 16_000)
    for audio, name in [(loud, "a.wav"), (bad, "a.wav"), (none, "a.wav"), (hum(1), "a.xyz")]:
        with pytest.raises(AudioError):
            write(tmp_path / name, audio)
    with pytest.raises(AudioError, match="FLAC cannot hold opus"):
        write(tmp_path / "a.flac", hum(1), encoding="opus")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    write(path, hum(1, duration_s=0.1))
    before = path.read_bytes()
    with pytest.raises(AudioError):
        write(path, Audio(np.full(10, 2.0, np.float32), 16_000))
    assert path.read_bytes() == before
    with pytest.raises(OutputError):
        write(path / "below-a-file.wav", hum(1, duration_s=0.1))


def test_resampling_keeps_a_tone_and_its_length() -> None:
    t = np.arange(44_100) / 44_100
    tone = Audio((0.5 * np.sin(2 * np.pi * 1000 * t)).astype(np.float32), 44_100)
    there = resample(tone, 16_000)
    assert there.rate_hz == 16_000 and len(there.samples) == 16_000
    spectrum = np.abs(np.fft.rfft(there.samples[2000:-2000] * np.hanning(12_000)))
    assert abs(spectrum.argmax() * 16_000 / 12_000 - 1000) < 2
    assert resample(tone, 44_100) is tone


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=50))
def test_quantizing_is_odd_and_never_off_by_more_than_half_a_step(values: list[float]) -> None:
    samples = np.array(values, np.float32)
    codes = quantize(samples, bits=16).astype(np.float64)
    clipped = samples.astype(np.float64) * 32768 > 32767
    assert (np.abs(codes - samples.astype(np.float64) * 32768)[~clipped] <= 0.5).all()
    assert (codes[clipped] == 32767).all()


def test_audio_checks_its_shape_and_rate() -> None:
    wrong: list[tuple[Any, int]] = [
        (np.zeros((2, 2), np.float32), 16_000),
        (np.zeros(3), 16_000),
        (np.zeros(3, np.float32), 5),
    ]
    for samples, rate in wrong:
        with pytest.raises(AudioError):
            Audio(samples, rate)


def damaged_mp3(path: Path) -> Path:
    """Write an MP3 file of which some bytes in the middle are noise: libmpg123 complains of it, and goes on."""
    soundfile.write(path, hum(1, duration_s=4.0).samples, 16_000)
    sound = bytearray(path.read_bytes())
    sound[3000:3500] = np.random.default_rng(0).integers(0, 256, 500, dtype=np.uint8).tobytes()
    path.write_bytes(sound)
    return path


def test_the_decoder_writes_nothing_to_standard_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = damaged_mp3(tmp_path / "a.mp3")
    with soundfile.SoundFile(path) as file:
        file.read()
    assert "Illegal Audio-MPEG-Header" in capfd.readouterr().err, "as it is without us"
    renamed = path.with_suffix(".audio")
    renamed.write_bytes(path.read_bytes())
    for source in (path, renamed, io.BytesIO(path.read_bytes())):
        assert len(read_mono(source).samples) > 32_000
    assert probe(path).channels == 1
    told = capfd.readouterr()
    assert told.err == told.out == ""


def test_words_of_others_are_not_lost_while_a_decoder_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    inside, leave = threading.Event(), threading.Event()

    def decode() -> None:
        with quiet_decoder(True):
            inside.set()
            assert leave.wait(60)

    threads = [threading.Thread(target=decode) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert inside.wait(60)
    os.write(2, b"failed: u1: not audio\nNote: Trying to resync...\n[src/libmpg123/layer3.c:x():1] error: y\n")
    assert capfd.readouterr().err == ""
    leave.set()
    for thread in threads:
        thread.join()
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "failed: u1: not audio\nafter\n"
    with pytest.raises(ValueError, match="ours"), quiet_decoder(True):
        raise ValueError("ours")
    os.write(2, b"again\n")
    assert capfd.readouterr().err == "again\n"


def test_without_a_standard_error_sound_is_read_all_the_same(tmp_path: Path) -> None:
    path = damaged_mp3(tmp_path / "a.mp3")
    code = "import os, pathlib; os.close(2)\nfrom personare.core.audio import probe\n"
    code += f"print(probe(pathlib.Path({str(path)!r})).rate_hz)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "16000\n"
