"""Can a voice be isolated? Singling Out of one attack at one L, over the number of people.

The enrolled describe a voice, the tested are the gallery it is looked for in.

Definition and protocol are in ``metrics.privacy`` [vauquier2025legal]. It compares by cosine; attackers whose scorer is
another one are not measured so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from personare.core.errors import MetricError
from personare.engine import Serial
from personare.metrics.privacy.control import risk_over_control
from personare.metrics.privacy.legal import PAPER_PREDICATES, LegalRun, single_out_conversations
from personare.metrics.privacy.singling_out import PAPER_ENROLMENT, PAPER_FOLDS, SinglingOut
from personare.pipeline.gallery_parts import IsolateByEngine
from personare.pipeline.measured import Artefact, Measured
from personare.pipeline.measures import Needs, Question
from personare.pipeline.measures.lengths import FEWEST_PEOPLE, AtLength, enrolment_problems, possible_lengths
from personare.pipeline.measures.ranks import cosine_problems
from personare.pipeline.roles import ENROLMENT, TRIAL

if TYPE_CHECKING:
    from personare.pipeline.attack_inputs import PlayedAttack
    from personare.pipeline.resolve import ResolvedAttacker
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study


@dataclass(frozen=True)
class SinglingOutMeasure(AtLength):
    """Singling Out at one L.

    Parameters
    ----------
    gallery_sizes : numbers of people N; without: 20, 50, 100, ... and all.
    draws : how often the people are drawn anew; predicates, folds : see the paper's protocol.
    enrolment : utterances that describe a voice, at most: 30 in the paper, 10 in the code of its authors.
    control : also attack people who are not in the data, and note what the data add.
    """

    requested: tuple[str, ...] = ("singling_out",)
    length: int = 1
    gallery_sizes: tuple[int, ...] = ()
    draws: int = 5
    predicates: int = PAPER_PREDICATES
    folds: int = PAPER_FOLDS
    control: bool = False
    sets_swapped: bool = False
    enrolment: int = PAPER_ENROLMENT

    name: ClassVar[str] = "singling out"
    metrics: ClassVar[tuple[str, ...]] = ("singling_out",)
    needs: ClassVar[Needs] = "attack"

    @property
    def swapped(self) -> bool:
        """Whether set B describes voices and set A is the gallery."""
        return self.sets_swapped

    @classmethod
    def plan(cls, question: Question) -> Iterator[SinglingOutMeasure]:
        """One measurement for each L, of attackers who compare by cosine."""
        study, corpus, who = question.study, question.corpus, question.attacker
        if who is None or not who.by_cosine:
            return
        lengths = possible_lengths(study, corpus, role=_gallery_role(corpus), tests=2, sampled=corpus.sampled)
        for length in lengths:
            sizes, draws = study.gallery_sizes, study.repetitions
            enrolment = study.enrolment_utterances
            yield cls(question.metrics, length, sizes, draws, sets_swapped=corpus.swapped, enrolment=enrolment)

    @classmethod
    def problems(cls, study: Study, metrics: tuple[str, ...], attackers: list[ResolvedAttacker]) -> Iterator[str]:
        """Somebody must compare by cosine."""
        del study
        yield from cosine_problems(metrics, attackers)

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Two tests of L utterances of two people, at the smallest L; enough people for every N."""
        del metrics
        yield from enrolment_problems(corpus)
        role, least = _gallery_role(corpus), min(study.utterances_per_trial)
        counts = corpus.counts(role)
        if (counts >= 2 * least).sum() < FEWEST_PEOPLE:
            need = f"Singling Out at L = {least} needs {2 * least} {role} utterances of at least 2 speakers"
            yield f"utterances_per_trial: {need}; the most are {counts.max(initial=0)}"
        if not study.skip_impossible:
            yield from cls._too_few_people(study, corpus)

    @classmethod
    def corpus_notes(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Which L and N are left out."""
        del metrics
        role = _gallery_role(corpus)
        possible = possible_lengths(study, corpus, role=role, tests=2)
        for length in study.utterances_per_trial:
            if length not in possible and length > min(study.utterances_per_trial):
                yield f"Singling Out is not measured at L = {length}: nobody has {2 * length} {role} utterances"
        if study.skip_impossible:
            yield from (f"left out: {line}" for line in cls._too_few_people(study, corpus))

    @classmethod
    def _too_few_people(cls, study: Study, corpus: StudyCorpus) -> Iterator[str]:
        least, most = min(study.utterances_per_trial), max(study.gallery_sizes, default=0)
        people = int((corpus.counts(_gallery_role(corpus)) >= 2 * least).sum())
        if most > people:
            need = f"{people} speakers have two tests of L = {least}"
            yield f"gallery_sizes: N = {most} is impossible for Singling Out, {need}"

    def run(self, inputs: PlayedAttack, /, *, rng: np.random.Generator) -> Measured:
        """Measure it over N."""
        attack = inputs.attack
        if not attack.by_cosine:
            raise MetricError("Singling Out compares by cosine; this attacker's scorer is another one")
        people = sum(1 for n in Counter(attack.trial.speakers).values() if n >= 2 * self.length)
        sizes = tuple(sorted({n for n in self.gallery_sizes if n <= people})) if self.gallery_sizes else None
        if sizes == ():
            raise MetricError(f"L = {self.length}: {people} people have two tests; none of the asked N fits")
        large = [n for n in self.gallery_sizes if n > people]
        state = rng.bit_generator.state
        run = self._isolated(inputs, sizes, rng)
        notes = [f"L = {self.length}: {n} speakers left out of Singling Out ({why})" for why, n in run.left_out.items()]
        if large:
            asked = ", ".join(str(n) for n in large)
            notes.append(f"L = {self.length}: N = {asked} is left out of Singling Out, {people} people have two tests")
        if self.control:  # the same tests and the same enrolled voices are drawn again
            again = np.random.Generator(type(rng.bit_generator)())
            again.bit_generator.state = state
            notes.append(self._control_note(run.result, self._isolated(inputs, sizes, again, control=True).result))
        speakers = [str(name) for name in run.result.speakers]
        risk = np.asarray(run.result.risk(), dtype=float)
        frame = pl.DataFrame({"speaker": speakers, "share": risk}).sort("speaker")
        artefact = Artefact("isolated", frame, {"L": self.length, "N": run.result.sizes[-1]})
        return Measured(tuple(run.result.findings(L=self.length)), (artefact,), tuple(notes))

    def _isolated(
        self,
        inputs: PlayedAttack,
        sizes: tuple[int, ...] | None,
        rng: np.random.Generator,
        *,
        control: bool = False,
    ) -> LegalRun[SinglingOut]:
        enroll, trial = inputs.attack.enroll, inputs.attack.trial
        sides = (enroll.vectors, np.array(enroll.speakers), trial.vectors, np.array(trial.speakers))
        return single_out_conversations(
            *sides,
            length=self.length,
            rng=rng,
            sizes=sizes,
            predicates=self.predicates,
            enrolment=self.enrolment,
            draws=self.draws,
            folds=self.folds,
            control=control,
            isolate=IsolateByEngine(inputs.engine or Serial()),
        )

    def _control_note(self, attack: SinglingOut, control: SinglingOut) -> str:
        """Compare with the control at the largest N both have."""
        where = f"L = {self.length}"
        shared = [size for size in attack.sizes if size in control.sizes]
        if not shared:
            return f"{where}: the control has no number of people in common with the attack; choose sizes"
        inside, outside = (found.estimates[found.sizes.index(shared[-1])] for found in (attack, control))
        extra = risk_over_control(inside, outside)
        shares = f"{inside.text('%')} in the data, {outside.text('%')} outside"
        verdict = "the data add risk" if extra.low > 0 else "the data add no risk that this attack shows"
        return f"{where}, N = {shared[-1]}: isolated {shares} (control): {verdict}"


def _gallery_role(corpus: StudyCorpus) -> str:
    """Name the role of the people among whom somebody is isolated."""
    return ENROLMENT if corpus.swapped else TRIAL
