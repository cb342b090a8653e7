"""Stage "train": a recognizer trained on the train part, original or anonymized (figure 12 of VoicePrivacy 2020)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.tables import Corpus
from personare.pipeline.jobs.train_recognizer import open_data, train_recognizer
from personare.pipeline.speech import content_of
from personare.pipeline.stages.anonymize import AnonymizedSpeech
from personare.pipeline.store import Stage, Store
from personare.pipeline.waves import WholeStage
from personare.training.recognizer.run import VERSION
from personare.training.recognizer.settings import RecognizerSettings

PARTS = ("start_s", "end_s", "person_channel")


@dataclass(frozen=True, eq=False)
class TrainJob(WholeStage):
    """Train a recognizer of letters on ``frame`` (with text), or on the same speech anonymized."""

    label: str
    frame: pl.DataFrame
    settings: RecognizerSettings
    hidden: AnonymizedSpeech | None = None

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: settings, speech and its texts."""
        texts = self.frame["text"].to_list() if "text" in self.frame.columns else []
        facts = {
            "settings": asdict(self.settings),
            "speech": content_of(self.frame),
            "texts": texts,
            "version": VERSION,
        }
        return Stage("train", self.label, facts, (self.hidden.stage,) if self.hidden else ())

    def folder(self, store: Store) -> Path:
        """Where the recognizer lies."""
        return store.place(self.stage) / "recognizer"

    def work(self, store: Store) -> TrainWork:
        """The training, for any process."""
        frame = self.frame
        if self.hidden is not None:
            files = self.hidden.files(store)
            frame = frame.filter(pl.col("utterance").is_in(list(files)))
            places = pl.Series("audio", [str(files[u]) for u in frame["utterance"]], dtype=pl.String)
            frame = frame.drop([c for c in PARTS if c in frame.columns]).with_columns(places)
        kept = [c for c in ("utterance", "speaker", "audio", "gender", "text", *PARTS) if c in frame.columns]
        return TrainWork(frame.select(kept).to_dicts(), self.settings, self.folder(store))


@dataclass(frozen=True)
class TrainWork:
    """One training; an interrupted one is continued."""

    rows: list[dict[str, Any]]
    settings: RecognizerSettings
    folder: Path

    def __call__(self, item: str) -> str:
        """Train."""
        del item
        data = open_data(Corpus(pl.DataFrame(self.rows, infer_schema_length=None)), self.settings)
        resume = self.folder.is_dir() and any(self.folder.iterdir())
        train_recognizer(data, self.settings, self.folder, resume=resume)
        return str(self.folder)
