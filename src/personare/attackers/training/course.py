"""A training from a corpus to a finished ear: divide the speakers, read their speech, learn, export."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personare.attackers.training.batches import Batches
from personare.attackers.training.clips import Clip, Clips, open_clips
from personare.attackers.training.division import divide
from personare.attackers.training.ear import Ear, Eer, aim_head, new_tensors
from personare.attackers.training.export import export
from personare.core.errors import TrainingError
from personare.core.seeding import Key
from personare.nn import loop
from personare.nn.checkpoints import LAST
from personare.nn.torch_extra import repeatable, torch_for

if TYPE_CHECKING:
    from personare.attackers.training.settings import Settings
    from personare.core.fingerprint import SystemIdentity
    from personare.core.tables import Corpus

VERSION = 1  # raise it whenever the same settings and speech would end in other weights
MODEL = "model.onnx"
# settings that change how fast a training is, never what comes out of it
_WITHOUT_EFFECT = (("plan", "workers"), ("sounds", "memory_mb"))


@dataclass(frozen=True, eq=False)
class Course:
    """A training that is ready to begin; ``failures`` are the recordings that could not be read."""

    ear: Ear
    mark: str
    failures: tuple[tuple[str, str], ...]

    def learn(self, folder: Path, *, resume: bool = False) -> Iterator[loop.Learnt]:
        """Learn; yields after every step."""
        if self.ear.settings.init == "ecapa" and not (resume and (folder / LAST).exists()):
            with repeatable(threads=self.ear.settings.plan.threads, device=self.ear.settings.plan.device):
                aim_head(self.ear)
        yield from loop.train(self.ear, self.ear.settings.plan, folder, mark=self.mark, resume=resume)

    def finish(self, folder: Path, *, system: SystemIdentity | None = None) -> Finished:
        """Take the best network and write it to ``model.onnx``; ``system`` is the anonymizer of its training speech."""
        end = loop.result(self.ear, folder, mark=self.mark)
        difference = export(self.ear, folder / MODEL, system=system)
        return Finished(folder / MODEL, tuple(end.rows), end.best, difference)


@dataclass(frozen=True)
class Finished:
    """A trained ear: its file, the judgements (step, loss, EER, rate), the best EER, and the graph's difference."""

    model: Path
    rows: tuple[tuple[int, float, float, float], ...]
    best: float
    difference: float


def prepare(
    corpus: Corpus,
    settings: Settings,
    *,
    eer: Eer,
    part: str | None = None,
    attacked: Iterable[str] = (),
    watch: Callable[[Clip], None] = lambda _: None,
) -> Course:
    """Divide a corpus, read it, and make a new network; trial speakers are refused before anything is read."""
    torch_for("training an embedder")
    key = Key.from_seed(f"embedder {settings.seed}")
    people = divide(corpus, settings.held_out, key=key, part=part, attacked=attacked)
    learn = open_clips(people.learn, memory_mb=settings.sounds.memory_mb, watch=watch)
    judge = open_clips(people.judge, memory_mb=settings.sounds.memory_mb, watch=watch)
    _check_judges(judge)
    batches = Batches(learn, settings.sounds, key)
    tensors = new_tensors(settings, classes=batches.classes, key=key)
    ear = Ear(settings, batches, judge, people.genders, eer, tensors)
    return Course(ear, _mark(settings, learn, judge), (*learn.failures, *judge.failures))


def _check_judges(judges: Clips) -> None:
    said = [clip.speaker for clip in judges.clips]
    if len(set(said)) < 2 or len(said) == len(set(said)):
        raise TrainingError("too few held-out recordings can be read to judge by; repair the corpus")


def _mark(settings: Settings, learn: Clips, judge: Clips) -> str:
    """Name everything the result depends on: the settings that matter, the speech, and this code."""
    plain = dataclasses.asdict(settings)
    for group, name in _WITHOUT_EFFECT:
        del plain[group][name]
    text = f"{VERSION} {learn.digest} {judge.digest} {json.dumps(plain, sort_keys=True)}"
    return hashlib.sha256(text.encode()).hexdigest()
