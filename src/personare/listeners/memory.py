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
    digest = hashlib.sha256(fingerprint.encode())
    for sound in sounds:
        digest.update(f"|{sound.rate_hz} {len(sound.samples)}|".encode())
        digest.update(sound.samples.tobytes())
    name = digest.hexdigest()
    place = _root(folder) / name[:2] / f"{name[2:]}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        entry = json.loads(place.read_text(encoding="utf-8"))
        if entry["by"] == fingerprint and entry["sum"] == _sum(entry["heard"]):
            return entry["heard"]
    heard = hear()
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
