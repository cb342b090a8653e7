"""Speaker vectors of the neural synthesizer: those of speakers (GE2E), and the generator of pseudo-speakers' vectors.

The generator is fitted once a process for as long as its files stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.anonymizers.neural.xvector.weights import SpeakerBank
from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.files import file_digest
from personare.core.seeding import Key, rng_for
from personare.encoders.ge2e import Ge2e
from personare.encoders.grid import RATE_HZ
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.files import load as load_generator
from personare.pseudospeakers.generator import FittedGenerator, GenderRule, PseudoSpeakerGenerator
from personare.pseudospeakers.pool import SpeakerPool, read_pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_EMBEDDED_S = 60.0  # how much of a long recording is embedded for the speaker's own vector


def own_vector(sound: Floats) -> Floats:
    """Embed the speaker of 16 kHz samples."""
    vector: Floats = Ge2e()([Audio(sound[: round(_EMBEDDED_S * RATE_HZ)], RATE_HZ)])[0]
    return vector


def unit(vector: Floats) -> Floats:
    """Bring a vector to length 1."""
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)


def generator_of(
    name: str, parameters: Mapping[str, Any], *, gender: str, rule: GenderRule, pool: Path | None, where: str
) -> PseudoSpeakerGenerator[Any] | Path:
    """Build a generator by its name, or take the .npz of a fitted one, which brings all settings along."""
    if not name.endswith(".npz"):
        return pseudospeaker(name, **{**parameters, "gender": rule})
    if parameters or pool or gender != "same":
        raise ConfigError(f"{where}: a fitted generator brings its own parameters, pool and gender; leave them out")
    return Path(name)


def fitted_generator(
    generator: PseudoSpeakerGenerator[Any] | Path, pool: Path | None, bank: SpeakerBank
) -> FittedGenerator[Any]:
    """Open the file of a fitted generator, or fit one to the vectors of a file, or to the shipped voices."""
    if isinstance(generator, Path):
        return _loaded(generator, file_digest(generator) if generator.is_file() else "")
    if pool is not None:
        return _fitted_on_pool(generator, pool, file_digest(pool) if pool.is_file() else "")
    return _fitted_on_bank(generator, bank)


@lru_cache(maxsize=4)
def _loaded(path: Path, _digest: str) -> FittedGenerator[Any]:
    return load_generator(path)


@lru_cache(maxsize=4)
def _fitted_on_pool(generator: PseudoSpeakerGenerator[Any], pool: Path, _digest: str) -> FittedGenerator[Any]:
    return _fit(generator, read_pool(pool))


@lru_cache(maxsize=4)
def _fitted_on_bank(generator: PseudoSpeakerGenerator[Any], bank: SpeakerBank) -> FittedGenerator[Any]:
    return _fit(generator, SpeakerPool(bank.vectors, bank.genders))


def _fit(generator: PseudoSpeakerGenerator[Any], pool: SpeakerPool) -> FittedGenerator[Any]:
    """Fit by a public key: attacker and defender know the same generator."""
    name = getattr(generator, "name", type(generator).__qualname__)
    return generator.fit(pool, rng=rng_for(Key.from_seed("personare pseudospeakers"), name))
