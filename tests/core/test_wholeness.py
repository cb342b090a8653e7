"""A recording that was cut anywhere is refused, in every container; a whole one never is."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import soundfile

from conftest import hum
from media_files import av, make_sound, without_media
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
