"""What the attacker knows: the levels, with the names that two traditions give them.

| here, vauquier2025legal | tomashenko2020voiceprivacy | model trained on          | enrolment  | trial      |
|-------------------------|----------------------------|---------------------------|------------|------------|
| original                | unprotected (oo)           | original                  | original   | original   |
| ignorant                | ignorant (oa)              | original                  | original   | anonymized |
| lazy-informed           | lazy-informed (aa)         | original                  | anonymized | anonymized |
| semi-informed           | -                          | a similar, older system   | anonymized | anonymized |
| informed                | semi-informed              | the same system           | anonymized | anonymized |
| aligned (champion2021evaluating) | -                 | the same system           | original   | anonymized |
| inverting               | -                          | the same system, undone   | original   | anonymized, undone |

Mind the trap: "semi-informed" of the VoicePrivacy Challenge is "informed" here. Write ``vpc:semi-informed`` for it.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

from personare.core.errors import UnknownNameError, did_you_mean

Speech = Literal["original", "anonymized"]
Training = Literal["original", "similar system", "same system"]


class Knowledge(Enum):
    """A level of knowledge; the value is its name in studies and reports."""

    ORIGINAL = "original"
    IGNORANT = "ignorant"
    LAZY_INFORMED = "lazy-informed"
    SEMI_INFORMED = "semi-informed"
    INFORMED = "informed"
    ALIGNED = "aligned"
    INVERTING = "inverting"

    @property
    def trained_on(self) -> Training:
        """What the attacker's model or back-end has learnt from."""
        special: dict[Knowledge, Training] = {
            Knowledge.SEMI_INFORMED: "similar system",
            Knowledge.INFORMED: "same system",
            Knowledge.ALIGNED: "same system",
            Knowledge.INVERTING: "same system",
        }
        return special.get(self, "original")

    @property
    def enroll(self) -> Speech:
        """What the attacker enrols speakers with."""
        original = (Knowledge.ORIGINAL, Knowledge.IGNORANT, Knowledge.ALIGNED, Knowledge.INVERTING)
        return "original" if self in original else "anonymized"

    @property
    def trial(self) -> Speech:
        """What the attacker hears of the unknown speaker."""
        return "original" if self is Knowledge.ORIGINAL else "anonymized"

    @property
    def needs_training(self) -> bool:
        """Whether the attacker learns from anonymized speech of other speakers."""
        return self.trained_on != "original"

    @property
    def vpc_name(self) -> str | None:
        """The name in the VoicePrivacy Challenge, where it has one."""
        return {target: name for name, target in VPC.items() if len(name) > 2}.get(self)


VPC = {
    "unprotected": Knowledge.ORIGINAL,
    "oo": Knowledge.ORIGINAL,
    "ignorant": Knowledge.IGNORANT,
    "oa": Knowledge.IGNORANT,
    "lazy-informed": Knowledge.LAZY_INFORMED,
    "aa": Knowledge.LAZY_INFORMED,
    "semi-informed": Knowledge.INFORMED,
}
_OURS = (Knowledge.LAZY_INFORMED, Knowledge.ALIGNED, Knowledge.INVERTING)
LEGAL: dict[str, Knowledge] = {level.value: level for level in Knowledge if level not in _OURS}


def knowledge(name: str) -> Knowledge:
    """Find a level by a name of either tradition; ``vpc:`` or ``legal:`` in front says which one is meant.

    >>> knowledge("semi-informed"), knowledge("vpc:semi-informed"), knowledge("aa").value
    (<Knowledge.SEMI_INFORMED: 'semi-informed'>, <Knowledge.INFORMED: 'informed'>, 'lazy-informed')
    """
    plain = name.strip().lower().replace("_", "-").replace(" ", "-")
    tradition, colon, rest = plain.partition(":")
    tables: dict[str, dict[str, Knowledge]] = {"vpc": VPC, "legal": LEGAL}
    if colon and tradition not in tables:
        raise UnknownNameError(f"no vocabulary '{tradition}' of attackers; {did_you_mean(tradition, tables)}")
    known = tables[tradition] if colon else {**VPC, **{level.value: level for level in Knowledge}}
    word = rest if colon else plain
    if word not in known:
        raise UnknownNameError(f"no attacker '{name}'; {did_you_mean(word, known)}")
    return known[word]
