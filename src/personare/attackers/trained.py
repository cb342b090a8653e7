"""An ear of one's own: a network that ``personare train embedder`` wrote, used by its path.

The file names who it was trained on, by tokens instead of names: ``check`` refuses an attack on any of them.
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
from personare.attackers.ecapa import LONGEST_S, SHORTEST
from personare.attackers.scoring import Learnt
from personare.core.errors import ConfigError, LeakError, WeightsError
from personare.core.seeding import Key, token_for
from personare.core.weights import file_sha256
from personare.encoders import graphs, mels
from personare.encoders.hearing import by_length, mean_of_pieces, pieces_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

VERSION = 1  # raise it whenever the vectors of a file change
FORMAT = "personare embedder 1"
_TOKENS = Key.from_seed("speakers a trained embedder has learnt from")


def speaker_tokens(speakers: Iterable[str]) -> list[str]:
    """Name speakers so that they can be recognised but not read, sorted."""
    return sorted(token_for(_TOKENS, speaker) for speaker in speakers)


@dataclass(frozen=True)
class Trained:
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
        if self.threads < 1:
            raise ConfigError(f"threads must be at least 1, not {self.threads}")
        if not self.path.is_file():
            raise WeightsError(f"{self.path}: no such file; train one with: personare train embedder")

    @property
    def fingerprint(self) -> str:
        """The exact model, for caches."""
        return f"trained-{_sha256(self.path, *_state(self.path))[:16]}-v{VERSION}"

    @property
    def settings(self) -> dict[str, Any]:
        """How it was trained."""
        found: dict[str, Any] = json.loads(self._opened()[1]["settings"])
        return found

    @property
    def system(self) -> str | None:
        """The anonymizer whose speech it has learnt from, with its settings; None: original speech."""
        return self._opened()[1].get("system") or None

    def check(self, attacked: Iterable[str]) -> None:
        """Refuse speakers it has learnt from, or was chosen by."""
        known = set(json.loads(self._opened()[1]["speakers"]))
        both = sorted(speaker for speaker in set(attacked) if token_for(_TOKENS, speaker) in known)
        if both:
            found = f"{len(both)} trial speakers are also in the training of this ear (first: '{both[0]}')"
            raise LeakError(f"{self.path}: {found}; train on others")

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), d]; a vector does not depend on what else is in the batch."""
        session, _ = self._opened()
        cut = [pieces_of(audio, rate_hz=mels.RATE_HZ, longest_s=LONGEST_S, shortest=SHORTEST) for audio in batch]
        flat = [piece for pieces in cut for piece in pieces]
        vectors = np.empty((len(flat), session.get_outputs()[0].shape[1]), np.float32)
        for where in by_length(flat):
            features = np.stack([mels.decibel_mels(flat[i]) for i in where])
            vectors[where] = session.run(None, {"mels": features})[0]
        return mean_of_pieces(vectors, cut)

    def _opened(self) -> tuple[Any, dict[str, str]]:
        return _session(self.path, _sha256(self.path, *_state(self.path)), self.threads)


def refuse_teachers(embedder: str, attacked: Iterable[str]) -> None:
    """Refuse an attack on speakers whom the named embedder has learnt from; published embedders know nobody here."""
    ear = make_embedder(embedder)
    if isinstance(ear, Learnt):
        ear.check(attacked)


def taught_by(embedder: str) -> str | None:
    """Name the anonymizer whose speech an embedder has learnt from; None: it knows original speech only."""
    ear = make_embedder(embedder)
    return ear.system if isinstance(ear, Trained) else None


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


@functools.lru_cache(maxsize=8)
def _sha256(path: Path, _size: int, _changed_ns: int) -> str:
    return file_sha256(path)


@functools.lru_cache(maxsize=4)
def _session(path: Path, _sha256: str, threads: int) -> tuple[Any, dict[str, str]]:
    """Open a file; one that no training wrote is refused, because nobody knows what it wants to hear."""
    try:
        session = graphs.opened(path.read_bytes(), threads)
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from None
    notes = dict(session.get_modelmeta().custom_metadata_map)
    if notes.get("format") != FORMAT:
        raise WeightsError(f"{path}: not written by personare train embedder (format '{notes.get('format', 'none')}')")
    return session, notes
