"""Fitted generators in files: plain arrays in an npz with a readable card; nothing in the file can run.

``card`` is a JSON text (generator, parameters, sizes of the groups); every array is named ``<gender>/<field>``.
"""

from __future__ import annotations

import dataclasses
import json
import typing
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.errors import ConfigError, PersonareError, TableError, TargetError
from personare.core.files import atomic_path
from personare.pseudospeakers import PSEUDOSPEAKERS
from personare.pseudospeakers.recipe import Asked, Fitted, Recipe, Scorer

FORMAT = "personare-pseudospeaker-1"
_NO_GENDER = "unknown"


def save(fitted: Fitted[Any], path: Path) -> None:
    """Write a fitted generator as npz; a scorer is not written and must be given again to ``load``."""
    if path.suffix != ".npz":
        raise TargetError(f"{path}: a fitted generator is written as .npz")
    card = {
        "format": FORMAT,
        "generator": fitted.recipe.name,
        "parameters": dataclasses.asdict(fitted.recipe),
        "voices": dict(fitted.counts),
        "dimension": fitted.dimension,
    }
    arrays: dict[str, Any] = {"card": np.array(json.dumps(card))}
    for gender, voices in fitted.groups.items():
        arrays.update(_flat(gender or _NO_GENDER, voices))
    with atomic_path(path) as part, part.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def load(path: Path, *, scorer: Scorer | None = None) -> Fitted[Any]:
    """Read a fitted generator; its results are equal to those before it was saved, to the last bit."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        fitted = _fitted(json.loads(str(arrays["card"])), arrays, scorer)
        if getattr(fitted.recipe, "distance", "") == "scorer" and scorer is None:
            raise ConfigError("its scorer is not in the file; give it to load(..., scorer=)")
        _try(fitted)
    except FileNotFoundError:
        raise TableError(f"{path}: no such file; fit a generator and save it") from None
    except PersonareError as error:
        raise ConfigError(f"{path}: not a usable generator: {error}") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise TableError(f"{path}: not a fitted generator ({reason})") from None
    return fitted


def _fitted(card: dict[str, Any], arrays: dict[str, Any], scorer: Scorer | None) -> Fitted[Any]:
    recipe, counts = _recipe(card), {str(g): int(n) for g, n in card["voices"].items()}
    groups = {g: _made(type(recipe).learnt, g or _NO_GENDER, arrays) for g in counts}
    return Fitted(recipe, groups, counts, int(card["dimension"]), scorer)


def _try(fitted: Fitted[Any]) -> None:
    """Ask every group for a voice: arrays that do not fit together show now, not in the middle of a corpus."""
    for voices in fitted.groups.values():
        zeros = np.zeros(fitted.dimension)
        voice = fitted.recipe.invent(Asked(zeros, voices, np.random.default_rng(0), fitted.scorer))
        if voice.shape != zeros.shape or not np.isfinite(voice).all():
            raise ValueError("its arrays do not give finite voices of its dimension")


def _recipe(card: dict[str, Any]) -> Recipe[Any]:
    if card["format"] != FORMAT:
        raise ValueError(f"format '{card['format']}', expected '{FORMAT}'")
    made: Recipe[Any] = PSEUDOSPEAKERS.make(card["generator"], **card["parameters"])
    return made


def _flat(prefix: str, voices: Any) -> dict[str, Any]:
    """Name every array of a dataclass, also inside another one."""
    arrays: dict[str, Any] = {}
    for field in dataclasses.fields(voices):
        value, name = getattr(voices, field.name), f"{prefix}/{field.name}"
        arrays.update(_flat(name, value) if dataclasses.is_dataclass(value) else {name: np.asarray(value)})
    return arrays


def _made(kind: type, prefix: str, arrays: dict[str, Any]) -> Any:
    """Make the dataclass again: inner dataclasses, whole numbers and numbers by their type, all else arrays."""
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        name, hint = f"{prefix}/{field.name}", hints[field.name]
        if dataclasses.is_dataclass(hint):
            values[field.name] = _made(typing.cast(type, hint), name, arrays)
        else:
            values[field.name] = hint(arrays[name].item()) if hint in (int, float) else arrays[name]
    return kind(**values)
