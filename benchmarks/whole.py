"""What one hour of speech costs to hide and to prove: processor time by stage, with the default method and attackers.

    python benchmarks/whole.py [CORPUS] [--speakers N] [--utterances M] [--train CORPUS] [--cores C] [--json]

People of the part 'eval' are hidden by ``personare anonymize`` and attacked by ``personare evaluate``, both as they are
when nothing is chosen, with an empty cache of vectors. A few minutes of speech are measured and scaled to one hour:
everything but learning and measuring grows with the speech; these two grow with people and utterances, and are
scaled alike, which is too much where an hour holds fewer people. Processor seconds are counted, not those of the wall
clock: other programs do not change them. Cores share the work of an hour evenly, because its items are many.
``--train`` adds speech of other people for the informed attacker, of whom the first N are taken.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import personare as pn
from personare.attackers import cache
from personare.attackers.fused import FusedEmbedder
from personare.core import weights
from personare.core.audio import Audio
from personare.core.protocols import Embedder
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.engine import Result
from personare.pipeline.waves import Job

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
GOAL_MINUTES = 15.0
HOUR_S = 3600.0


class Clock:
    """Adds up processor seconds by name; a ``Watcher`` of a run in this process."""

    def __init__(self, stage_of: Callable[[Job], str] = lambda job: job.stage.kind) -> None:
        self._stage_of = stage_of
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._last = time.process_time()

    def add(self, name: str) -> None:
        """Give the time since the last call to ``name``."""
        now = time.process_time()
        self.seconds[name] += now - self._last
        self._last = now

    def began(self, wave: str, jobs: Sequence[Job], items: int) -> None:
        """What was done before a wave is planning."""
        del wave, jobs, items
        self.add("plan")

    def did(self, job: Job | None, result: Result[Any, Any]) -> None:
        """One item is done."""
        del result
        self.add("voices" if job is None else self._stage_of(job))

    def ended(self, job: Job, failures: object, seconds: float) -> None:
        """Writing the result of a stage belongs to it."""
        del failures, seconds
        self.add(self._stage_of(job))


class TimedEmbedder:
    """An embedder that notes what it costs, and what it has embedded."""

    def __init__(self, name: str, inner: Embedder, seconds: dict[str, float], heard: Counter[tuple[str, int]]) -> None:
        self._name, self._inner, self._seconds, self._heard = name, inner, seconds, heard

    @property
    def fingerprint(self) -> str:
        """The exact model."""
        return self._inner.fingerprint

    def __call__(self, batch: Sequence[Audio]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Embed."""
        began = time.process_time()
        vectors = self._inner(batch)
        self._seconds[self._name] += time.process_time() - began
        self._heard.update((self._name, hash(audio.samples.tobytes())) for audio in batch)
        return vectors


def some_of(corpus: Path, part: str, speakers: int, utterances: int, target: Path) -> float:
    """Write a corpus of some people, evenly spread over all; give its seconds."""
    frame = read_corpus(corpus).corpus.frame
    if "part" in frame.columns:
        frame = frame.filter(pl.col("part") == part).drop("part")
    names = frame["speaker"].unique(maintain_order=True).to_list()
    chosen = names[:: max(1, len(names) // speakers)][:speakers]
    few = frame.filter(pl.col("speaker").is_in(chosen)).group_by("speaker", maintain_order=True).head(utterances)
    Corpus(few.select(frame.columns)).save(target)
    return float(few["duration_s"].sum())


def measured(words: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Hide and prove; give seconds of speech, processor seconds by stage, and what was embedded."""
    original = folder / "original" / "manifest.parquet"
    speech_s = some_of(words.corpus, "eval", words.speakers, words.utterances, original)
    others: dict[str, Any] = {}
    learnt_s = 0.0
    if words.train is not None:
        others["train"] = folder / "train" / "manifest.parquet"
        learnt_s = some_of(words.train, "train", words.speakers, words.utterances, others["train"])
    clock = Clock()
    pn.anonymize_corpus(original, folder / "hidden")
    clock.add("hide")
    seconds: defaultdict[str, float] = defaultdict(float)
    heard: Counter[tuple[str, int]] = Counter()
    plain = cache._model

    def timed(name: str, parameters: tuple[tuple[str, Any], ...]) -> Embedder:
        made = plain(name, parameters)
        return made if isinstance(made, FusedEmbedder) else TimedEmbedder(name, made, seconds, heard)

    cache._model = timed  # type: ignore[assignment]
    try:
        result = pn.evaluate(original, folder / "hidden", out=folder / "run", watch=clock, **others)
        clock.add("findings")
        result.report()
        clock.add("report")
    finally:
        cache._model = plain
    return {
        "speech_s": speech_s,
        "learnt_s": learnt_s,
        "stages": dict(clock.seconds),
        "embedders": dict(seconds),
        "embedded": len(heard),
        "embedded_twice": sum(count > 1 for count in heard.values()),
        "attackers": sorted({str(f.conditions["attacker"]) for f in result if "attacker" in f.conditions}),
    }


def rows_of(found: dict[str, Any], cores: int) -> list[tuple[str, float, float, float]]:
    """Give (stage, seconds of the sample, processor seconds of an hour, minutes on ``cores``)."""
    scale = HOUR_S / found["speech_s"]
    stages = dict(found["stages"])
    hide = stages.pop("hide")
    embed = stages.pop("embed", 0.0)
    listed = {"hide": hide, "prove: anonymize the attackers' draws": stages.pop("anonymize", 0.0)}
    listed |= {f"prove: embed by {name}": took for name, took in found["embedders"].items()}
    listed["prove: read sounds and keep vectors"] = max(0.0, embed - sum(found["embedders"].values()))
    listed |= {f"prove: {name}": took for name, took in stages.items()}
    listed["all"] = hide + embed + sum(found["stages"].get(name, 0.0) for name in ("anonymize", *stages))
    return [(name, took, took * scale, took * scale / 60 / cores) for name, took in listed.items()]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=16)
    parser.add_argument("--utterances", type=int, default=4)
    parser.add_argument("--train", type=Path)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    models = weights.home() / "models"
    with tempfile.TemporaryDirectory(prefix="personare-") as name:
        home = Path(name) / "home"
        home.mkdir()
        (home / "models").symlink_to(models.resolve())
        os.environ["PERSONARE_HOME"] = str(home)  # the same models, and no vector from before
        found = measured(words, Path(name))
    rows = rows_of(found, words.cores)
    if words.json:
        print(json.dumps({**found, "rows": rows}))
        return
    who = ", ".join(found["attackers"])
    print(f"{found['speech_s'] / 60:.1f} minutes of speech, scaled to one hour; attackers: {who}")
    if found["learnt_s"]:
        print(f"speech of others to learn from: {found['learnt_s'] / found['speech_s']:.2f} hours for each hour")
    print(f"\n{'stage':<40} {'s measured':>11} {'s an hour':>10} {f'min on {words.cores} cores':>15}")
    for stage, took, hourly, minutes in rows:
        print(f"{stage:<40} {took:>11.1f} {hourly:>10.0f} {minutes:>15.2f}")
    twice = found["embedded_twice"]
    print(f"\nvectors computed: {found['embedded']}, of them more than once: {twice}")
    total = rows[-1][3]
    print(f"{total:.1f} minutes of {GOAL_MINUTES:g}: {'met' if total <= GOAL_MINUTES else 'missed'}")


if __name__ == "__main__":
    main()
