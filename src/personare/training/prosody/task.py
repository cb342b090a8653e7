"""The task of the prosody network's training: F0 contour, voicing and energy of speech from its content and speaker.

F0 is learnt as the distance from the speaker's median in units of the speaker's range, over voiced frames; energy as
the synthesizer takes it, with every level under a common floor raised to it, so that no recording's own noise floor is
learnt. Content comes mostly from copies in other voices and other recording conditions; the targets are always those
of the speech itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.encoders.grid import PAIR, frame_count, on_frames
from personare.encoders.prosody import f0_statistics, normalize_f0, scale_energy
from personare.training.prosody.settings import ProsodySettings
from personare.training.synthesizer import network
from personare.training.synthesizer.features import SynthesizerFeatures
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_VALIDATED_FRAMES = 800  # of each held-out utterance, at most
_VALIDATED_UTTERANCES = 60


@dataclass(frozen=True, eq=False)
class ProsodyExample:
    """One utterance: content in several versions, and what is to be predicted from any of them.

    Parameters
    ----------
    contents, speeds : of the speech and its copies, each [encoder frames, 288], and how much faster each was played.
    vector : of the speaker, from this utterance; [256].
    targets : normalized F0, voicing, scaled energy every 6 ms; [2 frames, 3].
    """

    speaker: str
    contents: tuple[NDArray[np.float16], ...]
    speeds: tuple[float, ...]
    vector: Floats
    targets: Floats

    @property
    def frames(self) -> int:
        """How many frames of the network it has."""
        return len(self.targets) // PAIR

    def content(self, version: int) -> Floats:
        """Give a version of the content on the network's frames."""
        return on_frames(self.contents[version].astype(np.float32), self.frames, speed=self.speeds[version])


@dataclass(frozen=True, eq=False)
class ProsodyTask:
    """The prosody network as the training loop sees it."""

    settings: ProsodySettings
    examples: Sequence[ProsodyExample]
    held_out: Sequence[ProsodyExample]
    tensors: dict[str, Any]
    key: Key

    def batch(self, step: int) -> dict[str, Any]:
        """Draw crops of speech, longer utterances more often."""
        torch = torch_for("training the prosody network")
        rng = rng_for(self.key, "batch", str(step))
        lengths = np.array([example.frames for example in self.examples], dtype=np.float64)
        drawn = rng.choice(len(self.examples), self.settings.batch, p=lengths / lengths.sum())
        crops = [self._crop(self.examples[int(index)], rng) for index in drawn]
        return {name: torch.from_numpy(np.stack([crop[name] for crop in crops])) for name in crops[0]}

    def _crop(self, example: ProsodyExample, rng: np.random.Generator) -> dict[str, Floats]:
        frames = self.settings.frames
        first = int(rng.integers(0, max(1, example.frames - frames + 1)))
        is_true = rng.random() < self.settings.true_content or len(example.contents) == 1
        version = 0 if is_true else int(rng.integers(1, len(example.contents)))
        speaker = example
        if rng.random() < self.settings.voice_dropout:
            speaker = self.examples[int(rng.integers(len(self.examples)))]
        noise = rng.normal(0.0, self.settings.voice_noise, speaker.vector.shape)
        content = example.content(version)[first : first + frames]
        targets = example.targets[first * PAIR : (first + frames) * PAIR]
        return {
            "content": _padded(content, frames),
            "voice": (speaker.vector + noise).astype(np.float32),
            "targets": _padded(targets, frames * PAIR),
            "there": (np.arange(frames * PAIR) < len(targets)).astype(np.float32),
        }

    def loss(self, batch: Mapping[str, Any]) -> Any:
        """The weighted distances of F0 (where voiced), voicing and energy."""
        functional = torch_for("training the prosody network").nn.functional
        predicted = network.band_levels(
            self.tensors, batch["content"], None, batch["voice"], blocks=self.settings.shape.blocks
        )
        predicted, targets, there = predicted.reshape(batch["targets"].shape), batch["targets"], batch["there"]
        voiced = there * targets[..., 1]
        f0 = ((predicted[..., 0] - targets[..., 0]).abs() * voiced).sum() / voiced.sum().clamp_min(1.0)
        voicing = functional.binary_cross_entropy_with_logits(predicted[..., 1], targets[..., 1], reduction="none")
        energy = (predicted[..., 2] - targets[..., 2]).abs()
        settings = self.settings
        rest = settings.voicing_weight * voicing + settings.energy_weight * energy
        return settings.f0_weight * f0 + (rest * there).sum() / there.sum()

    def validate(self) -> float:
        """The loss on held-out speakers, from their own speech and from copies in turn."""
        torch = torch_for("training the prosody network")
        losses = []
        with torch.no_grad():
            for number, example in enumerate(self.held_out[:_VALIDATED_UTTERANCES]):
                part = slice(0, _VALIDATED_FRAMES)
                content = example.content(number % len(example.contents))[part]
                arrays = {
                    "content": content,
                    "voice": example.vector,
                    "targets": example.targets[: PAIR * len(content)],
                }
                arrays["there"] = np.ones(len(arrays["targets"]), np.float32)
                batch = {name: torch.from_numpy(values)[None] for name, values in arrays.items()}
                losses.append(float(self.loss(batch)))
        return float(np.mean(losses))

    def predict(self, example: ProsodyExample, *, version: int = 0) -> Floats:
        """Give the predicted F0, voicing (a logit) and energy of an utterance: [2 frames, 3]."""
        torch = torch_for("training the prosody network")
        inputs = torch.from_numpy(example.content(version))[None], None, torch.from_numpy(example.vector)[None]
        with torch.no_grad():
            predicted = network.band_levels(self.tensors, *inputs, blocks=self.settings.shape.blocks)
        values: Floats = predicted.numpy().reshape(example.targets.shape)
        return values


def held_out_measures(task: ProsodyTask) -> dict[str, float]:
    """How well held-out speakers are predicted: correlations of F0 and energy, the share of wrong voicing."""
    pairs = [(task.predict(example), example.targets) for example in task.held_out[:_VALIDATED_UTTERANCES]]
    predicted, targets = (np.concatenate(side) for side in zip(*pairs, strict=True))
    voiced = targets[:, 1] > 0
    return {
        "f0_correlation": _correlation(predicted[voiced, 0], targets[voiced, 0]),
        "voicing_error": float(((predicted[:, 1] > 0) != voiced).mean()),
        "energy_correlation": _correlation(predicted[:, 2], targets[:, 2]),
    }


def _correlation(a: Floats, b: Floats) -> float:
    if len(a) < 2 or not a.std() or not b.std():
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def examples_of(utterances: Sequence[SynthesizerFeatures]) -> list[ProsodyExample]:
    """Make examples of utterances; the F0 of each is normalized by all recordings of its speaker."""
    f0_by_speaker: dict[str, list[Floats]] = defaultdict(list)
    for utterance in utterances:
        f0_by_speaker[utterance.speaker].append(utterance.track.f0_hz[utterance.track.voiced])
    spoken = {speaker: f0_statistics(np.concatenate(parts)) for speaker, parts in f0_by_speaker.items()}
    examples = []
    for utterance in utterances:
        own, count = spoken[utterance.speaker], frame_count(len(utterance.audio)) * PAIR
        voiced = utterance.track.voiced[:count] if own is not None else np.zeros(count, bool)
        f0 = np.zeros(count, np.float32) if own is None else normalize_f0(utterance.track.f0_hz[:count], own)
        targets = np.stack([f0, voiced.astype(np.float32), scale_energy(utterance.track.energy_db[:count])], axis=1)
        parts = utterance.contents, utterance.speeds, utterance.vector
        examples.append(ProsodyExample(utterance.speaker, *parts, targets.astype(np.float32)))
    return examples


def _padded(values: Floats, length: int) -> Floats:
    missing = length - len(values)
    return np.pad(values, ((0, missing), (0, 0))) if missing else values


def new_task(
    settings: ProsodySettings, utterances: Sequence[SynthesizerFeatures], held_out: Sequence[SynthesizerFeatures]
) -> ProsodyTask:
    """Make a task with a new network."""
    key = Key.from_seed(f"prosody {settings.seed}")
    tensors = network.new_tensors(settings.shape, key=key, start_log=0.0)
    return ProsodyTask(settings, examples_of(utterances), examples_of(held_out), tensors, key)
