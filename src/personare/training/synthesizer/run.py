"""The training of the synthesizer from utterances to weights: extract features, hold speakers out, train."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from personare.core.audio import read_mono
from personare.core.errors import TrainingError
from personare.core.seeding import Key, rng_for
from personare.core.sessions import open_session
from personare.core.weights import file_sha256
from personare.training import checkpoints, loop, parallel
from personare.training.synthesizer import features
from personare.training.synthesizer.export import read_tensors
from personare.training.synthesizer.features import FeatureSources, SynthesizerFeatures
from personare.training.synthesizer.rehearsal import RehearsalFiles, open_rehearsal
from personare.training.synthesizer.settings import SynthesizerSettings
from personare.training.synthesizer.task import SynthesizerTask, new_task
from personare.training.torch_extra import torch_for

VERSION = 2  # raise it whenever the same settings and speech would end in other weights
_VALIDATED_EACH, _VALIDATED_S = 3, 6.0
_MIN_SPEAKERS = 4
GRAPH = "voice.onnx"


@dataclass(frozen=True)
class SynthesizerUtterance:
    """An utterance to train on (all of a file, or a stretch of it), and where its features are kept.

    ``is_read`` is one that was read aloud for a reader.
    """

    name: str
    speaker: str
    audio: Path
    features: Path
    start_s: float = 0.0
    end_s: float | None = None
    is_read: bool = False

    def load(self) -> SynthesizerFeatures:
        """Read its features."""
        return features.load(self.features, self.speaker, is_read=self.is_read)


@dataclass(frozen=True)
class ExtractFeatures:
    """Extract the features of one utterance, unless they are there already; safe to run in any process."""

    sources: FeatureSources
    seed: int

    def __call__(self, item: SynthesizerUtterance) -> str:
        """Extract them; gives the utterance's name."""
        if not item.features.exists():
            rng = rng_for(key_of(self.seed), "copies", item.name)
            audio = read_mono(item.audio, start_s=item.start_s, stop_s=item.end_s)
            features.save(features.extract(audio, self.sources, rng=rng), item.features)
        return item.name


def key_of(seed: int) -> Key:
    """The public key that all chance of a training comes from."""
    return Key.from_seed(f"synthesizer {seed}")


def features_path(folder: Path, audio: Path, *, start_s: float = 0.0, end_s: float | None = None) -> Path:
    """Where the features of a recording are kept: named by its content, not by what its file is called."""
    stretch = "" if not start_s and end_s is None else f"-{start_s}-{end_s}"
    return folder / f"{hashlib.sha256(audio.read_bytes()).hexdigest()[:24]}{stretch}-v{features.VERSION}.npz"


@dataclass(frozen=True)
class SynthesizerTrainingRun:
    """A training that is ready to begin: who is trained on, and who is held out.

    ``start`` is the folder of an earlier training whose best network is the beginning, or of a voice without its
    checkpoints, or a graph; None begins with a new one. ``prosody`` is the graph of a prosody network (see the
    settings), ``rehearsal`` names what a teacher is imitated with.
    """

    settings: SynthesizerSettings
    utterances: tuple[SynthesizerUtterance, ...]
    held_out: tuple[SynthesizerUtterance, ...]
    start: Path | None = None
    prosody: Path | None = None
    rehearsal: RehearsalFiles | None = None

    @property
    def fingerprint(self) -> str:
        """Name everything the weights depend on: this code, the settings, the speech, the networks begun with."""
        names = [item.features.name for item in (*self.utterances, *self.held_out)]
        plain = json.dumps(dataclasses.asdict(self.settings), sort_keys=True)
        prosody = None if self.prosody is None else file_sha256(self.prosody)
        made_of = f"{VERSION} {plain} {names} {self.start_sha256} {prosody}"
        if self.rehearsal is not None:
            made_of += f" {file_sha256(self.rehearsal.teacher)} {file_sha256(self.rehearsal.rehearsed)}"
        return hashlib.sha256(made_of.encode()).hexdigest()

    @property
    def start_sha256(self) -> str | None:
        """Name the network begun with."""
        return None if self.start is None else file_sha256(best_of(self.start))

    def task(self, rank: int = 0) -> SynthesizerTask:
        """Read the features and make a new network, or take the earlier one."""
        held_out = _few_of_each([item.load() for item in self.held_out])
        session = None if self.prosody is None else open_session(self.prosody)
        utterances = [item.load() for item in self.utterances]
        rehearsal = None if self.rehearsal is None else open_rehearsal(self.rehearsal)
        task = new_task(self.settings, utterances, held_out, rank=rank, prosody=session, rehearsal=rehearsal)
        self.begin(task)
        return task

    def begin(self, task: SynthesizerTask) -> None:
        """Take the network begun with, where there is one."""
        if self.start is not None:
            begin = best_of(self.start)
            if begin.name == checkpoints.BEST:
                earlier = checkpoints.load(begin, fingerprint=None).tensors
            else:  # a voice without its training: the discriminator begins anew
                earlier = {**task.tensors, **read_tensors(begin.read_bytes(), self.settings.shape)}
            checkpoints.fill(task.tensors, earlier, where=str(self.start))

    def train(self, task: SynthesizerTask, folder: Path, *, resume: bool = False) -> Iterator[loop.TrainingStep]:
        """Train; yields after every step."""
        work = functools.partial(_train_worker, run=self, folder=folder)
        with parallel.worker_processes(self.settings.processes, work):
            yield from loop.train(task, self.settings.plan, folder, fingerprint=self.fingerprint, resume=resume)


def best_of(folder: Path) -> Path:
    """Where an earlier training keeps its best network; of a voice that came without it, its graph; or a graph."""
    for place in (folder, folder / checkpoints.BEST, folder / GRAPH):
        if place.is_file():
            return place
    raise TrainingError(f"{folder}: no training to start from ({checkpoints.BEST} is missing); name its folder")


def _train_worker(rank: int, *, run: SynthesizerTrainingRun, folder: Path) -> None:
    loop.train_worker(run.task(rank), run.settings.plan, folder, fingerprint=run.fingerprint)


def hold_out(
    items: Sequence[SynthesizerUtterance],
    settings: SynthesizerSettings,
    *,
    start: Path | None = None,
    prosody: Path | None = None,
    rehearsal: RehearsalFiles | None = None,
) -> SynthesizerTrainingRun:
    """Divide the speakers into those to train on and those to validate on, drawn by the seed.

    Where sentences were read for a reader, some of them are validated on instead: its content is to be spoken well.
    """
    torch_for("training the synthesizer")
    speakers = sorted({item.speaker for item in items})
    if len(speakers) < settings.held_out + _MIN_SPEAKERS:
        need = settings.held_out + _MIN_SPEAKERS
        raise TrainingError(f"{len(speakers)} speakers can be read; a voice needs at least {need} to be trained")
    drawn = rng_for(key_of(settings.seed), "held out").permutation(len(speakers))[: settings.held_out]
    ordered = sorted(items, key=lambda item: item.features.name)
    read = [item.name for item in ordered if item.is_read]
    if read:
        places = rng_for(key_of(settings.seed), "held out").permutation(len(read))
        names = {read[int(place)] for place in places[: _VALIDATED_EACH * settings.held_out]}
    else:
        held_out = {speakers[int(index)] for index in drawn}
        names = {item.name for item in ordered if item.speaker in held_out}
    return SynthesizerTrainingRun(
        settings,
        tuple(item for item in ordered if item.name not in names),
        tuple(item for item in ordered if item.name in names),
        start,
        prosody,
        rehearsal,
    )


def _few_of_each(held_out: Sequence[SynthesizerFeatures]) -> list[SynthesizerFeatures]:
    """A few short utterances of every held-out speaker, the speakers taking turns."""
    by_speaker: dict[str, list[SynthesizerFeatures]] = defaultdict(list)
    for utterance in held_out:
        if len(utterance.audio) <= _VALIDATED_S * 16_000:
            by_speaker[utterance.speaker].append(utterance)
    if len(by_speaker) < 2:
        raise TrainingError(f"fewer than 2 held-out speakers have utterances of at most {_VALIDATED_S:g} s")
    return [
        utterance
        for turn in range(_VALIDATED_EACH)
        for speaker in sorted(by_speaker)
        for utterance in by_speaker[speaker][turn : turn + 1]
    ]
