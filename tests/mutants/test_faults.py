"""The faults that are put into the code, and the table of those that change nothing: both must fit the code."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

from personare.metrics.intervals import student_quantile

from .faults import Finder, mutants_of
from .run import forget, survivors

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).parent / "equivalent.tsv"


def test_every_row_of_the_table_names_a_mutant_that_exists_and_a_reason() -> None:
    with TABLE.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    files = sorted({row["file"] for row in rows})
    keys = {mutant.key for mutant in mutants_of([ROOT / file for file in files], ROOT)}
    stale = [row for row in rows if (row["file"], row["was"], row["now"]) not in keys]
    assert not stale, "the code has changed: look again whether the fault still changes nothing, and correct the row"
    assert all(len(row["reason"].split()) >= 5 for row in rows)
    assert len({(row["file"], row["was"], row["now"]) for row in rows}) == len(rows), "a row stands twice"


def test_a_fault_replaces_one_thing_and_leaves_the_rest() -> None:
    source = 'def first(x: int = 1) -> bool:\n    """Say 2."""\n    return x < 3 and not x == 5\n'
    finder = Finder("some.py", source)
    finder.visit(ast.parse(source))
    changed = {mutant.applied(source).splitlines()[-1].strip() for mutant in finder.found if mutant.line == 3}
    assert changed == {
        "return (x < 3 or not x == 5)",
        "return (x <= 3) and not x == 5",
        "return x < 4 and not x == 5",
        "return x < 3 and (x == 5)",
        "return x < 3 and not (x != 5)",
        "return x < 3 and not x == 6",
    }
    assert [mutant.now for mutant in finder.found if mutant.line == 1] == ["def first(x: int = 2) -> bool:"]
    assert not [mutant for mutant in finder.found if mutant.line == 2], "a docstring is no code"


def test_an_earlier_run_says_which_lived(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "survived: src/a.py:7\n\tx < 1\n\t(x <= 1)\nno test: src/b.py:12\n\treturn 0\n\treturn 1\n"
        "package  mutants\nmetrics  2338\n"
    )
    assert survivors(log) == {("src/a.py", "x < 1", "(x <= 1)"), ("src/b.py", "return 0", "return 1")}


def test_a_remembered_result_is_forgotten_so_that_every_test_that_needs_it_calls_for_it() -> None:
    student_quantile(0.975, 4)
    assert student_quantile.cache_info().currsize > 0
    forget()
    assert student_quantile.cache_info().currsize == 0
