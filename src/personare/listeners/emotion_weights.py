"""The shipped weights of the emotion judges: one set for everybody, and one without each of the ten EmoDB speakers.

``fitted/emotion.npz`` holds them, ``fitted/emotion.card.json`` says what they were trained on and how well they judge
speakers they never heard. ``benchmarks/emotion.py`` makes both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import WeightsError
from personare.core.npz import opened_npz
from personare.listeners.discriminants import Discriminant

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

FITTED = Path(__file__).parent / "fitted"
WEIGHTS, CARD = "emotion.npz", "emotion.card.json"
PARTS = ("mean", "scale", "weights", "bias")
ALL = ""  # the fold of speakers that are not in EmoDB


@dataclass(frozen=True, eq=False)
class EmotionWeights:
    """Discriminants by judge, task and fold, and the digest of the file they were read from."""

    models: Mapping[tuple[str, str, str], Discriminant]
    digest: str

    def scores(self, judge: str, task: str, rows: ArrayLike, *, fold: str = ALL) -> Floats:
        """Give the scores of a judge's task: [rows, classes or scales]."""
        return self._model(judge, task, fold).scores(rows)

    def decide(self, judge: str, task: str, rows: ArrayLike, *, fold: str = ALL) -> list[str]:
        """Give the decisions of a judge's task, one name per row."""
        return self._model(judge, task, fold)(rows)

    def _model(self, judge: str, task: str, fold: str) -> Discriminant:
        if (judge, task, fold) not in self.models:
            known = sorted({name for name, *_ in self.models})
            raise WeightsError(f"no weights of '{judge}' for '{task}' without speaker '{fold}'; judges: {known}")
        return self.models[judge, task, fold]


@lru_cache(maxsize=2)
def shipped(folder: Path = FITTED) -> EmotionWeights:
    """Read the shipped weights once."""
    path = folder / WEIGHTS
    try:
        content = path.read_bytes()
        models = {}
        with opened_npz(path) as arrays:
            names = {tuple(name.split("|")[:3]) for name in arrays.files}
            for judge, task, fold in sorted(names):
                at = f"{judge}|{task}|{fold}"
                numbers = (np.asarray(arrays[f"{at}|{part}"], np.float64) for part in PARTS)
                models[judge, task, fold] = Discriminant(tuple(arrays[f"{at}|classes"].tolist()), *numbers)
    except (OSError, ValueError, KeyError) as error:
        raise WeightsError(
            f"{path}: not the weights of the emotion judges ({error}); install personare again"
        ) from None
    return EmotionWeights(models, hashlib.sha256(content).hexdigest()[:16])


def save_weights(models: Mapping[tuple[str, str, str], Discriminant], card: Mapping[str, Any], folder: Path) -> None:
    """Write weights (as float32) and their card."""
    arrays: dict[str, Any] = {}
    for (judge, task, fold), model in models.items():
        at = f"{judge}|{task}|{fold}"
        arrays[f"{at}|classes"] = np.array(model.classes, dtype=str)
        arrays |= {f"{at}|{part}": getattr(model, part).astype(np.float32) for part in PARTS}
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / WEIGHTS, **arrays)
    (folder / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
