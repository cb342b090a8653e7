"""The one place that opens neural networks: ONNX by onnxruntime on the processor, with the same options everywhere.

Nothing is fetched and nothing is loaded at import. A file that is no network is one line, never a traceback.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from personare.core import telemetry
from personare.core.errors import ConfigError, WeightsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Optimization = Literal["all", "basic", "none"]
_LEVELS = {"all": "ORT_ENABLE_ALL", "basic": "ORT_ENABLE_BASIC", "none": "ORT_DISABLE_ALL"}
_ONLY_FATAL = 4  # what goes wrong is raised; the runtime's own log would say it a second time


class Session(Protocol):
    """An opened network."""

    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, NDArray[Any]]) -> list[Any]:
        """Compute the named outputs, or all."""
        ...

    def get_inputs(self) -> Sequence[Any]:
        """Its inputs, each with ``name``, ``type`` and ``shape``."""
        ...

    def get_outputs(self) -> Sequence[Any]:
        """Its outputs, alike."""
        ...

    def get_modelmeta(self) -> Any:
        """What the file says about itself."""
        ...


def check_threads(threads: int) -> None:
    """Refuse a number of processor threads that is none; what opens networks checks it before there is one to open."""
    if threads < 1:
        raise ConfigError(f"threads must be at least 1, not {threads}")


def open_session(
    network: Path | bytes, *, threads: int = 1, optimization: Optimization = "all", where: str | None = None
) -> Session:
    """Open a network from its file or its bytes.

    Parameters
    ----------
    threads : processor threads of one call; more processes are faster than more threads.
    optimization : how far the runtime may rewrite the network; more than ``basic`` may change the last digits.
    where : names the network in an error; its path if None.
    """
    return _opened(network, _options(threads, optimization), where)


def to_onnx(network: Path) -> bytes:
    """Let the runtime write a network of its own format (.ort) as ONNX, unchanged."""
    options = _options(1, "none")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        options.optimized_model_filepath = str(path)
        _opened(network, options, None)
        return path.read_bytes()


def _runtime() -> Any:
    """Import onnxruntime, whose telemetry must be off by then."""
    telemetry.check_disabled()
    import onnxruntime

    return onnxruntime


def _options(threads: int, optimization: Optimization) -> Any:
    onnxruntime = _runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, _LEVELS[optimization])
    options.log_severity_level = _ONLY_FATAL
    options.enable_mem_pattern = False  # lengths differ from call to call: patterns would only pile up
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads leave the cores to others
    return options


def _opened(network: Path | bytes, options: Any, where: str | None) -> Session:
    onnxruntime = _runtime()
    name = where or (str(network) if isinstance(network, Path) else "a network")
    if isinstance(network, Path) and not network.is_file():
        raise WeightsError(f"{name}: no such file")
    try:
        session: Session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's exceptions share no public type
        raise WeightsError(f"{name}: onnxruntime cannot open it ({' '.join(str(error).split())})") from None
    return session
