"""The codec's configurations by name (paper, small, tiny), or from a file: which networks, losses and how long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from personare.core.config import from_mapping, parse_yaml
from personare.core.errors import ConfigError, UnknownNameError, did_you_mean
from personare.core.seeding import Key, rng_for
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from personare.training.usc.paper_task import PaperSettings, PaperTask
    from personare.training.usc.small_task import SmallSettings, SmallTask
    from personare.training.usc.speech_store import SpeechStore

Name = Literal["paper", "small", "tiny"]
NAMES: tuple[Name, ...] = ("paper", "small", "tiny")


def settings_of(config: str) -> PaperSettings | SmallSettings:
    """Give the settings of a name, or of a YAML file whose key ``config`` names what it changes.

    >>> settings_of("paper").shape.codes
    (16384, 1024, 1024, 1024, 1024, 1024)
    """
    torch_for("training the codec")
    if config in NAMES:
        return _named(config)
    path = Path(config)
    if path.suffix not in (".yaml", ".yml"):
        raise UnknownNameError(
            f"no configuration '{config}' of the codec; {did_you_mean(config, NAMES)}, or a .yaml file"
        )
    if not path.is_file():
        raise ConfigError(f"{path}: no such file")
    found = parse_yaml(path.read_text(encoding="utf-8"), where=str(path))
    if not isinstance(found, dict) or found.get("config") not in NAMES:
        raise ConfigError(f"{path}: needs the key 'config' with one of {', '.join(NAMES)}")
    start = _named(str(found.pop("config")))
    changed: PaperSettings | SmallSettings = _changed(start, found, where=str(path))
    return changed


def _changed(start: Any, changes: dict[str, Any], *, where: str) -> Any:
    """Change some fields of nested settings; unknown names are errors with a suggestion."""
    import dataclasses

    plain = {field.name: getattr(start, field.name) for field in dataclasses.fields(start)}
    for name, value in changes.items():
        inner = plain.get(name)
        nested = isinstance(value, dict) and dataclasses.is_dataclass(inner)
        plain[name] = _changed(inner, value, where=f"{where}: {name}") if nested else value
    return from_mapping(type(start), plain, where=where)


def _named(name: str) -> PaperSettings | SmallSettings:
    from personare.training.usc.paper_task import PaperSettings, PaperShape
    from personare.training.usc.small_task import SmallSettings

    if name == "small":
        return SmallSettings()
    if name == "paper":
        return PaperSettings()
    shape = PaperShape(
        channels=4,
        width=32,
        decoder_channels=64,
        codes=(64, 16, 16, 16, 16, 16),
        dims=4,
        teacher=288,
        classifier_layers=1,
        discriminator_channels=2,
        periods=(2, 3),
        windows=(512,),
    )
    plan = replace(PaperSettings().plan, steps=200, validate_every=50, warm_up=10, rate=1e-3, lowest_rate=1e-5)
    return PaperSettings(shape=shape, plan=plan, crops=4, frames=12, held_out=2)


def task_of(settings: PaperSettings | SmallSettings, store: SpeechStore) -> PaperTask | SmallTask:
    """Make the task of these settings on prepared speech."""
    from personare.training.usc.paper_task import PaperSettings, PaperTask
    from personare.training.usc.small_task import SmallTask
    from personare.training.usc.wave_batches import wave_crops

    if not isinstance(settings, PaperSettings):
        return SmallTask(settings, store)
    crops = wave_crops(
        store,
        size=settings.crops,
        frames=settings.frames,
        labelled=settings.labelled,
        held_out=settings.held_out,
        rng=rng_for(Key.from_seed(f"usc paper {settings.seed}"), "held out"),
    )
    found = crops.utterances[0].teacher.shape[1]
    if found != settings.shape.teacher:
        raise ConfigError(f"the prepared teacher has {found} dimensions; set shape.teacher to {found}")
    return PaperTask(settings, crops)
