"""Reading other people's score files: who was compared with whom, how alike they seemed, and what was true.

Known kinds, told apart by what stands in the file:

* Kaldi text ``enroll test score``, with a trials key ``enroll test target|nontarget`` beside it
* text ``enroll test score target|nontarget`` or just ``score target|nontarget`` (columns in any sensible order)
* a table (.parquet, or .tsv with a header) with columns score and target, and enroll and test where known
* NumPy .npz with arrays ``targets`` and ``nontargets``, or ``score`` and ``target`` with ``enroll`` and ``test``

What a file tells about people: ``enroll`` names enrolled speakers, ``test`` names recordings. Who speaks in a recording
follows from its target trial, where it has exactly one; other recordings are of people the file does not name. A file
without names gives scores only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from personare.core.embedding_files import UNREADABLE, reason_of
from personare.core.errors import TableError
from personare.core.npz import opened_npz
from personare.core.tables import read_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

LABELS = {"target": True, "nontarget": False, "non-target": False, "impostor": False, "true": True, "false": False}


@dataclass(frozen=True, eq=False)
class FileScores:
    """The scores of one file, and the people it names.

    Parameters
    ----------
    targets, nontargets : scores [t] and [n].
    target_enrolled, nontarget_enrolled : the enrolled speaker of each trial; None where the file names nobody.
    nontarget_tested : who speaks in each nontarget trial; a recording of somebody the file does not name counts as a
        person of its own. None where nobody is named, or where one recording has several enrolled speakers as target.
    tested_known : whether the file tells of every recording who speaks.
    """

    name: str
    targets: NDArray[np.float64]
    nontargets: NDArray[np.float64]
    target_enrolled: NDArray[np.str_] | None = None
    nontarget_enrolled: NDArray[np.str_] | None = None
    nontarget_tested: NDArray[np.str_] | None = None
    tested_known: bool = False


def read_scores(path: Path, *, key: Path | None = None) -> FileScores:
    """Read a score file of any known kind; ``key`` is the trials file that says which trials are targets."""
    if not path.is_file():
        raise TableError(f"{path}: no such file")
    headed = path.suffix == ".tsv" and _first_words(path)[0] in ("enroll", "test", "score", "target")
    if path.suffix == ".npz":
        frame = _from_arrays(path)
    elif path.suffix == ".parquet" or headed:
        frame = read_frame(path)
    else:
        frame = _from_text(path)
    if key is not None:
        frame = _with_key(frame, path, key)
    return _split(_checked(frame, path), path)


def _from_text(path: Path) -> pl.DataFrame:
    """Name the columns of a text file by their number and content."""
    table = _words(path)
    if table.width == 3:
        return table.rename({"1": "enroll", "2": "test", "3": "score"})
    first = table.row(0)
    labels = [i for i, word in enumerate(first) if word.lower() in LABELS]
    if table.width not in (2, 4) or len(labels) != 1 or (table.width == 4 and labels[0] < 2):
        rule = "each line must be 'enroll test score', 'enroll test score target|nontarget' or 'score target|nontarget'"
        raise TableError(f"{path}: {rule}; line 1 is '{' '.join(first)}'")
    label = labels[0]
    names = ["enroll", "test", "", ""] if table.width == 4 else ["", ""]
    names[label] = "target"
    names[names.index("")] = "score"
    return table.rename(dict(zip(table.columns, names, strict=True)))


def _words(path: Path) -> pl.DataFrame:
    """Read white-space separated text into columns "1", "2", ...; every line must have as many words as the first."""
    count = len(_first_words(path))
    try:
        lines = pl.read_csv(path, has_header=False, separator="\x01", quote_char=None, new_columns=["line"])
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: cannot be read as text ({str(error).splitlines()[0]})") from None
    words = lines.with_row_index("number", offset=1).with_columns(pl.col("line").cast(pl.String).str.strip_chars())
    words = words.filter(pl.col("line") != "")
    split = words.with_columns(pl.col("line").str.replace_all(r"\s+", " ").str.split(" "))
    odd = split.filter(pl.col("line").list.len() != count)
    if len(odd):
        where = f"line {odd['number'][0]} has {len(odd['line'][0])}"
        raise TableError(f"{path}: every line must have {count} columns as the first one; {where}")
    return split.select(pl.col("line").list.get(i).alias(str(i + 1)) for i in range(count))


def _first_words(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8") as stream:
            for line in stream:
                if line.strip():
                    return line.split()
    except (OSError, UnicodeDecodeError):
        raise TableError(f"{path}: not a text file of scores; known kinds: Kaldi text, .tsv, .parquet, .npz") from None
    raise TableError(f"{path}: the file is empty")


def _from_arrays(path: Path) -> pl.DataFrame:
    try:
        with opened_npz(path) as file:
            arrays = {name: file[name] for name in file.files}
    except UNREADABLE as error:
        raise TableError(f"{path}: not a NumPy .npz file of plain arrays ({reason_of(error)})") from None
    for name, array in arrays.items():
        if array.ndim != 1:
            raise TableError(f"{path}: array '{name}' must be one list, not of shape {list(array.shape)}")
    if {"targets", "nontargets"} <= set(arrays):
        t, n = arrays["targets"], arrays["nontargets"]
        return pl.DataFrame({"score": np.concatenate([t, n]), "target": np.arange(len(t) + len(n)) < len(t)})
    try:
        return pl.DataFrame({name: arrays[name] for name in ("enroll", "test", "score", "target") if name in arrays})
    except pl.exceptions.PolarsError:
        sizes = ", ".join(f"{name} {len(array)}" for name, array in arrays.items())
        raise TableError(f"{path}: arrays must be equally long, not {sizes}") from None


def _with_key(frame: pl.DataFrame, path: Path, key: Path) -> pl.DataFrame:
    """Give each score the truth of its trial; scores without trial and trials without score are errors."""
    if "target" in frame.columns:
        raise TableError(f"{path}: tells itself which trials are targets; leave --key out")
    if not {"enroll", "test"} <= set(frame.columns):
        raise TableError(f"{path}: without enroll and test the key {key} cannot be used")
    if not key.is_file():
        raise TableError(f"{key}: no such file")
    trials = _words(key)
    if trials.width != 3:
        raise TableError(f"{key}: each line must be 'enroll test target|nontarget'; it has {trials.width} columns")
    trials = trials.rename({"1": "enroll", "2": "test", "3": "target"})
    _refuse_repeats(trials, key)
    joined = frame.join(trials, on=["enroll", "test"], how="left", maintain_order="left")
    missing = joined.filter(pl.col("target").is_null())
    if len(missing):
        raise TableError(f"{path}: {_some(missing, f'scored trials are not in the key {key}')}")
    unscored = trials.join(frame, on=["enroll", "test"], how="anti")
    if len(unscored):
        raise TableError(f"{path}: {_some(unscored, f'trials of the key {key} have no score')}")
    return joined


def _checked(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Check columns, numbers, labels, repeated trials and that both classes are there."""
    if "score" not in frame.columns:
        known = ", ".join(frame.columns) or "none"
        raise TableError(f"{path}: needs a column 'score' (or arrays 'targets' and 'nontargets'); there are: {known}")
    if "target" not in frame.columns:
        raise TableError(f"{path}: does not say which trials are targets; give the trials file with --key")
    if not len(frame):
        raise TableError(f"{path}: the file is empty")
    words = frame["score"]
    frame = frame.with_columns(pl.col("score").cast(pl.Float64, strict=False), _truth(frame["target"], path))
    bad = ~(frame["score"].is_finite().fill_null(False))
    if bad.any():
        first = bad.arg_max() or 0
        raise TableError(
            f"{path}: {bad.sum()} scores are no finite numbers (first: '{words[first]}' in trial {first + 1})"
        )
    if {"enroll", "test"} <= set(frame.columns):
        _refuse_repeats(frame, path)
    for kind, there in (("target", frame["target"].any()), ("nontarget", not frame["target"].all())):
        if not there:
            raise TableError(f"{path}: there are no {kind} trials; scores of both classes are needed")
    return frame


def _truth(column: pl.Series, path: Path) -> pl.Series:
    """Read yes or no from words, booleans or 0 and 1."""
    if column.dtype == pl.Boolean and not column.has_nulls():
        return column
    if column.dtype.is_numeric() and column.is_in([0, 1]).all() and not column.has_nulls():
        return column.cast(pl.Boolean)
    words = column.cast(pl.String).str.to_lowercase()
    truth = words.replace_strict(LABELS, default=None, return_dtype=pl.Boolean)
    if truth.has_nulls():
        first = truth.is_null().arg_max() or 0
        raise TableError(f"{path}: a trial is 'target' or 'nontarget', not '{column[first]}' (trial {first + 1})")
    return truth


def _refuse_repeats(frame: pl.DataFrame, path: Path) -> None:
    repeated = frame.filter(frame.select("enroll", "test").is_duplicated())
    if len(repeated):
        raise TableError(f"{path}: a trial must stand once; {_some(repeated, 'lines repeat one')}")


def _some(trials: pl.DataFrame, what: str) -> str:
    return f"{len(trials)} {what} (first: '{trials['enroll'][0]} {trials['test'][0]}')"


def _split(frame: pl.DataFrame, path: Path) -> FileScores:
    target, score = frame["target"].to_numpy(), frame["score"].to_numpy()
    found = FileScores(path.stem, score[target], score[~target])
    if "enroll" not in frame.columns:
        return found
    enroll = frame["enroll"].cast(pl.String).to_numpy().astype(str)
    found = replace(found, target_enrolled=enroll[target], nontarget_enrolled=enroll[~target])
    if "test" not in frame.columns:
        return found
    test = frame["test"].cast(pl.String).to_numpy().astype(str)
    speakers = dict(zip(test[target].tolist(), enroll[target].tolist(), strict=True))
    if len(speakers) < target.sum():
        return found
    others = test[~target].tolist()
    tested = np.array([speakers.get(name, f"unnamed speaker of {name}") for name in others], dtype=str)
    return replace(found, nontarget_tested=tested, tested_known=speakers.keys() >= set(others))
