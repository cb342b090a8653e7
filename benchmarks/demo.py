"""What ``personare demo`` costs: processor seconds by stage, and minutes on two cores.

    python benchmarks/demo.py [--speakers N] [--utterances M] [--cores C]

The steps of the command run in this process, with an empty cache of vectors, voices and observations; models are there
already. Processor seconds are counted, not those of the wall clock: other programs change them little. The items of
every stage are many, and cores share them evenly; starting the processes comes on top. Last, Kokoro, whose convolutions
are written as products, is compared with its network as shipped.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import personare as pn
from personare.anonymizers.presets import PRESETS
from personare.core import weights
from personare.core.seeding import Key, load_or_make_key
from personare.core.sessions import open_session
from personare.core.weights import files_of
from personare.corpora.voices import synthesizer
from personare.corpora.voices.plan import plan
from personare.engine import engine_for
from personare.pipeline import builtin
from personare.pipeline.jobs.target import private_folder
from personare.pipeline.jobs.voices import Wanted, make_voices
from personare.pipeline.stages.anonymize import AnonymizeJob
from personare.pipeline.stages.listen import ListenJob
from personare.pipeline.waves import Job
from personare.voices import kokoro
from whole import Clock

GOAL_MINUTES = 5.0


def stage_of(job: Job) -> str:
    """Name the kind of a stage, with the method that anonymizes or the listener."""
    if isinstance(job, AnonymizeJob):
        return f"anonymize by {job.system.method}"
    return f"listen by {job.listener.label}" if isinstance(job, ListenJob) else job.stage.kind


def measured(folder: Path, speakers: int, utterances: int) -> dict[str, float]:
    """Do what the command does; give processor seconds by stage."""
    clock = Clock(stage_of)
    source, target = folder / "voices", folder / "anonymized"
    made = make_voices(source, Wanted(speakers, utterances, seed=1, rate_hz=16_000), engine=engine_for(1))
    clock.add("make voices")
    load_or_make_key(private_folder(target) / "key", new=Key.from_seed("demo"))
    pn.anonymize_corpus(source, target)
    clock.add("anonymize the folder")
    methods = {name: {"method": p.method, **p.parameters} for name, p in PRESETS.items()}
    study = builtin.comparison(source, methods, attacked=made.speakers)
    result = pn.run_study(study=study, out=folder / "run", watch=clock)
    clock.add("findings")
    result.report()
    clock.add("report")
    return dict(clock.seconds)


def compare_kokoro(utterances: int) -> None:
    """Print how much quicker the first voices are made than by the network as shipped."""
    shipped = open_session(files_of("kokoro")["kokoro-quantized.onnx"])
    seconds = []
    for network in (kokoro.session(weights.home()), shipped):
        began = 0.0
        for index, utterance in enumerate(plan(utterances + 1, 1, seed=1)):
            began = time.process_time() if index == 1 else began  # the first is only to wake up
            ids = kokoro.symbol_ids(utterance.phonemes)
            inputs: dict[str, np.ndarray[Any, Any]] = {
                "input_ids": np.array([[0, *ids, 0]], np.int64),
                "style": synthesizer.style_of(utterance.speaker, len(ids)),
                "speed": np.array([utterance.speaker.pace], np.float32),
            }
            network.run(["waveform"], inputs)
        seconds.append(time.process_time() - began)
    print(f"Kokoro: {seconds[1] / seconds[0]:.1f} times as fast as its network as shipped")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speakers", type=int, default=16)
    parser.add_argument("--utterances", type=int, default=6)
    parser.add_argument("--cores", type=int, default=2)
    words = parser.parse_args()
    models = weights.home() / "models"
    with tempfile.TemporaryDirectory(prefix="personare-") as name:
        home = Path(name) / "home"
        home.mkdir()
        (home / "models").symlink_to(models.resolve())
        os.environ["PERSONARE_HOME"] = str(home)  # the same models, and nothing from before
        seconds = measured(Path(name) / "demo", words.speakers, words.utterances)
        os.environ["PERSONARE_HOME"] = str(models.parent)
    for stage, took in seconds.items():
        print(f"{took:8.1f} s  {stage}")
    total = sum(seconds.values())
    minutes = total / 60 / words.cores
    verdict = "met" if minutes <= GOAL_MINUTES else "missed"
    print(f"{total:8.1f} s  all; {minutes:.1f} minutes of {GOAL_MINUTES:g} on {words.cores} cores: {verdict}")
    compare_kokoro(6)


if __name__ == "__main__":
    main()
