"""A training can be stopped and gone on with: everything it is at one moment, in one file of plain numbers.

Files hold tensors, numbers and texts only, and are read by torch's reader for exactly that: a file cannot run anything.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from personare.core.errors import ConfigError, WeightsError
from personare.core.files import write_bytes
from personare.nn.torch_extra import torch_for

LAST, BEST = "last.pt", "best.pt"
_PARTS = {"mark": str, "step": int, "tensors": dict, "optimizer": dict, "best": float, "since": int, "rows": list}


@dataclass(frozen=True, eq=False)
class Moment:
    """A training between two steps.

    Parameters
    ----------
    mark : names the training (configuration and speech); a file with another mark is not gone on with.
    step : how many steps are done.
    tensors : every tensor of the networks, by name.
    optimizer : what the optimizer remembers.
    best : the lowest judgement so far; ``since`` judgements have come after it.
    rows : the judgements so far, as (step, loss, held out, rate).
    """

    mark: str
    step: int
    tensors: Mapping[str, Any]
    optimizer: Mapping[str, Any]
    best: float = float("inf")
    since: int = 0
    rows: list[tuple[int, float, float, float]] = field(default_factory=list)


def save(moment: Moment, path: Path) -> None:
    """Write it; a reader sees the old file or the new one, never half of one."""
    torch = torch_for("a checkpoint")
    plain = {name: getattr(moment, name) for name in _PARTS}
    plain["tensors"] = {name: tensor.detach().cpu() for name, tensor in moment.tensors.items()}
    stream = io.BytesIO()  # written to a path, the file would hold that path's name
    torch.save(plain, stream)
    write_bytes(path, stream.getvalue())


def load(path: Path, *, mark: str | None) -> Moment:
    """Read it; a file of another training is refused, unless ``mark`` is None."""
    torch = torch_for("a checkpoint")
    if not path.is_file():
        raise WeightsError(f"{path}: no such checkpoint; leave --resume out to begin anew")
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch's reader has no common type for a broken file
        raise WeightsError(f"{path}: not a readable checkpoint ({type(error).__name__})") from None
    if not isinstance(found, dict) or any(not isinstance(found.get(name), kind) for name, kind in _PARTS.items()):
        raise WeightsError(f"{path}: not a checkpoint of a training")
    if mark is not None and found["mark"] != mark:
        raise ConfigError(f"{path}: made by another configuration or from other speech; choose a new folder")
    return Moment(**{**{name: found[name] for name in _PARTS}, "rows": [tuple(row) for row in found["rows"]]})


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
