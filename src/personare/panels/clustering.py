"""The speaker clustering test of VoicePrivacy 2020: recordings are put together by the voice that is heard.

16 recordings, the first 3 s of each: 3 reference speakers with 2 to 6, a distractor with 1; all of one gender, nobody
in two trials of a session. The control trial is original speech; in the others half of the recordings are anonymized
by the same system                                                      [tomashenko2022voiceprivacy, sec. 2.3.2]
Deviations: a warm-up of two recordings, each there twice, shows how the page works and checks attention.
"""

from __future__ import annotations

import itertools

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.panels.design import Dealer, PanelSession, PanelStimulus, Trial, choose
from personare.panels.recordings import ORIGINAL, Recording, SpeechPool, by_gender, need

RECORDINGS, REFERENCES, MOST_CLUSTERS, CUT_S = 16, 3, 4, 3.0
FEWEST, MOST = 2, 6
TRIALS = 3  # the control, and two with anonymized speech


def clustering_sessions(pool: SpeechPool, *, sessions: int, key: Key, trials: int = TRIALS) -> list[PanelSession]:
    """Deal the trials of every session; a session is of one gender and one system."""
    rng = rng_for(key, "clustering")
    half = -(-MOST // 2)
    able = by_gender(pool.speakers(least_original=MOST - half, least_anonymized=half), pool.genders)
    per_trial = REFERENCES + 1
    groups = {g: names for g, names in able.items() if len(names) >= 2 * per_trial}
    most = max((len(names) for names in able.values()), default=0)
    need(
        most,
        2 * per_trial,
        f"speakers of one gender with {half} original and {half} anonymized utterances",
        "clustering",
    )
    systems, genders = Dealer(pool.systems, rng), Dealer(list(groups), rng)
    control_full = {g: [n for n in names if len(pool.of(ORIGINAL, n)) >= FEWEST] for g, names in groups.items()}
    made = []
    for _ in range(sessions):
        gender, system = genders.next(), systems.next()
        names = [control_full[gender][i] for i in rng.permutation(len(control_full[gender]))]
        count = min(trials, len(names) // per_trial)
        parts = [names[i * per_trial : (i + 1) * per_trial] for i in range(count)]
        rated = [_trial(pool, parts[0], ORIGINAL, rng), *(_trial(pool, part, system, rng) for part in parts[1:])]
        order = [rated[i] for i in rng.permutation(len(rated))]
        made.append(PanelSession((_warm_up(pool, set(names), rng), *order)))
    return made


def shares(limits: list[int], rng: np.random.Generator) -> list[int]:
    """Draw how many recordings each reference speaker has: 2 to 6, at most ``limits``, with a distractor's 16 together.

    >>> rng = np.random.default_rng(1)
    >>> drawn = shares([6, 6, 6], rng)
    >>> sum(drawn), min(drawn) >= 2, max(drawn) <= 6
    (15, True, True)
    """
    ranges = [range(FEWEST, min(MOST, limit) + 1) for limit in limits]
    possible = list(itertools.product(*ranges))
    full = [each for each in possible if sum(each) == RECORDINGS - 1]
    most = max(map(sum, possible))
    return list(choose(full or [each for each in possible if sum(each) == most], rng))


def _trial(pool: SpeechPool, people: list[str], system: str, rng: np.random.Generator) -> Trial:
    """Choose the recordings; the last of ``people`` is the distractor."""
    *references, distractor = people
    limits = [_available(pool, name, system) for name in references]
    wanted = dict(zip(references, shares(limits, rng), strict=True)) | {distractor: 1}
    chosen: list[Recording] = []
    left = sum(wanted.values()) // 2  # how many are still to be anonymized: half of all
    for name in [distractor, *references]:
        share = wanted[name] if name == distractor else wanted[name] // 2
        share = 0 if system == ORIGINAL else min(left, share, len(pool.of(system, name)))
        left -= share
        anonymized = _some(pool.of(system, name), share, rng)
        said = {r.utterance for r in anonymized}
        originals = [r for r in pool.of(ORIGINAL, name) if r.utterance not in said]
        spare = max(0, wanted[name] - share - len(originals))
        more = [r for r in pool.of(system, name) if r not in anonymized] if spare and system != ORIGINAL else []
        chosen += [*anonymized, *_some(originals, wanted[name] - share - spare, rng), *_some(more, spare, rng)]
    order = rng.permutation(len(chosen))
    return Trial("clustering", system, tuple(PanelStimulus(chosen[i], "recording", CUT_S) for i in order))


def _available(pool: SpeechPool, name: str, system: str) -> int:
    """Count the different utterances of a speaker that a trial may use."""
    versions = [*pool.of(ORIGINAL, name), *(pool.of(system, name) if system != ORIGINAL else [])]
    return max(FEWEST, len({r.utterance for r in versions}))


def _some(values: list[Recording], count: int, rng: np.random.Generator) -> list[Recording]:
    return [values[i] for i in rng.permutation(len(values))[:count]]


def _warm_up(pool: SpeechPool, used: set[str], rng: np.random.Generator) -> Trial:
    """Take two recordings, each twice, of speakers who differ as much as can be: the copies belong together."""
    others = by_gender([name for name in pool.speakers() if name not in used] or pool.speakers(), pool.genders)
    firsts = [choose(pool.of(ORIGINAL, choose(names, rng)), rng) for names in others.values()][:2]
    if len(firsts) < 2:
        rest = [n for names in others.values() for n in names if n != firsts[0].speaker] or pool.speakers()
        firsts.append(choose(pool.of(ORIGINAL, choose(rest, rng)), rng))
    stimuli = [PanelStimulus(one, "recording", CUT_S, copy=copy) for one in firsts for copy in (1, 2)]
    return Trial("clustering", ORIGINAL, tuple(stimuli[i] for i in rng.permutation(4)), check="copies")
