"""Stage "listen": what friendly ears hear in the trial speech before and after hiding.

Words are heard several utterances at a time, which is quicker and changes no letter; everything else pair by pair.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.audio import read_mono, write
from personare.core.errors import ConfigError
from personare.core.files import write_text
from personare.engine import Result
from personare.engine.result import line_of
from personare.listeners import COMPARISONS, comparison, listener
from personare.listeners.affect import Affect
from personare.pipeline.listening import HeardPair, ListenWork, SoundPair
from personare.pipeline.listening_together import ListenTogether, in_batches
from personare.pipeline.speech import content_of
from personare.pipeline.stages.anonymize import AnonymizedSpeech
from personare.pipeline.stages.train import TrainJob
from personare.pipeline.store import Failures, Stage, Store
from personare.pipeline.study import ListenerChoice

HEARD = "heard.jsonl"
NOT_HEARD = "was not heard"
ONE_SIDED = ("words", "dnsmos")


@dataclass(frozen=True, eq=False)
class Ear:
    """One listener of a study under its label; ``taught`` where the study trains the recognizer itself."""

    label: str
    choice: ListenerChoice
    taught: TrainJob | None = None

    @property
    def measure(self) -> str:
        """The measure of ``personare listen`` that this ear serves."""
        kind = self.choice.listener.partition(":")[0]
        if kind in ("moonshine", "whisper", "ctc"):
            return "words"
        return "pitch" if kind in ("pitch", "pitch-swift") else kind

    def work(self, store: Store) -> ListenWork:
        """Make the work of this ear alone."""
        recognizer = self.choice.listener if self.measure == "words" else "moonshine"
        if self.taught is not None:
            recognizer = f"ctc:{self.taught.folder(store)}"
        tracker = self.choice.listener if self.measure == "pitch" else "pitch"
        return ListenWork((self.measure,), (recognizer,), tracker, affect=self.affect)

    @property
    def affect(self) -> Affect | None:
        """The user's own model of feeling, where this ear is one."""
        if self.measure != "affect":
            return None
        given = self.choice
        try:
            return Affect(Path(given.listener.partition(":")[2]), given.outputs, given.rate_hz, given.classes)
        except ValueError as error:
            raise ConfigError(str(error)) from None

    @property
    def alone(self) -> bool:
        """Whether something is heard in one sound alone; the others compare with the original."""
        return self.measure in ONE_SIDED or (self.affect is not None and self.affect.categorical)

    def fingerprint(self) -> str:
        """The exact model; a recognizer that is taught here is named by its own stage."""
        if self.taught is not None:
            return "taught"
        ear = self.affect or _ear(self.choice.listener)
        return str(getattr(ear, "fingerprint", repr(ear)))


def _ear(name: str) -> Any:
    return comparison(name) if name in COMPARISONS.builtin else listener(name)


@dataclass(frozen=True, eq=False)
class ListenJob:
    """Hear every utterance of ``frame`` beside its hidden version; without one, by itself."""

    label: str
    frame: pl.DataFrame
    ear: Ear
    hidden: AnonymizedSpeech | None = None

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the speech, and the exact ears."""
        facts = {"measure": self.ear.measure, "ear": self.ear.fingerprint(), "speech": content_of(self.frame)}
        inputs = [job.stage for job in (self.hidden, self.ear.taught) if job is not None]
        return Stage("listen", self.label, facts, tuple(inputs), items=len(self.frame))

    def facts(self) -> dict[str, Any]:
        """What the numbers depend on besides what was heard: the ear's name, and what was noted of every utterance."""
        columns = ["utterance", *(c for c in ("text", self.ear.choice.labels) if c in self.frame.columns)]
        noted = json.dumps(self.frame.select(list(dict.fromkeys(columns))).rows(), default=str)
        told = {
            "listener": self.ear.label,
            "trained on": self.ear.choice.trained_on,
            "classes": self.ear.choice.classes,
        }
        return {**told, "noted": hashlib.sha256(noted.encode()).hexdigest()}

    def items(self, store: Store) -> Sequence[tuple[SoundPair, ...]]:
        """Every utterance that could be hidden; words of about equal length together."""
        pairs = self.pairs(store)
        return in_batches(pairs) if self.ear.measure == "words" else [(pair,) for pair in pairs]

    def pairs(self, store: Store) -> list[SoundPair]:
        """The utterances one by one, in the order of the speech."""
        return list(_pairs(self.frame, self.places(store)))

    def places(self, store: Store) -> dict[str, Path]:
        """Give the file to hear for each utterance; originals are cut out of longer files into the stage."""
        if self.hidden is not None:
            return self.hidden.files(store)
        cut = store.place(self.stage) / "cut"
        found = {}
        for number, row in enumerate(self.frame.iter_rows(named=True)):
            part = bool(row.get("start_s")) or row.get("end_s") is not None
            found[row["utterance"]] = cut / f"{number:06d}.wav" if part else Path(row["audio"])
        return found

    def work(self, store: Store) -> CutWork:
        """Listen, after cutting where a cut is needed."""
        return CutWork(self.ear.work(store))

    def name(self, item: Any) -> str:
        """Failures are named by utterance; those of a batch beyond the first are named in ``finish``."""
        return str(item[0].utterance)

    def finish(self, store: Store, results: Sequence[Result[Any, Any]]) -> Failures:
        """Write what was heard, one line per utterance, in the order of the speech whatever the batches were."""
        heard: dict[str, HeardPair] = {}
        reasons: dict[str, str] = {}
        for result in results:
            if not result.ok:  # a worker died: the first of the batch is named already
                reasons |= {pair.utterance: result.error or "failed" for pair in result.item[1:]}
                continue
            for pair, told in zip(result.item, result.value or (), strict=True):
                if isinstance(told, str):
                    reasons[pair.utterance] = told
                else:
                    heard[pair.utterance] = told
        order = self.frame["utterance"].to_list()
        lines = [json.dumps({"utterance": u, **asdict(heard[u])}, sort_keys=True) for u in order if u in heard]
        write_text(store.place(self.stage) / HEARD, "\n".join([*lines, ""]))
        return tuple((u, reasons[u]) for u in order if u in reasons)


@dataclass(frozen=True)
class CutWork:
    """The work on some pairs; where the second sound is a cut that is not there yet, it is cut first."""

    listen: ListenWork

    def __call__(self, pairs: Sequence[SoundPair]) -> list[HeardPair | str]:
        """Hear all; a pair that cannot be cut or heard is a reason in words, and its neighbours are heard."""
        told: dict[str, HeardPair | str] = {}
        there = []
        for pair in pairs:
            try:
                cut_out(pair)
                there.append(pair)
            except Exception as error:  # as engines do: whatever happens to one pair is not the neighbours' failure
                told[pair.utterance] = line_of(error)
        for pair, got in zip(there, ListenTogether(self.listen)(there), strict=True):
            told[pair.utterance] = got
        return [told[pair.utterance] for pair in pairs]


def cut_out(pair: SoundPair) -> None:
    """Write the second sound of a pair where it is a part of a longer original that was not cut out yet."""
    if not pair.anonymized.is_file() and pair.anonymized.parent.name == "cut":
        write(pair.anonymized, read_mono(pair.original, start_s=pair.start_s, stop_s=pair.end_s))


def _pairs(frame: pl.DataFrame, places: dict[str, Path]) -> Iterator[SoundPair]:
    for row in frame.iter_rows(named=True):
        if row["utterance"] in places:
            yield SoundPair(
                row["utterance"],
                row["speaker"],
                Path(row["audio"]),
                places[row["utterance"]],
                row.get("start_s") or 0.0,
                row.get("end_s"),
            )


def read_heard(folder: Path) -> dict[str, HeardPair]:
    """Read what was heard, by utterance."""
    found = {}
    for line in (folder / HEARD).read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        words = {name: (before, after) for name, (before, after) in told["words"].items()}
        found[told["utterance"]] = HeardPair(told["numbers"], words, told["failures"])
    return found


@dataclass(frozen=True)
class Replay:
    """An engine that does nothing anew: it gives what was heard before, in the items' order."""

    heard: dict[str, HeardPair]

    def map(self, work: Any, items: Iterable[Any], *, ordered: bool = True) -> Iterator[Result[Any, Any]]:
        """Yield one Result per item, a pair or several together; what was not heard is a failure."""
        del work, ordered
        for index, item in enumerate(items):
            if not isinstance(item, SoundPair):
                yield Result(index, item, [self.heard.get(one.utterance, NOT_HEARD) for one in item])
                continue
            value = self.heard.get(item.utterance)
            yield Result(index, item, value, None if value is not None else NOT_HEARD)
