"""Pretrained networks as ONNX graphs: written once from checked weights, kept in the cache, opened on one thread."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.core import weights
from personare.core.checkpoint import load_tensors
from personare.core.files import write_bytes
from personare.core.onnx_format import OnnxNetwork, OnnxNode, OnnxValue, encode_model, make_node, make_tensor
from personare.core.sessions import Session, check_threads, open_session

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPSET = 18
IR_VERSION = 9


@dataclass(frozen=True)
class OnnxGraph:
    """A graph being written: nodes in order, and the constants they use."""

    nodes: list[OnnxNode] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add one node with one output; give the output's name."""
        (output,) = self.add_node(op, inputs, [f"{op.lower()}_{len(self.nodes)}"], **attributes)
        return output

    def add_node(self, op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Sequence[str]:
        """Add one node with named outputs; give their names."""
        self.nodes.append(make_node(op, inputs, outputs, **attributes))
        return outputs

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant; give its name."""
        name = f"constant_{len(self.constants)}"
        self.constants[name] = np.ascontiguousarray(values)
        return name

    def whole(self, *values: int) -> str:
        """Add a constant list of whole numbers, as axes, sizes and paddings are given."""
        return self.constant(np.array(values, dtype=np.int64))

    def encode(
        self,
        source: str,
        source_shape: Sequence[int | str],
        result: str,
        result_shape: Sequence[int | str],
        *,
        also: Mapping[str, Sequence[int | str]] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> bytes:
        """Write the model file: float32 in, float32 out.

        ``also`` names further inputs and their shapes; ``metadata`` is what the file says about itself.
        """
        network = OnnxNetwork(
            self.nodes,
            [OnnxValue(name, tuple(shape)) for name, shape in {source: source_shape, **(also or {})}.items()],
            [OnnxValue(result, tuple(result_shape))],
            [make_tensor(name, values) for name, values in self.constants.items()],
        )
        return encode_model(network, opsets={"": OPSET}, ir_version=IR_VERSION, metadata=metadata)


@dataclass(frozen=True)
class PublishedEmbedder:
    """What embedders with published weights have in common: the model's name, the version of our reading, threads.

    Parameters
    ----------
    threads : processor threads of one call; more processes are faster than more threads.
    """

    MODEL: ClassVar[str]
    VERSION: ClassVar[int]

    threads: int = 1

    def __post_init__(self) -> None:
        check_threads(self.threads)

    @property
    def fingerprint(self) -> str:
        """The exact model, for caches."""
        return fingerprint_of(self.MODEL, self.VERSION)


def fingerprint_of(name: str, version: int) -> str:
    """Name the exact model: its weights' SHA-256 and the version of what is computed from them.

    >>> fingerprint_of("ge2e", 3)
    'ge2e-39373b86598fa3da-v3'
    """
    first, *others = weights.known(name).files.values()
    sha256 = hashlib.sha256("".join([first, *others]).encode()).hexdigest() if others else first
    return f"{name}-{sha256[:16]}-v{version}"


@functools.lru_cache(maxsize=8)
def session(
    name: str, version: int, build: Callable[[dict[str, NDArray[Any]]], bytes], threads: int, cache: Path, sha256: str
) -> Session:
    """Open the network of a carrier's weights; the graph is written on first use.

    Parameters
    ----------
    cache : the cache folder (``weights.home()``), an argument so that a changed folder is never served stale.
    sha256 : the digest that the graph of the pinned weights has: a kept one is run only if it is exactly that, whoever
        wrote it. Where this machine's arithmetic builds another one, it is built anew each time.
    """
    place = cache / "graphs" / f"{fingerprint_of(name, version)}.onnx"
    encoded = _kept(place, sha256)
    if encoded is None:
        (checkpoint,) = weights.files_of(name).values()
        encoded = build(load_tensors(checkpoint))
        if hashlib.sha256(encoded).hexdigest() == sha256:
            write_bytes(place, encoded, durable=False)  # checked when read, built again at worst
    return open_session(encoded, threads=threads, where=str(place))


def _kept(place: Path, sha256: str) -> bytes | None:
    """Read a kept graph; one that is not the graph of the pinned weights is made anew from the checked weights."""
    try:
        encoded = place.read_bytes()
    except OSError:
        return None
    return encoded if hashlib.sha256(encoded).hexdigest() == sha256 else None
