"""The speech a recognizer learns from: who is learnt from, who judges, and which utterances are of no use and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.audio import read_mono
from personare.core.errors import AudioError, ConfigError, CorpusError, TrainingError
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus
from personare.listeners.ctc import LETTERS
from personare.listeners.ctc_settings import HeldOut, Settings
from personare.listeners.ctc_training import Example, example


@dataclass(frozen=True, eq=False)
class Spoken:
    """Utterances as the network sees them, who says each, and how long they are together."""

    examples: tuple[Example, ...]
    speakers: tuple[str, ...]
    duration_s: float


@dataclass(frozen=True, eq=False)
class Speech:
    """What is learnt from and what judges, of different people.

    Parameters
    ----------
    failures : (utterance, reason) of what has no text, cannot be read, or is too short for its text.
    too_long : how many utterances were left out because they are longer than the settings allow.
    """

    learn: Spoken
    judge: Spoken
    failures: tuple[tuple[str, str], ...]
    too_long: int


def read_speech(corpus: Corpus, settings: Settings, *, watch: Callable[[str], None] = lambda _: None) -> Speech:
    """Draw the judges, then read every utterance once; ``watch`` is told of each."""
    frame = corpus.frame
    if "text" not in frame.columns or not (frame["text"].fill_null("") != "").any():
        raise CorpusError("the corpus has no text, and a recognizer learns from text; give it a column 'text'")
    judges = _judges(corpus.speakers, settings.held_out, key=Key.from_seed(f"recognizer {settings.seed}"))
    judging = pl.col("speaker").is_in(judges)
    failures: list[tuple[str, str]] = []
    long: list[str] = []
    learn, judge = (
        _read(rows, settings, most, failures, long, watch)
        for rows, most in ((frame.filter(~judging), None), (frame.filter(judging), settings.held_out.utterances))
    )
    _check(learn, judge, failures, long, settings)
    return Speech(learn, judge, tuple(failures), len(long))


def _judges(everyone: list[str], held_out: HeldOut, *, key: Key) -> list[str]:
    if len(everyone) <= held_out.speakers:
        need = f"{held_out.speakers} speakers to judge and others to learn from"
        raise TrainingError(f"a training needs {need}; here are {len(everyone)} (lower held_out.speakers)")
    drawn = rng_for(key, "held out").choice(len(everyone), size=held_out.speakers, replace=False)
    return sorted(everyone[i] for i in drawn)


def _read(
    rows: pl.DataFrame,
    settings: Settings,
    most: int | None,
    failures: list[tuple[str, str]],
    long: list[str],
    watch: Callable[[str], None],
) -> Spoken:
    """Read what can be used, at most ``most`` utterances of each speaker; notes the others."""
    kept: list[tuple[Example, str, float]] = []
    enough: dict[str, int] = {}
    for row in rows.sort("utterance").iter_rows(named=True):
        watch(row["utterance"])
        if most is not None and enough.get(row["speaker"], 0) >= most:
            continue
        try:
            duration_s, found = _one(row, settings.longest_s)
        except (AudioError, ConfigError) as error:
            failures.append((row["utterance"], str(error)))
            continue
        if found is None:
            long.append(row["utterance"])
            continue
        kept.append((found, row["speaker"], duration_s))
        enough[row["speaker"]] = enough.get(row["speaker"], 0) + 1
    return Spoken(tuple(e for e, _, _ in kept), tuple(s for _, s, _ in kept), sum(d for _, _, d in kept))


def _one(row: dict[str, Any], longest_s: float) -> tuple[float, Example | None]:
    """Give the length of an utterance, and the utterance unless it is too long."""
    if not row["text"]:
        raise ConfigError("nobody wrote down what is said")
    audio = read_mono(Path(row["audio"]), start_s=row.get("start_s") or 0.0, stop_s=row.get("end_s"))
    return audio.duration_s, None if audio.duration_s > longest_s else example(audio, row["text"])


def _check(learn: Spoken, judge: Spoken, failures: list[tuple[str, str]], long: list[str], settings: Settings) -> None:
    if learn.examples and len(set(judge.speakers)) >= 2:
        return
    counted = f"{len(long)} are longer than {settings.longest_s} s, {len(failures)} failed"
    why = f", first: {failures[0][0]}: {failures[0][1]}" if failures else ""
    who = "to learn from" if not learn.examples else "of two held-out speakers"
    raise TrainingError(f"no utterances {who} can be used ({counted}{why}); repair the corpus or change longest_s")


def texts_of(spoken: Spoken) -> Iterator[str]:
    """What was said, in the letters the network knows."""
    for one in spoken.examples:
        yield "".join(LETTERS[s - 1] for s in one.symbols)
