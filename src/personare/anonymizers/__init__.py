"""Anonymizers: audio in, audio of the same rate in another voice out; ``signal`` ones keep the length as well."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from personare.anonymizers.papers import PAPERS
from personare.core.catalog import Alias, Catalog
from personare.core.protocols import Anonymizer

BUILTIN = {
    "mcadams": "personare.anonymizers.signal.mcadams:McAdams",
    "formants": "personare.anonymizers.signal.formants:Formants",
    "world": "personare.anonymizers.signal.world:WorldWarp",
    "xvector": "personare.anonymizers.neural.xvector.anonymizer:XVector",
    "cascade": "personare.anonymizers.neural.cascade.anonymizer:Cascade",
    "expressive": "personare.anonymizers.neural.expressive.anonymizer:Expressive",
    "usc": "personare.anonymizers.neural.codec:UscAnonymizer",
    "codec": "personare.anonymizers.neural.codec:CodecRoundTrip",
    "chain": "personare.anonymizers.signal.chain:Chain",
}
ANONYMIZERS = Catalog(
    "anonymizer",
    BUILTIN,
    needs={"__call__": "__call__(self, audio, *, rng)"},
    aliases={name: Alias(row.method, row.settings, row.missing) for name, row in PAPERS.items()},
)


def anonymizer(name: str, /, **parameters: Any) -> Anonymizer:
    """Make an anonymizer by name or ``module:Class``; unknown names and parameters are errors with a suggestion."""
    return cast(Anonymizer, ANONYMIZERS.make(name, **parameters))


def models_needed(name: str, parameters: Mapping[str, Any] = MappingProxyType({})) -> tuple[str, ...]:
    """Fetched models without which a method does nothing; a method may say so as it is set (``needed_models``)."""
    cls = ANONYMIZERS.load(name)
    if hasattr(cls, "needed_models"):
        return tuple(ANONYMIZERS.make(name, **parameters).needed_models)
    return tuple(getattr(cls, "MODELS", ()))
