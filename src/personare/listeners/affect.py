"""Affect in a voice, by the user's own model: values (arousal, valence, sentiment, ...) or classes (angry, sad, ...).

No package of the registries carries an emotion model whose licence and training speech are known, and personare does
not invent one. Two kinds of file are taken:

* ``.onnx``: any network that takes samples, float32 [1, samples], and gives [1, outputs];
* ``.json``: a straight line through the openly computed numbers of ``paralinguistics``, fitted on rated speech
  by ``fit_affect``. Simple and honest; expect less of it than of a large network.

Findings:

* values: concordance (CCC) between the original and the anonymized side, for each output;
* classes: average recall (UAR) of the likeliest class. Against labels where somebody noted them (both sides), else of
  the anonymized speech against what the same model gave for the original, which the finding says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError, ConfigError, MetricError, WeightsError
from personare.core.findings import Finding
from personare.core.observations import (
    FROM_ORIGINAL,
    SIDES,
    Observation,
    ObservedUtterance,
    Side,
    Stimulus,
    SummaryContext,
    UtilitySummary,
)
from personare.core.protocols import Listener
from personare.core.requirements import Requirements
from personare.core.sessions import open_session
from personare.core.weights import file_sha256
from personare.listeners.linear import Line, fit_classes, fit_values
from personare.listeners.means import no_estimate
from personare.listeners.paralinguistics import NAMES, Paralinguistics
from personare.listeners.windows import is_silent
from personare.metrics import card
from personare.metrics.utility.concordance import ccc_estimate
from personare.metrics.utility.recall import uar_chance, uar_estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SHORTEST_S = 0.3


@dataclass(frozen=True)
class Affect(Listener):
    """Predict affect: a batch of Audio in, for each a mapping output -> value (or probability of a class).

    Parameters
    ----------
    model : a ``.onnx`` or ``.json`` file of your own.
    outputs : names of a network's outputs, in order; a ``.json`` model brings its own.
    rate_hz : sample rate a network wants (its card says so).
    classes : whether a network's outputs are categories, the largest being the prediction; a ``.json`` model knows.
    labels : for categories: the column of the corpus that notes the true one, used where it is there.
    """

    paper: ClassVar[str] = ""
    gives: ClassVar[tuple[str, ...]] = ("ccc", "uar")
    argument: ClassVar[str | None] = "model"

    model: Path
    outputs: tuple[str, ...] = ()
    rate_hz: int = 16_000
    classes: bool = False
    labels: str = "emotion"

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

    @property
    def names(self) -> tuple[str, ...]:
        """What the outputs are called."""
        return self.outputs or affect_line(self.model).outputs

    @property
    def metrics(self) -> tuple[str, ...]:
        """Recall of categories, or concordance of values."""
        return ("uar",) if self.categorical else ("ccc",)

    @property
    def needs_original(self) -> bool:
        """Values are compared with those of the original; categories can be compared with labels."""
        return not self.categorical

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of true categories."""
        return (self.labels,)

    @property
    def requires(self) -> Requirements:
        """What a ``.json`` model computes its numbers with."""
        pitch = {"pyworld": "pitch"} if self.model.suffix == ".json" else {}
        return Requirements("a .json model of affect", pitch)

    def check(self) -> None:
        """Read the model now: a wrong file is one line."""
        self.requires.check()
        if self.model.suffix == ".json":
            affect_line(self.model)
        else:
            _session(self.model)

    def __call__(self, batch: Sequence[Audio]) -> list[dict[str, float]]:
        """Predict for each Audio; silence and clips under 0.3 s are refused."""
        for audio in batch:
            if audio.duration_s < SHORTEST_S or is_silent(audio):
                raise AudioError(f"affect needs {SHORTEST_S:g} s of sound; this is silent or shorter")
        if self.model.suffix == ".json":
            line = affect_line(self.model)
            return [dict(zip(line.outputs, line(row)[0].tolist(), strict=True)) for row in Paralinguistics()(batch)]
        return [self._network(resample(audio, self.rate_hz).samples) for audio in batch]

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Predict for each stimulus: probabilities of categories, or values."""
        predictions = self([stimulus.audio for stimulus in batch])
        if self.categorical:
            return [Observation(probabilities=prediction) for prediction in predictions]
        return [Observation(values=prediction) for prediction in predictions]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Compute the recall of categories or the concordance of values."""
        observed = [row for row in rows if all(side in row.sides for side in SIDES)]
        if self.categorical:
            return UtilitySummary(tuple(self._recalls(observed, context)))
        return self._concordances(observed, context)

    def _concordances(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        speakers = [context.speakers[row.utterance] for row in rows]
        findings, notes = [], []
        for name in self.names:
            before, after = ([row.sides[side].values[name] for row in rows] for side in SIDES)
            estimate, failed = no_estimate(), context.total
            try:
                estimate = ccc_estimate(before, after, speakers=speakers)
                failed -= len(rows)
            except MetricError as error:  # one utterance, or the same value each time
                notes.append(f"{name}: {error}")
            findings.append(Finding(card("ccc"), estimate, {"of": name}, failed=failed))
        return UtilitySummary(tuple(findings), tuple(notes))

    def _recalls(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> Iterator[Finding]:
        labels = context.noted.get(self.labels, {})
        rows = [row for row in rows if row.utterance in labels] if labels else rows
        speakers = [context.speakers[row.utterance] for row in rows]
        truth = [labels[row.utterance] if labels else self._likeliest(row, "original") for row in rows]
        for side in SIDES if labels else SIDES[1:]:
            conditions: dict[str, str | int | float] = {
                "speech": side,
                "reference": "noted" if labels else FROM_ORIGINAL,
                "classes": len(set(truth)),
            }
            estimate = no_estimate()
            if rows:
                predicted = [self._likeliest(row, side) for row in rows]
                estimate = uar_estimate(truth, predicted, speakers=speakers)
            chance = uar_chance(truth) if rows else None
            yield Finding(card("uar"), estimate, conditions, failed=context.total - len(rows), chance=chance)

    def _likeliest(self, row: ObservedUtterance, side: Side) -> str:
        return max(self.names, key=lambda name: row.sides[side].probabilities[name])

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
