"""One attack in numbers: enrolment and trial vectors in, EER and linkability with intervals and chance levels out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.attackers.scoring import Scorer
from personare.core.findings import Finding
from personare.core.seeding import Key, rng_for
from personare.core.tables import Embeddings
from personare.core.vectors import cosine, unit_rows
from personare.metrics.privacy import eer, linkability
from personare.metrics.privacy.chance import Identities
from personare.metrics.privacy.conversations import conversations, enrolment_means
from personare.metrics.privacy.vectors import target_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class AttackOutcome:
    """What one attacker achieved: findings, and how often each speaker was linked."""

    attacker: str
    findings: tuple[Finding, ...]
    linked: Mapping[str, float]


def run_attack(
    attacker: str,
    enroll: Embeddings,
    trial: Embeddings,
    *,
    genders: Mapping[str, str | None],
    lengths: Sequence[int],
    key: Key,
    failed: int,
    scorer: Scorer = cosine,
) -> AttackOutcome:
    """Measure an attacker who compares each trial conversation with every enrolled speaker by ``scorer``."""
    enrolled = enrolment_means(enroll.vectors, enroll.speakers)
    names, vectors = [str(s) for s in enrolled.speakers], unit_rows(enrolled.vectors, dtype=np.float32)
    findings: list[Finding] = []
    linked: dict[str, float] = {}
    for length in lengths:
        rng = rng_for(key, "attack", attacker, str(length))
        heard = conversations(trial.vectors, trial.speakers, length=length, rng=rng)
        tests = heard.speakers.astype(str)
        scores = np.asarray(scorer(unit_rows(heard.vectors, dtype=np.float32), vectors))
        conditions: dict[str, str | int | float] = {"attacker": attacker, "L": length}
        measured = _eer(names, tests, scores, genders, conditions, rng, failed)
        findings += [measured] if measured else []
        found = linkability.linkability_from_scores(
            scores, target_columns(tests, np.array(names)), tests, sizes=(len(names),), rng=rng
        )
        conditions = {**conditions, "N": len(names)}
        findings.append(Finding(linkability.CARD, found.estimates[0], conditions, failed, found.chance[0]))
        if length == lengths[0]:
            linked = dict(zip((str(s) for s in found.speakers), found.risk().tolist(), strict=True))
    return AttackOutcome(attacker, tuple(findings), linked)


def _eer(
    names: Sequence[str],
    tests: NDArray[np.str_],
    scores: NDArray[Any],
    genders: Mapping[str, str | None],
    conditions: Mapping[str, str | int | float],
    rng: np.random.Generator,
    failed: int,
) -> Finding | None:
    """EER over same-gender trials (all trials where genders are unknown), beside what chance gives.

    A speaker who is alone with a gender meets nobody and is left out; None when nobody is left.
    """
    gender = {name: genders.get(name) or "unknown" for name in names}
    crowd = Counter(gender.values())
    rows = np.array([crowd[gender[t]] > 1 for t in tests])
    columns = np.array([crowd[gender[n]] > 1 for n in names])
    if not rows.any():
        return None
    tests, scores = tests[rows], scores[np.ix_(rows, columns)]
    enrolled = np.array(names)[columns]
    enrolled_gender = np.array([gender[n] for n in enrolled])
    allowed = np.array([gender[t] for t in tests])[:, None] == enrolled_gender[None, :]
    target = tests[:, None] == enrolled[None, :]
    owner, known = (np.broadcast_to(ids, scores.shape) for ids in (tests[:, None], enrolled[None, :]))
    other = allowed & ~target
    return eer.eer_finding(
        scores[target],
        scores[other],
        target_speakers=owner[target],
        nontarget_speakers=owner[other],
        identities=Identities(owner[target], owner[other], known[other], gender),
        conditions=conditions,
        failed=failed,
        rng=rng,
    )
