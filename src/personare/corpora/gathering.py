"""From the rows a layout gives to a checked Corpus and Trials: every fault found, counted, never dropped in silence.

Rows come in parts of any size: a table in memory is one part, a long manifest has many. Both are checked alike.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from personare.core.corpus_parts import CorpusParts
from personare.core.errors import CorpusError
from personare.core.pieces import Pieces, kept, numbered
from personare.core.tables import Corpus, Trials
from personare.corpora import checks, genders, spoken_languages
from personare.corpora.checks import ROW, Checked
from personare.corpora.problems import Problem, found

# of one row each, in the order in which they are looked for
KINDS = (
    *("no-utterance", "no-speaker", "unsafe-name", "duplicate-utterance"),
    *("missing-audio", "not-a-file", "outside-link", "orphan-entry", "bad-segment"),
)
UNUSED = ("gender", "text", "start_s", "end_s", "part", "language")  # left out where no row has them
Rows = Callable[[Sequence[str] | None], Iterable[pl.DataFrame]]  # all rows, of some columns or (None) of all


@dataclass(frozen=True)
class Reading:
    """What a layout was read as: the corpus, why this layout, every problem met, and notes worth a line.

    Rows that could not be kept are named in ``problems``; whoever uses ``corpus`` shows them.
    """

    corpus: Corpus
    layout: str
    evidence: str
    problems: tuple[Problem, ...] = ()
    trials: Trials | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PartsReading:
    """A Reading whose corpus comes in parts; ``corpus.close()`` removes what was kept of it."""

    corpus: CorpusParts
    layout: str
    evidence: str
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


def gather(
    frame: pl.DataFrame,
    *,
    layout: str,
    evidence: str,
    place: str,
    problems: Iterable[Problem] = (),
    notes: Iterable[str] = (),
    trials: Trials | None = None,
    present: bool = True,
) -> Reading:
    """Check candidate rows (utterance, speaker, audio as full path, and what else is known) and make the Reading.

    ``present`` leaves out what names no file; False where files lie elsewhere.
    """
    parts = gather_parts(
        lambda names: [frame.select(names or pl.all())],
        layout=layout,
        evidence=evidence,
        place=place,
        problems=problems,
        notes=notes,
        present=present,
    )
    with contextlib.closing(parts.corpus):
        return Reading(parts.corpus.whole(), layout, evidence, parts.problems, trials, parts.notes)


def gather_parts(
    rows: Rows,
    *,
    layout: str,
    evidence: str,
    place: str,
    problems: Iterable[Problem] = (),
    notes: Iterable[str] = (),
    present: bool = True,
) -> PartsReading:
    """Check candidate rows that come in parts; ``rows`` is called twice."""
    names = tuple(Corpus.required)
    again = checks.repeated(_kept_rows(numbered(rows(names), ROW), (checks.named, checks.safe), place, {}))
    row_checks = (
        checks.named,
        checks.safe,
        functools.partial(checks.first_only, again=again),
        *((checks.present, checks.inside) if present else (checks.elsewhere,)),
        checks.possible,
    )
    faults: dict[str, list[str]] = {}
    odd_genders: list[pl.DataFrame] = []
    odd_languages: list[pl.DataFrame] = []
    checked = _kept_rows(numbered(rows(None), ROW), row_checks, place, faults)
    pieces = kept(_good_rows(checked, odd_genders, odd_languages))
    try:
        met = [*problems, *(p for kind in KINDS for p in found(kind, place, _each(kind, faults)))]
        if not any(len(frame) for frame in pieces.frames([ROW])):
            why = f" ({met[0].line})" if met else ""
            raise CorpusError(f"{place}: read as '{layout}', no utterance is left{why}")
        more, corpus = _whole_corpus(pieces, place)
    except BaseException:
        pieces.close()
        raise
    spellings = (*genders.spelling_notes(odd_genders), *spoken_languages.spelling_notes(odd_languages))
    return PartsReading(corpus, layout, evidence, (*met, *more), (*notes, *spellings))


def _each(kind: str, faults: dict[str, list[str]]) -> Iterable[str]:
    names = faults.get(kind, [])
    return dict.fromkeys(names) if kind == "duplicate-utterance" else names


def _kept_rows(
    frames: Iterable[pl.DataFrame],
    row_checks: Sequence[Callable[[pl.DataFrame, str], Checked]],
    place: str,
    faults: dict[str, list[str]],
) -> Iterator[pl.DataFrame]:
    """Give the rows that pass checks of one row each, and note the names of the others by the kind of fault."""
    for frame in frames:
        for check in row_checks:
            frame, problems = check(frame, place)
            for problem in problems:
                faults.setdefault(problem.kind, []).extend(problem.names)
        yield frame


def _good_rows(
    frames: Iterable[pl.DataFrame], odd_genders: list[pl.DataFrame], odd_languages: list[pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    """Give the rows in the house's spelling, and note the spellings of genders and languages that nobody knows."""
    for frame in frames:
        good = checks.trimmed(frame)
        if "gender" in good.columns:
            good, odd = genders.normalized(good)
            odd_genders.append(odd)
        if "language" in good.columns:
            good, odd = spoken_languages.normalized(good)
            odd_languages.append(odd)
        yield Corpus.typed(good)


def _whole_corpus(pieces: Pieces, place: str) -> tuple[list[Problem], CorpusParts]:
    """Ask what needs all rows of a file or a speaker, and give the corpus without the columns that nobody uses."""
    columns = [column for column in next(pieces.frames()).columns if column != ROW]
    track = _among(("audio", "person_channel"), columns)
    times = _among(checks.TIMES, columns)
    inside, again = checks.crowded(pieces.frames([ROW, "utterance", *track, *times]), track)
    problems = [*found("overlapping-segment", place, inside), *found("duplicate-file", place, again)]
    mixed = checks.mixed(pieces.frames(["speaker", "gender"])) if "gender" in columns else []

    def read(asked: Sequence[str]) -> Iterator[pl.DataFrame]:
        for frame in pieces.frames(list({*asked, "speaker"})):
            if mixed and "gender" in asked:
                known = pl.when(~pl.col("speaker").is_in(mixed)).then(pl.col("gender")).alias("gender")
                yield frame.with_columns(known).select(asked)
            else:
                yield frame.select(asked)

    asked = ["speaker", *_among(UNUSED, columns)]
    counts = [frame.select(pl.all().count(), pl.len().alias(ROW)) for frame in read(asked)]
    used = pl.concat(counts).sum().row(0, named=True)
    if used.get("text"):  # no transcripts at all is a fact, not a fault
        problems += found("empty-text", place, checks.without_text(pieces.frames(["utterance", "text"])))
    problems += found("mixed-gender", place, mixed)
    left = tuple(column for column in columns if used.get(column, 1))
    return problems, CorpusParts(left, used[ROW], read, pieces.close)


def _among(names: Iterable[str], columns: Sequence[str]) -> list[str]:
    return [name for name in names if name in columns]


def checked_trials(
    rows: Sequence[tuple[str, str, bool]], *, tests: set[str], enrolls: set[str] | None, bad: list[str], place: str
) -> tuple[Trials | None, list[Problem]]:
    """Make Trials of the rows whose utterances are there (``enrolls`` None: enrolled elsewhere), each once."""
    frame = pl.DataFrame(rows, schema={"enroll": pl.String, "test": pl.String, "target": pl.Boolean}, orient="row")
    known = frame["test"].is_in(list(tests))
    if enrolls is not None:
        known &= frame["enroll"].is_in(list(enrolls))
    first = frame.select(pl.struct("enroll", "test").is_first_distinct()).to_series()
    problems = [
        *found("bad-line", place, bad),
        *found("bad-trial", place, [f"{e} {t}" for e, t, _ in frame.filter(~known).iter_rows()]),
        *found("duplicate-trial", place, [f"{e} {t}" for e, t, _ in frame.filter(known & ~first).iter_rows()]),
    ]
    kept = frame.filter(known & first)
    return (None if kept.is_empty() else Trials(kept)), problems


def refuse_person_channels(frame: pl.DataFrame, place: str) -> None:
    """Refuse recordings in which each channel is another person, where one file must be one person."""
    if "person_channel" in frame.columns:
        raise CorpusError(
            f"{place}: each channel of a file is another person, and this command listens to one person per file; "
            "write each channel into a file of its own first"
        )


def orphans(root: str, audio: Iterable[pl.Series], entries: Iterable[pl.Series], *, place: str) -> list[Problem]:
    """Find the audio files below a folder (relative paths) that no entry (full paths) names."""
    whole = (pl.select(pl.concat_str(pl.lit(f"{root}/"), pl.lit(names))).to_series() for names in audio)
    return found("orphan-audio", place, [name[len(root) + 1 :] for name in checks.unnamed(whole, entries)])


def idle_speakers(listed: pl.Series | Iterable[str], speakers: Iterable[pl.Series], *, place: str) -> list[Problem]:
    """Find the listed speakers that no row belongs to."""
    names = listed if isinstance(listed, pl.Series) else pl.Series(list(listed), dtype=pl.String)
    return found("idle-speaker", place, checks.unnamed([names], speakers))
