"""The plainest thing that learns: a straight line through openly computed numbers, kept as readable JSON.

values   ridge regression                                                              [hoerl1970ridge]
classes  multinomial logistic regression with the same penalty; each class counts the same however rare it is
Numbers are standardized first. The file says what it was trained on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from personare.core.config import from_mapping
from personare.core.errors import ConfigError, WeightsError
from personare.core.files import write_text
from personare.core.softmax_regression import fit_softmax_regression, softmax, standardize

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A fitted model: ``weights`` [outputs][inputs] on standardized inputs, ``bias`` [outputs].

    Parameters
    ----------
    kind : ``values`` gives numbers named by ``outputs``; ``classes`` gives a probability for each of them.
    inputs : names of the numbers it was fitted on; trained_on : where the examples came from, and their licence.
    """

    kind: Literal["values", "classes"]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...]
    trained_on: str

    def __post_init__(self) -> None:
        n, k = len(self.inputs), len(self.outputs)
        if not (len(self.mean) == len(self.scale) == n and len(self.weights) == len(self.bias) == k):
            raise ValueError(f"{n} inputs and {k} outputs do not fit its numbers")
        if any(len(row) != n for row in self.weights) or not all(s > 0 for s in self.scale):
            raise ValueError("weights must have one number per input, and scales must be positive")

    def __call__(self, rows: ArrayLike) -> Floats:
        """Predict: [rows, inputs] -> values or probabilities, [rows, outputs]."""
        x = (np.atleast_2d(np.asarray(rows, np.float64)) - self.mean) / np.asarray(self.scale)
        raw: Floats = x @ np.asarray(self.weights).T + self.bias
        return softmax(raw) if self.kind == "classes" else raw

    def save(self, path: Path) -> None:
        """Write the model as JSON."""
        write_text(path, json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Line:
        """Read a model; a file that is none is one line."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise WeightsError(f"{path}: not a model in JSON ({error})") from None
        if not isinstance(found, dict):
            raise WeightsError(f"{path}: not a model in JSON (no keys and values at the top)")
        return from_mapping(cls, found, where=str(path))


def fit_values(
    rows: ArrayLike,
    truth: ArrayLike,
    *,
    inputs: Sequence[str],
    outputs: Sequence[str],
    trained_on: str,
    penalty: float = 1.0,
) -> Line:
    """Fit numbers: rows [n, inputs], truth [n, outputs]; ``penalty`` is per example."""
    x, mean, scale = standardize(_examples(rows, inputs))
    y = np.asarray(truth, np.float64).reshape(len(x), -1)
    if y.shape[1] != len(outputs) or not np.isfinite(y).all():
        raise ConfigError(f"truth must be finite numbers [{len(x)}, {len(outputs)}], not {list(y.shape)}")
    bias = y.mean(axis=0)
    weights = np.linalg.solve(x.T @ x + penalty * len(x) * np.eye(x.shape[1]), x.T @ (y - bias)).T
    return _line("values", inputs, outputs, mean, scale, weights, bias, trained_on)


def fit_classes(
    rows: ArrayLike, truth: Sequence[str], *, inputs: Sequence[str], trained_on: str, penalty: float = 0.01
) -> Line:
    """Fit classes: rows [n, inputs], one class name each; classes weigh the same in sum."""
    x = _examples(rows, inputs)
    classes, kind = np.unique(np.asarray(truth), return_inverse=True)
    if len(kind) != len(x) or len(classes) < 2:
        raise ConfigError(f"classes need one name per row and two kinds; {len(x)} rows, {len(classes)} kinds")
    share = (1 / np.bincount(kind) / len(classes))[kind]
    model = fit_softmax_regression(x, truth, example_weights=share, l2=penalty)
    return _line("classes", inputs, model.classes, model.mean, model.scale, model.weights, model.bias, trained_on)


def _examples(rows: ArrayLike, inputs: Sequence[str]) -> Floats:
    x = np.asarray(rows, np.float64)
    if x.ndim != 2 or x.shape[1] != len(inputs) or len(x) < 2 or not np.isfinite(x).all():
        raise ConfigError(f"examples must be finite numbers [two or more, {len(inputs)}], not {list(x.shape)}")
    return x


def _line(
    kind: Literal["values", "classes"],
    inputs: Sequence[str],
    outputs: Sequence[str],
    mean: Floats,
    scale: Floats,
    weights: Floats,
    bias: Floats,
    trained_on: str,
) -> Line:
    rows = tuple(_short(row) for row in weights)
    return Line(kind, tuple(inputs), tuple(outputs), _short(mean), _short(scale), rows, _short(bias), trained_on)


def _short(numbers: Floats) -> tuple[float, ...]:
    """Keep eight digits, which keeps the file short."""
    return tuple(float(f"{number:.8g}") for number in numbers)
