"""Everything that can be wrong with what a user gives us, as one tree of one-line messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar, Literal

FailureKind = Literal["unreadable", "rejected", "failed"]


class PersonareError(Exception):
    """A problem the user can solve; the message is one line: the rule, the value, the place, the next step."""

    kind: ClassVar[FailureKind] = "failed"
    """How a job counts a recording that ends with this error."""


class AudioError(PersonareError):
    """A file that is not audio, is empty, or holds samples that cannot be used."""

    kind: ClassVar[FailureKind] = "unreadable"


class RejectedSpeechError(AudioError):
    """Readable speech that a method refuses, e.g. in a language whose words it cannot recognize.

    ``speech_s`` is how much speech was refused, ``language`` what it sounds like.
    """

    kind: ClassVar[FailureKind] = "rejected"

    def __init__(self, message: str, *, speech_s: float = 0.0, language: str = "") -> None:
        super().__init__(message)
        self.speech_s, self.language = speech_s, language


class TableError(PersonareError):
    """A table that misses a column, repeats an id or holds a wrong value."""


class CorpusError(PersonareError):
    """A folder or manifest that no corpus can be made of."""


class ConfigError(PersonareError):
    """A configuration with an unknown key, a wrong type or an impossible value."""


class StudyError(ConfigError):
    """A study that cannot run; ``problems`` are all reasons, one line each."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


class UnknownNameError(ConfigError):
    """A method, metric or model that does not exist."""


class WeightsError(PersonareError):
    """A model file that is missing or is not the file it should be."""


class OutputError(PersonareError):
    """An output place that cannot be used."""


class MetricError(PersonareError):
    """Numbers no metric can be computed from: empty, one class only, NaN, wrong shape."""


class LeakError(PersonareError):
    """An attack that has seen what it must not: trial speakers in training, enrolled utterances in the trials."""


class TrainingError(PersonareError):
    """A training that cannot go on: its loss is no number any more, or there is nothing to learn from."""


class MissingExtraError(PersonareError):
    """An optional library that is not installed."""

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs the extra '{extra}'; {how_to_install(extra)}")


def install_command(*extras: str) -> str:
    """Give the command that installs extras: from the source, for no registry has a package personare.

    >>> install_command("web", "pdf")
    "pip install '.[web,pdf]'"
    """
    return f"pip install '.[{','.join(extras)}]'"


def how_to_install(*extras: str) -> str:
    """Give the end of an error line: the command, and where to type it."""
    return f"install it with: {install_command(*extras)} (in the source folder of personare)"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Give the end of an error line: the nearest known name, then all known names.

    >>> did_you_mean("alhpa", ["alpha", "order"])
    "did you mean 'alpha'? Known: alpha, order"
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    listing = f"Known: {', '.join(names)}" if names else "None are known"
    return f"did you mean '{near[0]}'? {listing}" if near else listing
