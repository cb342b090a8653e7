"""The many ways corpora write a speaker's gender, brought to f, m, x or unknown."""

from __future__ import annotations

import polars as pl

# every spelling is compared in lower case, without blanks around it
SPELLINGS: dict[str, str] = {
    **dict.fromkeys(("f", "female", "female_feminine", "feminine", "woman", "w", "girl", "weiblich", "femme"), "f"),
    **dict.fromkeys(("m", "male", "male_masculine", "masculine", "man", "boy", "männlich", "homme"), "m"),
    **dict.fromkeys(("x", "d", "nb", "non-binary", "nonbinary", "non_binary", "diverse", "divers"), "x"),
}
# said to be unknown: no note needed
BLANK = ("", "u", "unk", "unknown", "none", "null", "na", "n/a", "nan", "-", "?", "do_not_wish_to_say", "not_specified")


def normalized(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Bring the column ``gender`` to f, m, x or null, and give a note for spellings nobody knows.

    >>> frame, notes = normalized(pl.DataFrame({"gender": ["Female", "M", "other", None]}))
    >>> frame["gender"].to_list(), notes
    (['f', 'm', None, None], ["gender 'other' (1 row) is not known as f, m or x and is left empty"])
    """
    plain = frame["gender"].cast(pl.String).str.strip_chars().str.to_lowercase()
    gender = plain.replace_strict(SPELLINGS, default=None, return_dtype=pl.String).alias("gender")
    odd = frame["gender"].filter(gender.is_null() & plain.is_not_null() & ~plain.is_in(BLANK))
    counts = odd.value_counts(sort=False).sort("gender").rows()
    rows = [(value, f"{n:,} row{'s' if n > 1 else ''}") for value, n in counts]
    notes = [f"gender '{value}' ({how_many}) is not known as f, m or x and is left empty" for value, how_many in rows]
    return frame.with_columns(gender), notes
