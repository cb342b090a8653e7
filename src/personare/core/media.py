"""Sound in containers that libsndfile cannot read (m4a, mp4, mkv, webm, amr, wma ...), by libav through PyAV.

The other half of core.audio. Needs the extra ``media``. A file may name other files (playlists do): none of them is
ever opened. A video gets a new sound track and keeps its picture as it is, packet by packet; subtitles, data, other
sound tracks, cover pictures, chapters and all tags stay behind.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from personare.core.errors import AudioError, MissingExtraError, OutputError
from personare.core.sound import BLOCK_FRAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEDIA_SUFFIXES = frozenset(
    {
        *(
            ".m4a",
            ".m4b",
            ".aac",
            ".amr",
            ".awb",
            ".wma",
            ".3gp",
            ".3g2",
            ".ac3",
            ".mka",
            ".mp2",
            ".spx",
            ".ape",
            ".sph",
        ),
        *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".wmv", ".flv", ".mpg", ".mpeg", ".mts", ".m2ts", ".ogv"),
    }
)
# container -> the codec of its new sound track, and the rates it takes
_AAC_RATES_HZ = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_OPUS_RATES_HZ = (8_000, 12_000, 16_000, 24_000, 48_000)
VIDEO_SOUND: dict[str, tuple[str, tuple[int, ...]]] = {
    ".mp4": ("aac", _AAC_RATES_HZ),
    ".m4v": ("aac", _AAC_RATES_HZ),
    ".mov": ("aac", _AAC_RATES_HZ),
    ".mkv": ("libopus", _OPUS_RATES_HZ),
    ".webm": ("libopus", _OPUS_RATES_HZ),
}
_BIT_RATE = 96_000  # per channel: the voice was changed already, the codec must not change it much more
_LAYOUTS = {1: "mono", 2: "stereo", 3: "3.0", 4: "4.0", 5: "5.0", 6: "5.1"}
_LONGEST_GAP_S = 3600.0
_GAP_S = 0.05
_NO_OTHER_FILES = {"protocol_whitelist": "none"}


def is_there() -> bool:
    """Whether the extra ``media`` is installed."""
    return importlib.util.find_spec("av") is not None


def require(needed_for: str) -> Any:
    """Give PyAV, or the line that names the extra."""
    try:
        import av
    except ImportError:
        raise MissingExtraError("media", needed_for) from None
    av.logging.set_level(None)  # a broken file is one line of ours, not many of libav's
    return av


@contextlib.contextmanager
def _opened(source: Path | BinaryIO, name: str) -> Iterator[tuple[Any, Any]]:
    """Open a container and find its first sound track."""
    av = require(name)
    with contextlib.ExitStack() as stack:
        if isinstance(source, Path):
            try:
                stream: BinaryIO = stack.enter_context(source.open("rb"))
            except OSError as error:
                raise AudioError(f"{name}: cannot be opened ({error.strerror or error}); check it") from None
        else:
            stream = source
            stream.seek(0)
        try:
            container = av.open(stream, metadata_errors="ignore", options=_NO_OTHER_FILES)
        except (av.error.FFmpegError, OSError, ValueError, OverflowError) as error:
            raise AudioError(f"{name}: not audio that libsndfile or libav can read ({_reason(error)})") from None
        stack.enter_context(container)
        if not container.streams.audio:
            raise AudioError(f"{name}: not audio: it holds no sound track")
        yield container, container.streams.audio[0]


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).strip().rstrip(".")


def probe(source: Path | BinaryIO, name: str) -> tuple[int, int, int, str]:
    """Give rate in Hz, channels, frames and encoding; a container that does not tell its length is read through."""
    rate_hz, channels, frames, encoding = header(source, name)
    if frames is not None:
        return rate_hz, channels, frames, encoding
    track, frames = SoundTrack(source, name), 0
    for block in track:
        frames += len(block)
        channels = block.shape[1]
    return track.rate_hz, channels, frames, encoding


def header(source: Path | BinaryIO, name: str) -> tuple[int, int, int | None, str]:
    """Give rate in Hz, channels, frames (None where the container does not tell) and encoding."""
    with _opened(source, name) as (container, track):
        rate_hz, channels = int(track.codec_context.sample_rate), int(track.codec_context.channels)
        length = track.duration * track.time_base if track.duration else Fraction(container.duration or 0, 1_000_000)
        encoding = f"{container.format.name.partition(',')[0].upper()} {track.codec_context.name}"
    return rate_hz, channels, round(length * rate_hz) if length > 0 and rate_hz and channels else None, encoding


def read(source: Path | BinaryIO, name: str) -> tuple[NDArray[np.float32], int, Fraction]:
    """Decode the first sound track: float32 [frames, channels], its rate, and when it begins, in seconds."""
    track = SoundTrack(source, name)
    blocks = list(track)
    return np.concatenate(blocks), track.rate_hz, track.begin


@dataclass
class SoundTrack:
    """The first sound track as blocks [frames, channels]; rate and begin (seconds) are known from the first block on.

    A pause that was not sent is filled with silence, so that sound and picture stay together.
    """

    source: Path | BinaryIO
    name: str
    rate_hz: int = 0
    begin: Fraction = Fraction(0)

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        av, count = require(self.name), 0
        with _opened(self.source, self.name) as (container, track):
            planar = av.AudioResampler(format="fltp")
            try:
                decoded = (frame for one in container.decode(track) for frame in planar.resample(one))
                for frame in decoded:
                    block = np.ascontiguousarray(frame.to_ndarray().T, dtype=np.float32)
                    if not count:
                        self.rate_hz = int(frame.sample_rate)
                        self.begin = frame.pts * frame.time_base if frame.pts is not None else Fraction(0)
                    elif frame.pts is not None and (gap := self._gap(frame, count)):
                        for some in range(0, gap, BLOCK_FRAMES):
                            yield np.zeros((min(BLOCK_FRAMES, gap - some), block.shape[1]), np.float32)
                        count += gap
                    yield block
                    count += len(block)
            except (av.error.FFmpegError, OSError, ValueError, OverflowError) as error:
                raise AudioError(f"{self.name}: broken audio ({_reason(error)})") from None
        if not count:
            raise AudioError(f"{self.name}: not audio that libsndfile or libav can read (no sample is in it)")

    def _gap(self, frame: Any, count: int) -> int:
        """Give the frames that are missing before this one, where they are more than a few."""
        gap = round((frame.pts * frame.time_base - self.begin) * self.rate_hz) - count
        if gap > _LONGEST_GAP_S * self.rate_hz:
            raise AudioError(f"{self.name}: broken sound (its times jump by {gap / self.rate_hz:.0f} s)")
        return gap if gap > _GAP_S * self.rate_hz else 0


def has_picture(path: Path) -> bool:
    """Whether a file holds a moving picture (a cover picture is none); False for what libav cannot read."""
    if not path.is_file() or not is_there():
        return False
    try:
        with _opened(path, str(path)) as (container, _):
            return _picture_of(container) is not None
    except AudioError:
        return False


def _picture_of(container: Any) -> Any:
    av = require("a video")
    still = av.stream.Disposition.attached_pic
    return next((one for one in container.streams.video if not one.disposition & still), None)


def sound_rate_hz(suffix: str, rate_hz: int) -> int:
    """The rate the sound track of a container can have: the same one, or the next above it."""
    rates = VIDEO_SOUND[suffix][1]
    return next((rate for rate in rates if rate >= rate_hz), rates[-1])


def write_video(target: Path, source: Path, frames: NDArray[np.float32], rate_hz: int, *, begin: Fraction) -> None:
    """Write ``source``'s picture, as it is, and the sound ``frames`` [frames, channels] that begins at ``begin``."""
    av = require(str(source))
    codec, layout = VIDEO_SOUND[target.suffix.lower()][0], _layout(source, frames.shape[1])
    try:
        with (
            _opened(source, str(source)) as (container, _),
            av.open(str(target), "w", options={"fflags": "+bitexact"}) as written,
        ):
            picture = _picture_of(container)
            if picture is None:
                raise AudioError(f"{source}: holds no moving picture; write its sound, e.g. as flac")
            video = written.add_stream_from_template(picture)
            sound = written.add_stream(codec, rate=rate_hz, layout=layout)
            sound.bit_rate = _BIT_RATE * frames.shape[1]
            sound.codec_context.flags |= av.codec.context.Flags.bitexact
            written.metadata.clear()
            for one in (video, sound):
                one.metadata.clear()
            packets = _encoded(sound, frames, rate_hz, begin=begin, layout=layout)
            ahead = next(packets, None)
            for packet in _timed(container.demux(picture)):
                while ahead is not None and ahead.dts * ahead.time_base <= packet.dts * packet.time_base:
                    written.mux(ahead)
                    ahead = next(packets, None)
                packet.stream = video
                written.mux(packet)
            while ahead is not None:
                written.mux(ahead)
                ahead = next(packets, None)
    except (av.error.FFmpegError, ValueError) as error:
        rule = f"{target}: cannot hold the picture of {source} ({_reason(error)})"
        raise OutputError(f"{rule}; try a name ending in .mkv") from None


def _timed(packets: Iterable[Any]) -> Iterator[Any]:
    """Give the packets of the picture, each with a time of decoding; Matroska leaves those of the first ones out."""
    waiting: list[Any] = []
    latest: int | None = None
    for packet in packets:
        if not packet.size:  # the empty packet at the end
            continue
        if packet.dts is None and latest is None:
            waiting.append(packet)
            continue
        step = packet.duration or 1
        for number, early in enumerate(waiting):
            early.dts = packet.dts - (len(waiting) - number) * step
            yield early
        waiting = []
        if packet.dts is None:
            packet.dts = (latest or 0) + step
        latest = packet.dts
        yield packet
    for number, early in enumerate(waiting):  # not one of them had a time
        early.dts = number * (early.duration or 1)
        early.pts = early.dts if early.pts is None else early.pts
        yield early


def _layout(source: Path, channels: int) -> str:
    """Name the usual places of so many channels."""
    if channels not in _LAYOUTS:
        raise AudioError(f"{source}: a video with {channels} channels of sound cannot be written; write wav or flac")
    return _LAYOUTS[channels]


def _encoded(sound: Any, frames: NDArray[np.float32], rate_hz: int, *, begin: Fraction, layout: str) -> Iterator[Any]:
    """Encode block by block, so that packets of sound and picture can be written in the order of their times."""
    av = require("a video")
    base, first, size = Fraction(1, rate_hz), round(begin * rate_hz), rate_hz // 2
    for start in range(0, len(frames), size):
        block = np.ascontiguousarray(frames[start : start + size].T)
        frame = av.AudioFrame.from_ndarray(block, format="fltp", layout=layout)
        frame.sample_rate, frame.time_base, frame.pts = rate_hz, base, first + start
        yield from sound.encode(frame)
    yield from sound.encode(None)
