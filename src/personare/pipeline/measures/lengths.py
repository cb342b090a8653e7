"""How many utterances are heard at once (L): which L a corpus is large enough for, and who is left out of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from personare.pipeline.measures import MeasureDefaults
from personare.pipeline.roles import TRIAL

if TYPE_CHECKING:
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study

FEWEST_PEOPLE = 2


class AtLength(MeasureDefaults):
    """A measurement on tests of L utterances each."""

    length: int

    @property
    def label(self) -> str:
        """Which L."""
        return f", L = {self.length}"

    @property
    def draws_for(self) -> tuple[str, ...]:
        """Which L."""
        return (str(self.length),)


def possible_lengths(
    study: Study, corpus: StudyCorpus, *, role: str = TRIAL, tests: int = 1, sampled: bool = False
) -> list[int]:
    """Give every asked L for which two people have ``tests`` tests of L utterances; all of a mere sample."""
    counts = corpus.counts(role)
    return [n for n in study.utterances_per_trial if sampled or (counts >= tests * n).sum() >= FEWEST_PEOPLE]


def length_problems(study: Study, corpus: StudyCorpus) -> Iterator[str]:
    """Every asked L needs two people with so many trial utterances; at least one L must be possible."""
    possible = possible_lengths(study, corpus)
    if (study.skip_impossible and possible) or not len(corpus.counts(TRIAL)):
        return  # where nobody is tested at all, enrolment_problems says so
    for length in study.utterances_per_trial:
        if length not in possible:
            yield impossible_length(length, corpus)


def impossible_length(length: int, corpus: StudyCorpus) -> str:
    """Say that L is too large."""
    most = f"the most trial utterances of a speaker are {corpus.counts(TRIAL).max(initial=0)}"
    return f"utterances_per_trial: L = {length} is impossible, {most}; ask for less or give more utterances"


def length_notes(study: Study, corpus: StudyCorpus) -> Iterator[str]:
    """Say which L are left out, and who is left out of the others."""
    counts, possible = corpus.counts(TRIAL), possible_lengths(study, corpus)
    for length in study.utterances_per_trial:
        short = int((counts < length).sum())
        if length not in possible:
            most = corpus.counts(TRIAL).max(initial=0)
            what = f"attacks by {length} utterances at once (L = {length})"
            yield f"left out: {what}; the most trial utterances of a speaker are {most}"
        elif short:
            yield f"L = {length}: {short} of {len(counts)} speakers have fewer trial utterances and are left out of it"


def enrolment_problems(corpus: StudyCorpus) -> Iterator[str]:
    """An attack needs people who are enrolled and tested."""
    people = len(corpus.enrolled & corpus.tested)
    if people < FEWEST_PEOPLE:
        rule = "an attack needs at least 2 people with two utterances each, one to know them by and one to attack"
        yield f"{people} speakers are enrolled and tested; {rule}; --speaker-from can say who speaks in several files"
