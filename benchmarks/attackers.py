"""How fast the attackers listen: seconds of speech per second of one processor core, and against bare products.

The ratio compares a network with the plain matrix products of the same number of multiply-adds in the same run: it
says how much of the processor's own speed is left on the way, whatever the machine. Processor time is counted, not time
on the wall, so that a busy machine does less harm.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np

from personare.attackers import embedder, scoring
from personare.core.audio import Audio
from personare.core.tables import Embeddings
from personare.encoders import mels

DURATION_S = 10.0
ROUNDS = 3
# multiply-adds per second of speech: ECAPA 17.9 million per frame, 100 frames; GE2E 1.35 million, 160 frames, 1.3 times
MULTIPLY_ADDS = {"ecapa": 17.9e6 * 100, "ge2e": 1.35e6 * 160 * 1.3}


def cpu_s(work: Callable[[], Any]) -> float:
    """Best processor time of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def listening(name: str, *, duration_s: float = DURATION_S) -> tuple[float, float]:
    """Give the real-time factor of an embedder and its ratio against bare matrix products of the same size."""
    ear = embedder(name)
    noise = np.random.default_rng(1).normal(0, 0.1, round(duration_s * mels.RATE_HZ)).astype(np.float32)
    sound = Audio(noise, mels.RATE_HZ)
    ear([sound])
    left, right = np.ones((1024, 1024), np.float32), np.ones((1024, round(100 * duration_s)), np.float32)
    products = MULTIPLY_ADDS[name] * duration_s / (left.size * right.shape[1])
    plain = cpu_s(lambda: left @ right) * products
    own = cpu_s(lambda: ear([sound]))
    return own / duration_s, own / plain


def features() -> float:
    """Real-time factor of the 80 mels alone."""
    noise = np.random.default_rng(1).normal(0, 0.1, round(DURATION_S * mels.RATE_HZ)).astype(np.float32)
    return cpu_s(lambda: mels.decibel_mels(noise)) / DURATION_S


def comparing(*, tests: int = 2000, enrolled: int = 1000) -> float:
    """Time of scoring all trials against the bare product of the same vectors."""
    rng = np.random.default_rng(1)

    def some(n: int, prefix: str) -> Embeddings:
        ids = tuple(f"{prefix}{i}" for i in range(n))
        return Embeddings(ids, ids, rng.normal(size=(n, 192)).astype(np.float32))

    test, enroll = some(tests, "t"), some(enrolled, "e")
    return cpu_s(lambda: scoring.score_all(test, enroll)) / cpu_s(lambda: test.vectors @ enroll.vectors.T)


def main() -> None:
    """Print the table."""
    print(f"{'what':28}{'real-time factor':>18}{'x real time':>13}{'ratio to bare products':>25}")
    for name in MULTIPLY_ADDS:
        factor, ratio = listening(name)
        print(f"{'embed, ' + name:28}{factor:18.4f}{1 / factor:13.0f}{ratio:25.2f}")
    factor = features()
    print(f"{'80 mels alone':28}{factor:18.5f}{1 / factor:13.0f}")
    print(f"{'score 2000 x 1000 trials':28}{'':18}{'':13}{comparing():25.1f}")


if __name__ == "__main__":
    main()
