"""A Corpus written as a Kaldi data directory, for tools that read nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from personare.core.errors import CorpusError
from personare.core.files import refuse_full, write_text
from personare.core.tables import Corpus, Trials

BLANK = re.compile(r"\s")


def write_kaldi(corpus: Corpus, folder: Path, *, trials: Trials | None = None) -> None:
    """Write wav.scp, utt2spk, spk2utt and, where known, segments, spk2gender, text, utt2lang, trials.

    Lists are sorted by bytes, as Kaldi wants them; audio is named by its full path and not copied. A gender 'x' is
    written as it is, though Kaldi's own checks know only f and m.
    """
    refuse_full(folder)
    frame = corpus.frame
    _refuse_blanks(frame)
    write_text(folder / "utt2spk", _listed(frame.select("utterance", "speaker").iter_rows()))
    together = frame.sort("utterance").group_by("speaker").agg(pl.col("utterance").str.join(" "))
    write_text(folder / "spk2utt", _listed(together.iter_rows()))
    _write_sounds(frame, folder)
    if "gender" in frame.columns:
        genders = frame.select("speaker", "gender").drop_nulls().unique()
        write_text(folder / "spk2gender", _listed(genders.iter_rows()))
    if "text" in frame.columns:
        texts = frame.select("utterance", "text").drop_nulls()
        write_text(folder / "text", _listed((u, " ".join(t.split())) for u, t in texts.iter_rows()))
    if "language" in frame.columns:
        write_text(folder / "utt2lang", _listed(frame.select("utterance", "language").drop_nulls().iter_rows()))
    if trials is not None:
        asked = trials.frame.select("enroll", "test", "target").iter_rows()
        lines = (f"{enroll} {test} {'target' if target else 'nontarget'}\n" for enroll, test, target in asked)
        write_text(folder / "trials", "".join(lines))


def _listed(rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(f"{' '.join(row)}\n" for row in sorted(rows))


def _refuse_blanks(frame: pl.DataFrame) -> None:
    for column in ("utterance", "speaker"):
        odd = [name for name in frame[column].unique(maintain_order=True) if BLANK.search(name)]
        if odd:
            rule = f"Kaldi ids cannot hold blanks; {len(odd)} {column} ids do (first: '{odd[0]}')"
            raise CorpusError(f"{rule}; rename them or convert to parquet")
    odd = [p for p in frame["audio"] if p != p.strip() or p.endswith("|") or "\n" in p or "\r" in p or "\t" in p]
    if odd:
        raise CorpusError(f"a path in wav.scp cannot begin or end with a blank or '|' ({odd[0]!r}); rename the file")


def _write_sounds(frame: pl.DataFrame, folder: Path) -> None:
    """Write wav.scp, and segments where an utterance is a piece of a longer file."""
    if "start_s" not in frame.columns and "end_s" not in frame.columns:
        write_text(folder / "wav.scp", _listed(frame.select("utterance", "audio").iter_rows()))
        return
    # a recording takes the id of its first utterance, which is unique already
    first = frame.sort("utterance").unique("audio", keep="first", maintain_order=True)
    recordings = dict(first.select("audio", "utterance").iter_rows())
    write_text(folder / "wav.scp", _listed((key, audio) for audio, key in recordings.items()))
    absent = [pl.lit(None, dtype=pl.Float64).alias(c) for c in ("start_s", "end_s") if c not in frame.columns]
    cuts = frame.with_columns(absent).select("utterance", "audio", "start_s", "end_s")
    rows = [
        (utterance, recordings[audio], repr(start_s or 0.0), "-1" if end_s is None else repr(end_s))
        for utterance, audio, start_s, end_s in cuts.iter_rows()
    ]
    write_text(folder / "segments", _listed(rows))
