"""Sound in and out: the only place that opens audio files, resamples and rounds samples.

Files are read in blocks, so that a header that lies about its length cannot ask for memory the file does not fill.
Written files carry samples only: no tags, no names, no dates. 16- and 24-bit samples are rounded here, once, because
libsndfile floors them for WAV and rounds them for FLAC.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from personare.core.errors import AudioError
from personare.core.files import atomic_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE_RANGE_HZ = (1_000, 768_000)
MAX_CHANNELS = 64
AUDIO_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".opus", ".mp3", ".aiff", ".aif", ".au", ".caf", ".w64", ".rf64"})
WRITABLE = {".wav": "WAV", ".flac": "FLAC", ".ogg": "OGG"}
_BLOCK_FRAMES = 1 << 20
OPEN_ENDED = 0x7FFF0000  # a WAV size from here on means "until the pipe ends"
Encoding = Literal["pcm16", "pcm24", "float32", "vorbis"]


@dataclass(frozen=True, eq=False)
class Audio:
    """One channel of sound.

    Parameters
    ----------
    samples : float32 [frames], finite; full scale is 1.0.
    rate_hz : samples per second.
    """

    samples: NDArray[np.float32]
    rate_hz: int

    def __post_init__(self) -> None:
        if self.samples.ndim != 1 or self.samples.dtype != np.float32:
            raise AudioError(f"samples must be float32 [frames], not {self.samples.dtype} {list(self.samples.shape)}")
        if not RATE_RANGE_HZ[0] <= self.rate_hz <= RATE_RANGE_HZ[1]:
            raise AudioError(f"sample rate {self.rate_hz} Hz is outside {RATE_RANGE_HZ[0]}..{RATE_RANGE_HZ[1]} Hz")

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.rate_hz


@dataclass(frozen=True)
class AudioFacts:
    """What a file's header says, without reading its samples."""

    rate_hz: int
    channels: int
    frames: int
    encoding: str

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.frames / self.rate_hz


def _open(path: Path) -> Any:
    import soundfile

    if not path.exists():
        raise AudioError(f"{path}: no such file")
    if path.is_dir():
        raise AudioError(f"{path}: is a folder, not an audio file")
    try:
        file = soundfile.SoundFile(path)
    except (soundfile.LibsndfileError, OSError, TypeError) as error:
        reason = getattr(error, "error_string", str(error)).strip().rstrip(".")
        raise AudioError(f"{path}: not audio that libsndfile can read ({reason})") from None
    if not RATE_RANGE_HZ[0] <= file.samplerate <= RATE_RANGE_HZ[1] or not 1 <= file.channels <= MAX_CHANNELS:
        file.close()
        raise AudioError(f"{path}: absurd header ({file.samplerate} Hz, {file.channels} channels)")
    if file.format in ("WAV", "WAVEX"):
        _check_whole(path, file)
    return file


def _check_whole(path: Path, file: Any) -> None:
    """Refuse a WAV that was cut short: libsndfile would give what is there without a word.

    Programs that write into a pipe leave 0 or a size near the limit in the header; such a size promises nothing.
    """
    with path.open("rb") as stream:
        size, place = path.stat().st_size, 12
        if stream.read(4) != b"RIFF":  # big-endian RIFX is left to libsndfile
            return
        while place + 8 <= size:
            stream.seek(place)
            name, promised = struct.unpack("<4sI", stream.read(8))
            if name == b"data":
                if OPEN_ENDED > promised > size - place - 8:
                    file.close()
                    raise AudioError(f"{path}: cut short ({size - place - 8} of {promised} bytes of sound are there)")
                return
            place += 8 + promised + promised % 2


def probe(path: Path) -> AudioFacts:
    """Read the header of a file."""
    with _open(path) as file:
        if file.frames == 0:
            raise AudioError(f"{path}: holds no samples")
        return AudioFacts(file.samplerate, file.channels, file.frames, f"{file.format} {file.subtype}")


def _read_frames(path: Path, start_s: float, stop_s: float | None) -> tuple[NDArray[np.float32], int]:
    """Read float32 [frames, channels] from ``start_s`` to ``stop_s``."""
    import soundfile

    with _open(path) as file:
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
            raise AudioError(f"{path}: broken audio ({str(error).strip().rstrip('.')})") from None
        if not blocks:
            raise AudioError(f"{path}: holds no samples" + (f" from {start_s} s on" if first else ""))
        frames = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        if left and len(frames) < (last or 0) - first - file.samplerate // 20:
            raise AudioError(f"{path}: ends at {(first + len(frames)) / file.samplerate:.2f} s, before {stop_s} s")
    if not np.isfinite(frames).all():
        raise AudioError(f"{path}: holds NaN or infinite samples")
    return frames, file.samplerate


def read_channels(path: Path, *, start_s: float = 0.0, stop_s: float | None = None) -> list[Audio]:
    """Read a file (or the part from ``start_s`` to ``stop_s``), one Audio per channel."""
    frames, rate_hz = _read_frames(path, start_s, stop_s)
    return [Audio(np.ascontiguousarray(frames[:, c]), rate_hz) for c in range(frames.shape[1])]


def read_mono(path: Path, *, start_s: float = 0.0, stop_s: float | None = None) -> Audio:
    """Read a file as one channel, the mean of all; for ears that listen, not for making files."""
    frames, rate_hz = _read_frames(path, start_s, stop_s)
    mono = frames[:, 0] if frames.shape[1] == 1 else frames.mean(axis=1, dtype=np.float32)
    return Audio(np.ascontiguousarray(mono), rate_hz)


def resample(audio: Audio, rate_hz: int) -> Audio:
    """Change the sample rate (soxr, very high quality); the same rate returns the same Audio."""
    if rate_hz == audio.rate_hz:
        return audio
    import soxr

    samples = soxr.resample(audio.samples, audio.rate_hz, rate_hz, quality="VHQ")
    return Audio(np.ascontiguousarray(samples, dtype=np.float32), rate_hz)


def quantize(samples: NDArray[np.float32], *, bits: Literal[16, 24]) -> NDArray[np.int16] | NDArray[np.int32]:
    """Round to the nearest integer step, halves to even; 1.0 becomes the largest code.

    >>> quantize(np.float32([0.0, 0.5, -1.0, 1.0]), bits=16).tolist()
    [0, 16384, -32768, 32767]
    """
    scale = 1 << (bits - 1)
    codes = np.clip(np.rint(samples.astype(np.float64) * scale), -scale, scale - 1)
    # libsndfile takes 24-bit samples left-aligned in 32
    return codes.astype(np.int16) if bits == 16 else (codes.astype(np.int32) << 8)


def write(path: Path, channels: Audio | Sequence[Audio], *, encoding: Encoding = "pcm16") -> None:
    """Write one or more channels to ``path`` atomically; the suffix names the container (wav, flac, ogg)."""
    import soundfile

    tracks = [channels] if isinstance(channels, Audio) else list(channels)
    frames = _checked_frames(path, tracks)
    container = WRITABLE.get(path.suffix.lower())
    if container is None:
        raise AudioError(f"{path}: cannot write '{path.suffix}'; use one of {', '.join(sorted(WRITABLE))}")
    if (container == "OGG") != (encoding == "vorbis") or (container == "FLAC" and encoding == "float32"):
        raise AudioError(f"{path}: {container} cannot hold {encoding}")
    subtype = {"pcm16": "PCM_16", "pcm24": "PCM_24", "float32": "FLOAT", "vorbis": "VORBIS"}[encoding]
    data: NDArray[Any] = frames
    if encoding in ("pcm16", "pcm24"):
        data = quantize(frames, bits=16 if encoding == "pcm16" else 24)
    with (
        atomic_path(path) as part,
        soundfile.SoundFile(part, "w", tracks[0].rate_hz, len(tracks), subtype=subtype, format=container) as file,
    ):
        for first in range(0, len(data), _BLOCK_FRAMES):
            file.write(data[first : first + _BLOCK_FRAMES])


def encode_flac(audio: Audio) -> bytes:
    """Encode to 16-bit FLAC in memory, for pages that carry their sounds inside."""
    import io

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
