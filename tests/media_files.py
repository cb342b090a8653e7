"""Files of the extra ``media`` made for tests: a video with everything that must not survive, and sound tracks."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import hum
from personare.core import media
from personare.core.audio import Audio

NAMES = ("anna", "Anna Beispiel")
"""What must not survive. Three letters or less would stand in compressed sound by chance: see `language_tags`."""

LANGUAGE = "deu"


def av() -> Any:
    """PyAV, or a skip that says why."""
    return pytest.importorskip("av", reason="needs the extra 'media' (PyAV)")


def without_media(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were not installed."""
    monkeypatch.setattr(media, "is_there", lambda: False)


def make_sound(
    path: Path,
    *,
    codec: str,
    rate_hz: int = 16_000,
    channels: int = 1,
    duration_s: float = 1.0,
    sound: Audio | None = None,
) -> Path:
    """Write a file with one sound track, a hum or this ``sound``, and tags that name a person."""
    with av().open(str(path), "w") as out:
        out.metadata["artist"] = NAMES[1]
        track = out.add_stream(codec, rate=rate_hz, layout="mono" if channels == 1 else "stereo")
        if codec == "wmav2":
            track.bit_rate = 64_000  # it has no usual one
        hums = [hum(1 + c, rate_hz=rate_hz, duration_s=duration_s) for c in range(channels)]
        encode_track(out, track, hums if sound is None else [sound])
    return path


def make_video(
    path: Path,
    *,
    picture: str = "mpeg4",
    sound: str = "aac",
    rate_hz: int = 48_000,
    duration_s: float = 2.0,
    channels: int = 1,
) -> Path:
    """Write a video with two sound tracks, and tags, titles and a language that name a person."""
    pyav = av()
    with pyav.open(str(path), "w") as out:
        out.metadata.update({"title": "anna speaks", "artist": NAMES[1], "comment": "recorded at anna's home"})
        video = out.add_stream(picture, rate=10)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        tracks = [out.add_stream(sound, rate=rate_hz, layout="mono" if channels == 1 else "stereo") for _ in range(2)]
        for stream in (video, *tracks):
            stream.metadata.update({"language": LANGUAGE, "title": "anna's camera", "handler_name": "anna's camera"})
        out.set_chapters(
            [{"id": 1, "start": 0, "end": 1000, "time_base": Fraction(1, 1000), "metadata": {"title": "anna"}}]
        )
        for number in range(round(10 * duration_s)):
            picture_of = np.full((48, 64, 3), 12 * number % 255, np.uint8)
            frame = pyav.VideoFrame.from_ndarray(picture_of, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 10)
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
        for number, track in enumerate(tracks):
            sounds = [hum(10 * number + c, rate_hz=rate_hz, duration_s=duration_s) for c in range(channels)]
            encode_track(out, track, sounds)
    return path


def encode_track(out: Any, track: Any, channels: list[Audio]) -> None:
    """Encode and write a sound track."""
    frames, rate_hz = np.stack([channel.samples for channel in channels]), channels[0].rate_hz
    for start in range(0, frames.shape[1], 1024):
        block = np.ascontiguousarray(frames[:, start : start + 1024])
        frame = av().AudioFrame.from_ndarray(block, format="fltp", layout="mono" if len(channels) == 1 else "stereo")
        frame.sample_rate, frame.pts, frame.time_base = rate_hz, start, Fraction(1, rate_hz)
        out.mux(track.encode(frame))
    out.mux(track.encode(None))


def picture_packets(path: Path) -> list[bytes]:
    """The picture as it lies in the file, packet by packet."""
    with av().open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(container.streams.video[0]) if packet.size]


def language_tags(path: Path) -> set[str]:
    """What the tracks of a file say of their language: nothing, where nothing of the source survived."""
    with av().open(str(path)) as container:
        return {stream.metadata.get("language", "und") for stream in container.streams} - {"und"}
