"""Each recording is embedded once: vectors are kept by the content of the sound and the exact model that heard it.

Vectors of voices are biometric: they lie in the user's own cache folder (or a run folder), readable by the owner only;
``forget`` removes them. An entry that is cut, changed or of another model or sound does not fit its checksum and is
computed again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from personare.attackers import embedder as make_embedder
from personare.attackers.fused import FusedEmbedder, joined, parts_of
from personare.core import weights
from personare.core.audio import Audio, read_mono
from personare.core.errors import AudioError
from personare.core.files import file_digest, write_bytes
from personare.core.utterances import Utterance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.protocols import Embedder

_CHECK_BYTES = 16


@runtime_checkable
class ReadsText(Protocol):
    """An embedder of what is said: it reads the text of an utterance instead of hearing it."""

    def of_text(self, text: str, /) -> NDArray[np.float32]:
        """Give the vector [d] of a transcript."""
        ...


@runtime_checkable
class HearsAndReads(Protocol):
    """An embedder that hears an utterance and knows its words, where there are any."""

    def of_sound_and_text(self, audio: Audio, text: str, /) -> NDArray[np.float32]:
        """Give the vector [d] of a sound and its transcript."""
        ...


@dataclass(frozen=True)
class EmbedWork:
    """The work of an engine on one utterance: ``engine.map(EmbedWork("ecapa"), corpus)`` yields float32 [d] vectors.

    Parameters
    ----------
    embedder : a name of the catalog; the model is loaded once per process.
    folder : where vectors are kept; the user's cache folder if None.
    """

    embedder: str
    folder: Path | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def __call__(self, item: Utterance) -> NDArray[np.float32]:
        """Embed it; an embedder that reads gets the words of the corpus, the others hear the sound."""
        recording = _Recording(item.audio, item.start_s, item.end_s, item.person_channel)
        parts = parts_of(self.embedder)
        if len(parts) > 1:
            fused: NDArray[np.float32] = joined([self._of_part(item, recording, name)[None] for name in parts])[0]
            return fused
        return self._of_part(item, recording, self.embedder)

    def _of_part(self, item: Utterance, recording: _Recording, name: str) -> NDArray[np.float32]:
        model = _model(name, tuple(sorted(self.parameters.items())))
        if isinstance(model, ReadsText):
            if item.text is None:
                raise AudioError(f"{item.utterance}: the embedder {name} needs its words; give the corpus a text")
            return model.of_text(item.text)
        if isinstance(model, HearsAndReads) and item.text:
            return model.of_sound_and_text(recording.sound, item.text)
        return _embed(recording, model, self.folder)


@dataclass(frozen=True, eq=False)
class _Recording:
    """A file, a part or one channel of it; decoded once, and only if something has not heard it before."""

    path: Path
    start_s: float = 0.0
    end_s: float | None = None
    channel: int | None = None

    @functools.cached_property
    def content(self) -> str:
        """What is heard, by the bytes of the file."""
        channel = "" if self.channel is None else f" channel {self.channel}"
        return f"{_digest_of(self.path)} {self.start_s!r} {self.end_s!r}{channel}"

    @functools.cached_property
    def sound(self) -> Audio:
        """The sound."""
        return read_mono(self.path, start_s=self.start_s, stop_s=self.end_s, channel=self.channel)


def embed_file(
    path: Path,
    embedder: str,
    *,
    start_s: float = 0.0,
    end_s: float | None = None,
    channel: int | None = None,
    folder: Path | None = None,
    **parameters: Any,
) -> NDArray[np.float32]:
    """Embed a file, a part or one channel of it: float32 [d], from the cache where the same bytes were heard before."""
    recording = _Recording(path, start_s, end_s, channel)
    return _embed(recording, _model(embedder, tuple(sorted(parameters.items()))), folder)


def _embed(recording: _Recording, model: Embedder, folder: Path | None) -> NDArray[np.float32]:
    if isinstance(model, FusedEmbedder):  # every part is kept by itself: none is computed twice
        each = [_embed(recording, _model(name, ()), folder) for name in model.names]
        fused: NDArray[np.float32] = joined([vector[None] for vector in each])[0]
        return fused
    place = _place(folder, model, recording.content)
    bound = f"{model.fingerprint} {recording.content}"
    vector = _kept(place, bound)
    if vector is None:
        try:
            vector = model([recording.sound])[0]
        except AudioError as error:
            told = str(error) if str(recording.path) in str(error) else f"{recording.path}: {error}"
            raise AudioError(told) from None
        _keep(place, vector, bound)
    return vector


def embed_audio(audio: Audio, embedder: str, *, folder: Path | None = None, **parameters: Any) -> NDArray[np.float32]:
    """Embed a sound in memory: float32 [d], from the cache where the same samples were heard before."""
    model = _model(embedder, tuple(sorted(parameters.items())))
    if isinstance(model, FusedEmbedder):
        fused: NDArray[np.float32] = joined([embed_audio(audio, name, folder=folder)[None] for name in model.names])[0]
        return fused
    digest = hashlib.sha256(audio.samples.tobytes()).hexdigest()
    content = f"samples {digest} {audio.rate_hz}"
    place, bound = _place(folder, model, content), f"{model.fingerprint} {content}"
    vector = _kept(place, bound)
    if vector is None:
        vector = model([audio])[0]
        _keep(place, vector, bound)
    return vector


def count(*, folder: Path | None = None) -> int:
    """Count the kept vectors."""
    return sum(1 for _ in root(folder).glob("*/*/*.vector"))


def forget(*, folder: Path | None = None) -> int:
    """Remove every kept vector; give their number."""
    removed = count(folder=folder)
    if root(folder).is_dir():
        shutil.rmtree(root(folder))
    return removed


@functools.lru_cache(maxsize=16)
def _model(name: str, parameters: tuple[tuple[str, Any], ...]) -> Embedder:
    return make_embedder(name, **dict(parameters))


def _digest_of(path: Path) -> str:
    """Hash a file, once, however many parts are cut out of it."""
    try:
        return file_digest(path)
    except OSError as error:
        raise AudioError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None


def root(folder: Path | None) -> Path:
    """Where they are kept: the user's cache folder if None."""
    return (weights.personal_home() if folder is None else folder) / "vectors"


def _place(folder: Path | None, model: Embedder, content: str) -> Path:
    digest = hashlib.sha256(content.encode()).hexdigest()
    return root(folder) / model.fingerprint / digest[:2] / f"{digest[2:]}.vector"


def _check(payload: bytes, bound: str) -> bytes:
    """Digest a vector with what it is of: the model's fingerprint, with its weights' digest, and the sound."""
    return hashlib.blake2b(bound.encode() + b"\0" + payload, digest_size=_CHECK_BYTES).digest()


def _kept(place: Path, bound: str) -> NDArray[np.float32] | None:
    try:
        content = place.read_bytes()
    except OSError:
        return None
    check, payload = content[:_CHECK_BYTES], content[_CHECK_BYTES:]
    return np.frombuffer(payload, "<f4").astype(np.float32) if payload and check == _check(payload, bound) else None


def _keep(place: Path, vector: NDArray[np.float32], bound: str) -> None:
    payload = vector.astype("<f4").tobytes()
    root = place.parents[2]
    if not root.is_dir():
        with contextlib.suppress(OSError):  # the write below tells what is wrong
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_bytes(place, _check(payload, bound) + payload, durable=False)  # checked when read, made again at worst
