"""A training can be stopped and continued: its whole state in one file of plain numbers.

Files hold tensors, numbers and texts only, and are read by torch's reader for exactly that: a file cannot run anything.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from personare.core.errors import ConfigError, WeightsError
from personare.core.files import write_bytes
from personare.training.torch_extra import torch_for

LAST, BEST = "last.pt", "best.pt"
# field of Checkpoint -> its name in the file and its type; the file's names are older than the fields'
_FILE_KEYS: dict[str, tuple[str, type]] = {
    "fingerprint": ("mark", str),
    "step": ("step", int),
    "tensors": ("tensors", dict),
    "optimizer": ("optimizer", dict),
    "best": ("best", float),
    "since_best": ("since", int),
    "validations": ("rows", list),
}


class Validation(NamedTuple):
    """One validation: after so many steps, the mean training loss since the last, the held-out measure, the rate."""

    step: int
    loss: float
    held_out: float
    rate: float


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A training between two steps.

    Parameters
    ----------
    fingerprint : names the training (configuration and speech); a file with another one is not continued.
    step : how many steps are done.
    tensors : every tensor of the networks, by name.
    optimizer : the optimizer's state.
    best : the lowest held-out measure so far; ``since_best`` validations have come after it.
    validations : all validations so far.
    """

    fingerprint: str
    step: int
    tensors: Mapping[str, Any]
    optimizer: Mapping[str, Any]
    best: float = float("inf")
    since_best: int = 0
    validations: list[Validation] = field(default_factory=list)


def save(checkpoint: Checkpoint, path: Path) -> None:
    """Write it; a reader sees the old file or the new one, never half of one."""
    torch = torch_for("a checkpoint")
    plain = {key: getattr(checkpoint, name) for name, (key, _) in _FILE_KEYS.items()}
    plain["tensors"] = {name: tensor.detach().cpu() for name, tensor in checkpoint.tensors.items()}
    plain["rows"] = [tuple(row) for row in checkpoint.validations]
    stream = io.BytesIO()  # written to a path, the file would hold that path's name
    torch.save(plain, stream)
    write_bytes(path, stream.getvalue())


def load(path: Path, *, fingerprint: str | None) -> Checkpoint:
    """Read it; a file of another training is refused, unless ``fingerprint`` is None."""
    torch = torch_for("a checkpoint")
    if not path.is_file():
        raise WeightsError(f"{path}: no such checkpoint; leave --resume out to begin anew")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch's reader has no common type for a broken file
        raise WeightsError(f"{path}: not a readable checkpoint ({type(error).__name__})") from None
    if not isinstance(content, dict) or any(not isinstance(content.get(k), kind) for k, kind in _FILE_KEYS.values()):
        raise WeightsError(f"{path}: not a checkpoint of a training")
    values = {name: content[key] for name, (key, _) in _FILE_KEYS.items()}
    if fingerprint is not None and values["fingerprint"] != fingerprint:
        raise ConfigError(f"{path}: made by another configuration or from other speech; choose a new folder")
    return Checkpoint(**{**values, "validations": [Validation(*row) for row in values["validations"]]})


def fill(tensors: Mapping[str, Any], values: Mapping[str, Any], *, where: str) -> None:
    """Copy ``values`` into ``tensors`` in place; names and shapes must be the same."""
    torch = torch_for("a checkpoint")
    for name, tensor in tensors.items():
        if name not in values:
            raise WeightsError(f"{where}: has no tensor '{name}'")
        value = torch.as_tensor(values[name])
        if value.shape != tensor.shape:
            shapes = f"{list(value.shape)}, this network needs {list(tensor.shape)}"
            raise WeightsError(f"{where}: tensor '{name}' has shape {shapes}")
        with torch.no_grad():
            tensor.copy_(value)
