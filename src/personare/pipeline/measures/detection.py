"""Same speaker or not? The detection metrics of one attack: EER, Cllr, ZEBRA, linkability of scores.

Here, and nowhere else, the EER of every command is computed: ``Detection.run`` scores the trials of an attack
(``attackers.attack``) and hands them to ``personare.metrics``. A trial belongs to the speaker who is tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from personare.attackers.calibration import calibrate_in_folds, fit_calibration
from personare.core.findings import Finding
from personare.metrics.privacy import eer as eer_file
from personare.metrics.privacy.chance import Identities
from personare.metrics.privacy.levels import pool_ties
from personare.metrics.privacy.summary import score_summary
from personare.pipeline.jobs.guess_attributes import gender_notes
from personare.pipeline.measured import Artefact, Measured
from personare.pipeline.measures import Needs, Question
from personare.pipeline.measures.lengths import (
    AtLength,
    enrolment_problems,
    length_notes,
    length_problems,
    possible_lengths,
)
from personare.pipeline.roles import ENROLMENT, TRIAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.attackers.scoring import TrialScores
    from personare.pipeline.attack_inputs import PlayedAttack
    from personare.pipeline.resolve import ResolvedAttacker
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study

DCF_PRIOR = 0.01
LLR_METRICS = ("cllr", "calibration_loss")


@dataclass(frozen=True, eq=False)
class Draws:
    """Random draws of the EER, of all other metrics, and of those of calibrated scores: none changes another's."""

    eer: np.random.Generator
    rest: np.random.Generator
    calibrated: np.random.Generator


@dataclass(frozen=True)
class Detection(AtLength):
    """Detection metrics at one L; ``listed`` are a challenge's own (enrolled, test, name of the list)."""

    requested: tuple[str, ...]
    length: int = 1
    genders: Mapping[str, str | None] = field(default_factory=dict)
    listed: tuple[tuple[str, str, str], ...] | None = None

    name: ClassVar[str] = "detection"
    metrics: ClassVar[tuple[str, ...]] = (
        *("eer", "eer_kaldi", "cllr", "min_cllr", "calibration_loss", "min_dcf"),
        *("d_ece", "log10_l", "dsys", "dsys_reference"),
    )
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"zebra": ("d_ece", "log10_l")}
    needs: ClassVar[Needs] = "attack"
    cost: ClassVar[float] = 2.0  # trials grow with the square of the people

    @property
    def calibrates(self) -> bool:
        """Cllr judges log-likelihood ratios."""
        return bool(set(self.requested) & set(LLR_METRICS))

    @classmethod
    def plan(cls, question: Question) -> Iterator[Detection]:
        """One measurement for each L."""
        study, corpus = question.study, question.corpus
        listed = None
        if corpus.trials is not None:
            rows = corpus.trials.frame.iter_rows(named=True)
            listed = tuple((str(row["enroll"]), str(row["test"]), str(row.get("list") or "")) for row in rows)
        for length in possible_lengths(study, corpus, sampled=corpus.sampled):
            yield cls(question.metrics, length, corpus.genders(), listed if length == 1 else None)

    @classmethod
    def problems(cls, study: Study, metrics: tuple[str, ...], attackers: list[ResolvedAttacker]) -> Iterator[str]:
        """Cllr judges log-likelihood ratios: PLDA's are calibrated in folds, plain scores need people set aside."""
        asked = [metric for metric in metrics if metric in LLR_METRICS]
        raw = [one.label for one in attackers if one.attacker.scorer_name != "plda" or one.attacker.as_norm]
        for label, choice in study.corpora.items() if asked and raw else ():
            if not choice.calibration and not (choice.parts and choice.parts.calibration):
                need = f"{asked[0]} needs log-likelihood ratios, and attacker '{raw[0]}' gives plain scores"
                yield f"corpora: {label}: {need}; set speakers aside with calibration, or use scorer: plda"

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Two people, enrolled and tested, with enough utterances."""
        del metrics
        yield from enrolment_problems(corpus)
        yield from length_problems(study, corpus)

    @classmethod
    def corpus_notes(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Who is left out of which L, and who is compared with whom."""
        del metrics
        yield from length_notes(study, corpus)
        yield from gender_notes(corpus.frame.filter(pl.col("role").is_in([ENROLMENT, TRIAL])))

    def run(self, inputs: PlayedAttack, /, *, rng: np.random.Generator) -> Measured:
        """Measure every metric asked for, for everybody and for each gender, and keep the scores for pictures.

        The EER has draws of its own: it is the same number whatever else is asked for.
        """
        tests = inputs.tests(self.length)
        pairs = None if self.listed is None else [(enroll, test) for enroll, test, _ in self.listed]
        trials = inputs.attack.trials(tests, genders=self.genders, listed=pairs)
        notes = [*self._left_out(tests.speakers, trials)]
        if not trials.target.any() or trials.target.all():
            why = "no two enrolled speakers of the same gender could be compared"
            return Measured((), (), (*notes, f"L = {self.length}: nothing was detected, {why}"))
        llrs = self._llrs(inputs, trials)
        draws = Draws(rng, *rng.spawn(2))
        findings = self._measured(trials, llrs, draws)
        kept = [findings[name] for name in self.requested if name in findings]
        kept += self._by_gender(trials, llrs, draws)
        kept += self._by_list(trials, llrs, draws)
        notes += [
            f"L = {self.length}: {name} needs more trials or more people"
            for name in self.requested
            if name not in findings
        ]
        kept = [replace(f, conditions={**f.conditions, "L": self.length}) for f in kept]
        return Measured(tuple(kept), (Artefact("scores", _frame(trials, llrs), {"L": self.length}),), tuple(notes))

    def _llrs(self, inputs: PlayedAttack, trials: TrialScores) -> NDArray[np.float64] | None:
        """Calibrate, where a metric needs it: on the people who were set aside, else (PLDA) in folds of the tested."""
        if not self.calibrates:
            return None
        if inputs.attack.calibration is None:
            return calibrate_in_folds(trials)
        others = inputs.attack.calibration_trials(inputs.calibration_tests(self.length), genders=self.genders)
        return fit_calibration(others.targets, others.nontargets)(trials.score)

    def _left_out(self, tested: tuple[str, ...], trials: TrialScores) -> Iterator[str]:
        alone = len(set(tested) - set(trials.tested.tolist()))
        if alone and self.listed is None:
            who = "1 speaker is" if alone == 1 else f"{alone} speakers are"
            yield f"L = {self.length}: {who} alone with their gender and left out of error rates"

    def _everything(self, trials: TrialScores, rng: np.random.Generator) -> dict[str, Finding]:
        """Every detection metric by name; ZEBRA's carry their tag."""
        summary = score_summary(**self._split(trials, trials.score), dcf_prior=DCF_PRIOR, rng=rng)
        tagged = {"d_ece", "log10_l"}
        return {
            f.metric.name: replace(f, conditions={**f.conditions, "tag": summary.tag}) if f.metric.name in tagged else f
            for f in summary.findings
        }

    def _eer(self, trials: TrialScores, rng: np.random.Generator) -> Finding:
        """The EER alone, where nothing else is asked for: several times as quick."""
        return eer_file.eer_finding(**self._split(trials, trials.score), rng=rng)

    def _split(self, trials: TrialScores, scores: NDArray[np.float64]) -> dict[str, Any]:
        """Give what the metrics ask for: targets, nontargets, who is tested in each, and who was compared with whom."""
        tested, enrolled, target = trials.tested, trials.enrolled, trials.target
        scores = pool_ties(scores)  # cosines that differ by rounding only are equal
        return {
            "targets": scores[target],
            "nontargets": scores[~target],
            "target_speakers": tested[target],
            "nontarget_speakers": tested[~target],
            "identities": Identities(tested[target], tested[~target], enrolled[~target], self.genders or None),
        }

    def _measured(self, trials: TrialScores, llrs: NDArray[np.float64] | None, draws: Draws) -> dict[str, Finding]:
        """Give the metrics asked for, by name, as far as these trials allow."""
        findings = {} if set(self.requested) == {"eer"} else self._everything(trials, draws.rest)
        if "eer" in self.requested:
            findings |= {"eer": self._eer(trials, draws.eer)}
        if llrs is None:
            return {name: f for name, f in findings.items() if name not in LLR_METRICS}
        again = score_summary(**self._split(trials, llrs), dcf_prior=DCF_PRIOR, rng=draws.calibrated)
        return findings | {f.metric.name: f for f in again.findings if f.metric.name in LLR_METRICS}

    def _by_gender(self, trials: TrialScores, llrs: NDArray[np.float64] | None, draws: Draws) -> list[Finding]:
        """Every metric of each gender by itself, where there are two."""
        each = [self.genders.get(who) or "" for who in trials.tested.tolist()]
        return self._by("gender", each, trials, llrs, draws)

    def _by_list(self, trials: TrialScores, llrs: NDArray[np.float64] | None, draws: Draws) -> list[Finding]:
        """Every metric of each trial list, where there are several (the subsets of VoicePrivacy's Table 2)."""
        lists = {(enroll, test): name for enroll, test, name in self.listed or () if name}
        if not lists:
            return []
        enrolled = np.array(trials.enroll.ids, dtype=str)[trials.enroll_at].tolist()
        tested = np.array(trials.test.ids, dtype=str)[trials.test_at].tolist()
        each = [lists.get(pair, "") for pair in zip(enrolled, tested, strict=True)]
        return self._by("trial_list", each, trials, llrs, draws)

    def _by(
        self,
        condition: str,
        each: list[str],
        trials: TrialScores,
        llrs: NDArray[np.float64] | None,
        draws: Draws,
    ) -> list[Finding]:
        """Every metric of each group of trials, where there are two; ``each`` names the group of a trial."""
        names = np.array(each)
        known = sorted(set(each) - {""})
        findings = []
        for name in known if len(known) > 1 else ():
            rows = names == name
            part = trials.of(rows)
            if part.target.any() and not part.target.all():
                measured = self._measured(part, None if llrs is None else llrs[rows], draws)
                own = [measured[metric] for metric in self.requested if metric in measured]
                counts = {"targets": int(part.target.sum()), "nontargets": int((~part.target).sum())}
                findings += [replace(f, conditions={**f.conditions, **counts, condition: name}) for f in own]
        return findings


def _frame(trials: TrialScores, llrs: NDArray[np.float64] | None) -> pl.DataFrame:
    frame = trials.table().frame
    return frame if llrs is None else frame.with_columns(pl.Series("llr", llrs))
