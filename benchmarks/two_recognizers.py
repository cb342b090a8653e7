"""Two recognizers, one after the other: how much quicker the larger one is with what the smaller one has written.

    python benchmarks/two_recognizers.py [CORPUS] [--utterances N]

LibriSpeech recordings of the part 'train', no speaker more often than needed, cut as cascade cuts them; one core. The
first table is processor time per second of sound, without loading; the last one says how many words are wrong if the
larger model is asked where the smaller one is less sure than that, on average, and how much of the sound that is.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from personare.anonymizers.neural.cascade.anonymizer import LONGEST_S
from personare.anonymizers.neural.words.phrases import find_phrases
from personare.core.audio import read_mono, resample
from personare.encoders.recognition import RATE_HZ, RecognizedWord, recognize
from personare.listeners.normalize import WhisperEnglish
from personare.metrics.utility.wer import word_errors

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
SMALL, LARGE = "moonshine", "moonshine-base"
WAYS = {"small": (SMALL, None), "large": (LARGE, None), "large, proposed": (LARGE, SMALL)}
THRESHOLDS = (0.0, 0.85, 0.88, 0.9, 0.92, 0.94, 1.0)


@dataclass(frozen=True)
class Stretch:
    """A stretch of a recording, and what each way has written."""

    recording: int
    duration_s: float
    words: dict[str, list[RecognizedWord]]

    @property
    def sureness(self) -> float:
        """How sure the smaller model is of its words, on average."""
        return float(np.mean([word.confidence for word in self.words["small"]] or [0.0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--utterances", type=int, default=60)
    words = parser.parse_args()
    if not (words.corpus / "manifest.tsv").is_file():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one with a manifest.tsv")
        return
    measure(words.corpus, words.utterances)


def measure(corpus: Path, most: int) -> None:
    """Recognize in the three ways, and print what it took."""
    frame = pl.read_csv(corpus / "manifest.tsv", separator="\t", infer_schema=False)
    frame = frame.filter(pl.col("corpus").str.contains("librispeech"), part="train").drop_nulls("text")
    turn = pl.int_range(pl.len()).over("speaker").alias("turn")
    frame = frame.sort("utterance").with_columns(turn).sort("turn", "utterance").head(most)
    if frame.is_empty():
        print(f"{corpus}: has no LibriSpeech recordings with a text in the part 'train'")
        return
    sounds = [resample(read_mono(corpus / path), RATE_HZ).samples for path in frame["audio"]]
    for model, proposed_by in WAYS.values():
        recognize(sounds[0][:RATE_HZ], model=model, proposed_by=proposed_by)  # loading is not counted
    spent_s = dict.fromkeys(WAYS, 0.0)
    stretches = []
    for recording, samples in enumerate(sounds):
        for phrase in find_phrases(samples, longest_s=LONGEST_S):
            words = {}
            for way, (model, proposed_by) in WAYS.items():
                began = time.process_time()
                words[way] = recognize(samples[phrase.start : phrase.end], model=model, proposed_by=proposed_by)
                spent_s[way] += time.process_time() - began
            stretches.append(Stretch(recording, phrase.duration_s, words))
    sound_s = sum(one.duration_s for one in stretches)
    same = sum(_text(one.words["large"]) == _text(one.words["large, proposed"]) for one in stretches)
    print(f"{len(sounds)} recordings, {frame['speaker'].n_unique()} speakers, {sound_s:.0f} s of stretches")
    for way, seconds in spent_s.items():
        print(f"{way:<16} {seconds / sound_s:.4f} s a second")
    print(f"proposed / alone: {spent_s['large, proposed'] / spent_s['large']:.2f}; {same} of {len(stretches)} the same")
    print("unsure below   asked again   words wrong")
    for threshold in THRESHOLDS:
        again = sum(one.duration_s for one in stretches if one.sureness < threshold) / sound_s
        print(
            f"{threshold:>12.2f}{100 * again:>12.0f} %{_wrong(frame['text'].to_list(), stretches, threshold):>12.2f} %"
        )


def _wrong(references: list[str], stretches: list[Stretch], threshold: float) -> float:
    """Percent of words wrong, if unsure stretches have the words of the larger model."""
    texts = [""] * len(references)
    for one in stretches:
        texts[one.recording] += f" {_text(one.words['large' if one.sureness < threshold else 'small'])}"
    plain = WhisperEnglish()
    errors = word_errors([plain(text) for text in references], [plain(text) for text in texts])
    wrong = errors.substitutions.sum() + errors.deletions.sum() + errors.insertions.sum()
    return float(100 * wrong / errors.words.sum())


def _text(words: list[RecognizedWord]) -> str:
    return " ".join(word.text for word in words)


if __name__ == "__main__":
    main()
