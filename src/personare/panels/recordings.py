"""The speech that a panel may choose from: who speaks, what was done to it, and who sounds like whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from personare.core.errors import CorpusError

ORIGINAL = "original"
NOISE = "noise"  # a recording of which only the long-term spectrum is left: nobody can understand it


@dataclass(frozen=True, order=True)
class Recording:
    """One recording, original or as one system anonymized it; what is not known of it is empty."""

    speaker: str
    utterance: str
    system: str = ORIGINAL
    gender: str = ""
    path: Path = field(default=Path(), compare=False)
    start_s: float = field(default=0.0, compare=False)
    end_s: float | None = field(default=None, compare=False)
    text: str = field(default="", compare=False)
    emotion: str = field(default="", compare=False)


@dataclass(frozen=True, eq=False)
class SpeechPool:
    """Every recording that may be heard.

    Parameters
    ----------
    recordings : original speech, and that of every system.
    ranked : for (system, utterance), all speakers whom an attacker compared with it, the most alike first: whom that
        speech singles out. Needed by A/B/X only.
    """

    recordings: tuple[Recording, ...]
    ranked: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def systems(self) -> list[str]:
        """The systems that anonymize, in the order of the study."""
        return [name for name in dict.fromkeys(r.system for r in self.recordings) if name != ORIGINAL]

    @cached_property
    def _by_speaker(self) -> dict[tuple[str, str], list[Recording]]:
        found: dict[tuple[str, str], list[Recording]] = {}
        for one in sorted(self.recordings):
            found.setdefault((one.system, one.speaker), []).append(one)
        return found

    def of(self, system: str, speaker: str) -> list[Recording]:
        """Give what there is of one speaker by one system."""
        return self._by_speaker.get((system, speaker), [])

    @cached_property
    def genders(self) -> dict[str, str]:
        """Give the gender of every speaker."""
        return {r.speaker: r.gender for r in sorted(self.recordings)}

    def speakers(self, *, least_original: int = 1, least_anonymized: int = 0) -> list[str]:
        """Name the speakers of whom there is enough: original, and by every system."""
        return [
            name
            for name in self.genders
            if len(self.of(ORIGINAL, name)) >= least_original
            and all(len(self.of(system, name)) >= least_anonymized for system in self.systems)
        ]


def by_gender(speakers: Iterable[str], genders: Mapping[str, str]) -> dict[str, list[str]]:
    """Group speakers by gender.

    >>> by_gender(["a", "b", "c"], {"a": "f", "b": "m", "c": "f"})
    {'f': ['a', 'c'], 'm': ['b']}
    """
    groups: dict[str, list[str]] = {}
    for name in speakers:
        groups.setdefault(genders.get(name, ""), []).append(name)
    return groups


def need(there: int, least: int, what: str, test: str) -> None:
    """Refuse a pool that is too small for a test."""
    if there < least:
        raise CorpusError(f"the {test} test needs at least {least} {what}; the run has {there}; choose a larger study")
