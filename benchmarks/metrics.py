"""How fast the metrics are, as ratios in one run: against a plain loop and against the floor, one bare matrix product.

Each benchmark is one function that prints its own lines; ``main`` runs those named on the command line, or all.
"""

from __future__ import annotations

import os
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from personare.metrics.privacy.eer import eer_of_levels, rocch_eer
from personare.metrics.privacy.linkability import default_sizes, exact_curve
from personare.metrics.privacy.nontargets_above import nontargets_above
from personare.metrics.privacy.singling_out import singling_out
from personare.metrics.privacy.summary import score_values

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
ENROLLED, TESTED, DIMENSIONS, PREDICATES, FOLDS, DRAWS = 22_024, 4_949, 192, 495, 10, 5


def seconds(work: Callable[[], Any]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def processor_seconds(work: Callable[..., Any], *arguments: Any) -> float:
    """Time one call by the processor's clock: other programs on a busy machine do not count."""
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def best_of(rounds: int, *works: Callable[[], Any]) -> list[float]:
    """Time several pieces of work in turn, so that a busy machine slows them alike; keep each one's best."""
    times = [[seconds(work) for work in works] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def peak_megabytes(work: Callable[[], Any]) -> float:
    """Measure the largest extra memory of one call (numpy reports its arrays to tracemalloc)."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def verdict(value: float, limit: float) -> str:
    """Say whether a limit holds."""
    return f"limit {limit:g}: {'held' if value <= limit else 'BROKEN'}"


def voices(people: int, *, each: int, noise: float, seed: int = 0) -> tuple[Floats, Floats]:
    """Make one enrolment vector per person [people, d] and ``each`` noisy ones [people * each, d]."""
    rng = np.random.default_rng(seed)
    enroll = rng.standard_normal((people, DIMENSIONS), dtype=np.float32)
    heard = np.repeat(enroll, each, axis=0)
    heard += noise * rng.standard_normal(heard.shape, dtype=np.float32)
    return enroll, heard


def product(left: Floats, right: Floats, *, rows: int) -> Callable[[], None]:
    """Make the floor: all scores by bare matrix products into one reused block of ``rows`` rows."""
    block = np.empty((rows, len(right)), dtype=np.float32)

    def run() -> None:
        for start in range(0, len(left), rows):
            part = left[start : start + rows]
            np.matmul(part, right.T, out=block[: len(part)])

    return run


def plain_linkability(tests: Floats, enroll: Floats, sizes: tuple[int, ...]) -> float:
    """Link as public code does: per test, size and draw a random subset, its scores, its maximum."""
    rng = np.random.default_rng(0)
    others = np.arange(len(enroll))
    links = 0
    for i, test in enumerate(tests):
        for size in sizes:
            for _ in range(DRAWS):
                chosen = rng.choice(others[others != i], size - 1, replace=False)
                cosine = enroll[chosen] @ test / np.linalg.norm(enroll[chosen], axis=1)
                links += enroll[i] @ test / np.linalg.norm(enroll[i]) > cosine.max(initial=-np.inf)
    return links / (len(tests) * len(sizes) * DRAWS)


def linkability() -> None:
    """Exact linkability for every N from 1 to 22,024."""
    enroll, heard = voices(ENROLLED, each=1, noise=3.5)
    tests, speakers = heard[:TESTED], np.arange(ENROLLED)

    def ours() -> NDArray[np.float64]:
        return exact_curve(nontargets_above(tests, speakers[:TESTED], enroll, speakers), enrolled=ENROLLED)

    whole, blocks, fast = best_of(5, product(tests, enroll, rows=TESTED), product(tests, enroll, rows=272), ours)
    floor = min(whole, blocks)
    sizes, few = default_sizes(ENROLLED), 4
    slow = seconds(lambda: plain_linkability(tests[:few], enroll, sizes)) * TESTED / few
    memory = peak_megabytes(ours)
    print(f"linkability {TESTED} x {ENROLLED}, {DIMENSIONS} dimensions, every N exactly")
    print(f"  bare sgemm {floor:.2f} s; ours {fast:.2f} s = {fast / floor:.2f} x sgemm ({verdict(fast / floor, 2.5)})")
    print(f"  extra memory {memory:.0f} MB ({verdict(memory, 300)})")
    print(
        f"  plain loop, {len(sizes)} sizes x {DRAWS} draws, scaled from {few} tests: {slow:.0f} s = {slow / fast:.0f} x"
    )


def plain_singling_out(enroll: Floats, crowd: Floats, people: int) -> int:
    """Isolate as public code does: per predicate, draw and fold, all calibration scores sorted anew."""
    rng = np.random.default_rng(0)
    isolated = 0
    for voice in enroll:
        for _ in range(DRAWS):
            place = (np.arange(FOLDS)[None, :] + rng.integers(0, FOLDS, people)[:, None]) % FOLDS
            for fold in range(FOLDS):
                scores = crowd @ voice / np.linalg.norm(crowd, axis=1)
                test = (place == fold).ravel()
                calibration = np.sort(scores[~test])[::-1]
                threshold = (calibration[FOLDS - 2] + calibration[FOLDS - 1]) / 2
                isolated += int((scores[test] > threshold).sum() == 1)
    return isolated


def singling() -> None:
    """Singling Out, the full protocol at N = 22,024, and again over all sizes."""
    voice, crowd = voices(ENROLLED, each=FOLDS, noise=2.5)
    speakers, owner = np.arange(PREDICATES), np.repeat(np.arange(ENROLLED), FOLDS)

    def ours(sizes: tuple[int, ...] | None = (ENROLLED,)) -> object:
        return singling_out(voice[:PREDICATES], speakers, crowd, owner, sizes=sizes, draws=DRAWS, folds=FOLDS)

    floor, fast, everything = best_of(3, product(voice[:PREDICATES], crowd, rows=PREDICATES), ours, lambda: ours(None))
    slow = seconds(lambda: plain_singling_out(voice[:1], crowd, ENROLLED)) * PREDICATES
    memory = peak_megabytes(ours)
    sizes = len(default_sizes(ENROLLED))
    print(f"singling out {PREDICATES} predicates x {FOLDS} folds x {DRAWS} draws, N = {ENROLLED}")
    print(f"  bare sgemm {floor:.2f} s; ours {fast:.2f} s = {fast / floor:.2f} x sgemm ({verdict(fast / floor, 4)})")
    print(f"  {sizes} sizes from 20 to {ENROLLED} together: {everything:.2f} s = {everything / floor:.2f} x sgemm")
    print(f"  extra memory {memory:.0f} MB ({verdict(memory, 1500)})")
    print(f"  plain loop, scaled from 1 predicate: {slow:.0f} s = {slow / fast:.0f} x")


def plain_pav(scores: list[float], labels: list[bool]) -> list[list[float]]:
    """Pool adjacent violators as a textbook does: one loop over the sorted trials; blocks of targets, trials, score."""
    blocks: list[list[float]] = []
    for score, label in zip(scores, labels, strict=True):
        if blocks and blocks[-1][2] == score:
            blocks[-1][0] += label
            blocks[-1][1] += 1
        else:
            blocks.append([float(label), 1.0, score])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            targets, trials, upper = blocks.pop()
            blocks[-1][0] += targets
            blocks[-1][1] += trials
            blocks[-1][2] = upper
    return blocks


def plain_scores(targets: Doubles, nontargets: Doubles) -> tuple[float, float]:
    """Sort, then run the loop without and with Laplace's trials, as public code does; time one loop, and all of it."""
    start = time.perf_counter()
    scores = np.concatenate([targets, nontargets])
    order = np.argsort(scores, kind="stable")
    ranked, labels = scores[order].tolist(), (order < len(targets)).tolist()
    one = seconds(lambda: plain_pav(ranked, labels))
    low, high = ranked[0] - 1, ranked[-1] + 1
    plain_pav([low, low, *ranked, high, high], [True, False, *labels, True, False])
    np.logaddexp(0, -targets).mean()
    np.logaddexp(0, nontargets).mean()
    return one, time.perf_counter() - start


def check_plain(targets: Doubles, nontargets: Doubles) -> None:
    """Stop unless the plain loop leads to the same EER: a reference that is wrong is no reference."""
    scores = np.concatenate([targets, nontargets])
    order = np.argsort(scores, kind="stable")
    blocks = np.array(plain_pav(scores[order].tolist(), (order < len(targets)).tolist()))
    plain = eer_of_levels(blocks[:, 0], blocks[:, 1] - blocks[:, 0])
    if not np.isclose(plain, rocch_eer(targets, nontargets), rtol=1e-12):
        sys.exit(f"the plain reference gives EER {plain}, ours {rocch_eer(targets, nontargets)}")


def trial_scores(n: int, *, seed: int = 0) -> tuple[Doubles, Doubles]:
    """Make n scores, a tenth of them targets two standard deviations higher."""
    rng = np.random.default_rng(seed)
    return rng.normal(2, 1, n // 10), rng.normal(0, 1, n - n // 10)


def scores() -> None:
    """ZEBRA, Cllr and EER together on a million scores."""
    t, n = trial_scores(1_000_000)
    fast, sort = best_of(15, lambda: score_values(t, n), lambda: (np.sort(t), np.sort(n)))
    one, everything = (min(times) for times in zip(*(plain_scores(t, n) for _ in range(3)), strict=True))
    check_plain(*trial_scores(10_000))
    print("EER, Cllr, min Cllr, D_ECE, log10(l) of 1,000,000 scores")
    print(f"  ours {fast * 1e3:.0f} ms = {fast / sort:.1f} x the bare sort ({sort * 1e3:.0f} ms)")
    print(f"  Python-loop PAV alone {one:.2f} s = {one / fast:.1f} x (asked: 15 x)")
    print(f"  plain way to the same numbers (sort, PAV loop twice) {everything:.2f} s = {everything / fast:.1f} x")


def many_scores() -> None:
    """EER of ten million scores, its memory, and how time grows with the number of scores."""
    t, n = trial_scores(10_000_000)
    sort, eer = best_of(2, lambda: (np.sort(t), np.sort(n)), lambda: rocch_eer(t, n))
    memory, own = peak_megabytes(lambda: rocch_eer(t, n)), (t.nbytes + n.nbytes) / 1e6
    print("EER of 10,000,000 scores")
    print(f"  {eer:.2f} s = {eer / sort:.1f} x the bare sort; extra memory {memory:.0f} MB ({verdict(memory, 300)})")
    print(f"  the scores themselves take {own:.0f} MB")
    print("  scores       EER [ns per score]   all metrics [ns per score]   (processor time)")
    for size in (10_000, 100_000, 1_000_000, 10_000_000):
        part = t[: size // 10], n[: size - size // 10]
        one, every = (min(processor_seconds(work, *part) for _ in range(5)) for work in (rocch_eer, score_values))
        print(f"  {size:>10,}   {one / size * 1e9:>18.0f}   {every / size * 1e9:>26.0f}")


BENCHES: dict[str, Callable[[], None]] = {
    "linkability": linkability,
    "singling_out": singling,
    "scores": scores,
    "many_scores": many_scores,
}


def main() -> None:
    """Run the named benchmarks on one thread: then the ratios do not depend on how many cores help the product."""
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606 - this very script, before numpy starts
    for name in sys.argv[1:] or BENCHES:
        BENCHES[name]()


if __name__ == "__main__":
    main()
