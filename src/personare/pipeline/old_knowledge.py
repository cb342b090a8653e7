"""Attackers of every level of knowledge against one anonymized corpus, each with the speech that level may have.

The levels are told in ``attackers.knowledge``. An attacker who disguises enrolment speech does so several times, each
time with other pseudo-voices, and enrols the mean: that takes the chance of their own disguise out, and only the
owner's remains. One disguise (``disguises=1``) is the attacker of the VoicePrivacy Challenge.
An attacker who learns does so from speech of other people, which they anonymize themselves, each utterance with a
pseudo-voice of its own; speakers of the attacked corpus are left out of that speech, and the checks of
``attackers.split`` refuse any that remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from personare.attackers.attacker import Attacker
from personare.attackers.knowledge import Knowledge
from personare.attackers.scoring import unit_rows
from personare.attackers.split import Disguise, Split
from personare.attackers.split import Heard as Known
from personare.attackers.trained import refuse_teachers, taught_by
from personare.core.errors import ConfigError
from personare.core.fingerprint import SystemIdentity
from personare.core.seeding import Key
from personare.core.tables import Corpus, Embeddings
from personare.engine import Engine
from personare.pipeline.hearing import Heard, HearWork, Sound, hear
from personare.pipeline.old_attack import AttackOutcome, run_attack
from personare.pipeline.old_evaluate import split as deal
from personare.pipeline.pairing import Pairs
from personare.pipeline.system import System, key_token

DISGUISES = 5
DISGUISED = "enrolment anonymized"


@dataclass(frozen=True, eq=False)
class Lesson:
    """Speech of other people for attackers who learn, and the system they anonymize it with."""

    corpus: Corpus
    system: System


@dataclass(frozen=True, eq=False)
class Listening:
    """What has to be heard for a set of attackers: lists of sounds by name, who disguises them, and how.

    ``ear`` is the system whose speech the embedder itself has learnt from (None: original speech).
    """

    sounds: dict[str, list[Sound]]
    works: dict[str, HearWork]
    disguises: dict[str, Disguise | None]
    ear: SystemIdentity | None = None

    def need(self, name: str, sounds: Iterator[Sound], work: HearWork, disguise: Disguise | None) -> None:
        """Add a list."""
        self.sounds[name], self.works[name], self.disguises[name] = list(sounds), work, disguise

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
    system: System | None,
    embedder: str,
    lesson: Lesson | None = None,
    seed: int = 1,
    disguises: int = DISGUISES,
) -> Listening:
    """List what must be heard; an attack that lacks what it needs is an error now.

    ``disguises`` says how many pseudo-voices an attacker who disguises enrolment speech gives to each speaker.
    """
    if disguises < 1:
        raise ConfigError(f"an attacker disguises enrolment speech at least once, not {disguises} times")
    refuse_teachers(embedder, pairs.frame["speaker"])
    key = Key.from_seed(seed)
    enroll, trial, _ = deal(pairs.frame, key)
    found = Listening({}, {}, {}, taught_by(embedder))
    attacked = system.identity if system else SystemIdentity("unknown")
    plain = HearWork(embedder)
    found.need("trial anonymized", sounds_in(trial, "anonymized"), plain, Disguise(attacked, "owner"))
    if any(level.enroll == "original" for level in levels):
        found.need("enrolment original", sounds_in(enroll, "audio"), plain, None)
    if Knowledge.ORIGINAL in levels:
        found.need("trial original", sounds_in(trial, "audio"), plain, None)
    if any(level.enroll == "anonymized" for level in levels):
        for name, own in _own_keys(key, disguises).items():
            known = _known(system)
            work, sounds = HearWork(embedder, known, own), sounds_in(enroll, "audio", disguised=True)
            found.need(name, sounds, work, Disguise(known.present_identity, key_token(own)))
    if any(_learns(level, lesson, found.ear) for level in levels):
        need_lessons(
            found, others_than(lesson, pairs), given(lesson).system, embedder, key.child("attacker", "training")
        )
        if Knowledge.ALIGNED in levels:
            found.need("training original", sounds_in(others_than(lesson, pairs), "audio"), plain, None)
    return found


def _own_keys(key: Key, disguises: int) -> dict[str, Key]:
    """Name the attacker's own drawings of pseudo-voices for the enrolment; the first is the one of ``evaluate``."""
    own = key.child("attacker")
    return {f"{DISGUISED} {i}": own if i == 1 else own.child(str(i)) for i in range(1, disguises + 1)}


def _learns(level: Knowledge, lesson: Lesson | None, ear: SystemIdentity | None) -> bool:
    """Whether a level needs lessons: an ear that has learnt from anonymized speech may do without."""
    return level.needs_training and (lesson is not None or ear is None or level is Knowledge.ALIGNED)


def need_lessons(found: Listening, others: pl.DataFrame, system: System, embedder: str, key: Key) -> None:
    """Add the training speech, which the attacker anonymizes, each utterance with a pseudo-voice of its own."""
    work = HearWork(embedder, replace(system, level="utterance"), key)
    disguise = Disguise(system.present_identity, key_token(key))
    found.need("training", sounds_in(others, "audio", disguised=True), work, disguise)


def attack(
    pairs: Pairs,
    levels: Sequence[Knowledge],
    listening: Listening,
    *,
    engine: Engine,
    lengths: Sequence[int] = (1,),
    seed: int = 1,
    compare: Literal["plda", "cosine"] = "plda",
    as_norm: int = 0,
    alignment: Literal["pairs", "no pairs"] = "pairs",
    watch: Callable[[Any], None] = lambda _: None,
) -> Campaign:
    """Hear everything, learn what may be learnt, and count every attacker's successes.

    ``compare`` and ``as_norm`` are for attackers who learn; the others have nothing but the cosine. ``alignment`` says
    whether the aligned attacker knows which utterance became which.
    """
    heard = {
        name: hear(sounds, listening.works[name], engine=engine, watch=watch)
        for name, sounds in listening.sounds.items()
    }
    frame = pairs.frame
    genders = dict(frame.select("speaker", "gender").iter_rows()) if "gender" in frame.columns else {}
    key = Key.from_seed(seed)
    outcomes = []
    for level in levels:
        sides = _sides(level, heard, listening)
        scorer = Attacker(level.value, compare=compare, as_norm=as_norm, alignment=alignment).scorer(sides)
        failed = sum(len(part.failures) for name, part in heard.items() if name.startswith(("trial", "enrolment")))
        enroll, trial = sides.enroll.embeddings, sides.test.embeddings
        outcomes.append(
            run_attack(
                level.value,
                enroll,
                trial,
                genders=genders,
                lengths=lengths,
                key=key,
                failed=failed,
                scorer=scorer,
            )
        )
    return Campaign(tuple(outcomes), tuple(failure for part in heard.values() for failure in part.failures))


def lesson_of(path: Path | None, method: str | None, system: System | None) -> Lesson | None:
    """Read the training speech; it is anonymized by ``method`` where named, else as the attacked corpus was."""
    if path is None:
        return None
    from personare.corpora import read_corpus

    learnt = System(method) if method is not None else _known(system)
    learnt.build()
    return Lesson(read_corpus(path).corpus, learnt)


def _sides(level: Knowledge, heard: dict[str, Heard], listening: Listening) -> Split:
    """Put together what this level may have; the Split checks that it may."""

    def side(name: str) -> Known:
        return Known(heard[name].embeddings, listening.disguises[name])

    enroll = side("enrolment original") if level.enroll == "original" else _disguised(heard, listening)
    trial = side(f"trial {level.trial}")
    both = enroll.speakers & trial.speakers  # after failures one side may have lost somebody
    enroll, trial = (Known(_of(part.embeddings, both), part.disguise) for part in (enroll, trial))
    training = side("training") if level.needs_training and "training" in heard else None
    original = side("training original") if level is Knowledge.ALIGNED else None
    ear = listening.ear if level.trial == "anonymized" else None  # nothing is hidden from an attack on original speech
    return Split(level, enroll, trial, training, original, ear=ear)


def _disguised(heard: dict[str, Heard], listening: Listening) -> Known:
    """Give the mean of every enrolment utterance over the attacker's own disguises."""
    names = [name for name in heard if name.startswith(DISGUISED)]
    draws = [disguise for name in names if (disguise := listening.disguises[name]) is not None]
    rows: dict[str, list[NDArray[np.float32]]] = {}
    owner: dict[str, str] = {}
    for part in (heard[name].embeddings for name in names):
        for i, (utterance, vector) in enumerate(zip(part.ids, unit_rows(part.vectors), strict=True)):
            rows.setdefault(utterance, []).append(vector)
            owner[utterance] = part.speakers[i]
    means = np.stack([np.mean(row, axis=0) for row in rows.values()]) if rows else np.zeros((0, 1), np.float32)
    together = Disguise(draws[0].system, draws[0].draw, tuple(other.draw for other in draws[1:]))
    return Known(Embeddings(tuple(rows), tuple(owner.values()), means.astype(np.float32)), together)


def _known(system: System | None) -> System:
    if system is None:
        raise ConfigError("this attacker must know the method, and the anonymized folder has no anonymization.json")
    return system


def given(lesson: Lesson | None) -> Lesson:
    """Give the lesson, or say in one line that there is none."""
    if lesson is None:
        raise ConfigError("this attacker must learn from speech of other people; name it with --train")
    return lesson


def others_than(lesson: Lesson | None, pairs: Pairs) -> pl.DataFrame:
    """Give the training speech of people who are not attacked."""
    frame = given(lesson).corpus.frame
    others = frame.filter(~pl.col("speaker").is_in(pairs.frame["speaker"].unique().to_list()))
    if others["speaker"].n_unique() < 2:
        raise ConfigError("the training speech holds fewer than 2 speakers who are not attacked; give other speech")
    return others


def sounds_in(frame: pl.DataFrame, column: str, *, disguised: bool = False) -> Iterator[Sound]:
    """List the utterances of a table as they lie in one of its columns of paths."""
    for row in frame.iter_rows(named=True):
        cut = column == "audio"  # anonymized files hold the utterance alone, originals may hold more
        start_s, end_s = (row.get("start_s") or 0.0, row.get("end_s")) if cut else (0.0, None)
        yield Sound(row["utterance"], row["speaker"], Path(row[column]), start_s, end_s, disguised)


def _of(embeddings: Embeddings, speakers: frozenset[str]) -> Embeddings:
    rows = [i for i, who in enumerate(embeddings.speakers) if who in speakers]
    ids, owners = (tuple(column[i] for i in rows) for column in (embeddings.ids, embeddings.speakers))
    return Embeddings(ids, owners, embeddings.vectors[rows])
