"""The neural x-vector anonymizer: the same words and F0 contour, spoken by a pseudo-speaker (B1 and its family).

1. content, F0 and a speaker vector are taken from the speech;
2. the vector is replaced by that of a pseudo-speaker;
3. a network and a source-filter model synthesize it with the new vector. [tomashenko2022voiceprivacy, sec. 3.1]
Deviations: content comes from the encoder of an end-to-end recognizer (as in M1) instead of a TDNN-F; one network with
a pulse and noise source in the STFT domain stands for the acoustic and NSF models; vectors are GE2E (256 numbers).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from personare.anonymizers.neural.xvector.synthesis import CROSSFADE, crossfade, match_level, synthesize
from personare.anonymizers.neural.xvector.weights import SHIPPED, SpeakerBank, open_weights
from personare.anonymizers.signal.frames import limit_peaks
from personare.anonymizers.signal.phrases import phrases, refuse_nan, sample_at
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError
from personare.core.files import file_digest
from personare.core.fingerprint import Fingerprinted
from personare.core.seeding import Key, rng_for
from personare.core.weights import require
from personare.encoders import swift
from personare.encoders.content import content_encoder
from personare.encoders.ge2e import Ge2e
from personare.encoders.grid import RATE_HZ
from personare.encoders.prosody import f0_statistics, track_prosody, transform_f0
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.assignment import OwnComponents, SynthesisVectors, for_synthesis
from personare.pseudospeakers.files import load as load_generator
from personare.pseudospeakers.generator import FittedGenerator, PseudoSpeakerGenerator
from personare.pseudospeakers.pool import SpeakerPool, read_pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_EMBEDDED_S = 60.0  # how much of a long recording is embedded for the speaker's own vector


@dataclass(frozen=True)
class XVector(Fingerprinted):
    """The same words and intonation, spoken by an invented voice (B1 and its family, neural).

    Parameters
    ----------
    generator : how the pseudo-speaker is generated: a name of ``personare pseudospeakers list``, or the .npz of a
        fitted one.
    parameters : of the generator, where it is a name.
    gender : ``same`` as the speaker's (predicted from the vector), ``cross`` or ``any``.
    own : which components keep the speaker's own vector: ``neither``, ``source`` (M1c3), ``envelope`` (M1c4) or
        ``both``.
    pitch : ``move`` the median and range of F0 to the pseudo-speaker's, or ``keep`` them.
    content : the content encoder the network was trained with: ``moonshine`` (M1).
    mask : remove speaker information from the content by a head trained against a speaker classifier (M1c1).
    pool : the .npz of speaker vectors to generate from; without one, the shipped pseudo-speakers.
    weights : ``shipped``, or the folder of a synthesizer trained by ``personare train synthesizer``.
    """

    paper: ClassVar[str] = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.1 (B1)"
    VERSION: ClassVar[int] = 1
    MODELS: ClassVar[tuple[str, ...]] = ("ge2e", "moonshine", swift.MODEL)

    generator: str = field(default="o1", compare=False)
    parameters: dict[str, Any] = field(default_factory=dict, compare=False)
    gender: Literal["same", "cross", "any"] = "same"
    own: OwnComponents = "neither"
    pitch: Literal["move", "keep"] = "move"
    content: str = "moonshine"
    mask: bool = False
    pool: Path | None = None
    weights: Path | None = None
    pseudospeakers: PseudoSpeakerGenerator[Any] | Path = field(init=False, repr=False)
    """The generator, built, or the file of a fitted one: what the method is compared by."""

    def __post_init__(self) -> None:
        content_encoder(self.content)
        if self.weights is not None and str(self.weights) == SHIPPED:
            object.__setattr__(self, "weights", None)
        built: PseudoSpeakerGenerator[Any] | Path
        if self.generator.endswith(".npz"):
            if self.parameters or self.pool or self.gender != "same":
                raise ConfigError(
                    "xvector: a fitted generator brings its own parameters, pool and gender; leave them out"
                )
            built = Path(self.generator)
        else:
            built = pseudospeaker(self.generator, **{**self.parameters, "gender": self.gender})
        object.__setattr__(self, "pseudospeakers", built)

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Anonymize one channel."""
        refuse_nan(audio)
        sound = resample(audio, RATE_HZ)
        if not sound.samples.any():
            return Audio(np.zeros_like(audio.samples), audio.rate_hz)
        require(*self.MODELS)
        vectors = self._vectors(sound, rng)
        synthesized = self._synthesize(sound, vectors, rng)
        back = resample(Audio(synthesized, RATE_HZ), audio.rate_hz).samples[: len(audio.samples)]
        back = np.pad(back, (0, len(audio.samples) - len(back)))
        return Audio(limit_peaks(back, hop=round(0.01 * audio.rate_hz)), audio.rate_hz)

    def _vectors(self, sound: Audio, rng: np.random.Generator) -> SynthesisVectors:
        """Generate the pseudo-speaker; vectors have length 1."""
        own = Ge2e()([Audio(sound.samples[: round(_EMBEDDED_S * RATE_HZ)], RATE_HZ)])[0]
        gender = self._bank.gender_of(own)
        vectors = for_synthesis(self._fitted(), own, rng=rng, gender=gender, own=self.own)
        return SynthesisVectors(_unit(vectors.envelope), _unit(vectors.source))

    def _synthesize(self, sound: Audio, vectors: SynthesisVectors, rng: np.random.Generator) -> Floats:
        """Synthesize phrase by phrase, one fading into the next."""
        model, encode = open_weights(self.weights or SHIPPED), content_encoder(self.content)
        tracks = [(first, last, track_prosody(sound.samples[first:last])) for first, last in _overlapping(sound)]
        source = f0_statistics(np.concatenate([track.f0_hz[track.voiced] for _, _, track in tracks]))
        target = self._bank.f0_of(vectors.source)

        def pieces() -> Iterator[tuple[int, Floats]]:
            for first, last, track in tracks:
                moved = transform_f0(track, source, target) if source is not None and self.pitch == "move" else track
                content, length = encode(sound.samples[first:last]), last - first
                yield first, synthesize(model, content, moved, vectors.envelope, length=length, rng=rng, mask=self.mask)

        return match_level(sound.samples, crossfade(pieces(), len(sound.samples)))

    @property
    def _bank(self) -> SpeakerBank:
        return open_weights(self.weights or SHIPPED).bank

    def _fitted(self) -> FittedGenerator[Any]:
        """The fitted generator, made once a process for as long as its files stay the same."""
        if isinstance(self.pseudospeakers, Path):
            digest = file_digest(self.pseudospeakers) if self.pseudospeakers.is_file() else ""
            return _loaded(self.pseudospeakers, digest)
        if self.pool is not None:
            digest = file_digest(self.pool) if self.pool.is_file() else ""
            return _fitted_on_pool(self.pseudospeakers, self.pool, digest)
        return _fitted_on_bank(self.pseudospeakers, self._bank)


def _overlapping(sound: Audio) -> list[tuple[int, int]]:
    """First sample and the one after the last of phrases that reach 20 ms into each other."""
    cuts = [(sample_at(first, RATE_HZ), sample_at(last, RATE_HZ)) for first, last in phrases(sound)]
    return [(max(first - CROSSFADE, 0), min(last + CROSSFADE, len(sound.samples))) for first, last in cuts]


def _unit(vector: Floats) -> Floats:
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)


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
