"""The design of a panel: sessions of trials, each with its recordings; what they are, and how even they are dealt.

A session is what one evaluator does. All chance comes from the panel's key: the same run and seed give the same design.
A trial with a ``check`` has an answer that everybody who listens gives; it is no part of the statistics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

import numpy as np

from personare.core.seeding import Key, token_for
from personare.panels import Test
from personare.panels.recordings import Recording

Check = Literal["", "same recording", "other gender", "noise", "copies"]
Part = Literal["trial", "enrolment", "A", "B", "X", "recording"]
Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class PanelStimulus:
    """One recording as it is heard: its first ``cut_s`` seconds, or all; ``made`` says what else was done to it."""

    recording: Recording
    part: Part
    cut_s: float | None = None
    made: Literal["", "noise"] = ""
    copy: int = 0

    def token(self, key: Key) -> str:
        """Give the opaque name of its file."""
        r = self.recording
        cut = "" if self.cut_s is None else f"{self.cut_s:g}"
        return token_for(key, "stimulus", r.system, r.speaker, r.utterance, cut, self.made, str(self.copy), digits=24)


@dataclass(frozen=True)
class Trial:
    """What is heard and answered at once.

    Parameters
    ----------
    system : what was done to the speech under test, ``original`` for nothing; stimuli : in the order they are shown.
    target : whether the trial is of the enrolled speaker, where that is asked; answer : the right choice of A/B/X.
    """

    test: Test
    system: str
    stimuli: tuple[PanelStimulus, ...]
    target: bool | None = None
    answer: str = ""
    check: Check = ""


@dataclass(frozen=True)
class PanelSession:
    """What one evaluator hears, in this order."""

    trials: tuple[Trial, ...]

    @property
    def rated(self) -> list[Trial]:
        """The trials that count."""
        return [trial for trial in self.trials if not trial.check]


@dataclass
class Dealer(Generic[Drawn]):
    """Deals values out evenly: each comes once, in an order of chance, before any comes again."""

    values: Sequence[Drawn]
    rng: np.random.Generator
    _left: list[Drawn] = field(default_factory=list)

    def next(self) -> Drawn:
        """Deal one."""
        if not self._left:
            self._left = [self.values[i] for i in self.rng.permutation(len(self.values))]
        return self._left.pop()


def choose(values: Sequence[Drawn], rng: np.random.Generator) -> Drawn:
    """Draw one of several."""
    return values[int(rng.integers(len(values)))]


def fresh(values: Sequence[Recording], heard: set[Recording], rng: np.random.Generator) -> Recording:
    """Draw a recording that this evaluator has not heard yet, where there is one; it counts as heard from now on."""
    one = choose([v for v in values if v not in heard] or list(values), rng)
    heard.add(one)
    return one


def shuffled(
    trials: Sequence[Trial], checks: Sequence[Trial], rng: np.random.Generator, *, first: Sequence[Trial] = ()
) -> PanelSession:
    """Put trials into an order of chance, checks among them but not at the beginning; ``first`` stay in front."""
    order = [trials[i] for i in rng.permutation(len(trials))]
    for check in checks:
        order.insert(int(rng.integers(len(order) // 4 + 1, len(order) + 1)), check)
    return PanelSession((*first, *order))


def counts(sessions: Sequence[PanelSession]) -> Counter[tuple[str, bool | None]]:
    """Count the trials of every system, targets and nontargets apart."""
    return Counter((t.system, t.target) for session in sessions for t in session.rated)


def balance_problems(sessions: Sequence[PanelSession]) -> Iterator[str]:
    """Name everything that is not dealt evenly: within a session and over all of them."""
    for number, part in ((0, sessions), *((i + 1, [s]) for i, s in enumerate(sessions))):
        where = f"session {number}" if number else "all sessions"
        found = counts(part)
        test = next((t.test for s in part for t in s.rated), None)
        systems = [name for name in dict.fromkeys(name for name, _ in found) if name != "original"]
        for target in sorted({t for _, t in found}, key=str):
            each = [found[name, target] for name in systems]
            if number == 0 and each and max(each) - min(each) > _step(test, sessions):
                yield f"{where}: systems have {min(each)} to {max(each)} trials"
        anonymized = sum(n for (name, _), n in found.items() if name != "original")
        original = sum(n for (name, _), n in found.items() if name == "original")
        if test in ("unified", "abx") and abs(anonymized - original) > (1 if number else len(sessions)):
            yield f"{where}: {original} original and {anonymized} anonymized trials"
        targets = [sum(n for (_, t), n in found.items() if t is wanted) for wanted in (True, False)]
        if test == "unified" and abs(targets[0] - targets[1]) > 1:
            yield f"{where}: {targets[0]} target and {targets[1]} nontarget trials"


def _step(test: Test | None, sessions: Sequence[PanelSession]) -> int:
    """Give by how much systems may differ: a session of clustering is of one system."""
    each = (sum(t.system != "original" for t in s.rated) for s in sessions)
    return max(each, default=1) if test == "clustering" else 1


def repeats(sessions: Sequence[PanelSession]) -> Iterator[str]:
    """Say where an evaluator hears the same recording under test twice: the run has too few for the test."""
    for number, session in enumerate(sessions, start=1):
        under_test = [s for t in session.rated for s in t.stimuli if s.part in ("trial", "X", "recording")]
        most = Counter((s.recording, s.made) for s in under_test).most_common(1)
        if most and most[0][1] > 1:
            yield f"session {number}: one recording is under test {most[0][1]} times; the run has few recordings"
