"""Attackers: what they know, how they turn speech into vectors, how they compare, and the one ``attack``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from personare.core.catalog import Catalog
from personare.core.errors import ConfigError
from personare.core.protocols import Embedder

if TYPE_CHECKING:
    from personare.attackers.scorers import ScorerSettings

BUILTIN = {
    "ecapa": "personare.encoders.ecapa:Ecapa",
    "ecapa-pooled": "personare.encoders.ecapa_pooled:EcapaPooled",
    "ge2e": "personare.encoders.ge2e:Ge2e",
    "wespeaker": "personare.encoders.published:WeSpeaker",
    "wakehubert": "personare.encoders.published:WakeHubert",
    "energy": "personare.encoders.statistics:EnergyStatistics",
    "rhythm": "personare.encoders.statistics:RhythmStatistics",
    "f0": "personare.encoders.statistics:F0ShapeStatistics",
    "spectrum": "personare.encoders.statistics:SpectrumStatistics",
    "phrases": "personare.encoders.statistics:PhraseStatistics",
    "durations": "personare.encoders.statistics:DurationStatistics",
    "symbols": "personare.encoders.statistics:SymbolStatistics",
    "words": "personare.encoders.wording:Wording",
    "vocabulary": "personare.encoders.wording:Vocabulary",
    "trained": "personare.attackers.trained:TrainedEmbedder",
}
EMBEDDERS = Catalog(
    "embedder",
    BUILTIN,
    needs={
        "__call__": "def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]",
        "fingerprint": "a property fingerprint, which names the exact model for caches",
    },
)
SCORERS = Catalog(
    "scorer",
    {
        "cosine": "personare.attackers.scorers:CosineScorer",
        "idf": "personare.attackers.idf:IdfScorer",
        "wccn": "personare.attackers.scorers:WccnScorer",
        "plda": "personare.attackers.scorers:PldaScorer",
        "chosen": "personare.attackers.chosen:ChosenScorer",
        "adapted": "personare.attackers.adapted:AdaptedScorer",
    },
    needs={
        "learns": "learns: ClassVar[bool], whether it is fitted on speech of other people",
        "fit": "def fit(self, training, /), which gives the function that compares",
    },
)


def embedder(name: str, /, **parameters: Any) -> Embedder:
    """Make an embedder by name; unknown names and parameters are errors with a suggestion.

    ``trained:model.onnx`` is short for the embedder ``trained`` with ``path="model.onnx"``; what stands before the
    colon of any other name is a module. ``ecapa+energy`` is a fusion of two.
    """
    from personare.attackers.fused import FusedEmbedder, parts_of

    parts = parts_of(name)
    if len(parts) > 1:
        if parameters:
            raise ConfigError(f"the fusion '{name}' has no parameters, its parts have; remove {', '.join(parameters)}")
        return FusedEmbedder(parts)
    known, colon, path = name.partition(":")
    if colon and known in EMBEDDERS.names():
        name, parameters = known, {"path": path, **parameters}
    return cast(Embedder, EMBEDDERS.make(name, **parameters))


def scorer(name: str, /, **parameters: Any) -> ScorerSettings:
    """Make a scorer by name, before it has learnt; unknown names and parameters are errors with a suggestion."""
    return cast("ScorerSettings", SCORERS.make(name, **parameters))
