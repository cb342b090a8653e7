"""Training speakers choose the back-end's settings; trial speakers have no say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from personare.attackers.backend import Backend
from personare.attackers.choosing import FEWEST, choose_backend, table
from personare.attackers.knowledge import Knowledge
from personare.attackers.split import Anonymization, EmbeddedSpeech, Split
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Embeddings
from personare.core.vectors import cosine

D = 30


def _speech(prefix: str, speakers: int, each: int, *, seed: int) -> Embeddings:
    """Speakers differ in 6 of 30 directions, loud noise that is the same for everybody fills 10 others."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(speakers), each)
    x = rng.normal(size=(speakers, D))[who] * (np.arange(D) < 6)
    x = x + rng.normal(size=(len(who), D)) * (0.3 + 3.0 * (np.arange(D) >= 20))
    ids = tuple(f"{prefix}{i}" for i in range(len(who)))
    return Embeddings(ids, tuple(f"{prefix[0]}{i}" for i in who), x.astype(np.float32))


def _split(speakers: int, *, attacked: int = 1) -> Split:
    enroll, test = (_speech(f"t{n}", 4, 2, seed=attacked + n) for n in (0, 1))
    learnt = EmbeddedSpeech(_speech("l", speakers, 4, seed=9), Anonymization(SystemIdentity("x"), "3"))
    return Split(
        Knowledge.INFORMED,
        EmbeddedSpeech(enroll, Anonymization(SystemIdentity("x"), "1")),
        EmbeddedSpeech(test, Anonymization(SystemIdentity("x"), "2")),
        learnt,
    )


def test_settings_that_tell_held_out_speakers_apart_are_taken() -> None:
    training = _split(40).training_vectors()
    start = Backend(scorer="cosine")
    tried = [Backend(scorer="cosine", shrinkage=share) for share in (0.05, 1.0)]
    little, whole = (value for _, value in table(training, tried))
    assert little > whole + 0.05
    chosen = choose_backend(training, start=start)
    assert chosen.shrinkage < 0.5 and chosen.scorer == "cosine"
    assert choose_backend(training, start=start) == chosen


@dataclass(frozen=True)
class Watched:
    """Settings that learn nothing, and note whom they would have learnt from and whom they judge."""

    met: list[tuple[set[bytes], set[bytes]]] = field(default_factory=list)

    def fit(self, training: Any, *, fits: Any) -> Any:
        assert fits._training is training, "what is shared was learnt from the same speakers"
        rows = {row.tobytes() for row in training.vectors}

        def compare(test: Any, enroll: Any) -> Any:
            self.met.append((rows, {row.tobytes() for row in test}))
            return cosine(test, enroll)

        return compare


def test_nobody_is_judged_by_a_back_end_that_has_learnt_from_them() -> None:
    """Every fold is held out: nobody compared is among those learnt from, and everybody is judged once."""
    training = _split(40).training_vectors()
    watched = Watched()
    table(training, [watched], folds=5)  # type: ignore[list-item]
    owner = dict(zip((row.tobytes() for row in training.vectors), training.speaker.tolist(), strict=True))
    judged: list[int] = []
    for learnt, tested in watched.met:
        assert {owner[row] for row in learnt} | {owner[row] for row in tested} == set(range(40))
        assert not {owner[row] for row in learnt} & {owner[row] for row in tested}
        judged += {owner[row] for row in tested}
    assert len(watched.met) == 5 and sorted(judged) == list(range(40))


def test_the_attacked_speakers_have_no_say() -> None:
    one, other = (
        choose_backend(_split(40, attacked=seed).training_vectors(), start=Backend(scorer="cosine")) for seed in (1, 5)
    )
    assert one == other


def test_too_few_teachers_choose_nothing() -> None:
    start = Backend(shrinkage=0.17)
    assert choose_backend(_split(FEWEST - 1).training_vectors(), start=start) is start
