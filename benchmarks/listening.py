"""What is left of words, melody and sound on real speech: original, copy-synthesis, B2, WORLD warp.

    python benchmarks/listening.py [CORPUS [utterances per speaker [listener,listener]]]

CORPUS is a folder with a manifest (utterance, speaker, audio, text, ...); evaluation speakers where it names parts.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from personare.anonymizers import anonymizer
from personare.anonymizers.signal.vocoder import resynthesize
from personare.core.audio import Audio, read_mono, write
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus
from personare.engine import Serial
from personare.pipeline.listen import USUAL, Pairs, UtilityFindings, listen, make_listeners

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
KEY = Key.from_seed(1)


def methods() -> dict[str, Callable[[Audio, str], Audio]]:
    b2, world = anonymizer("mcadams", alpha=0.8), anonymizer("world")
    return {
        "original": lambda audio, _: audio,
        "copy-synthesis (WORLD)": lambda audio, _: resynthesize(audio, lambda speech: speech),
        "B2 (McAdams 0.8)": lambda audio, speaker: b2(audio, rng=rng_for(KEY, "voice", speaker)),
        "WORLD warp": lambda audio, speaker: world(audio, rng=rng_for(KEY, "voice", speaker)),
    }


def chosen(corpus: Path, per_speaker: int) -> pl.DataFrame:
    frame = Corpus.load(corpus / "manifest.tsv").frame
    if "part" in frame.columns:
        frame = frame.filter(pl.col("part") == "eval")
    if "corpus" in frame.columns:
        frame = frame.filter(pl.col("corpus") == "librispeech-mini")
    return frame.sort("utterance").group_by("speaker", maintain_order=True).head(per_speaker)


def measured(
    frame: pl.DataFrame, change: Callable[[Audio, str], Audio], folder: Path, listeners: tuple[str, ...]
) -> UtilityFindings:
    places = []
    for row in frame.iter_rows(named=True):
        place = folder / f"{row['utterance']}.wav"
        write(place, change(read_mono(Path(row["audio"])), row["speaker"]), encoding="float32")
        places.append(str(place))
    pairs = Pairs(frame.with_columns(pl.Series("anonymized", places)), ())
    return listen(pairs, make_listeners(listeners), engine=Serial(), remember=False)


def main(corpus: Path, per_speaker: int, listeners: tuple[str, ...]) -> None:
    frame = chosen(corpus, per_speaker)
    print(f"{frame['speaker'].n_unique()} speakers, {len(frame)} utterances")
    for name, change in methods().items():
        start = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            found = measured(frame, change, Path(folder), listeners)
        print(f"\n{name}  ({time.process_time() - start:.0f} s)")
        for finding in found.findings:
            kept = {k: v for k, v in finding.conditions.items() if k in ("speech", "frames", "by", "S", "D", "I")}
            print(f"  {finding.metric.title:32} {finding.estimate}  failed {finding.failed}  {kept or ''}", flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    place = Path(words[0]) if words else BESIDE
    if place.is_dir():
        main(place, int(words[1]) if words[1:] else 2, tuple(words[2].split(",")) if words[2:] else USUAL)
    else:
        print(f"skipped: no real speech at {place}; name a corpus")
