"""Training a speaker embedder from a corpus: a model, a log, a picture, a card that names the sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from personare.attackers.scoring import TrialScores, score_all
from personare.core.files import write_text
from personare.core.findings import Estimate
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Corpus, Embeddings
from personare.core.text import number_text
from personare.core.weights import file_sha256
from personare.metrics.privacy.eer import rocch_eer, rocch_eer_estimate
from personare.pipeline.jobs.training_files import CARD, LOG, SETTINGS, write_log, write_settings
from personare.training.embedder.run import EmbedderTrainingRun, ExportedEmbedder, prepare
from personare.training.embedder.settings import EmbedderSettings
from personare.training.embedder.utterances import TrainingUtterance
from personare.training.loop import TrainingStep


@dataclass(frozen=True)
class EmbedderTrainingResult:
    """What a training ended with.

    Parameters
    ----------
    eer : on the held-out speakers, with an interval over them; a little too good, because they chose the best step.
    first_eer : the same before the first step.
    """

    exported: ExportedEmbedder
    eer: Estimate
    first_eer: float
    speakers: int
    utterances: int
    failures: tuple[tuple[str, str], ...]


def open_run(
    corpus: Corpus,
    settings: EmbedderSettings,
    *,
    part: str | None = None,
    attacked: Iterable[str] = (),
    watch: Callable[[TrainingUtterance], None] = lambda _: None,
) -> EmbedderTrainingRun:
    """Choose the training speakers and read their speech; ``watch`` is called with every recording."""
    return prepare(corpus, settings, eer=held_out_eer, part=part, attacked=attacked, watch=watch)


def held_out_eer(held_out: Embeddings, genders: Mapping[str, str | None] | None) -> float:
    """Give the EER of all trials among utterances, within a gender where genders are given."""
    scores = _trials(held_out, genders)
    return rocch_eer(scores.targets, scores.nontargets)


def _trials(held_out: Embeddings, genders: Mapping[str, str | None] | None) -> TrialScores:
    return score_all(held_out, held_out, genders=genders)


def train_embedder(
    run: EmbedderTrainingRun,
    folder: Path,
    *,
    sources: Iterable[str] = (),
    system: SystemIdentity | None = None,
    resume: bool = False,
    watch: Callable[[TrainingStep], None] = lambda _: None,
) -> EmbedderTrainingResult:
    """Train an embedder into ``folder``; ``watch`` is called with every step, ``sources`` are named in its card.

    ``system`` is the anonymizer that made the training speech; an attack with this embedder is then an informed one.
    """
    for step in run.train(folder, resume=resume):
        watch(step)
    exported = run.finish(folder, system=system)
    utterances = run.task.batches.utterances
    result = EmbedderTrainingResult(
        exported,
        _held_out_estimate(run),
        exported.validations[0].held_out,
        len(utterances.speakers),
        len(utterances.items),
        run.failures,
    )
    write_log(
        exported.validations,
        folder,
        column="held_out_eer",
        title=f"{run.task.settings.arch}, {result.speakers} speakers",
        label="EER on held-out speakers, %",
        scale=100.0,
    )
    write_settings(run.task.settings, folder)
    write_text(folder / CARD, _card(run, result, sorted(set(sources)), system))
    return result


def _held_out_estimate(run: EmbedderTrainingRun) -> Estimate:
    scores = _trials(run.task.held_out_embeddings(), run.task.genders)
    owner = np.array(scores.test.speakers)[scores.test_at]
    return rocch_eer_estimate(
        scores.targets,
        scores.nontargets,
        target_speakers=owner[scores.target],
        nontarget_speakers=owner[~scores.target],
    )


def _card(
    run: EmbedderTrainingRun, result: EmbedderTrainingResult, sources: list[str], system: SystemIdentity | None
) -> str:
    """Say what the model is, whose speech it was trained on, how good it is, and what it must not be used on."""
    settings, model = run.task.settings, result.exported.model
    before = " from the published weights of 'ecapa' (VoxCeleb)" if settings.init == "ecapa" else ""
    hours = run.task.batches.utterances.duration_s / 3600
    return f"""# {settings.arch}, trained{before}

- File: {model.name}, SHA-256 {file_sha256(model)}
- Trained on: {result.speakers} speakers, {result.utterances} utterances, {hours:.2f} h;
  {len(result.failures)} recordings could not be read
- Sources: {", ".join(sources) or "not named by the corpus; write them here with their licences"}
- Speech anonymized by: {system or "nothing (original speech)"}
- EER on {len(run.task.held_out.speakers)} held-out speakers: {result.eer.text("%")},
  before the first step {number_text(result.first_eer, "%")}. They chose the best step: expect a little more on others.
- Graph and network differ by {result.exported.difference:.1e} (relative).
- Seed {settings.seed}; every setting is in {SETTINGS}, every validation in {LOG}.

The file holds tokens of its training speakers; an attack on one of them is refused. Use it with
`--embedder trained:{model.name}`. A voice recogniser is for measuring protection, not for finding people.
"""
