"""Pseudo-speaker generators: speaker vector in, the vector of somebody who does not exist out, one file per idea.

A generator is a frozen dataclass of parameters; fitted on a pool of speaker vectors it becomes a function from a
speaker's vector to a pseudo-speaker's:

    generator = pseudospeaker("o1", gender="cross")
    fitted = generator.fit(read_pool(Path("pool.npz")), rng=rng)
    vector = fitted(original, rng=rng_for(key, "pseudospeaker", "anna"), gender="f")
"""

from __future__ import annotations

from typing import Any, cast

from personare.core.catalog import Catalog
from personare.pseudospeakers.generator import PseudoSpeakerGenerator

BUILTIN = {
    "b1": "personare.pseudospeakers.farthest:FarthestMean",
    "copy": "personare.pseudospeakers.selection:Copy",
    "random": "personare.pseudospeakers.selection:Random",
    "keyed": "personare.pseudospeakers.selection:Keyed",
    "o1": "personare.pseudospeakers.principal:PrincipalMixture",
    "o1c1": "personare.pseudospeakers.principal:DissimilarPrincipalMixture",
    "rp_gmm": "personare.pseudospeakers.projection:ProjectedMixture",
    "rp_gmm_sc": "personare.pseudospeakers.projection:CheckedProjectedMixture",
    "a1": "personare.pseudospeakers.regression:SplitRegression",
    "a2": "personare.pseudospeakers.singular:SingularValues",
    "k2": "personare.pseudospeakers.indistinguishable:Indistinguishable",
    "s1": "personare.pseudospeakers.adversarial:AutoencodedFarthestMean",
    "s1c1": "personare.pseudospeakers.adversarial:AdversarialAutoencoder",
    "s2": "personare.pseudospeakers.adversarial:TunedAutoencodedFarthestMean",
    "s2c1": "personare.pseudospeakers.adversarial:TunedAdversarialAutoencoder",
    "wgan": "personare.pseudospeakers.wasserstein:WassersteinGenerator",
    "ohnn": "personare.pseudospeakers.householder:HouseholderRotation",
    "salt": "personare.pseudospeakers.interpolation:Interpolated",
}
PSEUDOSPEAKERS = Catalog("pseudospeaker", BUILTIN, needs={"fit": "fit(self, pool, *, rng)"})


def pseudospeaker(name: str, /, **parameters: Any) -> PseudoSpeakerGenerator[Any]:
    """Make a generator by name; unknown names and parameters are errors with a suggestion."""
    return cast(PseudoSpeakerGenerator[Any], PSEUDOSPEAKERS.make(name, **parameters))
