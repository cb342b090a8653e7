"""The settings of the prosody network's training: its sizes, the batches, the losses, how long and how fast."""

from __future__ import annotations

from dataclasses import dataclass, field

from personare.core.errors import ConfigError
from personare.encoders.prosody import PROSODY
from personare.training.plan import TrainingPlan
from personare.training.synthesizer.network import SynthesizerShape


@dataclass(frozen=True)
class ProsodySettings:
    """Everything the weights depend on, beside the speech.

    Parameters
    ----------
    shape, plan : the network's sizes and the training loop's settings.
    batch : crops of speech per step; each has ``frames`` frames of 12 ms.
    f0_weight, voicing_weight, energy_weight : of the three losses.
    true_content : share of crops whose content comes from the speech itself, not from a copy in another voice or room.
    voice_noise : standard deviation of the noise added to speaker vectors (of length 1).
    voice_dropout : share of crops that get the vector of another speaker, so that content decides what it can.
    held_out : speakers to validate on.
    """

    shape: SynthesizerShape = field(
        default_factory=lambda: SynthesizerShape(
            prosody=0, bands=PROSODY, width=160, blocks=6, expansion=2, reach=7, voice_width=48
        )
    )
    plan: TrainingPlan = field(
        default_factory=lambda: TrainingPlan(
            steps=2500,
            validate_every=250,
            patience=0,
            rate=1.5e-3,
            lowest_rate=2e-5,
            warm_up=100,
            weight_decay=0.0,
            gradient_limit=2.0,
        )
    )
    seed: int = 1
    batch: int = 12
    frames: int = 256
    f0_weight: float = 1.0
    voicing_weight: float = 1.0
    energy_weight: float = 2.0
    true_content: float = 0.3
    voice_noise: float = 0.02
    voice_dropout: float = 0.1
    held_out: int = 12

    def __post_init__(self) -> None:
        for name in ("batch", "frames", "held_out"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("true_content", "voice_dropout"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is a share, 0 to 1, not {getattr(self, name)}")
        for name in ("f0_weight", "voicing_weight", "energy_weight", "voice_noise"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, not {getattr(self, name)}")
        if self.shape.prosody or self.shape.bands != PROSODY:
            raise ConfigError(f"the prosody network takes no prosody and gives {PROSODY} numbers a frame")
