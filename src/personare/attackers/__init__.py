"""Attackers: what they know, how they turn speech into vectors, how they compare."""

from __future__ import annotations

from typing import Any, cast

from personare.core.catalog import Catalog
from personare.core.protocols import Embedder

BUILTIN = {
    "ecapa": "personare.encoders.ecapa:Ecapa",
    "ge2e": "personare.encoders.ge2e:Ge2e",
    "trained": "personare.attackers.trained:TrainedEmbedder",
}
EMBEDDERS = Catalog("embedder", BUILTIN)


def embedder(name: str, /, **parameters: Any) -> Embedder:
    """Make an embedder by name; unknown names and parameters are errors with a suggestion.

    ``trained:model.onnx`` is short for the embedder ``trained`` with ``path="model.onnx"``.
    """
    name, colon, path = name.partition(":")
    if colon:
        parameters = {"path": path, **parameters}
    return cast(Embedder, EMBEDDERS.make(name, **parameters))
