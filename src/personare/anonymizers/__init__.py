"""Ways to hide a voice: audio in, audio out, one file per idea."""

from __future__ import annotations

from typing import Any, cast

from personare.core.catalog import Catalog
from personare.core.protocols import Anonymizer

BUILTIN = {
    "mcadams": "personare.anonymizers.mcadams:McAdams",
    "formants": "personare.anonymizers.formants:Formants",
    "world": "personare.anonymizers.world:WorldWarp",
    "xvector": "personare.anonymizers.xvector.anonymizer:XVector",
    "chain": "personare.anonymizers.chain:Chain",
}
ANONYMIZERS = Catalog("anonymizer", BUILTIN)


def anonymizer(name: str, /, **parameters: Any) -> Anonymizer:
    """Make an anonymizer by name; unknown names and parameters are errors with a suggestion."""
    return cast(Anonymizer, ANONYMIZERS.make(name, **parameters))
