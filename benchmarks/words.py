"""How many words does a recognizer get wrong, how fast is it, and are its words the same in any batch?

    python benchmarks/words.py [CORPUS [recognizer [utterances]]]

Original speech of the LibriSpeech part, one core. Every utterance is recognized twice: all in one batch, and in
another order in small batches; the last line counts transcripts that are the same to the letter.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from personare.core.audio import read_mono
from personare.core.tables import Corpus
from personare.listeners import listener
from personare.listeners.normalize import WhisperEnglish
from personare.metrics.utility.wer import wer_estimate, word_errors

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def main(corpus: Path, recognizer: str, most: int) -> None:
    frame = Corpus.load(corpus / "manifest.tsv").frame
    if "corpus" in frame.columns:
        frame = frame.filter(pl.col("corpus") == "librispeech-mini")
    frame = frame.sort("utterance").gather_every(max(1, len(frame) // most)).head(most)
    batch = [read_mono(Path(path)) for path in frame["audio"]]
    recognize: Any = listener(recognizer)
    recognize(batch[:1])
    start = time.process_time()
    texts = recognize(batch)
    spent_s, sound_s = time.process_time() - start, sum(audio.duration_s for audio in batch)
    words = WhisperEnglish()
    errors = word_errors([words(text) for text in frame["text"]], [words(text) for text in texts])
    estimate = wer_estimate(errors, speakers=frame["speaker"].to_list())
    counts = "/".join(str(int(n.sum())) for n in (errors.substitutions, errors.deletions, errors.insertions))
    print(f"{recognizer}: {len(batch)} utterances, {frame['speaker'].n_unique()} speakers, {sound_s / 3600:.2f} h")
    print(f"WER {estimate}, {int(errors.words.sum())} words, S/D/I {counts}; {sound_s / spent_s:.0f} x real time")
    order = np.random.default_rng(2).permutation(len(batch))
    parts = np.array_split(order, max(1, len(order) // 3))
    again = {int(i): text for part in parts for i, text in _with(recognize, batch, part)}
    same = sum(again[i] == texts[i] for i in range(len(batch)))
    print(f"in another order, in batches of three: {same} of {len(batch)} transcripts the same", flush=True)


def _with(recognize: Any, batch: list[Any], part: Any) -> Any:
    return zip(part, recognize([batch[i] for i in part]), strict=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    place = Path(given[0]) if given else BESIDE
    if place.is_dir():
        main(place, given[1] if given[1:] else "moonshine", int(given[2]) if given[2:] else 10_000)
    else:
        print(f"skipped: no real speech at {place}; name a corpus")
