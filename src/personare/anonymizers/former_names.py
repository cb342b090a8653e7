"""Names and settings that methods had before, for cards of folders that were anonymized then.

Until card 2, ``xvector`` transcribed the speech by default, and ``cascade`` spoke with Piper by default. Nothing that a
user types is translated: a setting that a method does not have any more is an error that names the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CARD_VERSION = 2
"""Written into every card; a card without a version is of the former names."""

_ENCODED = {"generator": "o1", "pitch": "move", "f0": "predicted", "energy": "predicted", "timing": "even"}
_PIPER = {"voice": "piper", "recognizer": "moonshine-base", "gender": "any"}
_TIMING: dict[str, dict[str, Any]] = {"even": {}, "keep": {"timing": "phrases", "rate": "fit"}}
_WITHOUT_SUCCESSOR = ("content", "own", "pitch", "energy", "blend", "retime", "mask")


def present_names(method: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Give the present name and settings of a method that an old card names.

    ``own`` and ``pitch`` of a voice that read words have no successor and are left out: the fingerprint on the card
    tells that the folder was made by another version.

    >>> present_names("xvector", {"timing": "keep"})
    ('cascade', {'timing': 'phrases', 'rate': 'fit'})
    >>> present_names("cascade", {"gender": "f"})
    ('cascade', {'voice': 'piper', 'recognizer': 'moonshine-base', 'gender': 'f'})
    """
    if method == "xvector" and parameters.get("content", "words") != "words":
        return method, {**_ENCODED, **parameters}
    if method == "xvector":
        kept = {name: value for name, value in parameters.items() if name not in (*_WITHOUT_SUCCESSOR, "timing")}
        return "cascade", {**kept, **_TIMING.get(str(parameters.get("timing", "even")), {})}
    if method == "cascade":
        return method, {**_PIPER, **parameters}
    if method == "chain" and isinstance(parameters.get("steps"), list | tuple):
        return method, {**parameters, "steps": [_step(step) for step in parameters["steps"]]}
    return method, dict(parameters)


def _step(step: Any) -> Any:
    if not (isinstance(step, Mapping) and isinstance(step.get("name"), str)):
        return step
    name, parameters = present_names(step["name"], step.get("parameters") or {})
    return {**step, "name": name, **({"parameters": parameters} if parameters else {})}
