"""Training the small recognizer: utterances with their text in, a folder with the trained network out.

The same call trains on original or on anonymized speech, so that the comparison of the challenge's figure 12 can be
run: only the sounds differ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError, WeightsError
from personare.core.files import write_text
from personare.core.seeding import Key, rng_for
from personare.listeners.ctc import CARD, SYMBOLS, features, symbols_of
from personare.listeners.spectra import RATE_HZ
from personare.nn import checkpoints, ctc
from personare.nn.loop import Learnt, train
from personare.nn.plan import Plan
from personare.nn.torch_extra import torch_for


@dataclass(frozen=True, eq=False)
class Example:
    """One utterance as the network sees it: float32 [frames, bands], and its symbols."""

    bands: Any
    symbols: tuple[int, ...]


def examples(batch: Sequence[Audio], texts: Sequence[str]) -> list[Example]:
    """Prepare utterances; one whose text does not fit into its frames is refused, for it could never be learnt."""
    if len(batch) != len(texts):
        raise ConfigError(f"{len(batch)} sounds do not fit {len(texts)} texts")
    found = []
    for i, (audio, text) in enumerate(zip(batch, texts, strict=True)):
        try:
            found.append(example(audio, text))
        except ConfigError as error:
            raise ConfigError(f"utterance {i}: {error}") from None
    return found


def example(audio: Audio, text: str) -> Example:
    """Prepare one utterance; between two equal letters the network needs room for a blank."""
    one = Example(features(resample(audio, RATE_HZ)), tuple(symbols_of(text)))
    twice = sum(a == b for a, b in pairwise(one.symbols))
    if not one.symbols or len(one.symbols) + twice > len(one.bands) // ctc.THINNED:
        raise ConfigError(f"{len(one.symbols)} letters do not fit {audio.duration_s:.2f} s of sound")
    return one


@dataclass(eq=False)
class Course:
    """What is learnt: letters from bands, judged by the loss on held-out utterances."""

    network: Any
    learnt_from: Sequence[Example]
    held_out: Sequence[Example]
    batch_size: int
    key: Key
    device: str = "cpu"
    tensors: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        if self.device != "cpu" and not torch_for("training a recognizer").cuda.is_available():
            raise ConfigError(f"device '{self.device}' is not on this machine; write device: cpu")
        self.network.to(self.device)
        self.tensors = dict(self.network.named_parameters())

    def batch(self, step: int) -> list[Example]:
        """Draw utterances; the step alone decides which."""
        rng = rng_for(self.key, "batch", str(step))
        return [self.learnt_from[i] for i in rng.integers(len(self.learnt_from), size=self.batch_size)]

    def loss(self, batch: list[Example]) -> Any:
        """The CTC loss of a batch."""
        torch = torch_for("training a recognizer")
        longest = max(len(e.bands) for e in batch)
        padded = np.stack([np.pad(e.bands, ((0, longest - len(e.bands)), (0, 0))) for e in batch])
        frames = torch.tensor([-(-len(e.bands) // ctc.THINNED) for e in batch])
        texts = torch.tensor([s for e in batch for s in e.symbols])
        lengths = torch.tensor([len(e.symbols) for e in batch])
        return ctc.loss(self.network(torch.from_numpy(padded).to(self.device)), frames, texts.to(self.device), lengths)

    def judge(self) -> float:
        """Mean loss of the held-out utterances."""
        torch = torch_for("training a recognizer")
        size = self.batch_size
        with torch.no_grad():
            parts = [self.held_out[i : i + size] for i in range(0, len(self.held_out), size)]
            return float(sum(float(self.loss(list(p))) * len(p) for p in parts) / len(self.held_out))


def train_recognizer(
    learnt_from: Sequence[Example],
    held_out: Sequence[Example],
    folder: Path,
    *,
    plan: Plan,
    shape: ctc.Shape | None = None,
    batch_size: int = 16,
    seed: int = 1,
    resume: bool = False,
) -> Iterator[Learnt]:
    """Train; yields one Learnt a step. ``Ctc(folder)`` hears with the best network once the iterator has ended."""
    if not learnt_from or not held_out:
        raise ConfigError("training a recognizer needs utterances to learn from and others to be judged on")
    form = shape or ctc.Shape(symbols=SYMBOLS)
    mark = _mark(learnt_from, held_out, form, plan, batch_size, seed)
    course = Course(ctc.network(form, seed=seed), learnt_from, held_out, batch_size, Key.from_seed(seed), plan.device)
    steps = train(course, plan, folder, mark=mark, resume=resume)
    first = next(steps, None)  # a folder that holds another training is refused here, before its card is touched
    write_text(folder / CARD, json.dumps({"shape": asdict(form), "mark": mark, "unit": "characters"}, indent=1) + "\n")
    if first is not None:
        yield first
    yield from steps


def _mark(
    learnt_from: Sequence[Example], held_out: Sequence[Example], shape: ctc.Shape, plan: Plan, size: int, seed: int
) -> str:
    """Name everything the result depends on."""
    digest = hashlib.sha256(repr((shape, plan, size, seed, len(learnt_from))).encode())
    for example in (*learnt_from, *held_out):
        digest.update(example.bands.tobytes() + repr(example.symbols).encode())
    return digest.hexdigest()


def judgements(folder: Path) -> tuple[tuple[int, float, float, float], ...]:
    """Give the judgements of a training so far, as (step, loss, held out, rate)."""
    try:
        mark = str(json.loads((folder / CARD).read_text(encoding="utf-8"))["mark"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{folder}: holds no training of a recognizer ({error})") from None
    return tuple(checkpoints.load(folder / checkpoints.LAST, mark=mark).rows)
