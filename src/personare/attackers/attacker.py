"""One attack in one line: what the attacker knows, how they listen, how they compare.

``Attacker("informed")`` listens with ECAPA and compares by a back-end refitted on anonymized speech;
``Attacker("ignorant")`` and ``Attacker("lazy-informed")`` have nothing to learn from and compare by cosine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from personare.attackers.alignment import align_pairs, align_unpaired
from personare.attackers.asnorm import AsNorm
from personare.attackers.backend import Backend
from personare.attackers.choosing import choose_backend
from personare.attackers.knowledge import Knowledge, knowledge
from personare.attackers.scoring import Scorer, TrialScores, cosine, enrolled, score_all
from personare.attackers.split import Split
from personare.core.errors import ConfigError

_MATCHING_SEED = 29  # only picks which vectors a matching without pairs looks at


@dataclass(frozen=True)
class Attacker:
    """An attacker of one level of knowledge.

    Parameters
    ----------
    name : level of knowledge, in either vocabulary (see ``knowledge``).
    embedder : how they listen; a name of the catalog of embedders.
    backend : what they learn from training speech, where the split has some; None lets the training speakers choose
        (LDA, shrinkage) by cross-validation among themselves.
    compare : how a back-end that is chosen so compares.
    as_norm : how many strangers of the training speech a score is compared with; 0 for none.
    alignment : for the aligned attacker, whether utterances are known before and after the disguise.
    """

    name: str
    embedder: str = "ecapa"
    backend: Backend | None = None
    compare: Literal["plda", "cosine"] = "plda"
    as_norm: int = 0
    alignment: Literal["pairs", "no pairs"] = "pairs"

    def __post_init__(self) -> None:
        if self.as_norm < 0:
            raise ConfigError(f"as_norm must be 0 (none) or a number of strangers, not {self.as_norm}")
        knowledge(self.name)

    @property
    def knowledge(self) -> Knowledge:
        """The level behind the name."""
        return knowledge(self.name)

    def scorer(self, split: Split) -> Scorer:
        """Learn what there is to learn."""
        if split.knowledge is not self.knowledge:
            raise ConfigError(f"the split is for the {split.knowledge.value} attack, not {self.knowledge.value}")
        scorer: Scorer = cosine
        if self.knowledge is Knowledge.ALIGNED:
            rng = np.random.default_rng(_MATCHING_SEED)
            scorer = align_pairs(split) if self.alignment == "pairs" else align_unpaired(split, rng=rng)
        elif split.training is not None:
            training = split.training_vectors()
            backend = self.backend or choose_backend(training, start=Backend(scorer=self.compare))
            scorer = backend.fit(training)
        if self.as_norm and split.training is not None:
            strangers = enrolled(split.training.embeddings)
            scorer = AsNorm(strangers.vectors, strangers.ids, self.as_norm, scorer)
        return scorer

    def attack(self, split: Split, *, genders: Mapping[str, str | None] | None = None) -> TrialScores:
        """Score every test utterance against every enrolled speaker; ``genders`` keeps trials within one gender."""
        return score_all(
            split.test.embeddings, enrolled(split.enroll.embeddings), genders=genders, scorer=self.scorer(split)
        )
