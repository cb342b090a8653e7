"""Speaker clustering by people: how well listeners put recordings of the same speaker together.

purity(C) = max over s in S of (1/N) sum_c |c ∩ s_c|                            [tomashenko2022voiceprivacy, eq. 3]
F1        = mean over speakers of 2 P R / (P + R), clusters linked to speakers  [tomashenko2022voiceprivacy, sec. 2.3.2]
change    = moves of recordings that had a cluster already / N                  [obrien2021clusters]

C are the clusters of one trial, N its recordings; S gives every cluster another speaker, and purity takes the best of
all such assignments, found exactly (linear sum assignment). For F1 two clusters may stand for the same speaker.
Deviations: the papers do not say how ties are linked for F1; here the links that give the greatest F1 are taken, found
by trying all of them. They do not define the change of classification as a formula either: here it counts the times a
listener took a recording out of a cluster and put it into another one, for each recording. The paper (sec. 4.2.3) takes
fewer changes with anonymized speech for a worse performance, so that its count may be another one: do not set the two
side by side.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import MetricCard

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CLUSTERS = 6  # all ways to link so many clusters to speakers can still be tried
_ONE_PANEL = "depends on the speakers of the trial and on the listeners: compare only within one panel"

PURITY_CARD = MetricCard(
    name="purity",
    title="Clustering purity (people)",
    better="lower",
    bounds=(0.0, 1.0),
    chance=None,
    cite="tomashenko2022voiceprivacy, eq. 3",
    reading="share of recordings that listeners put into the cluster of their speaker, each cluster another speaker",
    caution=_ONE_PANEL,
    unit="%",
)
F1_CARD = MetricCard(
    name="clustering_f1",
    title="F1 of speaker clustering (people)",
    better="lower",
    bounds=(0.0, 1.0),
    chance=None,
    cite="tomashenko2022voiceprivacy, sec. 2.3.2",
    reading="mean over speakers of precision and recall together; 1: every speaker has a cluster of their own",
    caution=_ONE_PANEL,
)
CHANGE_CARD = MetricCard(
    name="classification_change",
    title="Classification change (people)",
    better="higher",
    bounds=(0.0, float("inf")),
    chance=None,
    cite="obrien2021clusters; tomashenko2022voiceprivacy, sec. 4.2.3",
    reading="how often listeners changed their mind about a recording; more changes mean less certainty",
    caution="a listener who does not care changes nothing",
)


def contingency(clusters: Sequence[Any], speakers: Sequence[Any]) -> NDArray[np.int64]:
    """Count the recordings of every speaker in every cluster: [clusters, speakers].

    >>> contingency([0, 0, 1], ["a", "b", "b"]).tolist()
    [[1, 1], [0, 1]]
    """
    if not len(clusters) or len(clusters) != len(speakers):
        raise MetricError(f"each recording needs a cluster and a speaker: {len(clusters)} and {len(speakers)}")
    _, c = np.unique(np.asarray(clusters), return_inverse=True)
    _, s = np.unique(np.asarray(speakers), return_inverse=True)
    table = np.zeros((c.max() + 1, s.max() + 1), dtype=np.int64)
    np.add.at(table, (c, s), 1)
    return table


def purity(clusters: Sequence[Any], speakers: Sequence[Any]) -> float:
    """Compute the clustering purity of one trial.

    >>> purity([1, 1, 2, 2], ["a", "a", "b", "b"]), purity([1, 1, 1, 1], ["a", "a", "b", "b"])
    (1.0, 0.5)
    """
    from scipy.optimize import linear_sum_assignment

    table = contingency(clusters, speakers)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def macro_f1(clusters: Sequence[Any], speakers: Sequence[Any]) -> float:
    """Compute the macro-average F1 of one trial, clusters linked to speakers as is best for the listener.

    >>> macro_f1([1, 1, 2, 3], ["a", "a", "b", "b"]), round(macro_f1([1, 1, 1], ["a", "a", "b"]), 3)
    (1.0, 0.4)
    """
    table = contingency(clusters, speakers)
    count, people = table.shape
    if count > MOST_CLUSTERS:
        raise MetricError(f"F1 of a clustering tries all links of at most {MOST_CLUSTERS} clusters, not of {count}")
    links = np.array(list(itertools.product(range(people), repeat=count)))
    linked = links[:, :, None] == np.arange(people)  # [ways, clusters, speakers]
    taken = linked.transpose(0, 2, 1) @ table.sum(axis=1)
    right = (linked * table).sum(axis=1)
    return float((2 * right / (taken + table.sum(axis=0))).mean(axis=1).max())


def chance_level(
    score: Callable[[Sequence[Any], Sequence[Any]], float],
    trials: Sequence[tuple[Sequence[Any], Sequence[Any]]],
    *,
    rng: np.random.Generator,
    draws: int = 200,
) -> float:
    """Give what a listener would reach whose clusters of these very sizes were filled at random.

    >>> trial = ([1, 1, 2, 2], ["a", "a", "b", "b"])
    >>> 0.6 < chance_level(purity, [trial], rng=np.random.default_rng(1)) < 0.72
    True
    """
    if not trials:
        raise MetricError("a chance level needs at least one trial")
    dealt = [
        score(clusters, [speakers[i] for i in rng.permutation(len(speakers))])
        for clusters, speakers in trials
        for _ in range(max(1, draws // len(trials)))
    ]
    return float(np.mean(dealt))


def classification_change(moves: int, recordings: int) -> float:
    """Give how often each recording was moved from one cluster to another, on average.

    >>> classification_change(4, 16)
    0.25
    """
    if recordings < 1 or moves < 0:
        raise MetricError(f"changes are counted over recordings: {moves} moves of {recordings} recordings")
    return moves / recordings
