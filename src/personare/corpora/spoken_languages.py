"""The many ways corpora write the language of an utterance, brought to its code (``de``) or unknown."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from personare.core.language_codes import is_blank, language_code


def normalized(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Bring the column ``language`` to codes or null, and give spellings that are no language with their count.

    >>> frame, odd = normalized(pl.DataFrame({"language": ["German", "pt-BR", "", "Klingon language", None]}))
    >>> frame["language"].to_list(), spelling_notes([odd])
    (['de', 'pt', None, None, None], ["language 'Klingon language' (1 row) is no language code and is left empty"])
    """
    written = frame["language"].cast(pl.String)
    values = written.drop_nulls().unique().to_list()
    codes = {value: None if is_blank(value) else language_code(value) for value in values}
    language = written.replace_strict(codes, default=None, return_dtype=pl.String).alias("language")
    unknown = [value for value, code in codes.items() if code is None and not is_blank(value)]
    return frame.with_columns(language), written.filter(written.is_in(unknown)).value_counts(name="rows")


def spelling_notes(odd: Sequence[pl.DataFrame]) -> list[str]:
    """Give a note for each spelling that is no language, of any number of parts."""
    if not odd:
        return []
    counts = pl.concat(odd).group_by("language").agg(pl.col("rows").sum()).sort("language").rows()
    rows = [(value, f"{n:,} row{'s' if n > 1 else ''}") for value, n in counts]
    return [f"language '{value}' ({how_many}) is no language code and is left empty" for value, how_many in rows]
