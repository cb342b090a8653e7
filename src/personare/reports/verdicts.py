"""Is a method protected? One rule for every table, page and terminal.

Over all attackers and all metrics that compare an attack with guessing, so that a low EER is not outvoted
by linkability, or the other way round:

* *not decided*: no attack is exposed, and at least one cannot be judged (too few speakers), or none was made; or one
  does better than guessing by itself, but not when counted among all that were tried (Holm's correction); or the
  interval of the strongest still holds more than half of the unprotected risk: so few people prove no protection;
* *protected*: no attack is exposed. Where nobody had learnt (semi-informed or informed), the words say that this holds
  for those who were played;
* *not protected*: of the exposed attacks the strongest (linkability at the largest N; without one EER, then the other
  metrics) keeps more than half of the risk of unprotected speech, (value - chance) / (unprotected - chance), measured
  in the same run at the same L and N; or there is no unprotected speech to compare with;
* *partly protected*: it keeps at most half.

The half is ours, no law says it; the number stands beside the word. For an EER the formula is the same by 1 - EER.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from personare.core.findings import Finding
from personare.core.text import number_text
from personare.reports.blocks import Statement, Tone
from personare.reports.outcomes import Outcome, achieved, exposed_by, listed, outcome
from personare.reports.sections.choosing import (
    condition,
    groups,
    is_original,
    largest_gallery,
    overall,
    protected,
    strongest,
    strongest_attack,
    values,
)

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
PROTECTION_TONES: dict[Protection, Tone] = {
    "protected": "not-shown",
    "partly protected": "partly",
    "not protected": "exposed",
    "not decided": "undecided",
}
LEARNED = ("semi-informed", "informed")  # attackers who have trained on speech of the method, or of a similar one
MOST_LEFT = 0.5  # of the unprotected risk: above, a method does not protect
NEXT_STEPS: dict[Protection, str] = {
    "protected": "repeat it with more people and with other speech before you rely on it, and keep the key apart.",
    "partly protected": "release fewer utterances of each person, or use a stronger method ({stronger}).",
    "not protected": "do not release it as anonymous; use a stronger method ({stronger}) and evaluate again.",
    "not decided": "attack more people, with more speech of each: so few prove nothing.",
}
STRONGEST = ("strong", "cascade")  # the preset and its method: nobody is sent where they are
QUICKER = ("balanced", "xvector")
NOTHING_STRONGER: dict[Protection, str] = {
    "partly protected": "release fewer utterances of each person; no stronger method is built in.",
    "not protected": "do not release it as anonymous; try fewer utterances of each person, or a method of your own.",
}
PLAY_INFORMED = (
    "let an attacker try who has learnt from speech of other people: `personare evaluate ... --train OTHERS`."
)


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


@dataclass(frozen=True)
class MethodVerdict:
    """The verdict on one method on one corpus, and what it rests on.

    Parameters
    ----------
    attacks : the method's ``evidence``; strongest : of those that are exposed, where any is, else of all.
    unprotected : what the best attacker reaches on original speech by the same metric, at the same L and N.
    several_corpora : whether the words must say which corpus.
    """

    corpus: str
    method: str
    protection: Protection
    attacks: tuple[Finding, ...]
    strongest: Finding | None
    unprotected: Finding | None
    several_corpora: bool = False

    @property
    def played(self) -> list[str]:
        """Every attacker, in the order of the run."""
        return values(self.attacks, "attacker")

    @property
    def better(self) -> list[str]:
        """The attackers who are shown to do better than guessing, all that were tried counted."""
        return values(exposed_by(self.attacks), "attacker")

    @property
    def learned(self) -> bool:
        """Whether anybody was played who has learnt what the method does."""
        return any(f.conditions.get("knowledge") in LEARNED for f in self.attacks)

    @property
    def label(self) -> str:
        """The method and the verdict on it."""
        where = f" on {self.corpus}" if self.several_corpora and self.corpus else ""
        limit = " against those who were played" if self.protection == "protected" and not self.learned else ""
        return f"{self.method}{where}: {self.protection}{limit}"

    @property
    def sentence(self) -> str:
        """Against whom, and the strongest attack in numbers."""
        return " ".join(part for part in (self._against(), self._number(), self._remainder()) if part)

    @property
    def next_step(self) -> str:
        """What to do about it."""
        if self.protection == "protected" and not self.learned:
            return PLAY_INFORMED
        if any(name in self.method for name in STRONGEST):
            return NOTHING_STRONGER.get(self.protection, NEXT_STEPS[self.protection])
        known = any(name in self.method for name in QUICKER)
        other = "" if known else f"; `--strength {QUICKER[0]}` is quicker"
        return NEXT_STEPS[self.protection].format(stronger=f"`personare anonymize --strength {STRONGEST[0]}`{other}")

    @property
    def text(self) -> str:
        """Everything in one paragraph."""
        return f"{self.label}. {self.sentence} Next: {self.next_step}"

    @property
    def statement(self) -> Statement:
        """The verdict for a page."""
        return Statement(self.sentence, PROTECTION_TONES[self.protection], self.label, self.next_step)

    def _against(self) -> str:
        """Name the attackers by what they are shown to reach."""
        if self.protection == "not decided":
            kinds = listed([EVIDENCE[name] for name in EVIDENCE if name in {f.metric.name for f in self.attacks}])
            alone = values((f for f in self.attacks if outcome(f) == "exposed"), "attacker")
            if alone:
                tried = f"{len(self.attacks)} attacks ({kinds}) were tried, and so many reach this by chance too often"
                return f"By itself an attack of {listed(alone)} does better than guessing, but {tried}."
            if any(outcome(f) == "undecided" for f in self.attacks):
                return f"Too few people were attacked to tell these attacks ({kinds}) from guessing."
            left = number_text(min(may_remain(self.strongest, self.unprotected), 1.0), "%")
            shown = f"Nobody who was played ({listed(self.played)}) is shown to do better than guessing"
            return f"{shown}, but so few people were attacked that up to {left} of the unprotected risk may remain."
        if self.protection == "protected":
            below = {outcome(f) for f in self.attacks} == {"below chance"}
            missing = "" if self.learned else " An informed attacker was not played."
            if below:
                return f"Everybody who was played ({listed(self.played)}) does worse than guessing.{missing}"
            return f"Nobody who was played ({listed(self.played)}) is shown to do better than guessing.{missing}"
        weaker = [who for who in self.played if who not in self.better]
        if not weaker and len(self.better) > 1:
            return f"Everybody who was played ({listed(self.better)}) does better than guessing."
        return f"Better than guessing: {listed(self.better)}{f'; not shown to be: {listed(weaker)}' if weaker else ''}."

    def _number(self) -> str:
        if self.strongest is None:
            return ""
        who = f"the {self.strongest.conditions.get('attacker')} attacker"
        bare = "" if self.unprotected is None else f", speech without protection {self.unprotected.value_text}"
        return f"{achieved(self.strongest, who=who)}; guessing gives {self.strongest.chance_text}{bare}."

    def _remainder(self) -> str:
        share = self.share
        if math.isnan(share) or self.protection not in ("partly protected", "not protected"):
            return ""
        return f"Of the unprotected risk {number_text(min(share, 1.0), '%')} remains."

    @property
    def share(self) -> float:
        """How much of the unprotected risk the strongest attack keeps; NaN where that is unknown."""
        if self.strongest is None:
            return math.nan
        return remaining(self.strongest, self.unprotected)


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
        return "not decided" if may_remain(strongest, unprotected) > MOST_LEFT else "protected"
    return "partly protected" if remaining(strongest, unprotected) <= MOST_LEFT else "not protected"


def judged_methods(findings: Iterable[Finding]) -> list[MethodVerdict]:
    """Give the verdict on every method, over all attackers and all privacy metrics, in the order of the run."""
    findings = list(findings)
    every = evidence(findings)
    originals = [f for f in overall(findings) if is_original(f) and "attacker" in f.conditions]
    several = len(values(every, "corpus")) > 1
    judged = []
    for (corpus, method), group in groups(every, "corpus", "anonymizer").items():
        best = strongest_attack(exposed_by(group) or group, EVIDENCE)
        bare = None if best is None else _unprotected(best, originals)
        word = protection_of(group, bare, best)
        judged.append(MethodVerdict(corpus, method, word, tuple(group), best, bare, several))
    return judged


def _unprotected(attack: Finding, originals: Iterable[Finding]) -> Finding | None:
    """Find what the best attacker reaches on original speech under the same conditions."""
    read = [condition(name) for name in ("corpus", "L", "N", "attribute")]
    same = [f for f in originals if f.metric.name == attack.metric.name and all(r(f) == r(attack) for r in read)]
    return strongest(same)


def method_verdicts(findings: Iterable[Finding]) -> list[Statement]:
    """Give the verdict on every method in words, with its next step."""
    return [judged.statement for judged in judged_methods(findings)]
