"""What a corpus holds, in numbers: speakers, hours, rates, genders, how many utterances each speaker has."""

from __future__ import annotations

import contextlib
import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

import polars as pl

from personare.core.audio import AudioFacts, probe
from personare.core.corpus_parts import CorpusParts, in_parts
from personare.core.pieces import grouped, kept
from personare.core.tables import Corpus
from personare.corpora.problems import Problem, found
from personare.engine import Engine, Result
from personare.pipeline.jobs.spoken_languages import stated_counts

MOST_BARS = 8
Value = TypeVar("Value", int, str)
# a header's length and a written end may differ by rounding
SLACK_S = 0.05
FAR_MORE = 100.0
FEWEST_TO_COMPARE = 3


@dataclass(frozen=True)
class Bar:
    """One bar of a histogram: how many speakers have ``low`` to ``high`` utterances."""

    low: int
    high: int
    speakers: int


@dataclass(frozen=True)
class Part:
    """One part of a corpus, e.g. train."""

    name: str
    utterances: int
    speakers: int


@dataclass(frozen=True)
class CorpusFacts:
    """What a corpus holds.

    ``hours`` come from headers or, without probing, from the table's own times (``hours_from`` says which); None where
    neither is known. Rates, channels and encodings count files and are empty without probing. ``languages`` counts
    utterances by the language that the corpus states.
    """

    utterances: int
    files: int
    speakers: int
    genders: Mapping[str, int]
    least_per_speaker: int
    median_per_speaker: float
    most_per_speaker: int
    histogram: tuple[Bar, ...]
    hours: float | None
    hours_from: str
    rates_hz: Mapping[int, int]
    channels: Mapping[int, int]
    encodings: Mapping[str, int]
    texts: int
    words: int
    parts: tuple[Part, ...]
    languages: Mapping[str, int] = field(default_factory=dict)


def probe_files(corpus: Corpus, engine: Engine) -> Iterator[Result[str, AudioFacts]]:
    """Read the header of every file once; a file that cannot be read is a Result with an error."""
    yield from engine.map(probe_file, corpus.frame["audio"].unique(maintain_order=True).to_list())


def probe_file(path: str) -> AudioFacts:
    """Read the header of one file."""
    return probe(Path(path))


def facts_of(corpus: Corpus, headers: Mapping[str, AudioFacts] | None = None) -> CorpusFacts:
    """Count what a corpus holds; ``headers`` (path -> header) add rates, channels and exact hours."""
    frame = corpus.frame
    each = frame["speaker"].value_counts()["count"].to_list()
    hours, hours_from = _hours(frame, headers)
    known = list((headers or {}).values())
    texts = frame["text"].drop_nulls() if "text" in frame.columns else pl.Series([], dtype=pl.String)
    return CorpusFacts(
        utterances=len(frame),
        files=frame["audio"].n_unique(),
        speakers=len(each),
        genders=_genders(frame),
        least_per_speaker=min(each, default=0),
        median_per_speaker=statistics.median(each) if each else 0.0,
        most_per_speaker=max(each, default=0),
        histogram=histogram(each),
        hours=hours,
        hours_from=hours_from,
        rates_hz=_counted(h.rate_hz for h in known),
        channels=_counted(h.channels for h in known),
        encodings=_counted(h.encoding for h in known),
        texts=len(texts),
        words=int(texts.str.split(" ").list.len().sum()),
        parts=_parts(frame),
        languages=stated_counts(frame),
    )


@dataclass(frozen=True)
class SpeakerCount:
    """A speaker as found, with how many utterances they have."""

    speaker: str
    utterances: int


@dataclass(frozen=True)
class People:
    """How many speakers there are, and those with the most utterances as examples."""

    count: int
    examples: tuple[SpeakerCount, ...]


def people_of(corpus: Corpus | CorpusParts, *, most: int = 3) -> People:
    """Count the speakers, and give a few with the most utterances."""
    counts = (frame["speaker"].value_counts() for frame in in_parts(corpus).frames("speaker"))
    total, examples = 0, pl.DataFrame(schema={"speaker": pl.String, "count": pl.UInt32})
    for one in grouped(counts, "speaker"):
        each = one.group_by("speaker").agg(pl.col("count").sum())
        total += len(each)
        examples = pl.concat([examples, each]).sort("count", "speaker", descending=[True, False]).head(most)
    return People(total, tuple(SpeakerCount(*row) for row in examples.iter_rows()))


def speech_problems(corpus: Corpus | CorpusParts, headers: Mapping[str, AudioFacts] | None = None) -> list[Problem]:
    """Name speakers who have far more speech than the median one: a folder of many people, perhaps.

    Measured in seconds where headers are known, else in bytes, which is near enough to tell a hundredfold.
    """
    files = (frame.unique() for frame in in_parts(corpus).frames("speaker", "audio"))
    amounts = (_amounts(one.unique(), headers) for one in grouped(files, "audio"))
    each = (one.group_by("speaker").agg(pl.col("amount").sum()) for one in grouped(amounts, "speaker"))
    with contextlib.closing(kept(each)) as speakers:
        known = pl.concat(one["amount"].filter(one["amount"] > 0) for one in speakers.frames(["amount"]))
        if len(known) < FEWEST_TO_COMPARE:
            return []
        far_more = pl.col("amount") > FAR_MORE * cast(float, known.median())
        names = (one.filter(far_more)["speaker"].to_list() for one in speakers.frames())
        return found("most-of-the-speech", "speech", sorted(itertools.chain.from_iterable(names)))


def _amounts(files: pl.DataFrame, headers: Mapping[str, AudioFacts] | None) -> pl.DataFrame:
    """Add up how much speech each speaker has in these files (speaker, audio)."""
    amounts = pl.Series("amount", [_amount(audio, headers) for audio in files["audio"]], dtype=pl.Float64)
    return files.with_columns(amounts).group_by("speaker").agg(pl.col("amount").sum())


def _amount(audio: str, headers: Mapping[str, AudioFacts] | None) -> float:
    if headers is not None:
        return headers[audio].duration_s if audio in headers else 0.0
    try:
        return float(Path(audio).stat().st_size)
    except OSError:
        return 0.0


def header_problems(corpus: Corpus, results: Iterable[Result[str, AudioFacts]]) -> list[Problem]:
    """Name the files that cannot be read, and the segments that end after their file."""
    results = list(results)
    problems = found("unreadable-audio", "audio", (r.error or r.item for r in results if not r.ok))
    if "end_s" in corpus.frame.columns:
        ends = {r.item: r.value.duration_s for r in results if r.value is not None}
        rows = corpus.frame.select("utterance", "audio", "end_s").drop_nulls().iter_rows()
        late = [u for u, audio, end_s in rows if audio in ends and end_s > ends[audio] + SLACK_S]
        problems += found("segment-past-end", "audio", late)
    return problems


def histogram(counts: list[int]) -> tuple[Bar, ...]:
    """Group speakers by how many utterances they have: every count its own bar, or a few bars of equal width.

    >>> histogram([10, 10, 24])
    (Bar(low=10, high=10, speakers=2), Bar(low=24, high=24, speakers=1))
    """
    seen = Counter(counts)
    if len(seen) <= MOST_BARS:
        return tuple(Bar(n, n, seen[n]) for n in sorted(seen))
    low = min(seen)
    width = -(-(max(seen) - low + 1) // MOST_BARS)
    inside: Counter[int] = Counter()
    for n, speakers in seen.items():
        inside[(n - low) // width] += speakers
    return tuple(Bar(low + i * width, low + (i + 1) * width - 1, inside[i]) for i in range(max(inside) + 1))


def _genders(frame: pl.DataFrame) -> dict[str, int]:
    """Count speakers by gender, the unknown last."""
    if "gender" not in frame.columns:
        return {"unknown": frame["speaker"].n_unique()}
    each = frame.group_by("speaker").agg(pl.col("gender").drop_nulls().first())
    counts = Counter(each["gender"].fill_null("unknown").to_list())
    return {g: counts[g] for g in ("f", "m", "x", "unknown") if counts[g]}


def _hours(frame: pl.DataFrame, headers: Mapping[str, AudioFacts] | None) -> tuple[float | None, str]:
    """Add up the time of every utterance: its segment, else its file, else what the table says.

    Channels of one recording run at the same time, and count once.
    """
    if "person_channel" in frame.columns:
        frame = frame.unique([c for c in ("audio", "start_s", "end_s") if c in frame.columns], maintain_order=True)
    lacking = [c for c in ("start_s", "end_s", "duration_s") if c not in frame.columns]
    frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(c) for c in lacking)
    if headers is not None:
        lengths = [headers[a].duration_s if a in headers else None for a in frame["audio"]]
        whole, source = pl.Series("whole", lengths, dtype=pl.Float64), "headers"
    else:
        whole, source = frame["duration_s"].cast(pl.Float64).alias("whole"), "table"
    start, end = pl.col("start_s").fill_null(0.0), pl.col("end_s")
    cut = pl.when(end.is_not_null()).then(end - start)
    rest = pl.col("whole") - start if headers is not None else pl.col("whole")
    times = frame.with_columns(whole).select(pl.coalesce(cut, rest)).to_series()
    if headers is None and times.null_count():
        return None, "unknown"
    return float(times.sum()) / 3600, source


def _counted(values: Iterable[Value]) -> dict[Value, int]:
    return dict(sorted(Counter(values).items()))


def _parts(frame: pl.DataFrame) -> tuple[Part, ...]:
    if "part" not in frame.columns:
        return ()
    grouped = frame.group_by(pl.col("part").fill_null("none")).agg(pl.len(), pl.col("speaker").n_unique())
    return tuple(Part(*row) for row in grouped.sort("part").iter_rows())
