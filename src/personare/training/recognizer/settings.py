"""The settings of a recognizer's training: the network, how long it trains, the batches, who is held out."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from personare.core.config import from_mapping, load_yaml, parse_yaml
from personare.core.errors import ConfigError
from personare.training.plan import TrainingPlan
from personare.training.recognizer.features import BANDS, SYMBOLS
from personare.training.recognizer.network import RecognizerShape

SHIPPED = "ctc-small.yaml"


@dataclass(frozen=True)
class RecognizerHeldOut:
    """Speakers who are not trained on but validated on: how many, and utterances of each."""

    speakers: int = 20
    utterances: int = 5

    def __post_init__(self) -> None:
        if self.speakers < 2 or self.utterances < 1:
            raise ConfigError("held_out needs at least 2 speakers and 1 utterance of each")


@dataclass(frozen=True)
class RecognizerMask:
    """What is blanked out of every utterance of a step: up to so many neighbouring bands, and frames of 10 ms.

    A recognizer that must read past a gap learns less by heart                            [park2019specaugment, sec. 2]
    """

    bands: int = 0
    frames: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.bands < BANDS or self.frames < 0:
            raise ConfigError(
                f"mask takes 0 to {BANDS - 1} bands and 0 or more frames, not {self.bands}, {self.frames}"
            )


@dataclass(frozen=True)
class RecognizerSettings:
    """One training.

    Parameters
    ----------
    shape : widths of the network; its bands and symbols are those of the listener 'ctc' and cannot be others.
    plan : how long it trains, and how fast.
    batch : utterances in a step, of about one length.
    mask : what is blanked out of them; nothing unless given.
    longest_s : longer utterances are left out and counted, because a step waits for its longest utterance.
    held_out : who is validated on.
    seed : everything drawn by chance.
    """

    shape: RecognizerShape = field(default_factory=RecognizerShape)
    plan: TrainingPlan = field(default_factory=TrainingPlan)
    batch: int = 16
    mask: RecognizerMask = field(default_factory=RecognizerMask)
    longest_s: float = 8.0
    held_out: RecognizerHeldOut = field(default_factory=RecognizerHeldOut)
    seed: int = 1

    def __post_init__(self) -> None:
        if self.shape.bands != BANDS or self.shape.symbols != SYMBOLS:
            raise ConfigError(
                f"shape needs bands: {BANDS} and symbols: {SYMBOLS}, not {self.shape.bands} and "
                f"{self.shape.symbols}; leave both out"
            )
        if self.batch < 1 or self.longest_s <= 0:
            raise ConfigError(f"batch must be at least 1 and longest_s above 0, not {self.batch} and {self.longest_s}")


def recognizer_settings(config: Path | None = None) -> RecognizerSettings:
    """Read the settings of a file, or the shipped ones, which train in minutes on a processor.

    >>> recognizer_settings().plan.device
    'cpu'
    """
    if config is not None:
        return load_yaml(RecognizerSettings, config)
    text = resources.files("personare.training.recognizer").joinpath(SHIPPED).read_text(encoding="utf-8")
    return from_mapping(RecognizerSettings, parse_yaml(text, where=SHIPPED), where=SHIPPED)
