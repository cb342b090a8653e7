"""The legal evaluation from utterances to numbers: enrolment means, conversations of L utterances, one result per L.

Linkability (section 2.2): enrolment is the mean over all utterances of a speaker, a test the mean over L utterances.
Singling Out (section 2.1): enrolment is the mean over 30 utterances of up to 495 speakers, and each person in the
gallery has ten conversations of L utterances, or as many as there are, at least two.   [vauquier2025legal, section 3.4]
Deviations: means are of unit vectors, the package's one rule; ``unit_first=False`` averages vectors as the embedder
gives them, as the paper does, on both sides. Linkability tests every disjoint conversation of a speaker; ``paper=True``
tests one per speaker and draws five random enrolments, as the paper does. A speaker with fewer than 30 enrolment
utterances is enrolled with all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from personare.core.errors import MetricError
from personare.metrics.privacy.conversations import (
    Conversations,
    PickedConversations,
    conversations,
    enrolment_means,
    single_utterances,
)
from personare.metrics.privacy.gallery import Isolate, isolation_in_galleries
from personare.metrics.privacy.linkability import PAPER_DRAWS, Linkability, linkability
from personare.metrics.privacy.singling_out import (
    PAPER_ENROLMENT,
    PAPER_FOLDS,
    SinglingOut,
    singling_out,
    singling_out_control,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PAPER_PREDICATES = 495
Outcome = TypeVar("Outcome", Linkability, SinglingOut)


@dataclass(frozen=True, eq=False)
class LegalRun(Generic[Outcome]):
    """One metric at one conversation length L, and how many speakers were left out for which reason."""

    length: int
    result: Outcome
    left_out: Mapping[str, int]


def link_conversations(
    test_vectors: ArrayLike,
    test_speakers: ArrayLike,
    enroll_vectors: ArrayLike,
    enroll_speakers: ArrayLike,
    *,
    length: int,
    rng: np.random.Generator,
    sizes: Sequence[int] | None = None,
    paper: bool = False,
    unit_first: bool = True,
) -> LegalRun[Linkability]:
    """Measure linkability of conversations of ``length`` utterances; one row per utterance on both sides.

    >>> voices, who = np.eye(3).repeat(4, axis=0), np.repeat(["a", "b", "c"], 4)
    >>> run = link_conversations(voices, who, voices, who, length=2, rng=np.random.default_rng(0))
    >>> run.result.estimates[0].value, len(run.result.nontargets_above)
    (1.0, 6)
    """
    tests_given, spoken = np.asarray(test_vectors), np.asarray(test_speakers)
    known = np.isin(spoken, np.asarray(enroll_speakers))
    if not known.any():
        raise MetricError("no test speaker is enrolled; test and enrolment must share speakers under the same names")
    people = enrolment_means(enroll_vectors, enroll_speakers, unit_first=unit_first)
    most = 1 if paper else None
    tests = conversations(tests_given[known], spoken[known], length=length, rng=rng, most=most, unit_first=unit_first)
    result = linkability(
        tests.vectors,
        tests.speakers,
        people.vectors,
        people.speakers,
        sizes=sizes,
        draws=PAPER_DRAWS if paper else None,
        rng=rng,
    )
    return LegalRun(
        length, result, _named({"not enrolled": len(np.unique(spoken[~known])), f"under {length}": len(tests.left_out)})
    )


def single_out_conversations(
    enroll_vectors: ArrayLike,
    enroll_speakers: ArrayLike,
    test_vectors: ArrayLike,
    test_speakers: ArrayLike,
    *,
    length: int,
    rng: np.random.Generator,
    sizes: Sequence[int] | None = None,
    predicates: int = PAPER_PREDICATES,
    enrolment: int = PAPER_ENROLMENT,
    draws: int = PAPER_DRAWS,
    folds: int = PAPER_FOLDS,
    control: bool = False,
    unit_first: bool = True,
    isolate: Isolate = isolation_in_galleries,
) -> LegalRun[SinglingOut]:
    """Measure Singling Out with conversations of ``length`` utterances; one row per utterance on both sides.

    ``enrolment`` is the most utterances a speaker is enrolled with: 30 in the paper, 10 in the code of its authors.
    ``control`` takes the enrolled speakers out of the gallery: the attack on people who are not in the data.
    ``isolate`` compares, in this process or elsewhere; the outcome is the same.
    """
    if enrolment < 1:
        raise MetricError(
            f"Singling Out enrols with at least 1 utterance (the paper: {PAPER_ENROLMENT}), not {enrolment}"
        )
    gallery: Conversations | PickedConversations
    if length == 1:
        gallery = single_utterances(test_vectors, test_speakers, rng=rng, fewest=2, most=folds)
    else:
        gallery = conversations(
            test_vectors, test_speakers, length=length, rng=rng, fewest=2, most=folds, unit_first=unit_first
        )
    voices, spoken = np.asarray(enroll_vectors), np.asarray(enroll_speakers)
    tested = gallery.speakers[np.append(True, gallery.speakers[1:] != gallery.speakers[:-1])]  # theirs are side by side
    there = np.isin(spoken, tested)
    if not there.any():
        raise MetricError(f"no enrolled speaker has two conversations of {length} utterances among the tests")
    names = np.unique(spoken[there])
    chosen = rng.permutation(names)[:predicates]
    rows = np.isin(spoken, chosen)
    people = enrolment_means(voices[rows], spoken[rows], most=enrolment, rng=rng, unit_first=unit_first)
    measure = singling_out_control if control else singling_out
    result = measure(
        people.vectors,
        people.speakers,
        gallery.vectors,
        gallery.speakers,
        sizes=sizes,
        draws=draws,
        folds=folds,
        rng=rng,
        isolate=isolate,
    )
    absent = len(np.unique(spoken[~there]))
    return LegalRun(length, result, _named({"not tested": absent, f"under {2 * length}": len(gallery.left_out)}))


def _named(counts: Mapping[str, int]) -> dict[str, int]:
    """Say why speakers were left out: not on both sides, or with too few utterances."""
    return {f"{why} utterances" if why.startswith("under") else why: n for why, n in counts.items() if n}
