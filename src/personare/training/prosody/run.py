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
from personare.encoders.prosody import PROSODY
from personare.training import loop
from personare.training.prosody.settings import ProsodySettings
from personare.training.prosody.task import ProsodyTask, new_task
from personare.training.synthesizer.export import export
from personare.training.synthesizer.run import SynthesizerUtterance
from personare.training.torch_extra import torch_for

VERSION = 1  # raise it whenever the same settings and speech would end in other weights
_MIN_SPEAKERS = 4
_WIDEST = 1.8  # a predicted F0 contour is widened to the natural range by no more than this
_COLUMNS = PROSODY // 2


@dataclass(frozen=True)
class ProsodyTrainingRun:
    """A training that is ready to begin: who is trained on, and who is held out."""

    settings: ProsodySettings
    utterances: tuple[SynthesizerUtterance, ...]
    held_out: tuple[SynthesizerUtterance, ...]

    @property
    def fingerprint(self) -> str:
        """Name everything the weights depend on: this code, the settings, the speech."""
        names = [item.features.name for item in (*self.utterances, *self.held_out)]
        plain = json.dumps(dataclasses.asdict(self.settings), sort_keys=True)
        return hashlib.sha256(f"prosody {VERSION} {plain} {names}".encode()).hexdigest()

    def task(self) -> ProsodyTask:
        """Read the features and make a new network."""
        sides = ([item.load() for item in side] for side in (self.utterances, self.held_out))
        return new_task(self.settings, *sides)

    def train(self, task: ProsodyTask, folder: Path, *, resume: bool = False) -> Iterator[loop.TrainingStep]:
        """Train; yields after every step."""
        yield from loop.train(task, self.settings.plan, folder, fingerprint=self.fingerprint, resume=resume)


def hold_out(items: Sequence[SynthesizerUtterance], settings: ProsodySettings) -> ProsodyTrainingRun:
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


def export_prosody(task: ProsodyTask) -> tuple[bytes, float, float]:
    """Write the network with contours of the natural range; gives the graph, its difference, and the widening."""
    widening = f0_widening(task)
    factors = np.ones(PROSODY, np.float32)
    factors[::_COLUMNS] = widening
    torch = torch_for("exporting the prosody network")
    tensors: dict[str, Any] = dict(task.tensors)
    for name in ("head.weight", "head.bias"):
        tensors[name] = tensors[name].detach() * torch.from_numpy(factors)
    graph, difference = export(tensors, task.settings.shape)
    return graph, difference, widening
