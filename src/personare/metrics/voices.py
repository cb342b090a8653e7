"""Metrics of speaker vectors, one call each: can recordings be linked, voices singled out, speakers told apart?

Every function takes one row per utterance (lists or arrays of any float type) with the speaker of each, forms enrolment
means and tests of ``L`` utterances itself (means of unit vectors, ``core.vectors``), and compares by cosine.
``rng`` is a seed or a generator. Definitions, formulas and deviations: the files of ``metrics.privacy``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from personare.core.findings import Estimate
from personare.core.seeding import Rng, as_rng
from personare.metrics.intervals import LEVEL
from personare.metrics.privacy import legal, population, similarity
from personare.metrics.privacy.linkability import Linkability
from personare.metrics.privacy.ranks import PAPER_TESTS, RankTest, rank_test
from personare.metrics.privacy.singling_out import PAPER_DRAWS, PAPER_ENROLMENT, PAPER_FOLDS, SinglingOut
from personare.metrics.privacy.source_similarity import sim_estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def linkability(
    test: ArrayLike,
    test_speakers: ArrayLike,
    enroll: ArrayLike,
    enroll_speakers: ArrayLike,
    *,
    L: int = 1,
    N: int | Sequence[int] | None = None,
    paper: bool = False,
    unit_first: bool = True,
    rng: Rng = 0,
) -> Linkability:
    """Measure how often the best guess among N enrolled people is right; ``estimate`` is that at the largest N.

    Parameters
    ----------
    test, enroll : one row per utterance, [t, d] and [e, d]; test speakers who are not enrolled are left out.
    L : utterances per test; N : sizes of the gallery, default 20, 50, 100, ... and everybody enrolled.
    paper : one test per speaker and five random galleries, as published, instead of the mean over all.
    unit_first : False averages vectors as the embedder gives them, as the paper does.

    >>> from personare import metrics
    >>> voices, who = np.eye(3).repeat(4, axis=0), np.repeat(["ann", "bob", "eve"], 4)
    >>> linked = metrics.linkability(voices, who, voices, who, L=2)
    >>> linked.estimate.value, linked.chance, linked.risk().tolist()
    (1.0, (0.3333333333333333,), [1.0, 1.0, 1.0])
    """
    how = {"length": L, "sizes": _sizes(N), "rng": as_rng(rng), "paper": paper, "unit_first": unit_first}
    run = legal.link_conversations(test, test_speakers, enroll, enroll_speakers, **how)  # type: ignore[arg-type]
    return run.result


def population_linkability(
    test: ArrayLike,
    test_speakers: ArrayLike,
    enroll: ArrayLike,
    enroll_speakers: ArrayLike,
    *,
    L: int = 1,
    populations: Sequence[int] = population.POPULATIONS,
    rng: Rng = 0,
    level: float = LEVEL,
) -> population.PopulationLinkability:
    """Extrapolate linkability to more people than are enrolled, with checks of how far that carries.

    >>> from personare import metrics
    >>> chance = np.random.default_rng(0)
    >>> voices, who = chance.normal(size=(60, 8)), np.arange(60)
    >>> noisy = voices + chance.normal(size=voices.shape)
    >>> larger = metrics.population_linkability(noisy, who, voices, who, populations=[10**6])
    >>> larger.estimates[0].value < metrics.linkability(noisy, who, voices, who).estimate.value
    True
    """
    generator = as_rng(rng)
    linked = linkability(test, test_speakers, enroll, enroll_speakers, L=L, rng=generator)
    return population.population_linkability(
        linked.nontargets_above,
        linked.speakers[linked.owner],
        enrolled=linked.enrolled,
        populations=populations,
        rng=generator,
        level=level,
    )


def singling_out(
    test: ArrayLike,
    test_speakers: ArrayLike,
    enroll: ArrayLike,
    enroll_speakers: ArrayLike,
    *,
    L: int = 1,
    N: int | Sequence[int] | None = None,
    predicates: int = legal.PAPER_PREDICATES,
    enrolment: int = PAPER_ENROLMENT,
    draws: int = PAPER_DRAWS,
    folds: int = PAPER_FOLDS,
    control: bool = False,
    unit_first: bool = True,
    rng: Rng = 0,
) -> SinglingOut:
    """Measure how often an enrolled voice fits exactly one of N tested people; ``estimate`` is that at the largest N.

    Parameters
    ----------
    test : the gallery, one row per utterance; every speaker in it needs two conversations of L utterances.
    enroll : whose voices are looked for; ``predicates`` of them are drawn.
    enrolment : utterances they are enrolled with at most: 30 in the paper, 10 in the code of its authors.
    draws, folds : the paper's protocol; control : take the enrolled speakers out of the gallery.

    >>> from personare import metrics
    >>> voices, who = np.eye(4).repeat(4, axis=0), np.repeat(list("abcd"), 4)
    >>> metrics.singling_out(voices, who, voices, who, N=4).estimate.value
    1.0
    """
    how = {
        "predicates": predicates,
        "enrolment": enrolment,
        "draws": draws,
        "folds": folds,
        "control": control,
        "unit_first": unit_first,
    }
    run = legal.single_out_conversations(
        enroll,
        enroll_speakers,
        test,
        test_speakers,
        length=L,
        sizes=_sizes(N),
        rng=as_rng(rng),
        **how,  # type: ignore[arg-type]
    )
    return run.result


def ranks(
    test: ArrayLike,
    test_speakers: ArrayLike,
    reference: ArrayLike,
    reference_speakers: ArrayLike,
    *,
    variant: Literal["linkability", "singling_out", "singling_out_reversed"] = "linkability",
    tests: int = PAPER_TESTS,
    rng: Rng = 0,
    level: float = LEVEL,
) -> RankTest:
    """Measure the mean rank of the right person over random tests: median and first percentile over speakers (USC).

    >>> from personare import metrics
    >>> metrics.ranks(np.eye(3), list("abc"), np.eye(3), list("abc"), tests=2).p50.value
    1.0
    """
    sides = (test, test_speakers, reference, reference_speakers)
    return rank_test(*sides, variant=variant, tests=tests, rng=as_rng(rng), level=level)


def deid(
    original: ArrayLike,
    anonymized: ArrayLike,
    speakers: ArrayLike,
    *,
    variant: similarity.Variant = "paper",
    level: float = LEVEL,
) -> Estimate:
    """Compute de-identification from vectors of the same utterances before and after: 1 hides, 0 hides nothing.

    >>> from personare import metrics
    >>> voices = np.random.default_rng(0).normal(size=(3, 8)).repeat(4, axis=0)
    >>> voices += 0.1 * np.random.default_rng(1).normal(size=voices.shape)
    >>> round(metrics.deid(voices, voices, np.repeat(list("abc"), 4)).value, 6)
    0.0
    """
    return _similarity(original, anonymized, speakers, variant, level)[0]


def g_vd(
    original: ArrayLike,
    anonymized: ArrayLike,
    speakers: ArrayLike,
    *,
    variant: similarity.Variant = "paper",
    level: float = LEVEL,
) -> Estimate:
    """Compute the gain of voice distinctiveness in dB: 0 where voices differ from each other as much as before.

    >>> from personare import metrics
    >>> voices = np.random.default_rng(0).normal(size=(3, 8)).repeat(4, axis=0)
    >>> voices += 0.1 * np.random.default_rng(1).normal(size=voices.shape)
    >>> round(metrics.g_vd(voices, voices, np.repeat(list("abc"), 4)).value, 6)
    0.0
    """
    return _similarity(original, anonymized, speakers, variant, level)[1]


def sim(
    original: ArrayLike,
    anonymized: ArrayLike,
    speakers: ArrayLike,
    *,
    level: float = LEVEL,
) -> Estimate:
    """Average the cosine of vectors of the same utterances before and after (USC, table 1): 1 is the same voice.

    >>> from personare import metrics
    >>> round(metrics.sim(np.eye(3), 2 * np.eye(3), list("abc")).value, 6)
    1.0
    """
    return sim_estimate(original, anonymized, speakers=speakers, level=level)


def _similarity(
    original: ArrayLike,
    anonymized: ArrayLike,
    speakers: ArrayLike,
    variant: similarity.Variant,
    level: float,
) -> tuple[Estimate, Estimate]:
    names = [str(name) for name in np.asarray(speakers).tolist()]
    rows = [str(row) for row in range(len(names))]
    matrices = similarity.voice_similarity(original, anonymized, speakers=names, utterances=rows, variant=variant)
    return similarity.similarity_estimates(matrices, level=level)


def _sizes(N: int | Sequence[int] | None) -> Sequence[int] | None:
    return (N,) if isinstance(N, int | np.integer) else N
