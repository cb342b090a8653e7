"""Prints the findings of a run beside the points that the authors of the legal-evaluation paper published (Figure 1).

    python benchmarks/legal_reference.py RUN [--reference FOLDER]

RUN is a run of recipes/legal-figure1.yaml or legal-figure1-many.yaml. FOLDER holds the files of the authors' package
voice-anonymization-legal-eval 2.1.0: linkability_results.csv, singling_out_results.csv and eer_results.csv, 2,884
points. One row for each metric, attacker and L that both have, at each of our N: the published value is that of the
nearest published N, which is printed too. Corpora, embedders and anonymizers differ: compare the shape of the curves.
The authors note that their five runs shared a random state (their spread is too small), that the folds of Singling Out
were identical, and that enrolment had 10 utterances in the code and 30 in the text (study: enrolment_utterances).
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl

REFERENCE = Path(__file__).resolve().parents[1].parent / "shared" / "golden" / "legal-eval-2.1.0"
FILES = {
    "linkability": ("linkability_results.csv", "linkability_mean", "linkabilitystd"),
    "singling_out": ("singling_out_results.csv", "singling_out_mean", "singling_out_std"),
    "eer": ("eer_results.csv", "eer_mean", "eer_std"),
}


@dataclass(frozen=True)
class Point:
    """A published point: metric, attacker (in small letters), L, N, mean, standard deviation and chance level."""

    metric: str
    attacker: str
    L: int
    N: int
    mean: float
    deviation: float
    chance: float


def published(folder: Path) -> list[Point]:
    """Read every published point."""
    points = []
    for metric, (name, mean, deviation) in FILES.items():
        with (folder / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                numbers = (float(row[column]) for column in (mean, deviation, "chance"))
                who, size = row["attacker"].lower(), int(row["enrollment_speakers"])
                points.append(Point(metric, who, int(row["L"]), size, *numbers))
    return points


def nearest(points: list[Point], *, metric: str, attacker: str, length: int, people: int) -> Point | None:
    """Give the published point of the same attack whose N is nearest in ratio; None where there is none."""
    same = [p for p in points if (p.metric, p.attacker, p.L) == (metric, attacker, length)]
    return min(same, key=lambda p: abs(math.log(p.N / people)), default=None)


def attacker_of(anonymizer: str, attacker: str) -> str:
    """Name the attack as the authors do: nothing protects original speech, whoever attacks.

    >>> attacker_of("original", "informed"), attacker_of("b1", "informed")
    ('original', 'informed')
    """
    return "original" if anonymizer == "original" else attacker


def table(frame: pl.DataFrame, points: list[Point]) -> str:
    """Lay our findings out beside the published points, in percent."""
    lines = ["| metric | attack | L | N | ours | published, at N | chance |", "|---|---|--:|--:|--:|--:|--:|"]
    seen = set()
    for row in frame.filter(pl.col("metric").is_in(list(FILES)) & pl.col("gender").is_null()).iter_rows(named=True):
        attack, people = attacker_of(row["anonymizer"], row["attacker"]), row["N"] or row["n"]
        theirs = nearest(points, metric=row["metric"], attacker=attack, length=row["L"], people=people)
        key = (row["metric"], attack, row["L"], people)
        if theirs is None or key in seen:
            continue
        seen.add(key)
        ours = f"{100 * row['value']:.1f}"
        reference = f"{100 * theirs.mean:.1f} (sd {100 * theirs.deviation:.1f}), N = {theirs.N:,}"
        lines.append(" | ".join(["", *map(str, key), ours, reference, f"{100 * theirs.chance:.1f}", ""]).strip())
    return "\n".join(lines) + "\n"


def main() -> None:
    """Read a run and the published points, and print."""
    parser = argparse.ArgumentParser(description="Print a run beside the published points of the legal Figure 1.")
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--reference", type=Path, default=REFERENCE)
    given = parser.parse_args()
    if given.run is None:
        print("skipped: name a run folder, made by personare study run recipes/legal-figure1.yaml")
        return
    missing = [name for name, _, _ in FILES.values() if not (given.reference / name).is_file()]
    if missing:
        parser.error(f"{given.reference}: {missing[0]} is not there; name the authors' folder with --reference")
    if not (findings := given.run / "findings.parquet").is_file():
        parser.error(f"{given.run}: not a run folder that has ended; make one with personare study run")
    sys.stdout.write(table(pl.read_parquet(findings), published(given.reference)))


if __name__ == "__main__":
    main()
