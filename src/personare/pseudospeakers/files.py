"""FittedGenerator generators in files: plain arrays in an npz with a readable card; nothing in the file can run.

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

from personare.core.errors import (
    ConfigError,
    OutputError,
    PersonareError,
    TableError,
    UnknownNameError,
    did_you_mean,
)
from personare.core.files import atomic_path
from personare.core.npz import opened_npz
from personare.pseudospeakers import PSEUDOSPEAKERS
from personare.pseudospeakers.generator import FittedGenerator, PseudoSpeakerGenerator, Request, Scorer

FORMAT = "personare-pseudospeaker-2"
_NO_GENDER = "unknown"


def save(fitted: FittedGenerator[Any], path: Path) -> None:
    """Write a fitted generator as npz; a scorer is not written and must be given again to ``load``."""
    if path.suffix != ".npz":
        raise OutputError(f"{path}: a fitted generator is written as .npz")
    name = PSEUDOSPEAKERS.name_of(type(fitted.generator))
    if ":" in name:  # a file must not name code to run
        raise ConfigError(f"{name} has no name to save it by; register it first: PSEUDOSPEAKERS.register(name, class)")
    card = {
        "format": FORMAT,
        "generator": name,
        "parameters": dataclasses.asdict(fitted.generator),
        "vectors": dict(fitted.counts),
        "fingerprint": fitted.generator.fingerprint,
        "dimension": fitted.dimension,
    }
    arrays: dict[str, Any] = {"card": np.array(json.dumps(card))}
    for gender, state in fitted.groups.items():
        arrays.update(_flat(gender or _NO_GENDER, state))
    with atomic_path(path) as part, part.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def load(path: Path, *, scorer: Scorer | None = None) -> FittedGenerator[Any]:
    """Read a fitted generator; its results are equal to those before it was saved, to the last bit."""
    try:
        with opened_npz(path) as archive:
            arrays = {name: archive[name] for name in archive.files}
        fitted = _fitted(json.loads(str(arrays["card"])), arrays, scorer)
        if getattr(fitted.generator, "distance", "") == "scorer" and scorer is None:
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


def _fitted(card: dict[str, Any], arrays: dict[str, Any], scorer: Scorer | None) -> FittedGenerator[Any]:
    generator = _generator(card)
    counts = {str(g): int(n) for g, n in card["vectors"].items()}
    groups = {g: _state(type(generator).state_type, g or _NO_GENDER, arrays) for g in counts}
    return FittedGenerator(generator, groups, counts, int(card["dimension"]), scorer)


def _try(fitted: FittedGenerator[Any]) -> None:
    """Ask every group for a vector: arrays that do not fit together show now, not in the middle of a corpus."""
    for state in fitted.groups.values():
        zeros = np.zeros(fitted.dimension)
        vector = fitted.generator.generate(Request(zeros, state, np.random.default_rng(0), fitted.scorer))
        if vector.shape != zeros.shape or not np.isfinite(vector).all():
            raise ValueError("its arrays do not give finite voices of its dimension")


def _generator(card: dict[str, Any]) -> PseudoSpeakerGenerator[Any]:
    if card["format"] != FORMAT:
        raise ValueError(f"format '{card['format']}', expected '{FORMAT}': fit it again")
    name = str(card["generator"])
    if name not in PSEUDOSPEAKERS.names():
        raise UnknownNameError(f"no pseudospeaker '{name}'; {did_you_mean(name, PSEUDOSPEAKERS.names())}")
    generator: PseudoSpeakerGenerator[Any] = PSEUDOSPEAKERS.make(name, **card["parameters"])
    if card["fingerprint"] != generator.fingerprint:
        raise ValueError(f"fitted by another version of '{name}': fit it again")
    return generator


def _flat(prefix: str, state: Any) -> dict[str, Any]:
    """Name every array of a dataclass, also inside another one."""
    arrays: dict[str, Any] = {}
    for field in dataclasses.fields(state):
        value, name = getattr(state, field.name), f"{prefix}/{field.name}"
        arrays.update(_flat(name, value) if dataclasses.is_dataclass(value) else {name: np.asarray(value)})
    return arrays


def _state(kind: type, prefix: str, arrays: dict[str, Any]) -> Any:
    """Make the dataclass again: inner dataclasses, whole numbers and numbers by their type, all else arrays."""
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        name, hint = f"{prefix}/{field.name}", hints[field.name]
        if dataclasses.is_dataclass(hint):
            values[field.name] = _state(typing.cast(type, hint), name, arrays)
        else:
            values[field.name] = hint(arrays[name].item()) if hint in (int, float) else arrays[name]
    return kind(**values)
