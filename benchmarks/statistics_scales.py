"""What is usual: mean and standard deviation of every statistic of the statistics embedders, energy to symbols.

    python benchmarks/statistics_scales.py [CORPUS] [--most N] [--only NAME,NAME]

Measured on N utterances of the part 'train' (or of everybody), spread evenly. What it prints is the file
src/personare/encoders/statistics_scales.json; whoever changes that file raises VERSION of the embedders.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from personare.attackers import EMBEDDERS
from personare.core.audio import read_mono, resample
from personare.corpora import read_corpus
from personare.encoders.grid import RATE_HZ
from personare.encoders.phrases import duration_numbers
from personare.encoders.statistics import MIN_SAMPLES, DurationStatistics, Statistics

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
DIGITS = 4


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--most", type=int, default=700)
    parser.add_argument("--only", default="", help="embedders, with commas between them")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    corpus = read_corpus(words.corpus).corpus
    parts = corpus.frame["part"].unique().to_list() if "part" in corpus.frame.columns else []
    utterances = list(corpus.of_part("train" if "train" in parts else None))
    chosen = utterances[:: max(1, len(utterances) // words.most)]
    sounds = [resample(read_mono(u.audio, start_s=u.start_s, stop_s=u.end_s), RATE_HZ).samples for u in chosen]
    table = {}
    for name in words.only.split(",") if words.only else EMBEDDERS.names():
        cls = EMBEDDERS.load(name)
        if issubclass(cls, Statistics):
            whole = [np.pad(s, (0, max(0, MIN_SAMPLES - len(s)))) for s in sounds]
            if issubclass(cls, DurationStatistics):
                numbers = np.stack([duration_numbers(s, u.text or "") for s, u in zip(whole, chosen, strict=True)])
            else:
                numbers = np.stack([cls.numbers(s) for s in whole])
            spread = np.maximum(numbers.std(0), 1e-3)
            table[name] = {"mean": _short(numbers.mean(0)), "spread": _short(spread)}
    print(json.dumps(table))


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]


if __name__ == "__main__":
    main()
