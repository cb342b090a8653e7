"""The list of work of an anonymization: every recording once, in an order that says nothing of the source.

It is a table with one row per utterance; items are made of it one by one, so that a million utterances need no million
objects. Rows of one recording in which each channel is another person are one item.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

from personare.core.errors import OutputError
from personare.core.tables import Corpus
from personare.core.utterances import utterances_in
from personare.engine import shard_of
from personare.pipeline.jobs.anonymize_work import Assignment, Conversation, Item, KnownResult, plain

_ROWS = 4096
_LEAD, _LEAD_SPEAKER = "lead", "lead_speaker"
_FOLDER = r"^(.*)/[^/]*$"


@dataclass(frozen=True, eq=False)
class WorkList:
    """The rows of a corpus with ``lead`` (the item's name) and ``place`` (its path in the target), sorted by place."""

    frame: pl.DataFrame

    def __len__(self) -> int:
        return self.frame[_LEAD].n_unique()

    def shard(self, shard: str | None) -> WorkList:
        """Give the items of one shard; all of them if None."""
        if shard is None:
            return self
        mine = shard_of(shard, self.frame[_LEAD].unique(maintain_order=True).to_list(), name=str)
        return WorkList(self.frame.filter(pl.col(_LEAD).is_in(mine)))

    def assignments(self, known: pl.DataFrame) -> Iterator[Assignment]:
        """Give the items one by one, with what the journal (``lead``, ``source``, ``output``, ``speech_s``) knows."""
        frame = self.frame.join(known, on=_LEAD, how="left", maintain_order="left")
        rows = (row for begin in range(0, len(frame), _ROWS) for row in _rows(frame.slice(begin, _ROWS)))
        for _, group in itertools.groupby(rows, key=lambda row: row[0]):
            together = list(group)
            yield Assignment(_item([utterance for _, utterance, _ in together]), together[0][2])


def _rows(part: pl.DataFrame) -> Iterator[tuple[str, Item, KnownResult | None]]:
    known = part.select("source", "output", "speech_s").iter_rows()
    for lead, utterance, (source, output, speech_s) in zip(part[_LEAD], utterances_in(part), known, strict=True):
        yield lead, utterance, None if output is None else KnownResult(source, output, speech_s)


def _item(people: list[Item]) -> Item:
    first = people[0]
    if isinstance(first, Conversation) or first.person_channel is None:
        return first
    return Conversation(tuple(one for one in people if not isinstance(one, Conversation)))


def with_leads(corpus: Corpus) -> pl.DataFrame:
    """Add to every utterance the name of its item: its own, or the first one's of its recording."""
    frame, one = corpus.frame, [pl.col("utterance").alias(_LEAD), pl.col("speaker").alias(_LEAD_SPEAKER)]
    if "person_channel" not in frame.columns:
        return frame.with_columns(one)
    recording = ["audio", *(c for c in ("start_s", "end_s") if c in frame.columns)]
    several = pl.col("person_channel").is_not_null()
    return frame.with_columns(
        pl.when(several).then(pl.col(c).first().over([*recording, several])).otherwise(pl.col(c)).alias(name)
        for c, name in (("utterance", _LEAD), ("speaker", _LEAD_SPEAKER))
    )


def work_list(corpus: Corpus, name_of: Callable[[str, str], str]) -> WorkList:
    """List the work; ``name_of`` (speaker, utterance) is where a result goes. Ids that would share a file are refused.

    The order of work is that of the new names: it must not tell the order of the source.
    """
    frame = with_leads(corpus)
    frame = frame.with_columns(_places(frame, name_of))
    _refuse_shared(frame)
    return WorkList(frame.sort(pl.col("place").str.extract(r"([^/]*)$"), "place", maintain_order=True))


def _places(frame: pl.DataFrame, name_of: Callable[[str, str], str]) -> pl.Series:
    """Name the results, some at a time: a million names are never Python objects at once."""
    pairs = frame.select(_LEAD_SPEAKER, _LEAD)
    parts = (pairs.slice(begin, _ROWS).iter_rows() for begin in range(0, len(pairs), _ROWS))
    named = [pl.Series("place", [name_of(*pair) for pair in part], dtype=pl.String) for part in parts]
    return pl.concat(named, rechunk=True) if named else pl.Series("place", [], dtype=pl.String)


def refuse_names(corpus: Corpus, suffix: str) -> None:
    """Refuse ids that cannot be kept as names of files; called before anything is written."""
    work_list(corpus, lambda speaker, utterance: f"audio/{plain(speaker)}/{plain(utterance)}.{suffix}")


def _refuse_shared(frame: pl.DataFrame) -> None:
    """Refuse two items whose results would be one file, also on systems that take Anna and anna for the same name."""
    items = frame.select("place", _LEAD, _LEAD_SPEAKER).unique(maintain_order=True)
    items = items.with_columns(_folded(items["place"]).alias("folded"))
    shared = items.filter(pl.col("folded").is_duplicated()).sort("folded", maintain_order=True)
    if len(shared):
        first, second = (f"'{lead}' of '{speaker}'" for _, lead, speaker, _ in shared.head(2).iter_rows())
        raise OutputError(f"{first} and {second} would be written to one file; rename one, or leave out --names keep")
    above = items.select(_LEAD, above=pl.col("folded").str.extract(_FOLDER))
    while len(above := above.drop_nulls()):  # a folder above, then the one above that
        files = above["above"].unique().to_frame().join(items, left_on="above", right_on="folded", how="semi")
        below = above.join(files, on="above", how="semi", maintain_order="left")
        if len(below):
            lead, file = below.row(0)
            raise OutputError(
                f"'{lead}' would be written below '{file}', which is a file; rename one, or leave out --names keep"
            )
        above = above.with_columns(pl.col("above").str.extract(_FOLDER)).unique(
            "above", keep="first", maintain_order=True
        )


def _folded(places: pl.Series) -> pl.Series:
    """Write names as systems compare them that take Anna and anna, or an accent and its letter, for the same."""
    plain_letters = places.str.contains(r"^[\x00-\x7f]*$")
    if plain_letters.all():
        return places.str.to_lowercase()
    return pl.Series(places.name, [unicodedata.normalize("NFC", place).casefold() for place in places], dtype=pl.String)
