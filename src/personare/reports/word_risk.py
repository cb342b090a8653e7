"""What the words give away, whoever speaks them: the risk by words, beside the verdict on the voice.

Anonymizing a voice cannot change this number; only fewer utterances of each person, or other words, do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from personare.core.findings import WORDS_NOT_MEASURED, Finding
from personare.reports.outcomes import Outcome, achieved, exposed_by
from personare.reports.protection import EVIDENCE, verdict
from personare.reports.sections.choosing import strongest_attack, utterances

NOBODY_READ = f"{WORDS_NOT_MEASURED} no attacker read the words."
IDENTIFY = "words identify people"


@dataclass(frozen=True)
class WordRisk:
    """The strongest attack by words alone, and what it shows; ``why_not`` where nobody read the words."""

    strongest: Finding | None = None
    shown: Outcome = "undecided"
    why_not: str = NOBODY_READ

    @property
    def identifies(self) -> bool:
        """Whether reading is shown to do better than guessing, all attempts counted."""
        return self.shown == "exposed"

    @property
    def sentence(self) -> str:
        """The risk by words with its attacker, L, N, interval and chance level; or why there is none."""
        if self.strongest is None:
            return self.why_not
        attack = self.strongest
        number = achieved(attack, who=f"the attacker '{attack.conditions.get('attacker')}'")
        ending = {
            "exposed": "Anonymizing the voice does not change the words.",
            "not shown": "This is not shown to be better than guessing.",
            "below chance": "This is not shown to be better than guessing.",
            "undecided": "Whether this is better than guessing is not decided.",
        }
        return f"By words: {number[0].lower()}{number[1:]}; guessing gives {attack.chance_text}. {ending[self.shown]}"


NOTHING_READ = WordRisk()


def word_risk(attacks: Sequence[Finding], notes: Sequence[str] = ()) -> WordRisk:
    """Judge the attacks by words on one method; ``notes`` of the run may say why there are none."""
    if attacks:
        return WordRisk(strongest_attack(exposed_by(attacks) or attacks, EVIDENCE), verdict(attacks), "")
    return WordRisk(why_not=why_not_measured(notes))


def why_not_measured(notes: Sequence[str]) -> str:
    """Find in the notes of a run why nobody read the words.

    >>> why_not_measured(["One. Risk by words: not measured, because there is no text. Two."])
    'Risk by words: not measured, because there is no text.'
    """
    for note in notes:
        _, stated, rest = note.partition(WORDS_NOT_MEASURED)
        if stated:
            return f"{WORDS_NOT_MEASURED}{rest.partition('. ')[0].rstrip('.')}."
    return NOBODY_READ


def risk_row(attack: Finding | None, shown: str) -> dict[str, Any]:
    """Lay out one risk for programs: the attack, its number with interval and chance level, and what it shows."""
    if attack is None:
        return {"measured": False}
    e, where = attack.estimate, attack.conditions
    return {
        "measured": True,
        "attacker": where.get("attacker"),
        "metric": attack.metric.name,
        **{name: _known(value) for name, value in (("value", e.value), ("low", e.low), ("high", e.high))},
        "chance": attack.chance_level,
        "L": utterances(attack),
        "N": where.get("N"),
        "speakers": e.n,
        "shown": shown,
    }


def word_row(risk: WordRisk) -> Mapping[str, Any]:
    """Lay out the risk by words for programs."""
    row = risk_row(risk.strongest, risk.shown)
    return {**row, "sentence": risk.sentence, **({} if risk.strongest is not None else {"why": risk.why_not})}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
