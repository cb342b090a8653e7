"""The anonymize stage: the utterances of one role, anonymized by one system under one key, each in its own file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from personare.core.files import make_folder
from personare.core.seeding import Key
from personare.core.tables import Corpus
from personare.engine import Result
from personare.pipeline.jobs.anonymize_work import AnonymizeWork, Assignment
from personare.pipeline.jobs.speaker_survey import surveyed, surveys
from personare.pipeline.resolve import ResolvedAnonymizer, Who, key_of
from personare.pipeline.speech import StudyCorpus, content_of
from personare.pipeline.store import Failures, Stage, Store
from personare.pipeline.study import Study
from personare.pipeline.system import System, key_token


class AnonymizedSpeech(Protocol):
    """A stage whose result is anonymized audio: made by it, or given."""

    @property
    def stage(self) -> Stage:
        """The stage."""
        ...

    def files(self, store: Store, /) -> dict[str, Path]:
        """Give the anonymized file of every utterance that has one."""
        ...

    def channel_of(self, utterance: str, /) -> int | None:
        """Give the channel of that file on which the person is; None where all channels are theirs."""
        ...


@dataclass(frozen=True, eq=False)
class AnonymizeJob:
    """Anonymize ``frame`` with ``system`` under ``key``; files are named by tokens: no name can break a path."""

    label: str
    frame: pl.DataFrame
    system: System
    key: Key

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the exact system, the draw, the speech."""
        facts = {
            "system": self.system.present_fingerprint,
            "level": self.system.level,
            "draw": key_token(self.key),
            "speech": content_of(self.frame),
        }
        return Stage("anonymize", self.label, facts, items=len(self.frame))

    def items(self, store: Store, /) -> Sequence[Assignment]:
        """Every utterance; what an interrupted run has written is kept by the work itself."""
        make_folder(store.place(self.stage))
        utterances = list(Corpus(self.frame))
        if not surveys(self.system.build()):
            return [Assignment(one) for one in utterances]
        samples = surveyed(utterances)
        return [Assignment(one, samples=(samples[one.speaker],)) for one in utterances]

    def work(self, store: Store) -> AnonymizeWork:
        """The same work as ``personare anonymize`` does."""
        place = store.place(self.stage)
        return AnonymizeWork(self.system, self.key, place, "flac", "tokens", journaled=False, survey=place / "speakers")

    def name(self, item: Any) -> str:
        """Failures are named by utterance."""
        return str(item.utterance)

    def finish(self, _store: Store, _results: Sequence[Result[Any, Any]], /) -> Failures:
        """The files are the result."""
        return ()

    def files(self, store: Store) -> dict[str, Path]:
        """Give the anonymized file of every utterance that could be anonymized."""
        work, done = self.work(store), store.done(self.stage)
        failed = {name for name, _ in done.failures} if done else set()
        return {i.utterance: work.place_of(i) for i in Corpus(self.frame) if i.utterance not in failed}

    def channel_of(self, _utterance: str, /) -> None:
        """Each file holds one person, also where the original held several."""
        return


def anonymize_job(
    study: Study, corpus: StudyCorpus, role: str, anonymizer: ResolvedAnonymizer, who: Who, draw: int = 1
) -> AnonymizeJob:
    """Make the job for one role; an attacker's training speech gets a new pseudo-speaker for every utterance."""
    system = replace(anonymizer.known, level="utterance") if who == "training" else anonymizer.known
    label = f"anonymize {corpus.label} {role} by {anonymizer.label} ({who}{f' {draw}' if draw > 1 else ''})"
    return AnonymizeJob(label, corpus.of(role), system, key_of(study, who, draw))
