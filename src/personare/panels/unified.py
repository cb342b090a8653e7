"""The unified test of VoicePrivacy 2020: one recording beside an enrolment, rated three times from 1 to 10.

36 trials a session; original and anonymized speech, targets and nontargets 1:1, systems balanced
                                                                   [tomashenko2022voiceprivacy, sec. 2.3.2, Figure 4]
Deviations: nontargets have the gender of the enrolled speaker, as in the challenge's objective trials. Two more trials
check attention: the enrolment itself as the trial, and, where there are two, a speaker of another gender.
"""

from __future__ import annotations

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.panels.design import Dealer, PanelSession, PanelStimulus, Trial, choose, fresh, shuffled
from personare.panels.recordings import ORIGINAL, Recording, SpeechPool, by_gender, need

TRIALS = 36
SCALES = ("intelligibility", "naturalness", "similarity")
LOW, HIGH = 1, 10


def unified_sessions(pool: SpeechPool, *, sessions: int, key: Key, trials: int = TRIALS) -> list[PanelSession]:
    """Deal the trials of every session."""
    rng = rng_for(key, "unified")
    able = pool.speakers(least_original=2, least_anonymized=1)
    groups = {g: names for g, names in by_gender(able, pool.genders).items() if len(names) > 1}
    people = [name for names in groups.values() for name in names]
    need(len(people), 2, "speakers of one gender with two original and one anonymized utterance", "unified")
    cells = [(anonymized, target) for anonymized in (False, True) for target in (True, False)]
    speakers = {cell: Dealer(people, rng) for cell in cells}
    systems = {target: Dealer(pool.systems, rng) for target in (True, False)}
    made = []
    for _ in range(sessions):
        heard: set[Recording] = set()
        rated = []
        for number in range(trials):
            anonymized, target = cell = cells[number % len(cells)]
            system = systems[target].next() if anonymized and pool.systems else ORIGINAL
            who = speakers[cell].next()
            others = [name for name in groups[pool.genders[who]] if name != who]
            rated.append(_trial(pool, who, who if target else choose(others, rng), system, heard, rng))
        made.append(shuffled(rated, _checks(pool, groups, rng), rng))
    return made


def _trial(
    pool: SpeechPool, who: str, enrolled: str, system: str, heard: set[Recording], rng: np.random.Generator
) -> Trial:
    """Put a recording of ``who`` beside another utterance of the enrolled speaker."""
    under_test = fresh(pool.of(system, who), heard, rng)
    enrolments = [r for r in pool.of(ORIGINAL, enrolled) if r.utterance != under_test.utterance]
    stimuli = (PanelStimulus(under_test, "trial"), PanelStimulus(choose(enrolments, rng), "enrolment"))
    return Trial("unified", system, stimuli, target=who == enrolled)


def _checks(pool: SpeechPool, groups: dict[str, list[str]], rng: np.random.Generator) -> list[Trial]:
    """Make the trials that everybody who listens answers alike."""
    genders = list(groups)
    first = choose(pool.of(ORIGINAL, choose(groups[choose(genders, rng)], rng)), rng)
    same = (PanelStimulus(first, "trial"), PanelStimulus(first, "enrolment"))
    checks = [Trial("unified", ORIGINAL, same, target=True, check="same recording")]
    if len(genders) > 1:
        one, other = (choose(pool.of(ORIGINAL, choose(groups[g], rng)), rng) for g in genders[:2])
        differ = (PanelStimulus(one, "trial"), PanelStimulus(other, "enrolment"))
        checks.append(Trial("unified", ORIGINAL, differ, target=False, check="other gender"))
    return checks
