"""Attackers of every level of knowledge against one anonymized corpus, each with the speech that level may have.

The levels are told in ``attackers.knowledge``. An attacker who learns does so from speech of other people, which they
anonymize themselves, each utterance with a pseudo-voice of its own; speakers of the attacked corpus are left out of
that speech, and the checks of ``attackers.split`` refuse any that remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from personare.attackers.alignment import align_pairs
from personare.attackers.backend import Backend
from personare.attackers.knowledge import Knowledge
from personare.attackers.split import Disguise, Split
from personare.attackers.split import Heard as Known
from personare.attackers.trained import refuse_teachers
from personare.core.errors import ConfigError
from personare.core.seeding import Key, token_for
from personare.core.tables import Corpus, Embeddings
from personare.engine import Engine
from personare.studies.attack import AttackOutcome, run_attack
from personare.studies.evaluate import split as deal
from personare.studies.hearing import Heard, HearWork, Sound, hear
from personare.studies.pairing import Pairs
from personare.studies.recipe import Recipe

BACKEND = Backend(scorer="cosine")


@dataclass(frozen=True, eq=False)
class Lesson:
    """Speech of other people for attackers who learn, and the recipe they anonymize it with."""

    corpus: Corpus
    recipe: Recipe


@dataclass(frozen=True, eq=False)
class Listening:
    """What has to be heard for a set of attackers: lists of sounds by name, who disguises them, and how."""

    sounds: dict[str, list[Sound]]
    works: dict[str, HearWork]
    disguises: dict[str, Disguise | None]

    def __len__(self) -> int:
        return sum(len(sounds) for sounds in self.sounds.values())


@dataclass(frozen=True, eq=False)
class Campaign:
    """What all attackers achieved, and what could not be heard."""

    outcomes: tuple[AttackOutcome, ...]
    failures: tuple[tuple[str, str], ...]


def plan(
    pairs: Pairs,
    levels: Sequence[Knowledge],
    *,
    recipe: Recipe | None,
    embedder: str,
    lesson: Lesson | None = None,
    seed: int = 1,
) -> Listening:
    """List what must be heard; an attack that lacks what it needs is an error now."""
    refuse_teachers(embedder, pairs.frame["speaker"])
    key = Key.from_seed(seed)
    enroll, trial, _ = deal(pairs.frame, key)
    own = key.child("attacker")
    plain = HearWork(embedder)
    system = recipe.in_words() if recipe else "unknown"
    sounds, works, disguises = {}, {}, {}

    def need(name: str, items: Iterator[Sound], work: HearWork, disguise: Disguise | None) -> None:
        sounds[name], works[name], disguises[name] = list(items), work, disguise

    need("trial anonymized", _sounds(trial, "anonymized"), plain, Disguise(system, "owner"))
    if any(level.enroll == "original" for level in levels):
        need("enrolment original", _sounds(enroll, "audio"), plain, None)
    if Knowledge.ORIGINAL in levels:
        need("trial original", _sounds(trial, "audio"), plain, None)
    if any(level.enroll == "anonymized" for level in levels):
        work = HearWork(embedder, _known(recipe), own)
        need("enrolment anonymized", _sounds(enroll, "audio", disguised=True), work, Disguise(system, _mark(own)))
    if any(level.needs_training for level in levels):
        others, used = _others(lesson, pairs), _given(lesson).recipe
        theirs = own.child("training")
        work = HearWork(embedder, replace(used, level="utterance"), theirs)
        need("training", _sounds(others, "audio", disguised=True), work, Disguise(used.in_words(), _mark(theirs)))
        if Knowledge.ALIGNED in levels:
            need("training original", _sounds(others, "audio"), plain, None)
    return Listening(sounds, works, disguises)


def attack(
    pairs: Pairs,
    levels: Sequence[Knowledge],
    listening: Listening,
    *,
    engine: Engine,
    lengths: Sequence[int] = (1,),
    seed: int = 1,
    watch: Callable[[Any], None] = lambda _: None,
) -> Campaign:
    """Hear everything, learn what may be learnt, and count every attacker's successes."""
    heard = {
        name: hear(sounds, listening.works[name], engine=engine, watch=watch)
        for name, sounds in listening.sounds.items()
    }
    frame = pairs.frame
    genders = dict(frame.select("speaker", "gender").iter_rows()) if "gender" in frame.columns else {}
    key = Key.from_seed(seed)
    outcomes = []
    for level in levels:
        sides = _sides(level, heard, listening.disguises)
        enroll, trial = _learnt(sides)
        failed = sum(len(part.failures) for name, part in heard.items() if name.startswith(("trial", "enrolment")))
        outcomes.append(
            run_attack(level.value, enroll, trial, genders=genders, lengths=lengths, key=key, failed=failed)
        )
    return Campaign(tuple(outcomes), tuple(failure for part in heard.values() for failure in part.failures))


def lesson_of(path: Path | None, method: str | None, recipe: Recipe | None) -> Lesson | None:
    """Read the training speech; it is anonymized by ``method`` where named, else as the attacked corpus was."""
    if path is None:
        return None
    from personare.anonymizers import anonymizer
    from personare.corpora import read_corpus

    if method is not None:
        anonymizer(method)
    return Lesson(read_corpus(path).corpus, Recipe(method) if method is not None else _known(recipe))


def table_rows(found: Campaign) -> tuple[list[str], list[list[str]]]:
    """Make the printed table: one row per attacker and metric, with interval and chance."""
    head = ["attacker", "metric", "value", "95 % interval", "chance", "n"]
    rows = []
    for outcome in found.outcomes:
        for finding in outcome.findings:
            value, chance = finding.estimate, finding.chance_level
            interval = f"{value.low:.1%} to {value.high:.1%}"
            told = "-" if chance is None else f"{chance:.1%}"
            rows.append([outcome.attacker, finding.metric.title, f"{value.value:.1%}", interval, told, str(value.n)])
    return head, rows


def exposed_lines(found: Campaign, *, most: int = 5) -> list[str]:
    """Name, for each attacker, the speakers linked most often."""
    lines = []
    for outcome in found.outcomes:
        worst = sorted(outcome.linked.items(), key=lambda item: (-item[1], item[0]))[:most]
        named = ", ".join(f"{speaker} {share:.0%}" for speaker, share in worst if share > 0)
        lines.append(f"most exposed to the {outcome.attacker} attacker: {named or 'nobody was linked'}")
    return lines


def _sides(level: Knowledge, heard: dict[str, Heard], disguises: dict[str, Disguise | None]) -> Split:
    """Put together what this level may have; the Split checks that it may."""

    def side(name: str) -> Known:
        return Known(heard[name].embeddings, disguises[name])

    enroll, trial = side(f"enrolment {level.enroll}"), side(f"trial {level.trial}")
    both = enroll.speakers & trial.speakers  # after failures one side may have lost somebody
    enroll, trial = (Known(_of(part.embeddings, both), part.disguise) for part in (enroll, trial))
    training = side("training") if level.needs_training else None
    return Split(level, enroll, trial, training, side("training original") if level is Knowledge.ALIGNED else None)


def _learnt(sides: Split) -> tuple[Embeddings, Embeddings]:
    """Give enrolment and trial vectors as the attacker sees them after learning; cosine compares them."""
    enroll, trial = sides.enroll.embeddings, sides.test.embeddings
    turned: tuple[NDArray[Any], NDArray[Any]]
    if sides.knowledge is Knowledge.ALIGNED:
        aligned = align_pairs(sides)
        turned = aligned.original(enroll.vectors), aligned.disguised(trial.vectors) @ aligned.turn
    elif sides.training is not None:
        fitted = BACKEND.fit(sides.lessons())
        turned = fitted.turned(enroll.vectors), fitted.turned(trial.vectors)
    else:
        return enroll, trial
    return _with(enroll, turned[0]), _with(trial, turned[1])


def _with(part: Embeddings, vectors: NDArray[Any]) -> Embeddings:
    return Embeddings(part.ids, part.speakers, vectors.astype(np.float32))


def _known(recipe: Recipe | None) -> Recipe:
    if recipe is None:
        raise ConfigError("this attacker must know the method, and the anonymized folder has no anonymization.json")
    return recipe


def _given(lesson: Lesson | None) -> Lesson:
    if lesson is None:
        raise ConfigError("this attacker must learn from speech of other people; name it with --train")
    return lesson


def _others(lesson: Lesson | None, pairs: Pairs) -> pl.DataFrame:
    frame = _given(lesson).corpus.frame
    others = frame.filter(~pl.col("speaker").is_in(pairs.frame["speaker"].unique().to_list()))
    if others["speaker"].n_unique() < 2:
        raise ConfigError("the training speech holds fewer than 2 speakers who are not attacked; give other speech")
    return others


def _mark(key: Key) -> str:
    return token_for(key, "draw")


def _sounds(frame: pl.DataFrame, column: str, *, disguised: bool = False) -> Iterator[Sound]:
    for row in frame.iter_rows(named=True):
        cut = column == "audio"  # anonymized files hold the utterance alone, originals may hold more
        start_s, end_s = (row.get("start_s") or 0.0, row.get("end_s")) if cut else (0.0, None)
        yield Sound(row["utterance"], row["speaker"], Path(row[column]), start_s, end_s, disguised)


def _of(embeddings: Embeddings, speakers: frozenset[str]) -> Embeddings:
    rows = [i for i, who in enumerate(embeddings.speakers) if who in speakers]
    ids, owners = (tuple(column[i] for i in rows) for column in (embeddings.ids, embeddings.speakers))
    return Embeddings(ids, owners, embeddings.vectors[rows])
