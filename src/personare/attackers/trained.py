"""A speaker embedder of one's own: a network that ``personare train embedder`` wrote, used by its path.

The file names its training speakers by tokens instead of names: ``check`` refuses an attack on any of them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.attackers import embedder as make_embedder
from personare.attackers.fused import parts_of
from personare.attackers.scoring import FittedOnSpeakers
from personare.core.errors import ConfigError, LeakError, WeightsError
from personare.core.files import file_digest
from personare.core.fingerprint import SystemIdentity
from personare.core.sessions import Session, check_threads, open_session
from personare.core.speakers import speakers_among
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

    paper: ClassVar[str] = ""

    path: Path
    threads: int = 1

    def __post_init__(self) -> None:
        check_threads(self.threads)
        if not self.path.is_file():
            raise WeightsError(f"{self.path}: no such file; train one with: personare train embedder")

    @property
    def fingerprint(self) -> str:
        """The exact model, for caches."""
        return f"trained-{file_digest(self.path)[:16]}-v{VERSION}"

    @property
    def settings(self) -> dict[str, Any]:
        """How it was trained."""
        settings: dict[str, Any] = json.loads(self._opened()[1]["settings"])
        return settings

    @property
    def system(self) -> SystemIdentity | None:
        """The system whose speech it was trained on; None: original speech."""
        notes = self._opened()[1]
        if not notes.get("system"):
            return None
        if "system_name" not in notes:
            known = f"trained on speech anonymized by an unknown version of '{notes['system']}'"
            raise WeightsError(f"{self.path}: {known}; train it again, so that its attacks can be called by their name")
        return SystemIdentity(notes["system"], notes["system_name"])

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

    def _opened(self) -> tuple[Session, dict[str, str]]:
        return _session(self.path, file_digest(self.path), self.threads)


def refuse_training_speakers(embedder: str, attacked: Iterable[str]) -> None:
    """Refuse an attack on speakers the named embedder was trained on; published embedders know nobody here."""
    made = make_embedder(embedder)
    if isinstance(made, FittedOnSpeakers):
        made.check(attacked)


def trained_on(embedder: str) -> SystemIdentity | None:
    """Name the anonymizer whose speech an embedder, or a part of a fusion, was trained on; None: original speech."""
    made = [make_embedder(name) for name in parts_of(embedder)]
    systems = {one.system for one in made if isinstance(one, TrainedEmbedder)} - {None}
    if len(systems) > 1:
        raise ConfigError(f"the parts of '{embedder}' were trained on different systems; fuse those of one")
    return next(iter(systems), None)


@functools.lru_cache(maxsize=4)
def _session(path: Path, _sha256: str, threads: int) -> tuple[Session, dict[str, str]]:
    """Open a file; one that no training wrote is refused, because nobody knows which input it takes."""
    session = open_session(path, threads=threads)
    metadata = dict(session.get_modelmeta().custom_metadata_map)
    if metadata.get("format") != FORMAT:
        raise WeightsError(
            f"{path}: not written by personare train embedder (format '{metadata.get('format', 'none')}')"
        )
    return session, metadata
