"""How the neural voice is trained: the sizes of the network, the batches, and how long and how fast to learn."""

from __future__ import annotations

from dataclasses import dataclass, field

from personare.core.errors import ConfigError
from personare.nn.plan import Plan
from personare.nn.voice import Shape


@dataclass(frozen=True)
class Settings:
    """Everything the weights depend on, beside the speech.

    Parameters
    ----------
    shape, plan : the network's sizes and the training loop's numbers.
    batch : pieces of speech per step and process; each has ``frames`` frames of 12 ms.
    processes : processes that learn together, each with its own batches.
    contest_from : share of the steps after which a judge of true and made sound joins in.
    contest_pieces, contest_frames : how much of a batch the judge hears.
    contest_weight, matching_weight : of the judge's verdict, and of its layers' answers.
    voice_noise : spread of the noise added to speaker vectors (of length 1).
    true_content : share of pieces whose content comes from the speech itself, not from a disguised copy.
    held_out : speakers set aside to judge by.
    """

    shape: Shape = field(default_factory=Shape)
    plan: Plan = field(
        default_factory=lambda: Plan(
            steps=4000,
            judge_every=250,
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
    contest_from: float = 0.67
    contest_pieces: int = 6
    contest_frames: int = 64
    contest_weight: float = 0.1
    matching_weight: float = 0.05
    voice_noise: float = 0.01
    true_content: float = 0.25
    held_out: int = 8

    def __post_init__(self) -> None:
        for name in ("batch", "frames", "processes", "contest_pieces", "contest_frames", "held_out"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.contest_from <= 1 or not 0 <= self.true_content <= 1:
            raise ConfigError("contest_from and true_content are shares, 0 to 1")
        if self.contest_pieces > self.batch or self.contest_frames > self.frames:
            raise ConfigError("the judge cannot hear more than a batch holds; lower contest_pieces or contest_frames")
        if self.plan.patience:
            raise ConfigError("patience must be 0: the judge joins late, and what it teaches comes after that")
