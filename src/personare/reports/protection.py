"""Is the voice of a method protected? One rule for every table, page and terminal.

Over all attackers who hear the voice and all metrics that compare an attack with guessing, so that a low EER is not
outvoted by linkability, or the other way round:

* *not decided*: no attack is exposed, and at least one cannot be judged (too few speakers), or none was made; or one
  does better than guessing by itself, but not when counted among all that were tried (Holm's correction); or the
  interval of the strongest still holds more than half of the unprotected risk: so few people prove no protection;
* *protected*: no attack is exposed, and no more people are linked in every test than guessing would link. Where nobody
  had learnt (semi-informed or informed), the words say that this holds for those who were played;
* *not protected*: of the exposed attacks the strongest (``choosing.strongest_attack``) keeps more than half of the risk
  of unprotected speech, (value - chance) / (unprotected - chance), measured in the same run at the same L and N; or
  there is no unprotected speech to compare with;
* *partly protected*: it keeps at most half, or some people are linked in every test although the average is at chance.

The half is ours, no law says it; the number stands beside the word. For an EER the formula is the same by 1 - EER. What
the words give away is a risk of its own (``word_risk``), which changes no verdict on the voice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from scipy.special import pdtrc

from personare.core.findings import LEVEL_OF_PROOF, Finding
from personare.reports.outcomes import Outcome, exposed_by, outcome
from personare.reports.sections.choosing import groups, largest_gallery, overall, protected

Protection = Literal["protected", "partly protected", "not protected", "not decided"]
# ZEBRA's numbers and min Cllr come from the same trials as the EER: counting them too would only make the correction
# for many attacks stricter; they stand in their own section
EVIDENCE = {
    "linkability": "linking",
    "singling_out": "singling out",
    "risk_over_control": "inference",
    "eer": "verification (EER)",
    "dsys": "linking by scores (D_sys)",
    "rank_link_p50": "ranking (linkability)",
    "rank_single_p50": "ranking (singling out)",
}
MOST_LEFT = 0.5  # of the unprotected risk: above, a method does not protect


def evidence(findings: Iterable[Finding]) -> list[Finding]:
    """Keep the attacks on anonymized speech that a verdict rests on: of each attacker, metric and L the largest N."""
    attacks = [
        f
        for f in protected(overall(findings))
        if "attacker" in f.conditions and f.metric.name in EVIDENCE and f.chance_level is not None
    ]
    kept: list[Finding] = []
    for group in groups(attacks, "corpus", "anonymizer", "attacker", "L", "attribute").values():
        for metric in dict.fromkeys(f.metric.name for f in group):
            kept += largest_gallery([f for f in group if f.metric.name == metric])
    return kept


def verdict(findings: Sequence[Finding]) -> Outcome:
    """Give one verdict over several attacks: exposed by any of them, counted among all; undecided while any is."""
    if exposed_by(findings):
        return "exposed"
    outcomes = {outcome(f) for f in findings}
    if not outcomes or outcomes & {"undecided", "exposed"}:
        return "undecided"
    return "below chance" if outcomes == {"below chance"} else "not shown"


def linked_every_time(attacks: Sequence[Finding]) -> list[Finding]:
    """Keep the attacks that link more people in every single test than guessing would, all attacks counted.

    Who guesses once per person links as many people every time as a random permutation leaves in place: about Poisson
    with the mean ``always_guessed``, tested / N.
    """
    counted = [f for f in attacks if f.conditions.get("always_linked")]
    level = LEVEL_OF_PROOF / max(1, len([f for f in attacks if "always_linked" in f.conditions]))
    return [
        f
        for f in counted
        if pdtrc(float(f.conditions["always_linked"]) - 1, float(f.conditions["always_guessed"])) <= level
    ]


def remaining(attack: Finding, unprotected: Finding | None, *, value: float | None = None) -> float:
    """Give the share of the unprotected risk that is left: 0 for guessing, 1 where nothing is hidden.

    NaN without original speech to compare with, and where that is no easier to attack than by guessing. ``value``
    stands in for the attack's own number, such as an end of its interval.

    >>> from personare.core.findings import Estimate, MetricCard
    >>> card = MetricCard("eer", "", "higher", (0, 0.5), None, "")
    >>> found = [Finding(card, Estimate(v, v, v, 9), chance=0.5) for v in (0.4, 0.0)]
    >>> round(remaining(*found), 2)
    0.2
    """
    chance = attack.chance_level
    if chance is None or unprotected is None:
        return math.nan
    sign = 1.0 if attack.metric.better == "lower" else -1.0
    risk = sign * (unprotected.estimate.value - chance)
    return sign * ((attack.estimate.value if value is None else value) - chance) / risk if risk > 0 else math.nan


def may_remain(attack: Finding | None, unprotected: Finding | None) -> float:
    """Give the share of the unprotected risk at the end of the interval that is worst for people; NaN where unknown."""
    if attack is None:
        return math.nan
    worst = attack.estimate.high if attack.metric.better == "lower" else attack.estimate.low
    return remaining(attack, unprotected, value=worst)


def protection_of(attacks: Sequence[Finding], unprotected: Finding | None, strongest: Finding | None) -> Protection:
    """Judge a method by the rule at the top of this file."""
    shown = verdict(attacks)
    if shown == "undecided":
        return "not decided"
    if shown != "exposed" or strongest is None:
        if may_remain(strongest, unprotected) > MOST_LEFT:
            return "not decided"
        return "partly protected" if linked_every_time(attacks) else "protected"
    return "partly protected" if remaining(strongest, unprotected) <= MOST_LEFT else "not protected"
