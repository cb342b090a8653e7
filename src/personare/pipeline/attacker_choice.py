"""Who attacks, as a study says it: what an attacker knows, hears with, compares by and learns from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from personare.core.errors import ConfigError


@dataclass(frozen=True)
class AttackerChoice:
    """One attacker.

    Parameters
    ----------
    knowledge : original, ignorant, lazy-informed, semi-informed, informed, aligned or inverting (or the challenge's).
    embedder : a name of the table of embedders (ecapa, wespeaker, energy, ...), trained:FILE.onnx, module:Class, or
        several of them joined by ``+``.
    scorer : how vectors are compared; ``cosine`` learns nothing, ``wccn`` and ``plda`` learn from the train part, as
        does ``chosen``, the best of all of them for every embedder, as training speakers judge, and ``adapted``, an
        adapter of the embedder's last layer (best with the embedder ``ecapa-pooled``).
        Without: cosine, or plda for attackers who learn.
    learns_from : for semi-informed: the anonymizer that is like the attacked one, by its label in the study, or with
        its own settings, as in ``anonymizers``.
    enroll_draws : how many times enrolment speech is anonymized with other pseudo-speakers, of which the mean is
        enrolled; 1 is the challenge's attacker, more take the chance of the attacker's own draw out.
    as_norm : the size of the cohort, of the train part, that a score is normalised by; 0 for none.
    alignment : for aligned: whether the attacker knows which utterance became which.
    train_draws : how many times training speech is anonymized with other pseudo-speakers, all of which are learnt from.
    folds : for informed: into how many folds the attacked people are dealt; the attacker then also learns from the
        enrolment speech of people in other folds. 0 for none.
    """

    knowledge: str
    embedder: str = "ecapa"
    scorer: str | None = None
    learns_from: str | Mapping[str, Any] | None = None
    enroll_draws: int = 5
    as_norm: int = 0
    alignment: Literal["pairs", "no pairs"] = "pairs"
    train_draws: int = 1
    folds: int = 0
    RENAMED: ClassVar[Mapping[str, str]] = {"disguises": "enroll_draws"}

    def __post_init__(self) -> None:
        if self.enroll_draws < 1 or self.as_norm < 0:
            raise ConfigError(
                f"enroll_draws must be at least 1 and as_norm at least 0, not {self.enroll_draws}, {self.as_norm}"
            )
        if self.train_draws < 1 or self.folds < 0:
            raise ConfigError(
                f"train_draws must be at least 1 and folds at least 0, not {self.train_draws}, {self.folds}"
            )
