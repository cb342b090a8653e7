"""The label maker: one emotion label of a sentence, by a linear discriminant that counts speaker differences as noise.

The within-class covariance is ``0.7 S + 0.3 tr(S)/d I + nu D + mu B``: S of acted emotions, D of corpus means, and B of
the speaker means of neutral speech. A direction in which neutral speakers differ thus says little about the label, and
the label little about its speaker. Where other sentences of the speaker are known, the speaker's offset is estimated
and subtracted, and only its uncertainty remains as noise:

    K = n B (n B + T)^-1        offset = K r        B' = B - K B

r is the mean over n sentences of what their likely labels do not explain, T the covariance of r for one sentence. Then
F0 level and spectral balance may be used as well, because they are compared with the speaker's own. Only the likeliest
label is given, never a probability.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from personare.core.errors import WeightsError
from personare.encoders.expression.measuring import MANNER, STATISTICS, SpeechTrack, manner, statistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LABELS = ("anger", "happiness", "sadness", "fear", "neutral")
SIZE = STATISTICS + MANNER
SHIPPED, FILE, CARD = "shipped", "labels.npz", "labels.json"
LEAST_SENTENCES = 4  # of a speaker, from which on their offset is estimated
_MOST_SENTENCES = 64
_REACH = 4.0  # standardized numbers further away count as being so far


@dataclass(frozen=True, eq=False)
class LabelMaker:
    """A fitted label maker; all numbers are standardized.

    Parameters
    ----------
    mean, scale : of the numbers before, [d].
    classes : the mean of each label, [labels, d].
    within : noise of a sentence, [d, d].
    between : noise of a speaker (B), [d, d].
    own : spread of what labels do not explain in sentences of one speaker (T), [d, d].
    weight : of the noise of a speaker (mu), [].
    """

    mean: Floats
    scale: Floats
    classes: Floats
    within: Floats
    between: Floats
    own: Floats
    weight: Floats

    def standardized(self, numbers: Floats) -> Floats:
        """Bring numbers [..., d] to mean 0 and spread 1 of the training speech."""
        standard: Floats = np.clip((numbers - self.mean) / self.scale, -_REACH, _REACH)
        return standard

    def label(self, numbers: Floats, *, offset: Sequence[float] = (), sentences: int = 0) -> str:
        """Give the likeliest label of the numbers of a sentence [d].

        ``offset`` is the mean of ``unexplained`` over so many ``sentences`` of the same speaker.
        """
        standard = self.standardized(numbers)
        if sentences < LEAST_SENTENCES or len(offset) != SIZE:
            return LABELS[int(np.argmax(self._alone @ np.append(standard[:STATISTICS], 1.0)))]
        gain, scores = self._known(min(sentences, _MOST_SENTENCES))
        return LABELS[int(np.argmax(scores @ np.append(standard - gain @ np.array(offset), 1.0)))]

    def unexplained(self, numbers: Floats) -> Floats:
        """Give what the likely labels of a sentence do not explain of its numbers: [d], standardized."""
        standard = self.standardized(numbers)
        logs = self._alone @ np.append(standard[:STATISTICS], 1.0)
        shares = np.exp(logs - logs.max())
        rest: Floats = standard - (shares / shares.sum()) @ self.classes
        return rest

    @property
    def _alone(self) -> Floats:
        return _scores_alone(self)

    def _known(self, sentences: int) -> tuple[Floats, Floats]:
        return _scores_known(self, sentences)


@lru_cache(maxsize=4)
def _scores_alone(maker: LabelMaker) -> Floats:
    some = slice(0, STATISTICS)
    return discriminant(maker.classes[:, some], (maker.within + maker.weight * maker.between)[some, some])


@lru_cache(maxsize=128)
def _scores_known(maker: LabelMaker, sentences: int) -> tuple[Floats, Floats]:
    between = sentences * maker.between
    gain = np.linalg.solve((between + maker.own).T, between.T).T.astype(np.float64)
    rest = maker.between - gain @ maker.between
    return gain, discriminant(maker.classes, maker.within + maker.weight * rest)


def discriminant(classes: Floats, within: Floats) -> Floats:
    """Give linear scores [labels, d + 1] of classes with these means and one covariance, at equal priors."""
    weights = np.linalg.solve(within, classes.T).T
    return np.concatenate([weights, -0.5 * np.sum(weights * classes, axis=1, keepdims=True)], axis=1)


def numbers_of(track: SpeechTrack) -> Floats:
    """Put statistics and manner of a sentence together: [d]."""
    return np.concatenate([statistics(track), manner(track)])


@lru_cache(maxsize=1)
def shipped_labels() -> LabelMaker:
    """Open the label maker that is shipped."""
    path = Path(__file__).parent / SHIPPED / FILE
    try:
        return read_labels(path.read_bytes(), where=str(path))
    except OSError as error:
        raise WeightsError(f"{path}: cannot be read ({error.strerror}); reinstall personare") from None


def read_labels(content: bytes, *, where: str) -> LabelMaker:
    """Read a label maker from the bytes of an npz."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            maker = LabelMaker(**{one.name: arrays[one.name].astype(np.float64) for one in fields(LabelMaker)})
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise WeightsError(
            f"{where}: not a label maker ({type(error).__name__}); make one with personare train expression"
        ) from None
    square = (SIZE, SIZE)
    sizes = {"mean": (SIZE,), "scale": (SIZE,), "classes": (len(LABELS), SIZE), "weight": ()}
    sizes |= dict.fromkeys(("within", "between", "own"), square)
    for name, size in sizes.items():
        array = getattr(maker, name)
        if array.shape != size or not np.isfinite(array).all():
            raise WeightsError(f"{where}: not a label maker ({name} is {array.shape}, not {size})")
    return maker


def encode_labels(maker: LabelMaker) -> bytes:
    """Write a label maker as the bytes of an npz."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {one.name: np.asarray(getattr(maker, one.name), np.float32) for one in fields(LabelMaker)}
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()
