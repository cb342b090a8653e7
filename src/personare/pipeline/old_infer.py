"""What a disguised voice still tells about its owner: gender, age group, accent, or whatever else a table knows.

The inference attack of ``attackers.inference`` on one anonymized corpus. The attacker learns from other people, whose
speech they anonymize themselves, and then hears all of a target's anonymized utterances together. Beside it stand the
majority guess, the same attack on somebody else's voice (the control), and the risk beyond it with its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from personare.attackers.inference import Inferred, infer_attribute
from personare.attackers.knowledge import Knowledge
from personare.attackers.split import Disguise, Split
from personare.attackers.split import Heard as Known
from personare.attackers.trained import refuse_teachers
from personare.core.errors import ConfigError, did_you_mean
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus, Embeddings
from personare.core.text import number_text
from personare.corpora.manifest import speakers_beside
from personare.engine import Engine
from personare.metrics.privacy.control import AttackRisk, attack_risk
from personare.pipeline.hearing import HearWork, hear
from personare.pipeline.old_knowledge import Lesson, Listening, given, mark_of, need_lessons, others_than, sounds_in
from personare.pipeline.pairing import Pairs
from personare.pipeline.recipe import Recipe

MOST_VALUES = 20
Attribute = Mapping[str, str | None]


@dataclass(frozen=True, eq=False)
class Betrayed:
    """One attribute: every guess, and the risk that the anonymized speech adds."""

    attribute: str
    inferred: Inferred
    risk: AttackRisk


@dataclass(frozen=True, eq=False)
class Inference:
    """All attributes, and what could not be heard."""

    betrayed: tuple[Betrayed, ...]
    failures: tuple[tuple[str, str], ...]


def attribute_of(name: str, *corpora: tuple[Path, Corpus]) -> Attribute:
    """Read an attribute of every speaker: a column of the corpora, or of the speakers.tsv beside one of them."""
    known: dict[str, str | None] = {}
    columns: set[str] = set()
    for path, corpus in corpora:
        beside = speakers_beside(path if path.is_dir() else path.parent)
        tables = [corpus.frame] + ([] if beside is None else [beside])
        columns.update(column for table in tables for column in table.columns)
        for table in (table for table in tables if name in table.columns):
            _note(known, table.select("speaker", pl.col(name).cast(pl.String)).unique(maintain_order=True), name)
    if name not in columns:
        raise ConfigError(f"no corpus has a column '{name}'; {did_you_mean(name, columns)}")
    values = {value for value in known.values() if value}
    if len(values) > MOST_VALUES:
        raise ConfigError(f"'{name}' has {len(values)} values, too many to guess between; group them first")
    return known


def _note(known: dict[str, str | None], rows: pl.DataFrame, name: str) -> None:
    for speaker, value in rows.iter_rows():
        if value and known.get(speaker) not in (None, value):
            raise ConfigError(f"speaker '{speaker}' has more than one {name} ('{known[speaker]}' and '{value}')")
        known[speaker] = value or known.get(speaker)


def plan(pairs: Pairs, *, recipe: Recipe | None, lesson: Lesson | None, embedder: str, seed: int = 1) -> Listening:
    """List what must be heard; ``lesson`` is the other people's speech, and how the attacker anonymizes it."""
    refuse_teachers(embedder, pairs.frame["speaker"])
    others, used = others_than(lesson, pairs), given(lesson).recipe
    found = Listening({}, {}, {})
    system = recipe.system if recipe else "unknown"
    found.need("trial", sounds_in(pairs.frame, "anonymized"), HearWork(embedder), Disguise(system, "owner"))
    need_lessons(found, others, used, embedder, Key.from_seed(seed).child("attacker", "training"))
    return found


def infer(
    attributes: Mapping[str, Attribute],
    listening: Listening,
    *,
    engine: Engine,
    seed: int = 1,
    watch: Callable[[Any], None] = lambda _: None,
) -> Inference:
    """Hear, learn, guess; count what was right."""
    heard = {
        name: hear(sounds, listening.works[name], engine=engine, watch=watch)
        for name, sounds in listening.sounds.items()
    }
    trial, training = (Known(heard[n].embeddings, listening.disguises[n]) for n in ("trial", "training"))
    nobody = Embeddings((), (), np.zeros((0, trial.embeddings.vectors.shape[1]), np.float32))
    system = trial.disguise.system if trial.disguise else "unknown"
    own = Disguise(system, mark_of(Key.from_seed(seed).child("attacker")))
    split = Split(Knowledge.INFORMED, Known(nobody, own), trial, training)
    betrayed = [
        _betrayed(name, infer_attribute(split, values, rng=rng_for(Key.from_seed(seed), "inference", name)))
        for name, values in attributes.items()
    ]
    return Inference(tuple(betrayed), tuple(failure for part in heard.values() for failure in part.failures))


def _betrayed(name: str, found: Inferred) -> Betrayed:
    risk = attack_risk(
        found.successes,
        found.attempts,
        control_successes=found.control_successes,
        control_attempts=found.attempts,
        baseline=found.baseline,
    )
    return Betrayed(name, found, risk)


def table_rows(found: Inference) -> tuple[list[str], list[list[str]]]:
    """Make the printed table: one row per attribute."""
    head = [
        "attribute",
        "values",
        "guessed right",
        "majority guess",
        "from another's voice",
        "risk",
        "people",
    ]
    return head, [_row(one) for one in found.betrayed]


def _row(one: Betrayed) -> list[str]:
    risk, inferred = one.risk, one.inferred
    rates = [e.text("%") for e in (risk.attack, risk.control, risk.risk)]
    values: Sequence[str] = np.unique(inferred.truth).tolist()
    people = f"{inferred.attempts} of {inferred.attempts + inferred.unknown}"
    return [one.attribute, ", ".join(values), rates[0], number_text(risk.baseline, "%"), rates[1], rates[2], people]


def sentences(found: Inference) -> list[str]:
    """Say each finding as the attacker would."""
    told = []
    for one in found.betrayed:
        verdict = "no better than the majority guess: it proves nothing"
        if one.risk.proves_something:
            verdict = "the disguise lets it through" if one.risk.beats_control else "no better than by another's voice"
        told.append(f"{one.attribute}: {verdict}")
    return told
