"""The features the synthesizer is trained on: audio, prosody, speaker vector, and content, of every utterance.

Content is encoded five times: from the speech itself, from three copies in other voices (played slower, faster, and
with its resonances moved), so that the network cannot learn the speaker from the content, and from a copy in other
recording conditions, so that it cannot learn the session. A copy that is played faster is over sooner; the grid puts
its frames back to their time.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError, TrainingError
from personare.core.files import write_bytes
from personare.encoders.content import moonshine_content
from personare.encoders.grid import RATE_HZ
from personare.encoders.prosody import ProsodyTrack, track_prosody
from personare.training.synthesizer.conditions import recorded_elsewhere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

VERSION = 3  # raise it whenever the same speech would give other features
_SLOWER, _FASTER, _EITHER = (0.78, 0.93), (1.07, 1.28), (0.88, 1.14)
_DARKER, _BRIGHTER = (0.75, 0.9), (1.1, 1.25)
_COPIES = 4
_LEVEL = 0.05  # root mean square that every utterance is brought to
_SHORTEST_S, _LONGEST_S = 0.5, 40.0


@dataclass(frozen=True, eq=False)
class SynthesizerFeatures:
    """The features of one utterance.

    Parameters
    ----------
    speaker : who says it.
    audio : 16-bit samples at 16 kHz.
    track : pitch, voicing and energy.
    vector : of the speaker, from this utterance; [256].
    contents : content of the speech and of its copies, each [encoder frames, 288]; ``speeds`` of each.
    is_read : the copies are content that a reader network has made of the words.
    """

    speaker: str
    audio: NDArray[np.int16]
    track: ProsodyTrack
    vector: Floats
    contents: tuple[NDArray[np.float16], ...]
    speeds: tuple[float, ...]
    is_read: bool = False

    @property
    def samples(self) -> Floats:
        """The audio at the common level."""
        samples = self.audio.astype(np.float32) / 32767
        level = max(float(np.sqrt(np.mean(np.square(samples)))), 1e-4)
        return (samples * np.float32(_LEVEL / level)).astype(np.float32)


@dataclass(frozen=True)
class FeatureSources:
    """What the features need that other packages have; both must be picklable.

    Parameters
    ----------
    embed : gives the speaker vector of a recording.
    move_resonances : moves the resonances of a recording by a McAdams coefficient.
    """

    embed: Callable[[Audio], Floats]
    move_resonances: Callable[[Audio, float, np.random.Generator], Audio]


def extract(audio: Audio, sources: FeatureSources, *, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Extract the features of an utterance, by their names in the file."""
    audio = resample(audio, RATE_HZ)
    if not _SHORTEST_S <= audio.duration_s <= _LONGEST_S:
        raise AudioError(f"{audio.duration_s:.1f} s of speech; training takes {_SHORTEST_S:g} to {_LONGEST_S:g} s")
    track = track_prosody(audio.samples)
    arrays: dict[str, NDArray[Any]] = {
        "audio": np.round(np.clip(audio.samples, -1, 1) * 32767).astype(np.int16),
        "f0": track.f0_hz,
        "voiced": track.voiced,
        "energy": track.energy_db,
        "vector": sources.embed(audio),
        "content": moonshine_content(audio.samples).astype(np.float16),
    }
    speeds = []
    for number, reach in enumerate((_SLOWER, _FASTER, _EITHER), start=1):
        speed = float(np.exp(rng.uniform(*np.log(reach))))
        copy = sources.move_resonances(audio, _coefficient(rng), rng) if number == 3 else audio
        arrays[f"content{number}"] = moonshine_content(_played(copy.samples, speed)).astype(np.float16)
        speeds.append(speed)
    elsewhere = recorded_elsewhere(_played(audio.samples, speeds[-1]), rng=rng)
    arrays[f"content{_COPIES}"] = moonshine_content(elsewhere).astype(np.float16)
    return {**arrays, "speeds": np.array([*speeds, speeds[-1]])}


def of_reading(samples: Floats, content: Floats, read: Floats, sources: FeatureSources) -> dict[str, NDArray[Any]]:
    """The features of a sentence that was read aloud: every copy of its content is as the reader network has it."""
    track = track_prosody(samples)
    return {
        "audio": np.round(np.clip(samples, -1, 1) * 32767).astype(np.int16),
        "f0": track.f0_hz,
        "voiced": track.voiced,
        "energy": track.energy_db,
        "vector": sources.embed(Audio(samples, RATE_HZ)),
        "content": content.astype(np.float16),
        **{f"content{number}": read.astype(np.float16) for number in range(1, _COPIES + 1)},
        "speeds": np.ones(_COPIES),
    }


def _coefficient(rng: np.random.Generator) -> float:
    """Draw a McAdams coefficient that darkens or brightens the voice."""
    return float(rng.choice([rng.uniform(*_DARKER), rng.uniform(*_BRIGHTER)]))


def _played(samples: Floats, speed: float) -> Floats:
    """Play faster or slower: pitch and resonances move along."""
    import soxr

    played: Floats = soxr.resample(samples, RATE_HZ * speed, RATE_HZ).astype(np.float32)
    return played


def save(arrays: dict[str, NDArray[Any]], path: Path) -> None:
    """Write features; a reader sees all of them or nothing."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]  # numpy's stub takes the names for its own options
    write_bytes(path, stream.getvalue())


def load(path: Path, speaker: str, *, is_read: bool = False) -> SynthesizerFeatures:
    """Read features."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            track = ProsodyTrack(arrays["f0"], arrays["voiced"], arrays["energy"])
            contents = (arrays["content"], *(arrays[f"content{k}"] for k in range(1, _COPIES + 1)))
            speeds = (1.0, *map(float, arrays["speeds"]))
            return SynthesizerFeatures(speaker, arrays["audio"], track, arrays["vector"], contents, speeds, is_read)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise TrainingError(f"{path}: no features ({type(error).__name__}); remove it and begin anew") from None
