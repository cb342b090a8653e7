"""A training of the neural voice from utterances to weights: prepare lessons, set speakers aside, learn, export."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personare.anonymizers.xvector.training import lessons
from personare.anonymizers.xvector.training.task import VoiceTask, new_task
from personare.core.audio import read_mono
from personare.core.errors import TrainingError
from personare.core.seeding import Key, rng_for
from personare.core.weights import file_sha256
from personare.nn import checkpoints, loop, together
from personare.nn.torch_extra import torch_for

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from personare.anonymizers.xvector.training.settings import Settings
    from personare.core.audio import Audio

VERSION = 1  # raise it whenever the same settings and speech would end in other weights
_JUDGED_EACH, _JUDGED_S = 3, 6.0
_FEWEST_SPEAKERS = 4


@dataclass(frozen=True)
class Utterance:
    """An utterance to learn from (all of a file, or a stretch of it), and where its lesson is kept."""

    name: str
    speaker: str
    audio: Path
    lesson: Path
    start_s: float = 0.0
    end_s: float | None = None


@dataclass(frozen=True)
class LessonWork:
    """Prepare one lesson, unless it is there already; safe to run in any process."""

    embed: Callable[[Audio], NDArray[np.float32]]
    seed: int

    def __call__(self, item: Utterance) -> str:
        """Prepare it; gives its name."""
        if not item.lesson.exists():
            rng = rng_for(key_of(self.seed), "copies", item.name)
            audio = read_mono(item.audio, start_s=item.start_s, stop_s=item.end_s)
            lessons.save(lessons.make(audio, self.embed, rng=rng), item.lesson)
        return item.name


def key_of(seed: int) -> Key:
    """The public key that all chance of a training comes from."""
    return Key.from_seed(f"synthesizer {seed}")


def place_of(folder: Path, audio: Path, *, start_s: float = 0.0, end_s: float | None = None) -> Path:
    """Where the lesson of a sound is kept: named by what the sound is, not by what its file is called."""
    stretch = "" if not start_s and end_s is None else f"-{start_s}-{end_s}"
    return folder / f"{hashlib.sha256(audio.read_bytes()).hexdigest()[:24]}{stretch}-v{lessons.VERSION}.npz"


@dataclass(frozen=True)
class Course:
    """A training that is ready to begin: who is learnt from, and who is set aside to judge by.

    ``start`` is the folder of an earlier training whose best network is learnt on from; None begins with a new one.
    """

    settings: Settings
    learn: tuple[Utterance, ...]
    judge: tuple[Utterance, ...]
    start: Path | None = None

    @property
    def mark(self) -> str:
        """Name everything the weights depend on: this code, the settings, the speech, the network begun with."""
        names = [item.lesson.name for item in (*self.learn, *self.judge)]
        plain = json.dumps(dataclasses.asdict(self.settings), sort_keys=True)
        return hashlib.sha256(f"{VERSION} {plain} {names} {self.start_sha256}".encode()).hexdigest()

    @property
    def start_sha256(self) -> str | None:
        """Name the network begun with."""
        return None if self.start is None else file_sha256(best_of(self.start))

    def task(self, rank: int = 0) -> VoiceTask:
        """Open the lessons and make a new network, or take the earlier one."""
        learn = [lessons.load(item.lesson, item.speaker) for item in self.learn]
        task = new_task(self.settings, learn, _few_of_each(self.judged_lessons()), rank=rank)
        if self.start is not None:
            earlier = checkpoints.load(best_of(self.start), mark=None)
            checkpoints.fill(task.tensors, earlier.tensors, where=str(self.start))
        return task

    def judged_lessons(self) -> list[lessons.Lesson]:
        """Open the lessons of the speakers set aside, in the order of ``judge``."""
        return [lessons.load(item.lesson, item.speaker) for item in self.judge]

    def train(self, task: VoiceTask, folder: Path, *, resume: bool = False) -> Iterator[loop.Learnt]:
        """Learn; yields after every step."""
        with together.helped(self.settings.processes, functools.partial(_follow, course=self, folder=folder)):
            yield from loop.train(task, self.settings.plan, folder, mark=self.mark, resume=resume)


def best_of(folder: Path) -> Path:
    """Where an earlier training keeps its best network."""
    best = folder / checkpoints.BEST
    if not best.is_file():
        raise TrainingError(f"{folder}: no training to start from ({checkpoints.BEST} is missing); name its folder")
    return best


def _follow(rank: int, *, course: Course, folder: Path) -> None:
    loop.follow(course.task(rank), course.settings.plan, folder, mark=course.mark)


def set_aside(items: Sequence[Utterance], settings: Settings, *, start: Path | None = None) -> Course:
    """Divide the speakers into those to learn from and those to judge by, drawn by the seed."""
    torch_for("training the voice")
    speakers = sorted({item.speaker for item in items})
    if len(speakers) < settings.held_out + _FEWEST_SPEAKERS:
        need = settings.held_out + _FEWEST_SPEAKERS
        raise TrainingError(f"{len(speakers)} speakers can be read; a voice needs at least {need} to be trained")
    drawn = rng_for(key_of(settings.seed), "held out").permutation(len(speakers))[: settings.held_out]
    aside = {speakers[int(index)] for index in drawn}
    ordered = sorted(items, key=lambda item: item.lesson.name)
    return Course(
        settings,
        tuple(item for item in ordered if item.speaker not in aside),
        tuple(item for item in ordered if item.speaker in aside),
        start,
    )


def _few_of_each(judge: Sequence[lessons.Lesson]) -> list[lessons.Lesson]:
    """A few short utterances of every speaker set aside, the speakers taking turns."""
    by_speaker: dict[str, list[lessons.Lesson]] = defaultdict(list)
    for lesson in judge:
        if len(lesson.audio) <= _JUDGED_S * 16_000:
            by_speaker[lesson.speaker].append(lesson)
    if len(by_speaker) < 2:
        raise TrainingError(f"fewer than 2 speakers set aside have utterances of at most {_JUDGED_S:g} s to judge by")
    return [
        lesson
        for turn in range(_JUDGED_EACH)
        for speaker in sorted(by_speaker)
        for lesson in by_speaker[speaker][turn : turn + 1]
    ]
