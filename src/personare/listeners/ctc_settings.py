"""What can be chosen when a recognizer is trained: the network, how long it learns, what it hears, who judges it."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from personare.core.config import from_mapping, load_yaml, parse_yaml
from personare.core.errors import ConfigError
from personare.listeners.ctc import SYMBOLS
from personare.nn.ctc import Shape
from personare.nn.plan import Plan

SHIPPED = "ctc-small.yaml"


@dataclass(frozen=True)
class HeldOut:
    """Speakers of the part who are not learnt from but judge the network: how many, and utterances of each."""

    speakers: int = 20
    utterances: int = 5

    def __post_init__(self) -> None:
        if self.speakers < 2 or self.utterances < 1:
            raise ConfigError("held_out needs at least 2 speakers and 1 utterance of each")


@dataclass(frozen=True)
class Settings:
    """One training.

    Parameters
    ----------
    shape : widths of the network; its bands and symbols are those of the listener 'ctc' and cannot be others.
    plan : how long it learns, and how fast.
    batch : utterances in a step.
    longest_s : longer utterances are left out and counted, because a step waits for its longest utterance.
    held_out : who judges.
    seed : everything drawn by chance.
    """

    shape: Shape = field(default_factory=Shape)
    plan: Plan = field(default_factory=Plan)
    batch: int = 16
    longest_s: float = 8.0
    held_out: HeldOut = field(default_factory=HeldOut)
    seed: int = 1

    def __post_init__(self) -> None:
        if self.shape.bands != Shape.bands or self.shape.symbols != SYMBOLS:
            raise ConfigError(
                f"shape needs bands: {Shape.bands} and symbols: {SYMBOLS}, not {self.shape.bands} and "
                f"{self.shape.symbols}; leave both out"
            )
        if self.batch < 1 or self.longest_s <= 0:
            raise ConfigError(f"batch must be at least 1 and longest_s above 0, not {self.batch} and {self.longest_s}")


def chosen(config: Path | None = None) -> Settings:
    """Read the settings of a file, or the shipped ones, which train in minutes on a processor.

    >>> chosen().plan.device
    'cpu'
    """
    if config is not None:
        return load_yaml(Settings, config)
    text = resources.files("personare.listeners").joinpath(SHIPPED).read_text(encoding="utf-8")
    return from_mapping(Settings, parse_yaml(text, where=SHIPPED), where=SHIPPED)
