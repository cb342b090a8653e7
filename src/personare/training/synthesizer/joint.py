"""Joint training of a reader and the network that speaks its content: the error of the sound reaches the reader.

Trained by itself, a reader imitates the content of an English encoder, in which sounds that English does not have
(nasal vowels, front rounded ones) hardly differ. Here the spectral loss of the network trains the reader as well, so
that its content holds what the network needs to speak; the reader's own loss keeps the content near the encoder's.
                                                     [ren2021fastspeech2, sec. 2.4: text to waveform as one network]
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.sessions import open_session
from personare.encoders.grid import CONTENT_CENTRE, CONTENT_STEP, STEP, frame_count
from personare.training import checkpoints, loop
from personare.training.reader.run import load
from personare.training.reader.settings import ReaderSettings
from personare.training.reader.start import EarlierReader, begin_with
from personare.training.reader.task import ReaderTask
from personare.training.reader.task import new_task as new_reader_task
from personare.training.synthesizer.rehearsal import open_rehearsal
from personare.training.synthesizer.run import SynthesizerTrainingRun
from personare.training.synthesizer.task import SynthesizerTask, new_task
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

READER = "reader."  # before the names of the reader's tensors
VERSION = 1  # raise it whenever the same settings and speech would end in other weights
_VALIDATED_BATCHES = 4


@dataclass(frozen=True, eq=False)
class JointTask:
    """Reader and network as the training loop sees them.

    Parameters
    ----------
    voice : the task of the network; each of its utterances was read aloud.
    reader : the task of the reader; its readings are those utterances, in the same order.
    reader_weight : of the reader's own loss.
    """

    voice: SynthesizerTask
    reader: ReaderTask
    reader_weight: float

    @property
    def tensors(self) -> dict[str, Any]:
        """The tensors of both."""
        return {**self.voice.tensors, **{READER + name: tensor for name, tensor in self.reader.tensors.items()}}

    def batch(self, step: int) -> dict[str, Any]:
        """Draw crops of speech, and the sentences they are from."""
        torch = torch_for("training the reader and the network")
        batch = self.voice.batch(step)
        readings = [self.reader.readings[int(index)] for index in batch["drawn"]]
        frames = self.voice.settings.frames
        rows = [
            _places(int(first), frames, len(reading.content), frame_count(len(self.voice.utterances[int(index)].audio)))
            for first, reading, index in zip(batch["first"], readings, batch["drawn"], strict=True)
        ]
        places = {name: torch.from_numpy(np.stack([row[name] for row in rows])) for name in rows[0]}
        return {**batch, **places, "readings": self.reader.arrays(readings)}

    def loss(self, batch: Mapping[str, Any]) -> Any:
        """The loss of the network from the reader's content, and the reader's own."""
        durations, content = self.reader.predict(batch["readings"])
        width = content.shape[2]
        below, above = (
            content.gather(1, batch[name].unsqueeze(2).expand(-1, -1, width)) for name in ("below", "above")
        )
        share = batch["share"].unsqueeze(2)
        crops = (below * (1 - share) + above * share) * batch["inside"].unsqueeze(2)
        own = self.reader.distance(durations, content, batch["readings"])
        return self.voice.loss({**batch, "content": crops}) + self.reader_weight * own

    def validate(self) -> float:
        """The loss of held-out readings, without the discriminator and the rehearsal."""
        held_out = JointTask(
            replace(self.voice, utterances=self.voice.held_out, rehearsal=None),
            replace(self.reader, readings=self.reader.held_out),
            self.reader_weight,
        )
        with torch_for("training the reader and the network").no_grad():
            batches = ({**held_out.batch(number), "adversarial": 0.0} for number in range(_VALIDATED_BATCHES))
            return float(np.mean([float(held_out.loss(batch)) for batch in batches]))


@dataclass(frozen=True)
class JointTrainingRun:
    """A joint training that is ready to begin.

    Parameters
    ----------
    voice : the run of the network; the audio of its utterances are the files of the readings.
    settings, start : of the reader, and the networks that it begins with.
    """

    voice: SynthesizerTrainingRun
    settings: ReaderSettings
    start: EarlierReader

    @property
    def fingerprint(self) -> str:
        """Name everything the weights depend on."""
        plain = json.dumps(dataclasses.asdict(self.settings), sort_keys=True)
        networks = hashlib.sha256(self.start.text + self.start.speech).hexdigest()
        return hashlib.sha256(f"joint {VERSION} {self.voice.fingerprint} {plain} {networks}".encode()).hexdigest()

    def task(self) -> JointTask:
        """Read features and readings, and take the networks begun with."""
        run = self.voice
        items = {
            True: [item for item in run.utterances for _ in range(run.settings.times(item.name))],
            False: list(run.held_out),
        }
        loaded = {item.name: (item.load(), load(item.audio)) for side in items.values() for item in side}
        (utterances, readings), (held_out, held_out_readings) = (
            tuple(zip(*(loaded[item.name] for item in side), strict=True)) for side in items.values()
        )
        voice = new_task(
            run.settings,
            utterances,
            held_out,
            prosody=None if run.prosody is None else open_session(run.prosody),
            rehearsal=None if run.rehearsal is None else open_rehearsal(run.rehearsal),
        )
        run.begin(voice)
        symbols, readers = self.start.symbols, self.start.readers
        reader = new_reader_task(self.settings, readings, held_out_readings, symbols=symbols, readers=readers)
        earlier = begin_with(self.start, self.settings, symbols=symbols, readers=readers)
        checkpoints.fill(reader.tensors, earlier, where="the earlier reader")
        return JointTask(voice, reader, run.settings.reader_weight)

    def train(self, task: JointTask, folder: Path, *, resume: bool = False) -> Iterator[loop.TrainingStep]:
        """Train; yields after every step."""
        plan = self.voice.settings.plan
        yield from loop.train(task, plan, folder, fingerprint=self.fingerprint, resume=resume)


def _places(first: int, frames: int, content: int, count: int) -> dict[str, NDArray[Any]]:
    """Between which of ``content`` encoder frames the network's frames of a crop lie (see ``grid.on_frames``)."""
    numbers = np.arange(first, first + frames)
    places = np.clip((numbers * STEP + STEP / 2 - CONTENT_CENTRE) / CONTENT_STEP, 0, content - 1)
    below = np.minimum(places.astype(np.int64), max(content - 2, 0))
    return {
        "below": below,
        "above": np.minimum(below + 1, content - 1),
        "share": (places - below).astype(np.float32),
        "inside": (numbers < count).astype(np.float32),
    }
