"""The check for several speakers on one channel: false alarms on one speaker, detection of two who take turns.

    python benchmarks/several_speakers.py [CORPUS] [--part eval] [--pairs N]

Every recording of the part is one speaker: an alarm is false. Two speakers of one corpus take turns with two of their
recordings each (one each for LibriSpeech, whose recordings are long), 0.3 s apart, for N pairs of the same and N of
different gender. "one, joined" joins as many recordings of one speaker. Intervals are Wilson's, 95 %.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from personare.core import weights
from personare.core.audio import Audio, read_mono, resample
from personare.encoders.segmentation import NEEDS, RATE_HZ, several_speakers
from personare.metrics.intervals import wilson

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
TURNS = {"speechocean762": 2, "librispeech-mini": 1}
PAUSE = np.zeros(round(0.3 * RATE_HZ), np.float32)
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--part", default="eval")
    parser.add_argument("--pairs", type=int, default=60)
    words = parser.parse_args()
    if not (words.corpus / "manifest.tsv").is_file():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one with a manifest.tsv")
        return
    weights.require(*NEEDS)
    frame = pl.read_csv(words.corpus / "manifest.tsv", separator="\t", infer_schema=False)
    print("corpus\trecordings\talarms\tof\tshare [95 %]\tRTF")
    for corpus, turns in TURNS.items():
        rows = frame.filter(pl.col("part") == words.part, pl.col("corpus") == corpus).to_dicts()
        for name, sounds in _sets(words.corpus, rows, turns, words.pairs).items():
            print("\t".join([corpus, name, *_measured(sounds)]), flush=True)


def _sets(folder: Path, rows: list[Row], turns: int, pairs: int) -> dict[str, Iterator[Audio]]:
    rng = np.random.default_rng(1)
    by = {who: list(group) for who, group in itertools.groupby(sorted(rows, key=_speaker), key=_speaker)}
    every = list(itertools.combinations(by, 2))
    alike = [pair for pair in every if by[pair[0]][0]["gender"] == by[pair[1]][0]["gender"]]
    unlike = [pair for pair in every if pair not in set(alike)]

    def some(who: str, count: int) -> list[Row]:
        return [by[who][i] for i in rng.choice(len(by[who]), count, replace=False)]

    def dialogues(chosen: list[tuple[str, str]]) -> Iterator[Audio]:
        for i in rng.choice(len(chosen), pairs, replace=len(chosen) < pairs):
            both = [some(who, turns) for who in chosen[i]]
            yield _joined(folder, [row for turn in zip(*both, strict=True) for row in turn])

    return {
        "one speaker": (_joined(folder, [row]) for row in rows),
        "one, joined": (_joined(folder, some(who, 2 * turns)) for who in by),
        "two, same gender": dialogues(alike),
        "two, different gender": dialogues(unlike),
    }


def _speaker(row: Row) -> str:
    return str(row["speaker"])


def _joined(folder: Path, rows: list[Row]) -> Audio:
    sounds = [resample(read_mono(folder / row["audio"]), RATE_HZ).samples for row in rows]
    return Audio(np.concatenate([part for sound in sounds for part in (sound, PAUSE)][:-1]), RATE_HZ)


def _measured(sounds: Iterator[Audio]) -> list[str]:
    alarms = count = 0
    sound_s = work_s = 0.0
    for sound in sounds:
        began = time.process_time()
        alarms += bool(several_speakers(sound))
        work_s += time.process_time() - began
        sound_s, count = sound_s + sound.duration_s, count + 1
    share = wilson(alarms, count)
    told = f"{100 * share.value:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return [str(alarms), str(count), told, f"{work_s / sound_s:.4f}"]


if __name__ == "__main__":
    main()
