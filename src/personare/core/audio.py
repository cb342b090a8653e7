"""Sound in and out: the only place that opens audio files, with its other halves core.media and core.audio_writing.

Files are read by libsndfile, and by libav where that cannot (m4a, video ...; extra ``media``), in blocks, so that a
header that lies about its length cannot ask for memory the file does not fill. ``AudioBlocks`` gives these blocks one
by one, for methods that need no more; how much sound one file may hold is bounded (core.sound). Writing is in
core.audio_writing, whose names are here too.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from personare.core import media
from personare.core.audio_writing import WRITABLE as WRITABLE
from personare.core.audio_writing import Encoding as Encoding
from personare.core.audio_writing import encode as encode
from personare.core.audio_writing import encode_blocks as encode_blocks
from personare.core.audio_writing import encode_flac as encode_flac
from personare.core.audio_writing import encode_wav as encode_wav
from personare.core.audio_writing import write as write
from personare.core.decoder_messages import is_mpeg, quiet_decoder
from personare.core.errors import AudioError, MissingExtraError
from personare.core.sound import BLOCK_FRAMES, MAX_CHANNELS, MAX_SAMPLES, between, check_expansion, gathered
from personare.core.sound import RATE_RANGE_HZ as RATE_RANGE_HZ
from personare.core.sound import Audio as Audio
from personare.core.sound import AudioFacts as AudioFacts
from personare.core.sound import quantize as quantize
from personare.core.sound import resample as resample
from personare.core.wholeness import lacks_mp3_frames, refuse_cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.sound import Blocks

AUDIO_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".opus", ".mp3", ".aiff", ".aif", ".au", ".caf", ".w64", ".rf64"})
# what core.media reads besides, with the extra "media"
MEDIA_SUFFIXES = media.MEDIA_SUFFIXES
_PLAUSIBLE_EXPANSION = 40  # a header that claims more is believed when it is decoded
_LONGEST_S = MAX_SAMPLES / RATE_RANGE_HZ[0]
_UNKNOWN_FRAMES = 1 << 62  # libsndfile's answer where a header does not say


def readable_suffixes() -> frozenset[str]:
    """The endings of files that can be read here: those of core.media too where the extra is installed."""
    return AUDIO_SUFFIXES | MEDIA_SUFFIXES if media.is_there() else AUDIO_SUFFIXES


def _name(source: Path | BinaryIO) -> str:
    return str(source) if isinstance(source, Path) else "standard input"


def _open(source: Path | BinaryIO) -> Any:
    """Open a file by libsndfile; None where libav must try."""
    import soundfile

    name = _name(source)
    if isinstance(source, Path):
        _check_file(source)
    refuse_cut(source, name)
    suffix = source.suffix.lower() if isinstance(source, Path) else ""
    try:
        if suffix == ".mp3" and isinstance(source, Path) and lacks_mp3_frames(source):
            raise OSError("no MPEG frame")
        with quiet_decoder(is_mpeg(source)):
            file = soundfile.SoundFile(source)
    except (soundfile.LibsndfileError, OSError, TypeError) as error:
        if media.is_there():
            return None
        if suffix in media.MEDIA_SUFFIXES:
            raise MissingExtraError("media", name) from None
        raise _unreadable(name, error) from None
    try:
        _check_header(name, file.samplerate, file.channels)
    except AudioError:
        file.close()
        raise
    return file


def _check_file(path: Path) -> None:
    """Refuse a path that is no file with something in it, before a decoder waits for it."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise AudioError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # no permission, a name over 255 bytes, a link to itself
        raise AudioError(f"{path}: cannot be opened ({getattr(error, 'strerror', None) or error})") from None
    if stat.S_ISDIR(status.st_mode):
        raise AudioError(f"{path}: is a folder, not an audio file")
    if not stat.S_ISREG(status.st_mode):
        raise AudioError(f"{path}: is no regular file (a pipe or a device); copy the recording into a file")
    if status.st_size == 0:
        raise AudioError(f"{path}: not audio that libsndfile or libav can read (it is empty)")


def _check_header(name: str, rate_hz: int, channels: int) -> None:
    """Refuse rates and channels that no recording of speech has, before anything is decoded."""
    low, high = RATE_RANGE_HZ
    if not low <= rate_hz <= high:
        raise AudioError(f"{name}: its sample rate of {rate_hz:,} Hz is outside {low:,} to {high:,} Hz; resample it")
    if not 1 <= channels <= MAX_CHANNELS:
        raise AudioError(f"{name}: has {channels} channels, not 1 to {MAX_CHANNELS}; split it into several files")


def _unreadable(name: str, error: Exception) -> AudioError:
    reason = getattr(error, "error_string", str(error)).strip().rstrip(".")
    return AudioError(f"{name}: not audio that libsndfile can read ({reason})")


def probe(path: Path) -> AudioFacts:
    """Read the header of a file."""
    file = _open(path)
    if file is None:
        facts = AudioFacts(*media.probe(path, str(path)))
        _check_header(str(path), facts.rate_hz, facts.channels)
        return facts
    with file:
        if file.frames == 0:
            raise AudioError(f"{path}: holds no samples")
        return AudioFacts(file.samplerate, file.channels, file.frames, f"{file.format} {file.subtype}")


def decode_whole(path: Path) -> AudioFacts:
    """Decode a file to its end; refuses one that is cut or broken, and a FLAC whose sound does not fit its own MD5."""
    import soundfile

    facts = probe(path)
    count = sum(len(block) for block in open_blocks(path))
    if count != facts.frames:
        raise AudioError(f"{path}: cut short ({count} of {facts.frames} samples are there)")
    if facts.encoding == "FLAC PCM_16":
        with path.open("rb") as stream:
            promised = stream.read(42)[26:]  # the last field of STREAMINFO, which comes first (RFC 9639, 8.2)
        found = hashlib.md5(usedforsecurity=False)
        for codes in soundfile.blocks(path, blocksize=BLOCK_FRAMES, dtype="int16"):
            found.update(codes.astype("<i2").tobytes())
        if any(promised) and found.digest() != promised:
            raise AudioError(f"{path}: broken audio (it does not fit its own checksum)")
    return facts


def is_whole(path: Path) -> AudioFacts | None:
    """Give the facts of a file that is there and can be decoded to its end; None of any other."""
    try:
        return decode_whole(path) if path.is_file() else None
    except AudioError:
        return None


@dataclass(frozen=True)
class AudioBlocks:
    """A file, or the part of it from ``start_s`` to ``stop_s``, as blocks of float32 [frames, channels]; read it once.

    A broken file, one that ends before ``stop_s``, and NaN are errors when they are met, in the middle of the work.
    """

    name: str
    rate_hz: int
    channels: int
    frames: int | None  # how many there should be; None where only decoding tells
    _read: Blocks
    _start_s: float
    _stop_s: float | None

    def close(self) -> None:
        """Close a file that is not read to its end."""
        self._read.close()

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        count = 0
        for block in self._read:
            if not np.isfinite(block).all():
                raise AudioError(f"{self.name}: holds NaN or infinite samples")
            count += len(block)
            yield block
        if not count:
            where = f" from {self._start_s} s on" if self._start_s else ""
            raise AudioError(f"{self.name}: holds no samples{where}")
        first = round(self._start_s * self.rate_hz)
        wanted = None if self._stop_s is None else round(self._stop_s * self.rate_hz) - first
        if wanted is not None and count < wanted - self.rate_hz // 20:
            raise AudioError(f"{self.name}: ends at {(first + count) / self.rate_hz:.2f} s, before {self._stop_s} s")


def open_blocks(source: Path | BinaryIO, *, start_s: float = 0.0, stop_s: float | None = None) -> AudioBlocks:
    """Open a file to be read block by block."""
    name = _name(source)
    if not math.isfinite(start_s) or (stop_s is not None and not math.isfinite(stop_s)):
        raise AudioError(f"{name}: a part must begin and end at finite times, not from {start_s} s to {stop_s} s")
    if not max(abs(start_s), abs(stop_s or 0.0)) <= _LONGEST_S:
        raise AudioError(f"{name}: no recording is as long as the part from {start_s:g} s to {stop_s or start_s:g} s")
    file, stored = _open(source), _stored_bytes(source)
    if file is None:
        rate_hz, channels, known, _ = media.header(source, name)
        if rate_hz and channels:  # else only decoding tells, if there is any sound
            _check_header(name, rate_hz, channels)
        check_expansion(name, frames=known or 0, channels=channels, stored_bytes=stored)
        track = media.SoundTrack(source, name)
        every = iter(track)
        head = next(every)  # rate and channels of some codecs are known when they are decoded
        _check_header(name, track.rate_hz, head.shape[1])
        first, last = round(start_s * track.rate_hz), None if stop_s is None else round(stop_s * track.rate_hz)
        decoded = gathered(between(_bounded(itertools.chain([head], every), name, stored), first, last))
        return AudioBlocks(name, track.rate_hz, head.shape[1], None, decoded, start_s, stop_s)
    rate_hz, channels = int(file.samplerate), int(file.channels)
    first, last = round(start_s * rate_hz), None if stop_s is None else round(stop_s * rate_hz)
    known = file.frames if file.frames < _UNKNOWN_FRAMES else None
    frames = None if known is None else max(0, (known if last is None else min(last, known)) - first)
    try:
        check_expansion(name, frames=frames or 0, channels=channels, stored_bytes=stored)
    except AudioError:
        file.close()
        raise
    if frames is not None and 4 * frames * channels > _PLAUSIBLE_EXPANSION * stored:
        frames = None
    wanted = None if last is None else last - first
    decoded = _bounded(_decoded(file, name, first, wanted), name, stored)
    return AudioBlocks(name, rate_hz, channels, frames, decoded, start_s, stop_s)


def _stored_bytes(source: Path | BinaryIO) -> int:
    if isinstance(source, Path):
        return source.stat().st_size
    place = source.tell()  # of the decoder that has it open
    size = source.seek(0, os.SEEK_END)
    source.seek(place)
    return size


def _decoded(file: Any, name: str, first: int, wanted: int | None) -> Blocks:
    """Decode ``wanted`` frames of an open file by libsndfile, and close it."""
    import soundfile

    left, is_mp3 = wanted, file.format == "MP3"
    with file:
        try:
            if first:
                with quiet_decoder(is_mp3):
                    file.seek(first)
            while left is None or left > 0:
                with quiet_decoder(is_mp3):
                    block = file.read(BLOCK_FRAMES if left is None else min(left, BLOCK_FRAMES), "float32", True)
                if not len(block):
                    return
                yield block
                left = None if left is None else left - len(block)
        except (soundfile.LibsndfileError, RuntimeError, ValueError) as error:
            raise AudioError(f"{name}: broken audio ({str(error).strip().rstrip('.')})") from None


def _bounded(blocks: Iterator[NDArray[np.float32]], name: str, stored: int) -> Blocks:
    """Stop where a file turns out to hold more sound than its header said and one file may hold."""
    count = 0
    for block in blocks:
        count += len(block)
        check_expansion(name, frames=count, channels=block.shape[1], stored_bytes=stored)
        yield block


def _read_frames(source: Path | BinaryIO, start_s: float, stop_s: float | None) -> tuple[NDArray[np.float32], int]:
    """Read float32 [frames, channels] from ``start_s`` to ``stop_s``; no second copy where the header is right."""
    blocks = open_blocks(source, start_s=start_s, stop_s=stop_s)
    whole, count = np.empty((blocks.frames or 0, blocks.channels), np.float32), 0
    more: list[NDArray[np.float32]] = []
    for block in blocks:
        if more or count + len(block) > len(whole):
            more.append(block)
        else:
            whole[count : count + len(block)] = block
            count += len(block)
    return (np.concatenate([whole[:count], *more]) if more else whole[:count]), blocks.rate_hz


def read_channels(source: Path | BinaryIO, *, start_s: float = 0.0, stop_s: float | None = None) -> list[Audio]:
    """Read a file (or the part from ``start_s`` to ``stop_s``), one Audio per channel."""
    frames, rate_hz = _read_frames(source, start_s, stop_s)
    return [Audio(np.ascontiguousarray(frames[:, c]), rate_hz) for c in range(frames.shape[1])]


def read_mono(
    source: Path | BinaryIO, *, start_s: float = 0.0, stop_s: float | None = None, channel: int | None = None
) -> Audio:
    """Read a file as one channel: the mean of all, or one of them (1 is the first); not for making files."""
    frames, rate_hz = _read_frames(source, start_s, stop_s)
    return Audio(one_channel(frames, channel, name=str(source)), rate_hz)


def one_channel(frames: NDArray[np.float32], channel: int | None, *, name: str) -> NDArray[np.float32]:
    """Make one channel of [frames, channels]: the mean of all, or one of them (1 is the first)."""
    if channel is not None:
        if not 1 <= channel <= frames.shape[1]:
            raise AudioError(f"{name}: has no channel {channel}; it has {frames.shape[1]}")
        frames = frames[:, channel - 1 : channel]
    mono = frames[:, 0] if frames.shape[1] == 1 else frames.mean(axis=1, dtype=np.float32)
    return np.ascontiguousarray(mono)
