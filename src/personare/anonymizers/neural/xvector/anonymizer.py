"""xvector: the primary baseline B1 of the VoicePrivacy Challenge 2020, and its family.

1. content, F0 and a speaker vector are taken from the speech;
2. the vector is replaced by that of a pseudo-speaker: the mean of N* = 100 vectors, drawn from the N = 200 of a pool
   that are farthest from it;
3. a network and a source-filter model synthesize content and the original F0 with the new vector.
                                                                                  [tomashenko2022voiceprivacy, sec. 3.1]
Deviations: content comes, as in M1, from the encoder of an end-to-end recognizer (Moonshine) instead of a TDNN-F; one
network with a pulse and noise source in the STFT domain stands for the acoustic and NSF models; vectors are GE2E (256
numbers), compared by cosine instead of PLDA; the pool holds 1,000 synthetic voices instead of LibriTTS speakers; the
level of the recording is kept. Variants are settings: predicted prosody and other timing (see prosody_choice.py), the
mask of M1c1, other generators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from personare.anonymizers.neural.xvector.from_sounds import EncodedVoice
from personare.anonymizers.neural.xvector.generating import fitted_generator, generator_of, own_vector, unit
from personare.anonymizers.neural.xvector.prosody_choice import EnergyChoice, F0Choice, ProsodyChoice, TimingChoice
from personare.anonymizers.neural.xvector.synthesis import LOUDNESS_LUFS
from personare.anonymizers.neural.xvector.treble import RATE_HZ as TREBLE_RATE_HZ
from personare.anonymizers.neural.xvector.treble import add_treble
from personare.anonymizers.neural.xvector.weights import SHIPPED, SpeakerBank, open_weights
from personare.anonymizers.signal.frames import limit_peaks
from personare.anonymizers.signal.phrases import refuse_nan
from personare.anonymizers.signal.retiming import new_ends
from personare.core.audio import Audio, resample
from personare.core.fingerprint import Fingerprinted
from personare.core.spoken import NOTHING_KNOWN, SpeakerEvidence, SpeakerFacts, SpokenAudio
from personare.core.weights import require
from personare.encoders import swift
from personare.encoders.content import content_encoder
from personare.encoders.grid import RATE_HZ
from personare.pseudospeakers.assignment import OwnComponents, SynthesisVectors, for_synthesis
from personare.pseudospeakers.generator import PseudoSpeakerGenerator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_CASCADE = "transcription followed by re-synthesis is the method cascade: write --method cascade"


@dataclass(frozen=True)
class XVector(Fingerprinted):
    """Replace the speaker vector and keep F0, energy and timing (B1); weak against an informed attacker.

    Parameters
    ----------
    generator : how the pseudo-speaker is generated: a name of ``personare pseudospeakers list``, or the .npz of a
        fitted one.
    parameters : of the generator, where it is a name.
    gender : ``same`` as the speaker's (predicted from the vector), ``cross`` or ``any``.
    own : which components keep the speaker's own vector: ``neither``, ``source`` (M1c3), ``envelope`` (M1c4) or
        ``both``.
    pitch : ``keep`` the median and range of F0, or ``move`` them to the pseudo-speaker's.
    f0 : the shape of the F0 contour is the source's (``keep``: leaks the speaker), ``predicted`` from content and
        pseudo-speaker, a ``blend`` of both, or ``flat``; with ``predicted`` and ``flat``, voicing is predicted too.
    blend : share of the predicted contour in a blend.
    energy : the source's (``keep``: leaks the speaker), or ``predicted`` from content and pseudo-speaker: then the
        sound has one loudness, whatever the recording's was.
    timing : the source's (``keep``: leaks the speaker), which pictures and channels that belong together always get;
        ``moved``: another tempo and other silence at both ends, drawn; ``even``: besides, one rate for everybody, by
        the content, and drawn pauses.
    retime : how much slower or faster every stretch of about a syllable may become against the rest, by keyed chance
        (0.2: by a fifth).
    content : the content encoder the network was trained with, ``moonshine``; it keeps the pronunciation (leaks the
        speaker).
    mask : remove speaker information from the content by a head trained against a speaker classifier (M1c1).
    treble : where the source has a rate of 24 kHz or more, add noise from 8 to 12 kHz, guessed from the synthesized
        sound, which ends at 8 kHz.
    pool : the .npz of speaker vectors to generate from; without one, the shipped pseudo-speakers.
    weights : ``shipped``, or the folder of a synthesizer trained by ``personare train synthesizer``.
    """

    paper: ClassVar[str] = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.1 (B1)"
    VERSION: ClassVar[int] = 9
    MODELS: ClassVar[tuple[str, ...]] = ("ge2e", "moonshine", swift.MODEL)
    RETIRED: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("content=words", "recognizer", "language", "refuse_below"), _CASCADE
    )
    ADVICE: ClassVar[str] = (
        "xvector is B1: an attacker who knows it re-identifies speakers by their F0, energy and timing; the method of "
        "this name that transcribed the speech is --method cascade"
    )
    """Printed whenever somebody chooses this method by its name."""

    generator: str = field(default="b1", compare=False)
    parameters: dict[str, Any] = field(default_factory=dict, compare=False)
    gender: Literal["same", "cross", "any"] = "same"
    own: OwnComponents = "neither"
    pitch: Literal["move", "keep"] = "keep"
    f0: F0Choice = "keep"
    blend: float = 0.5
    energy: EnergyChoice = "keep"
    timing: TimingChoice = "keep"
    retime: float = 0.0
    content: str = "moonshine"
    mask: bool = False
    treble: bool = True
    pool: Path | None = None
    weights: Path | None = None
    pseudospeakers: PseudoSpeakerGenerator[Any] | Path = field(init=False, repr=False)
    """The generator, built, or the file of a fitted one: what the method is compared by."""

    def __post_init__(self) -> None:
        content_encoder(self.content)
        _ = self._choice
        if self.weights is not None and str(self.weights) == SHIPPED:
            object.__setattr__(self, "weights", None)
        built = generator_of(
            self.generator, self.parameters, gender=self.gender, rule=self.gender, pool=self.pool, where="xvector"
        )
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
        return self.speak(audio, rng=rng, speaker=NOTHING_KNOWN).audio

    def evidence(self, audio: Audio) -> SpeakerEvidence:
        """Tell the speaker vector and the gender it sounds like."""
        sound = resample(audio, RATE_HZ)
        if not sound.samples.any():
            return SpeakerEvidence()
        require(*self.MODELS)
        own = own_vector(sound.samples)
        return SpeakerEvidence(sound.duration_s, tuple(own.tolist()), None, self._bank.gender_score(own))

    def speak(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts) -> SpokenAudio:
        """Anonymize one channel of a speaker about whom this is known."""
        refuse_nan(audio)
        sound = resample(audio, RATE_HZ)
        if not sound.samples.any():
            return SpokenAudio(Audio(np.zeros_like(audio.samples), audio.rate_hz))
        require(*self.MODELS)
        vectors = self._vectors(sound, rng, speaker)
        model, encode = open_weights(self.weights or SHIPPED), content_encoder(self.content)
        voice = EncodedVoice(model, encode, self._choice, self.mask, self.pitch == "keep")
        synthesized = Audio(voice(sound, vectors, rng), RATE_HZ)
        if not self.keeps_timing:
            synthesized = new_ends(synthesized, rng=rng)
        if self.treble and audio.rate_hz >= TREBLE_RATE_HZ:
            back = add_treble(synthesized, audio.rate_hz, rng=rng).samples
        else:
            back = resample(synthesized, audio.rate_hz).samples
        if self.keeps_timing:
            back = back[: len(audio.samples)]
            back = np.pad(back, (0, len(audio.samples) - len(back)))
        return SpokenAudio(Audio(limit_peaks(back, hop=round(0.01 * audio.rate_hz)), audio.rate_hz))

    def voice_of(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts = NOTHING_KNOWN) -> bytes:
        """Tell which pseudo-speaker a call with the same arguments would speak as: people get different ones."""
        sound = resample(audio, RATE_HZ)
        return self._vectors(sound, rng, speaker).envelope.tobytes() if sound.samples.any() else b""

    def _vectors(self, sound: Audio, rng: np.random.Generator, speaker: SpeakerFacts) -> SynthesisVectors:
        """Generate the pseudo-speaker, the same for all recordings of a speaker; vectors have length 1."""
        own = np.array(speaker.vector, np.float32) if speaker.vector else own_vector(sound.samples)
        gender = speaker.gender or self._bank.gender_of(own)
        generator = fitted_generator(self.pseudospeakers, self.pool, self._bank)
        vectors = for_synthesis(generator, own, rng=rng, gender=gender, own=self.own)
        return SynthesisVectors(unit(vectors.envelope), unit(vectors.source))

    @property
    def _choice(self) -> ProsodyChoice:
        return ProsodyChoice(self.f0, self.blend, self.energy, self.timing, self.retime)

    @property
    def _bank(self) -> SpeakerBank:
        return open_weights(self.weights or SHIPPED).bank
