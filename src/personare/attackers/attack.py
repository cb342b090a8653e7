"""One attack, the only implementation: what an attacker of some knowledge learns, and whom they compare with whom.

``attack`` takes the speech an attacker may have (a ``Split``, which refuses what would be dishonest), lets them learn,
and gives an ``Attack``: vectors as they are compared, the gallery of enrolled speakers, and the scores of every trial.
Everything that is measured about attackers is measured on it: EER, linkability, Singling Out, ranks.

Enrolment: a speaker is the mean of their utterances' vectors, each scaled to length 1 (VoicePrivacy); a test is the
same mean over L utterances. Trials stay within one gender where genders are known, as in the challenges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from personare.attackers import scorer as make_scorer
from personare.attackers.alignment import Alignment, align_pairs, align_unpaired
from personare.attackers.asnorm import AsNorm
from personare.attackers.backend import FittedBackend
from personare.attackers.folds import FoldedScorer, all_draws, deal_speakers, fold_pairs, only
from personare.attackers.fused import parts_of, widths_of
from personare.attackers.idf import FittedIdf
from personare.attackers.knowledge import Knowledge
from personare.attackers.scorers import FitsEnrolment
from personare.attackers.scoring import Scorer, TrialScores, enrolled, score_all, score_matrix, score_trials
from personare.attackers.split import EmbeddedSpeech, Split, TrainingVectors, together
from personare.attackers.trained import refuse_training_speakers
from personare.core.errors import ConfigError
from personare.core.fingerprint import SystemIdentity, fingerprint
from personare.core.tables import Embeddings, Trials
from personare.core.vectors import cosine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.attackers.scorers import ScorerSettings

_MATCHING_SEED = 29  # only picks which vectors a matching without pairs looks at


@dataclass(frozen=True)
class Attacker:
    """What one attacker knows, and how they compare.

    Parameters
    ----------
    knowledge : what speech they have (see ``Knowledge``).
    embedder : how they turn speech into vectors; a name of the table of embedders.
    scorer : how they compare; a name of the table of scorers. None: cosine, or plda for attackers who learn.
    as_norm : the size of the cohort, of the training speech, that scores are normalised by; 0 for none.
    alignment : for the aligned attacker, whether utterances are known before and after anonymization.
    folds : into how many folds the attacked people are dealt, so that the informed attacker also learns from the
        enrolment speech of those in other folds; 0 for none.
    """

    knowledge: Knowledge
    embedder: str = "ecapa"
    scorer: str | None = None
    as_norm: int = 0
    alignment: Literal["pairs", "no pairs"] = "pairs"
    folds: int = 0

    def __post_init__(self) -> None:
        if self.as_norm < 0:
            raise ConfigError(f"as_norm must be 0 (none) or the size of a cohort, not {self.as_norm}")
        if self.folds and (self.folds < 3 or self.knowledge is not Knowledge.INFORMED):
            raise ConfigError(f"folds are for the informed attacker, 3 or more, not {self.folds}; 0 for none")
        undoes = self.knowledge is Knowledge.INVERTING  # learns to undo: the comparison need not learn
        if self.knowledge.needs_training and not undoes and self.scorer is not None and not self._settings.learns:
            rule = f"{self.knowledge.value} learns, and the scorer {self.scorer} cannot"
            raise ConfigError(f"{rule}; use scorer: wccn or plda")

    @property
    def scorer_name(self) -> str:
        """How vectors are compared, always said."""
        if self.knowledge is Knowledge.ALIGNED:
            return "aligned"
        return self.scorer or ("plda" if self.knowledge.needs_training else "cosine")

    @property
    def scorer_version(self) -> str:
        """What a result depends on: the name of a scorer, and of a plug-in its source, too."""
        settings = self._settings
        own = not type(settings).__module__.startswith("personare.")
        return f"{self.scorer_name} {fingerprint(settings)}" if own else self.scorer_name

    @property
    def learns(self) -> bool:
        """Whether speech of other people is needed."""
        return self.knowledge.needs_training or self._settings.learns or self.as_norm > 0

    @property
    def takes_training(self) -> bool:
        """Whether speech of other people helps the comparison, which does without where there is none."""
        return isinstance(self._settings, FitsEnrolment) and self._settings.takes_training

    @property
    def _settings(self) -> ScorerSettings:
        plain = "cosine" if self.scorer_name == "aligned" else self.scorer_name
        return make_scorer(plain)

    def _training(self, split: Split) -> TrainingVectors:
        """Give what there is to learn from; a fusion says of which embedders its vectors are made."""
        widths = widths_of(self.embedder)
        names = parts_of(self.embedder)
        both = self.knowledge is Knowledge.INVERTING and split.original is not None
        learnt = together(split.training_vectors(), split.original_training_vectors()) if both else None
        return replace(learnt or split.training_vectors(), widths=widths, part_names=names)

    def fit(self, split: Split) -> Scorer:
        """Learn what there is to learn."""
        if split.knowledge is not self.knowledge:
            raise ConfigError(f"the split is for the {split.knowledge.value} attack, not {self.knowledge.value}")
        if self.knowledge is Knowledge.ALIGNED:
            rng = np.random.default_rng(_MATCHING_SEED)
            fitted: Scorer = align_pairs(split) if self.alignment == "pairs" else align_unpaired(split, rng=rng)
        elif isinstance(self._settings, FitsEnrolment):
            training = None if split.training is None else split.training.embeddings
            fitted = self._settings.fit_enrolment(split.enroll.embeddings, training)
        elif self._settings.learns and split.training is None and split.embedder_trained_on is not None:
            fitted = cosine  # the embedder itself has learnt from anonymized speech, and nothing else is there
        else:
            fitted = self._settings.fit(self._training(split) if self._settings.learns else None)
        if self.as_norm and split.training is not None:
            cohort = enrolled(split.training.embeddings)
            fitted = AsNorm(cohort.vectors, cohort.ids, self.as_norm, fitted)
        return fitted


@dataclass(frozen=True, eq=False)
class Attack:
    """Speech as one attacker compares it: vectors in the space of their scorer, one row per utterance.

    ``calibration`` is enrolment and trial of other people, on which scores become log-likelihood ratios.
    """

    enroll: Embeddings
    trial: Embeddings
    scorer: Scorer = cosine
    calibration: tuple[Embeddings, Embeddings] | None = None

    @property
    def by_cosine(self) -> bool:
        """Whether the vectors can be compared by cosine alone, as Singling Out and ranks need."""
        return self.scorer is cosine

    @property
    def gallery(self) -> Embeddings:
        """The enrolled speakers, sorted, one vector each."""
        return enrolled(self.enroll)

    def scores(self, tests: Embeddings) -> NDArray[np.float64]:
        """Score every test against everybody enrolled: [tests, gallery]."""
        return score_matrix(self.scorer, tests, self.gallery)

    def trials(
        self,
        tests: Embeddings,
        *,
        genders: Mapping[str, str | None],
        listed: Sequence[tuple[str, str]] | None = None,
    ) -> TrialScores:
        """Score every test against every enrolled speaker of the same gender, or the ``listed`` (enroll, test) pairs.

        A test is a trial utterance or the mean of several; a tested speaker who meets nobody else (alone with their
        gender) has no trial.
        """
        return _trials(tests, self.gallery, self.scorer, genders=genders, listed=listed)

    def calibration_trials(self, tests: Embeddings, *, genders: Mapping[str, str | None]) -> TrialScores:
        """Score ``tests`` of the people who only serve to set the scale against their own enrolment."""
        assert self.calibration is not None
        return _trials(tests, enrolled(self.calibration[0]), self.scorer, genders=genders, listed=None)


def attack(attacker: Attacker, split: Split, *, calibration: Split | None = None) -> Attack:
    """Let an attacker learn from what the split allows, and give the attack."""
    refuse_training_speakers(attacker.embedder, split.enroll.speakers | split.test.speakers)
    fitted = attacker.fit(split)
    sides = [_projected(fitted, split.enroll, enroll=True), _projected(fitted, split.test, enroll=False)]
    others = None
    if calibration is not None:
        others = (
            _projected(fitted, calibration.enroll, enroll=True),
            _projected(fitted, calibration.test, enroll=False),
        )
    return Attack(sides[0], sides[1], cosine if _is_projection(fitted) else fitted, others)


def attack_in_folds(
    attacker: Attacker,
    enroll: EmbeddedSpeech,
    test: EmbeddedSpeech,
    spare: Sequence[EmbeddedSpeech],
    *,
    training: EmbeddedSpeech | None = None,
    embedder_trained_on: SystemIdentity | None = None,
    calibration: tuple[EmbeddedSpeech, EmbeddedSpeech] | None = None,
) -> Attack:
    """Let an informed attacker also learn from the enrolment speech of the attacked, fold by fold.

    ``spare`` is the enrolment speech as it is learnt from, once for each draw, with a new pseudo-speaker for every
    utterance: who shared one between utterances would learn to recognise pseudo-speakers. ``training`` is speech of
    others.
    """
    everyone = enroll.speakers | test.speakers
    refuse_training_speakers(attacker.embedder, everyone)
    fold_of = deal_speakers(sorted(everyone), attacker.folds)
    together = all_draws(spare)
    models: dict[tuple[int, int], Scorer] = {}
    for pair in fold_pairs(attacker.folds):
        heard = {who for who in everyone if fold_of[who] in pair}
        own = only(together, set(everyone - heard))
        learnt = own if training is None else all_draws([training, own])
        sides = (only(enroll, heard), only(test, heard))
        split = Split(attacker.knowledge, *sides, learnt, embedder_trained_on=embedder_trained_on)
        models[pair] = attacker.fit(split)
    others = None
    if calibration is not None:
        others = (calibration[0].embeddings.sorted(), calibration[1].embeddings.sorted())
    return Attack(enroll.embeddings.sorted(), test.embeddings.sorted(), FoldedScorer(fold_of, models), others)


def _trials(
    tests: Embeddings,
    gallery: Embeddings,
    scorer: Scorer,
    *,
    genders: Mapping[str, str | None],
    listed: Sequence[tuple[str, str]] | None,
) -> TrialScores:
    if listed is None:
        return score_all(tests, gallery, genders=genders, scorer=scorer).without_lone_speakers()
    known = (set(gallery.ids), set(tests.ids))
    owner = dict(zip(tests.ids, tests.speakers, strict=True))
    rows = [(e, t, owner[t] == e) for e, t in listed if e in known[0] and t in known[1]]
    trials = Trials(pl.DataFrame(rows, schema=["enroll", "test", "target"], orient="row"))
    return score_trials(trials, tests, gallery, scorer=scorer)


def _is_projection(fitted: Any) -> bool:
    """Whether comparing is a cosine in a space that vectors can be brought into once."""
    projects = isinstance(fitted, Alignment | FittedIdf) or (isinstance(fitted, FittedBackend) and not fitted.plda)
    return fitted is cosine or projects


def _projected(fitted: Any, side: EmbeddedSpeech, *, enroll: bool) -> Embeddings:
    """Bring vectors into the space in which the cosine compares them; others stay as they are."""
    given = side.embeddings.sorted()
    vectors: NDArray[Any]
    if isinstance(fitted, Alignment):
        vectors = fitted.original(given.vectors) if enroll else fitted.anonymized(given.vectors) @ fitted.rotation
    elif isinstance(fitted, FittedIdf) or (isinstance(fitted, FittedBackend) and not fitted.plda):
        vectors = fitted.project(given.vectors)
    else:
        return given
    return Embeddings(given.ids, given.speakers, np.asarray(vectors, dtype=np.float32))
