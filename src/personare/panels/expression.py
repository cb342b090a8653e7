"""The expression test: X is an original recording; which rendering is said like it, A or B?

A and B are renderings of the same words of the same speaker by one system: one was made of X, the other of another
recording of the same words, of another emotion where the corpus notes it. A system that keeps only words renders both
alike, so that people guess (50 %). A matching experiment as in A/B/X; what counts is the choice of the rendering of X.

Systems take turns evenly. In two more trials A and B are originals and one of them is X itself, as a check of
attention. Deviations: no paper defines this test.
"""

from __future__ import annotations

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.panels.design import Check, Dealer, PanelSession, PanelStimulus, Trial, choose, shuffled
from personare.panels.recordings import ORIGINAL, Recording, SpeechPool, need

TRIPLETS, CHECKS = 20, 2
Pair = tuple[Recording, Recording]


def expression_sessions(pool: SpeechPool, *, sessions: int, key: Key, trials: int = TRIPLETS) -> list[PanelSession]:
    """Deal the triplets of every session; speakers and systems take turns."""
    rng = rng_for(key, "expression")
    pairs = {who: found for who in pool.speakers(least_original=2, least_anonymized=2) if (found := _pairs(pool, who))}
    need(
        len(pairs),
        2,
        "speakers who say the same words twice, with different emotions where they are noted",
        "expression",
    )
    people, systems = Dealer(list(pairs), rng), Dealer(pool.systems, rng)
    made = []
    for _ in range(sessions):
        heard: set[Recording] = set()
        drawn = [_fresh(pairs[people.next()], heard, rng) for _ in range(trials + CHECKS)]
        rated = [_triplet(pool, *pair, systems.next(), rng) for pair in drawn[:trials]]
        checks = [_triplet(pool, *pair, ORIGINAL, rng) for pair in drawn[trials:]]
        made.append(shuffled(rated, checks, rng))
    return made


def _fresh(pairs: list[Pair], heard: set[Recording], rng: np.random.Generator) -> Pair:
    """Draw a pair whose X this evaluator has not heard yet, where there is one."""
    pair = choose([pair for pair in pairs if pair[0] not in heard] or pairs, rng)
    heard.add(pair[0])
    return pair


def _pairs(pool: SpeechPool, who: str) -> list[Pair]:
    """List pairs of originals of one speaker with the same words that every system rendered, of other emotions."""
    rendered = set.intersection(*({r.utterance for r in pool.of(system, who)} for system in pool.systems))
    own = [r for r in pool.of(ORIGINAL, who) if r.text and r.utterance in rendered]
    return [
        (one, other)
        for one in own
        for other in own
        if one.utterance != other.utterance
        and one.text == other.text
        and not (one.emotion and other.emotion and one.emotion == other.emotion)
    ]


def _triplet(pool: SpeechPool, said: Recording, other: Recording, system: str, rng: np.random.Generator) -> Trial:
    right, wrong = (_rendering(pool, one, system) for one in (said, other))
    first = bool(rng.integers(2))
    a, b = (right, wrong) if first else (wrong, right)
    stimuli = (PanelStimulus(said, "X"), PanelStimulus(a, "A"), PanelStimulus(b, "B"))
    check: Check = "same recording" if system == ORIGINAL else ""
    return Trial("expression", system, stimuli, answer="A" if first else "B", check=check)


def _rendering(pool: SpeechPool, original: Recording, system: str) -> Recording:
    return next(r for r in pool.of(system, original.speaker) if r.utterance == original.utterance)
