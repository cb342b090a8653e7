"""What the even timing of xvector rests on: how far content moves beside letters a second, and what is left of them.

    python benchmarks/speech_rate.py [CORPUS] [--utterances N]

On training speakers only. The first table gives the constants of ``anonymizers/neural/xvector/even_timing.py``: the
mean speed of content (USUAL_SPEED) and the slope of the logarithm of letters a second over the logarithm of that speed
(RATE_SLOPE). The second says how far letters a second still vary, and follow those of the source, for each timing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

import personare as pn
from methods import ENCODED
from personare.anonymizers.neural.xvector.even_timing import RATE_SLOPE, USUAL_SPEED, content_speed, quiet_frames
from personare.anonymizers.neural.xvector.weights import SHIPPED, open_weights
from personare.core.audio import resample
from personare.corpora import read_corpus
from personare.encoders.content import content_encoder
from personare.encoders.grid import FINE, PAIR, RATE_HZ, frame_count, on_frames

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
TIMINGS = ("keep", "moved", "even")


def main() -> None:
    """Measure both and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--utterances", type=int, default=120, help="of training speakers, two of each at most")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    frame = read_corpus(words.corpus).corpus.frame.filter(pl.col("part") == "train").sort("utterance")
    frame = frame.filter(pl.int_range(pl.len()).over("speaker") < 2)
    frame = frame.sample(min(words.utterances, len(frame)), seed=1, shuffle=True)
    model = open_weights(SHIPPED)
    speeds, rates, after = [], [], {timing: list[float]() for timing in TIMINGS}
    for speaker, path, text in frame.select("speaker", "audio", "text").iter_rows():
        audio = pn.read_audio(path)
        sound = resample(audio, RATE_HZ).samples
        content = on_frames(content_encoder("moonshine")(sound), frame_count(len(sound)))
        quiet = quiet_frames(model.predict_prosody(content, model.bank.vectors[0]).energy_db, len(content))
        letters = len(text.replace(" ", ""))
        speeds.append(float(content_speed(content)[~quiet].mean()))
        rates.append(letters / (float((~quiet).sum()) * PAIR * FINE / RATE_HZ))
        for timing in TIMINGS:
            hidden = pn.anonymize(audio, key="rate", speaker=speaker, **{**ENCODED, "timing": timing})
            after[timing].append(letters / hidden.duration_s)
    speed, rate = np.log(speeds), np.log(rates)
    slope = float(np.polyfit(speed, rate, 1)[0])
    print(f"{len(frame)} utterances of training speakers\n\n| | measured | constant |\n|---|---|---|")
    print(f"| mean speed of content | {np.mean(speeds):.2f} | {USUAL_SPEED} |")
    print(f"| slope of letters a second over it, logarithms | {slope:.2f} | {RATE_SLOPE} |")
    print(f"| correlation of both | {np.corrcoef(speed, rate)[0, 1]:.2f} | - |\n")
    print("| timing | letters a second, spread of the logarithm | correlation with the source's |\n|---|---|---|")
    for timing, values in after.items():
        own = np.log(values)
        print(f"| {timing} | {own.std():.2f} | {np.corrcoef(own, np.log(after['keep']))[0, 1]:.2f} |")


if __name__ == "__main__":
    main()
