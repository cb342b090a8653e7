"""Comparing voices: every test vector against every enrolled speaker, all at once, as Scores.

A speaker is enrolled as the mean of unit vectors; the score is the cosine, or what any other Scorer gives. Trials never
pass through a Python loop; products are made in blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from personare.core.errors import TableError
from personare.core.tables import Embeddings, Scores, Trials
from personare.core.vectors import cosine, speaker_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 22  # scores made at a time


class Scorer(Protocol):
    """Compares test vectors [n, d] with enrolled vectors [m, d]: scores [n, m], higher is more alike."""

    def __call__(self, test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[Any]:
        """Score every pair."""
        ...


@runtime_checkable
class FittedOnSpeakers(Protocol):
    """A Scorer that was fitted on speakers, whom it refuses to attack."""

    def check(self, attacked: Iterable[str]) -> None:
        """Refuse speakers it has learnt from."""
        ...


@runtime_checkable
class SpeakerAware(Protocol):
    """A Scorer that must know who speaks, because it compares different people by different models."""

    def scores(self, test: Embeddings, enroll: Embeddings) -> NDArray[np.float64]:
        """Score every test against every enrolled speaker: [n, m]."""
        ...


def score_matrix(scorer: Scorer, test: Embeddings, enroll: Embeddings) -> NDArray[np.float64]:
    """Score every test against every enrolled speaker: [n, m]."""
    if isinstance(scorer, SpeakerAware):
        return scorer.scores(test, enroll)
    return np.asarray(scorer(test.vectors, enroll.vectors), dtype=np.float64)


def refuse_fitted(scorer: object, attacked: Iterable[str]) -> None:
    """Refuse an attack on speakers that a scorer has learnt from."""
    if isinstance(scorer, FittedOnSpeakers):
        scorer.check(attacked)


def enrolled(utterances: Embeddings, *, unit_first: bool = True) -> Embeddings:
    """Enrol every speaker by the package's one rule (``core.vectors``); ids are the speakers, sorted."""
    means = speaker_means(utterances.vectors, np.array(utterances.speakers, dtype=str), unit_first=unit_first)
    names = tuple(means.speakers.tolist())
    return Embeddings(names, names, means.vectors)


def enrolled_for_cosine(utterances: Embeddings) -> Embeddings:
    """Enrol every speaker for a comparison by cosine, to which the length of a vector does not matter.

    Where every speaker has one row and the rows are sorted by speaker, they are the gallery as they are: millions of
    them stay in their file.
    """
    names = utterances.speakers
    if all(one < two for one, two in itertools.pairwise(names)):
        return Embeddings(names, names, utterances.vectors)
    return enrolled(utterances)


@dataclass(frozen=True, eq=False)
class TrialScores:
    """Scored trials as arrays: ``score`` and ``target`` [n], and who met whom as positions in ``enroll`` and ``test``.

    The arrays feed metrics without any table; ``table`` names every row.
    """

    enroll: Embeddings
    test: Embeddings
    enroll_at: NDArray[np.int32]
    test_at: NDArray[np.int32]
    score: NDArray[np.float64]
    target: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.score)

    @property
    def tested(self) -> NDArray[np.str_]:
        """Who is really tested in each trial: the unit that intervals redraw."""
        return np.array(self.test.speakers, dtype=str)[self.test_at]

    @property
    def enrolled(self) -> NDArray[np.str_]:
        """Whose enrolment each trial is about."""
        return np.array(self.enroll.speakers, dtype=str)[self.enroll_at]

    def of(self, rows: NDArray[np.bool_]) -> TrialScores:
        """Keep some trials."""
        parts = (self.enroll_at[rows], self.test_at[rows], self.score[rows], self.target[rows])
        return TrialScores(self.enroll, self.test, *parts)

    def without_lone_speakers(self) -> TrialScores:
        """Leave out tested speakers who meet nobody but themselves: no score of theirs can be told from another's."""
        tested = self.tested
        return self.of(np.isin(tested, np.unique(tested[~self.target])))

    @property
    def targets(self) -> NDArray[np.float64]:
        """Scores of trials that are the same speaker."""
        return self.score[self.target]

    @property
    def nontargets(self) -> NDArray[np.float64]:
        """Scores of trials that are different speakers."""
        return self.score[~self.target]

    def table(self) -> Scores:
        """Make the checked table of enroll, test, target, score."""
        import polars as pl

        names = {
            "enroll": pl.Series(self.enroll.ids, dtype=pl.String).gather(self.enroll_at),
            "test": pl.Series(self.test.ids, dtype=pl.String).gather(self.test_at),
        }
        return Scores(pl.DataFrame({**names, "target": self.target, "score": self.score}))


def score_all(
    test: Embeddings,
    enroll: Embeddings,
    *,
    genders: Mapping[str, str | None] | None = None,
    scorer: Scorer = cosine,
) -> TrialScores:
    """Score every test against every enrolled speaker.

    ``genders`` (speaker -> gender) keeps trials within one gender; speakers of unknown gender meet each other only.
    An utterance that is enrolled under its own id never meets itself.
    """
    _check(test, enroll, scorer)
    test_group, enroll_group = _groups(test, enroll, genders)
    test_who, enroll_who = _codes(test.speakers, enroll.speakers)
    test_id, enroll_id = _codes(test.ids, enroll.ids)
    rows = max(1, _BLOCK // max(1, len(enroll.ids)))
    parts = []
    for first in range(0, len(test.ids), rows):
        block = slice(first, first + rows)
        allowed = (test_group[block, None] == enroll_group) & (test_id[block, None] != enroll_id)
        row, column = np.nonzero(allowed)
        score = score_matrix(scorer, _rows(test, block), enroll)[row, column]
        parts.append((column.astype(np.int32), (row + first).astype(np.int32), score.astype(np.float64)))
    empty = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float64))
    enroll_at, test_at = (np.concatenate([part[i] for part in (parts or [empty])]) for i in (0, 1))
    score = np.concatenate([part[2] for part in (parts or [empty])])
    return TrialScores(enroll, test, enroll_at, test_at, score, test_who[test_at] == enroll_who[enroll_at])


def score_trials(
    trials: Trials,
    test: Embeddings,
    enroll: Embeddings,
    *,
    scorer: Scorer = cosine,
) -> TrialScores:
    """Score the listed trials; a name without a vector is an error."""
    _check(test, enroll, scorer)
    test_at = _positions(trials, "test", test.ids)
    enroll_at = _positions(trials, "enroll", enroll.ids)
    score = np.empty(len(trials), np.float64)
    order = np.argsort(test_at, kind="stable")
    rows = max(1, _BLOCK // max(1, len(enroll.ids)))
    edges = np.searchsorted(test_at[order], np.arange(0, len(test.ids) + rows, rows))
    for block, (first, last) in enumerate(itertools.pairwise(edges)):
        if first == last:
            continue
        part, base = order[first:last], block * rows
        matrix = score_matrix(scorer, _rows(test, slice(base, base + rows)), enroll)
        score[part] = matrix[test_at[part] - base, enroll_at[part]]
    return TrialScores(enroll, test, enroll_at, test_at, score, trials.frame["target"].to_numpy())


def _check(test: Embeddings, enroll: Embeddings, scorer: object) -> None:
    refuse_fitted(scorer, {*test.speakers, *enroll.speakers})
    if test.vectors.shape[1] != enroll.vectors.shape[1]:
        found = f"{test.vectors.shape[1]} and {enroll.vectors.shape[1]}"
        raise TableError(f"test and enrolled vectors have {found} numbers; use the same embedder for both")


def _rows(embeddings: Embeddings, block: slice) -> Embeddings:
    return Embeddings(embeddings.ids[block], embeddings.speakers[block], embeddings.vectors[block])


def _codes(*columns: tuple[str, ...]) -> list[NDArray[np.int64]]:
    """Number names so that equal names have equal numbers in every column."""
    _, codes = np.unique(np.array([name for column in columns for name in column], dtype=str), return_inverse=True)
    return np.split(codes.reshape(-1), np.cumsum([len(column) for column in columns])[:-1])


def _groups(test: Embeddings, enroll: Embeddings, genders: Mapping[str, str | None] | None) -> list[NDArray[np.int64]]:
    if genders is None:
        return [np.zeros(len(test.ids), np.int64), np.zeros(len(enroll.ids), np.int64)]
    known = {who: genders.get(who) or "" for who in {*test.speakers, *enroll.speakers}}
    return _codes(tuple(known[who] for who in test.speakers), tuple(known[who] for who in enroll.speakers))


def _positions(trials: Trials, column: str, ids: tuple[str, ...]) -> NDArray[np.int32]:
    import polars as pl

    known = pl.DataFrame(
        {column: ids, "at": np.arange(len(ids), dtype=np.int32)}, schema={column: pl.String, "at": pl.Int32}
    )
    at = trials.frame.select(column).join(known, on=column, how="left", maintain_order="left")["at"]
    if at.null_count():
        name = trials.frame[column].filter(at.is_null())[0]
        raise TableError(f"{at.null_count()} trials name a {column} without a vector (first: '{name}'); embed it first")
    return at.to_numpy()
