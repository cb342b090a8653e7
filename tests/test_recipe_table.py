"""The tables of docs/reference/recipes: one for each corpus, no row of one corpus in the place of another's."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

from benchmark_modules import benchmark

COLUMNS = ["corpus", "anonymizer", "attacker", "L", "N", "metric", "value", "low", "high", "chance", "other"]


def findings(*rows: tuple[str | None, float]) -> pl.DataFrame:
    whole = [(corpus, "b1", "informed", 1, None, "eer", value, None, None, 0.5, None) for corpus, value in rows]
    types = {"N": pl.Int64, "low": pl.Float64, "high": pl.Float64, "corpus": pl.String, "other": pl.String}
    return pl.DataFrame(whole, schema=COLUMNS, orient="row", schema_overrides=types)


def test_each_corpus_has_a_table_of_its_own() -> None:
    shown = benchmark("recipe_table").tables(findings(("many", 0.2), ("long", 0.3)), ["eer"], by="attacker", sizes=True)
    many, long = shown.split("\nlong\n\n")
    assert many.startswith("many\n\n") and "| 20.0 |" in many and "| 30.0 |" not in many
    assert "| 30.0 |" in long and "| 20.0 |" not in long


def test_one_corpus_needs_no_name_and_may_have_none() -> None:
    for name in ("demo", None):
        shown = benchmark("recipe_table").tables(findings((name, 0.25)), ["eer"], by="attacker", sizes=False)
        assert shown.startswith("| method | attacker | L | EER % |") and "| b1 | informed | L = 1 | 25.0 |" in shown


def test_a_guesser_stands_in_the_table_of_every_corpus() -> None:
    module, both = benchmark("recipe_table"), findings(("many", 0.2), ("long", 0.3))
    shown = module.tables(pl.concat([both, module.guesser(both)]), ["eer"], by="attacker", sizes=False)
    assert shown.count("| random | informed | L = 1 | 50.0 |") == 2


def test_a_metric_that_was_not_measured_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody = pl.lit(None, dtype=pl.String)
    findings(("demo", 0.2)).with_columns(gender=nobody).write_parquet(tmp_path / "findings.parquet")
    monkeypatch.setattr(sys, "argv", ["recipe_table.py", str(tmp_path), "--metrics", "eer,wre"])
    benchmark("recipe_table").main()
    told = capsys.readouterr()
    assert "| 20.0 |" in told.out and "not measured: wre; measured: eer" in told.err
    monkeypatch.setattr(sys, "argv", ["recipe_table.py", str(tmp_path), "--metrics", "wre"])
    with pytest.raises(SystemExit):
        benchmark("recipe_table").main()
    assert "not measured: wre; measured: eer" in capsys.readouterr().err


def test_similarity_has_a_row_for_each_gender_and_other_metrics_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [("eer", None, 0.2), ("eer", "f", 0.1), ("deid", "f", 0.986), ("deid", "m", 0.9995)]
    parts = [
        findings(("demo", value)).with_columns(pl.lit(metric).alias("metric"), gender=pl.lit(who, dtype=pl.String))
        for metric, who, value in rows
    ]
    pl.concat(parts).write_parquet(tmp_path / "findings.parquet")
    monkeypatch.setattr(sys, "argv", ["recipe_table.py", str(tmp_path)])
    benchmark("recipe_table").main()
    shown = capsys.readouterr().out
    assert (
        "| b1 | all | informed | L = 1 | 20.0 | - |" in shown
        and "| b1 | male | informed | L = 1 | - | 100.0 |" in shown
    )
    assert "10.0" not in shown
    monkeypatch.setattr(sys, "argv", ["recipe_table.py", str(tmp_path), "--genders"])
    benchmark("recipe_table").main()
    assert "| b1 | female | informed | L = 1 | 10.0 | 98.6 |" in capsys.readouterr().out
