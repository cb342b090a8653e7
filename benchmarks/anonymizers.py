"""How fast the anonymizers are on one core, as ratios in one run against a plain per-frame McAdams.

    python benchmarks/anonymizers.py [speed] [length] [memory] [stream]

``speed``: every method on 10 s of 16 kHz speech-like sound; ``length``: cost per second of sound as it gets longer;
``memory``: peak beyond input and output; ``stream``: time per 10 ms block, which must stay below 10 ms.
Times are processor time of this process, so that a busy machine does not count against anybody.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from personare.anonymizers import anonymizer
from personare.anonymizers.signal.mcadams import McAdams
from personare.core.audio import Audio
from personare.core.errors import PersonareError

RATE_HZ = 16_000
WANTED_RATIO, WANTED_REAL_TIME = 5.0, 150.0


def speech_like(seconds: float) -> Audio:
    """Make a gliding buzz through four resonances, with syllables and a little noise."""
    count = round(seconds * RATE_HZ)
    t = np.arange(count) / RATE_HZ
    rng = np.random.default_rng(1)
    pulses = np.diff(np.floor(np.cumsum(120 * (1 + 0.2 * np.sin(2 * np.pi * 0.5 * t))) / RATE_HZ), prepend=0.0)
    sound = pulses * (np.sin(2 * np.pi * 1.7 * t) > -0.3) + 0.01 * rng.normal(size=count)
    for f in (520.0, 1500.0, 2500.0, 3500.0):
        pole = np.exp((-np.pi * 90 + 2j * np.pi * f) / RATE_HZ)
        sound = lfilter([1.0], np.poly([pole, pole.conjugate()]).real, sound)
    return Audio((0.3 * sound / np.abs(sound).max()).astype(np.float32), RATE_HZ)


def burg(frame: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """Predict one frame by Burg's method, as common audio libraries do."""
    a = np.zeros(order + 1)
    a[0] = 1.0
    forward, backward = frame[1:].copy(), frame[:-1].copy()
    for i in range(order):
        energy = forward @ forward + backward @ backward
        k = -2 * (backward @ forward) / (energy + 1e-30)
        a[1 : i + 2] += k * a[i::-1]
        forward, backward = (forward + k * backward)[1:], (backward + k * forward)[:-1]
    return a


def plain_mcadams(samples: NDArray[np.float32], alpha: float = 0.8) -> NDArray[np.float64]:
    """B2 in the usual way: one frame after the other, np.roots, two calls of lfilter, overlap and add, one peak."""
    length, hop = 320, 160
    window = np.sqrt(np.hanning(length + 1)[:-1])
    x = samples.astype(np.float64)
    y = np.zeros(len(x))
    for start in range(0, len(x) - length + 1, hop):
        frame = x[start : start + length] * window
        a = burg(frame + 1e-12, 20)
        residual = lfilter(a, 1, frame)
        poles = np.roots(a)
        angles = np.angle(poles)
        moved = np.sign(angles) * np.abs(angles) ** alpha
        moved[poles.imag == 0] = angles[poles.imag == 0]
        new = np.real(np.poly(np.abs(poles) * np.exp(1j * moved)))
        y[start : start + length] += lfilter(1, new, residual) * window
    scaled: NDArray[np.float64] = y / np.abs(y).max()
    return scaled


def best_of(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Time pieces of work in turn, so that a busy machine slows them alike; keep each one's best."""

    def timed(work: Callable[[], object]) -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    times = [[timed(work) for work in works] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def hiding(name: str, audio: Audio, **parameters: object) -> Callable[[], object]:
    """Give the work of hiding one sound."""
    method = anonymizer(name, **parameters)
    return lambda: method(audio, rng=np.random.default_rng(1))


def speed() -> None:
    """Compare every method with the plain McAdams."""
    audio = speech_like(10.0)
    works: dict[str, Callable[[], object]] = {
        "plain per-frame McAdams": lambda: plain_mcadams(audio.samples),
        "mcadams (B2)": hiding("mcadams", audio, alpha=0.8),
        "mcadams, radius 0.975 (D1)": hiding("mcadams", audio, alpha=0.8, radius=0.975),
        "world": hiding("world", audio),
        "formants (I1)": hiding("formants", audio),
    }
    try:
        predicted = {"f0": "predicted", "energy": "predicted", "timing": "even"}
        works["xvector, predicted"] = hiding("xvector", audio, generator="o1", pitch="move", **predicted)
        works["xvector, predicted"]()  # loads its networks
    except PersonareError as error:
        print(f"skipped: xvector: {error}")
        works.pop("xvector, predicted", None)
    times = dict(zip(works, best_of(7, *works.values()), strict=True))
    print("10 s at 16 kHz, one core        ms     x real time   x plain")
    for name, took in times.items():
        print(f"{name:28s} {1000 * took:7.1f} {10 / took:12.0f} {times['plain per-frame McAdams'] / took:10.1f}")
    ratio, real_time = times["plain per-frame McAdams"] / times["mcadams (B2)"], 10 / times["mcadams (B2)"]
    said = "reached" if ratio >= WANTED_RATIO and real_time >= WANTED_REAL_TIME else "NOT reached"
    print(f"wanted of B2: {WANTED_RATIO:g} x plain and {WANTED_REAL_TIME:g} x real time: {said}")


def length() -> None:
    """Show that the cost grows in proportion to the length."""
    print("mcadams: seconds of sound     ms per second")
    for seconds in (5, 10, 20, 40, 80, 160):
        (took,) = best_of(3, hiding("mcadams", speech_like(seconds)))
        print(f"{seconds:24d} {1000 * took / seconds:17.2f}")


def memory() -> None:
    """Show that memory beyond input and output does not grow with the length."""
    print("peak memory in MB beyond input and output:  seconds   mcadams     world  formants")
    for seconds in (10, 40, 160):
        audio = speech_like(seconds)
        peaks = []
        for name in ("mcadams", "world", "formants"):
            work = hiding(name, audio)
            tracemalloc.start()
            work()
            peaks.append((tracemalloc.get_traced_memory()[1] - audio.samples.nbytes) / 1e6)
            tracemalloc.stop()
        print(f"{seconds:51d} {peaks[0]:9.1f} {peaks[1]:9.1f} {peaks[2]:9.1f}")


def stream() -> None:
    """Show how long one block of 10 ms takes in a live stream."""
    print("live mcadams, blocks of 10 ms:  rate in Hz   delay in ms   median ms   slowest 1 %")
    for rate_hz in (8_000, 16_000, 48_000):
        sound = np.random.default_rng(1).normal(0, 0.1, 3 * rate_hz).astype(np.float32)
        took: list[float] = []

        def blocks(sound: NDArray[np.float32] = sound, hop: int = rate_hz // 100) -> Iterator[NDArray[np.float32]]:
            for i in range(0, len(sound), hop):
                start = time.process_time()
                yield sound[i : i + hop]
                took.append(time.process_time() - start)  # noqa: B023 - used up before the next rate

        method = McAdams()
        for _ in method.stream(blocks(), rate_hz=rate_hz, rng=np.random.default_rng(1)):
            pass
        delay = 1000 * method.latency_samples(rate_hz) / rate_hz
        middle, late = 1000 * np.quantile(took, [0.5, 0.99])
        print(f"{rate_hz:42d} {delay:13.1f} {middle:11.2f} {late:13.2f}")


def main() -> None:
    """Run the benchmarks named on the command line, or all."""
    known = {"speed": speed, "length": length, "memory": memory, "stream": stream}
    for name in sys.argv[1:] or known:
        known[name]()


if __name__ == "__main__":
    main()
