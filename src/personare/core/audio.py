"""Sound in and out: the only place that opens audio files (with its other half, core.media), resamples and rounds.

Files are read by libsndfile, and by libav where that cannot (m4a, video ...; extra ``media``), in blocks, so that a
header that lies about its length cannot ask for memory the file does not fill. Written files carry samples only: no
tags, no names, no dates. 16- and 24-bit samples are rounded here, once, because libsndfile floors them for WAV and
rounds them for FLAC.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np

from personare.core import media, ogg
from personare.core.errors import AudioError, MissingExtraError
from personare.core.files import write_bytes
from personare.core.sound import RATE_RANGE_HZ as RATE_RANGE_HZ
from personare.core.sound import Audio as Audio
from personare.core.sound import AudioFacts as AudioFacts
from personare.core.sound import quantize as quantize
from personare.core.sound import resample as resample
from personare.core.wholeness import lacks_mp3_frames, refuse_cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_CHANNELS = 64
AUDIO_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".opus", ".mp3", ".aiff", ".aif", ".au", ".caf", ".w64", ".rf64"})
# what core.media reads besides, with the extra "media"
MEDIA_SUFFIXES = media.MEDIA_SUFFIXES
Encoding = Literal["pcm16", "pcm24", "float32", "vorbis", "opus", "mp3"]
# suffix -> container of libsndfile, and the encodings it holds, the usual one first
WRITABLE: dict[str, tuple[str, tuple[Encoding, ...]]] = {
    ".wav": ("WAV", ("pcm16", "pcm24", "float32")),
    ".flac": ("FLAC", ("pcm16", "pcm24")),
    ".ogg": ("OGG", ("vorbis",)),
    ".opus": ("OGG", ("opus",)),
    ".mp3": ("MP3", ("mp3",)),
}
_SUBTYPES: dict[Encoding, str] = {
    **{"pcm16": "PCM_16", "pcm24": "PCM_24", "float32": "FLOAT"},
    **{"vorbis": "VORBIS", "opus": "OPUS", "mp3": "MPEG_LAYER_III"},
}
# codecs that know some rates only: others are written at the next rate above
_RATES_HZ: dict[Encoding, tuple[int, ...]] = {
    "opus": (8_000, 12_000, 16_000, 24_000, 48_000),
    "mp3": (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000),
}
_BLOCK_FRAMES = 1 << 20


def readable_suffixes() -> frozenset[str]:
    """The endings of files that can be read here: those of core.media too where the extra is installed."""
    return AUDIO_SUFFIXES | MEDIA_SUFFIXES if media.is_there() else AUDIO_SUFFIXES


def _name(source: Path | BinaryIO) -> str:
    return str(source) if isinstance(source, Path) else "standard input"


def _open(source: Path | BinaryIO) -> Any:
    """Open a file by libsndfile; None where libav must try."""
    import soundfile

    name = _name(source)
    if isinstance(source, Path) and not source.exists():
        raise AudioError(f"{source}: no such file")
    if isinstance(source, Path) and source.is_dir():
        raise AudioError(f"{source}: is a folder, not an audio file")
    if isinstance(source, Path) and source.stat().st_size == 0:  # libav tells of its own mistakes with such a file
        raise AudioError(f"{source}: not audio that libsndfile or libav can read (it is empty)")
    refuse_cut(source, name)
    suffix = source.suffix.lower() if isinstance(source, Path) else ""
    try:
        if suffix == ".mp3" and isinstance(source, Path) and lacks_mp3_frames(source):
            raise OSError("no MPEG frame")
        file = soundfile.SoundFile(source)
    except (soundfile.LibsndfileError, OSError, TypeError) as error:
        if media.is_there():
            return None
        if suffix in media.MEDIA_SUFFIXES:
            raise MissingExtraError("media", name) from None
        raise _unreadable(name, error) from None
    if not RATE_RANGE_HZ[0] <= file.samplerate <= RATE_RANGE_HZ[1] or not 1 <= file.channels <= MAX_CHANNELS:
        file.close()
        raise AudioError(f"{name}: absurd header ({file.samplerate} Hz, {file.channels} channels)")
    return file


def _unreadable(name: str, error: Exception) -> AudioError:
    reason = getattr(error, "error_string", str(error)).strip().rstrip(".")
    return AudioError(f"{name}: not audio that libsndfile can read ({reason})")


def probe(path: Path) -> AudioFacts:
    """Read the header of a file."""
    file = _open(path)
    if file is None:
        facts = AudioFacts(*media.probe(path, str(path)))
        if not RATE_RANGE_HZ[0] <= facts.rate_hz <= RATE_RANGE_HZ[1] or not 1 <= facts.channels <= MAX_CHANNELS:
            raise AudioError(f"{path}: absurd header ({facts.rate_hz} Hz, {facts.channels} channels)")
        return facts
    with file:
        if file.frames == 0:
            raise AudioError(f"{path}: holds no samples")
        return AudioFacts(file.samplerate, file.channels, file.frames, f"{file.format} {file.subtype}")


def decode_whole(path: Path) -> AudioFacts:
    """Decode a file to its end; refuses one that is cut or broken, and a FLAC whose sound does not fit its own MD5."""
    import soundfile

    facts = probe(path)
    frames, _ = _read_frames(path, 0.0, None)
    if len(frames) != facts.frames:
        raise AudioError(f"{path}: cut short ({len(frames)} of {facts.frames} samples are there)")
    if facts.encoding == "FLAC PCM_16":
        with path.open("rb") as stream:
            promised = stream.read(42)[26:]  # the last field of STREAMINFO, which comes first (RFC 9639, 8.2)
        codes, _ = soundfile.read(path, dtype="int16")
        if any(promised) and hashlib.md5(codes.astype("<i2").tobytes(), usedforsecurity=False).digest() != promised:
            raise AudioError(f"{path}: broken audio (it does not fit its own checksum)")
    return facts


def is_whole(path: Path) -> AudioFacts | None:
    """Give the facts of a file that is there and can be decoded to its end; None of any other."""
    try:
        return decode_whole(path) if path.is_file() else None
    except AudioError:
        return None


def _read_frames(source: Path | BinaryIO, start_s: float, stop_s: float | None) -> tuple[NDArray[np.float32], int]:
    """Read float32 [frames, channels] from ``start_s`` to ``stop_s``."""
    import soundfile

    file, name = _open(source), _name(source)
    if file is None:
        every, rate_hz, _ = media.read(source, name)
        first, last = round(start_s * rate_hz), None if stop_s is None else round(stop_s * rate_hz)
        return _checked(every[first:last], name, rate_hz, start_s, stop_s), rate_hz
    with file:
        first = round(start_s * file.samplerate)
        last = None if stop_s is None else round(stop_s * file.samplerate)
        blocks: list[NDArray[np.float32]] = []
        try:
            if first:
                file.seek(first)
            left = None if last is None else last - first
            while left is None or left > 0:
                block = file.read(_BLOCK_FRAMES if left is None else min(left, _BLOCK_FRAMES), "float32", True)
                if not len(block):
                    break
                blocks.append(block)
                left = None if left is None else left - len(block)
        except (soundfile.LibsndfileError, RuntimeError, ValueError) as error:
            raise AudioError(f"{name}: broken audio ({str(error).strip().rstrip('.')})") from None
    frames = np.concatenate(blocks) if len(blocks) != 1 and blocks else (blocks or [np.zeros((0, 1), np.float32)])[0]
    return _checked(frames, name, file.samplerate, start_s, stop_s), file.samplerate


def _checked(
    frames: NDArray[np.float32], name: str, rate_hz: int, start_s: float, stop_s: float | None
) -> NDArray[np.float32]:
    """Refuse frames [frames, channels] that are none, fewer than asked for, or no numbers."""
    if not len(frames):
        raise AudioError(f"{name}: holds no samples" + (f" from {start_s} s on" if start_s else ""))
    first = round(start_s * rate_hz)
    if stop_s is not None and len(frames) < round(stop_s * rate_hz) - first - rate_hz // 20:
        raise AudioError(f"{name}: ends at {(first + len(frames)) / rate_hz:.2f} s, before {stop_s} s")
    if not np.isfinite(frames).all():
        raise AudioError(f"{name}: holds NaN or infinite samples")
    return frames


def read_channels(source: Path | BinaryIO, *, start_s: float = 0.0, stop_s: float | None = None) -> list[Audio]:
    """Read a file (or the part from ``start_s`` to ``stop_s``), one Audio per channel."""
    frames, rate_hz = _read_frames(source, start_s, stop_s)
    return [Audio(np.ascontiguousarray(frames[:, c]), rate_hz) for c in range(frames.shape[1])]


def read_mono(
    source: Path | BinaryIO, *, start_s: float = 0.0, stop_s: float | None = None, channel: int | None = None
) -> Audio:
    """Read a file as one channel: the mean of all, or one of them (1 is the first); not for making files."""
    frames, rate_hz = _read_frames(source, start_s, stop_s)
    if channel is not None:
        if not 1 <= channel <= frames.shape[1]:
            raise AudioError(f"{source}: has no channel {channel}; it has {frames.shape[1]}")
        frames = frames[:, channel - 1 : channel]
    mono = frames[:, 0] if frames.shape[1] == 1 else frames.mean(axis=1, dtype=np.float32)
    return Audio(np.ascontiguousarray(mono), rate_hz)


def write(path: Path, channels: Audio | Sequence[Audio], *, encoding: Encoding | None = None) -> None:
    """Write one or more channels to ``path`` atomically; the suffix names the container (wav, flac, ogg, opus, mp3).

    opus and mp3 know some rates only: a recording of another rate is written at the next one above, at most 48 kHz.
    """
    write_bytes(path, encode(path, channels, encoding=encoding))


def encode(path: Path, channels: Audio | Sequence[Audio], *, encoding: Encoding | None = None) -> bytes:
    """Give the bytes that ``write`` writes: libsndfile does not tell when a disk is full, and Python does."""
    tracks = [channels] if isinstance(channels, Audio) else list(channels)
    chosen = _encoding(path, encoding)
    stream = io.BytesIO()
    _write_frames(stream, path, tracks, chosen)
    content = stream.getvalue()
    return ogg.without_serial(content) if chosen in ("vorbis", "opus") else content


def _encoding(path: Path, encoding: Encoding | None) -> Encoding:
    if path.suffix.lower() not in WRITABLE:
        raise AudioError(f"{path}: cannot write '{path.suffix}'; use one of {', '.join(sorted(WRITABLE))}")
    container, held = WRITABLE[path.suffix.lower()]
    if encoding is not None and encoding not in held:
        raise AudioError(f"{path}: {container} cannot hold {encoding}")
    return encoding or held[0]


def _write_frames(place: BinaryIO, path: Path, tracks: Sequence[Audio], encoding: Encoding) -> None:
    """Write into ``place`` what goes to ``path``."""
    import soundfile

    data: NDArray[Any] = _checked_frames(path, tracks)
    rate_hz = tracks[0].rate_hz
    rates = _RATES_HZ.get(encoding)
    if rates is not None and rate_hz not in rates:
        higher = next((rate for rate in rates if rate > rate_hz), rates[-1])
        tracks = [
            replace(one, samples=np.clip(one.samples, -1.0, 1.0)) for one in (resample(t, higher) for t in tracks)
        ]
        data, rate_hz = _checked_frames(path, tracks), higher
    if encoding in ("pcm16", "pcm24"):
        data = quantize(data, bits=16 if encoding == "pcm16" else 24)
    container, subtype = WRITABLE[path.suffix.lower()][0], _SUBTYPES[encoding]
    try:
        with soundfile.SoundFile(place, "w", rate_hz, len(tracks), subtype=subtype, format=container) as file:
            for first in range(0, len(data), _BLOCK_FRAMES):
                file.write(data[first : first + _BLOCK_FRAMES])
    except soundfile.LibsndfileError as error:
        reason = error.error_string.strip().rstrip(".")
        raise AudioError(f"{path}: cannot be written as {encoding}, {len(tracks)} channels ({reason})") from None


def encode_wav(channels: Sequence[Audio]) -> bytes:
    """Encode to 16-bit WAV in memory, for a pipe."""
    stream = io.BytesIO()
    _write_frames(stream, Path("standard output.wav"), channels, "pcm16")
    return stream.getvalue()


def encode_flac(audio: Audio) -> bytes:
    """Encode to 16-bit FLAC in memory, for pages that carry their sounds inside."""
    import soundfile

    stream = io.BytesIO()
    soundfile.write(stream, quantize(audio.samples, bits=16), audio.rate_hz, format="FLAC", subtype="PCM_16")
    return stream.getvalue()


def _checked_frames(path: Path, tracks: Sequence[Audio]) -> NDArray[np.float32]:
    if not tracks or not len(tracks[0].samples):
        raise AudioError(f"{path}: nothing to write (no samples)")
    if len({(t.rate_hz, len(t.samples)) for t in tracks}) > 1:
        raise AudioError(f"{path}: channels differ in rate or length")
    frames = np.stack([t.samples for t in tracks], axis=1)
    if not np.isfinite(frames).all():
        raise AudioError(f"{path}: refusing to write NaN or infinite samples")
    peak = float(np.abs(frames).max())
    if peak > 1.0 + 2**-16:
        raise AudioError(f"{path}: refusing to clip (peak {peak:.3f} is above full scale 1.0)")
    return frames
