"""Training the universal speech codec from corpora: prepare the speech, train, write a log and a page, export."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from personare.codecs.codec import codec_named
from personare.codecs.usc.prepare import Preparation
from personare.codecs.usc.training_run import (
    TrainingRecording,
    TrainingRun,
    export_small,
    mixed_voices,
    read_log,
    sounds_of,
)
from personare.codecs.usc.wave_export import export_paper
from personare.core.audio import Audio
from personare.core.errors import ConfigError, TrainingError
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus
from personare.engine import Engine
from personare.pipeline.jobs.training_files import sources_of
from personare.reports.codec_training import write_training_page
from personare.training import checkpoints
from personare.training.usc import grid

if TYPE_CHECKING:
    from personare.training.loop import TrainingStep
    from personare.training.usc.paper_task import PaperSettings
    from personare.training.usc.small_task import SmallSettings
    from personare.training.usc.speech_store import SpeechStore

PREPARED, CODEC = "prepared", "codec"
_MOST_VOICES, _SPEAKERS_PER_VOICE = 8, 4
_HEARD = 3  # held-out utterances on the page
_OFFLINE_TEACHER = grid.CONTENT_WIDTH  # dimensions of the recognizer's content frames


@dataclass(frozen=True)
class TrainingCorpus:
    """A corpus to train on, under a name that no other one of the training has.

    ``labelled`` says whether its speakers are known; of the others only the sound is used.
    """

    name: str
    corpus: Corpus
    labelled: bool = True

    def recordings(self, part: str | None) -> list[TrainingRecording]:
        """List its utterances; a part is taken where the corpus has parts."""
        frame = self.corpus.frame
        if part is not None and "part" in frame.columns:
            frame = frame.filter(pl.col("part") == part)
        return [
            TrainingRecording(
                f"{self.name}/{u.utterance}",
                f"{self.name}/{u.speaker}" if self.labelled else "",
                self.name,
                u.audio,
                u.text or "",
                u.start_s,
                u.end_s,
            )
            for u in Corpus(frame)
        ]


@dataclass(frozen=True)
class PrepareRecording:
    """Measure one utterance, in any process."""

    preparation: Preparation

    def __call__(self, recording: TrainingRecording) -> Path:
        """Prepare it unless that is done."""
        return recording.prepared(self.preparation)


@dataclass(frozen=True, eq=False)
class OpenedTraining:
    """A training whose speech is prepared and packed."""

    run: TrainingRun
    store: SpeechStore
    failures: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CodecTrainingResult:
    """What a training ended with: its last line of the log, where the codec, the page and the card are."""

    folder: Path
    codec: Path
    name: str
    page: Path
    last: Mapping[str, Any]
    megabytes: float


def open_training(
    corpora: Sequence[TrainingCorpus],
    settings: PaperSettings | SmallSettings,
    folder: Path,
    engine: Engine,
    *,
    part: str | None = None,
    start: Path | None = None,
    teacher: Path | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> OpenedTraining:
    """Prepare and pack every utterance that can be read; ``start`` is the folder of an earlier training."""
    from personare.training.usc.paper_task import PaperSettings

    if start is not None and not (start / checkpoints.LAST).is_file():
        raise TrainingError(f"{start}: no training to start from ({checkpoints.LAST} is missing)")
    rate_hz, listener = grid.RATE_HZ, None
    if isinstance(settings, PaperSettings):
        rate_hz, listener = settings.shape.rate_hz, _teacher(teacher)
        if listener is None:  # C0 is distilled from the recognizer's content frames
            settings = replace(settings, shape=replace(settings.shape, teacher=_OFFLINE_TEACHER))
    elif teacher is not None or not all(corpus.labelled for corpus in corpora):
        raise ConfigError("the small codec has its teacher built in and must know who speaks; use --config paper")
    preparation = Preparation(folder / PREPARED, settings.seed, listener, rate_hz)
    recordings = [recording for corpus in corpora for recording in corpus.recordings(part)]
    ready, failures = [], []
    for result in engine.map(PrepareRecording(preparation), recordings, ordered=True):
        watch(1)
        if result.ok:
            ready.append(result.item)
        else:
            failures.append((result.item.name, result.error or "failed"))
    if not ready:
        why = failures[0][1] if failures else "there are none"
        raise TrainingError(f"none of {len(recordings)} utterances can be trained on ({why})")
    run = TrainingRun(settings, folder, start)
    return OpenedTraining(run, run.packed(ready, preparation), tuple(failures))


def _teacher(path: Path | None) -> Any:
    if path is None:
        return None
    from personare.codecs.published.hubert import Hubert

    return Hubert(str(path))


def train_usc(
    opened: OpenedTraining,
    corpora: Sequence[TrainingCorpus],
    *,
    config: str,
    resume: bool = False,
    watch: Callable[[TrainingStep], None] = lambda _: None,
) -> CodecTrainingResult:
    """Train, with a page that is written anew at every measurement, and export what came out."""
    run, store = opened.run, opened.store
    for step in run.train(store, resume=resume):
        if step.held_out is not None:
            write_training_page(run.folder, read_log(run.folder))
        watch(step)
    log = read_log(run.folder)
    place = run.folder / CODEC
    name = _export(run, store, place, card=_card(opened, corpora, log[-1], config=config))
    sounds = sounds_of(codec_named(f"{name}:{place}"), _held_out(run, store), rng=rng_for(_key(run), "page"))
    page = write_training_page(run.folder, log, sounds)
    megabytes = sum(path.stat().st_size for path in place.iterdir()) / 1e6
    return CodecTrainingResult(run.folder, place, name, page, log[-1], megabytes)


def _key(run: TrainingRun) -> Key:
    return Key.from_seed(f"usc {run.settings.seed}")


def _export(run: TrainingRun, store: SpeechStore, place: Path, *, card: dict[str, Any]) -> str:
    """Write the files for use; gives the name of the codec that reads them."""
    from personare.training.usc.paper_task import PaperSettings

    last = run.folder / checkpoints.LAST
    if isinstance(run.settings, PaperSettings):
        export_paper(last, dataclasses.asdict(run.settings), place, card=card)
        return "usc-paper"
    speakers = len({u.speaker for u in store.utterances if u.speaker})
    count = max(1, min(_MOST_VOICES, speakers // _SPEAKERS_PER_VOICE))
    voices = mixed_voices(store, count, rng=rng_for(_key(run), "voices"))
    export_small(last, place, front=run.settings.shape.front, voices=voices, card=card)
    return "usc"


def _held_out(run: TrainingRun, store: SpeechStore) -> dict[str, Audio]:
    """A few held-out utterances as they were trained on: 16 kHz, at the coding level."""
    aside = run.held_out(store)
    heard = {}
    for number, utterance in enumerate([u for u in store.utterances if u.speaker in aside][:_HEARD]):
        samples = store.crop("audio", 0, utterance.frames, utterance).reshape(-1) * np.float32(1 / 32768)
        heard[f"held-out utterance {number + 1}"] = Audio(samples.astype(np.float32), grid.RATE_HZ)
    return heard


def _card(
    opened: OpenedTraining, corpora: Sequence[TrainingCorpus], last: Mapping[str, Any], *, config: str
) -> dict[str, Any]:
    """Say what the codec is, on what it was trained, how far it came."""
    store, settings = opened.store, opened.run.settings
    sources = {corpus.name: sources_of(corpus.corpus) for corpus in corpora}
    return {
        "name": "personare universal speech codec",
        "config": config,
        "data": {
            "sources": sources,
            "speakers": len({u.speaker for u in store.utterances if u.speaker}),
            "unlabelled_utterances": sum(not u.speaker for u in store.utterances),
            "utterances": len(store.utterances),
            "hours": round(sum(u.frames for u in store.utterances) / grid.FRAME_RATE_HZ / 3600, 3),
        },
        "licence": "CC BY 4.0; the speech of the sources keeps its own",
        "started_from": opened.run.start is not None,
        "settings": dataclasses.asdict(settings),
        "measured": {name: value for name, value in last.items() if name != "cpu_s"},
    }
