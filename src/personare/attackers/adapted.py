"""The fine-tuned attacker for a processor: the last layer of the embedder learns from anonymized speech of others.

The network stays as published; its last layer gets an adapter of low rank, trained by a margin softmax on training
speakers (``margin``), each utterance in several draws where ``train_draws`` says so. How long it is trained (not at
all is among the choices) and how the new vectors are compared (cosine, WCCN, PLDA) is chosen on held-out training
speakers. With the embedder ``ecapa-pooled`` the last layer is ECAPA's own; with any other, the vectors themselves are
what the adapter changes. Speakers of the trials play no part: ``TrainingVectors`` cannot hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.attackers.backend import Backend
from personare.attackers.choosing import FOLDS, area, deal_folds
from personare.attackers.chosen import Comparison, PartChoice
from personare.attackers.margin import Adapter, MarginTraining, trained_adapters
from personare.attackers.scoring import Scorer
from personare.attackers.split import TrainingVectors
from personare.core.errors import ConfigError
from personare.core.seeding import Key, rng_for
from personare.core.speakers import refuse_overlap
from personare.core.vectors import speaker_means, unit_rows
from personare.encoders import ecapa_pooled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STEPS = (0, 25, 50, 100, 200)
_COMPARISONS = (
    Comparison(None),
    *(Comparison(Backend(shrinkage=share, scorer="cosine")) for share in (0.4, 0.8)),
    *(Comparison(Backend(lda=60, shrinkage=share, iterations=5)) for share in (0.4, 0.8)),
)
_DRAWN_BY = 37  # the seed of the adapter's first weights


@dataclass(frozen=True, eq=False)
class AdaptedLayer:
    """The last layer as an attacker uses it: the published ``weight`` [k, d], and the adapter."""

    weight: Floats | None
    adapter: Adapter

    def __call__(self, vectors: NDArray[Any]) -> NDArray[np.float32]:
        """Give the new vectors of raw ones [n, d]: float32 [n, k], of length 1."""
        x = _inputs(vectors)
        return unit_rows(_base(x, self.weight) + self.adapter(x), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class FittedAdapter:
    """A Scorer of raw vectors: through the adapted layer, then compared as held-out speakers chose.

    ``area`` is how well held-out training speakers were told apart, ``plain_area`` the same after the fewest steps.
    """

    embedder: str
    layer: AdaptedLayer
    scorer: Scorer
    trained_on: frozenset[str]
    steps: int
    comparison: str
    area: float
    plain_area: float

    @property
    def choices(self) -> tuple[PartChoice, ...]:
        """What held-out speakers chose."""
        return (PartChoice(self.embedder, f"adapter of {self.steps} steps, {self.comparison}", self.area, 1.0),)

    def check(self, attacked: Iterable[str]) -> None:
        """Refuse speakers it has learnt from."""
        refuse_overlap(self.trained_on, attacked)

    def __call__(self, test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[Any]:
        """Compare every test [n, d] with every enrolled [m, d]."""
        return self.scorer(self.layer(test), self.layer(enroll))


@dataclass(frozen=True)
class AdaptedScorer:
    """An adapter on the last layer, learnt from training speakers; when to stop is chosen by held-out ones.

    Parameters
    ----------
    settings : of the training; steps : after which of its steps it may end, 0 is the layer as published.
    """

    learns: ClassVar[bool] = True
    paper: ClassVar[str] = "Hu et al., LoRA: low-rank adaptation, 2022; Deng et al., ArcFace, 2019"

    settings: MarginTraining = field(default_factory=MarginTraining)
    steps: tuple[int, ...] = STEPS

    def __post_init__(self) -> None:
        if not self.steps or list(self.steps) != sorted(set(self.steps)) or self.steps[0] < 0:
            raise ConfigError(f"steps must be whole numbers that rise, not {list(self.steps)}")

    def fit(self, training: TrainingVectors | None, /) -> Scorer:
        """Train it; too few speakers to choose by are an error."""
        if training is None:
            raise ConfigError("the scorer adapted learns from speech of other people, and there is none")
        if len(training.widths) > 1:
            raise ConfigError("the scorer adapted is for one embedder, best ecapa-pooled, not for a fusion")
        folds = deal_folds(training)
        if not folds:
            need = f"the scorer adapted needs {2 * FOLDS} training speakers with two utterances or more"
            raise ConfigError(f"{need}; give it more, or use scorer: plda")
        weight = ecapa_pooled.last_layer() if training.part_names == (ecapa_pooled.NAME,) else None
        areas = np.zeros((len(self.steps), len(_COMPARISONS)))
        for learnt, judging, known, unknown in folds:
            for i, layer in enumerate(self._layers(learnt, weight, self.steps)):
                projected = replace(learnt, vectors=layer(learnt.vectors))
                enroll = speaker_means(layer(judging.vectors[known]), judging.speaker[known]).vectors
                test = layer(judging.vectors[unknown])
                own = judging.speaker[unknown][:, None] == np.arange(len(judging.names))
                for j, comparison in enumerate(_COMPARISONS):
                    scores = np.asarray(comparison.fit(projected)(test, enroll))
                    areas[i, j] += area(scores[own], scores[~own]) / len(folds)
        i, j = (int(place) for place in np.unravel_index(areas.argmax(), areas.shape))
        (layer,) = self._layers(training, weight, (self.steps[i],))
        projected = replace(training, vectors=layer(training.vectors))
        return FittedAdapter(
            (training.part_names or ("vectors",))[0],
            layer,
            _COMPARISONS[j].fit(projected),
            frozenset(training.names),
            self.steps[i],
            str(_COMPARISONS[j]),
            float(areas[i, j]),
            float(areas[0].max()),
        )

    def _layers(self, training: TrainingVectors, weight: Floats | None, steps: Sequence[int]) -> Iterable[AdaptedLayer]:
        x = _inputs(training.vectors)
        rng = rng_for(Key.from_seed(_DRAWN_BY), "adapter", str(x.shape[1]))
        base = _base(x, weight)
        for adapter in trained_adapters(x, base, training.speaker, steps=tuple(steps), settings=self.settings, rng=rng):
            yield AdaptedLayer(weight, adapter)


def _inputs(vectors: NDArray[Any]) -> Floats:
    """Scale vectors so that their numbers are around 1, whatever their length was."""
    scaled: Floats = unit_rows(vectors, dtype=np.float64) * np.sqrt(vectors.shape[1])
    return scaled


def _base(x: Floats, weight: Floats | None) -> Floats:
    return x if weight is None else x @ weight.T
