"""The training of the prosody network from utterances to a graph: hold speakers out, train, write it down."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.errors import TrainingError
from personare.core.seeding import Key, rng_for
from personare.core.weights import file_sha256
from personare.encoders.prosody import PROSODY
from personare.training import checkpoints, loop
from personare.training.prosody.settings import ProsodySettings
from personare.training.prosody.task import ProsodyTask, new_task
from personare.training.synthesizer.export import export, read_tensors
from personare.training.synthesizer.features import SynthesizerFeatures
from personare.training.synthesizer.run import SynthesizerUtterance
from personare.training.torch_extra import torch_for

VERSION = 1  # raise it whenever the same settings and speech would end in other weights
_MIN_SPEAKERS = 4
_WIDEST = 1.8  # a predicted F0 contour is widened to the natural range by no more than this
_COLUMNS = PROSODY // 2


@dataclass(frozen=True)
class ProsodyTrainingRun:
    """A training that is ready to begin: who is trained on, and who is held out.

    ``start`` is the graph of an earlier network that is the beginning; None begins with a new one.
    """

    settings: ProsodySettings
    utterances: tuple[SynthesizerUtterance, ...]
    held_out: tuple[SynthesizerUtterance, ...]
    start: Path | None = None

    @property
    def fingerprint(self) -> str:
        """Name everything the weights depend on: this code, the settings, the speech."""
        names = [item.features.name for item in (*self.utterances, *self.held_out)]
        plain = json.dumps(dataclasses.asdict(self.settings), sort_keys=True)
        start = "" if self.start is None else f" {file_sha256(self.start)}"
        return hashlib.sha256(f"prosody {VERSION} {plain} {names}{start}".encode()).hexdigest()

    def task(self) -> ProsodyTask:
        """Read the features and make a new network, or take the earlier one."""
        sides = ([_given(item.load()) for item in side] for side in (self.utterances, self.held_out))
        task = new_task(self.settings, *sides)
        if self.start is not None:
            earlier = read_tensors(self.start.read_bytes(), self.settings.shape)
            checkpoints.fill(task.tensors, earlier, where=str(self.start))
        return task

    def train(self, task: ProsodyTask, folder: Path, *, resume: bool = False) -> Iterator[loop.TrainingStep]:
        """Train; yields after every step."""
        yield from loop.train(task, self.settings.plan, folder, fingerprint=self.fingerprint, resume=resume)


def _given(utterance: SynthesizerFeatures) -> SynthesizerFeatures:
    """Leave the content that the network will get: of a sentence that was read for a reader, the reader's alone."""
    if not utterance.is_read:
        return utterance
    return dataclasses.replace(utterance, contents=utterance.contents[1:2], speeds=utterance.speeds[1:2])


def hold_out(
    items: Sequence[SynthesizerUtterance], settings: ProsodySettings, *, start: Path | None = None
) -> ProsodyTrainingRun:
    """Divide the speakers into those to train on and those to validate on, drawn by the seed."""
    torch_for("training the prosody network")
    speakers = sorted({item.speaker for item in items})
    if len(speakers) < settings.held_out + _MIN_SPEAKERS:
        need = settings.held_out + _MIN_SPEAKERS
        raise TrainingError(f"{len(speakers)} speakers can be read; the prosody network needs at least {need}")
    rng = rng_for(Key.from_seed(f"prosody {settings.seed}"), "held out")
    held_out = {speakers[int(index)] for index in rng.permutation(len(speakers))[: settings.held_out]}
    ordered = sorted(items, key=lambda item: item.features.name)
    return ProsodyTrainingRun(
        settings,
        tuple(item for item in ordered if item.speaker not in held_out),
        tuple(item for item in ordered if item.speaker in held_out),
        start,
    )


def f0_widening(task: ProsodyTask) -> float:
    """How much wider natural contours of held-out speakers are than predicted ones: a mean hugs the middle."""
    pairs = [(task.predict(example)[:, 0], example.targets) for example in task.held_out]
    predicted, natural = (
        np.concatenate([values[targets[:, 1] > 0] for values, targets in rows])
        for rows in ([(p, t) for p, t in pairs], [(t[:, 0], t) for _, t in pairs])
    )
    spread = float(predicted.std()) if len(predicted) else 0.0
    return float(np.clip(natural.std() / spread, 1.0, _WIDEST)) if spread else 1.0


def export_prosody(task: ProsodyTask, *, eight_bit: bool = False) -> tuple[bytes, float, float]:
    """Write the network with contours of the natural range; gives the graph, its difference, and the widening."""
    widening = f0_widening(task)
    factors = np.ones(PROSODY, np.float32)
    factors[::_COLUMNS] = widening
    torch = torch_for("exporting the prosody network")
    tensors: dict[str, Any] = dict(task.tensors)
    for name in ("head.weight", "head.bias"):
        tensors[name] = tensors[name].detach() * torch.from_numpy(factors)
    graph, difference = export(tensors, task.settings.shape, eight_bit=eight_bit)
    return graph, difference, widening
