"""Rehearsal: while a voice is trained on few new speakers, it must still speak as its teacher does with all others.

A few crops of each batch have no recording. Their content was read by the teacher's own reader, their speaker vector is
a pseudo-speaker's, their prosody is predicted, and the levels that the teacher gives are the target. A few of those
that have one are given to a pseudo-speaker as well: the levels are to change as the teacher's do (other_speakers).
                                                      [hinton2015distilling; robins1995catastrophic, pseudo-rehearsal]
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import TrainingError
from personare.core.files import write_bytes
from personare.core.sessions import Session, open_session
from personare.encoders.prosody import F0Statistics, ProsodyTrack, features, move_f0_features, read_prediction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True)
class RehearsalFiles:
    """The graphs of the teacher and of its prosody network, and the file of what is rehearsed (see ``save``)."""

    teacher: Path
    prosody: Path
    rehearsed: Path


@dataclass(frozen=True, eq=False)
class TeacherRehearsal:
    """A teacher, and all that it is given.

    Parameters
    ----------
    teacher : content, prosody and a speaker vector -> levels of bands.
    prosody : content and a speaker vector -> prosody.
    contents : read sentences on the network's frames, each [frames, 288].
    vectors, spoken : pseudo-speakers [n, 256], and the F0 of each.
    """

    teacher: Session
    prosody: Session
    contents: Sequence[Floats]
    vectors: Floats
    spoken: Sequence[F0Statistics]

    def crops(self, count: int, frames: int, rng: np.random.Generator) -> dict[str, Floats]:
        """Draw crops of ``frames`` frames: content, prosody, voice, and levels [count, frames, bands]."""
        rows = [self._crop(frames, rng) for _ in range(count)]
        drawn = {name: np.stack([row[name] for row in rows]).astype(np.float32) for name in rows[0]}
        return {**drawn, "levels": self.teacher.run(None, drawn)[0]}

    def other_speakers(self, crops: dict[str, Floats], count: int, rng: np.random.Generator) -> dict[str, Floats]:
        """Give the first crops of a batch to pseudo-speakers: their vectors and prosody, and by how much levels move.

        The change from one speaker to another is the teacher's, whatever is said: if y is the level of a band, c the
        content and v the speaker, y(c, other) = y(c, own) + teacher(c, other) - teacher(c, own).
        """
        own = {name: crops[name][:count] for name in ("content", "prosody", "voice")}
        speakers = rng.integers(len(self.vectors), size=len(own["voice"]))
        rows = [move_f0_features(row, self.spoken[one]) for row, one in zip(own["prosody"], speakers, strict=True)]
        other = {"content": own["content"], "prosody": np.stack(rows), "voice": self.vectors[speakers]}
        moved = self.teacher.run(None, other)[0] - self.teacher.run(None, own)[0]
        return {"prosody": other["prosody"], "voice": other["voice"], "moved": moved}

    def _crop(self, frames: int, rng: np.random.Generator) -> dict[str, Floats]:
        content = self.contents[int(rng.integers(len(self.contents)))]
        speaker = int(rng.integers(len(self.vectors)))
        vector = self.vectors[speaker].astype(np.float32)
        given = read_prediction(self.prosody.run(None, {"content": content[None], "voice": vector[None]})[0][0])
        track = ProsodyTrack(given.f0_hz(self.spoken[speaker]), given.voiced, given.energy_db)
        first = int(rng.integers(0, max(1, len(content) - frames + 1)))
        part = slice(first, first + frames)
        rows = content[part], features(track, len(content))[part]
        missing = frames - len(rows[0])
        wide, narrow = (np.pad(values, ((0, missing), (0, 0)), mode="edge") for values in rows)
        return {"content": wide, "prosody": narrow, "voice": vector}


def save(path: Path, *, contents: Sequence[Floats], vectors: Floats, spoken: Sequence[F0Statistics]) -> None:
    """Write read sentences and pseudo-speakers."""
    stream = io.BytesIO()
    np.savez(
        stream,
        contents=np.concatenate(contents).astype(np.float16),
        lengths=np.array([len(content) for content in contents]),
        vectors=vectors.astype(np.float32),
        spoken=np.array([(one.median_log2_hz, one.range_octaves) for one in spoken]),
    )
    write_bytes(path, stream.getvalue())


def open_rehearsal(files: RehearsalFiles) -> TeacherRehearsal:
    """Open the networks and read what is rehearsed."""
    try:
        with np.load(files.rehearsed, allow_pickle=False) as arrays:
            ends = np.cumsum(arrays["lengths"])[:-1]
            contents = [part.astype(np.float32) for part in np.split(arrays["contents"], ends)]
            spoken = [F0Statistics(float(median), float(octaves)) for median, octaves in arrays["spoken"]]
            vectors = arrays["vectors"]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise TrainingError(
            f"{files.rehearsed}: no rehearsal ({type(error).__name__}); remove it and begin anew"
        ) from None
    return TeacherRehearsal(open_session(files.teacher), open_session(files.prosody), contents, vectors, spoken)
