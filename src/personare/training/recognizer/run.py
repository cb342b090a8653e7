"""Training the small recognizer: utterances with their text in, a folder with the trained network out.

The same call trains on original or on anonymized speech, so that the comparison of the challenge's figure 12 can be
run: only the audio differs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.errors import ConfigError, WeightsError
from personare.core.files import write_text
from personare.core.seeding import Key, rng_for
from personare.training import checkpoints
from personare.training.checkpoints import Validation
from personare.training.loop import TrainingStep, train
from personare.training.plan import TrainingPlan
from personare.training.recognizer.examples import RecognizerExample
from personare.training.recognizer.features import SYMBOLS
from personare.training.recognizer.network import SUBSAMPLING, RecognizerShape, ctc_loss, network
from personare.training.recognizer.settings import RecognizerMask
from personare.training.torch_extra import torch_for

CARD = "recognizer.json"
VERSION = 2  # raise it when the same settings would give another recognizer
NEIGHBOURS = 4  # a batch is drawn from so many times its size, all of about one length


@dataclass(eq=False)
class RecognizerTask:
    """The task of the training loop: letters from bands, validated by the loss on held-out utterances."""

    network: Any
    examples: Sequence[RecognizerExample]
    held_out: Sequence[RecognizerExample]
    batch_size: int
    key: Key
    device: str = "cpu"
    mask: RecognizerMask = field(default_factory=RecognizerMask)
    subsampling: int = SUBSAMPLING
    tensors: dict[str, Any] = field(init=False)
    by_length: Any = field(init=False)

    def __post_init__(self) -> None:
        if self.device != "cpu" and not torch_for("training a recognizer").cuda.is_available():
            raise ConfigError(f"device '{self.device}' is not on this machine; write device: cpu")
        self.network.to(self.device)
        self.tensors = dict(self.network.named_parameters())
        self.by_length = np.argsort([len(example.bands) for example in self.examples], kind="stable")

    def batch(self, step: int) -> list[RecognizerExample]:
        """Draw utterances of about one length, so that little is padded, and mask them; the step alone decides."""
        rng = rng_for(self.key, "batch", str(step))
        window = min(len(self.by_length), NEIGHBOURS * self.batch_size)
        middle = int(rng.integers(len(self.by_length)))  # of any length: the shortest and the longest have their turn
        first = min(max(0, middle - window // 2), len(self.by_length) - window)
        drawn = self.by_length[first + rng.integers(window, size=self.batch_size)]
        return [masked(self.examples[i], self.mask, rng) for i in drawn]

    def loss(self, batch: list[RecognizerExample]) -> Any:
        """The CTC loss of a batch."""
        torch = torch_for("training a recognizer")
        longest = max(len(e.bands) for e in batch)
        padded = np.stack([np.pad(e.bands, ((0, longest - len(e.bands)), (0, 0))) for e in batch])
        frames = torch.tensor([-(-len(e.bands) // self.subsampling) for e in batch])
        texts = torch.tensor([s for e in batch for s in e.symbols])
        lengths = torch.tensor([len(e.symbols) for e in batch])
        return ctc_loss(self.network(torch.from_numpy(padded).to(self.device)), frames, texts.to(self.device), lengths)

    def validate(self) -> float:
        """Mean loss of the held-out utterances."""
        torch = torch_for("training a recognizer")
        size = self.batch_size
        with torch.no_grad():
            parts = [self.held_out[i : i + size] for i in range(0, len(self.held_out), size)]
            return float(sum(float(self.loss(list(p))) * len(p) for p in parts) / len(self.held_out))


def masked(example: RecognizerExample, mask: RecognizerMask, rng: np.random.Generator) -> RecognizerExample:
    """Blank out neighbouring bands and frames of a copy, up to as many as the mask says; 0 is each band's mean."""
    if not mask.bands and not mask.frames:
        return example
    bands = example.bands.copy()
    for axis, most in ((1, mask.bands), (0, mask.frames)):
        width = int(rng.integers(min(most, bands.shape[axis] - 1) + 1))
        first = int(rng.integers(bands.shape[axis] - width + 1))
        bands[(slice(None),) * axis + (slice(first, first + width),)] = 0.0
    return replace(example, bands=bands)


def train_recognizer(
    examples: Sequence[RecognizerExample],
    held_out: Sequence[RecognizerExample],
    folder: Path,
    *,
    plan: TrainingPlan,
    shape: RecognizerShape | None = None,
    batch_size: int = 16,
    mask: RecognizerMask | None = None,
    seed: int = 1,
    resume: bool = False,
) -> Iterator[TrainingStep]:
    """Train; yields after every step. The listener ``Ctc(folder)`` uses the best network once the iterator ends."""
    if not examples or not held_out:
        raise ConfigError("training a recognizer needs utterances to train on and others to validate on")
    shape, mask = shape or RecognizerShape(symbols=SYMBOLS), mask or RecognizerMask()
    fingerprint = _fingerprint(examples, held_out, shape, plan, [batch_size, seed, asdict(mask)])
    task = RecognizerTask(
        network(shape, seed=seed),
        examples,
        held_out,
        batch_size,
        Key.from_seed(seed),
        device=plan.device,
        mask=mask,
        subsampling=shape.subsampling,
    )
    steps = train(task, plan, folder, fingerprint=fingerprint, resume=resume)
    first = next(steps, None)  # a folder that holds another training is refused here, before its card is touched
    card = {"shape": asdict(shape), "mark": fingerprint, "unit": "characters"}
    write_text(folder / CARD, json.dumps(card, indent=1) + "\n")
    if first is not None:
        yield first
    yield from steps


def _fingerprint(
    examples: Sequence[RecognizerExample],
    held_out: Sequence[RecognizerExample],
    shape: RecognizerShape,
    plan: TrainingPlan,
    batches: list[Any],
) -> str:
    """Name everything the result depends on."""
    plain = json.dumps([VERSION, asdict(shape), asdict(plan), batches, len(examples)], sort_keys=True)
    digest = hashlib.sha256(plain.encode())
    for example in (*examples, *held_out):
        digest.update(example.bands.tobytes() + repr(example.symbols).encode())
    return digest.hexdigest()


def validations_of(folder: Path) -> tuple[Validation, ...]:
    """Give the validations of a training so far."""
    try:
        fingerprint = str(json.loads((folder / CARD).read_text(encoding="utf-8"))["mark"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{folder}: holds no training of a recognizer ({error})") from None
    return tuple(checkpoints.load(folder / checkpoints.LAST, fingerprint=fingerprint).validations)
