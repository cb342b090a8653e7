"""What listeners are given and what they observe: sounds in; words, named values and class probabilities out.

A stage keeps one ``ObservedUtterance`` per utterance as a line of JSON; a listener turns all of them into findings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from personare.core.audio import Audio
from personare.core.findings import Finding
from personare.core.seeding import Key

Side = Literal["original", "anonymized", "both"]
SIDES: tuple[Side, Side] = ("original", "anonymized")

FROM_ORIGINAL = "heard in the original"  # the reference where nobody wrote down what was said or felt


@dataclass(frozen=True, eq=False)
class Stimulus:
    """One sound to observe; listeners that compare are given its ``original`` too.

    ``language`` is the code of the language that is spoken, where the corpus states it.
    """

    audio: Audio
    original: Audio | None = None
    language: str | None = None

    @property
    def pair(self) -> tuple[Audio, Audio]:
        """The original and the sound, for listeners that compare."""
        if self.original is None:
            raise ValueError("a listener that compares needs the original beside the sound")
        return self.original, self.audio


@dataclass(frozen=True)
class Observation:
    """What was observed in one stimulus.

    Parameters
    ----------
    words : a transcript; None for listeners that recognize none.
    values : numbers by name; probabilities : how likely each class is.
    missing : why a value could not be computed, by its name; it counts as failed, never as zero.
    """

    words: str | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    probabilities: Mapping[str, float] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    def as_row(self) -> dict[str, Any]:
        """Flatten for JSON; what is empty is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None and value != {}}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Observation:
        """Make it again from what ``as_row`` gave.

        >>> Observation.from_row(Observation("good day", {"level": 0.5}).as_row())
        Observation(words='good day', values={'level': 0.5}, probabilities={}, missing={})
        """
        return cls(**row)


@dataclass(frozen=True)
class ObservedUtterance:
    """What a listener observed in one utterance, by side; or the ``failure`` that kept it from observing.

    Listeners that compare fill the side ``both``, all others ``original`` and ``anonymized``.
    """

    utterance: str
    sides: Mapping[Side, Observation] = field(default_factory=dict)
    failure: str | None = None

    def to_json(self) -> str:
        """Write one line."""
        sides = {side: observation.as_row() for side, observation in self.sides.items()}
        row = {"utterance": self.utterance, "sides": sides, "failure": self.failure}
        return json.dumps(row, sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, line: str) -> ObservedUtterance:
        """Read one line.

        >>> row = ObservedUtterance("u1", {"both": Observation(values={"stoi": 0.9})})
        >>> ObservedUtterance.from_json(row.to_json()) == row
        True
        """
        row = json.loads(line)
        sides = {side: Observation.from_row(observation) for side, observation in row["sides"].items()}
        return cls(row["utterance"], sides, row["failure"])

    @property
    def reasons(self) -> list[str]:
        """Why anything is missing, one line each."""
        each = [f"{name}: {why}" for side in self.sides.values() for name, why in side.missing.items()]
        return each if self.failure is None else [self.failure, *each]


@dataclass(frozen=True, eq=False)
class SummaryContext:
    """What a summary needs besides the observations.

    Parameters
    ----------
    listener : the name the numbers are reported under; chance is drawn for it too.
    speakers : who speaks, by utterance.
    noted : columns of the corpus (column -> utterance -> value); those a listener names in ``columns``, where noted.
    total : how many utterances there are, with those that could not be anonymized or observed: they count as failed.
    key : where the chance behind intervals comes from.
    """

    listener: str
    speakers: Mapping[str, str]
    total: int
    key: Key
    noted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class UtilitySummary:
    """The findings of a listener over all utterances, and what a reader must know of them."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
