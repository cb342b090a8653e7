"""Measurements on whole voices: ranks among N people, similarity matrices, and guessing who somebody is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from personare.attackers.inference import infer_attribute
from personare.attackers.split import Split
from personare.core.embedding_files import read_embeddings
from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding
from personare.metrics.privacy import control, similarity
from personare.metrics.privacy.ranks import rank_test
from personare.pipeline.measured import Artefact, Measured
from personare.pipeline.seen import Seen, shared_speakers

CARDS = (similarity.CARD, similarity.GAIN_CARD)


def measure_ranks(seen: Seen, *, metrics: Sequence[str], links: bool, tests: int, rng: np.random.Generator) -> Measured:
    """The rank test; ``links`` where enrolment is hidden too, else original against hidden (USC's singling out)."""
    if not seen.by_cosine:
        raise MetricError("the rank test compares by cosine; this attacker's scorer is another one")
    trial, enroll = shared_speakers(seen.trial, seen.enroll)
    found = rank_test(
        trial.vectors,
        np.array(trial.speakers),
        enroll.vectors,
        np.array(enroll.speakers),
        variant="linkability" if links else "singling_out",
        tests=tests,
        rng=rng,
    )
    people = len(found.speakers)
    frame = pl.DataFrame(
        {"speaker": [str(s) for s in found.speakers], "rank": found.mean_ranks}, schema_overrides={"rank": pl.Float64}
    ).with_columns(utterance=pl.lit(None, dtype=pl.String), people=pl.lit(people, dtype=pl.Int64))
    findings = tuple(f for f in found.findings() if f.metric.name in metrics)
    return Measured(findings, (Artefact("ranks", frame, {"N": people}),))


def measure_similarity(original: Path, hidden: Path, *, metrics: Sequence[str], rng: np.random.Generator) -> Measured:
    """DeID and gain of voice distinctiveness, and the three matrices (the challenge's variant)."""
    before, after = read_embeddings(original), read_embeddings(hidden)
    rows = {name: i for i, name in enumerate(after.ids)}
    kept = [i for i, name in enumerate(before.ids) if name in rows]
    ids = [before.ids[i] for i in kept]
    found = similarity.voice_similarity(
        before.vectors[kept],
        after.vectors[[rows[name] for name in ids]],
        speakers=[before.speakers[i] for i in kept],
        utterances=ids,
        variant="vpc2020",
    )
    estimates = similarity.similarity_estimates(found, rng=rng)
    findings = [Finding(c, e) for c, e in zip(CARDS, estimates, strict=True)]
    notes = [_endless(card.title, e) for card, e in zip(CARDS, estimates, strict=True) if card.name in metrics]
    frames = [_matrix(matrix, side) for side, matrix in (("oo", found.oo), ("oa", found.oa), ("aa", found.aa))]
    asked = tuple(f for f in findings if f.metric.name in metrics)
    return Measured(asked, (Artefact("similarity", pl.concat(frames)),), tuple(note for note in notes if note))


def _endless(title: str, estimate: Estimate) -> str:
    """Say in words what no number can: voices that are all alike."""
    if math.isinf(estimate.value):
        return f"{title}: no finite number, the hidden voices cannot be told apart at all"
    if math.isinf(estimate.low) or math.isinf(estimate.high):
        return f"{title}: the interval has no end, among some of the people voices cannot be told apart at all"
    return ""


def _matrix(matrix: similarity.SimilarityMatrix, side: str) -> pl.DataFrame:
    names = list(matrix.speakers)
    rows, columns = np.repeat(names, len(names)), np.tile(names, len(names))
    return pl.DataFrame(
        {"row_speaker": rows, "column_speaker": columns, "side": [side] * len(rows), "value": matrix.values.ravel()}
    )


def measure_inference(
    split: Split, *, attribute: str, known: Mapping[str, str | None], rng: np.random.Generator
) -> Measured:
    """Guess an attribute of everybody from their disguised voice, beyond what a stranger's voice gives."""
    found = infer_attribute(split, known, rng=rng)
    risk = control.attack_risk(
        found.successes,
        found.attempts,
        control_successes=found.control_successes,
        control_attempts=found.attempts,
        baseline=found.baseline,
    )
    conditions: dict[str, str | int | float] = {
        "attribute": attribute,
        "attack": risk.attack.value,
        "control": risk.control.value,
        "baseline": risk.baseline,
    }
    notes = [f"{attribute}: {risk.sentence}"]
    if found.unknown:
        notes.append(f"{attribute}: nobody noted it for {found.unknown} of the attacked speakers, who are left out")
    return Measured((Finding(control.CARD, risk.risk, conditions),), (), tuple(notes))
