"""Is there enough speech? What every family needs of a corpus, and training speech for those who learn."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from personare.attackers.folds import FEWEST_SPEAKERS
from personare.attackers.knowledge import Knowledge
from personare.attackers.trained import refuse_training_speakers, trained_on
from personare.core.errors import PersonareError
from personare.pipeline.measures import Measure, expand_metrics, measure_classes, observed_metrics
from personare.pipeline.measures.utility import listener_corpus_notes, listener_corpus_problems
from personare.pipeline.roles import CALIBRATION, TRAIN, one_sided

if TYPE_CHECKING:
    from personare.attackers.attack import Attacker
    from personare.pipeline.resolve import ResolvedAnonymizer, ResolvedAttacker
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study
from personare.pipeline.study_listener import untrained_listeners

FEWEST_TRAIN_SPEAKERS = 2
GIVE = (
    "name another corpus (--train, or train_path in a study), a part with parts: {train: ...}, or set speakers aside "
    "with train: NUMBER"
)


def speech_problems(
    study: Study, corpus: StudyCorpus, anonymizers: list[ResolvedAnonymizer], attackers: list[ResolvedAttacker]
) -> Iterator[str]:
    """Name everything that cannot be measured on this speech."""
    yield from (problem.line for problem in corpus.problems)
    if not corpus.is_attacked:
        yield from listener_corpus_problems(study, corpus)
        return
    yield from _one_sided(study, corpus)
    for measure, metrics in _asked(study):
        yield from measure.corpus_problems(study, metrics, corpus)
    yield from _training(corpus, anonymizers, attackers)
    yield from listener_corpus_problems(study, corpus)
    yield from _overlaps(corpus)
    for one in attackers:
        try:
            refuse_training_speakers(one.attacker.embedder, corpus.enrolled | corpus.tested)
        except PersonareError as error:
            yield f"attacker '{one.label}': {error}"


def shared_speakers(corpora: list[StudyCorpus]) -> Iterator[str]:
    """A listener that learns from the attacked would hear them better than it can hear anybody else."""
    for lessons in (corpus for corpus in corpora if not corpus.is_attacked):
        for corpus in (one for one in corpora if one.is_attacked):
            if shared := sorted(set(lessons.frame["speaker"]) & (corpus.enrolled | corpus.tested)):
                some = f"{len(shared)} attacked speakers of '{corpus.label}' (first: '{shared[0]}')"
                yield f"corpora: {lessons.label}: listeners would learn from {some}; leave them out with parts or skip"


def speech_notes(study: Study, corpus: StudyCorpus) -> Iterator[str]:
    """Say who is left out of what, and what numbers will rest on."""
    yield from corpus.notes
    if not corpus.is_attacked:
        return
    for measure, metrics in _asked(study):
        yield from measure.corpus_notes(study, metrics, corpus)
    yield from listener_corpus_notes(study, corpus)


def not_played_notes(anonymizers: list[ResolvedAnonymizer], attackers: list[ResolvedAttacker]) -> Iterator[str]:
    """Name every method that an attacker of the study is not played on, and why."""
    for who in attackers:
        for one in anonymizers:
            if why := who.not_played(one):
                yield f"attackers: {who.label}: not played on {one.label}: {why}"


def not_heard_notes(study: Study, anonymizers: list[ResolvedAnonymizer], home: Path) -> Iterator[str]:
    """Name every method that a listener of the study cannot be asked about, and why."""
    for listener in untrained_listeners(study, home):
        with contextlib.suppress(PersonareError):  # what is wrong with a listener is said by another check
            if not listener.trained_by_study:
                made = listener.made()
                for one in anonymizers:
                    if why := one.not_compared(made):
                        yield f"listeners: {listener.label}: not asked about {one.label}: {why}"


def _asked(study: Study) -> Iterator[tuple[type[Measure], tuple[str, ...]]]:
    """Give the families whose metrics are named; metrics that do not exist are named by another check."""
    names: dict[str, None] = {}
    for metric in study.metrics:
        with contextlib.suppress(PersonareError):
            names |= dict.fromkeys(expand_metrics((metric,), observed=observed_metrics(study)))
    own = tuple(name for name in study.metrics if ":" in name)
    with contextlib.suppress(PersonareError):
        for measure in measure_classes(own):
            metrics = tuple(name for name in names if name in measure.metrics_in(study))
            if metrics:
                yield measure, metrics


def _one_sided(study: Study, corpus: StudyCorpus) -> Iterator[str]:
    if study.corpora[corpus.label].on_one_side != "refuse" or not corpus.enrolled & corpus.tested:
        return
    only_enrolled, only_tested = one_sided(corpus.frame)
    for names, words in ((only_enrolled, "enrolled but never tested"), (only_tested, "tested but never enrolled")):
        if names:
            some = "1 speaker is" if len(names) == 1 else f"{len(names)} speakers are"
            yield f"{some} {words} (first: '{names[0]}'); give both sides speech, or keep them with one_sided: keep"


def _training(
    corpus: StudyCorpus, anonymizers: list[ResolvedAnonymizer], attackers: list[ResolvedAttacker]
) -> Iterator[str]:
    """Whoever learns needs speech of other people."""
    people = corpus.of(TRAIN)["speaker"].n_unique()
    if people < FEWEST_TRAIN_SPEAKERS:
        for one in attackers:
            who = one.attacker
            if who.folds:
                yield from _folds(corpus, one)
            elif who.learns and not (who.knowledge.needs_training and _knows(who.embedder) and not _inverts(who)):
                what = f"attacker '{one.label}' ({who.knowledge.value}, {who.scorer_name}) learns from training speech"
                yield f"{what}, and there are {people} train speakers; {GIVE}"
        for anonymizer in anonymizers:
            if anonymizer.kind == "vectors":
                yield f"anonymizer '{anonymizer.label}' learns voices from training speech, and there is none; {GIVE}"
        return
    yield from _pools(corpus, anonymizers)


def _folds(corpus: StudyCorpus, one: ResolvedAttacker) -> Iterator[str]:
    """Whoever learns from the attacked themselves, in folds, needs enough of them."""
    attacked = len(corpus.enrolled)
    if attacked < FEWEST_SPEAKERS:
        what = (
            f"attacker '{one.label}' learns in folds from the attacked corpus, which needs {FEWEST_SPEAKERS} speakers"
        )
        yield f"{what}; there are {attacked}, and no train speakers; {GIVE}"


def _inverts(who: Attacker) -> bool:
    """Whether an attacker learns to undo, for which no embedder can stand in."""
    return who.knowledge is Knowledge.INVERTING


def _knows(embedder: str) -> bool:
    """Whether an embedder has itself learnt from anonymized speech."""
    with contextlib.suppress(PersonareError):
        return trained_on(embedder) is not None
    return False


def _pools(corpus: StudyCorpus, anonymizers: list[ResolvedAnonymizer]) -> Iterator[str]:
    """A generator needs enough voices of each gender."""
    people = corpus.of(TRAIN).unique("speaker")
    noted = people["gender"].fill_null("").to_list() if "gender" in people.columns else [""] * len(people)
    fewest = min(Counter(noted).values(), default=0)
    for anonymizer in anonymizers:
        if anonymizer.kind != "vectors":
            continue
        need = getattr(anonymizer.known.build_generator(), "fewest", 0) or 0
        if need > fewest:
            yield f"anonymizer '{anonymizer.label}' needs {need} train speakers of each gender, there are {fewest}"


def _overlaps(corpus: StudyCorpus) -> Iterator[str]:
    """Nobody who is attacked may be learnt from."""
    attacked = corpus.enrolled | corpus.tested
    for role, words in ((TRAIN, "train"), (CALIBRATION[0], "calibration")):
        both = sorted(attacked & set(corpus.of(role)["speaker"]))
        if both:
            yield f"{len(both)} attacked speakers are also in the {words} part (first: '{both[0]}'); leave them out"
