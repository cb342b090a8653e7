"""The settings of the reader's training: the sizes of its two networks, the batches, how long and how fast."""

from __future__ import annotations

from dataclasses import dataclass, field

from personare.core.errors import ConfigError
from personare.encoders.grid import WIDTH
from personare.encoders.reading import PLACES
from personare.training.plan import TrainingPlan
from personare.training.synthesizer.network import SynthesizerShape


@dataclass(frozen=True)
class ReaderSettings:
    """Everything the weights depend on, beside what is read.

    Parameters
    ----------
    plan : the training loop's settings.
    width, text_blocks, speech_blocks : of the two networks; a block sees ``text_reach`` symbols or ``speech_reach``
        frames to either side.
    states : numbers by which the first network tells the second about a symbol.
    batch : sentences per step and process, drawn from ``alike`` sentences of about one length.
    processes : processes that train together, each with its own batches.
    duration_weight : of the loss of durations against that of content.
    held_out : sentences to validate on.
    """

    plan: TrainingPlan = field(
        default_factory=lambda: TrainingPlan(
            steps=3000,
            validate_every=250,
            patience=0,
            rate=1.5e-3,
            lowest_rate=1e-5,
            warm_up=100,
            weight_decay=0.0,
            gradient_limit=2.0,
        )
    )
    seed: int = 1
    width: int = 256
    text_blocks: int = 5
    speech_blocks: int = 6
    text_reach: int = 3
    speech_reach: int = 4
    states: int = 128
    batch: int = 16
    alike: int = 64
    processes: int = 2
    duration_weight: float = 0.5
    held_out: int = 60

    def __post_init__(self) -> None:
        for name in ("width", "text_blocks", "speech_blocks", "states", "batch", "processes", "held_out"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.alike < self.batch:
            raise ConfigError(f"alike must be at least the batch of {self.batch}, not {self.alike}")
        if self.duration_weight < 0:
            raise ConfigError(f"duration_weight must not be negative, not {self.duration_weight}")

    def text_shape(self, *, symbols: int, readers: int) -> SynthesizerShape:
        """The sizes of the network that gives symbols their durations and states."""
        return SynthesizerShape(
            content=symbols,
            prosody=0,
            voice=readers,
            bands=1 + self.states,
            width=self.width,
            blocks=self.text_blocks,
            reach=self.text_reach,
            voice_width=32,
        )

    def speech_shape(self, *, readers: int) -> SynthesizerShape:
        """The sizes of the network that makes content of states."""
        return SynthesizerShape(
            content=self.states + PLACES,
            prosody=0,
            voice=readers,
            bands=WIDTH,
            width=self.width,
            blocks=self.speech_blocks,
            reach=self.speech_reach,
            voice_width=32,
        )
