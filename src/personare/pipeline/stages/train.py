"""Stage "teach": a recognizer trained on the train part, original or hidden, as figure 12 of VoicePrivacy 2020 asks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.tables import Corpus
from personare.listeners.ctc_settings import Settings
from personare.pipeline.jobs.train_recognizer import open_speech, train_recognizer
from personare.pipeline.speech import content_of
from personare.pipeline.stages.anonymize import AnonymizeJob
from personare.pipeline.store import Stage, Store
from personare.pipeline.waves import WholeStage


@dataclass(frozen=True, eq=False)
class TeachJob(WholeStage):
    """Train a recognizer of letters on ``frame`` (with text), or on the same speech after hiding."""

    label: str
    frame: pl.DataFrame
    settings: Settings
    hidden: AnonymizeJob | None = None

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: settings, speech and its texts."""
        texts = self.frame["text"].to_list() if "text" in self.frame.columns else []
        facts = {"settings": asdict(self.settings), "speech": content_of(self.frame), "texts": texts}
        return Stage("teach", self.label, facts, (self.hidden.stage,) if self.hidden else ())

    def folder(self, store: Store) -> Path:
        """Where the recognizer lies."""
        return store.place(self.stage) / "recognizer"

    def work(self, store: Store) -> TeachWork:
        """The training, for any process."""
        frame = self.frame
        if self.hidden is not None:
            files = self.hidden.files(store)
            frame = frame.filter(pl.col("utterance").is_in(list(files)))
            places = pl.Series("audio", [str(files[u]) for u in frame["utterance"]], dtype=pl.String)
            frame = frame.drop([c for c in ("start_s", "end_s") if c in frame.columns]).with_columns(places)
        kept = [
            c for c in ("utterance", "speaker", "audio", "gender", "text", "start_s", "end_s") if c in frame.columns
        ]
        return TeachWork(frame.select(kept).to_dicts(), self.settings, self.folder(store))


@dataclass(frozen=True)
class TeachWork:
    """One training; an interrupted one goes on where it was."""

    rows: list[dict[str, Any]]
    settings: Settings
    folder: Path

    def __call__(self, item: str) -> str:
        """Train."""
        del item
        speech = open_speech(Corpus(pl.DataFrame(self.rows, infer_schema_length=None)), self.settings)
        resume = self.folder.is_dir() and any(self.folder.iterdir())
        train_recognizer(speech, self.settings, self.folder, resume=resume)
        return str(self.folder)
