"""The MOS test: every recording is rated for naturalness and for intelligibility, from 1 to 5.

Ten original samples, each as every system anonymized it, one at a time   [wang2026rpgmm, sec. 5.5.2, Table 8]
Deviations: the original is among them, unnamed. Every evaluator rates every version of every sample, so that systems
are compared on the same words and voices. A recording of which only the spectrum is left checks attention.
"""

from __future__ import annotations

from personare.core.seeding import Key, rng_for
from personare.panels.design import Dealer, PanelSession, PanelStimulus, Trial, choose, shuffled
from personare.panels.recordings import ORIGINAL, Recording, SpeechPool, by_gender, need

SAMPLES = 10
SCALES = ("intelligibility", "naturalness")
LOW, HIGH = 1, 5


def mos_sessions(pool: SpeechPool, *, sessions: int, key: Key, trials: int | None = None) -> list[PanelSession]:
    """Deal the trials of every session: all versions of some samples, other samples in other sessions."""
    rng = rng_for(key, "mos")
    versions = [ORIGINAL, *pool.systems]
    samples = SAMPLES if trials is None else max(1, trials // len(versions))
    able = by_gender(pool.speakers(least_original=1, least_anonymized=1), pool.genders)
    able = {g: [n for n in names if _complete(pool, n)] for g, names in able.items()}
    people = sum(map(len, able.values()))
    need(people, 1, "speakers with an utterance that every system anonymized", "MOS")
    genders = Dealer([g for g, names in able.items() if names], rng)
    dealers = {g: Dealer(names, rng) for g, names in able.items() if names}
    made = []
    for _ in range(sessions):
        said: set[str] = set()
        rated = []
        for _ in range(samples):
            who = dealers[genders.next()].next()
            complete = _complete(pool, who)
            utterance = choose([u for u in complete if u not in said] or complete, rng)
            said.add(utterance)
            rated += [Trial("mos", s, (PanelStimulus(_version(pool, s, who, utterance), "trial"),)) for s in versions]
        anchor = rated[0].stimuli[0].recording
        noise = Trial("mos", ORIGINAL, (PanelStimulus(anchor, "trial", made="noise"),), check="noise")
        made.append(shuffled(rated, [noise], rng))
    return made


def _complete(pool: SpeechPool, who: str) -> list[str]:
    """Name the utterances of which every system has a version."""
    sets = [{r.utterance for r in pool.of(system, who)} for system in (ORIGINAL, *pool.systems)]
    return sorted(set.intersection(*sets))


def _version(pool: SpeechPool, system: str, who: str, utterance: str) -> Recording:
    return next(r for r in pool.of(system, who) if r.utterance == utterance)
