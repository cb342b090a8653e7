"""A head that removes the speaker from the content, trained against a speaker classifier (M1c1, semi-adversarial).

The head keeps what an utterance and its copies in other voices have in common (their mean is its target), while a
classifier tries to name the speaker from its output, and the head receives the classifier's gradient reversed.
                                         [tomashenko2022voiceprivacy, sec. 3.2.1, M1c1; ganin2016domain, sec. 3]
Deviations: the paper adds the adversary to the recognizer's own training; here the recognizer is published and fixed,
so the head comes behind it, and the synthesizer is not trained anew: the head's output is content of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.encoders.graphs import OnnxGraph
from personare.encoders.grid import WIDTH, frame_count, on_frames
from personare.training import loop
from personare.training.plan import TrainingPlan
from personare.training.synthesizer.features import SynthesizerFeatures
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLAN = TrainingPlan(
    steps=1000, validate_every=250, patience=0, rate=1e-3, lowest_rate=1e-5, warm_up=50, gradient_limit=5.0
)
_HEAD, _CLASSIFIER = 256, 256
_BATCH, _FRAMES = 32, 160
_KEEP = 1.0
_REVERSED = 1.0  # weight of the classifier's reversed gradient against the loss of keeping the content
_VALIDATED = 64


@dataclass(frozen=True, eq=False)
class SpeakerAdversaryTask:
    """The head and its classifier as the training loop sees them.

    Parameters
    ----------
    contents : per utterance, the content of the speech and of its copies, on the network's frames.
    speakers : of each utterance, as numbers.
    """

    contents: Sequence[Sequence[NDArray[np.float16]]]
    speakers: NDArray[np.int64]
    tensors: dict[str, Any]
    key: Key

    def batch(self, step: int) -> Any:
        """Draw stretches of speech or of a copy."""
        rng = rng_for(self.key, "masking", str(step))
        return self._crops(rng, rng.integers(0, len(self.contents), _BATCH))

    def _crops(self, rng: np.random.Generator, drawn: NDArray[np.int64]) -> Any:
        inputs, targets = [], []
        for index in drawn:
            versions = self.contents[int(index)]
            first = int(rng.integers(0, max(1, len(versions[0]) - _FRAMES + 1)))
            crops = [_filled(version[first : first + _FRAMES].astype(np.float32)) for version in versions]
            inputs.append(crops[int(rng.integers(len(crops)))])
            targets.append(np.mean(crops, axis=0))
        torch = torch_for("training the head")
        stacked = (torch.from_numpy(np.stack(part)) for part in (inputs, targets))
        return *stacked, torch.from_numpy(self.speakers[drawn])

    def loss(self, batch: Any) -> Any:
        """The content that is lost, and the classifier's loss, whose gradient reaches the head reversed."""
        functional = torch_for("training the head").nn.functional
        inputs, targets, speakers = batch
        output = remove_speaker(self.tensors, inputs)
        kept = (output - targets).square().mean()
        reversed_ = output.detach() * (1 + _REVERSED) - output * _REVERSED  # output's value, its gradient times -1
        return _KEEP * kept + functional.cross_entropy(classify(self.tensors, reversed_), speakers)

    def validate(self) -> float:
        """How much of the content is lost on utterances drawn once."""
        rng = rng_for(self.key, "masking judgement")
        drawn = rng.integers(0, len(self.contents), _VALIDATED)
        with torch_for("training the head").no_grad():
            inputs, targets, _ = self._crops(rng, drawn)
            return float((remove_speaker(self.tensors, inputs) - targets).square().mean())


def remove_speaker(tensors: Mapping[str, Any], content: Any) -> Any:
    """Give content [batch, frames, 288] with less of the speaker in it."""
    functional = torch_for("training the head").nn.functional
    hidden = functional.silu(content @ tensors["mask.in.weight"] + tensors["mask.in.bias"])
    return content + hidden @ tensors["mask.out.weight"] + tensors["mask.out.bias"]


def classify(tensors: Mapping[str, Any], content: Any) -> Any:
    """Score every speaker from the mean and the spread of each frame's numbers: [batch, speakers]."""
    torch = torch_for("training the head")
    hidden = torch.nn.functional.silu(content @ tensors["guess.in.weight"] + tensors["guess.in.bias"])
    pooled = torch.cat([hidden.mean(dim=1), hidden.std(dim=1)], dim=1)
    return pooled @ tensors["guess.out.weight"] + tensors["guess.out.bias"]


def new_task(utterances: Sequence[SynthesizerFeatures], *, seed: int) -> SpeakerAdversaryTask:
    """Lay the contents on the network's frames and make a new head and classifier."""
    torch = torch_for("training the head")
    key = Key.from_seed(f"mask {seed}")
    names = sorted({utterance.speaker for utterance in utterances})
    sizes = {
        "mask.in": (WIDTH, _HEAD),
        "mask.out": (_HEAD, WIDTH),
        "guess.in": (WIDTH, _CLASSIFIER),
        "guess.out": (2 * _CLASSIFIER, len(names)),
    }
    tensors: dict[str, Any] = {}
    for name, size in sizes.items():
        spread = (0.1 if name == "mask.out" else 1.0) / np.sqrt(size[0])
        weight = rng_for(key, "weights", name).normal(0.0, spread, size).astype(np.float32)
        tensors[f"{name}.weight"] = torch.from_numpy(weight).requires_grad_(True)
        tensors[f"{name}.bias"] = torch.zeros(size[1], requires_grad=True)
    speakers = np.array([names.index(utterance.speaker) for utterance in utterances])
    return SpeakerAdversaryTask([_versions(utterance) for utterance in utterances], speakers, tensors, key)


def train_head(
    utterances: Sequence[SynthesizerFeatures], folder: Path, *, fingerprint: str, seed: int
) -> SpeakerAdversaryTask:
    """Train a head into ``folder``, continuing a training that was stopped; takes minutes."""
    task = new_task(utterances, seed=seed)
    for _ in loop.train(task, PLAN, folder, fingerprint=fingerprint, resume=True):
        pass
    return task


def _versions(utterance: SynthesizerFeatures) -> list[NDArray[np.float16]]:
    count = frame_count(len(utterance.audio))
    return [
        on_frames(content.astype(np.float32), count, speed=speed).astype(np.float16)
        for content, speed in zip(utterance.contents, utterance.speeds, strict=True)
    ]


def _filled(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.pad(values, ((0, _FRAMES - len(values)), (0, 0)), mode="wrap")


def encode(tensors: Mapping[str, Any]) -> bytes:
    """Write the head as a graph: content [frames, 288] in and out."""
    graph = OnnxGraph()
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
