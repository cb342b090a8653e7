"""Do intervals and verdicts mean what they say? Coverage and false alarms of every metric, from data with known truth.

``python benchmarks/honesty.py`` prints two tables for each kind of data, for 5, 10, 20 and 50 speakers: in how many of
the simulated data sets the 95 % interval holds the truth, and how often a result is called exposed, or different from
chance, where nothing can be known. A row "refused" means that the tool gives no interval: too few speakers. Truth is
what endless speakers would give, or, of metrics that depend on the number of people themselves (linkability, ranks,
Singling Out), the mean over all data sets of that size. ``--sets`` data sets are drawn for each cell; ``--only`` picks
worlds, ``--speakers`` sizes, ``--seed`` other data sets.

Must hold: coverage 92 to 98 % from 10 speakers on and never under 90 % at 5; false alarms at most 5 % two-sided and
2.5 % "exposed"; all but for twice the standard error of so many data sets.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from honesty_worlds import WORLDS as WORLDS
from honesty_worlds import World as World
from personare.reports.outcomes import outcome

SPEAKERS = (5, 10, 20, 50)
FEW = 5
COVERED, COVERED_BY_FEW, MOST_COVERED = 0.92, 0.90, 0.98
EXPOSED, DIFFERENT = 0.025, 0.05


@dataclass
class Cell:
    """What was found for one metric and number of speakers, over the data sets."""

    ends: list[tuple[float, float, float]] = field(default_factory=list)
    exposed: list[bool] = field(default_factory=list)
    different: list[bool] = field(default_factory=list)

    def coverage(self, truth: float | None) -> tuple[float, float]:
        """Give how many intervals hold the truth, and how many data sets have one; the mean of all is a truth too."""
        value, low, high = np.array(self.ends).T
        given = ~np.isnan(low)
        true = float(np.mean(value)) if truth is None else truth
        holds = (low[given] <= true + 1e-12) & (true - 1e-12 <= high[given])
        return (float(holds.mean()) if given.any() else math.nan), float(given.mean())


Table = dict[str, dict[int, Cell]]


def observe(world: World, speakers: Sequence[int], sets: int, seed: int, *, informed: bool) -> Table:
    """Draw data sets and keep what each metric says."""
    table: Table = {}
    for people in speakers:
        for number in range(sets):
            rng = np.random.default_rng([seed, people, number, int(informed)])
            for name, finding in world.findings(people, rng, informed=informed):
                cell = table.setdefault(name, {}).setdefault(people, Cell())
                e = finding.estimate
                cell.ends.append((e.value, e.low, e.high))
                cell.exposed.append(outcome(finding) == "exposed")
                cell.different.append(bool(finding.differs_from_chance))
    return table


def margin(share: float, sets: int) -> float:
    """Give twice the standard error of a share of so many data sets."""
    return 2 * math.sqrt(share * (1 - share) / sets)


def coverage_problem(share: float, people: int, sets: int) -> bool:
    """Say whether so few intervals hold the truth, or of more than five speakers so many, that it is no chance."""
    if people <= FEW:
        return share < COVERED_BY_FEW - margin(COVERED_BY_FEW, sets)
    return share < COVERED - margin(COVERED, sets) or share > MOST_COVERED + margin(MOST_COVERED, sets)


def alarm_problem(share: float, allowed: float, sets: int) -> bool:
    """Say whether there are so many false alarms that chance does not explain it."""
    return share > allowed + margin(allowed, sets)


def covered_rows(table: Table, truths: Mapping[str, float]) -> tuple[list[list[str]], list[str]]:
    """Write coverage; name what does not hold."""
    rows, problems = [], []
    for name, cells in table.items():
        row = [name]
        for people, cell in cells.items():
            share, given = cell.coverage(truths.get(name))
            if given < 0.5:
                row.append("refused")
                continue
            bad = coverage_problem(share, people, round(given * len(cell.ends)))
            refused = "" if given > 0.995 else f" ({100 * (1 - given):.0f} refused)"
            row.append(f"{100 * share:.0f}{refused}{' !' if bad else ''}")
            problems += [f"{name} at {people} speakers: coverage {share:.1%}"] * bad
        rows.append(row)
    return rows, problems


def alarm_rows(table: Table, sets: int, *, privacy: Callable[[str], bool]) -> tuple[list[list[str]], list[str]]:
    """Write how often nothing was called something, one-sided (exposed) and two-sided; name what does not hold."""
    rows, problems = [], []
    for name, cells in table.items():
        row = [name]
        for people, cell in cells.items():
            exposed, different = float(np.mean(cell.exposed)), float(np.mean(cell.different))
            bad = (alarm_problem(exposed, EXPOSED, sets) and privacy(name)) or alarm_problem(different, DIFFERENT, sets)
            first = f"{100 * exposed:.1f}" if privacy(name) else "-"
            row.append(f"{first} / {100 * different:.1f}{' !' if bad else ''}")
            problems += [f"{name} at {people} speakers: false alarms {exposed:.1%} / {different:.1%}"] * bad
        rows.append(row)
    return rows, problems


def print_table(title: str, rows: list[list[str]], speakers: Sequence[int]) -> None:
    """Print rows as Markdown."""
    print(f"\n{title}\n\n| metric | {' | '.join(f'{n} speakers' for n in speakers)} |\n|---|{'---|' * len(speakers)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def run(worlds: Sequence[World], speakers: Sequence[int], sets: int, *, seed: int = 1) -> list[str]:
    """Simulate, print both tables, and give what does not hold."""
    problems: list[str] = []
    for world in worlds:
        start = time.process_time()
        if world.truths is not None:
            covered, found = covered_rows(observe(world, speakers, sets, seed, informed=True), world.truths())
            print_table(f"Intervals that hold the truth, {world.name}, % of {sets} data sets", covered, speakers)
            problems += found
        if world.can_be_empty:
            empty = observe(world, speakers, sets, seed, informed=False)
            judged = {name: cells for name, cells in empty.items() if name in world.judged or not world.judged}
            alarms, found = alarm_rows(judged, sets, privacy=world.is_privacy)
            title = f"Nothing to find, but exposed / differs from chance, {world.name}, % of {sets} data sets"
            print_table(title, alarms, speakers)
            problems += found
        sys.stderr.write(f"{world.name}: {time.process_time() - start:.0f} s of the processor\n")
    return problems


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--only", nargs="*", choices=sorted(WORLDS), default=list(WORLDS))
    parser.add_argument("--speakers", nargs="*", type=int, default=list(SPEAKERS))
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    worlds = [WORLDS[name]() for name in arguments.only]
    problems = run(worlds, arguments.speakers, arguments.sets, seed=arguments.seed)
    print("\nheld" if not problems else "\n" + "\n".join(["BROKEN:", *problems]))
    raise SystemExit(bool(problems))


if __name__ == "__main__":
    main()
