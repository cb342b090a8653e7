"""The strongest attacker joins an evaluation: one who has learnt from other people how the disguise changes a voice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from personare.attackers.knowledge import Knowledge
from personare.engine import Engine
from personare.pipeline.old_evaluate import Evaluation
from personare.pipeline.old_knowledge import DISGUISES, Listening, attack


def with_informed(
    found: Evaluation,
    listening: Listening,
    *,
    engine: Engine,
    seed: int = 1,
    watch: Callable[[Any], None] = lambda _: None,
) -> Evaluation:
    """Add the informed attacker, planned by ``knowledge.plan``, to what the others achieved.

    It disguises enrolment speech several times; the lazy-informed attacker of an evaluation does so once.
    """
    used = sorted({int(finding.conditions["L"]) for finding in found.findings})
    campaign = attack(found.pairs, [Knowledge.INFORMED], listening, engine=engine, lengths=used, seed=seed, watch=watch)
    teachers = listening.sounds.get("training", [])
    learnt = f"{len({sound.speaker for sound in teachers})} speakers, {len(teachers)} utterances"
    return replace(
        found,
        outcomes=(*found.outcomes, *campaign.outcomes),
        failures=tuple(dict.fromkeys((*found.failures, *campaign.failures))),
        facts={**found.facts, "informed attacker": f"learnt from {learnt}; {DISGUISES} disguises of the enrolment"},
    )
