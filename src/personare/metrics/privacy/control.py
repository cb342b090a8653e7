"""Do the data expose people, or would the attack succeed anyway? Risk beyond a control attack.

The same attack is run on speakers who are not in the data (the control). What it achieves there tells about people in
general, not about these people; only the rest is charged to the data:

risk = (attack - control) / (1 - control)                                           [giomi2023anonymeter]

0: the attack on the data succeeds no more often than on other people; 1: it succeeds wherever the control failed.
An attack that does not even beat guessing (``baseline``) proves nothing: it may be a poor attack, not good privacy.
Whether the data add risk is asked of both counts by Fisher's exact test, and of the attack against guessing by the
binomial law; the larger of the two probabilities counts.                                             [fisher1935]
Deviations: 1 - risk is a ratio of two failure rates, and ``attack_risk`` has the interval that both Wilson intervals
leave for a ratio [donner2012mover]. The paper's, by which the distances to the ends add up at right angles
(``risk_over_control``, for comparison with published values), holds the truth too often where people are few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from personare.core.errors import MetricError
from personare.core.findings import LEVEL_OF_PROOF, Estimate, Finding, MetricCard
from personare.metrics.intervals import LEVEL, wilson

CARD = MetricCard(
    name="risk_over_control",
    title="Risk beyond the control attack",
    better="lower",
    bounds=(0.0, 1.0),
    chance=0.0,
    cite="giomi2023anonymeter",
    reading="share of the attack's possible extra successes that it reaches on the data rather than on other people",
    caution="means nothing when the attack does not beat guessing, or when the control speakers are of another kind",
    unit="%",
)


@dataclass(frozen=True)
class AttackRisk:
    """One attack, its control on other people, what guessing would give, and the risk that remains for the data."""

    attack: Estimate
    control: Estimate
    baseline: float
    risk: Estimate
    p_better: float
    p_worse: float

    @property
    def proves_something(self) -> bool:
        """Whether the attack beats guessing at all."""
        return self.attack.low > self.baseline

    def finding(self, conditions: Mapping[str, str | int | float]) -> Finding:
        """Give the risk with its chance level, 0, and the test of it."""
        return Finding(CARD, self.risk, conditions, chance=0.0, p_better=self.p_better, p_worse=self.p_worse)

    @property
    def beats_control(self) -> bool:
        """Whether the data expose more than other people's data do."""
        return self.p_better <= LEVEL_OF_PROOF

    @property
    def sentence(self) -> str:
        """The finding as the attacker would say it."""
        rates = (
            f"I succeed in {_percent(self.attack)} of my attempts; on people who are not in the data in "
            f"{_percent(self.control)}; guessing gives {self.baseline:.1%}"
        )
        if not self.proves_something:
            return f"{rates}: no better than guessing, so this attack proves nothing."
        if not self.beats_control:
            return f"{rates}: no better than on people who are not in them, so these data add no risk that I can show."
        return f"{rates}: the data add a risk of {_percent(self.risk)}."


def risk_over_control(attack: Estimate, control: Estimate) -> Estimate:
    """Compute the risk beyond the control as the paper does, interval and all; n is the number of attacks on the data.

    >>> risk = risk_over_control(Estimate(0.5, 0.4, 0.6, 100), Estimate(0.2, 0.2, 0.2, 100))
    >>> round(risk.value, 3), round(risk.low, 3), round(risk.high, 3), risk.n
    (0.375, 0.25, 0.5, 100)
    """
    for name, rate in (("attack", attack), ("control", control)):
        if not 0 <= rate.low <= rate.value <= rate.high <= 1:
            raise MetricError(f"the {name}'s success rate must lie in its interval, and that in 0 to 1: {rate}")
    a, c = attack.value, control.value
    if c == 1:
        raise MetricError("the control attack always succeeds: it leaves no risk that could be charged to the data")
    slope_a, slope_c = 1 / (1 - c), (1 - a) / (1 - c) ** 2
    value = (a - c) / (1 - c)
    down = math.hypot(slope_a * (a - attack.low), slope_c * (control.high - c))
    up = math.hypot(slope_a * (attack.high - a), slope_c * (c - control.low))
    low, middle, high = (min(1.0, max(0.0, x)) for x in (value - down, value, value + up))
    return Estimate(middle, low, high, attack.n)


def attack_risk(
    successes: float,
    attempts: int,
    *,
    control_successes: float,
    control_attempts: int,
    baseline: float,
    level: float = LEVEL,
) -> AttackRisk:
    """Weigh an attack against its control and against guessing (``baseline``, e.g. 1 / N enrolled speakers).

    >>> print(attack_risk(40, 100, control_successes=2, control_attempts=100, baseline=0.01).sentence[-44:])
    the data add a risk of 38.8% [28.8%, 48.8%].
    """
    if not 0 <= baseline <= 1:
        raise MetricError(f"the success rate of guessing lies between 0 and 1, not at {baseline}")
    attack = wilson(successes, attempts, level=level)
    control = wilson(control_successes, control_attempts, level=level)
    tails = _tails(successes, attempts, control_successes, control_attempts, baseline)
    risk = risk_over_control(attack, control)
    low, high = _of_ratio(attack, control)
    risk = replace(risk, low=min(low, risk.value), high=max(high, risk.value))
    return AttackRisk(attack, control, baseline, risk, *tails)


def _of_ratio(attack: Estimate, control: Estimate) -> tuple[float, float]:
    """Bound 1 - (1 - attack) / (1 - control) by the ends of both rates, within 0 to 1.

    With failure rates q in [l, u], the ratio q1 / q2 lies between
    l1 (2 q1 - l1) / (q1 q2 + sqrt((q1 q2)^2 - l1 (2 q1 - l1) u2 (2 q2 - u2))) and
    (q1 q2 + sqrt((q1 q2)^2 - u1 (2 q1 - u1) l2 (2 q2 - l2))) / (l2 (2 q2 - l2)).        [donner2012mover]
    """
    q1, l1, u1 = 1 - attack.value, 1 - attack.high, 1 - attack.low
    q2, l2, u2 = 1 - control.value, 1 - control.high, 1 - control.low
    product, first, last = q1 * q2, l1 * (2 * q1 - l1), l2 * (2 * q2 - l2)
    under = product + math.sqrt(max(0.0, product**2 - first * u2 * (2 * q2 - u2)))
    over = product + math.sqrt(max(0.0, product**2 - u1 * (2 * q1 - u1) * last))
    least, most = first / under if under > 0 else 0.0, over / last if last > 0 else math.inf
    return min(1.0, max(0.0, 1 - most)), min(1.0, max(0.0, 1 - least))


def _tails(hits: float, attempts: int, others: float, control_attempts: int, baseline: float) -> tuple[float, float]:
    """Give how likely an attack without any risk does as well, and as badly; counts are rounded towards no risk."""
    from scipy import special, stats

    a, c = math.floor(hits), math.ceil(others)
    table = [[a, attempts - a], [c, control_attempts - c]]
    better = float(stats.fisher_exact(table, alternative="greater").pvalue)
    worse = float(stats.fisher_exact(table, alternative="less").pvalue)
    beats_guessing = float(special.bdtrc(a - 1, attempts, baseline)) if a > 0 else 1.0
    return max(better, beats_guessing), worse


def _percent(rate: Estimate) -> str:
    return f"{rate.value:.1%} [{rate.low:.1%}, {rate.high:.1%}]"
