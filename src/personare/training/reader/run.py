"""The training of the reader from read sentences to two graphs: hold sentences out, train, write them down."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from personare.core.errors import TrainingError
from personare.core.seeding import Key, rng_for
from personare.training import checkpoints, loop, parallel
from personare.training.reader.settings import ReaderSettings
from personare.training.reader.start import EarlierReader, begin_with
from personare.training.reader.task import SPEECH, TEXT, ReaderTask, ReadSentence, new_task, part
from personare.training.synthesizer.export import export
from personare.training.torch_extra import torch_for

VERSION = 2  # raise it whenever the same settings and readings would end in other weights
_MIN_SENTENCES = 20


@dataclass(frozen=True)
class ReaderTrainingRun:
    """A training that is ready to begin: which sentences are trained on, and which are held out (their files).

    ``start`` is an earlier reader whose networks are the beginning; None begins with new ones.
    """

    settings: ReaderSettings
    readings: tuple[Path, ...]
    held_out: tuple[Path, ...]
    symbols: int
    readers: int
    start: EarlierReader | None = None

    @property
    def fingerprint(self) -> str:
        """Name everything the weights depend on: this code, the settings, what is read and by how many."""
        names = [path.name for path in (*self.readings, *self.held_out)]
        plain = json.dumps(dataclasses.asdict(self.settings), sort_keys=True)
        made_of = f"reader {VERSION} {plain} {names} {self.symbols} {self.readers}"
        if self.start is not None:
            made_of += f" {hashlib.sha256(self.start.text + self.start.speech).hexdigest()}"
        return hashlib.sha256(made_of.encode()).hexdigest()

    def task(self, rank: int = 0) -> ReaderTask:
        """Read the sentences and make new networks, or take the earlier ones."""
        sides = ([load(path) for path in side] for side in (self.readings, self.held_out))
        task = new_task(self.settings, *sides, symbols=self.symbols, readers=self.readers, rank=rank)
        if self.start is not None:
            earlier = begin_with(self.start, self.settings, symbols=self.symbols, readers=self.readers)
            checkpoints.fill(task.tensors, earlier, where="the earlier reader")
        return task

    def train(self, task: ReaderTask, folder: Path, *, resume: bool = False) -> Iterator[loop.TrainingStep]:
        """Train; yields after every step."""
        work = functools.partial(_train_worker, run=self, folder=folder)
        with parallel.worker_processes(self.settings.processes, work):
            yield from loop.train(task, self.settings.plan, folder, fingerprint=self.fingerprint, resume=resume)


def _train_worker(rank: int, *, run: ReaderTrainingRun, folder: Path) -> None:
    loop.train_worker(run.task(rank), run.settings.plan, folder, fingerprint=run.fingerprint)


def hold_out(
    paths: Sequence[Path],
    settings: ReaderSettings,
    *,
    symbols: int,
    readers: int,
    start: EarlierReader | None = None,
) -> ReaderTrainingRun:
    """Divide the sentences into those to train on and those to validate on, drawn by the seed."""
    torch_for("training the reader")
    if len(paths) < settings.held_out + _MIN_SENTENCES:
        need = settings.held_out + _MIN_SENTENCES
        raise TrainingError(f"{len(paths)} sentences were read; the reader needs at least {need} to be trained")
    ordered = sorted(paths, key=lambda path: path.name)
    rng = rng_for(Key.from_seed(f"reader {settings.seed}"), "held out")
    held_out = set(rng.permutation(len(ordered))[: settings.held_out].tolist())
    return ReaderTrainingRun(
        settings,
        tuple(path for place, path in enumerate(ordered) if place not in held_out),
        tuple(path for place, path in enumerate(ordered) if place in held_out),
        symbols,
        readers,
        start,
    )


def load(path: Path) -> ReadSentence:
    """Read a sentence that was read."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return ReadSentence(arrays["numbers"], arrays["durations"], arrays["content"], int(arrays["reader"]))
    except (OSError, KeyError, ValueError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise TrainingError(f"{path}: no reading ({type(error).__name__}); remove it and begin anew") from None


def export_reader(task: ReaderTask, *, eight_bit: bool = False) -> tuple[bytes, bytes, float]:
    """Write both networks; gives their graphs, and how far these are from the networks at most."""
    shapes = {
        TEXT: task.settings.text_shape(symbols=task.symbols, readers=task.readers),
        SPEECH: task.settings.speech_shape(readers=task.readers),
    }
    (text, first), (speech, second) = (
        export(part(task.tensors, prefix), shape, eight_bit=eight_bit) for prefix, shape in shapes.items()
    )
    return text, speech, max(first, second)
