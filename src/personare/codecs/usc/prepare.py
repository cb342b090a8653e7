"""Speech prepared once for the training of the small codec: one file of measurements per utterance, in a cache folder.

Content is encoded three times: from the speech itself and from two copies played slower and faster, which moves F0 and
resonances, so that C0 cannot learn the speaker from it. The frames of a copy are laid back on the original's time.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.codecs.usc import features
from personare.core.audio import Audio, quantize, read_mono, resample
from personare.core.errors import AudioError, ConfigError
from personare.core.files import write_bytes
from personare.core.seeding import Key, rng_for
from personare.encoders.ge2e import Ge2e
from personare.training.usc.grid import FRAME_RATE_HZ, HOP, RATE_HZ, frame_count, pooled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

VERSION = 1  # raise it whenever the same speech would give another file
SPEEDS = ((0.80, 0.93), (1.07, 1.25))  # of the copies: played slower, played faster
SHORTEST_S, LONGEST_S = 0.5, 40.0


@dataclass(frozen=True)
class Preparation:
    """Prepare utterances into ``folder``; safe to run in any process, and again after a stop.

    Parameters
    ----------
    teacher : what C0 of the paper's codec is distilled from: 16 kHz samples in, frames at 50 Hz out, with a fingerprint
        (``Hubert``); None leaves it to the recognizer's content frames.
    target_rate_hz : sample rate the decoder shall give; above 16 kHz for the paper's second stage.
    """

    folder: Path
    seed: int = 0
    teacher: Any = None
    target_rate_hz: int = RATE_HZ

    def place_of(self, audio: Path, *, start_s: float = 0.0, end_s: float | None = None) -> Path:
        """Where the measurements of a sound file, or of a stretch of it, are kept: named by its content."""
        digest = hashlib.sha256(audio.read_bytes()).hexdigest()[:24]
        digest += "" if start_s == 0.0 and end_s is None else f"-{start_s:.3f}-{end_s or 0:.3f}"
        marks = "" if self.teacher is None else f"-{self.teacher.fingerprint}"
        marks += "" if self.target_rate_hz == RATE_HZ else f"-{self.target_rate_hz}"
        return self.folder / f"{digest}-v{features.VERSION}.{VERSION}{marks}.npz"

    def __call__(self, audio: Path, *, start_s: float = 0.0, end_s: float | None = None) -> Path:
        """Prepare one utterance unless it is there; gives the place of its file."""
        place = self.place_of(audio, start_s=start_s, end_s=end_s)
        if not place.exists():
            rng = rng_for(Key.from_seed(f"usc {self.seed}"), "copies", place.stem)
            stream = io.BytesIO()
            sound = read_mono(audio, start_s=start_s, stop_s=end_s)
            found = prepared(sound, rng=rng, teacher=self.teacher, target_rate_hz=self.target_rate_hz)
            np.savez(stream, **found)  # type: ignore[arg-type]
            write_bytes(place, stream.getvalue())
        return place


def prepared(
    audio: Audio,
    *,
    rng: np.random.Generator,
    teacher: Callable[[Floats], Floats] | None = None,
    target_rate_hz: int = RATE_HZ,
) -> dict[str, NDArray[np.generic]]:
    """Measure one utterance; everything with one row per token frame, but the speaker vector [256]."""
    if not SHORTEST_S <= audio.duration_s <= LONGEST_S:
        raise AudioError(
            f"an utterance to train on lasts {SHORTEST_S:g} to {LONGEST_S:g} s, not {audio.duration_s:.2f}"
        )
    sound = resample(audio, RATE_HZ).samples
    gain = features.level_gain(sound)
    sound = sound * np.float32(gain)
    count = frame_count(len(sound))
    padded = np.pad(sound, (0, count * HOP - len(sound)))
    found = features.measure(padded)
    copies = [found.content]
    for low, high in SPEEDS:
        speed = float(rng.uniform(low, high))
        played = resample(Audio(padded, RATE_HZ), round(RATE_HZ / speed)).samples
        copies.append(features.laid(features.content_frames(played), count, speed=speed))
    extra: dict[str, NDArray[np.generic]] = {}
    if teacher is not None:
        extra["teacher"] = pooled(teacher(padded), count).astype(np.float16)
    if target_rate_hz != RATE_HZ:
        extra["target"] = _at_rate(audio, gain, target_rate_hz, count)
    return extra | {
        "audio": quantize(np.clip(padded, -1, 1), bits=16).reshape(count, HOP),
        "content": np.stack(copies, axis=1).astype(np.float16),
        "prosody": found.prosody.astype(np.float16),
        "mels": found.mels.astype(np.float16),
        "absolute": found.absolute.astype(np.float16),
        "octaves": found.octaves.reshape(count, -1).astype(np.float16),
        "voiced": found.voiced.reshape(count, -1),
        "vector": Ge2e()([Audio(sound, RATE_HZ)])[0],
    }


def _at_rate(audio: Audio, gain: float, rate_hz: int, count: int) -> NDArray[np.generic]:
    """The same sound at another rate, as 16-bit samples: [count, samples per token frame]."""
    hop = round(rate_hz / FRAME_RATE_HZ)
    if hop * FRAME_RATE_HZ != rate_hz:
        raise ConfigError(f"the target rate must be a multiple of {FRAME_RATE_HZ:g} Hz, not {rate_hz} Hz")
    if audio.rate_hz < rate_hz:
        raise AudioError(f"a target of {rate_hz} Hz needs recordings of at least that rate, not {audio.rate_hz} Hz")
    sound = resample(audio, rate_hz).samples[: count * hop] * np.float32(gain)
    padded = np.pad(sound, (0, count * hop - len(sound)))
    return quantize(np.clip(padded, -1, 1), bits=16).reshape(count, hop)
