"""Prints the findings of a run as one Markdown table: a row for each method and attacker, a column for each metric.

    python benchmarks/recipe_table.py RUN [--metrics eer,cllr] [--by attacker|listener|-]
                                          [--sizes] [--chance] [--genders]

The tables of docs/reference/recipes come from it; a run over several corpora has a table for each. --sizes gives every
N a column (the largest N without); every L is a row of its own. --chance adds what a guesser gets, as a row 'random'.
DeID and G_VD, which are measured within each gender, have a row for each; --genders gives all metrics one.
Rates are in percent.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

import polars as pl

PERCENT = (
    *("eer", "linkability", "singling_out", "wer", "cer", "deid", "deid_pooled", "risk_over_control"),
    *("uar", "recall"),
)
GENDERS = {"f": "female", "m": "male", "x": "other"}
SHORT = {
    "eer": "EER %",
    "cllr": "Cllr",
    "min_cllr": "min Cllr",
    "d_ece": "D_ECE",
    "log10_l": "log10 l",
    "dsys": "D_sys",
    "deid": "DeID %",
    "g_vd": "G_VD dB",
    "deid_pooled": "DeID pooled %",
    "g_vd_pooled": "G_VD pooled dB",
    "linkability": "linkability %",
    "singling_out": "Singling Out %",
    "wer": "WER %",
    "cer": "CER %",
    "pesq": "PESQ",
    "visqol": "ViSQOL",
    "sim": "SIM",
    "ccc": "CCC",
    "f0_spearman": "SCC",
    "uar": "UAR %",
    "recall": "recall %",
    "f0_shape": "F0 shape",
    "rank_link_p50": "linkability p50",
    "rank_link_p1": "linkability p1",
    "rank_single_p50": "singling out p50",
    "rank_single_p1": "singling out p1",
    "rank_single_reversed_p50": "singling out reversed p50",
    "rank_single_reversed_p1": "singling out reversed p1",
}


def main() -> None:
    """Read a run folder and print."""
    parser = argparse.ArgumentParser(description="Print the findings of a run as a Markdown table.")
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--metrics", default="")
    parser.add_argument("--by", default="attacker", choices=["attacker", "listener", "-"])
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--chance", action="store_true")
    parser.add_argument("--genders", action="store_true")
    given = parser.parse_args()
    if given.run is None:
        print("skipped: name a run folder, made by personare study run recipes/NAME.yaml")
        return
    if not (findings := given.run / "findings.parquet").is_file():
        parser.error(f"{given.run}: not a run folder that has ended; make one with personare study run")
    frame = pl.read_parquet(findings)
    if not given.genders:
        frame = without_breakdowns(frame)
    measured = frame["metric"].unique(maintain_order=True).to_list()
    wanted = given.metrics.split(",") if given.metrics else measured
    if missing := [name for name in wanted if name not in measured]:
        line = f"{given.run}: not measured: {', '.join(missing)}; measured: {', '.join(measured)}"
        if len(missing) == len(wanted):
            parser.error(line)
        print(line, file=sys.stderr)
    frame = frame.filter(pl.col("metric").is_in(wanted))
    if given.chance:
        frame = pl.concat([frame, guesser(frame)])
    sys.stdout.write(tables(frame, wanted, by=given.by, sizes=given.sizes))


def without_breakdowns(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out the rows of single genders and trial lists where there is a row for everybody."""
    names = ("metric", "corpus", "anonymizer", "attacker", "listener", "embedder", "L")
    place = [name for name in names if name in frame.columns]
    if "trial_list" in frame.columns:
        frame = frame.filter(pl.col("trial_list").is_null())
    everybody = frame.filter(pl.col("gender").is_null()).select(place).unique()
    alone = frame.filter(pl.col("gender").is_not_null()).join(everybody, on=place, how="anti", nulls_equal=True)
    return pl.concat([frame.filter(pl.col("gender").is_null()), alone])


def guesser(frame: pl.DataFrame) -> pl.DataFrame:
    """Give the findings of somebody who guesses: one row for each metric, N and L, without an interval."""
    once = frame.filter(pl.col("chance").is_not_null()).unique(["corpus", "metric", "N", "L"], maintain_order=True)
    nothing = pl.lit(None, dtype=pl.Float64)
    return once.with_columns(anonymizer=pl.lit("random"), value=pl.col("chance"), low=nothing, high=nothing)


def tables(frame: pl.DataFrame, metrics: list[str], *, by: str, sizes: bool) -> str:
    """Lay out the table of each corpus, under its name where there are several."""
    parts = frame.partition_by("corpus", maintain_order=True)
    shown = [(part["corpus"][0], table(part, metrics, by=by, sizes=sizes)) for part in parts]
    return shown[0][1] if len(shown) == 1 else "\n".join(f"{corpus}\n\n{rows}" for corpus, rows in shown)


def table(frame: pl.DataFrame, metrics: list[str], *, by: str, sizes: bool) -> str:
    """Lay out: rows in the order of the study."""
    rows: dict[tuple[str, ...], dict[str, tuple[int, str]]] = {}
    genders = "gender" in frame.columns and frame["gender"].is_not_null().any()
    for row in frame.iter_rows(named=True):
        who = () if by == "-" else (row[by] or "-",)
        length = () if row["L"] is None else (f"L = {row['L']}",)
        gender = (GENDERS.get(row["gender"], row["gender"]) or "all",) if genders else ()
        cells = rows.setdefault((row["anonymizer"], *gender, *who, *length), {})
        name = SHORT.get(row["metric"], row["metric"]) + _about(row)
        name = f"{name}, N = {row['N']}" if sizes and row["N"] is not None else name
        if name not in cells or (row["N"] or 0) > cells[name][0]:
            cells[name] = (row["N"] or 0, cell(row))
    shown = list(dict.fromkeys(name for m in metrics for cells in rows.values() for name in _of(m, cells)))
    width = max((len(key) for key in rows), default=1)
    head = ["method", *(["gender"] if genders else []), *([by] if by != "-" else [])]
    head += ["L"] if width > len(head) else []
    lines = [[*key, *([""] * (width - len(key))), *(_shown(cells, n) for n in shown)] for key, cells in rows.items()]
    lines = [[*head, *shown], ["---"] * (len(head) + len(shown)), *lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _about(row: dict[str, Any]) -> str:
    """Say which class or value a finding is of, and what its judge was trained on."""
    other = json.loads(str(row.get("other") or "{}"))
    of = other.get("class") or other.get("of")
    trained = other.get("trained on")
    return (f" of {of}" if of else "") + (f" ({trained})" if trained else "")


def _of(metric: str, cells: dict[str, tuple[int, str]]) -> list[str]:
    name = SHORT.get(metric, metric)
    return sorted((n for n in cells if _is_of(n, name)), key=lambda n: cells[n][0])


def _is_of(column: str, name: str) -> bool:
    return column.split(", N =")[0] == name or column.startswith(f"{name} of ")


def _shown(cells: dict[str, tuple[int, str]], name: str) -> str:
    return cells[name][1] if name in cells else "-"


def cell(row: dict[str, object]) -> str:
    """Say a value with its interval, and ZEBRA's tag where there is one."""
    scale = 100.0 if row["metric"] in PERCENT else 1.0
    value, low, high = (_number(row[name], scale) for name in ("value", "low", "high"))
    interval = "" if low == "-" else f" [{low}, {high}]"
    tag = json.loads(str(row["other"] or "{}")).get("tag", "") if row["metric"] == "log10_l" else ""
    return f"{value}{interval}{f' {tag}' if tag else ''}"


def _number(value: object, scale: float) -> str:
    if not isinstance(value, float) or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    shown = value * scale
    return (
        f"{shown:.0f}" if abs(shown) >= 100 else f"{shown:.1f}" if scale == 100 or abs(shown) >= 10 else f"{shown:.2f}"
    )


if __name__ == "__main__":
    main()
