"""Hostile ears: what an attacker knows, how they turn speech into vectors, how they compare."""

from __future__ import annotations

from typing import Any, cast

from personare.core.catalog import Catalog
from personare.core.protocols import Embedder

BUILTIN = {
    "ecapa": "personare.attackers.ecapa:Ecapa",
    "ge2e": "personare.encoders.ge2e:Ge2e",
    "trained": "personare.attackers.trained:Trained",
}
EMBEDDERS = Catalog("embedder", BUILTIN)


def embedder(name: str, /, **parameters: Any) -> Embedder:
    """Make an embedder by name; unknown names and parameters are errors with a suggestion.

    ``trained:model.onnx`` is short for the embedder ``trained`` with ``path="model.onnx"``.
    """
    known, colon, path = name.partition(":")
    if colon and known in EMBEDDERS.names():
        name, parameters = known, {"path": path, **parameters}
    return cast(Embedder, EMBEDDERS.make(name, **parameters))
