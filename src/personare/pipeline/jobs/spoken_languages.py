"""The language of every recording: stated by the corpus or the user, or identified and always marked as detected.

``language_predicted`` is true in every row whose language a machine identified.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.anonymizers.neural.words.languages import MODELS, identify, overall_language
from personare.core.audio import resample
from personare.core.files import write_text
from personare.core.language_codes import AUTO, checked_language, language_title
from personare.core.requirements import Requirements
from personare.core.spoken import NOTHING_KNOWN
from personare.core.utterances import Utterance, utterances_in
from personare.engine import Engine, Result, Serial
from personare.languages import LANGUAGES
from personare.pipeline.jobs.speaker_survey import survey_rank

LANGUAGE, PREDICTED = "language", "language_predicted"
SAMPLE = 20
RATE_HZ, MOST_S = 16_000, 30.0
NOT_GIVEN = "not given"
Watch = Callable[[Result[Utterance, "DetectedLanguage"]], None]


@dataclass(frozen=True)
class DetectedLanguage:
    """The language of most speech of a recording ("": no speech), and the probability of it."""

    language: str
    confidence: float


def detect_language(one: Utterance) -> DetectedLanguage:
    """Identify the language of the first 30 s of a recording."""
    samples = resample(one.read(), RATE_HZ).samples[: round(MOST_S * RATE_HZ)]
    stretches = identify(samples, language=AUTO, speaker=NOTHING_KNOWN, spoken=tuple(LANGUAGES))
    return DetectedLanguage(*overall_language(stretches))


@dataclass(frozen=True, eq=False)
class Detections:
    """What was identified, by utterance, and (utterance, reason) where nothing could be."""

    languages: Mapping[str, DetectedLanguage]
    failures: tuple[tuple[str, str], ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Recordings by language, the most frequent first; those without speech are left out."""
        counted = Counter(one.language for one in self.languages.values() if one.language)
        return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))

    def others(self, code: str) -> list[str]:
        """Name the recordings that sound like another language than this."""
        return sorted(name for name, one in self.languages.items() if one.language not in ("", code))


def detect(utterances: Sequence[Utterance], *, engine: Engine, watch: Watch = lambda _: None) -> Detections:
    """Identify the language of recordings."""
    Requirements("identifying languages", models=MODELS).check()
    languages: dict[str, DetectedLanguage] = {}
    failures = []
    for result in engine.map(detect_language, list(utterances)):
        watch(result)
        if result.value is None:
            failures.append((result.item.utterance, f"its language was not identified: {result.error}"))
        else:
            languages[result.item.utterance] = result.value
    return Detections(languages, tuple(failures))


def sample_of(frame: pl.DataFrame, *, most: int = SAMPLE) -> list[Utterance]:
    """Choose a few recordings of as many speakers as possible, by names alone."""
    each: dict[str, list[Utterance]] = {}
    for one in utterances_in(frame):
        each.setdefault(one.speaker, []).append(one)
    for own in each.values():
        own.sort(key=lambda one: survey_rank(one.speaker, one.utterance))
    turns = [(place, survey_rank(one.speaker, ""), one) for own in each.values() for place, one in enumerate(own)]
    return [one for *_, one in sorted(turns, key=lambda turn: turn[:2])[:most]]


@dataclass(frozen=True, eq=False)
class WithLanguages:
    """A table whose column ``language`` is filled, and what a reader must know about it."""

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    failures: tuple[tuple[str, str], ...] = ()


def with_languages(
    frame: pl.DataFrame, language: str | None, *, engine: Engine, watch: Watch = lambda _: None
) -> WithLanguages:
    """Fill the column ``language``: by a code for all rows, or by identification (``auto``); None changes nothing."""
    if language is None:
        return WithLanguages(frame)
    code = checked_language(language, where="language")
    if code != AUTO:
        return WithLanguages(frame.with_columns(pl.lit(code).alias(LANGUAGE)).drop(PREDICTED, strict=False))
    found = detect(list(utterances_in(frame)), engine=engine, watch=watch)
    known = {name: one.language or None for name, one in found.languages.items()}
    values = pl.Series(LANGUAGE, [known.get(name) for name in frame["utterance"]], dtype=pl.String)
    filled = frame.with_columns(values, values.is_not_null().alias(PREDICTED))
    return WithLanguages(filled, (f"Languages were detected: {counts_text(found.counts)}.",), found.failures)


def filled_languages(frame: pl.DataFrame, language: str | None, *, memory: Path) -> WithLanguages:
    """Fill the column as ``with_languages`` does; recordings that were identified before are looked up in a file."""
    if language != AUTO:
        return with_languages(frame, language, engine=Serial())
    known: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):  # nothing kept, or damaged: everything is identified anew
        known = dict(json.loads(memory.read_text(encoding="utf-8")))
    names = {one.utterance: _state(one) for one in utterances_in(frame)}
    new = [one for one in utterances_in(frame) if names[one.utterance] not in known]
    found = detect(new, engine=Serial()) if new else Detections({})
    known |= {names[name]: one.language for name, one in found.languages.items()}
    if new and memory.parent.is_dir():
        write_text(memory, json.dumps(known, sort_keys=True))
    values = pl.Series(LANGUAGE, [known.get(names[name]) or None for name in frame["utterance"]], dtype=pl.String)
    filled = frame.with_columns(values, values.is_not_null().alias(PREDICTED))
    return WithLanguages(filled, (f"languages were detected: {counts_text(stated_counts(filled))}",), found.failures)


def _state(one: Utterance) -> str:
    """Name a recording by its file, its size and date, and the part of it."""
    with contextlib.suppress(OSError):
        facts = one.audio.stat()
        return f"{one.audio} {facts.st_size} {facts.st_mtime_ns} {one.start_s} {one.end_s} {one.person_channel}"
    return str(one.audio)


def stated_counts(frame: pl.DataFrame) -> dict[str, int]:
    """Count the utterances by the language that the corpus states, the most frequent first, those without one last.

    >>> stated_counts(pl.DataFrame({"utterance": ["a", "b", "c"], "language": ["de", "de", None]}))
    {'de': 2, 'not given': 1}
    """
    if LANGUAGE not in frame.columns:
        return {NOT_GIVEN: len(frame)}
    counted = Counter(frame[LANGUAGE].fill_null("").to_list())
    lacking = counted.pop("", 0)
    counts = dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
    return {**counts, **({NOT_GIVEN: lacking} if lacking else {})}


def counts_text(counts: Mapping[str, int]) -> str:
    """Write languages and their numbers of recordings.

    >>> counts_text({"de": 3, "not given": 1})
    'German (de) 3, not given 1'
    """
    return ", ".join(f"{language_title(code)} {count:,}" for code, count in counts.items()) or "none"
