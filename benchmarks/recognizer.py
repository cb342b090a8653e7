"""Does a recognizer trained on anonymized speech recognize it better? Character error rates, o/a of figure 12.

    python benchmarks/recognizer.py [CORPUS [steps [method]]]

Trains the small CTC recognizer twice with the same recipe (original, anonymized), tests each on evaluation speakers.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from personare.anonymizers import anonymizer
from personare.core.audio import Audio, read_mono
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus
from personare.listeners.ctc import Ctc
from personare.listeners.normalize import Letters
from personare.metrics.utility.wer import character_errors, wer
from personare.training.plan import TrainingPlan
from personare.training.recognizer.examples import examples
from personare.training.recognizer.run import train_recognizer

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
LONGEST_S = 8.0


def speech(corpus: Path, part: str, most: int, method: str | None) -> tuple[list[Audio], list[str]]:
    """Read utterances of a part, original or anonymized; short ones, so that a CPU can learn from many."""
    frame = Corpus.load(corpus / "manifest.tsv").frame.filter(pl.col("part") == part)
    frame = frame.filter(pl.col("seconds").cast(pl.Float64) < LONGEST_S).sample(fraction=1.0, shuffle=True, seed=1)
    frame = frame.head(most)
    sounds = [read_mono(Path(path)) for path in frame["audio"]]
    if method:
        hide, key = anonymizer(method), Key.from_seed(1)
        sounds = [hide(a, rng=rng_for(key, "voice", s)) for a, s in zip(sounds, frame["speaker"], strict=True)]
    return sounds, frame["text"].to_list()


def character_error_rate(folder: Path, sounds: list[Audio], texts: list[str]) -> float:
    plain = Letters()
    return wer(character_errors([plain(t) for t in texts], [plain(h) for h in Ctc(folder)(sounds)]))


def main(corpus: Path, steps: int, method: str) -> None:
    tests = {kind: speech(corpus, "eval", 100, m) for kind, m in (("o", None), ("a", method))}
    plan = TrainingPlan(
        steps=steps, validate_every=max(1, steps // 6), patience=0, rate=2e-3, warm_up=max(1, steps // 10)
    )
    for trained_on, m in (("o", None), ("a", method)):
        start, prepared = time.process_time(), examples(*speech(corpus, "train", 1200, m), normalize=Letters())
        with tempfile.TemporaryDirectory() as folder:
            for step in train_recognizer(prepared[60:], prepared[:60], Path(folder), plan=plan):
                if step.held_out is not None:
                    print(
                        f"  {trained_on}: step {step.step}, loss {step.loss:.3f}, held out {step.held_out:.3f}",
                        flush=True,
                    )
            for kind, (sounds, texts) in tests.items():
                rate = character_error_rate(Path(folder), sounds, texts)
                print(f"trained on {trained_on}, tested on {kind}: CER {rate:.3f}", flush=True)
        print(f"  {time.process_time() - start:.0f} s")


if __name__ == "__main__":
    words = sys.argv[1:]
    place = Path(words[0]) if words else BESIDE
    if place.is_dir():
        main(place, int(words[1]) if words[1:] else 300, words[2] if words[2:] else "mcadams")
    else:
        print(f"skipped: no real speech at {place}; name a corpus")
