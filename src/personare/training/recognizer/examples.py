"""The speech a recognizer is trained on: which speakers, which are held out, and what cannot be used and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import AudioError, ConfigError, CorpusError, TrainingError
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus
from personare.training.recognizer.features import LETTERS, RATE_HZ, features, symbols_of
from personare.training.recognizer.network import SUBSAMPLING
from personare.training.recognizer.settings import RecognizerHeldOut, RecognizerSettings

Normalize = Callable[[str], str]


@dataclass(frozen=True, eq=False)
class RecognizerExample:
    """One utterance as the network takes it: float32 [frames, bands], and its symbols."""

    bands: Any
    symbols: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RecognizerExamples:
    """Examples, the speaker of each, and their duration together."""

    examples: tuple[RecognizerExample, ...]
    speakers: tuple[str, ...]
    duration_s: float

    def texts(self) -> Iterator[str]:
        """Give the reference transcripts, in the letters the network knows."""
        for example in self.examples:
            yield "".join(LETTERS[s - 1] for s in example.symbols)


@dataclass(frozen=True, eq=False)
class RecognizerData:
    """What is trained on and what is held out, of different speakers.

    Parameters
    ----------
    failures : (utterance, reason) of what has no text, cannot be read, or is too short for its text.
    too_long : how many utterances were left out because they are longer than the settings allow.
    """

    train: RecognizerExamples
    held_out: RecognizerExamples
    failures: tuple[tuple[str, str], ...]
    too_long: int


def example(audio: Audio, text: str, *, normalize: Normalize, subsampling: int = SUBSAMPLING) -> RecognizerExample:
    """Prepare one utterance; between two equal letters the network needs a frame for a blank."""
    prepared = RecognizerExample(features(resample(audio, RATE_HZ)), tuple(symbols_of(normalize(text))))
    repeats = sum(a == b for a, b in pairwise(prepared.symbols))
    if not prepared.symbols or len(prepared.symbols) + repeats > len(prepared.bands) // subsampling:
        raise ConfigError(f"{len(prepared.symbols)} letters do not fit {audio.duration_s:.2f} s of sound")
    return prepared


def examples(
    batch: Sequence[Audio], texts: Sequence[str], *, normalize: Normalize, subsampling: int = SUBSAMPLING
) -> list[RecognizerExample]:
    """Prepare utterances; one whose text does not fit into its frames is refused, for it could never be trained on."""
    if len(batch) != len(texts):
        raise ConfigError(f"{len(batch)} sounds do not fit {len(texts)} texts")
    prepared = []
    for i, (audio, text) in enumerate(zip(batch, texts, strict=True)):
        try:
            prepared.append(example(audio, text, normalize=normalize, subsampling=subsampling))
        except ConfigError as error:
            raise ConfigError(f"utterance {i}: {error}") from None
    return prepared


def read_data(
    corpus: Corpus,
    settings: RecognizerSettings,
    *,
    normalize: Normalize,
    watch: Callable[[str], None] = lambda _: None,
) -> RecognizerData:
    """Draw the held-out speakers, then read every utterance once; ``watch`` is called with each."""
    frame = corpus.frame
    if "text" not in frame.columns or not (frame["text"].fill_null("") != "").any():
        raise CorpusError("the corpus has no text, and a recognizer is trained on text; give it a column 'text'")
    reader = _ExampleReader(settings, normalize, watch, [], [])
    is_held_out = pl.col("speaker").is_in(_held_out_speakers(corpus.speakers, settings))
    train = reader.read(frame.filter(~is_held_out), most=None)
    held_out = reader.read(frame.filter(is_held_out), most=settings.held_out.utterances)
    reader.check(train, held_out)
    return RecognizerData(train, held_out, tuple(reader.failures), len(reader.too_long))


def _held_out_speakers(everyone: list[str], settings: RecognizerSettings) -> list[str]:
    held_out: RecognizerHeldOut = settings.held_out
    if len(everyone) <= held_out.speakers:
        need = f"{held_out.speakers} speakers to hold out and others to train on"
        raise TrainingError(f"a training needs {need}; here are {len(everyone)} (lower held_out.speakers)")
    rng = rng_for(Key.from_seed(f"recognizer {settings.seed}"), "held out")
    return sorted(everyone[i] for i in rng.choice(len(everyone), size=held_out.speakers, replace=False))


@dataclass(frozen=True, eq=False)
class _ExampleReader:
    """Reads utterances and notes those that cannot be used."""

    settings: RecognizerSettings
    normalize: Normalize
    watch: Callable[[str], None]
    failures: list[tuple[str, str]]
    too_long: list[str]

    def read(self, rows: pl.DataFrame, *, most: int | None) -> RecognizerExamples:
        """Read what can be used, at most ``most`` utterances of each speaker."""
        kept: list[tuple[RecognizerExample, str, float]] = []
        counts: dict[str, int] = {}
        for row in rows.sort("utterance").iter_rows(named=True):
            self.watch(row["utterance"])
            if most is not None and counts.get(row["speaker"], 0) >= most:
                continue
            try:
                duration_s, prepared = self._example(row)
            except (AudioError, ConfigError) as error:
                self.failures.append((row["utterance"], str(error)))
                continue
            if prepared is None:
                self.too_long.append(row["utterance"])
                continue
            kept.append((prepared, row["speaker"], duration_s))
            counts[row["speaker"]] = counts.get(row["speaker"], 0) + 1
        return RecognizerExamples(
            tuple(e for e, _, _ in kept), tuple(s for _, s, _ in kept), sum(d for _, _, d in kept)
        )

    def _example(self, row: dict[str, Any]) -> tuple[float, RecognizerExample | None]:
        """Give the duration of an utterance, and the utterance unless it is too long."""
        if not row["text"]:
            raise ConfigError("has no text; write down what is said")
        audio = read_mono(Path(row["audio"]), start_s=row.get("start_s") or 0.0, stop_s=row.get("end_s"))
        if audio.duration_s > self.settings.longest_s:
            return audio.duration_s, None
        return audio.duration_s, example(
            audio, row["text"], normalize=self.normalize, subsampling=self.settings.shape.subsampling
        )

    def check(self, train: RecognizerExamples, held_out: RecognizerExamples) -> None:
        """Refuse a corpus with nothing to train on, or with fewer than two held-out speakers."""
        if train.examples and len(set(held_out.speakers)) >= 2:
            return
        counted = f"{len(self.too_long)} are longer than {self.settings.longest_s} s, {len(self.failures)} failed"
        why = f", first: {self.failures[0][0]}: {self.failures[0][1]}" if self.failures else ""
        who = "to train on" if not train.examples else "of two held-out speakers"
        raise TrainingError(f"no utterances {who} can be used ({counted}{why}); repair the corpus or change longest_s")
