"""A speaker embedder of one's own: a network that ``personare train embedder`` wrote, used by its path.

The file names its training speakers by tokens instead of names: ``check`` refuses an attack on any of them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.attackers import embedder as make_embedder
from personare.attackers.scoring import FittedOnSpeakers
from personare.core.errors import ConfigError, LeakError, WeightsError
from personare.core.speakers import speakers_among
from personare.core.weights import file_sha256
from personare.encoders import graphs
from personare.encoders.ecapa import embed_segments
from personare.training.embedder.export import FORMAT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

VERSION = 1  # raise it whenever the vectors of a file change


@dataclass(frozen=True)
class TrainedEmbedder:
    """A trained network; any sample rate is resampled to 16 kHz, long and short recordings are treated as by Ecapa.

    Parameters
    ----------
    path : the ONNX file.
    threads : processor threads of one call; more processes are faster than more threads.
    """

    path: Path
    threads: int = 1

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise ConfigError(f"threads must be at least 1, not {self.threads}")
        if not self.path.is_file():
            raise WeightsError(f"{self.path}: no such file; train one with: personare train embedder")

    @property
    def fingerprint(self) -> str:
        """The exact model, for caches."""
        return f"trained-{_sha256(self.path, *_file_state(self.path))[:16]}-v{VERSION}"

    @property
    def settings(self) -> dict[str, Any]:
        """How it was trained."""
        settings: dict[str, Any] = json.loads(self._opened()[1]["settings"])
        return settings

    @property
    def system(self) -> str | None:
        """The anonymizer whose speech it was trained on, with its settings; None: original speech."""
        return self._opened()[1].get("system") or None

    def check(self, attacked: Iterable[str]) -> None:
        """Refuse speakers it was trained or validated on."""
        both = speakers_among(json.loads(self._opened()[1]["speakers"]), attacked)
        if both:
            who = f"{len(both)} trial speakers are also in the training of this embedder (first: '{both[0]}')"
            raise LeakError(f"{self.path}: {who}; train on others")

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), d]; a vector does not depend on what else is in the batch."""
        session, _ = self._opened()
        return embed_segments(session, batch, dimensions=session.get_outputs()[0].shape[1])

    def _opened(self) -> tuple[Any, dict[str, str]]:
        return _session(self.path, _sha256(self.path, *_file_state(self.path)), self.threads)


def refuse_training_speakers(embedder: str, attacked: Iterable[str]) -> None:
    """Refuse an attack on speakers the named embedder was trained on; published embedders know nobody here."""
    made = make_embedder(embedder)
    if isinstance(made, FittedOnSpeakers):
        made.check(attacked)


def trained_on(embedder: str) -> str | None:
    """Name the anonymizer whose speech an embedder was trained on; None: original speech only."""
    made = make_embedder(embedder)
    return made.system if isinstance(made, TrainedEmbedder) else None


def _file_state(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


@functools.lru_cache(maxsize=8)
def _sha256(path: Path, _size: int, _changed_ns: int) -> str:
    return file_sha256(path)


@functools.lru_cache(maxsize=4)
def _session(path: Path, _sha256: str, threads: int) -> tuple[Any, dict[str, str]]:
    """Open a file; one that no training wrote is refused, because nobody knows which input it takes."""
    try:
        session = graphs.opened(path.read_bytes(), threads)
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from None
    metadata = dict(session.get_modelmeta().custom_metadata_map)
    if metadata.get("format") != FORMAT:
        raise WeightsError(
            f"{path}: not written by personare train embedder (format '{metadata.get('format', 'none')}')"
        )
    return session, metadata
