"""A recording that was cut anywhere is refused, in every container; a whole one never is."""

from __future__ import annotations

import contextlib
import io
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from conftest import hum
from media_files import av, encode_track, make_sound, without_media
from personare.core import matroska
from personare.core.audio import decode_whole, is_whole, probe, read_channels, read_mono, write
from personare.core.errors import AudioError
from personare.core.wholeness import mp3_frame_bytes, refuse_cut

KINDS = {
    "wav": ("WAV", "PCM_16"),
    "flac": ("FLAC", "PCM_16"),
    "ogg": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
    "aiff": ("AIFF", "PCM_16"),
    "au": ("AU", "PCM_16"),
    "w64": ("W64", "PCM_16"),
    "rf64": ("RF64", "PCM_16"),
    "caf": ("CAF", "PCM_16"),
}


def whole_file(folder: Path, suffix: str) -> Path:
    container, subtype = KINDS[suffix]
    path = folder / f"whole.{suffix}"
    soundfile.write(path, hum(1, duration_s=0.7, rate_hz=24_000).samples, 24_000, format=container, subtype=subtype)
    return path


@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize("libav", [True, False], ids=["with libav", "without"])
def test_a_file_cut_anywhere_is_refused(
    tmp_path: Path, suffix: str, libav: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = whole_file(tmp_path, suffix)
    if not libav:
        without_media(monkeypatch)
    assert decode_whole(path).frames == pytest.approx(0.7 * 24_000, abs=2400)
    content, cut = path.read_bytes(), tmp_path / f"cut.{suffix}"
    places = {*range(64, len(content), max(1, len(content) // 25)), len(content) - 1, len(content) - 7}
    for place in places:
        cut.write_bytes(content[:place])
        with pytest.raises(AudioError):
            read_mono(cut)
        with pytest.raises(AudioError):
            read_channels(io.BytesIO(content[:place]))


def test_a_cut_m4a_is_refused(tmp_path: Path) -> None:
    av()
    content = make_sound(tmp_path / "a.m4a", codec="aac").read_bytes()
    for place in (len(content) // 2, len(content) - 1):
        (tmp_path / "cut.m4a").write_bytes(content[:place])
        with pytest.raises(AudioError):
            read_mono(tmp_path / "cut.m4a")


MEDIA = {
    **{"webm": "libopus", "mka": "aac", "mkv": "libopus"},
    **{"avi": "pcm_s16le", "wma": "wmav2", "aac": "aac"},
}


@pytest.mark.parametrize("suffix", MEDIA)
def test_a_file_of_libav_cut_anywhere_is_refused(tmp_path: Path, suffix: str) -> None:
    av()
    path = make_sound(tmp_path / f"whole.{suffix}", codec=MEDIA[suffix], rate_hz=48_000)
    assert len(read_mono(path).samples) == pytest.approx(48_000, abs=3000)
    _assert_refused_when_cut(path)


@pytest.mark.parametrize("unknown_clusters", [False, True], ids=["sized clusters", "open clusters"])
@pytest.mark.parametrize("container", ["webm", "matroska"])
def test_a_live_recording_cut_within_an_element_is_refused(
    tmp_path: Path, container: str, unknown_clusters: bool
) -> None:
    """Browsers write a segment of unknown size, and some of them clusters of unknown size."""
    content = live_recording(container, unknown_clusters=unknown_clusters)
    path = tmp_path / "live.webm"
    path.write_bytes(content)
    assert len(read_mono(path).samples) == pytest.approx(2 * 48_000, abs=3000)
    _assert_refused_when_cut(path)


def test_a_live_recording_that_states_its_duration_is_refused_when_blocks_are_missing(tmp_path: Path) -> None:
    """Cut exactly between two blocks: only the duration tells. Without one, it is a shorter recording."""
    content = live_recording("webm", unknown_clusters=True)
    first = content.index(b"\x1f\x43\xb6\x75")
    last = content.index(b"\x1f\x43\xb6\x75", first + 4)  # the second cluster begins here, at 1 s
    refuse_cut(io.BytesIO(content[:last]), "without a duration")
    info = content.rindex(b"\x15\x49\xa9\x66", 0, first)  # the list of elements before it has the same mark
    stated = b"\x44\x89\x88" + struct.pack(">d", 2000.0)  # Duration, in milliseconds
    length = content[info + 4] & 0x7F
    assert content[info + 4] & 0x80, "a size of one byte"
    longer = content[: info + 4] + bytes([0x80 | (length + len(stated))]) + stated + content[info + 5 :]
    refuse_cut(io.BytesIO(longer), "whole")
    with pytest.raises(AudioError, match="cut short"):
        refuse_cut(io.BytesIO(longer[: last + len(stated)]), "cut")


@given(st.binary(max_size=200), st.integers(0, 2000))
def test_any_bytes_behind_the_head_of_a_matroska_file_are_left_to_the_decoder_or_refused(tail: bytes, at: int) -> None:
    for content in (matroska.MAGIC + tail, LIVE_HEAD + tail, LIVE_HEAD[:at] + tail):
        with contextlib.suppress(AudioError):
            refuse_cut(io.BytesIO(content), "any")


LIVE_HEAD = bytes.fromhex("1a45dfa39f4286810142f7810142f2810442f381084282847765626d428781044285810218538067") + (
    bytes.fromhex("01ffffffffffffff1549a9668e2ad7b1830f42404d80835769611f43b67501ffffffffffffffe78100")
)


def live_recording(container: str, *, unknown_clusters: bool) -> bytes:
    """Two seconds of Opus in clusters of one second, as a program writes them that cannot go back in its file."""
    stream = io.BytesIO()
    options = {"live": "1", "cluster_time_limit": "1000"}
    with av().open(stream, "w", format=container, options=options) as out:
        track = out.add_stream("libopus", rate=48_000, layout="mono")
        encode_track(out, track, [hum(1, rate_hz=48_000, duration_s=2.0)])
    content = stream.getvalue()
    mark = b"\x1f\x43\xb6\x75"
    assert content.count(mark) >= 2
    if not unknown_clusters:
        return content
    parts = content.split(mark)  # the size behind each: its first byte says how long it is
    return parts[0] + b"".join(mark + b"\x01" + b"\xff" * 7 + part[9 - part[0].bit_length() :] for part in parts[1:])


def _assert_refused_when_cut(path: Path) -> None:
    content, cut = path.read_bytes(), path.with_name(f"cut{path.suffix}")
    for place in {*range(64, len(content), max(1, len(content) // 25)), len(content) - 1, len(content) - 7}:
        cut.write_bytes(content[:place])
        with pytest.raises(AudioError):
            read_mono(cut)
        with pytest.raises(AudioError):
            read_channels(io.BytesIO(content[:place]))


def test_a_recording_through_a_pipe_promises_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a.wav", hum(1))
    content = bytearray((tmp_path / "a.wav").read_bytes())
    for size in (0, 0xFFFFFFFF, 0x7FFFFFFF):
        content[40:44] = size.to_bytes(4, "little")
        refuse_cut(io.BytesIO(bytes(content)), "a pipe")


def test_an_mp3_without_a_header_is_followed_frame_by_frame(tmp_path: Path) -> None:
    content = whole_file(tmp_path, "mp3").read_bytes()
    first = mp3_frame_bytes(content[:4])
    assert first is not None
    bare = content[first:]
    for junk in (b"", b"TAG" + bytes(125)):
        refuse_cut(io.BytesIO(bare + junk), "bare")
    with pytest.raises(AudioError, match="cut short"):
        refuse_cut(io.BytesIO(bare[:-20]), "bare")


@pytest.mark.parametrize("libav", [True, False], ids=["with libav", "without"])
def test_what_only_has_the_name_of_an_mp3_is_refused_without_a_word_of_the_decoder(
    tmp_path: Path, libav: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if not libav:
        without_media(monkeypatch)
    path = tmp_path / "words.mp3"
    for content in (b"not audio at all" * 50, b"", b"ID3\x04\x00\x00\x00\x00\x00\x0a" + b"no sound behind a tag" * 9):
        path.write_bytes(content)
        with pytest.raises(AudioError, match=r"words\.mp3: not audio that libsndfile"):
            probe(path)
    assert capfd.readouterr().err == ""
    for kind in ("mp3", "wav", "flac", "ogg"):  # what is sound by its content is read, whatever it is called
        path.write_bytes(whole_file(tmp_path, kind).read_bytes())
        assert probe(path).rate_hz == 24_000


def test_any_byte_that_changes_in_a_flac_is_noticed(tmp_path: Path) -> None:
    write(tmp_path / "a.flac", [hum(1, duration_s=0.3), hum(2, duration_s=0.3)])
    content = (tmp_path / "a.flac").read_bytes()
    assert is_whole(tmp_path / "a.flac") == probe(tmp_path / "a.flac")
    changed = tmp_path / "changed.flac"
    rng = np.random.default_rng(1)
    for place in rng.integers(len(content) // 4, len(content), 25):  # in the sound, after the header
        spoilt = bytearray(content)
        spoilt[place] ^= 1 << rng.integers(8)
        changed.write_bytes(spoilt)
        assert is_whole(changed) is None, place
    changed.write_bytes(content[: len(content) // 2] + bytes(len(content) - len(content) // 2))
    assert is_whole(changed) is None and is_whole(tmp_path / "absent.flac") is None
