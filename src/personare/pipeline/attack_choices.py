"""What an attacker chose by training speakers alone, kept beside what was then measured on the attacked.

A report can name the strongest attack without having looked at its success: the one that told held-out training
speakers apart best.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from personare.attackers.adapted import FittedAdapter
from personare.attackers.chosen import FittedFusion
from personare.attackers.folds import FoldedScorer
from personare.pipeline.measured import Artefact

if TYPE_CHECKING:
    from personare.attackers.scoring import Scorer
    from personare.pipeline.attack_inputs import PlayedAttack

CHOICES = "choices"
TOGETHER = "together"
_COLUMNS = {"model": pl.Int64, "embedder": pl.String, "comparison": pl.String, "area": pl.Float64, "weight": pl.Float64}


def choices_of(played: PlayedAttack) -> Iterator[Artefact]:
    """Give one table, a row for every embedder of every model and one for their sum; nothing for other scorers."""
    rows = [
        (number, *row)
        for number, model in enumerate(_models(played.attack.scorer))
        for row in (
            *((one.embedder, one.comparison, one.area, one.weight) for one in model.choices),
            (TOGETHER, "", model.area, 1.0),
        )
    ]
    if rows:
        frame = pl.DataFrame(rows, schema=_COLUMNS, orient="row")
        together = frame.filter(pl.col("embedder") == TOGETHER)["area"].to_numpy()
        yield Artefact(CHOICES, frame, {"area": round(float(together.mean()), 6)})


def _models(scorer: Scorer) -> Iterator[FittedFusion | FittedAdapter]:
    """Give the models of an attack: one, or one for every two folds."""
    for one in scorer.models.values() if isinstance(scorer, FoldedScorer) else (scorer,):
        if isinstance(one, FittedFusion | FittedAdapter):
            yield one
