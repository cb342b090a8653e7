"""From a study to its stages: what must be anonymized, embedded and measured, and which of them builds on which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from personare.attackers.fused import label_of
from personare.attackers.knowledge import Knowledge
from personare.pipeline.given import GivenJob, GivenSpeech, pair_given
from personare.pipeline.measures import Measure, Question, measure_classes, requested_metrics
from personare.pipeline.measures.utility import study_listeners
from personare.pipeline.resolve import (
    ResolvedAnonymizer,
    ResolvedAttacker,
    Who,
    key_of,
    resolve_anonymizers,
    resolve_attackers,
)
from personare.pipeline.roles import CALIBRATION, ENROLMENT, TRAIN, TRIAL
from personare.pipeline.speech import FileDigests, StudyCorpus
from personare.pipeline.stages.anonymize import AnonymizedSpeech, anonymize_job
from personare.pipeline.stages.embed import EmbedJob, only_reads
from personare.pipeline.stages.generate import GenerateJob
from personare.pipeline.stages.invert import invert_job
from personare.pipeline.stages.listen import ListenJob
from personare.pipeline.stages.measure import AttackSources, MeasureJob, VectorSource
from personare.pipeline.store import Stage
from personare.pipeline.study import Study
from personare.pipeline.system import key_token
from personare.pipeline.word_sources import readable, recognized_words

WAVES = ("anonymize", "estimate", "invert", "train", "listen", "embed", "generate", "measure")


@dataclass(frozen=True, eq=False)
class Graph:
    """A study, its speech, and every job; jobs of one wave do not build on each other.

    ``folder`` is where relative paths of the study are taken from, ``digests`` what the files of given speech hold.
    """

    study: Study
    corpora: dict[str, StudyCorpus]
    folder: Path
    digests: FileDigests

    @cached_property
    def anonymizers(self) -> list[ResolvedAnonymizer]:
        """The anonymizers."""
        return resolve_anonymizers(self.study, self.folder)

    @cached_property
    def attackers(self) -> list[ResolvedAttacker]:
        """The attackers."""
        return resolve_attackers(self.study, self.anonymizers, self.folder)

    @cached_property
    def requested(self) -> list[str]:
        """The metrics."""
        return requested_metrics(self.study)

    @cached_property
    def measures(self) -> list[MeasureJob]:
        """Every measurement, in the order of the study."""
        return [job for corpus in self.attacked for one in self.anonymizers for job in self._of(corpus, one)]

    @cached_property
    def attacked(self) -> list[StudyCorpus]:
        """The corpora that are measured; the others are only learnt from."""
        return [corpus for corpus in self.corpora.values() if corpus.is_attacked]

    @cached_property
    def waves(self) -> dict[str, list[Any]]:
        """All jobs by wave, each stage once."""
        jobs: dict[str, dict[str, Any]] = {name: {} for name in WAVES}

        def add(job: Any) -> None:
            if job.stage.key not in jobs[job.stage.kind]:
                jobs[job.stage.kind][job.stage.key] = job
                for one in _before(job):
                    add(one)

        for job in (*self.measures, *self._given_jobs()):
            add(job)
        for corpus in self.attacked:  # clips need the anonymized trial speech even where nothing else does
            for anonymizer in self.anonymizers if self.study.clips else ():
                if anonymizer.kind == "sound":
                    add(self.anonymized(corpus, TRIAL, anonymizer, "owner"))
        return {name: list(found.values()) for name, found in jobs.items()}

    @property
    def stages(self) -> list[Stage]:
        """Every stage, in the order of work."""
        return [job.stage for jobs in self.waves.values() for job in jobs]

    def anonymized(
        self, corpus: StudyCorpus, role: str, anonymizer: ResolvedAnonymizer, who: Who, draw: int = 1
    ) -> AnonymizedSpeech:
        """Give the stage that anonymizes one role for somebody; the owner's speech may be given."""
        if anonymizer.given is not None and who == "owner":
            speech = self.paired[corpus.label, anonymizer.label]
            label = f"anonymize {corpus.label} {role} by {anonymizer.label} (given)"
            return GivenJob(label, corpus.of(role), speech, self.digests)
        return anonymize_job(self.study, corpus, role, anonymizer, who, draw)

    def _given_jobs(self) -> Iterator[AnonymizedSpeech]:
        """Look for all given speech of the attacked, also what no attack needs: what is missing failed."""
        for corpus in self.attacked:
            for anonymizer in self.anonymizers:
                roles = [role for role in (ENROLMENT, TRIAL) if anonymizer.given is not None and len(corpus.of(role))]
                yield from (self.anonymized(corpus, role, anonymizer, "owner") for role in roles)

    @cached_property
    def paired(self) -> dict[tuple[str, str], GivenSpeech]:
        """Pair given speech with its originals, by corpus and anonymizer."""
        return {
            (corpus.label, one.label): pair_given(corpus.frame, one.given)
            for corpus in self.attacked
            for one in self.anonymizers
            if one.given is not None
        }

    def _of(self, corpus: StudyCorpus, anonymizer: ResolvedAnonymizer) -> Iterator[MeasureJob]:
        """Ask every family what it measures of this speech, by what it needs."""
        askers: dict[str, Callable[[type[Measure], Question], Iterator[MeasureJob]]] = {
            "attack": self._by_attackers,
            "training": self._by_attackers,
            "pairs": self._by_embedders,
            "listener": self._by_listeners,
        }
        for measure in measure_classes(self.study.metrics):
            metrics = tuple(name for name in self.requested if name in measure.metrics_in(self.study))
            if metrics:
                yield from askers[measure.needs](measure, Question(self.study, corpus, anonymizer, metrics))

    def _by_attackers(self, measure: type[Measure], question: Question) -> Iterator[MeasureJob]:
        corpus, anonymizer = question.corpus, question.anonymizer
        for who in self.attackers:
            if who.attacker.knowledge is Knowledge.ORIGINAL and anonymizer.kind != "none":
                continue  # nothing anonymized is heard by an attacker of unprotected speech
            if who.learns_from_owner(anonymizer) or who.not_played(anonymizer):
                continue  # semi-informed means another system; not every one can be undone
            attacker = who.against(anonymizer)
            nothing = who.attacker.folds > 0 and not len(corpus.of(TRAIN))
            if attacker is not who and (nothing or not self._learns_from_speech(corpus, attacker.attacker.embedder)):
                plain = replace(attacker.attacker, scorer="cosine", as_norm=0)  # as the attacker compares, too
                attacker = replace(attacker, attacker=plain)
            if attacker is not who and any(attacker.does_as(one) for one in self.attackers):
                continue  # an attacker of unprotected speech is asked for by name, and would do just the same
            labels = {
                "corpus": corpus.label,
                "anonymizer": anonymizer.label,
                "attacker": attacker.label,
                "knowledge": attacker.attacker.knowledge.value,
                "embedder": label_of(attacker.attacker.embedder),
                "scorer": attacker.attacker.scorer_name,
            } | ({"risk": "words"} if only_reads(attacker.attacker.embedder) else {})
            for one in measure.plan(replace(question, attacker=attacker)):
                sources = self._sources(corpus, anonymizer, attacker, one)
                label = f"measure {corpus.label} {anonymizer.label} {who.label}: {one.name}{one.label}"
                yield MeasureJob(label, labels, one, self.study.seed, attack=sources)

    def _by_embedders(self, measure: type[Measure], question: Question) -> Iterator[MeasureJob]:
        corpus, anonymizer = question.corpus, question.anonymizer
        for embedder in dict.fromkeys(one.attacker.embedder for one in self.attackers):
            for one in () if only_reads(embedder) else measure.plan(question):
                pair = (
                    self._vectors(corpus, TRIAL, embedder, None, "owner"),
                    self._vectors(corpus, TRIAL, embedder, anonymizer, "owner"),
                )
                labels = {"corpus": corpus.label, "anonymizer": anonymizer.label, "embedder": label_of(embedder)}
                label = f"measure {corpus.label} {anonymizer.label}: {one.name} by {label_of(embedder)}"
                yield MeasureJob(label, labels, one, self.study.seed, pair=pair)

    def _by_listeners(self, measure: type[Measure], question: Question) -> Iterator[MeasureJob]:
        corpus, anonymizer = question.corpus, question.anonymizer
        if anonymizer.kind == "vectors":
            return
        anonymized = self.anonymized(corpus, TRIAL, anonymizer, "owner") if anonymizer.kind == "sound" else None
        for listener in study_listeners(self, corpus):
            made = listener.made()
            if (anonymized is None and made.needs_original) or anonymizer.not_compared(made):
                continue
            label = f"listen {corpus.label} {anonymizer.label} by {listener.label}"
            job = ListenJob(label, corpus.of(TRIAL), listener, anonymized)
            labels = {"corpus": corpus.label, "anonymizer": anonymizer.label}
            where = f"measure {corpus.label} {anonymizer.label}: {listener.label}"
            yield from (MeasureJob(where, labels, one, self.study.seed, listen=job) for one in measure.plan(question))

    def _sources(
        self, corpus: StudyCorpus, anonymizer: ResolvedAnonymizer, who: ResolvedAttacker, measure: Measure
    ) -> AttackSources:
        """Give every set of vectors that an attacker of this knowledge may have, and this measure needs."""
        attacker, level = who.attacker, who.attacker.knowledge
        enroll, trial = (TRIAL, ENROLMENT) if measure.swapped else (ENROLMENT, TRIAL)

        def vectors(role: str, by: Who, kind: str, draw: int = 1) -> VectorSource:
            how = anonymizer if kind == "anonymized" else None
            undone = level is Knowledge.INVERTING and how is not None
            return self._vectors(corpus, role, attacker.embedder, how, by, draw, undone=undone)

        def enrolment(role: str) -> tuple[VectorSource, ...]:
            draws = range(1, who.facts()["enroll_draws"] + 1)
            return tuple(vectors(role, "attacker", level.enroll, draw) for draw in draws)

        training = original = None
        more: list[VectorSource] = []
        others = not attacker.folds or len(corpus.of(TRAIN)) > 0  # in folds, the attacked corpus itself can do
        reads = attacker.takes_training and len(readable(corpus.of(TRAIN), TRAIN, attacker.embedder)) > 0
        if reads or (attacker.learns and self._learns_from_speech(corpus, attacker.embedder) and others):
            by = (who.similar or anonymizer) if level.needs_training else None
            draws = range(1, (who.train_draws if level.needs_training else 1) + 1)
            again = {"undone": level is Knowledge.INVERTING}
            training, *more = (
                self._vectors(corpus, TRAIN, attacker.embedder, by, "training", d, **again) for d in draws
            )
        if level in (Knowledge.ALIGNED, Knowledge.INVERTING):
            original = self._vectors(corpus, TRAIN, attacker.embedder, None, "training")
        spare = [
            vectors(enroll, "training", level.enroll, d + 1) for d in range(who.train_draws if attacker.folds else 0)
        ]
        calibration = None
        if measure.calibrates and len(corpus.of(CALIBRATION[0])):
            calibration = (enrolment(CALIBRATION[0])[:1], vectors(CALIBRATION[1], "calibration", level.trial))
        return AttackSources(
            who,
            vectors(trial, "owner", level.trial),
            enrolment(enroll) if measure.needs == "attack" else (),
            training,
            original,
            tuple(more),
            tuple(spare),
            calibration,
        )

    def _learns_from_speech(self, corpus: StudyCorpus, embedder: str) -> bool:
        """An embedder that has itself learnt from anonymized speech may do without training speech."""
        from personare.attackers.trained import trained_on

        return len(corpus.of(TRAIN)) > 0 or trained_on(embedder) is None

    def _vectors(
        self,
        corpus: StudyCorpus,
        role: str,
        embedder: str,
        anonymizer: ResolvedAnonymizer | None,
        who: Who,
        draw: int = 1,
        *,
        undone: bool = False,
    ) -> VectorSource:
        name = label_of(embedder)
        frame = readable(corpus.of(role), role, embedder)
        heard = recognized_words(self, corpus, role, embedder, None, "original")
        original = EmbedJob(f"embed {corpus.label} {role} by {name}", frame, embedder, None, heard)
        if anonymizer is None or anonymizer.kind == "none":
            return VectorSource(original)
        identity = anonymizer.owner_identity if who == "owner" else anonymizer.present_identity
        anonymization = (identity, self._token(corpus, anonymizer, who, draw))
        if anonymizer.kind == "vectors":
            pool = EmbedJob(f"embed {corpus.label} {TRAIN} by {name}", corpus.of(TRAIN), embedder)
            system = replace(anonymizer.known, level="utterance") if who == "training" else anonymizer.known
            label = f"generate {corpus.label} {role} by {anonymizer.label} ({who})"
            keys = (key_of(self.study, who, draw), key_of(self.study, "system"))
            return VectorSource(GenerateJob(label, original, pool, system, *keys), anonymization)
        speech = self.anonymized(corpus, role, anonymizer, who, draw)
        label = f"{original.label}, anonymized by {anonymizer.label} ({who}{f' {draw}' if draw > 1 else ''})"
        if undone:
            speech, label = invert_job(self.study, corpus, role, anonymizer, speech), f"{label}, undone"
        heard = recognized_words(self, corpus, role, embedder, speech, anonymizer.label)
        return VectorSource(EmbedJob(label, frame, embedder, speech, heard), anonymization)

    def _token(self, corpus: StudyCorpus, anonymizer: ResolvedAnonymizer, who: Who, draw: int) -> str:
        """Name the draw of pseudo-speakers without telling its key."""
        if anonymizer.given is not None and who == "owner":
            key = self.paired[corpus.label, anonymizer.label].key
            return "owner" if key is None else key_token(key)
        return key_token(key_of(self.study, who, draw))


_BUILDS_ON = ("original", "pool", "anonymized", "estimator", "recognized", "hidden", "listen")  # fields that hold jobs


def _before(job: Any) -> Iterator[Any]:
    """Give the jobs whose results a job needs."""
    needed = [getattr(job, name, None) for name in _BUILDS_ON]
    if isinstance(job, MeasureJob):
        needed += [source.job for source in job.sources]
    elif isinstance(job, ListenJob):
        needed.append(job.listener.training)
    yield from (one for one in needed if one is not None)
