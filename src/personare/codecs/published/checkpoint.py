"""Published checkpoints of other codecs: read from a local file without running anything, in plain weights.

Weights that were stored as direction and length (weight normalisation, under either of torch's names) are multiplied
out, so that the networks here are plain convolutions. Nothing is fetched: a missing file is one line that says what to
bring.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from personare.core.errors import WeightsError

_PAIRS = (("weight_g", "weight_v"), ("parametrizations.weight.original0", "parametrizations.weight.original1"))


def read_state(path: str, *, codec: str, published: str) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Read tensors by name and what else the file holds; ``published`` says which file a user needs."""
    place = Path(path)
    if not path or not place.is_file():
        where = f"{path}: no such file" if path else "no file named"
        raise WeightsError(f"{codec} needs its published weights ({published}): {where}; set weights=FILE to your copy")
    try:
        found = torch.load(place, map_location="cpu", weights_only=True)
    except Exception as error:  # torch's reader has no common type for a broken file
        raise WeightsError(f"{path}: not a checkpoint torch can read safely ({type(error).__name__})") from None
    rest: Mapping[str, Any] = {}
    if isinstance(found, dict) and isinstance(found.get("state_dict"), dict):
        found, rest = found["state_dict"], {name: value for name, value in found.items() if name != "state_dict"}
    if not isinstance(found, dict) or not all(torch.is_tensor(value) for value in found.values()):
        raise WeightsError(f"{path}: holds no table of tensors; {codec} needs {published}")
    return multiplied(found), rest


def multiplied(state: Mapping[str, Any]) -> dict[str, Any]:
    """Multiply out weight normalisation: w = g v / |v|, the length taken over the dimensions along which g has one."""
    plain = dict(state)
    for length, direction in _PAIRS:
        for name in [name for name in plain if name.endswith(f".{length}")]:
            stem = name.removesuffix(length)
            g, v = plain.pop(name), plain.pop(stem + direction)
            over = tuple(axis for axis in range(v.ndim) if g.shape[axis] == 1)
            plain[f"{stem}weight"] = g * v / torch.linalg.vector_norm(v, dim=over, keepdim=True)
    return plain


def fill(network: Any, state: Mapping[str, Any], *, where: str, unused: tuple[str, ...] = ()) -> None:
    """Put tensors into a network; every tensor of the network must be there, others only if named in ``unused``."""
    own = network.state_dict()
    missing = [name for name in own if name not in state]
    if missing:
        raise WeightsError(
            f"{where}: has no tensor '{missing[0]}' ({len(missing)} are missing); not this codec's weights"
        )
    extra = [name for name in state if name not in own and not name.startswith(unused)]
    if extra:
        raise WeightsError(f"{where}: has a tensor '{extra[0]}' that this codec does not have; another version of it?")
    for name, tensor in own.items():
        if tensor.shape != state[name].shape:
            shapes = f"{list(state[name].shape)}, not {list(tensor.shape)}"
            raise WeightsError(f"{where}: tensor '{name}' has shape {shapes}; another version of the codec?")
    network.load_state_dict({name: state[name] for name in own})
    network.eval()


def digest_of(*paths: str) -> str:
    """Name weights by what is in them: 16 hexadecimal digits."""
    total = hashlib.sha256()
    for path in paths:
        with Path(path).open("rb") as stream:
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()[:16]
