"""Two runs side by side: the same run does not differ, another one does where its intervals do not overlap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from personare.core.findings import Estimate, Finding
from personare.metrics import card
from personare.reports.compare import (
    FindingPair,
    compare_runs,
    comparison_rows,
    headline,
    page_of_comparison,
    write_comparison,
)
from reports.runs import write_run, write_small_run


def finding(value: float, wide: float, name: str = "linkability") -> Finding:
    return Finding(card(name), Estimate(value, value - wide, value + wide, 9), {"anonymizer": "b2", "attacker": "lazy"})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs that agree but for one method's word error rate; the second has no singling out and another label."""
    first = write_run(tmp_path_factory.mktemp("one"))
    second = write_run(tmp_path_factory.mktemp("two"), title="Another")
    frame = pl.read_parquet(second / "findings.parquet").filter(pl.col("metric") != "singling_out")
    moved = (pl.col("metric") == "wer") & (pl.col("anonymizer") == "b2")
    columns = [pl.when(moved).then(pl.col(c) + 0.3).otherwise(pl.col(c)).alias(c) for c in ("value", "low", "high")]
    frame.with_columns(*columns, corpus=pl.lit("other")).write_parquet(second / "findings.parquet")
    return first, second


def test_overlap_difference_and_which_is_better() -> None:
    near, far = FindingPair(finding(0.5, 0.1), finding(0.6, 0.1)), FindingPair(finding(0.5, 0.1), finding(0.9, 0.1))
    assert near.overlap == "yes" and far.overlap == "no" and far.difference == pytest.approx(0.4)
    assert far.better == "1", "lower linkability is safer"
    assert FindingPair(finding(0.1, 0.01, "eer"), finding(0.3, 0.01, "eer")).better == "2", "a higher EER is safer"
    unknown = replace(finding(0.5, 0.1), estimate=Estimate(0.5, float("nan"), float("nan"), 1))
    assert FindingPair(unknown, finding(0.5, 0.1)).overlap == "unknown" and FindingPair(unknown, unknown).better == "-"


def test_only_what_moved_differs(runs: tuple[Path, Path], tmp_path: Path) -> None:
    found = compare_runs(*runs)
    apart = [p for p in found.pairs if p.overlap == "no"]
    assert {(p.first.metric.name, p.first.conditions["anonymizer"]) for p in apart} == {("wer", "b2")}
    assert all(p.better == "1" for p in apart) and found.only_first == 36 and found.only_second == 0
    assert f"{len(apart)} of them differ beyond their intervals" in found.sentence
    head, rows = comparison_rows(found)
    assert all(len(row) == len(head) for row in rows) and len(rows) == len(headline(found)) < len(found.pairs)
    moved = next(row for row in rows if row[0] == "b2" and row[1] == "moonshine")
    assert moved[6] == "+30.0 points" and moved[7] == "no" and moved[8] == "1"
    written = write_comparison(found, tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert written[0] == tmp_path / "report.html" and "12.0\u00a0% became 42.0\u00a0%" in text and "run 2" in text


def test_a_run_against_itself_and_runs_with_nothing_in_common(runs: tuple[Path, Path], tmp_path: Path) -> None:
    same = compare_runs(runs[0], runs[0])
    assert not [p for p in same.pairs if p.overlap == "no"] and same.only_first == 0
    lone = write_small_run(tmp_path)
    frame = pl.read_parquet(lone / "findings.parquet").with_columns(anonymizer=pl.lit("b9"))
    frame.write_parquet(lone / "findings.parquet")
    page = page_of_comparison(compare_runs(runs[0], lone))
    assert page.sections[0].blocks[0].kind == "notice" and not page.figures
