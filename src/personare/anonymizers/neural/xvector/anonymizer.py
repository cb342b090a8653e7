"""The neural x-vector anonymizer: the same words, spoken by a pseudo-speaker (B1 and its family).

1. content, F0 and a speaker vector are taken from the speech;
2. the vector is replaced by that of a pseudo-speaker;
3. a network and a source-filter model synthesize it with the new vector. [tomashenko2022voiceprivacy, sec. 3.1]
Deviations: content comes from the encoder of an end-to-end recognizer (as in M1) instead of a TDNN-F; one network with
a pulse and noise source in the STFT domain stands for the acoustic and NSF models; vectors are GE2E (256 numbers). F0
contour, voicing and energy are predicted from content and pseudo-speaker, and the tempo is drawn, unless they are to be
kept, as B1 keeps F0 and timing (see prosody_choice.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from personare.anonymizers.neural.xvector.even_timing import even_places, quiet_frames
from personare.anonymizers.neural.xvector.prosody_choice import (
    EnergyChoice,
    F0Choice,
    ProsodyChoice,
    TimingChoice,
    chosen_prosody,
    retime_rows,
    retime_track,
    retimed_places,
    sample_places,
)
from personare.anonymizers.neural.xvector.synthesis import (
    CROSSFADE,
    LOUDNESS_LUFS,
    crossfade,
    fixed_level,
    match_level,
    one_after_another,
    silent_stretches,
    synthesize,
)
from personare.anonymizers.neural.xvector.weights import SHIPPED, SpeakerBank, open_weights
from personare.anonymizers.signal.frames import limit_peaks
from personare.anonymizers.signal.phrases import phrases, refuse_nan, sample_at
from personare.anonymizers.signal.retiming import new_ends
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError
from personare.core.files import file_digest
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import advance, part
from personare.core.seeding import Key, rng_for
from personare.core.weights import require
from personare.encoders import swift
from personare.encoders.content import content_encoder
from personare.encoders.ge2e import Ge2e
from personare.encoders.grid import RATE_HZ, STEP, frame_count, on_frames
from personare.encoders.prosody import F0Statistics, ProsodyTrack, f0_statistics, track_prosody
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.assignment import OwnComponents, SynthesisVectors, for_synthesis
from personare.pseudospeakers.files import load as load_generator
from personare.pseudospeakers.generator import FittedGenerator, PseudoSpeakerGenerator
from personare.pseudospeakers.pool import SpeakerPool, read_pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_TRACKING = 0.3  # roughly the share of the work that measuring pitch and loudness is
_EMBEDDED_S = 60.0  # how much of a long recording is embedded for the speaker's own vector
_SILENT_S = {"keep": 0.02, "predicted": 0.2}  # silence stays silent from this length on, by the choice of energy


@dataclass(frozen=True)
class XVector(Fingerprinted):
    """The same words, spoken by an invented voice in its own way (B1 and its family, neural).

    Parameters
    ----------
    generator : how the pseudo-speaker is generated: a name of ``personare pseudospeakers list``, or the .npz of a
        fitted one.
    parameters : of the generator, where it is a name.
    gender : ``same`` as the speaker's (predicted from the vector), ``cross`` or ``any``.
    own : which components keep the speaker's own vector: ``neither``, ``source`` (M1c3), ``envelope`` (M1c4) or
        ``both``.
    pitch : ``move`` the median and range of F0 to the pseudo-speaker's, or ``keep`` them.
    f0 : the shape of the F0 contour is ``predicted`` from content and pseudo-speaker, the source's (``keep``: leaks the
        speaker), a ``blend`` of both, or ``flat``; with the first and the last, voicing is predicted too.
    blend : share of the predicted contour in a blend.
    energy : ``predicted`` from content and pseudo-speaker: then the sound has one loudness, whatever the recording's
        was; or the source's (``keep``: leaks the speaker).
    timing : ``even``: one rate for everybody, by what is said, then a tempo for each speaker (0.81 to 1.23 times that),
        drawn pauses, and drawn silence at both ends, by keyed chance; ``moved``: only tempo and ends; or the source's
        (``keep``: leaks the speaker), which pictures and channels that belong together always get.
    retime : how much slower or faster every stretch of about a syllable may become against the rest, by keyed chance
        (0.2: by a fifth).
    content : the content encoder the network was trained with: ``moonshine`` (M1).
    mask : remove speaker information from the content by a head trained against a speaker classifier (M1c1).
    pool : the .npz of speaker vectors to generate from; without one, the shipped pseudo-speakers.
    weights : ``shipped``, or the folder of a synthesizer trained by ``personare train synthesizer``.
    """

    paper: ClassVar[str] = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.1 (B1)"
    VERSION: ClassVar[int] = 4
    MODELS: ClassVar[tuple[str, ...]] = ("ge2e", "moonshine", swift.MODEL)

    generator: str = field(default="o1", compare=False)
    parameters: dict[str, Any] = field(default_factory=dict, compare=False)
    gender: Literal["same", "cross", "any"] = "same"
    own: OwnComponents = "neither"
    pitch: Literal["move", "keep"] = "move"
    f0: F0Choice = "predicted"
    blend: float = 0.5
    energy: EnergyChoice = "predicted"
    timing: TimingChoice = "even"
    retime: float = 0.0
    content: str = "moonshine"
    mask: bool = False
    pool: Path | None = None
    weights: Path | None = None
    pseudospeakers: PseudoSpeakerGenerator[Any] | Path = field(init=False, repr=False)
    """The generator, built, or the file of a fitted one: what the method is compared by."""

    def __post_init__(self) -> None:
        content_encoder(self.content)
        _ = self._choice
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

    @property
    def loudness_lufs(self) -> float | None:
        """The loudness of every recording it gives; None where each keeps its own."""
        return None if self.energy == "keep" else LOUDNESS_LUFS

    @property
    def keeps_timing(self) -> bool:
        """Whether, as it is set, the whole keeps its length."""
        return self.timing == "keep"

    def in_time(self) -> XVector:
        """Give the same method with the timing of the source."""
        return replace(self, timing="keep")

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Anonymize one channel."""
        refuse_nan(audio)
        sound = resample(audio, RATE_HZ)
        if not sound.samples.any():
            return Audio(np.zeros_like(audio.samples), audio.rate_hz)
        require(*self.MODELS)
        vectors = self._vectors(sound, rng)
        synthesized = Audio(self._synthesize(sound, vectors, rng), RATE_HZ)
        if self.keeps_timing:
            back = resample(synthesized, audio.rate_hz).samples[: len(audio.samples)]
            back = np.pad(back, (0, len(audio.samples) - len(back)))
        else:
            back = resample(new_ends(synthesized, rng=rng), audio.rate_hz).samples
        return Audio(limit_peaks(back, hop=round(0.01 * audio.rate_hz)), audio.rate_hz)

    def _vectors(self, sound: Audio, rng: np.random.Generator) -> SynthesisVectors:
        """Generate the pseudo-speaker; vectors have length 1."""
        own = Ge2e()([Audio(sound.samples[: round(_EMBEDDED_S * RATE_HZ)], RATE_HZ)])[0]
        gender = self._bank.gender_of(own)
        vectors = for_synthesis(self._fitted(), own, rng=rng, gender=gender, own=self.own)
        return SynthesisVectors(_unit(vectors.envelope), _unit(vectors.source))

    def _synthesize(self, sound: Audio, vectors: SynthesisVectors, rng: np.random.Generator) -> Floats:
        """Synthesize phrase by phrase, one fading into the next."""
        spans, choice = _overlapping(sound), self._choice
        tempo = choice.tempo(rng)
        tracks: list[ProsodyTrack | None] = [None] * len(spans)
        source, target = None, self._bank.f0_of(vectors.source)
        if choice.needs_track or self.pitch == "keep":
            with part(_TRACKING):
                measured = [_tracked(sound.samples[first:last]) for first, last in spans]
            source = f0_statistics(np.concatenate([track.f0_hz[track.voiced] for track in measured]))
            tracks = [*measured] if choice.needs_track else tracks
        if self.pitch == "keep":
            target = source or target

        def pieces() -> Iterator[tuple[int, Floats]]:
            for (first, last), track in zip(spans, tracks, strict=True):
                some, begin = sound.samples[first:last], round(tempo * first)
                length = None if choice.timing == "even" else round(tempo * last) - begin
                yield (
                    begin,
                    self._speak(
                        some, track, vectors.envelope, source=source, target=target, tempo=tempo, length=length, rng=rng
                    ),
                )
                advance(len(some) / RATE_HZ)

        with part(1.0 if source is None else 1.0 - _TRACKING):
            if choice.timing == "even":
                joined = crossfade(*one_after_another(piece for _, piece in pieces()))
            else:
                joined = crossfade(pieces(), round(tempo * len(sound.samples)))
        return match_level(sound.samples, joined) if self.energy == "keep" else fixed_level(joined)

    def _speak(
        self,
        samples: Floats,
        track: ProsodyTrack | None,
        vector: Floats,
        *,
        source: F0Statistics | None,
        target: F0Statistics,
        tempo: float,
        length: int | None,
        rng: np.random.Generator,
    ) -> Floats:
        """Synthesize ``length`` samples of one phrase, or as many as it takes; where it is silent, it stays silent."""
        model, choice = open_weights(self.weights or SHIPPED), self._choice
        content = on_frames(content_encoder(self.content)(samples), frame_count(len(samples)))
        silent = silent_stretches(samples, least_s=_SILENT_S[self.energy])
        if length is None:
            energy_db = model.predict_prosody(content, vector).energy_db
            places = even_places(
                content, quiet_frames(energy_db, len(content)), reach=choice.retime, tempo=tempo, rng=rng
            )
            length = len(places) * STEP
        elif choice.retime or tempo != 1.0:
            places = retimed_places(len(content), reach=choice.retime, tempo=tempo, rng=rng)
        else:
            places = None
        if places is not None:
            content, silent = retime_rows(content, places), silent[sample_places(places, len(silent), length=length)]
            track = None if track is None else retime_track(track, places)
        predicted = model.predict_prosody(content, vector) if choice.needs_prediction else None
        prosody = chosen_prosody(choice, track, predicted, source=source, target=target)
        sound = synthesize(model, content, prosody, vector, length=length, rng=rng, mask=self.mask)
        sound = np.pad(sound, (0, length - len(sound)))
        return np.where(silent, np.float32(0), sound)

    @property
    def _choice(self) -> ProsodyChoice:
        return ProsodyChoice(self.f0, self.blend, self.energy, self.timing, self.retime)

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


def _tracked(samples: Floats) -> ProsodyTrack:
    track = track_prosody(samples)
    advance(len(samples) / RATE_HZ)
    return track


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
