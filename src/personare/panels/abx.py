"""The A/B/X test of USC: X is a recording whose speaker is looked for; is it the speaker of A or of B?

A: other words of the speaker of X. B: other words of a speaker whom the attacker holds for more like X than the right
one (a higher singling-out rank), the hard case. 20 speakers, one triplet each   [turavecino2025usc, sec. 3.3]
Deviations: half of the triplets of a session have original X, in turn over sessions, where the paper asked twice. Where
nobody ranks before the right speaker, one of the three next ones is B. Which of A and B is heard first is drawn. In two
more triplets X is one of the two recordings itself, as a check of attention.
"""

from __future__ import annotations

import numpy as np

from personare.core.errors import CorpusError
from personare.core.seeding import Key, rng_for
from personare.panels.design import Dealer, PanelSession, PanelStimulus, Trial, choose, shuffled
from personare.panels.recordings import ORIGINAL, Recording, SpeechPool, need

TRIPLETS, CHECKS = 20, 2
NEXT_ALIKE = 3


def abx_sessions(pool: SpeechPool, *, sessions: int, key: Key, trials: int = TRIPLETS) -> list[PanelSession]:
    """Deal the triplets of every session; over two sessions every speaker is heard with original and anonymized X."""
    rng = rng_for(key, "abx")
    ranked = {utterance for system, utterance in pool.ranked if system != ORIGINAL}
    if not ranked:
        raise CorpusError(
            "the A/B/X test chooses B by the scores of an attacker who knows original speech; "
            "the run needs an attacker of knowledge 'ignorant' and the metric eer, with L = 1"
        )
    able = [n for n in pool.speakers(least_original=2, least_anonymized=1) if _comparable(pool, n)]
    need(len(able), 4, "speakers whom an attacker compared with others", "A/B/X")
    people, systems = Dealer(able, rng), Dealer(pool.systems, rng)
    made, count = [], min(trials, len(able))
    chosen: list[str] = []
    for number in range(sessions):
        if number % 2 == 0:
            people = Dealer(able, rng)
            chosen = [people.next() for _ in range(count)]
        rated = []
        for place, who in enumerate(chosen):
            system = systems.next() if (place + number) % 2 else ORIGINAL
            rated.append(_triplet(pool, who, system, rng))
        made.append(shuffled(rated, [_check(pool, able, rng) for _ in range(CHECKS)], rng))
    return made


def _comparable(pool: SpeechPool, who: str) -> bool:
    return all(any(len(pool.ranked.get((s, r.utterance), ())) > 1 for r in pool.of(s, who)) for s in pool.systems)


def hard_speakers(pool: SpeechPool, heard: Recording) -> list[str]:
    """Name those whom the attacker ranks before the right speaker of a recording; else the next ones."""
    order = [n for n in pool.ranked.get((heard.system, heard.utterance), ()) if pool.of(ORIGINAL, n)]
    before = order[: order.index(heard.speaker)] if heard.speaker in order else []
    return before or [name for name in order if name != heard.speaker][:NEXT_ALIKE]


def _triplet(pool: SpeechPool, who: str, system: str, rng: np.random.Generator) -> Trial:
    judged = pool.systems[0] if system == ORIGINAL else system
    scored = [r for r in pool.of(judged, who) if len(pool.ranked.get((judged, r.utterance), ())) > 1]
    anonymized = choose(scored, rng)
    b = choose(hard_speakers(pool, anonymized), rng)
    own = [r for r in pool.of(ORIGINAL, who) if r.utterance == anonymized.utterance]
    x = anonymized if system != ORIGINAL else (own or pool.of(ORIGINAL, who))[0]
    a = choose([r for r in pool.of(ORIGINAL, who) if r.utterance != x.utterance], rng)
    return _ordered(x, a, choose(pool.of(ORIGINAL, b), rng), system, rng)


def _check(pool: SpeechPool, able: list[str], rng: np.random.Generator) -> Trial:
    first, second = (able[i] for i in rng.permutation(len(able))[:2])
    one, other = (choose(pool.of(ORIGINAL, name), rng) for name in (first, second))
    made = _ordered(one, one, other, ORIGINAL, rng)
    return Trial("abx", ORIGINAL, made.stimuli, answer=made.answer, check="same recording")


def _ordered(x: Recording, right: Recording, wrong: Recording, system: str, rng: np.random.Generator) -> Trial:
    """Draw whether the right recording is heard as A or as B."""
    first = bool(rng.integers(2))
    a, b = (right, wrong) if first else (wrong, right)
    stimuli = (PanelStimulus(x, "X"), PanelStimulus(a, "A"), PanelStimulus(b, "B"))
    return Trial("abx", system, stimuli, answer="A" if first else "B")
