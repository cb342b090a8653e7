"""S1c1, S2c1, S1, S2: a voice rebuilt by a network that is punished for telling gender, accent and speaker.

z = tanh(W x + b);  x* = V z + c;  each label y is guessed from z by a softmax branch
min over W, V:  mean |x - x*|^2 / d  -  lambda sum_y CE_y          (reversed gradient; the branches minimise their CE_y)
                                          [espinoza2020adversarial; tomashenko2022voiceprivacy, sec. 3.2.1 (S1c1, S2c1)]
S2c1 tries several lambda and takes the best trade of rebuilding against what a fresh linear probe still finds in z, on
vectors held out. S1 and S2 rebuild the voice that B1 has invented.

S1c1 and S2c1 alone stay close to the original: they remove labels, not the person.
Deviations: layers and weights are ours, as the paper's are not in the text at hand: one hidden layer, trained by Adam,
lambda growing from 0, five steps of every branch for one of the network. A branch is left out where the pool does not
tell its label, or has one vector per speaker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.pseudospeakers.farthest import FarthestMean, Voices
from personare.pseudospeakers.network import Network, audible, train
from personare.pseudospeakers.pool import Pool
from personare.pseudospeakers.recipe import Asked, Fitted, Recipe, check_size, contiguous

Floats = NDArray[np.float64]

_FEWEST = 20
_HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class RebuiltVoices:
    """The ``network``, and the pool's ``voices`` where B1 comes before it (else none)."""

    network: Network
    voices: Voices


@dataclass(frozen=True)
class AdversarialRebuilding(Recipe[RebuiltVoices]):
    """The voice rebuilt by a network that is punished for telling gender, accent and speaker (S1c1).

    Parameters
    ----------
    hidden : width of the code between the two layers.
    strengths : weights lambda of the adversarial branches; the best of several is taken.
    epochs : how often all vectors are seen.
    """

    paper: ClassVar[str] = (
        "Espinoza-Cuadros et al., 2020; Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.1 (S1, S2)"
    )
    name: ClassVar[str] = "s1c1"
    learnt: ClassVar[type] = RebuiltVoices
    by_chance: ClassVar[bool] = False
    follows: ClassVar[bool] = True
    keeps_gender: ClassVar[bool] = False

    hidden: int = 64
    strengths: tuple[float, ...] = (1.0,)
    epochs: int = 40

    def __post_init__(self) -> None:
        if not self.strengths or not min(self.strengths) >= 0 or not np.isfinite(self.strengths).all():
            raise ConfigError(f"{self.name}: strengths must be numbers from 0 on, not {list(self.strengths)}")
        if self.hidden < 1 or self.epochs < 1:
            raise ConfigError(f"{self.name}: hidden and epochs must be at least 1")
        if self.gender == "cross" and self.follows:
            raise ConfigError(f"{self.name}: gender cannot be 'cross'; the voice is rebuilt, not replaced")

    def fit(self, pool: Pool, *, rng: np.random.Generator) -> Fitted[RebuiltVoices]:
        """Train on all voices of the pool at once; it must tell genders, accents or speakers."""
        check_size(self.name, "", len(pool), _FEWEST)
        labels = label_columns(pool)
        if not labels:
            raise ConfigError(f"{self.name} needs a pool that tells genders, accents or several vectors per speaker")
        network = self._best(pool.vectors.astype(np.float64), labels, rng)
        groups = {g: contiguous(RebuiltVoices(network, self._voices(g, v))) for g, v in pool.groups.items()}
        return Fitted(self, groups, {g: len(v) for g, v in pool.groups.items()}, pool.vectors.shape[1])

    def _voices(self, gender: str, vectors: NDArray[np.float32]) -> Voices:  # noqa: ARG002 - S1 looks at it
        return Voices(vectors[:0])

    def _best(self, vectors: Floats, labels: Sequence[NDArray[np.int64]], rng: np.random.Generator) -> Network:
        """Train with each strength; where there are several, judge them on vectors held out."""
        shape = {"hidden": self.hidden, "epochs": self.epochs}
        if len(self.strengths) == 1:
            return train(vectors, labels, strength=self.strengths[0], rng=rng, **shape)
        order = rng.permutation(len(vectors))
        held, rest = np.split(order, [round(_HELD_OUT * len(order))])
        networks = [
            train(vectors[rest], [y[rest] for y in labels], strength=s, rng=rng, **shape) for s in self.strengths
        ]
        return max(
            networks, key=lambda n: n.likeness(vectors[held]) - audible(n, vectors, labels, rest=rest, held=held)
        )

    def invent(self, asked: Asked[RebuiltVoices]) -> Floats:
        """Rebuild the speaker's own voice."""
        again: Floats = asked.voices.network.rebuilt(asked.vector[None])[0]
        return again


@dataclass(frozen=True)
class TunedRebuilding(AdversarialRebuilding):
    """As S1c1, with the weight of the adversarial branches chosen on vectors held out (S2c1)."""

    name: ClassVar[str] = "s2c1"

    strengths: tuple[float, ...] = (0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class RebuiltMean(AdversarialRebuilding):
    """The average of far voices (B1), rebuilt by the network of S1c1 (S1).

    Parameters
    ----------
    farthest : as in B1, how many of the least similar voices are candidates.
    average : as in B1, how many of them are averaged.
    """

    name: ClassVar[str] = "s1"
    by_chance: ClassVar[bool] = True
    follows: ClassVar[bool] = False

    farthest: int = 200
    average: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        self._before()

    def _before(self) -> FarthestMean:
        return FarthestMean(farthest=self.farthest, average=self.average)

    def _voices(self, gender: str, vectors: NDArray[np.float32]) -> Voices:
        check_size(self.name, gender, len(vectors), self.farthest, self._before().remedy)
        return Voices(vectors)

    def invent(self, asked: Asked[RebuiltVoices]) -> Floats:
        """Rebuild what B1 invents."""
        mean = self._before().invent(Asked(asked.vector, asked.voices.voices, asked.rng))
        again: Floats = asked.voices.network.rebuilt(mean[None])[0]
        return again


@dataclass(frozen=True)
class TunedRebuiltMean(RebuiltMean):
    """The average of far voices (B1), rebuilt by the network of S2c1 (S2)."""

    name: ClassVar[str] = "s2"

    strengths: tuple[float, ...] = (0.3, 1.0, 3.0, 10.0)


def label_columns(pool: Pool) -> list[NDArray[np.int64]]:
    """Number the labels the pool tells: gender, accent, and the speaker where speakers have several vectors."""
    speakers = pool.ids if len(set(pool.ids)) < len(pool.ids) else ()
    told = [column for column in (pool.genders, pool.accents, speakers) if len(set(column)) > 1]
    return [np.unique(np.array(column), return_inverse=True)[1].astype(np.int64) for column in told]
