"""Training an attacker's ear from a corpus: who is learnt from, a log, a picture, a card that names the sources."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import yaml

from personare.attackers.training.clips import Clip
from personare.attackers.training.course import Course, Finished, prepare
from personare.attackers.training.settings import Settings
from personare.core.files import write_text
from personare.core.findings import Estimate
from personare.core.fingerprint import SystemIdentity
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus, write_frame
from personare.core.weights import file_sha256
from personare.metrics.privacy.eer import rocch_eer, rocch_eer_estimate
from personare.nn.loop import Learnt
from personare.pipeline.system import read_system
from personare.reports.learning_figure import write_learning_figure

LOG, FIGURE, CARD, SETTINGS = "log.tsv", "learning.png", "card.md", "settings.yaml"


@dataclass(frozen=True)
class Trained:
    """What a training ended with.

    Parameters
    ----------
    eer : on the held-out speakers, with an interval over them; a little too good, because they chose the best step.
    first_eer : the same before the first step.
    """

    finished: Finished
    eer: Estimate
    first_eer: float
    speakers: int
    utterances: int
    failures: tuple[tuple[str, str], ...]


def open_course(
    corpus: Corpus,
    settings: Settings,
    *,
    part: str | None = None,
    attacked: Iterable[str] = (),
    watch: Callable[[Clip], None] = lambda _: None,
) -> Course:
    """Choose who is learnt from and read their speech; ``watch`` is told of every recording."""
    return prepare(corpus, settings, eer=rocch_eer, part=part, attacked=attacked, watch=watch)


def train_embedder(
    course: Course,
    folder: Path,
    *,
    sources: Iterable[str] = (),
    system: SystemIdentity | None = None,
    resume: bool = False,
    watch: Callable[[Learnt], None] = lambda _: None,
) -> Trained:
    """Train an ear into ``folder``; ``watch`` is told of every step, ``sources`` are named in the model's card.

    ``system`` is the anonymizer that made the training speech; an attack with this ear is then an informed one.
    """
    settings = course.ear.settings
    for learnt in course.learn(folder, resume=resume):
        watch(learnt)
    finished = course.finish(folder, system=system)
    done = Trained(
        finished,
        _held_out_eer(course),
        finished.rows[0][2],
        len(course.ear.batches.clips.speakers),
        len(course.ear.batches.clips.clips),
        course.failures,
    )
    _write_log(finished, folder, title=f"{settings.arch}, {done.speakers} speakers")
    write_text(folder / SETTINGS, yaml.safe_dump(_plain(dataclasses.asdict(settings)), sort_keys=False))
    write_text(folder / CARD, _card(course, done, sorted(set(sources)), system))
    return done


def _held_out_eer(course: Course) -> Estimate:
    scores = course.ear.scores()
    owner = np.array(scores.test.speakers)[scores.test_at]
    return rocch_eer_estimate(
        scores.targets,
        scores.nontargets,
        target_speakers=owner[scores.target],
        nontarget_speakers=owner[~scores.target],
        rng=rng_for(Key.from_seed(course.ear.settings.seed), "held-out interval"),
    )


def _write_log(finished: Finished, folder: Path, *, title: str) -> None:
    steps, losses, held_out, rates = (list(column) for column in zip(*finished.rows, strict=True))
    known = [None if math.isnan(loss) else loss for loss in losses]
    write_frame(pl.DataFrame({"step": steps, "loss": known, "held_out_eer": held_out, "rate": rates}), folder / LOG)
    write_learning_figure([int(s) for s in steps], losses, held_out, folder / FIGURE, title=title)


def _plain(value: object) -> object:
    """Turn tuples into lists, as YAML writes them."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def system_of(folder: Path) -> SystemIdentity | None:
    """Which system made the speech in a folder; None where no card says so."""
    system = read_system(folder) if folder.is_dir() else None
    return system.identity if system else None


def sources_of(corpus: Corpus, part: str | None = None) -> list[str]:
    """Which corpora the utterances come from, where a column 'corpus' says so."""
    if "corpus" not in corpus.frame.columns:
        return []
    rows = corpus.frame if part is None else corpus.frame.filter(pl.col("part") == part)
    return sorted(rows["corpus"].drop_nulls().unique().to_list())


def _card(course: Course, done: Trained, named: list[str], system: SystemIdentity | None) -> str:
    """Say what the model is, whose speech it has learnt from, how good it is, and what it must not be used on."""
    ear = course.ear
    clips = ear.batches.clips
    before = " from the published weights of 'ecapa' (VoxCeleb)" if ear.settings.init == "ecapa" else ""
    hours = clips.duration_s / 3600
    low, high = 100 * done.eer.low, 100 * done.eer.high
    return f"""# {ear.settings.arch}, trained{before}

- File: {done.finished.model.name}, SHA-256 {file_sha256(done.finished.model)}
- Learnt from: {done.speakers} speakers, {done.utterances} utterances, {hours:.2f} h; {len(done.failures)} unreadable
- Sources: {", ".join(named) or "not named by the corpus; write them here with their licences"}
- Speech hidden by: {system or "nothing (original speech)"}
- EER on {len(ear.judges.speakers)} held-out speakers: {100 * done.eer.value:.2f} % [{low:.2f}, {high:.2f}],
  before the first step {100 * done.first_eer:.2f} %. They chose the best step: expect a little more on strangers.
- Graph and network differ by {done.finished.difference:.1e} (relative).
- Seed {ear.settings.seed}; every setting is in {SETTINGS}, every judgement in {LOG}.

The file holds tokens of its training speakers; an attack on one of them is refused. Use it with
`--embedder trained:{done.finished.model.name}`. A voice recogniser is for measuring protection, not for finding people.
"""
