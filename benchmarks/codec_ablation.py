"""The ablation of table 2 of turavecino2025usc in small: without speaker reversal, with it, and with the Laplace block.

    python benchmarks/codec_ablation.py [CORPUS] --start RUN --out FOLDER [--steps N] [--words N] [--speakers N]
                                        [--utterances M] [--jobs J]

Three short trainings of equal budget from the same earlier training (its last network, a fresh optimizer, its speech):
``plain``, ``reversal`` and ``reversal-ldp``. RUN is a folder of ``personare train usc --config small``. Then C0 of each
is attacked and listened to by the studies of benchmarks/codec.py. Interrupted? Run it again: each goes on. Read the
direction, not the level: a few hundred steps are far from the paper's million. The Laplace block estimates its clipping
over the first 100 batches and adds noise only after them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core each, before numpy wakes up

import argparse
import json
from dataclasses import replace
from pathlib import Path

import codec
import personare as pn
from personare.codecs.usc.training_run import SETTINGS, STORE, TrainingRun, export_small, mixed_voices
from personare.core.config import from_mapping
from personare.core.seeding import Key, rng_for
from personare.training.checkpoints import LAST
from personare.training.usc.small_task import SmallSettings
from personare.training.usc.speech_store import open_store

EPSILON = 30.0  # with 8 dimensions the paper's 15 drowns every coordinate
VOICES, SPEAKERS_PER_VOICE = 8, 4


def variants(settings: SmallSettings, steps: int) -> dict[str, SmallSettings]:
    """Give the settings of the three trainings; the reversal rises over the first fifth."""
    plan = replace(settings.plan, steps=steps, validate_every=max(1, steps // 4), fade=0.5, rate=settings.plan.rate / 2)
    weights = replace(settings.weights, reversal=0.1, reversal_from=0.0, reversal_to=0.2)
    plain = replace(settings, plan=plan, weights=replace(weights, reversal=0.0))
    return {
        "plain": plain,
        "reversal": replace(plain, weights=weights),
        "reversal-ldp": replace(plain, weights=weights, epsilon=EPSILON),
    }


def trained(settings: SmallSettings, start: Path, folder: Path) -> Path:
    """Train one variant (or go on with it) and export it; gives the folder of the codec."""
    store, out = open_store(start / STORE), folder / "codec"
    run = TrainingRun(settings, folder, start=start)
    for row in run.train(store, resume=(folder / LAST).exists()):
        if row.held_out is not None:
            print(f"{folder.name}: step {row.step}, held-out mel distance C0 + all {row.held_out:.3f}", flush=True)
    count = max(1, min(VOICES, len({u.speaker for u in store.utterances}) // SPEAKERS_PER_VOICE))
    voices = mixed_voices(store, count, rng=rng_for(Key.from_seed("codec voices"), "mixed"))
    export_small(folder / LAST, out, front=settings.shape.front, voices=voices, card={"what": folder.name})
    return out


def main() -> None:
    """Train the three variants and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=codec.BESIDE)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--words", type=int, default=3)
    parser.add_argument("--speakers", type=int, default=43)
    parser.add_argument("--utterances", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.start is None or options.out is None:
        print("skipped: name --start (a training of the small codec) and --out; nothing trained")
        return
    plain = json.loads((options.start / SETTINGS).read_text(encoding="utf-8"))
    settings = from_mapping(SmallSettings, plain, where=str(options.start))
    systems = {}
    for name, variant in variants(settings, options.steps).items():
        folder = trained(variant, options.start, options.out / name)
        systems[name] = codec.CodecChoice(str(folder), "none").system(1)
    if not options.corpus.is_dir():
        print(f"skipped: no corpus of real speech at {options.corpus}; name one")
        return
    places = {name: options.out / name for name in ("words", "privacy")}
    codec.chosen(options.corpus, places["words"], speakers=86, utterances=options.words, only="librispeech")
    codec.chosen(options.corpus, places["privacy"], speakers=options.speakers, utterances=options.utterances)
    studies = {
        "words": codec.words_study(places["words"], systems, "moonshine"),
        "privacy": codec.privacy_study(places["privacy"], systems),
    }
    results = {}
    for name, study in studies.items():
        run = options.out / f"{name}-run"
        results[name] = pn.run_study(study, run, resume=run.exists(), jobs=options.jobs)
    print("\n| C0 of | WER [95 %] | ESTOI [95 %] |\n|---|--:|--:|")
    for name in systems:
        print(
            f"| {name} | {codec.text(results['words'], 'wer', name)} | {codec.text(results['words'], 'estoi', name)} |"
        )
    print()
    codec.privacy_table(results["privacy"], list(systems))


if __name__ == "__main__":
    main()
