"""What was heard once is remembered: by the content of the sound and the exact ear that heard it.

Words people said are personal: they lie in the user's own cache folder, readable by the owner only; ``forget`` removes
them. An entry that is cut or changed cannot be read as what it should be, and the sound is heard again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from personare.core import weights
from personare.core.audio import Audio
from personare.core.files import write_text


def remembered(
    fingerprint: str, sounds: Sequence[Audio], hear: Callable[[], Any], *, folder: Path | None = None
) -> Any:
    """Give what ``hear`` gave for these sounds before, or call it and remember; the value must fit into JSON.

    Parameters
    ----------
    fingerprint : names the ear and its settings.
    folder : where memories lie; the user's cache folder if None.
    """
    place = _place(fingerprint, sounds, folder)
    known, heard = _recalled(place, fingerprint)
    return heard if known else _kept(place, fingerprint, hear(), folder)


def remembered_each(
    fingerprint: str,
    sounds: Sequence[Audio],
    hear: Callable[[list[Audio]], Sequence[Any]],
    *,
    folder: Path | None = None,
) -> list[Any]:
    """Give what was heard in each sound; those never heard before go to ``hear`` together, in one batch."""
    places = [_place(fingerprint, [sound], folder) for sound in sounds]
    found = {place: _recalled(place, fingerprint) for place in places}
    new = {place: sound for place, sound in zip(places, sounds, strict=True) if not found[place][0]}
    for place, heard in zip(new, hear(list(new.values())) if new else (), strict=True):
        found[place] = (True, _kept(place, fingerprint, heard, folder))
    return [found[place][1] for place in places]


def _place(fingerprint: str, sounds: Sequence[Audio], folder: Path | None) -> Path:
    digest = hashlib.sha256(fingerprint.encode())
    for sound in sounds:
        digest.update(f"|{sound.rate_hz} {len(sound.samples)}|".encode())
        digest.update(sound.samples.tobytes())
    name = digest.hexdigest()
    return _root(folder) / name[:2] / f"{name[2:]}.json"


def _recalled(place: Path, fingerprint: str) -> tuple[bool, Any]:
    """Whether there is a whole entry of this ear, and what it says."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        entry = json.loads(place.read_text(encoding="utf-8"))
        if entry["by"] == fingerprint and entry["sum"] == _sum(entry["heard"]):
            return True, entry["heard"]
    return False, None


def _kept(place: Path, fingerprint: str, heard: Any, folder: Path | None) -> Any:
    _root(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    write_text(place, json.dumps({"by": fingerprint, "heard": heard, "sum": _sum(heard)}))
    return json.loads(json.dumps(heard))


def forget(*, folder: Path | None = None) -> int:
    """Remove everything remembered; give the number of entries."""
    root = _root(folder)
    count = sum(1 for _ in root.glob("*/*.json"))
    if root.is_dir():
        shutil.rmtree(root)
    return count


def _root(folder: Path | None) -> Path:
    return (weights.home() if folder is None else folder) / "heard"


def _sum(heard: Any) -> str:
    return hashlib.blake2b(json.dumps(heard).encode(), digest_size=8).hexdigest()
