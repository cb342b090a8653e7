"""cascade: transcribe the speech and re-synthesize it with a pseudo-speaker.

1. the language of each stretch is identified, and the words are recognized phrase by phrase;
2. words may be left out: those the recognizer is unsure of, names, numbers, places;
3. a pseudo-speaker of the chosen voice, drawn by ``rng``, speaks the words at one loudness.
The original sound is used for its words alone: neither its length nor its pauses pass, unless ``timing`` or ``pauses``
ask for them (and the gender of the voice where ``gender`` is ``same``, and coarse steps of pitch and level where
``prosody`` asks).
A person has one pseudo-speaker in all languages. The neural voice does not speak French; who does gets a pseudo-speaker
of Kokoro for all recordings.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from personare.anonymizers.neural.cascade.coarse_prosody import NEUTRAL, PhraseProsody, at_loudness, coarse_prosody
from personare.anonymizers.neural.cascade.neural_voice import NeuralVoice
from personare.anonymizers.neural.cascade.offline_voice import KokoroVoice, PiperVoice
from personare.anonymizers.neural.cascade.speaking import GAP_S, LOUDNESS_LUFS, Slot, laid_out, spoken_in_slots
from personare.anonymizers.neural.cascade.voice import CascadeVoice, DrawnSpeaker
from personare.anonymizers.neural.words.languages import AUTO, SPOKEN, check_language, language_evidence
from personare.anonymizers.neural.words.languages import MODELS as LANGUAGE_MODELS
from personare.anonymizers.neural.words.phrases import RATE_HZ, digital_silences
from personare.anonymizers.neural.words.redaction import checked_kinds, require_model
from personare.anonymizers.neural.words.transcript import (
    Recognizing,
    Segment,
    SpokenPhrase,
    passages,
    segments_of,
    transcribe,
)
from personare.anonymizers.neural.xvector.generating import generator_of
from personare.anonymizers.signal.frames import limit_peaks
from personare.anonymizers.signal.phrases import refuse_nan
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import part
from personare.core.spoken import NOTHING_KNOWN, SpeakerEvidence, SpeakerFacts, SpeechNotes, SpokenAudio
from personare.core.weights import require
from personare.encoders import swift
from personare.encoders.recognition import RecognizedWord
from personare.languages import LANGUAGES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LONGEST_S = 16.0  # of speech that is recognized at a time where its place does not matter
SURE_FROM = 0.9  # mean confidence from which on a phrase is not recognized again by the larger model
_SURVEYED_S = 30.0  # how much of a long recording tells the languages of its speaker
_RECOGNIZING = 0.5  # roughly the share of the work that recognizing words is
_OPPOSITE = {"f": "m", "m": "f"}
_XVECTOR = "it is a parameter of xvector, which keeps the sounds: write --method xvector"


@dataclass(frozen=True)
class Script:
    """What a pseudo-speaker is given to speak.

    Parameters
    ----------
    phrases : words and marks of every phrase, in order.
    prosody : how each is spoken; none: all alike.
    slots : when each was spoken, where that matters; none: they follow one another.
    length_s : seconds of the source, for reports of progress.
    """

    phrases: tuple[tuple[Segment, ...], ...]
    prosody: tuple[PhraseProsody, ...] = ()
    slots: tuple[Slot, ...] = ()
    length_s: float = 0.0

    @property
    def languages(self) -> set[str]:
        """Codes of the languages of its words."""
        return {segment.language for phrase in self.phrases for segment in phrase if segment.kind == "words"}


@dataclass(frozen=True)
class Cascade(Fingerprinted):
    """Transcribe the speech and re-synthesize it; emotion, accent and laughter are lost (six languages).

    Parameters
    ----------
    voice : ``neural``, our own reader and voice (all but French; who speaks French gets a pseudo-speaker of Kokoro);
        ``kokoro``, mixed voices of Kokoro, slower; ``piper``, 904 voices, English only.
    language : of the speech: ``auto`` identifies it stretch by stretch, and omits or refuses other languages than
        English, German, French, Spanish, Italian and Portuguese; a code (``en``) overrides that.
    recognizer : of English: ``moonshine``, ``moonshine-base``, which errs less and is slower, or ``both``: the second
        where the first is unsure.
    unsure : how to treat words that the recognizer is unsure of: ``speak`` them, ``silence``, or a soft ``tone``.
    sure_from : from which confidence on a word is sure, 0 to 1.
    redact : words to replace by a soft tone: any of ``names``, ``numbers``, ``places``. It works in English; with it,
        other languages are omitted or refused. Names and places need the extra ``redact``.
    timing : ``free``: phrases follow each other at the voice's own pace; ``phrases``: they begin where they began, and
        the length is kept, which pictures and channels that belong together always get.
    pauses : with ``free``, there is a pause, drawn, after each sentence (``even``), or each where and as long as it was
        (``keep``).
    rate : with ``phrases``, the voice speaks at its ``own`` rate, faster only where it must, or so that each phrase
        fills its time (``fit``).
    prosody : ``own``: the voice speaks as it does; ``coarse``: each phrase as much higher or lower, louder or softer
        than the recording as a whole as it was, in steps of a semitone (at most 2) and of 2 dB (at most 4).
    gender : of the pseudo-speaker: the ``same`` as the speaker's (guessed), ``cross``, ``any``, ``f`` or ``m``.
    refuse_below : omit a phrase whose words are less sure than this on average; 0 never.
    generator : of the voice neural: how the pseudo-speaker is generated, a name of ``personare pseudospeakers list``,
        or the .npz of a fitted one.
    parameters : of the generator, where it is a name.
    pool : of the voice neural: the .npz of speaker vectors to generate from; without one, the shipped pseudo-speakers.
    f0 : of the voice neural: the contour is ``predicted``, or ``flat``.
    treble : of the voice neural: where the source has a rate of 24 kHz or more, add noise from 8 to 12 kHz.
    weights : of the voice neural: ``shipped``, or the folder of a voice trained by ``personare train reader``.
    """

    paper: ClassVar[str] = ""
    NAME: ClassVar[str] = "cascade"
    VERSION: ClassVar[int] = 7
    MODELS: ClassVar[tuple[str, ...]] = tuple(
        dict.fromkeys(
            (
                *("cmudict", "moonshine", "moonshine-base", swift.MODEL),
                *LANGUAGE_MODELS,
                *(row.recognizer for row in LANGUAGES.values()),
            )
        )
    )
    LANGUAGES: ClassVar[tuple[str, ...]] = tuple(LANGUAGES)
    RETIRED: ClassVar[Mapping[str, str]] = {
        "timing=even": "write timing=free",
        "timing=keep": "write timing=phrases (and rate=fit for phrases that fill their time)",
        "timing=moved": "write timing=free",
        **dict.fromkeys(("content", "own", "pitch", "energy", "blend", "retime", "mask"), _XVECTOR),
    }
    OF_NEURAL: ClassVar[tuple[str, ...]] = ("generator", "parameters", "pool", "f0", "treble", "weights")
    """Parameters that only the voice neural has."""
    loudness_lufs: ClassVar[float] = LOUDNESS_LUFS
    needs_words: ClassVar[bool] = True
    """Whether sound without words gives silence: words are re-synthesized, and nothing else is."""

    voice: Literal["neural", "kokoro", "piper"] = "neural"
    language: str = AUTO
    recognizer: Literal["both", "moonshine", "moonshine-base"] = "both"
    unsure: Literal["speak", "silence", "tone"] = "speak"
    sure_from: float = 0.4
    redact: str | tuple[str, ...] = ()
    timing: Literal["free", "phrases"] = "free"
    pauses: Literal["keep", "even"] = "even"
    rate: Literal["own", "fit"] = "own"
    prosody: Literal["own", "coarse"] = "own"
    gender: Literal["same", "cross", "any", "f", "m"] = "same"
    refuse_below: float = 0.25
    generator: str = field(default="o1", compare=False)
    parameters: dict[str, Any] = field(default_factory=dict, compare=False)
    pool: Path | None = None
    f0: Literal["predicted", "flat"] = "predicted"
    treble: bool = True
    weights: Path | None = None
    speaking: CascadeVoice = field(init=False, repr=False)
    """The voice, built."""
    other_languages: CascadeVoice | None = field(init=False, repr=False)
    """The voice of people who speak a language that ``speaking`` does not; None where there is none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "redact", checked_kinds(self.redact))
        for name in ("sure_from", "refuse_below"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{self.NAME}: {name} must be 0 to 1, not {getattr(self, name)}")
        if self.weights is not None and str(self.weights) == "shipped":
            object.__setattr__(self, "weights", None)
        object.__setattr__(self, "speaking", self._built_voice())
        object.__setattr__(self, "other_languages", KokoroVoice() if self.voice == "neural" else None)
        if self.redact and self.language not in (AUTO, *SPOKEN):
            raise ConfigError(
                f"{self.NAME}: redact finds {', '.join(self.redact)} in English only, not in '{self.language}'; leave "
                "out redact or language"
            )
        check_language(self.language, where=f"{self.NAME}, voice {self.voice}", spoken=self.spoken)

    def _built_voice(self) -> CascadeVoice:
        if self.voice != "neural":
            defaults = Cascade.__dataclass_fields__
            for name in self.OF_NEURAL:
                default = {} if name == "parameters" else defaults[name].default
                if getattr(self, name) != default:
                    raise ConfigError(
                        f"{self.NAME}: {name} is a parameter of the voice neural, not of {self.voice}; leave out "
                        f"{name}, or use voice=neural"
                    )
            return KokoroVoice() if self.voice == "kokoro" else PiperVoice()
        built = generator_of(
            self.generator,
            self.parameters,
            gender=self.gender,
            rule="any" if self.gender == "any" else "same",
            pool=self.pool,
            where=self.NAME,
        )
        return NeuralVoice(built, self.f0, self.treble, self.pool, self.weights)

    @property
    def spoken(self) -> tuple[str, ...]:
        """The languages it speaks as it is set."""
        if self.redact:
            return SPOKEN
        more = () if self.other_languages is None else self.other_languages.languages
        spoken = {*self.speaking.languages, *more}
        return tuple(code for code in LANGUAGES if code in spoken)

    @property
    def voice_by_language(self) -> dict[str, str]:
        """Name the voice that speaks each language, to a person who speaks no other one.

        >>> Cascade().voice_by_language["en"]
        'neural'
        """
        usual, other = self.speaking, self.other_languages
        return {code: (usual if code in usual.languages or other is None else other).name for code in self.spoken}

    @property
    def needed_models(self) -> tuple[str, ...]:
        """Fetched models without which nothing works; a language other than English may need more."""
        recognizers = ("moonshine", "moonshine-base") if self.recognizer == "both" else (self.recognizer,)
        identifying = LANGUAGE_MODELS if self.language == AUTO else ("segmentation",)
        models = ["cmudict", *recognizers, *identifying, *self.speaking.models]
        models += self.speaking.gender_models if self.gender in ("same", "cross") else ()
        models += [swift.MODEL] * (self.prosody == "coarse")
        models += self._models_of(self.language) if self.language != AUTO else ()
        return tuple(dict.fromkeys(models))

    def _models_of(self, code: str) -> tuple[str, ...]:
        """What a language needs besides."""
        if code in SPOKEN:
            return ()
        other = () if code in self.speaking.languages or not self.other_languages else self.other_languages.models
        return (LANGUAGES[code].recognizer, *other)

    @property
    def keeps_timing(self) -> bool:
        """Whether, as it is set, phrases stay where they were."""
        return self.timing == "phrases"

    def in_time(self) -> Cascade:
        """Give the same method with phrases that begin where they began."""
        return replace(self, timing="phrases")

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Speak the words of one channel in another voice."""
        return self.speak(audio, rng=rng, speaker=NOTHING_KNOWN).audio

    def evidence(self, audio: Audio) -> SpeakerEvidence:
        """Tell the languages of a speaker and what a pseudo-speaker of the voice depends on."""
        sound = resample(audio, RATE_HZ).samples
        if not sound.any():
            return SpeakerEvidence()
        require(*self.needed_models)
        heard = language_evidence(sound[: round(_SURVEYED_S * RATE_HZ)], language=self.language, spoken=self.spoken)
        vector, score = self.speaking.describe(sound) if self._describes else ((), None)
        return SpeakerEvidence(heard.speech_s, vector, heard.odds, score, heard.languages)

    def speak(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts) -> SpokenAudio:
        """Speak the words of one channel of a speaker about whom this is known."""
        refuse_nan(audio)
        silence = Audio(np.zeros_like(audio.samples), audio.rate_hz)
        if not audio.samples.any():
            return SpokenAudio(silence, SpeechNotes())
        sound = resample(audio, RATE_HZ).samples
        with part(_RECOGNIZING):
            script, notes = self.script(audio, speaker=speaker)
        voice = self._voice_for(speaker, script.languages)
        is_other = voice is not self._voice_for(speaker) and bool(speaker.languages)
        notes = replace(notes, other_speaker=is_other)
        drawn = self._drawn(voice, sound, speaker, rng=rng, rate_hz=audio.rate_hz)
        with part(1.0 - _RECOGNIZING):
            back = self.spoken_script(script, drawn, rate_hz=audio.rate_hz, duration_s=audio.duration_s)
        if not back.any():
            return SpokenAudio(silence, notes)
        if self.keeps_timing:
            back = np.pad(back[: len(audio.samples)], (0, max(0, len(audio.samples) - len(back))))
        return SpokenAudio(Audio(back, audio.rate_hz), notes)

    def script(self, audio: Audio, *, speaker: SpeakerFacts) -> tuple[Script, SpeechNotes]:
        """Transcribe one channel: what a pseudo-speaker is to speak, and notes on it; speech may be refused."""
        require(*self.needed_models)
        require_model(checked_kinds(self.redact))
        sound = resample(audio, RATE_HZ).samples
        transcript = transcribe(sound, how=self._recognizing, speaker=speaker, method=self.NAME)
        placed = _slots(
            [one for one in transcript.spoken if one.words or one.omitted_s],
            digital_silences(audio.samples, audio.rate_hz),
            audio.duration_s,
        )
        spoken = [one for one, _ in placed]
        in_place = self.timing == "phrases" or self.pauses == "keep"
        texts = [one.words for one in spoken] if in_place else passages(spoken)
        redact = checked_kinds(self.redact)
        phrases = [segments_of(text, unsure=self.unsure, sure_from=self.sure_from, redact=redact) for text in texts]
        prosody = self._phrase_prosody(sound, spoken, texts, phrases, speaker)
        slots = tuple(slot for _, slot in placed) if in_place else ()
        length_s = sum(one.phrase.duration_s for one in spoken)
        return Script(tuple(map(tuple, phrases)), prosody, slots, length_s), transcript.notes

    def _phrase_prosody(
        self,
        sound: Floats,
        spoken: Sequence[SpokenPhrase],
        texts: Sequence[Sequence[RecognizedWord]],
        phrases: Sequence[Sequence[Segment]],  # noqa: ARG002 - symbols count the words that are spoken
        speaker: SpeakerFacts,  # noqa: ARG002 - symbols depend on the speaker's other recordings
    ) -> tuple[PhraseProsody, ...]:
        """How each text is spoken; none: all alike."""
        if self.prosody != "coarse":
            return ()
        return coarse_prosody(sound, spoken, text_words=[len(text) for text in texts])

    def spoken_script(self, script: Script, speaker: DrawnSpeaker, *, rate_hz: int, duration_s: float) -> Floats:
        """Let a pseudo-speaker speak a script: samples at ``rate_hz``; ``duration_s`` is that of the source."""
        whole = self._spoken(speaker, script, length=round(duration_s * speaker.rate_hz))
        if not whole.any():
            return np.zeros(0, np.float32)
        return limit_peaks(speaker.at_rate(whole, rate_hz), hop=max(1, round(0.01 * rate_hz)))

    def voice_of(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts = NOTHING_KNOWN) -> Hashable:
        """Tell which pseudo-speaker a call with the same arguments would draw, so that people get different ones."""
        sound = resample(audio, RATE_HZ).samples
        if not sound.any():
            return b""
        return self._drawn(self._voice_for(speaker), sound, speaker, rng=rng, rate_hz=audio.rate_hz).identity

    def _voice_for(self, speaker: SpeakerFacts, spoken: Collection[str] = ()) -> CascadeVoice:
        """The voice of a speaker: one that speaks all of their languages, and those of the recording (``spoken``)."""
        languages = {*speaker.languages, *spoken} if self.language == AUTO else {self.language}
        if self.other_languages is None or languages <= set(self.speaking.languages):
            return self.speaking
        return self.other_languages

    def _drawn(
        self, voice: CascadeVoice, sound: Floats, speaker: SpeakerFacts, *, rng: np.random.Generator, rate_hz: int
    ) -> DrawnSpeaker:
        speaker = self._described(voice, sound, speaker)
        return voice.draw(speaker, gender=self._target_gender(speaker), rng=rng, rate_hz=rate_hz)

    def _described(self, voice: CascadeVoice, sound: Floats, speaker: SpeakerFacts) -> SpeakerFacts:
        """Add what a pseudo-speaker depends on and nobody knows yet: an embedding, the gender."""
        lacks_gender = self.gender in ("same", "cross") and not speaker.gender
        if not lacks_gender and not (voice.needs_vector and not speaker.vector):
            return speaker
        vector, score = self.speaking.describe(sound)
        return replace(speaker, vector=speaker.vector or vector, gender=speaker.gender or ("f" if score > 0 else "m"))

    def _target_gender(self, speaker: SpeakerFacts) -> str | None:
        own = speaker.gender or ""
        return {"any": None, "same": own, "cross": _OPPOSITE.get(own), "f": "f", "m": "m"}[self.gender]

    @property
    def _describes(self) -> bool:
        return self.speaking.needs_vector or self.gender in ("same", "cross")

    def _spoken(self, speaker: DrawnSpeaker, script: Script, *, length: int) -> Floats:
        if not script.phrases:
            return np.zeros(0, np.float32)
        speaker = speaker.with_prosody(script.prosody) if script.prosody else speaker
        if self.timing == "phrases":
            pieces = spoken_in_slots(speaker, script.phrases, script.slots, rate=self.rate)
            whole = laid_out(pieces, length, rate_hz=speaker.rate_hz)
        else:
            pauses_s = [slot.next_s - slot.end_s for slot in script.slots] if script.slots else None
            whole = speaker.speak_freely(script.phrases, pauses_s, length_s=script.length_s)
        if all(one == NEUTRAL for one in script.prosody):
            return whole
        return at_loudness(whole, speaker.rate_hz, lufs=LOUDNESS_LUFS)

    @property
    def _recognizing(self) -> Recognizing:
        in_place = self.timing == "phrases" or self.pauses == "keep" or self.prosody == "coarse"
        model, again, sure_from = self.recognizer, None, 0.0
        if self.recognizer == "both":
            model, again, sure_from = "moonshine", "moonshine-base", SURE_FROM
        return Recognizing(
            model,
            again,
            sure_from,
            None if in_place else LONGEST_S,
            self.refuse_below,
            self.language,
            self.spoken,
            {code: self._models_of(code) for code in self.spoken},
        )


def _slots(
    spoken: Sequence[SpokenPhrase], muted_s: Sequence[float], duration_s: float
) -> list[tuple[SpokenPhrase, Slot]]:
    """Give each phrase its time: up to where the next one begins, or the recording is muted, or ends."""
    placed = []
    for number, one in enumerate(spoken):
        start_s, end_s = one.phrase.start / RATE_HZ, one.phrase.end / RATE_HZ
        following = spoken[number + 1].phrase.start / RATE_HZ if number + 1 < len(spoken) else duration_s
        muted = min((place for place in muted_s if place > start_s), default=duration_s)
        placed.append((one, Slot(start_s, min(end_s, muted), following, min(following, muted + GAP_S))))
    return placed
