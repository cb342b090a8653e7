"""The ablation of table 2 of turavecino2025usc in small: without speaker reversal, with it, and with the Laplace block.

    python benchmarks/codec_ablation.py SPEECH --start RUN --out FOLDER [--steps N] [--words N] [--speakers N]
                                        [--utterances M] [--jobs N]

Three short trainings of equal budget from the same earlier training (its last network, a fresh optimizer): ``plain``,
``reversal`` and ``reversal + LDP``. SPEECH is the packed speech of that training (RUN/speech). Interrupted? Run it
again: each goes on. Then C0 of each is measured as in benchmarks/codec.py. Read the direction, not the level: a few
hundred steps are far from the paper's million.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core each, before numpy wakes up

import argparse
import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from personare.codecs.usc.codec import Usc
from personare.codecs.usc.training_run import TrainingRun, export_small, mixed_voices
from personare.core.config import from_mapping
from personare.core.seeding import Key, rng_for
from personare.training.usc.small_task import SmallSettings
from personare.training.usc.speech_store import open_store

EPSILON = 30.0  # with 8 dimensions the paper's 15 drowns every coordinate


def variants(settings: SmallSettings, steps: int) -> dict[str, SmallSettings]:
    """Give the settings of the three trainings; the reversal rises over the first fifth."""
    plan = replace(settings.plan, steps=steps, validate_every=max(1, steps // 4), fade=0.5, rate=settings.plan.rate / 2)
    weights = replace(settings.weights, reversal=0.1, reversal_from=0.0, reversal_to=0.2)
    plain = replace(settings, plan=plan, weights=replace(weights, reversal=0.0))
    return {
        "plain": plain,
        "reversal": replace(plain, weights=weights),
        "reversal + LDP": replace(plain, weights=weights, epsilon=EPSILON),
    }


def trained(settings: SmallSettings, speech: Path, start: Path, folder: Path) -> Usc:
    """Train one variant (or go on with it) and export it."""
    store = open_store(speech)
    run = TrainingRun(settings, folder, start=start)
    for row in run.train(store, resume=(folder / "last.pt").exists()):
        if row.held_out is not None:
            print(f"{folder.name}: step {row.step}, held-out mel distance C0 + all {row.held_out:.3f}", flush=True)
    voices = mixed_voices(store, 8, rng=rng_for(Key.from_seed("codec voices"), "mixed"))
    out = folder / "codec"
    export_small(folder / "last.pt", out, front=settings.shape.front, voices=voices, card={"what": folder.name})
    return Usc(weights=str(out), voice=sorted(voices)[0])


def _measurements() -> Any:
    """Load benchmarks/codec.py, which lies beside this file and is no package."""
    spec = importlib.util.spec_from_file_location("codec_benchmark", Path(__file__).with_name("codec.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Train the three variants and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("speech", type=Path, nargs="?")
    parser.add_argument("--start", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--words", type=int, default=3)
    parser.add_argument("--speakers", type=int, default=43)
    parser.add_argument("--utterances", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.speech is None or options.start is None or options.out is None:
        print("name SPEECH, --start and --out; nothing trained")
        return
    bench = _measurements()
    plain = json.loads((options.start / "settings.json").read_text(encoding="utf-8"))
    settings = from_mapping(SmallSettings, plain, where=str(options.start))
    for name, variant in variants(settings, options.steps).items():
        codec = trained(variant, options.speech, options.start, options.out / name.replace(" + ", "-").lower())
        print(f"\n## {name}\n")
        rows = bench.chosen(bench.BESIDE, speakers=86, utterances=options.words, only="librispeech")
        bench.fidelity_table(codec, rows, bench.run(bench.Fidelity(codec, "moonshine"), rows, options.jobs))
        rows = bench.chosen(bench.BESIDE, speakers=options.speakers, utterances=options.utterances)
        vectors = np.stack(bench.run(bench.Privacy(codec), rows, options.jobs)).astype(np.float64)
        bench.privacy_table(rows, vectors)


if __name__ == "__main__":
    main()
