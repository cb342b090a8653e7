"""Ways to invent a voice: speaker vector in, speaker vector out, one file per idea.

A generator is a frozen dataclass of parameters; fitted on a pool of voices it becomes a function from a speaker's
vector to the vector of somebody who does not exist:

    generator = pseudospeaker("o1", gender="cross")
    fitted = generator.fit(read_pool(Path("pool.npz")), rng=rng)
    vector = fitted(original, rng=rng_for(key, "pseudospeaker", "anna"), gender="f")
"""

from __future__ import annotations

from typing import Any, cast

from personare.core.catalog import Catalog
from personare.pseudospeakers.recipe import Recipe

BUILTIN = {
    "b1": "personare.pseudospeakers.farthest:FarthestMean",
    "copy": "personare.pseudospeakers.choice:Copy",
    "random": "personare.pseudospeakers.choice:Random",
    "keyed": "personare.pseudospeakers.choice:Keyed",
    "o1": "personare.pseudospeakers.principal:PrincipalMixture",
    "o1c1": "personare.pseudospeakers.principal:DissimilarPrincipalMixture",
    "rp_gmm": "personare.pseudospeakers.projection:ProjectedMixture",
    "rp_gmm_sc": "personare.pseudospeakers.projection:CheckedProjectedMixture",
    "a1": "personare.pseudospeakers.regression:SplitRegression",
    "a2": "personare.pseudospeakers.singular:SingularValues",
    "k2": "personare.pseudospeakers.indistinguishable:Indistinguishable",
    "s1": "personare.pseudospeakers.adversarial:RebuiltMean",
    "s1c1": "personare.pseudospeakers.adversarial:AdversarialRebuilding",
    "s2": "personare.pseudospeakers.adversarial:TunedRebuiltMean",
    "s2c1": "personare.pseudospeakers.adversarial:TunedRebuilding",
}
PSEUDOSPEAKERS = Catalog("pseudospeaker", BUILTIN)


def pseudospeaker(name: str, /, **parameters: Any) -> Recipe[Any]:
    """Make a generator by name; unknown names and parameters are errors with a suggestion."""
    return cast(Recipe[Any], PSEUDOSPEAKERS.make(name, **parameters))
