"""Feeling in a voice, by the user's own model: values (arousal, valence, sentiment, ...) or classes (angry, sad, ...).

No package of the registries carries an emotion model whose licence and training speech are known, and personare does
not invent one. Two kinds of file are taken:

* ``.onnx``: any network that takes samples, float32 [1, samples], and gives [1, outputs];
* ``.json``: a straight line through the openly computed numbers of ``paralinguistics``, fitted on rated speech
  by ``fit_affect``. Simple and honest; expect less of it than of a large network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError, ConfigError, WeightsError
from personare.core.sessions import open_session
from personare.core.weights import file_sha256
from personare.listeners.linear import Line, fit_classes, fit_values
from personare.listeners.paralinguistics import NAMES, Paralinguistics
from personare.listeners.windows import is_silent

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SHORTEST_S = 0.3


@dataclass(frozen=True)
class Affect:
    """Hear feeling: a batch of Audio in, for each a mapping output -> value (or probability of a class).

    Parameters
    ----------
    model : a ``.onnx`` or ``.json`` file of your own.
    outputs : names of a network's outputs, in order; a ``.json`` model brings its own.
    rate_hz : sample rate a network wants (its card says so).
    classes : whether a network's outputs are categories, the largest being what is heard; a ``.json`` model knows.
    """

    model: Path
    outputs: tuple[str, ...] = ()
    rate_hz: int = 16_000
    classes: bool = False

    def __post_init__(self) -> None:
        if self.model.suffix not in (".onnx", ".json"):
            raise ValueError(f"{self.model}: an affect model is a .onnx or .json file")
        if (self.model.suffix == ".onnx") != bool(self.outputs):
            raise ValueError(f"{self.model}: name the outputs of a .onnx model, and of no other")
        if self.classes and self.model.suffix == ".json":
            raise ValueError(f"{self.model}: a .json model says itself whether it gives classes; leave that out")

    @property
    def fingerprint(self) -> str:
        """Name the exact file and settings, for caches."""
        if not self.model.is_file():
            raise WeightsError(f"{self.model}: no such file")
        return f"affect:{file_sha256(self.model)}:{','.join(self.outputs)}:{self.rate_hz}"

    @property
    def categorical(self) -> bool:
        """Whether the outputs are categories rather than values."""
        return self.classes or (self.model.suffix == ".json" and affect_line(self.model).kind == "classes")

    def check(self) -> None:
        """Read the model now: a wrong file is one line."""
        if self.model.suffix == ".json":
            affect_line(self.model)
        else:
            _session(self.model)

    def __call__(self, batch: Sequence[Audio]) -> list[dict[str, float]]:
        """Hear each Audio; silence and clips under 0.3 s are refused."""
        for audio in batch:
            if audio.duration_s < SHORTEST_S or is_silent(audio):
                raise AudioError(f"feeling needs {SHORTEST_S:g} s of sound; this is silent or shorter")
        if self.model.suffix == ".json":
            line = affect_line(self.model)
            return [dict(zip(line.outputs, line(row)[0].tolist(), strict=True)) for row in Paralinguistics()(batch)]
        return [self._network(resample(audio, self.rate_hz).samples) for audio in batch]

    def _network(self, samples: NDArray[np.float32]) -> dict[str, float]:
        session = _session(self.model)
        name = session.get_inputs()[0].name
        found = np.asarray(session.run(None, {name: samples[None]})[0], np.float64).ravel()
        if len(found) != len(self.outputs) or not np.isfinite(found).all():
            raise ConfigError(f"{self.model}: gave {len(found)} numbers for {len(self.outputs)} named outputs")
        return dict(zip(self.outputs, found.tolist(), strict=True))


def fit_affect(batch: Sequence[Audio], ratings: ArrayLike, *, outputs: Sequence[str], trained_on: str) -> Line:
    """Fit values on rated speech: ratings [utterances, outputs]; save the Line as ``.json`` to use it with Affect."""
    rows = np.stack(Paralinguistics()(batch))
    return fit_values(rows, ratings, inputs=NAMES, outputs=outputs, trained_on=trained_on, penalty=0.1)


def fit_affect_classes(batch: Sequence[Audio], labels: Sequence[str], *, trained_on: str) -> Line:
    """Fit classes on labelled speech, one label per utterance."""
    return fit_classes(np.stack(Paralinguistics()(batch)), labels, inputs=NAMES, trained_on=trained_on)


@lru_cache(maxsize=4)
def affect_line(path: Path) -> Line:
    """Read a ``.json`` model; its inputs must be the paralinguistic numbers."""
    line = Line.load(path)
    if line.inputs != NAMES:
        raise ConfigError(f"{path}: was not fitted on the {len(NAMES)} paralinguistic numbers of this version")
    return line


@lru_cache(maxsize=2)
def _session(path: Path) -> Any:
    session = open_session(path)
    inputs = session.get_inputs()
    if len(inputs) != 1 or inputs[0].type != "tensor(float)" or len(inputs[0].shape) != 2:
        raise WeightsError(f"{path}: must take one input, float [1, samples]; it takes {[i.shape for i in inputs]}")
    return session
