"""The neural x-vector anonymizer: the same words, spoken by a pseudo-speaker (B1 and its family).

1. content, F0 and a speaker vector are taken from the speech;
2. the vector is replaced by that of a pseudo-speaker;
3. a network and a source-filter model synthesize it with the new vector. [tomashenko2022voiceprivacy, sec. 3.1]
Deviations: content is read from the recognized words by a network (see from_words.py), or, as in M1, comes from the
encoder of an end-to-end recognizer instead of a TDNN-F; one network with a pulse and noise source in the STFT domain
stands for the acoustic and NSF models; vectors are GE2E (256 numbers). F0 contour, voicing and energy are predicted
from content and pseudo-speaker, and the tempo is drawn, unless they are to be kept, as B1 keeps F0 and timing (see
prosody_choice.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from personare.anonymizers.neural.words.languages import AUTO, SPOKEN, check_language, language_evidence
from personare.anonymizers.neural.words.languages import MODELS as LANGUAGE_MODELS
from personare.anonymizers.neural.words.transcript import Recognizing, transcribe
from personare.anonymizers.neural.xvector.from_sounds import SILENT_S, EncodedVoice
from personare.anonymizers.neural.xvector.from_words import (
    LONGEST_S,
    SURE_FROM,
    ReadingVoice,
    read_freely,
    read_in_place,
    reading_tempo,
)
from personare.anonymizers.neural.xvector.generating import fitted_generator
from personare.anonymizers.neural.xvector.prosody_choice import EnergyChoice, F0Choice, ProsodyChoice, TimingChoice
from personare.anonymizers.neural.xvector.synthesis import LOUDNESS_LUFS, silent_stretches
from personare.anonymizers.neural.xvector.treble import RATE_HZ as TREBLE_RATE_HZ
from personare.anonymizers.neural.xvector.treble import add_treble
from personare.anonymizers.neural.xvector.weights import SHIPPED, SpeakerBank, open_weights
from personare.anonymizers.signal.frames import limit_peaks
from personare.anonymizers.signal.phrases import refuse_nan
from personare.anonymizers.signal.retiming import new_ends
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import part
from personare.core.spoken import NOTHING_KNOWN, SpeakerEvidence, SpeakerFacts, SpeechNotes, SpokenAudio
from personare.core.weights import require
from personare.encoders import swift
from personare.encoders.content import content_encoder
from personare.encoders.ge2e import Ge2e
from personare.encoders.grid import RATE_HZ
from personare.encoders.prosody import f0_statistics, track_prosody
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.assignment import OwnComponents, SynthesisVectors, for_synthesis
from personare.pseudospeakers.generator import PseudoSpeakerGenerator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_SURVEYED_S = 30.0  # how much of a long recording tells the language of its speaker
_EMBEDDED_S = 60.0  # how much of a long recording is embedded for the speaker's own vector
_RECOGNIZING = 0.5  # roughly the share of the work that recognizing words is, where they are read anew
WORDS = "words"


@dataclass(frozen=True)
class XVector(Fingerprinted):
    """The same words, read anew and spoken by an invented voice in its own way (B1 and its family, neural; English).

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
    timing : ``even``: one rate for everybody, by what is said, then a tempo for each speaker, drawn pauses, and drawn
        silence at both ends, by keyed chance; ``moved``: only tempo and ends; or the source's (``keep``: leaks the
        speaker; of words, phrase by phrase), which pictures and channels that belong together always get.
    retime : how much slower or faster every stretch of about a syllable may become against the rest, by keyed chance
        (0.2: by a fifth).
    content : ``words``: they are recognized, and a network reads them, so that nothing but the words passes (and
        whether a woman or a man is heard, where ``gender`` keeps it); or the content encoder the network was trained
        with, ``moonshine`` (M1), which keeps how they were pronounced and everything that is no word (leaks the
        speaker). To ``keep`` F0 or energy, ``moved`` timing, ``retime`` and ``mask`` need it.
    recognizer : of the words: ``moonshine``, ``moonshine-base``, which errs less and is slower, or ``both``: the second
        where the first is unsure.
    language : with words, ``auto`` identifies the language stretch by stretch, and omits or refuses what is not
        English; a code (``en``) overrides that.
    refuse_below : with words, omit a phrase whose words are less sure than this on average; 0 never.
    mask : remove speaker information from the content by a head trained against a speaker classifier (M1c1).
    treble : where the source has a rate of 24 kHz or more, add noise from 8 to 12 kHz, guessed from the synthesized
        sound, which ends at 8 kHz.
    pool : the .npz of speaker vectors to generate from; without one, the shipped pseudo-speakers.
    weights : ``shipped``, or the folder of a synthesizer trained by ``personare train synthesizer``.
    """

    paper: ClassVar[str] = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.1 (B1)"
    VERSION: ClassVar[int] = 8
    MODELS: ClassVar[tuple[str, ...]] = (
        *("ge2e", "moonshine", swift.MODEL, "cmudict", "moonshine-base"),
        *LANGUAGE_MODELS,
    )
    LANGUAGES: ClassVar[tuple[str, ...]] = SPOKEN
    _WITHOUT_WORDS: ClassVar[tuple[str, ...]] = ("ge2e", "moonshine", swift.MODEL)

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
    content: str = WORDS
    recognizer: Literal["both", "moonshine", "moonshine-base"] = "both"
    language: str = AUTO
    refuse_below: float = 0.25
    mask: bool = False
    treble: bool = True
    pool: Path | None = None
    weights: Path | None = None
    pseudospeakers: PseudoSpeakerGenerator[Any] | Path = field(init=False, repr=False)
    """The generator, built, or the file of a fitted one: what the method is compared by."""

    def __post_init__(self) -> None:
        if self.content == WORDS:
            self._refuse_what_words_lack()
        else:
            content_encoder(self.content)
        if not 0 <= self.refuse_below <= 1:
            raise ConfigError(f"xvector: refuse_below must be 0 to 1, not {self.refuse_below}")
        check_language(self.language, where="xvector")
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

    def _refuse_what_words_lack(self) -> None:
        """Refuse settings that need the speech moment by moment, where only its words are taken."""
        settings = {"f0": self.f0, "energy": self.energy, "timing": self.timing, "retime": self.retime}
        lacking = {"f0": ("keep", "blend"), "energy": ("keep",), "timing": ("moved",)}
        asked = [f"{name}={value}" for name, value in settings.items() if value in lacking.get(name, ())]
        asked += [f"retime={self.retime}"] * bool(self.retime) + ["mask=true"] * self.mask
        if asked:
            raise ConfigError(
                f"xvector: {asked[0]} needs the sound moment by moment, and content=words takes nothing but words; "
                "add content=moonshine"
            )

    @property
    def needs_words(self) -> bool:
        """Whether sound without words gives silence: words are spoken anew, and nothing else is."""
        return self.content == WORDS

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
        """Tell the speaker vector, the gender it sounds like and, of words, their language."""
        sound = resample(audio, RATE_HZ)
        if not sound.samples.any():
            return SpeakerEvidence()
        self._require()
        speech_s, odds = sound.duration_s, None
        if self.needs_words:
            speech_s, odds = language_evidence(sound.samples[: round(_SURVEYED_S * RATE_HZ)], language=self.language)
        own = self._own_vector(sound)
        return SpeakerEvidence(speech_s, tuple(own.tolist()), odds, self._bank.gender_score(own))

    def speak(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts) -> SpokenAudio:
        """Anonymize one channel of a speaker about whom this is known."""
        refuse_nan(audio)
        sound = resample(audio, RATE_HZ)
        if not sound.samples.any():
            return SpokenAudio(Audio(np.zeros_like(audio.samples), audio.rate_hz), self._nothing_heard)
        self._require()
        vectors = self._vectors(sound, rng, speaker)
        samples, notes = self._synthesize(sound, vectors, rng, speaker)
        synthesized = Audio(samples, RATE_HZ)
        if not self.keeps_timing:
            synthesized = new_ends(synthesized, rng=rng)
        if self.treble and audio.rate_hz >= TREBLE_RATE_HZ:
            back = add_treble(synthesized, audio.rate_hz, rng=rng).samples
        else:
            back = resample(synthesized, audio.rate_hz).samples
        if self.keeps_timing:
            back = back[: len(audio.samples)]
            back = np.pad(back, (0, len(audio.samples) - len(back)))
        return SpokenAudio(Audio(limit_peaks(back, hop=round(0.01 * audio.rate_hz)), audio.rate_hz), notes)

    def voice_of(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts = NOTHING_KNOWN) -> bytes:
        """Tell which pseudo-speaker a call with the same arguments would speak as: people get different ones."""
        sound = resample(audio, RATE_HZ)
        return self._vectors(sound, rng, speaker).envelope.tobytes() if sound.samples.any() else b""

    def _require(self) -> None:
        require(*(self.MODELS if self.needs_words else self._WITHOUT_WORDS))

    @property
    def _nothing_heard(self) -> SpeechNotes | None:
        return SpeechNotes() if self.needs_words else None

    def _own_vector(self, sound: Audio) -> Floats:
        vector: Floats = Ge2e()([Audio(sound.samples[: round(_EMBEDDED_S * RATE_HZ)], RATE_HZ)])[0]
        return vector

    def _vectors(self, sound: Audio, rng: np.random.Generator, speaker: SpeakerFacts) -> SynthesisVectors:
        """Generate the pseudo-speaker, the same for all recordings of a speaker; vectors have length 1."""
        own = np.array(speaker.vector, np.float32) if speaker.vector else self._own_vector(sound)
        gender = speaker.gender or self._bank.gender_of(own)
        generator = fitted_generator(self.pseudospeakers, self.pool, self._bank)
        vectors = for_synthesis(generator, own, rng=rng, gender=gender, own=self.own)
        return SynthesisVectors(_unit(vectors.envelope), _unit(vectors.source))

    def _synthesize(
        self, sound: Audio, vectors: SynthesisVectors, rng: np.random.Generator, speaker: SpeakerFacts
    ) -> tuple[Floats, SpeechNotes | None]:
        model = open_weights(self.weights or SHIPPED)
        if not self.needs_words:
            encode = content_encoder(self.content)
            spoken = EncodedVoice(model, encode, self._choice, self.mask, self.pitch == "keep")(sound, vectors, rng)
            return spoken, None
        number, tempo = int(rng.integers(model.reader.readers)), reading_tempo(rng)
        with part(_RECOGNIZING):
            transcript = transcribe(sound.samples, how=self._recognizing, speaker=speaker, method="xvector")
        target = model.bank.f0_of(vectors.source)
        if self.pitch == "keep":
            track = track_prosody(sound.samples)
            target = f0_statistics(track.f0_hz[track.voiced]) or target
        voice = ReadingVoice(model, self._choice, vectors.envelope, target, number, tempo, rng)
        with part(1.0 - _RECOGNIZING):
            if not self.keeps_timing:
                return read_freely(voice, transcript.spoken, length=len(sound.samples)), transcript.notes
            read = read_in_place(voice, transcript.spoken, length=len(sound.samples))
        silent = silent_stretches(sound.samples, least_s=SILENT_S[self.energy])
        return np.where(silent, np.float32(0), read), transcript.notes

    @property
    def _recognizing(self) -> Recognizing:
        longest_s = None if self.keeps_timing else LONGEST_S
        model, again, sure_from = self.recognizer, None, 0.0
        if self.recognizer == "both":
            model, again, sure_from = "moonshine", "moonshine-base", SURE_FROM
        return Recognizing(model, again, sure_from, longest_s, self.refuse_below, self.language)

    @property
    def _choice(self) -> ProsodyChoice:
        return ProsodyChoice(self.f0, self.blend, self.energy, self.timing, self.retime)

    @property
    def _bank(self) -> SpeakerBank:
        return open_weights(self.weights or SHIPPED).bank


def _unit(vector: Floats) -> Floats:
    return (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)
