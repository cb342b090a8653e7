"""Stage "hide": the utterances of one role, anonymized by one method under one key, each in a file of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.seeding import Key
from personare.core.tables import Corpus
from personare.engine import Result
from personare.pipeline.jobs.anonymize import AnonymizeWork, Utterance, utterances_of
from personare.pipeline.models import file_marks, models_of
from personare.pipeline.recipe import Recipe
from personare.pipeline.resolve import Hiding, Who, key_of, mark_of
from personare.pipeline.speech import Speech, content_of
from personare.pipeline.store import Failures, Stage, Store
from personare.pipeline.study import Study


@dataclass(frozen=True, eq=False)
class HideJob:
    """Hide ``frame`` with ``recipe`` under ``key``; files are named by tokens, so that no name can break a path."""

    label: str
    frame: pl.DataFrame
    recipe: Recipe
    key: Key

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the method, its parameters (files by content), its models, the draw, the speech."""
        facts = {
            "method": self.recipe.method,
            "parameters": file_marks(dict(self.recipe.parameters)),
            "models": models_of(self.recipe.method, self.recipe.parameters),
            "level": self.recipe.level,
            "draw": mark_of(self.key),
            "speech": content_of(self.frame),
        }
        return Stage("hide", self.label, facts, items=len(self.frame))

    def items(self, _store: Store, /) -> Sequence[Utterance]:
        """Every utterance; what an interrupted run has written is kept by the work itself."""
        return utterances_of(Corpus(self.frame))

    def work(self, store: Store) -> AnonymizeWork:
        """The same work as ``personare anonymize`` does."""
        return AnonymizeWork(self.recipe, self.key, store.place(self.stage), "flac", "tokens")

    def name(self, item: Any) -> str:
        """Failures are named by utterance."""
        return str(item.utterance)

    def finish(self, _store: Store, _results: Sequence[Result[Any, Any]], /) -> Failures:
        """The files are the result."""
        return ()

    def files(self, store: Store) -> dict[str, Path]:
        """Give the hidden file of every utterance that could be hidden."""
        work, done = self.work(store), store.done(self.stage)
        failed = {name for name, _ in done.failures} if done else set()
        return {i.utterance: work.place_of(i) for i in self.items(store) if i.utterance not in failed}


def hide_job(study: Study, speech: Speech, role: str, hiding: Hiding, who: Who, draw: int = 1) -> HideJob:
    """Make the job for one role; an attacker's training speech gets a new pseudo-voice for every utterance."""
    recipe = replace(hiding.recipe, level="utterance") if who == "training" else hiding.recipe
    label = f"hide {speech.label} {role} by {hiding.label} ({who}{f' {draw}' if draw > 1 else ''})"
    return HideJob(label, speech.of(role), recipe, key_of(study, who, draw))
