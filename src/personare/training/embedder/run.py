"""The training of an embedder from a corpus to a model file: split the speakers, read their speech, train, export."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personare.core.errors import TrainingError
from personare.core.seeding import Key
from personare.training import loop
from personare.training.checkpoints import LAST, Validation
from personare.training.embedder.batches import Batches
from personare.training.embedder.export import export
from personare.training.embedder.speakers import split_speakers
from personare.training.embedder.task import EmbedderTask, HeldOutEer, initialize_head, new_tensors
from personare.training.embedder.utterances import TrainingUtterance, TrainingUtterances, read_utterances
from personare.training.torch_extra import repeatable, torch_for

if TYPE_CHECKING:
    from personare.core.fingerprint import SystemIdentity
    from personare.core.tables import Corpus
    from personare.training.embedder.settings import EmbedderSettings

VERSION = 1  # raise it whenever the same settings and speech would end in other weights
MODEL = "model.onnx"
# settings that change how fast a training is, never what comes out of it
_WITHOUT_EFFECT = (("plan", "workers"), ("sounds", "memory_mb"))


@dataclass(frozen=True, eq=False)
class EmbedderTrainingRun:
    """A training that is ready to begin; ``failures`` are the recordings that could not be read."""

    task: EmbedderTask
    fingerprint: str
    failures: tuple[tuple[str, str], ...]

    def train(self, folder: Path, *, resume: bool = False) -> Iterator[loop.TrainingStep]:
        """Train; yields after every step."""
        settings = self.task.settings
        if settings.init == "ecapa" and not (resume and (folder / LAST).exists()):
            with repeatable(threads=settings.plan.threads, device=settings.plan.device):
                initialize_head(self.task)
        yield from loop.train(self.task, settings.plan, folder, fingerprint=self.fingerprint, resume=resume)

    def finish(self, folder: Path, *, system: SystemIdentity | None = None) -> ExportedEmbedder:
        """Write the best network to ``model.onnx``; ``system`` is the anonymizer of its training speech."""
        end = loop.best_of_training(self.task, folder, fingerprint=self.fingerprint)
        difference = export(self.task, folder / MODEL, system=system)
        return ExportedEmbedder(folder / MODEL, tuple(end.validations), end.best, difference)


@dataclass(frozen=True)
class ExportedEmbedder:
    """A trained embedder: its file, its validations, the best held-out EER, and the graph's difference."""

    model: Path
    validations: tuple[Validation, ...]
    best: float
    difference: float


def prepare(
    corpus: Corpus,
    settings: EmbedderSettings,
    *,
    eer: HeldOutEer,
    part: str | None = None,
    attacked: Iterable[str] = (),
    watch: Callable[[TrainingUtterance], None] = lambda _: None,
) -> EmbedderTrainingRun:
    """Split a corpus, read it, and make a new network; trial speakers are refused before anything is read."""
    torch_for("training an embedder")
    key = Key.from_seed(f"embedder {settings.seed}")
    split = split_speakers(corpus, settings.held_out, key=key, part=part, attacked=attacked)
    train = read_utterances(split.train, memory_mb=settings.sounds.memory_mb, watch=watch)
    held_out = read_utterances(split.held_out, memory_mb=settings.sounds.memory_mb, watch=watch)
    _check_held_out(held_out)
    batches = Batches(train, settings.sounds, key)
    tensors = new_tensors(settings, classes=batches.classes, key=key)
    task = EmbedderTask(settings, batches, held_out, split.genders, eer, tensors)
    return EmbedderTrainingRun(task, _fingerprint(settings, train, held_out), (*train.failures, *held_out.failures))


def _check_held_out(held_out: TrainingUtterances) -> None:
    speakers = [item.speaker for item in held_out.items]
    if len(set(speakers)) < 2 or len(speakers) == len(set(speakers)):
        raise TrainingError("too few held-out recordings can be read to validate on; repair the corpus")


def _fingerprint(settings: EmbedderSettings, train: TrainingUtterances, held_out: TrainingUtterances) -> str:
    """Name everything the result depends on: the settings that matter, the speech, and this code."""
    plain = dataclasses.asdict(settings)
    for group, name in _WITHOUT_EFFECT:
        del plain[group][name]
    text = f"{VERSION} {train.digest} {held_out.digest} {json.dumps(plain, sort_keys=True)}"
    return hashlib.sha256(text.encode()).hexdigest()
