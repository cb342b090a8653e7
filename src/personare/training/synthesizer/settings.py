"""The settings of the synthesizer's training: the sizes of the network, the batches, and how long and how fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from personare.core.errors import ConfigError
from personare.training.plan import TrainingPlan
from personare.training.synthesizer.network import SynthesizerShape


@dataclass(frozen=True)
class SynthesizerSettings:
    """Everything the weights depend on, beside the speech.

    Parameters
    ----------
    shape, plan : the network's sizes and the training loop's settings.
    batch : crops of speech per step and process; each has ``frames`` frames of 12 ms.
    processes : processes that train together, each with its own batches.
    discriminator_from : share of the steps after which a discriminator of natural and synthesized speech joins in.
    discriminator_crops, discriminator_frames : how much of a batch it sees.
    adversarial_weight, matching_weight : of the loss against the discriminator, and of feature matching.
    voice_noise : standard deviation of the noise added to speaker vectors (of length 1).
    true_content : share of crops whose content comes from the speech itself, not from a copy in another voice.
    predicted_energy : share of crops whose energy and voicing a prosody network predicts, where one is given; with
        them the synthesizer learns to speak from what it will get.
    held_out : speakers to validate on.
    rehearsed, other_speakers, rehearsal_weight : crops per step without a recording, on which a teacher is imitated,
        where one is given, crops that are given to another speaker as well (see rehearsal.py), and the weight of both.
    reader_weight : of the loss of a reader that is trained with the network (see joint.py); 0: it stays as it is.
    repeated : how often the readings of a language count, by its code, where a reader is trained along; else once.
    most_readings : how many sentences that were read aloud are learnt from at most, where a reader is given.
    """

    RENAMED: ClassVar[Mapping[str, str]] = {
        "contest_from": "discriminator_from",
        "contest_pieces": "discriminator_crops",
        "contest_frames": "discriminator_frames",
        "contest_weight": "adversarial_weight",
    }

    shape: SynthesizerShape = field(default_factory=SynthesizerShape)
    plan: TrainingPlan = field(
        default_factory=lambda: TrainingPlan(
            steps=4000,
            validate_every=250,
            patience=0,
            rate=1e-3,
            lowest_rate=2e-5,
            warm_up=100,
            weight_decay=0.0,
            gradient_limit=2.0,
        )
    )
    seed: int = 1
    batch: int = 12
    frames: int = 128
    processes: int = 2
    discriminator_from: float = 0.67
    discriminator_crops: int = 6
    discriminator_frames: int = 64
    adversarial_weight: float = 0.1
    matching_weight: float = 0.05
    voice_noise: float = 0.01
    true_content: float = 0.25
    predicted_energy: float = 0.5
    held_out: int = 8
    most_readings: int = 1000
    rehearsed: int = 4
    other_speakers: int = 4
    rehearsal_weight: float = 0.5
    reader_weight: float = 0.0
    repeated: Mapping[str, int] = field(default_factory=dict)

    def times(self, name: str) -> int:
        """How often a reading counts; its name begins with the code of its language."""
        return self.repeated.get(name.partition("-")[0], 1)

    def __post_init__(self) -> None:
        for name in (
            "batch",
            "frames",
            "processes",
            "discriminator_crops",
            "discriminator_frames",
            "held_out",
            "most_readings",
            "rehearsed",
            "other_speakers",
        ):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("discriminator_from", "true_content", "predicted_energy"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is a share, 0 to 1, not {getattr(self, name)}")
        if self.reader_weight < 0 or any(times < 1 for times in self.repeated.values()):
            raise ConfigError("reader_weight must not be negative, and repeated holds whole numbers from 1 on")
        if self.discriminator_crops > self.batch or self.discriminator_frames > self.frames:
            raise ConfigError(
                "the discriminator sees no more than a batch holds; lower discriminator_crops or discriminator_frames"
            )
        if self.plan.patience:
            raise ConfigError("patience must be 0: the discriminator joins late, and its effect comes after that")
