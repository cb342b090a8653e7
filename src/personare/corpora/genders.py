"""The many ways corpora write a speaker's gender, brought to f, m, x or unknown."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

# every spelling is compared in lower case, without blanks around it
SPELLINGS: dict[str, str] = {
    **dict.fromkeys(("f", "female", "female_feminine", "feminine", "woman", "w", "girl", "weiblich", "femme"), "f"),
    **dict.fromkeys(("m", "male", "male_masculine", "masculine", "man", "boy", "männlich", "homme"), "m"),
    **dict.fromkeys(("x", "d", "nb", "non-binary", "nonbinary", "non_binary", "diverse", "divers"), "x"),
}
# said to be unknown: no note needed
BLANK = ("", "u", "unk", "unknown", "none", "null", "na", "n/a", "nan", "-", "?", "do_not_wish_to_say", "not_specified")


def normalized(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Bring the column ``gender`` to f, m, x or null, and give spellings nobody knows with their count.

    >>> frame, odd = normalized(pl.DataFrame({"gender": ["Female", "M", "other", None]}))
    >>> frame["gender"].to_list(), spelling_notes([odd])
    (['f', 'm', None, None], ["gender 'other' (1 row) is not known as f, m or x and is left empty"])
    """
    written = frame["gender"].cast(pl.String)
    plain = written.str.strip_chars().str.to_lowercase()
    gender = plain.replace_strict(SPELLINGS, default=None, return_dtype=pl.String).alias("gender")
    odd = written.filter(gender.is_null() & plain.is_not_null() & ~plain.is_in(BLANK))
    return frame.with_columns(gender), odd.value_counts(name="rows")


def spelling_notes(odd: Sequence[pl.DataFrame]) -> list[str]:
    """Give a note for each spelling nobody knows, of any number of parts."""
    if not odd:
        return []
    counts = pl.concat(odd).group_by("gender").agg(pl.col("rows").sum()).sort("gender").rows()
    rows = [(value, f"{n:,} row{'s' if n > 1 else ''}") for value, n in counts]
    return [f"gender '{value}' ({how_many}) is not known as f, m or x and is left empty" for value, how_many in rows]
