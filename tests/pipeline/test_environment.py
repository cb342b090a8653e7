"""Every method, embedder and listener says of itself what it is and where it comes from; a run writes it down."""

from __future__ import annotations

import pytest

from personare.anonymizers import ANONYMIZERS
from personare.attackers import EMBEDDERS, SCORERS
from personare.core.catalog import Catalog
from personare.listeners import LISTENERS
from personare.pipeline.environment import declared
from personare.pseudospeakers import PSEUDOSPEAKERS

FAMILIES = (ANONYMIZERS, PSEUDOSPEAKERS, EMBEDDERS, SCORERS, LISTENERS)
OWN = {
    "cascade",
    "expressive",
    "chain",
    "cosine",
    "faithfulness",
    "random",
    "keyed",
    "trained",
    "attributes",
    "energy",
    "f0",
    "rhythm",
    "spectrum",
    "affect",
    "phrases",
    "durations",
    "symbols",
    "expression",
}  # nobody else's idea, or the user's own file


@pytest.mark.parametrize(("family", "name"), [(f, name) for f in FAMILIES for name in f.builtin], ids=str)
def test_every_class_declares_what_it_is_and_its_paper(family: Catalog, name: str) -> None:
    told = declared(family.load(name))
    assert len(told["description"]) > 15 and told["description"].endswith((".", ")", '"'))
    assert "paper" in {key for cls in family.load(name).__mro__ for key in vars(cls)}, (
        "say paper, empty where it is ours"
    )
    assert bool(told["paper"]) == (name not in OWN)
