"""Sound in other containers, by PyAV: what is read, what is refused, and a video whose picture alone stays."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from conftest import hum
from media_files import LANGUAGE, NAMES, av, language_tags, make_sound, make_video, picture_packets
from personare.core import media
from personare.core.audio import probe, read_channels, read_mono, write
from personare.core.errors import AudioError, MissingExtraError, OutputError

KINDS = {
    "m4a": ("aac", 44_100),
    "mp4": ("aac", 48_000),
    "aac": ("aac", 16_000),
    "amr": ("libopencore_amrnb", 8_000),
    "wma": ("wmav2", 44_100),
    "mka": ("flac", 16_000),
    "webm": ("libopus", 48_000),
    "3gp": ("libopencore_amrnb", 8_000),
}


@pytest.mark.parametrize("suffix", KINDS)
def test_each_kind_is_read(tmp_path: Path, suffix: str) -> None:
    codec, rate_hz = KINDS[suffix]
    path = make_sound(tmp_path / f"a.{suffix}", codec=codec, rate_hz=rate_hz)
    facts, sound = probe(path), read_mono(path)
    assert facts.channels == 1 and facts.rate_hz == sound.rate_hz == rate_hz
    assert abs(sound.duration_s - 1.0) < 0.15 and abs(facts.duration_s - 1.0) < 0.15
    assert np.abs(sound.samples).max() > 0.1
    part = read_mono(path, start_s=0.25, stop_s=0.5)
    assert np.array_equal(part.samples, sound.samples[round(rate_hz * 0.25) : round(rate_hz * 0.5)])
    with pytest.raises(AudioError, match="ends at"):
        read_mono(path, stop_s=9.0)


def test_channels_are_kept_apart(tmp_path: Path) -> None:
    path = make_sound(tmp_path / "call.m4a", codec="aac", channels=2)
    left, right = read_channels(path)
    assert not np.allclose(left.samples, right.samples, atol=0.01)


BAD: dict[str, bytes] = {
    "words.m4a": b"these are words, not sound",
    "empty.mp4": b"",
    "noise.mkv": bytes(range(256)) * 20,
    "playlist.mp4": b"ffconcat version 1.0\nfile secret.wav\n",
    "list.webm": b"#EXTM3U\n#EXTINF:10.0,\nsecret.wav\n#EXT-X-ENDLIST\n",
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_sound_is_one_line_and_names_no_other_file(tmp_path: Path, name: str) -> None:
    av()
    write(tmp_path / "secret.wav", hum(1))
    (tmp_path / name).write_bytes(BAD[name])
    for look in (read_mono, probe):
        with pytest.raises(AudioError, match="not audio") as caught:
            look(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_a_video_cut_short_is_refused(tmp_path: Path) -> None:
    whole = make_video(tmp_path / "a.mp4").read_bytes()
    (tmp_path / "half.mp4").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(AudioError, match=r"cut short \(\d+ bytes are missing\)"):
        read_mono(tmp_path / "half.mp4")


def test_a_picture_without_sound_is_no_sound(tmp_path: Path) -> None:
    with av().open(str(tmp_path / "silent.mp4"), "w") as out:
        video = out.add_stream("mpeg4", rate=10)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        out.mux(video.encode(av().VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), format="rgb24")))
        out.mux(video.encode(None))
    with pytest.raises(AudioError, match="holds no sound track"):
        read_mono(tmp_path / "silent.mp4")


def test_without_the_extra_one_line_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "av" else find(name, *rest))
    (tmp_path / "a.m4a").write_bytes(b"whatever it is")
    (tmp_path / "a.wav").write_bytes(b"whatever it is")
    with pytest.raises(MissingExtraError, match=r"a\.m4a needs the extra 'media'; install it with: pip install"):
        read_mono(tmp_path / "a.m4a")
    with pytest.raises(AudioError, match="not audio that libsndfile can read"):
        read_mono(tmp_path / "a.wav")


@pytest.mark.parametrize(
    ("source", "target", "picture", "sound"),
    [
        ("in.mp4", "out.mp4", "mpeg4", "aac"),
        ("in.mkv", "out.mkv", "libx264", "aac"),
        ("in.mkv", "out.mp4", "libx264", "libopus"),
        ("in.webm", "out.webm", "libvpx", "libopus"),
    ],
)
def test_a_video_keeps_its_picture_and_nothing_else(
    tmp_path: Path, source: str, target: str, picture: str, sound: str
) -> None:
    made = make_video(tmp_path / source, picture=picture, sound=sound)
    assert media.has_picture(made)
    frames, rate_hz, begin = media.read(made, "a video")
    new = (0.5 * np.roll(frames, 100, axis=0)).astype(np.float32)
    media.write_video(tmp_path / target, made, new, rate_hz, begin=begin)
    content = (tmp_path / target).read_bytes()
    assert not [name for name in NAMES if name.encode() in content]
    assert LANGUAGE in language_tags(made) and not language_tags(tmp_path / target)
    assert picture_packets(tmp_path / target) == picture_packets(made)
    with av().open(str(tmp_path / target)) as container:
        assert [stream.type for stream in container.streams] == ["video", "audio"] and not container.chapters()
        tags = {*container.metadata, *(tag for stream in container.streams for tag in stream.metadata)}
        assert not {"title", "artist", "comment", "creation_time"}.intersection(tags)
        assert abs(container.duration / 1e6 - 2.0) < 0.1
    heard, _, _ = media.read(tmp_path / target, "the result")
    middle = slice(rate_hz // 2, rate_hz)
    assert np.corrcoef(heard[middle, 0], new[middle, 0])[0, 1] > 0.95, "sound and picture stay together"


def test_a_container_that_cannot_hold_the_picture_is_one_line(tmp_path: Path) -> None:
    made = make_video(tmp_path / "in.mp4")
    with pytest.raises(OutputError, match=r"cannot hold the picture .* try a name ending in \.mkv"):
        media.write_video(tmp_path / "a.webm", made, np.zeros((100, 1), np.float32), 48_000, begin=Fraction(0))
    sound = make_sound(tmp_path / "a.m4a", codec="aac")
    assert not media.has_picture(sound)
    with pytest.raises(AudioError, match="holds no moving picture"):
        media.write_video(tmp_path / "a.mp4", sound, np.zeros((100, 1), np.float32), 48_000, begin=Fraction(0))


def test_a_header_without_a_rate_is_told_as_no_audio(tmp_path: Path) -> None:
    (tmp_path / "a.flac").write_bytes(b"spoilt")
    for work in (probe, read_mono):
        with pytest.raises(AudioError, match="not audio that libsndfile or libav can read"):
            work(tmp_path / "a.flac")
