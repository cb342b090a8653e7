"""The settings of an embedder's training: the network, the batches, who is held out, how long it trains."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Literal

from personare.core.config import from_mapping, load_yaml, parse_yaml
from personare.core.errors import ConfigError
from personare.training.plan import TrainingPlan

Arch = Literal["ecapa", "xvector"]
Init = Literal["new", "ecapa"]
ECAPA_SCALE = 8


@dataclass(frozen=True)
class EmbedderNetwork:
    """Widths of a network.

    Parameters
    ----------
    channels : of the layers that see frames; for ecapa a multiple of 8.
    frame_channels : of the last layer that sees frames.
    attention, squeeze : of the small layers inside ecapa; xvector has none.
    dimensions : of the vector.
    frozen : layers whose names begin so are not trained, e.g. ``[blocks.0, blocks.1]``.
    """

    channels: int = 64
    frame_channels: int = 192
    attention: int = 32
    squeeze: int = 32
    dimensions: int = 192
    frozen: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("channels", "frame_channels", "attention", "squeeze", "dimensions"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")


@dataclass(frozen=True)
class MarginHead:
    """The classification loss: AAM- or AM-softmax, its margin and its scale."""

    kind: Literal["aam", "am"] = "aam"
    margin: float = 0.2
    scale: float = 30.0

    def __post_init__(self) -> None:
        if not 0 <= self.margin < 1.5 or self.scale <= 0:
            raise ConfigError(f"a head needs 0 <= margin < 1.5 and scale > 0, not {self.margin} and {self.scale}")


@dataclass(frozen=True)
class BatchSettings:
    """What a batch is made of.

    Parameters
    ----------
    batch : recordings in a step; speakers are drawn equally often, however much speech they have.
    crop_s : length of the part that is taken, at a random place; shorter recordings are repeated.
    speeds : each recording is played at one of these speeds (pitch and resonances move along).
    speed_is_speaker : a speaker at another speed counts as another speaker.
    noise_share, noise_snr_db : share of recordings with generated noise, from white to brown, and its range of levels.
    babble_share, babble_snr_db : the same for babble of three to six other training speakers.
    memory_mb : decoded speech kept in memory; the rest is read again from its files.
    """

    batch: int = 32
    crop_s: float = 2.0
    speeds: tuple[float, ...] = (0.9, 1.0, 1.1)
    speed_is_speaker: bool = True
    noise_share: float = 0.3
    noise_snr_db: tuple[float, float] = (5.0, 25.0)
    babble_share: float = 0.2
    babble_snr_db: tuple[float, float] = (10.0, 25.0)
    memory_mb: int = 1000

    def __post_init__(self) -> None:
        if self.batch < 2 or self.crop_s < 0.2 or self.memory_mb < 0:
            raise ConfigError("sounds need batch >= 2, crop_s >= 0.2 and memory_mb >= 0")
        if not self.speeds or not all(0.5 <= speed <= 2.0 for speed in self.speeds):
            raise ConfigError(f"speeds must lie between 0.5 and 2, not {list(self.speeds)}")
        if len(set(self.speeds)) != len(self.speeds):
            raise ConfigError(f"speeds must not repeat, as in {list(self.speeds)}")
        if min(self.noise_share, self.babble_share) < 0 or self.noise_share + self.babble_share > 1:
            raise ConfigError("noise_share and babble_share must not be negative, and at most 1 together")
        for low, high in (self.noise_snr_db, self.babble_snr_db):
            if low > high:
                raise ConfigError(f"a range of levels goes from low to high, not from {low} to {high} dB")


@dataclass(frozen=True)
class EmbedderHeldOut:
    """Speakers who are not trained on but validated on: how many, utterances of each, seconds of each."""

    speakers: int = 16
    utterances: int = 8
    longest_s: float = 6.0

    def __post_init__(self) -> None:
        if self.speakers < 2 or self.utterances < 2 or self.longest_s <= 0:
            raise ConfigError("held_out needs at least 2 speakers, 2 utterances and a longest_s above 0")


@dataclass(frozen=True)
class EmbedderSettings:
    """One training. ``init: ecapa`` begins from the published VoxCeleb weights instead of from nothing."""

    arch: Arch = "ecapa"
    init: Init = "new"
    network: EmbedderNetwork = field(default_factory=EmbedderNetwork)
    head: MarginHead = field(default_factory=MarginHead)
    sounds: BatchSettings = field(default_factory=BatchSettings)
    held_out: EmbedderHeldOut = field(default_factory=EmbedderHeldOut)
    plan: TrainingPlan = field(default_factory=TrainingPlan)
    seed: int = 1

    def __post_init__(self) -> None:
        if self.arch == "ecapa" and self.network.channels % ECAPA_SCALE:
            raise ConfigError(f"ecapa needs channels in multiples of {ECAPA_SCALE}, not {self.network.channels}")
        if self.init == "ecapa" and self.arch != "ecapa":
            raise ConfigError(f"init 'ecapa' has weights for arch 'ecapa', not for '{self.arch}'")


def shipped(arch: Arch, init: Init = "new") -> EmbedderSettings:
    """Give the settings that train in minutes on a processor.

    >>> shipped("xvector").arch
    'xvector'
    """
    name = f"{arch}-small.yaml" if init == "new" else "ecapa-fine-tuning.yaml"
    text = resources.files("personare.training.embedder").joinpath(name).read_text(encoding="utf-8")
    return from_mapping(EmbedderSettings, parse_yaml(text, where=name), where=name)


def embedder_settings(arch: Arch | None, init: Init | None, config: Path | None) -> EmbedderSettings:
    """Read the settings of a file, or the shipped ones; an ``arch`` or ``init`` that contradicts them is refused."""
    settings = shipped(arch or "ecapa", init or "new") if config is None else load_yaml(EmbedderSettings, config)
    for name, requested in (("arch", arch), ("init", init)):
        if requested is not None and requested != getattr(settings, name):
            where = config if config is not None else "the shipped settings"
            raise ConfigError(f"{where}: {name} is '{getattr(settings, name)}', not '{requested}'; change one of them")
    return settings
