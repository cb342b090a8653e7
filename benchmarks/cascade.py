"""What cascade does to words, quality and time: WER by two recognizers, DNSMOS, speed.

    python benchmarks/cascade.py [CORPUS] [--method NAME] [--utterances N] [--corpus-part NAME]
                                 [--recognizers NAME,NAME] [--set PARAMETER=VALUE]

Utterances of the part 'eval' whose column ``corpus`` is NAME (librispeech if not said), the shortest first, no
speaker more often than needed. The speed is seconds of sound per second of one processor core, without loading.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl

from personare.anonymizers import anonymizer
from personare.core.audio import Audio, read_mono
from personare.core.errors import PersonareError
from personare.core.seeding import Key, rng_for
from personare.encoders.recognition import ENGLISH_RECOGNIZERS, recognize
from personare.listeners import listener
from personare.listeners.dnsmos import Dnsmos
from personare.listeners.normalize import normalizer
from personare.metrics.utility.wer import wer_estimate, word_errors

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
KEY = Key.from_seed(1)
SHORTEST_S = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--method", default="cascade")
    parser.add_argument("--utterances", type=int, default=40)
    parser.add_argument("--corpus-part", default="librispeech")
    parser.add_argument("--recognizers", default="moonshine,whisper")
    parser.add_argument("--set", action="append", default=[], metavar="PARAMETER=VALUE")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    rows = chosen(words.corpus, words.corpus_part, words.utterances)
    method = anonymizer(words.method, **dict(one.split("=", 1) for one in words.set))
    begin = Audio(read_mono(words.corpus / rows[0]["audio"]).samples[:32_000], 16_000)
    method(begin, rng=np.random.default_rng(1))  # loading is not counted
    for name in ENGLISH_RECOGNIZERS:
        recognize(begin.samples, model=name)
    originals: list[Audio] = []
    results: list[Audio] = []
    kept = []
    refused, spent_s = 0, 0.0
    for row in rows:
        audio = read_mono(words.corpus / row["audio"])
        began = time.process_time()
        try:
            results.append(method(audio, rng=rng_for(KEY, "voice", row["speaker"])))
        except PersonareError as error:
            refused += 1
            print(f"refused: {row['utterance']}: {error}")
            continue
        spent_s += time.process_time() - began
        originals.append(audio)
        kept.append(row)
    sound_s = sum(audio.duration_s for audio in originals)
    print(f"{len(kept)} utterances, {sound_s:.0f} s, {refused} refused; {sound_s / spent_s:.1f} x real time (one core)")
    for side, sounds in (("original", originals), (words.method, results)):
        scores = [opinion.overall for opinion in Dnsmos()(sounds)]
        print(f"DNSMOS, {side}: {np.mean(scores):.2f} (sd {np.std(scores):.2f})")
    for name in words.recognizers.split(","):
        for side, sounds in (("original", originals), (words.method, results)):
            print(f"WER by {name}, {side}: {wer(name, kept, sounds)}")


def chosen(corpus: Path, part: str, count: int) -> list[dict[str, str]]:
    """Choose utterances: the shortest of every speaker in turn."""
    table = pl.read_csv(corpus / "manifest.tsv", separator="\t", infer_schema=False)
    fitting = table.filter((pl.col("part") == "eval") & (pl.col("corpus").str.to_lowercase().str.starts_with(part)))
    fitting = fitting.with_columns(pl.col("seconds").cast(pl.Float64)).filter(pl.col("seconds") >= SHORTEST_S)
    ranked = fitting.with_columns(pl.col("seconds").rank("ordinal").over("speaker").alias("turn"))
    rows: list[dict[str, str]] = ranked.sort("turn", "speaker").head(count).to_dicts()
    return rows


def wer(name: str, rows: list[dict[str, str]], sounds: list[Audio]) -> str:
    normalize = normalizer("whisper-english")
    heard = [normalize(text) for text in listener(name)(sounds)]  # type: ignore[operator]
    errors = word_errors([normalize(row["text"]) for row in rows], heard)
    estimate = wer_estimate(errors, speakers=[row["speaker"] for row in rows])
    return f"{100 * estimate.value:.1f} % [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


if __name__ == "__main__":
    main()
