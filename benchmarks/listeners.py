"""How fast the listeners are on one core: seconds of sound per second of processor time.

    python benchmarks/listeners.py [CORPUS [utterances]]

Each listener observes the same utterances of the LibriSpeech part, beside their McAdams copies where it compares. The
first utterance is observed once before the clock starts, so that loading does not count. DNSMOS, which computes what
its overlapping pieces have in common once, is also compared with its published network run on each piece.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from personare.anonymizers import anonymizer
from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import PersonareError
from personare.core.observations import Stimulus
from personare.core.sessions import open_session
from personare.core.tables import Corpus
from personare.core.weights import files_of
from personare.listeners import LISTENERS, listener, listener_class
from personare.listeners.dnsmos import RATE_HZ, Dnsmos
from personare.listeners.dnsmos_network import PIECE_SAMPLES
from personare.listeners.paralinguistics import Paralinguistics

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
Work = Callable[[Sequence[Stimulus]], object]


def works() -> dict[str, Callable[[], Work]]:
    """Name every listener that needs no file of one's own, with how it is made."""
    plain = [name for name in LISTENERS.names() if listener_class(name).argument is None and name != "ctc"]
    made: dict[str, Callable[[], Work]] = {name: lambda name=name: listener(name).observe for name in plain}  # type: ignore[misc]
    made["pitch, Harvest"] = lambda: listener("pitch", method="harvest").observe
    made["paralinguistics"] = lambda: lambda batch: Paralinguistics()([stimulus.audio for stimulus in batch])
    return made


def main(corpus: Path, most: int) -> None:
    """Time every listener."""
    frame = Corpus.load(corpus / "manifest.tsv").frame
    if "corpus" in frame.columns:
        frame = frame.filter(pl.col("corpus") == "librispeech-mini")
    sounds = [read_mono(Path(path)) for path in frame.sort("utterance").gather_every(7).head(most)["audio"]]
    hide = anonymizer("mcadams")
    batch = [Stimulus(hide(sound, rng=np.random.default_rng(1)), sound) for sound in sounds]
    sound_s = sum(sound.duration_s for sound in sounds)
    print(f"{len(batch)} utterances, {sound_s:.0f} s; times real time on one core")
    for name, make in works().items():
        try:
            observe = make()
            observe(batch[:1])
            start = time.process_time()
            observe(batch)
            print(f"{name:18s} {sound_s / (time.process_time() - start):6.0f}", flush=True)
        except PersonareError as error:
            print(f"{name:18s} skipped: {error}")
    compare_dnsmos(sounds)


def compare_dnsmos(sounds: Sequence[Audio]) -> None:
    """Print how much quicker DNSMOS is than its published network, run on each piece by itself."""
    network = open_session(files_of("dnsmos")["sig_bak_ovr.onnx"])
    joined = Audio(np.concatenate([resample(sound, RATE_HZ).samples for sound in sounds])[: 30 * RATE_HZ], RATE_HZ)
    for name, batch in (("the same utterances", sounds), ("30 s in one sound", [joined])):
        began = time.process_time()
        for sound in batch:
            samples = resample(sound, RATE_HZ).samples
            while len(samples) < PIECE_SAMPLES:
                samples = np.concatenate([samples, samples])
            for second in range(max(1, len(samples) // RATE_HZ - 9)):
                piece = samples[None, second * RATE_HZ : second * RATE_HZ + PIECE_SAMPLES]
                network.run(None, {"input_1": piece})
        plain_s = time.process_time() - began
        began = time.process_time()
        Dnsmos()(batch)
        ratio = plain_s / (time.process_time() - began)
        print(f"dnsmos, {name}: {ratio:.1f} times as fast as the published network on each piece", flush=True)


if __name__ == "__main__":
    place = Path(sys.argv[1]) if sys.argv[1:] else BESIDE
    if place.is_dir():
        main(place, int(sys.argv[2]) if sys.argv[2:] else 12)
    else:
        print(f"skipped: no real speech at {place}; name a corpus")
