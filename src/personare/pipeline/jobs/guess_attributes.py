"""Genders and age groups that nobody noted, guessed from the original voices and always marked as predicted.

A guess is for breakdowns over many speakers, never for a statement about one. What was noted is never overwritten:
guesses fill the gaps, and the columns ``gender_predicted`` and ``age_group_predicted`` say where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from personare.core.errors import AudioError
from personare.core.requirements import Requirements
from personare.core.utterances import Utterance, utterances_in
from personare.engine import Engine, Result
from personare.listeners.attributes import guessed
from personare.listeners.paralinguistics import Paralinguistics

UTTERANCES = 6
PREDICTED = "_predicted"


@dataclass(frozen=True)
class Voice:
    """One speaker and a few of their utterances."""

    speaker: str
    sounds: tuple[Utterance, ...]


def guess_voice(voice: Voice) -> dict[str, str]:
    """Guess one speaker's attributes; sounds with no voice in them are passed over, one must be left."""
    rows = []
    reason = AudioError("no sound")
    for utterance in voice.sounds:
        try:
            rows += Paralinguistics()([utterance.read()])
        except AudioError as error:
            reason = error
    if not rows:
        raise reason
    return {kind: guess.value for kind, guess in guessed(rows, None).items()}


@dataclass(frozen=True, eq=False)
class Guesses:
    """The filled table, how many speakers were guessed by kind, and (speaker, reason) where no guess was possible."""

    frame: pl.DataFrame
    speakers: Mapping[str, int]
    failures: tuple[tuple[str, str], ...]

    @property
    def notes(self) -> list[str]:
        """Say in words what was guessed."""
        return [
            f"{kind.replace('_', ' ')} of {count} speakers was guessed by machine from how they sound (predicted)."
            for kind, count in self.speakers.items()
            if count
        ]


def with_guesses(
    frame: pl.DataFrame,
    *,
    engine: Engine,
    kinds: tuple[str, ...] = ("gender",),
    watch: Callable[[Result[Voice, dict[str, str]]], None] = lambda _: None,
) -> Guesses:
    """Fill ``gender`` and ``age_group`` where nobody noted them, each speaker from up to 6 original utterances."""
    Requirements("a guessed gender", {"pyworld": "pitch"}).check()
    frame = frame.with_columns(pl.lit(None, pl.String).alias(kind) for kind in kinds if kind not in frame.columns)
    lacking = frame.filter(pl.any_horizontal(pl.col(kind).is_null() for kind in kinds))
    found: dict[str, dict[str, str]] = {}
    failures = []
    for result in engine.map(guess_voice, voices_of(lacking)):
        watch(result)
        if result.value is None:
            failures.append((result.item.speaker, f"no guess: {result.error}"))
        else:
            found[result.item.speaker] = result.value
    counts = {}
    for kind in kinds:
        frame, counts[kind] = _filled(frame, kind, {speaker: guess[kind] for speaker, guess in found.items()})
    return Guesses(frame, counts, tuple(failures))


def voices_of(frame: pl.DataFrame) -> list[Voice]:
    """List the speakers of a table with their first few utterances."""
    rows: dict[str, list[Utterance]] = {}
    for one in utterances_in(frame.sort("speaker", "utterance")):
        rows.setdefault(one.speaker, []).append(one)
    return [Voice(speaker, tuple(sounds[:UTTERANCES])) for speaker, sounds in rows.items()]


def _filled(frame: pl.DataFrame, kind: str, guesses: Mapping[str, str]) -> tuple[pl.DataFrame, int]:
    """Fill one column; a speaker noted in any utterance is not guessed in another."""
    noted = frame.drop_nulls(kind).unique("speaker", keep="first")
    known = dict(noted.select("speaker", kind).iter_rows())
    values = [value or known.get(speaker) for speaker, value in frame.select("speaker", kind).iter_rows()]
    gaps = [value is None and speaker in guesses for speaker, value in zip(frame["speaker"], values, strict=True)]
    values = [guesses[s] if gap else v for s, v, gap in zip(frame["speaker"], values, gaps, strict=True)]
    filled = frame.with_columns(pl.Series(kind, values, pl.String), pl.Series(kind + PREDICTED, gaps, pl.Boolean))
    return filled, filled.filter(pl.col(kind + PREDICTED))["speaker"].n_unique()


def labels_of(frame: pl.DataFrame, column: str) -> dict[str, str]:
    """Give each utterance its group in words: ``f``, ``m (predicted)``, ``unknown``."""
    marked = column + PREDICTED
    predicted = frame[marked].to_list() if marked in frame.columns else [False] * len(frame)
    return {
        utterance: "unknown" if value is None else f"{value} (predicted)" if guess else str(value)
        for utterance, value, guess in zip(frame["utterance"], frame[column], predicted, strict=True)
    }


def predicted_counts(frame: pl.DataFrame, kind: str) -> dict[str, int]:
    """Count the speakers whose value was guessed, by value."""
    people = frame.filter(pl.col(kind + PREDICTED)).unique("speaker")
    return dict(sorted(people[kind].value_counts().iter_rows()))


def gender_notes(frame: pl.DataFrame) -> Iterator[str]:
    """Say whom an EER compares with whom, and where genders were only guessed."""
    noted = frame.drop_nulls("gender") if "gender" in frame.columns else frame.clear()
    unknown = frame["speaker"].n_unique() - noted["speaker"].n_unique()
    if noted.is_empty():
        yield "Genders are unknown: all speakers were compared with all."
    else:
        yield "EER compares speakers of the same gender only; linkability compares with every enrolled speaker."
    if unknown and not noted.is_empty():
        yield f"The gender of {unknown} speakers is not noted; EER compares them with each other."
    if "gender" + PREDICTED in frame.columns:
        guesses = frame.filter(pl.col("gender" + PREDICTED).cast(pl.String) == "true")["speaker"].n_unique()
        yield f"Genders of {guesses} speakers are predicted: guessed by machine from how they sound, often wrongly."
