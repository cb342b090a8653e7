"""Each risk as the sentence an attacker would say: what they know, what they did, how often it worked."""

from __future__ import annotations

import math

from personare.core.findings import Finding
from personare.reports.blocks import Judgement, Verdict
from personare.reports.wording import number

KNOWS = {
    "original": "Nothing is hidden from me.",
    "ignorant": "I do not know that voices were changed.",
    "lazy-informed": "I know the method, not the key, and disguise the voices I know in the same way.",
    "semi-informed": "I know the method, not the key, and have trained on speech disguised by a similar one.",
    "informed": "I know the method, not the key, and have trained on speech disguised by it.",
    "aligned": "I know the method, not the key, and have learnt to turn disguised voices back.",
}
ORIGINAL = "original"


def judgement(finding: Finding) -> Judgement:
    """Say whether the attacker does better than guessing, as far as the interval tells.

    >>> from personare.core.findings import Estimate, MetricCard
    >>> card = MetricCard("linkability", "", "lower", (0, 1), None, "")
    >>> [judgement(Finding(card, Estimate(v, v - 0.1, v + 0.1, 9), chance=0.3)) for v in (0.15, 0.3, 0.5)]
    ['hidden', 'hidden', 'exposed']
    """
    level, low, high = finding.chance_level, finding.estimate.low, finding.estimate.high
    if level is None or math.isnan(low) or math.isnan(high):
        return "unknown"
    beaten = low > level if finding.metric.better == "lower" else high < level
    return "exposed" if beaten else "hidden"


def against_chance(finding: Finding) -> str:
    """End a sentence with the guesser's level and what the interval says about it."""
    if finding.chance_level is None:
        return "No chance level is known for it."
    level = number(finding.chance_level, finding.metric.unit)
    control = finding.metric.name == "risk_over_control"
    guess = f"doing no better than on strangers would be {level}" if control else f"guessing would give {level}"
    if finding.differs_from_chance is None:
        return f"{guess}, but there are too few speakers for an interval: whether I do better is not known."
    if not finding.differs_from_chance:
        return f"{guess}: not distinguishable from chance."
    worse = "" if judgement(finding) == "exposed" else " (I do worse than guessing)"
    return f"{guess}: distinguishable from chance{worse}."


def says(finding: Finding) -> str:
    """Say what the attacker achieves, in their own words, without the chance level."""
    c, value = finding.conditions, number(finding.estimate.value, finding.metric.unit)
    ends = [number(end, finding.metric.unit) for end in (finding.estimate.low, finding.estimate.high)]
    span = f" ({ends[0]} to {ends[1]})" if not math.isnan(finding.estimate.low) else ""
    people = c.get("N", "all")
    heard = _heard(finding)
    crowd = f"{people:,}" if isinstance(people, int) else people
    deeds = {
        "linkability": f"From {heard} I pick the right person out of {crowd} in {value} of cases{span}",
        "population_linkability": f"From {heard} I would pick the right person out of {crowd} in {value} of cases"
        f"{span}, as far as this corpus foretells",
        "singling_out": f"From {heard} I describe a voice that fits exactly one of {crowd} people in {value} of "
        f"cases{span}",
        "eer": f"Asked whether {heard} and a known voice are the same person, I err in {value} of cases{span}",
        "risk_over_control": f"From a disguised voice I guess the speaker's {c.get('attribute', 'attribute')}; beyond "
        f"what works on strangers I reach {value} of the possible extra successes{span}",
    }
    return deeds.get(finding.metric.name, f"{finding.metric.title} from {heard}: {value}{span}")


def verdict(finding: Finding) -> Verdict:
    """Say a finding as a sentence with number, interval and chance level.

    >>> from personare.core.findings import Estimate, MetricCard
    >>> card = MetricCard("linkability", "", "lower", (0, 1), None, "", unit="%")
    >>> where = {"anonymizer": "mcadams", "attacker": "lazy", "knowledge": "lazy-informed", "L": 1, "N": 20}
    >>> told = verdict(Finding(card, Estimate(0.45, 0.3, 0.6, 20), where, chance=0.05))
    >>> print(told.sentence)  # doctest: +NORMALIZE_WHITESPACE
    mcadams: “I know the method, not the key, and disguise the voices I know in the same way. From one utterance I pick
    the right person out of 20 in 45.0 % of cases (30.0 % to 60.0 %); guessing would give 5.0 %: distinguishable from
    chance.”
    """
    c = finding.conditions
    level, hidden_by = str(c.get("knowledge", c.get("attacker", ""))), str(c.get("anonymizer", ""))
    bare = hidden_by == ORIGINAL or level in (ORIGINAL, "unprotected")
    before = "Without protection: " if bare else f"{hidden_by}: " if hidden_by else ""
    knows = KNOWS[ORIGINAL] if bare else KNOWS.get(level, "")
    said = " ".join(part for part in (knows, says(finding)) if part)
    return Verdict(f"{before}“{said}; {against_chance(finding)}”", judgement(finding))


def _heard(finding: Finding) -> str:
    length = finding.conditions.get("L", 1)
    return "one utterance" if length == 1 else f"{length} utterances"
