"""A head that masks the speaker in the content, trained against a guesser (M1c1, semi-adversarial training).

The head keeps what an utterance and its copies in other voices have in common (their mean is what it must give back),
while a guesser tries to name the speaker from what it gives, and the head is taught to fool the guesser (its gradient
is turned round).                        [tomashenko2022voiceprivacy, sec. 3.2.1, M1c1; ganin2016domain, sec. 3]
Deviations: the paper adds the adversary to the recognizer's own training; here the recognizer is published and fixed,
so the head comes behind it, and the network is not trained anew: the head speaks the same language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.anonymizers.neural.xvector.grid import WIDTH, frame_count, on_frames
from personare.anonymizers.xvector.training.lessons import Lesson
from personare.core.seeding import Key, rng_for
from personare.encoders.graphs import Graph
from personare.nn import loop
from personare.nn.plan import Plan
from personare.nn.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLAN = Plan(steps=1000, judge_every=250, patience=0, rate=1e-3, lowest_rate=1e-5, warm_up=50, gradient_limit=5.0)
_HEAD, _GUESSER = 256, 256
_BATCH, _FRAMES = 32, 160
_KEEP = 1.0
_MASK = 1.0  # weight of the guesser's loss, turned round, against that of keeping the content
_JUDGED = 64


@dataclass(frozen=True, eq=False)
class MaskTask:
    """The head and its guesser as the training loop sees them."""

    contents: Sequence[Sequence[NDArray[np.float16]]]
    """Per utterance, what is said by the speech and its copies, on the network's frames."""
    speakers: NDArray[np.int64]
    tensors: dict[str, Any]
    key: Key

    def batch(self, step: int) -> Any:
        """Draw stretches of speech or of a copy."""
        rng = rng_for(self.key, "masking", str(step))
        return self._pieces(rng, rng.integers(0, len(self.contents), _BATCH))

    def _pieces(self, rng: np.random.Generator, chosen: NDArray[np.int64]) -> Any:
        given, meant = [], []
        for index in chosen:
            versions = self.contents[int(index)]
            first = int(rng.integers(0, max(1, len(versions[0]) - _FRAMES + 1)))
            parts = [_filled(version[first : first + _FRAMES].astype(np.float32)) for version in versions]
            given.append(parts[int(rng.integers(len(parts)))])
            meant.append(np.mean(parts, axis=0))
        torch = torch_for("training the mask")
        stacked = (torch.from_numpy(np.stack(part)) for part in (given, meant))
        return *stacked, torch.from_numpy(self.speakers[chosen])

    def loss(self, batch: Any) -> Any:
        """Content that is not kept, and the guesser's loss; the head sees the latter turned round."""
        functional = torch_for("training the mask").nn.functional
        given, meant, speakers = batch
        masked = applied(self.tensors, given)
        kept = (masked - meant).square().mean()
        turned = masked.detach() * (1 + _MASK) - masked * _MASK  # the value of masked, its gradient times -_MASK
        return _KEEP * kept + functional.cross_entropy(guessed(self.tensors, turned), speakers)

    def judge(self) -> float:
        """How much of the content is lost on utterances drawn once; the guesser is judged by the study."""
        rng = rng_for(self.key, "masking judgement")
        chosen = rng.integers(0, len(self.contents), _JUDGED)
        with torch_for("training the mask").no_grad():
            given, meant, _ = self._pieces(rng, chosen)
            return float((applied(self.tensors, given) - meant).square().mean())


def applied(tensors: Mapping[str, Any], content: Any) -> Any:
    """Mask content [batch, frames, 288]: what the head would take away is taken away."""
    functional = torch_for("training the mask").nn.functional
    hidden = functional.silu(content @ tensors["mask.in.weight"] + tensors["mask.in.bias"])
    return content + hidden @ tensors["mask.out.weight"] + tensors["mask.out.bias"]


def guessed(tensors: Mapping[str, Any], content: Any) -> Any:
    """Guess the speaker from what every frame says, and from how much it varies: [batch, speakers]."""
    torch = torch_for("training the mask")
    hidden = torch.nn.functional.silu(content @ tensors["guess.in.weight"] + tensors["guess.in.bias"])
    pooled = torch.cat([hidden.mean(dim=1), hidden.std(dim=1)], dim=1)
    return pooled @ tensors["guess.out.weight"] + tensors["guess.out.bias"]


def new_task(lessons: Sequence[Lesson], *, seed: int) -> MaskTask:
    """Lay the contents on the network's frames and make a new head and guesser."""
    torch = torch_for("training the mask")
    key = Key.from_seed(f"mask {seed}")
    names = sorted({lesson.speaker for lesson in lessons})
    sizes = {
        "mask.in": (WIDTH, _HEAD),
        "mask.out": (_HEAD, WIDTH),
        "guess.in": (WIDTH, _GUESSER),
        "guess.out": (2 * _GUESSER, len(names)),
    }
    tensors: dict[str, Any] = {}
    for name, size in sizes.items():
        spread = (0.1 if name == "mask.out" else 1.0) / np.sqrt(size[0])
        weight = rng_for(key, "weights", name).normal(0.0, spread, size).astype(np.float32)
        tensors[f"{name}.weight"] = torch.from_numpy(weight).requires_grad_(True)
        tensors[f"{name}.bias"] = torch.zeros(size[1], requires_grad=True)
    speakers = np.array([names.index(lesson.speaker) for lesson in lessons])
    return MaskTask([_versions(lesson) for lesson in lessons], speakers, tensors, key)


def trained(lessons: Sequence[Lesson], folder: Path, *, mark: str, seed: int) -> MaskTask:
    """Train a mask into ``folder``, going on where a training was stopped; takes minutes."""
    task = new_task(lessons, seed=seed)
    for _ in loop.train(task, PLAN, folder, mark=mark, resume=True):
        pass
    return task


def _versions(lesson: Lesson) -> list[NDArray[np.float16]]:
    count = frame_count(len(lesson.audio))
    return [
        on_frames(content.astype(np.float32), count, speed=speed).astype(np.float16)
        for content, speed in zip(lesson.contents, lesson.speeds, strict=True)
    ]


def _filled(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.pad(values, ((0, _FRAMES - len(values)), (0, 0)), mode="wrap")


def encoded(tensors: Mapping[str, Any]) -> bytes:
    """Write the head as a graph: content [frames, 288] in and out."""
    graph = Graph()
    arrays = {name: tensor.detach().numpy().astype(np.float16) for name, tensor in tensors.items()}
    x = "content"
    for name in ("mask.in", "mask.out"):
        weight, bias = (
            graph.add("Cast", graph.constant(arrays[f"{name}.{part}"]), to=1) for part in ("weight", "bias")
        )
        x = graph.add("Add", graph.add("MatMul", x, weight), bias)
        if name == "mask.in":
            x = graph.add("Mul", x, graph.add("Sigmoid", x))
    return graph.encode("content", ["frames", WIDTH], graph.add("Add", "content", x), ["frames", WIDTH])
