"""The neural x-vector anonymizer: the same words and melody, spoken by somebody who does not exist (B1 and its family).

1. what is said, how it is sung, and a vector of who says it are taken from the speech;
2. the vector is replaced by that of an invented speaker;
3. a network and a source-filter model speak the words with the new vector. [tomashenko2022voiceprivacy, sec. 3.1]
Deviations: content comes from the encoder of an end-to-end recognizer (as in M1) instead of a TDNN-F; one network with
a pulse and noise source in the STFT domain stands for the acoustic and NSF models; vectors are GE2E (256 numbers).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from personare.anonymizers.frames import limited
from personare.anonymizers.phrases import phrases, refuse_nan, sample_at
from personare.anonymizers.xvector.content import content_encoder
from personare.anonymizers.xvector.grid import RATE_HZ
from personare.anonymizers.xvector.speaking import Pitch, at_the_level_of, moved, pitch_of, spoken
from personare.anonymizers.xvector.tracking import tracked
from personare.anonymizers.xvector.weights import SHIPPED, Voices, open_weights
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError
from personare.core.seeding import Key, rng_for
from personare.core.weights import require
from personare.encoders import swift
from personare.encoders.ge2e import Ge2e
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.parts import Own, PartVectors, for_parts
from personare.pseudospeakers.pool import Pool, read_pool
from personare.pseudospeakers.saving import load as load_generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_JOIN = 320  # samples by which a phrase reaches into its neighbours
_HEARD_S = 60.0  # how much of a long recording is listened to for the speaker's own vector


@dataclass(frozen=True)
class XVector:
    """The same words and melody, spoken by an invented voice (B1 and its family, neural).

    Parameters
    ----------
    generator : how the voice is invented: a name of ``personare pseudospeakers list``, or the .npz of a fitted one.
    parameters : of the generator, where it is a name.
    gender : ``same`` as the speaker's (guessed from the voice), ``cross`` or ``any``.
    own : which halves keep the speaker's own vector: ``neither``, ``source`` (M1c3), ``envelope`` (M1c4) or ``both``.
    pitch : ``move`` the middle and swings of the pitch to the invented voice's, or ``keep`` them.
    content : the content encoder the network was trained with: ``moonshine`` (M1).
    mask : take the speaker out of the content by a head that was trained against a guesser of speakers (M1c1).
    pool : the .npz of voices to invent from; without one, the invented ones that are shipped.
    weights : ``shipped``, or the folder of a voice trained by ``personare train synthesizer``.
    """

    paper: ClassVar[str] = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.1 (B1)"

    generator: str = "o1"
    parameters: dict[str, Any] = field(default_factory=dict)
    gender: Literal["same", "cross", "any"] = "same"
    own: Own = "neither"
    pitch: Literal["move", "keep"] = "move"
    content: str = "moonshine"
    mask: bool = False
    pool: str = ""
    weights: str = SHIPPED

    def __post_init__(self) -> None:
        content_encoder(self.content)
        if self.generator.endswith(".npz"):
            if self.parameters or self.pool or self.gender != "same":
                raise ConfigError(
                    "xvector: a fitted generator brings its own parameters, pool and gender; leave them out"
                )
        else:
            pseudospeaker(self.generator, **{**self.parameters, "gender": self.gender})

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Hide the voice of one channel."""
        refuse_nan(audio)
        sound = resample(audio, RATE_HZ)
        if not sound.samples.any():
            return Audio(np.zeros_like(audio.samples), audio.rate_hz)
        require("ge2e", "moonshine", swift.MODEL)
        voices = open_weights(self.weights).voices
        vectors = self._invented(sound, voices, rng)
        made = self._said(sound, vectors, rng)
        back = resample(Audio(made, RATE_HZ), audio.rate_hz).samples[: len(audio.samples)]
        back = np.pad(back, (0, len(audio.samples) - len(back)))
        return Audio(limited(back, hop=round(0.01 * audio.rate_hz)), audio.rate_hz)

    def _invented(self, sound: Audio, voices: Voices, rng: np.random.Generator) -> PartVectors:
        """Invent the speaker; vectors have length 1."""
        heard = Audio(sound.samples[: round(_HEARD_S * RATE_HZ)], RATE_HZ)
        own = Ge2e()([heard])[0]
        generator = _generator(self)
        made = for_parts(generator, own, rng=rng, gender=voices.gender_of(own), own=self.own)
        return PartVectors(_unit(made.envelope), _unit(made.source))

    def _said(self, sound: Audio, vectors: PartVectors, rng: np.random.Generator) -> Floats:
        """Say it again, phrase by phrase, one fading into the next."""
        weights, encode = open_weights(self.weights), content_encoder(self.content)
        tracks = [(first, last, tracked(sound.samples[first:last])) for first, last in _overlapping(sound)]
        own = pitch_of(np.concatenate([track.f0_hz[track.voiced] for _, _, track in tracks]))
        wanted = Pitch(*weights.voices.pitch_of(vectors.source))

        def said() -> Iterator[tuple[int, Floats]]:
            for first, last, track in tracks:
                sung = moved(track, own, wanted) if own is not None and self.pitch == "move" else track
                content = encode(sound.samples[first:last])
                vector, length = vectors.envelope, last - first
                yield first, spoken(weights, content, sung, vector, length=length, rng=rng, mask=self.mask)

        return at_the_level_of(sound.samples, joined(said(), len(sound.samples)))


def _overlapping(sound: Audio) -> list[tuple[int, int]]:
    """First sample and the one after the last of phrases that reach 20 ms into each other."""
    cuts = [(sample_at(first, RATE_HZ), sample_at(last, RATE_HZ)) for first, last in phrases(sound)]
    return [(max(first - _JOIN, 0), min(last + _JOIN, len(sound.samples))) for first, last in cuts]


def joined(pieces: Iterable[tuple[int, Floats]], length: int) -> Floats:
    """Put pieces of sound at their first samples; where they overlap, each fades into the next."""
    result, total = np.zeros((2, length), np.float32)
    for first, piece in pieces:
        last = first + len(piece)
        rising = np.minimum((np.arange(len(piece), dtype=np.float32) + 1) / (2 * _JOIN), 1)
        share = np.ones_like(rising) if first == 0 else rising
        share = share if last == length else np.minimum(share, rising[::-1])
        result[first:last] += piece * share
        total[first:last] += share
    return result / total


def _unit(vector: Floats) -> Floats:
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)


def _generator(method: XVector) -> Any:
    said = json.dumps(method.parameters, sort_keys=True)
    return _fitted(method.generator, said, method.gender, method.pool, method.weights)


@lru_cache(maxsize=4)
def _fitted(name: str, parameters: str, gender: str, pool: str, weights: str) -> Any:
    """Fit a generator, once a process, by a public key: attacker and defender know the same generator."""
    if name.endswith(".npz"):
        return load_generator(Path(name))
    voices = open_weights(weights).voices
    people = read_pool(Path(pool)) if pool else Pool(voices.vectors, voices.genders)
    recipe = pseudospeaker(name, **{**json.loads(parameters), "gender": gender})
    return recipe.fit(people, rng=rng_for(Key.from_seed("personare pseudospeakers"), name))
