"""One ledger of recordings from upload to report: found, left out, unreadable, rejected, failed, anonymized, attacked.

A recording is one file, or one segment of a file; a two-channel call is one recording. Every recording that was found
has exactly one outcome, so the counts add up. A ledger holds counts only; names stay in the private folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from personare.core.errors import FailureKind
from personare.core.spoken import SpeechSummary

Outcome = Literal["left out"] | FailureKind
NOT_DONE: tuple[Outcome, ...] = ("left out", "unreadable", "rejected", "failed")


@dataclass(frozen=True)
class Excluded:
    """A recording that a job never gets to see: its name, the outcome it is counted as, and the reason in one line."""

    name: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class Ledger:
    """Counts of recordings.

    Parameters
    ----------
    found : everything that looked like a recording; the sum of the next six.
    left_out : without a speaker, an entry or a usable name; unreadable : no audio inside, or damaged.
    rejected : readable speech that the method refuses; failed : any other failure.
    pending : parts of a sharded job that nobody has run yet.
    attacked : anonymized recordings that attackers tried to link to a person; None before an evaluation.
    enrolled : the other recordings of these people, which the attackers knew; None before an evaluation.
    languages : how many anonymized recordings are in which language, by a method that transcribes; empty otherwise.
    non_speech : anonymized recordings without any speech, which such a method leaves silent.
    partly : anonymized recordings of which some speech is omitted.
    speakers_checked, several_speakers : recordings that were checked for several people on one channel, and those that
        have them.
    """

    found: int
    left_out: int = 0
    unreadable: int = 0
    rejected: int = 0
    failed: int = 0
    anonymized: int = 0
    pending: int = 0
    attacked: int | None = None
    enrolled: int | None = None
    speakers_checked: int = 0
    several_speakers: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    non_speech: int = 0
    partly: int = 0

    def __post_init__(self) -> None:
        total = self.left_out + self.unreadable + self.rejected + self.failed + self.anonymized + self.pending
        if total != self.found:
            raise ValueError(f"a ledger must add up: {self.found} found, {total} accounted for")
        if (self.attacked or 0) + (self.enrolled or 0) > self.anonymized:
            raise ValueError(f"more recordings attacked or enrolled than the {self.anonymized} that were anonymized")

    @property
    def rows(self) -> list[tuple[str, int]]:
        """Name and count of every line that is not zero; the first and ``anonymized`` always.

        The lines after ``anonymized`` add up to it.

        >>> Ledger(5, left_out=1, anonymized=4, attacked=1, enrolled=2).rows[2:]
        [('anonymized', 4), ('attacked', 1), ('known to the attackers', 2), ('not used in attacks', 1)]
        """
        outcomes = [("left out", self.left_out), ("unreadable", self.unreadable), ("rejected", self.rejected)]
        outcomes += [("failed", self.failed), ("not processed yet", self.pending)]
        rows = [("found", self.found), *((name, n) for name, n in outcomes if n), ("anonymized", self.anonymized)]
        if self.attacked is None or self.enrolled is None:
            return rows
        unused = self.anonymized - self.attacked - self.enrolled
        rows += [("attacked", self.attacked), ("known to the attackers", self.enrolled)]
        return [*rows, ("not used in attacks", unused)] if unused else rows

    @property
    def line(self) -> str:
        """Say it in one line.

        >>> Ledger(5, left_out=2, anonymized=3).line
        '5 recordings found: 2 left out, 3 anonymized'
        """
        (_, found), *others = self.rows
        told = ", ".join(f"{count:,} {name}" for name, count in others)
        return f"{found:,} recording{'' if found == 1 else 's'} found: {told}"

    @property
    def speakers_line(self) -> str:
        """Say what the check for several speakers found; "not checked" where nobody checked."""
        if not self.speakers_checked:
            return "More than one speaker on a channel: not checked."
        checked = "all" if self.speakers_checked >= self.anonymized else f"{self.speakers_checked:,}"
        plural = "" if self.several_speakers == 1 else "s"
        return f"More than one speaker on a channel: {self.several_speakers:,} recording{plural} ({checked} checked)."

    @property
    def languages_line(self) -> str:
        """Say which languages were spoken, and what is silent or omitted; nothing where a method transcribes nothing.

        >>> Ledger(5, anonymized=5, languages={"en": 4}, non_speech=1).languages_line
        'Languages: 4 en. 1 recording without speech is silent.'
        """
        counts = sorted(self.languages.items(), key=lambda one: (-one[1], one[0]))
        said = [f"Languages: {', '.join(f'{count:,} {code}' for code, count in counts)}."] if counts else []
        if self.non_speech:
            are = "recording without speech is" if self.non_speech == 1 else "recordings without speech are"
            said.append(f"{self.non_speech:,} {are} silent.")
        if self.partly:
            said.append(f"Some speech of {self.partly:,} recordings is omitted and marked by a tone.")
        return " ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return asdict(self)


def count(
    excluded: Iterable[Excluded],
    failures: Iterable[FailureKind],
    *,
    anonymized: int,
    pending: int = 0,
    speakers_checked: int = 0,
    several_speakers: int = 0,
    speech: SpeechSummary | None = None,
) -> Ledger:
    """Add up a job: what it never saw, what failed, by kind, and what it anonymized."""
    counts: Counter[Outcome] = Counter(one.outcome for one in excluded)
    counts.update(failures)
    return Ledger(
        found=sum(counts.values()) + anonymized + pending,
        left_out=counts["left out"],
        unreadable=counts["unreadable"],
        rejected=counts["rejected"],
        failed=counts["failed"],
        anonymized=anonymized,
        pending=pending,
        speakers_checked=speakers_checked,
        several_speakers=several_speakers,
        languages=dict(speech.languages) if speech else {},
        non_speech=speech.non_speech if speech else 0,
        partly=speech.partly if speech else 0,
    )


def read_ledger(values: Any) -> Ledger | None:
    """Read a ledger from plain values; None where they are none or do not add up."""
    if not isinstance(values, Mapping):
        return None
    known = {name: values[name] for name in Ledger.__dataclass_fields__ if name in values}
    whole = all(_is_count(name, value) for name, value in known.items())
    try:
        return Ledger(**known) if whole else None
    except (TypeError, ValueError):
        return None


def _is_count(name: str, value: Any) -> bool:
    if name == "languages":
        return isinstance(value, Mapping) and all(isinstance(count, int) for count in value.values())
    return isinstance(value, int) or (value is None and name in ("attacked", "enrolled"))
