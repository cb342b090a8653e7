"""Writing audio files: samples only, no tags, no names, no dates; the same sound gives the same bytes.

16- and 24-bit samples are rounded here, once, because libsndfile floors them for WAV and rounds them for FLAC. Sound is
checked, rounded and encoded block by block.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np

from personare.core import ogg
from personare.core.errors import AudioError
from personare.core.files import write_bytes
from personare.core.sound import BLOCK_FRAMES, Audio, quantize, resample

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def can_encode_blocks(path: Path, rate_hz: int) -> bool:
    """Whether ``encode_blocks`` can write this: not where the codec needs another rate, nor Ogg (see core.ogg)."""
    encoding = _encoding(path, None)
    return encoding not in ("vorbis", "opus") and rate_hz in _RATES_HZ.get(encoding, (rate_hz,))


def encode_blocks(
    place: BinaryIO, path: Path, blocks: Iterable[NDArray[np.float32]], *, rate_hz: int, channels: int
) -> int:
    """Encode blocks [frames, channels] into ``place``, an open file, as ``write`` would; gives the number of frames."""
    return _write_blocks(place, path, blocks, rate_hz=rate_hz, channels=channels, encoding=_encoding(path, None))


def _write_frames(place: BinaryIO, path: Path, tracks: Sequence[Audio], encoding: Encoding) -> None:
    """Write into ``place`` what goes to ``path``."""
    if not tracks or not len(tracks[0].samples):
        raise AudioError(f"{path}: nothing to write (no samples)")
    if len({(t.rate_hz, len(t.samples)) for t in tracks}) > 1:
        raise AudioError(f"{path}: channels differ in rate or length")
    rate_hz = tracks[0].rate_hz
    rates = _RATES_HZ.get(encoding)
    if rates is not None and rate_hz not in rates:
        for block in _blocks_of(tracks):  # what may not be written is told before it is clipped
            _check_block(path, block)
        higher = next((rate for rate in rates if rate > rate_hz), rates[-1])
        tracks = [
            replace(one, samples=np.clip(one.samples, -1.0, 1.0)) for one in (resample(t, higher) for t in tracks)
        ]
        rate_hz = higher
    _write_blocks(place, path, _blocks_of(tracks), rate_hz=rate_hz, channels=len(tracks), encoding=encoding)


def _blocks_of(tracks: Sequence[Audio]) -> Iterator[NDArray[np.float32]]:
    for first in range(0, len(tracks[0].samples), BLOCK_FRAMES):
        yield np.stack([track.samples[first : first + BLOCK_FRAMES] for track in tracks], axis=1)


def _write_blocks(
    place: BinaryIO,
    path: Path,
    blocks: Iterable[NDArray[np.float32]],
    *,
    rate_hz: int,
    channels: int,
    encoding: Encoding,
) -> int:
    import soundfile

    container, subtype = WRITABLE[path.suffix.lower()][0], _SUBTYPES[encoding]
    checked, count = _Checked(place), 0
    try:
        with soundfile.SoundFile(checked, "w", rate_hz, channels, subtype=subtype, format=container) as file:
            for block in blocks:
                _check_block(path, block)
                count += len(block)
                data: NDArray[Any] = block
                if encoding in ("pcm16", "pcm24"):
                    data = quantize(block, bits=16 if encoding == "pcm16" else 24)
                file.write(data)
                checked.raise_error()
    except soundfile.LibsndfileError as error:
        checked.raise_error()
        reason = error.error_string.strip().rstrip(".")
        raise AudioError(f"{path}: cannot be written as {encoding}, {channels} channels ({reason})") from None
    checked.raise_error()
    if not count:
        raise AudioError(f"{path}: nothing to write (no samples)")
    return count


class _Checked:
    """A file for libsndfile, which does not tell when a disk is full: the first error is kept, and raised by us."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._error: OSError | None = None

    def write(self, content: Any) -> int:
        """Write, unless that has failed before."""
        try:
            if self._error is None:
                self._stream.write(content)
        except OSError as error:
            self._error = error
        return len(content)

    def read(self, size: int = -1) -> bytes:
        """Read back."""
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move: the header is written again at the end."""
        try:
            return self._stream.seek(offset, whence)
        except OSError as error:
            self._error = self._error or error
            return 0

    def tell(self) -> int:
        """Give the place."""
        return self._stream.tell()

    def raise_error(self) -> None:
        """Raise what the system said."""
        if self._error is not None:
            raise self._error


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


def _check_block(path: Path, block: NDArray[np.float32]) -> None:
    if not np.isfinite(block).all():
        raise AudioError(f"{path}: refusing to write NaN or infinite samples")
    peak = float(np.abs(block).max(initial=0.0))
    if peak > 1.0 + 2**-16:
        raise AudioError(f"{path}: refusing to clip (peak {peak:.3f} is above full scale 1.0)")
