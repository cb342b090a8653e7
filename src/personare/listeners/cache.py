"""Observations are kept, so that no sound is observed twice: by the content of the sound and the exact listener.

Words people said are personal: they lie in the user's own cache folder, readable by the owner only; ``forget`` removes
them. An entry that is cut or changed cannot be read as what it should be, and the sound is observed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from personare.core import weights
from personare.core.files import write_text
from personare.core.observations import Observation, Stimulus
from personare.core.protocols import Listener

FOLDER = "observations"


def observe(
    listener: Listener, batch: Sequence[Stimulus], *, remember: bool, folder: Path | None = None
) -> list[Observation]:
    """Observe a batch; stimuli observed before are remembered, all others go to the listener together.

    Parameters
    ----------
    remember : whether observations are looked up and kept.
    folder : where they lie; the user's cache folder if None.
    """
    if not remember:
        return list(listener.observe(batch))
    fingerprint = listener.fingerprint
    by_language = len(listener.languages) > 1  # others hear the same, whatever language is stated
    places = [_place(fingerprint, stimulus, folder, by_language=by_language) for stimulus in batch]
    known = {place: found for place in places if (found := _recalled(place, fingerprint)) is not None}
    new = {place: stimulus for place, stimulus in zip(places, batch, strict=True) if place not in known}
    for place, observation in zip(new, listener.observe(list(new.values())) if new else (), strict=True):
        _keep(place, fingerprint, observation, folder)
        known[place] = observation
    return [known[place] for place in places]


def _place(fingerprint: str, stimulus: Stimulus, folder: Path | None, *, by_language: bool) -> Path:
    digest = hashlib.sha256(fingerprint.encode())
    if by_language and stimulus.language is not None:
        digest.update(f"|{stimulus.language}".encode())
    for sound in (stimulus.original, stimulus.audio):
        if sound is not None:
            digest.update(f"|{sound.rate_hz} {len(sound.samples)}|".encode())
            digest.update(sound.samples.tobytes())
    name = digest.hexdigest()
    return root(folder) / name[:2] / f"{name[2:]}.json"


def _recalled(place: Path, fingerprint: str) -> Observation | None:
    """Read an entry; None where there is no whole one of this listener."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        entry = json.loads(place.read_text(encoding="utf-8"))
        if entry["by"] == fingerprint and entry["sum"] == _sum(entry["observation"]):
            return Observation.from_row(entry["observation"])
    return None


def _keep(place: Path, fingerprint: str, observation: Observation, folder: Path | None) -> None:
    root(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    row = observation.as_row()
    entry = json.dumps({"by": fingerprint, "observation": row, "sum": _sum(row)})
    write_text(place, entry, durable=False)  # checked when read, observed again at worst


def count(*, folder: Path | None = None) -> int:
    """Count the entries that are remembered."""
    return sum(1 for _ in root(folder).glob("*/*.json"))


def forget(*, folder: Path | None = None) -> int:
    """Remove everything remembered; give the number of entries."""
    removed = count(folder=folder)
    if root(folder).is_dir():
        shutil.rmtree(root(folder))
    return removed


def root(folder: Path | None) -> Path:
    """Where they are kept: the user's cache folder if None."""
    return (weights.personal_home() if folder is None else folder) / FOLDER


def _sum(row: Any) -> str:
    return hashlib.blake2b(json.dumps(row).encode(), digest_size=8).hexdigest()
