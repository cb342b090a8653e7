"""The generator of pseudo-speakers, fitted once a process for as long as its files stay the same."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from personare.anonymizers.neural.xvector.weights import SpeakerBank
from personare.core.files import file_digest
from personare.core.seeding import Key, rng_for
from personare.pseudospeakers.files import load as load_generator
from personare.pseudospeakers.generator import FittedGenerator, PseudoSpeakerGenerator
from personare.pseudospeakers.pool import SpeakerPool, read_pool


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
