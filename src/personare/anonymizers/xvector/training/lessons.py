"""Speech prepared for the training of the neural voice: sound, pitch, energy, speaker vector, and what is said.

What is said is encoded four times: from the speech itself, and from three copies in other voices (played slower,
faster, and with its resonances moved), so that the network cannot learn the speaker from the content. A copy that is
played faster is over sooner; the grid puts its frames back to their time.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.anonymizers.neural.xvector.content import moonshine_content
from personare.anonymizers.neural.xvector.grid import RATE_HZ
from personare.anonymizers.neural.xvector.prosody import ProsodyTrack, track_prosody
from personare.anonymizers.signal.mcadams import McAdams
from personare.core.audio import Audio, resample
from personare.core.errors import AudioError, TrainingError
from personare.core.files import write_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

VERSION = 2  # raise it whenever the same speech would give another lesson
_SLOWER, _FASTER, _EITHER = (0.78, 0.93), (1.07, 1.28), (0.88, 1.14)
_DARKER, _BRIGHTER = (0.75, 0.9), (1.1, 1.25)
_LEVEL = 0.05  # root mean square that every utterance is brought to
_SHORTEST_S, _LONGEST_S = 0.5, 40.0


@dataclass(frozen=True, eq=False)
class Lesson:
    """One utterance.

    Parameters
    ----------
    speaker : who says it.
    audio : 16-bit samples at 16 kHz.
    track : pitch, voicing and energy.
    vector : of the speaker, from this utterance; [256].
    contents : what is said, from the speech and its copies, each [encoder frames, 288]; ``speeds`` of each.
    """

    speaker: str
    audio: NDArray[np.int16]
    track: ProsodyTrack
    vector: Floats
    contents: tuple[NDArray[np.float16], ...]
    speeds: tuple[float, ...]

    @property
    def samples(self) -> Floats:
        """The sound at the common level."""
        sound = self.audio.astype(np.float32) / 32767
        level = max(float(np.sqrt(np.mean(np.square(sound)))), 1e-4)
        return (sound * np.float32(_LEVEL / level)).astype(np.float32)


def make(audio: Audio, embed: Callable[[Audio], Floats], *, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Prepare an utterance; ``embed`` gives the speaker vector."""
    audio = resample(audio, RATE_HZ)
    if not _SHORTEST_S <= audio.duration_s <= _LONGEST_S:
        raise AudioError(f"{audio.duration_s:.1f} s of speech; a lesson takes {_SHORTEST_S:g} to {_LONGEST_S:g} s")
    track = track_prosody(audio.samples)
    found: dict[str, NDArray[Any]] = {
        "audio": np.round(np.clip(audio.samples, -1, 1) * 32767).astype(np.int16),
        "f0": track.f0_hz,
        "voiced": track.voiced,
        "energy": track.energy_db,
        "vector": embed(audio),
        "content": moonshine_content(audio.samples).astype(np.float16),
    }
    speeds = []
    for number, reach in enumerate((_SLOWER, _FASTER, _EITHER), start=1):
        speed = float(np.exp(rng.uniform(*np.log(reach))))
        copy = _recoloured(audio, rng) if number == 3 else audio
        found[f"content{number}"] = moonshine_content(_played(copy.samples, speed)).astype(np.float16)
        speeds.append(speed)
    return {**found, "speeds": np.array(speeds)}


def _recoloured(audio: Audio, rng: np.random.Generator) -> Audio:
    alpha = float(rng.choice([rng.uniform(*_DARKER), rng.uniform(*_BRIGHTER)]))
    return McAdams(alpha=alpha)(audio, rng=rng)


def _played(samples: Floats, speed: float) -> Floats:
    """Play faster or slower: pitch and resonances move along."""
    import soxr

    played: Floats = soxr.resample(samples, RATE_HZ * speed, RATE_HZ).astype(np.float32)
    return played


def save(found: dict[str, NDArray[Any]], place: Path) -> None:
    """Write a lesson; a reader sees all of it or nothing."""
    stream = io.BytesIO()
    np.savez(stream, **found)  # type: ignore[arg-type]  # numpy's stub takes the names for its own options
    write_bytes(place, stream.getvalue())


def load(place: Path, speaker: str) -> Lesson:
    """Read a lesson."""
    try:
        with np.load(place, allow_pickle=False) as found:
            track = ProsodyTrack(found["f0"], found["voiced"], found["energy"])
            contents = (found["content"], *(found[f"content{k}"] for k in (1, 2, 3)))
            speeds = (1.0, *map(float, found["speeds"]))
            return Lesson(speaker, found["audio"], track, found["vector"], contents, speeds)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise TrainingError(f"{place}: not a lesson ({type(error).__name__}); remove it and begin anew") from None
