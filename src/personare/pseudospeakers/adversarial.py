"""S1c1, S2c1, S1, S2: a vector rebuilt by an autoencoder that is punished for telling gender, accent and speaker.

z = tanh(W x + b);  x* = V z + c;  each label y is guessed from z by a softmax branch
min over W, V:  mean |x - x*|^2 / d  -  lambda sum_y CE_y          (reversed gradient; the branches minimise their CE_y)
                                          [espinoza2020adversarial; tomashenko2022voiceprivacy, sec. 3.2.1 (S1c1, S2c1)]
S2c1 tries several lambda and takes the best trade of reconstruction against what a fresh linear probe still finds in z,
on vectors held out. S1 and S2 rebuild the vector that B1 has generated.

S1c1 and S2c1 alone stay close to the original: they remove labels, not the identity.
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
from personare.pseudospeakers.autoencoder import Autoencoder, probe_advantage, train
from personare.pseudospeakers.farthest import CandidateVectors, FarthestMean
from personare.pseudospeakers.generator import FittedGenerator, PseudoSpeakerGenerator, Request, check_size, contiguous
from personare.pseudospeakers.pool import SpeakerPool

Floats = NDArray[np.float64]

_FEWEST = 20
_HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class AutoencoderState:
    """The ``network``, and the pool's vectors as ``candidates`` where B1 comes before it (else none)."""

    network: Autoencoder
    candidates: CandidateVectors


@dataclass(frozen=True)
class AdversarialAutoencoder(PseudoSpeakerGenerator[AutoencoderState]):
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
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "s1c1"
    state_type: ClassVar[type] = AutoencoderState
    stochastic: ClassVar[bool] = False
    follows_original: ClassVar[bool] = True
    keeps_gender: ClassVar[bool] = False

    hidden: int = 64
    strengths: tuple[float, ...] = (1.0,)
    epochs: int = 40

    def __post_init__(self) -> None:
        if not self.strengths or not min(self.strengths) >= 0 or not np.isfinite(self.strengths).all():
            raise ConfigError(f"{self.name}: strengths must be numbers from 0 on, not {list(self.strengths)}")
        if self.hidden < 1 or self.epochs < 1:
            raise ConfigError(f"{self.name}: hidden and epochs must be at least 1")
        if self.gender == "cross" and self.follows_original:
            raise ConfigError(f"{self.name}: gender cannot be 'cross'; the voice is rebuilt, not replaced")

    def fit(self, pool: SpeakerPool, *, rng: np.random.Generator) -> FittedGenerator[AutoencoderState]:
        """Train on all vectors of the pool at once; it must tell genders, accents or speakers."""
        check_size(self.name, "", len(pool), _FEWEST)
        labels = label_columns(pool)
        if not labels:
            raise ConfigError(f"{self.name} needs a pool that tells genders, accents or several vectors per speaker")
        network = self._best(pool.vectors.astype(np.float64), labels, rng)
        groups = {g: contiguous(AutoencoderState(network, self._candidates(g, v))) for g, v in pool.groups.items()}
        return FittedGenerator(self, groups, {g: len(v) for g, v in pool.groups.items()}, pool.vectors.shape[1])

    def _candidates(self, gender: str, vectors: NDArray[np.float32]) -> CandidateVectors:  # noqa: ARG002 - S1 looks at it
        return CandidateVectors(vectors[:0])

    def _best(self, vectors: Floats, labels: Sequence[NDArray[np.int64]], rng: np.random.Generator) -> Autoencoder:
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
            networks,
            key=lambda n: n.mean_cosine(vectors[held]) - probe_advantage(n, vectors, labels, rest=rest, held=held),
        )

    def generate(self, request: Request[AutoencoderState]) -> Floats:
        """Rebuild the speaker's own vector."""
        rebuilt: Floats = request.state.network.reconstruct(request.vector[None])[0]
        return rebuilt


@dataclass(frozen=True)
class TunedAdversarialAutoencoder(AdversarialAutoencoder):
    """As S1c1, with the weight of the adversarial branches chosen on vectors held out (S2c1)."""

    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "s2c1"

    strengths: tuple[float, ...] = (0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class AutoencodedFarthestMean(AdversarialAutoencoder):
    """The average of far voices (B1), rebuilt by the network of S1c1 (S1).

    Parameters
    ----------
    farthest : as in B1, how many of the least similar vectors are candidates.
    average : as in B1, how many of them are averaged.
    """

    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "s1"
    stochastic: ClassVar[bool] = True
    follows_original: ClassVar[bool] = False

    farthest: int = 200
    average: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        self._farthest_mean()

    def _farthest_mean(self) -> FarthestMean:
        return FarthestMean(farthest=self.farthest, average=self.average)

    def _candidates(self, gender: str, vectors: NDArray[np.float32]) -> CandidateVectors:
        check_size(self.name, gender, len(vectors), self.farthest, self._farthest_mean().remedy)
        return CandidateVectors(vectors)

    def generate(self, request: Request[AutoencoderState]) -> Floats:
        """Rebuild what B1 generates."""
        mean = self._farthest_mean().generate(Request(request.vector, request.state.candidates, request.rng))
        rebuilt: Floats = request.state.network.reconstruct(mean[None])[0]
        return rebuilt


@dataclass(frozen=True)
class TunedAutoencodedFarthestMean(AutoencodedFarthestMean):
    """The average of far voices (B1), rebuilt by the network of S2c1 (S2)."""

    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "s2"

    strengths: tuple[float, ...] = (0.3, 1.0, 3.0, 10.0)


def label_columns(pool: SpeakerPool) -> list[NDArray[np.int64]]:
    """Number the labels the pool tells: gender, accent, and the speaker where speakers have several vectors."""
    speakers = pool.ids if len(set(pool.ids)) < len(pool.ids) else ()
    known = [column for column in (pool.genders, pool.accents, speakers) if len(set(column)) > 1]
    return [np.unique(np.array(column), return_inverse=True)[1].astype(np.int64) for column in known]
