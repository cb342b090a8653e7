"""Training the prosody network of a voice from corpora: features, a network, a larger pool of voices, a new card."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from personare.anonymizers.neural.xvector import voice_pool
from personare.anonymizers.neural.xvector.weights import (
    CARD,
    PROSODY_NETWORK,
    SHIPPED,
    VOICES,
    open_weights,
    package_files,
    shipped_folder,
)
from personare.core.seeding import rng_for
from personare.core.tables import Corpus
from personare.engine import Engine
from personare.pipeline.jobs.train_synthesizer import VOICES_PER_GENDER, prepared
from personare.pipeline.jobs.training_files import sources_of, write_log, write_package
from personare.training import loop
from personare.training.checkpoints import Validation
from personare.training.prosody.run import ProsodyTrainingRun, export_prosody, hold_out
from personare.training.prosody.task import held_out_measures
from personare.training.synthesizer.run import key_of

if TYPE_CHECKING:
    from personare.training.prosody.settings import ProsodySettings
    from personare.training.prosody.task import ProsodyTask


@dataclass(frozen=True)
class ProsodyTrainingResult:
    """What a training ended with: validations, what is measured on held-out speakers, the folder that speaks."""

    folder: Path
    validations: tuple[Validation, ...]
    measured: Mapping[str, float]
    megabytes: float


def open_run(
    corpus: Corpus, settings: ProsodySettings, folder: Path, engine: Engine, *, watch: Callable[[int], None]
) -> tuple[ProsodyTrainingRun, list[tuple[str, str]]]:
    """Prepare every utterance that can be read; gives the run and failures."""
    ready, failures = prepared(corpus, folder, engine, seed=settings.seed, watch=watch)
    return hold_out(ready, settings), failures


def train_prosody(
    run: ProsodyTrainingRun,
    corpus: Corpus,
    folder: Path,
    *,
    voice: Path | None = None,
    resume: bool = False,
    watch: Callable[[loop.TrainingStep], None] = lambda _: None,
) -> ProsodyTrainingResult:
    """Train into ``folder`` and write the whole voice there.

    It is the voice of the folder ``voice`` (None: the shipped one), with the new prosody network, and with
    pseudo-speakers drawn from the speakers of ``corpus``.
    """
    open_weights(voice or SHIPPED)
    task = run.task()
    for step in run.train(task, folder, resume=resume):
        watch(step)
    validations = tuple(loop.best_of_training(task, folder, fingerprint=run.fingerprint).validations)
    return _finish(run, task, corpus, folder, voice=voice, validations=validations)


def _finish(
    run: ProsodyTrainingRun,
    task: ProsodyTask,
    corpus: Corpus,
    folder: Path,
    *,
    voice: Path | None,
    validations: tuple[Validation, ...],
) -> ProsodyTrainingResult:
    graph, difference, widening = export_prosody(task)
    before = voice or shipped_folder()
    genders = dict(corpus.frame.select("speaker", "gender").iter_rows()) if "gender" in corpus.frame.columns else {}
    speakers = voice_pool.training_speakers([item.load() for item in run.utterances], genders)
    rng = rng_for(key_of(run.settings.seed), "voices")
    voices = voice_pool.draw_voices(speakers, count=VOICES_PER_GENDER, rng=rng)
    files = {**package_files(before), VOICES: voice_pool.encode_voices(voices), PROSODY_NETWORK: graph}
    measured = {**held_out_measures(task), "f0_widening": widening, "graph_difference": difference}
    card: dict[str, Any] = json.loads((before / CARD).read_text(encoding="utf-8"))
    nearest = (voices.vectors @ speakers.vectors.T.astype("float32")).max(axis=1)
    card["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    card["prosody"] = {
        "what": "content (Moonshine tiny) + speaker vector (GE2E) -> F0 contour, voicing, energy, every 6 ms",
        "data": {
            "sources": sources_of(corpus),
            "speakers": len({item.speaker for item in run.utterances}),
            "utterances": len(run.utterances),
            "held_out_speakers": len({item.speaker for item in run.held_out}),  # a voice may be given away, names not
        },
        "settings": dataclasses.asdict(run.settings),
        "steps": validations[-1].step,
        "measured": measured,
    }
    card["voices"] = {
        "invented": len(voices.vectors),
        "drawn_from_speakers": len(speakers.vectors),
        "nearest_cosine_to_a_training_speaker": float(nearest.max()),
        "median_cosine_of_a_recording_to_its_speaker": speakers.nearness,
    }
    write_package(files, card, folder, card_name=CARD)
    write_log(
        validations,
        folder,
        column="held_out_loss",
        title="the prosody network",
        label="loss on held-out speakers",
        scale=1.0,
    )
    return ProsodyTrainingResult(folder, validations, measured, sum(map(len, files.values())) / 1e6)
