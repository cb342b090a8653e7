"""The synthesizer as it is shipped or trained: the network, its card, and the pseudo-speakers it may speak as.

A folder holds ``voice.onnx`` (content, prosody, speaker vector -> bands), ``mask.onnx`` (content -> content with less
of the speaker in it), ``voice.json`` (the card: data, licence, hashes, what was measured) and ``voices.npz`` (vectors
of pseudo-speakers with their genders, and regressions from a vector to its F0 and gender); and, unless it was trained
before there were any, ``prosody.onnx`` (content, speaker vector -> F0 contour, voicing, energy), the reader's two
networks, ``reader_text.onnx`` and ``reader_speech.onnx`` (symbols of sounds -> content), and ``voice_reading.onnx``, a
``voice.onnx`` that was trained on for such content. These read and speak English; ``languages_text.onnx``,
``languages_speech.onnx``, ``languages_prosody.onnx`` and ``languages_voice.onnx`` do the same for further languages,
with the same pseudo-speakers. Files that do not fit the card are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import WeightsError
from personare.core.files import file_digest
from personare.core.sessions import Session, open_session
from personare.encoders.prosody import F0Statistics, PredictedProsody, read_prediction
from personare.encoders.reading import ContentReader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

NETWORK, MASK, CARD, VOICES = "voice.onnx", "mask.onnx", "voice.json", "voices.npz"
PROSODY_NETWORK = "prosody.onnx"
READER_NETWORKS = ("reader_text.onnx", "reader_speech.onnx")
READING_NETWORK = "voice_reading.onnx"
LANGUAGES_READER = ("languages_text.onnx", "languages_speech.onnx")
LANGUAGES_PROSODY, LANGUAGES_NETWORK = "languages_prosody.onnx", "languages_voice.onnx"
_FURTHER = (*LANGUAGES_READER, LANGUAGES_PROSODY, LANGUAGES_NETWORK)
_LATER = (PROSODY_NETWORK, *READER_NETWORKS, READING_NETWORK, *_FURTHER)  # what a voice may lack
ENGLISH = "en"
SHIPPED = "shipped"


@dataclass(frozen=True, eq=False)
class SpeakerBank:
    """Pseudo-speakers to choose from, and what a speaker vector says about its speaker.

    Parameters
    ----------
    vectors, genders : pseudo-speakers, [n, 256] of length 1, and f or m for each.
    f0_regression : from a vector (with a 1 behind it) to the median (log2 Hz) and range (octaves) of its F0; [257, 2].
    gender_regression : from a vector to its gender, above 0 for f; [257].
    """

    vectors: Floats
    genders: tuple[str, ...]
    f0_regression: Floats
    gender_regression: Floats

    def f0_of(self, vector: Floats) -> F0Statistics:
        """Predict how high the speaker of a vector speaks."""
        median, octaves = np.append(vector, 1.0) @ self.f0_regression
        return F0Statistics(float(np.clip(median, 6.1, 8.5)), float(np.clip(octaves, 0.08, 0.6)))

    def gender_of(self, vector: Floats) -> str:
        """Predict the gender of the speaker of a vector."""
        return "f" if self.gender_score(vector) > 0 else "m"

    def gender_score(self, vector: Floats) -> float:
        """Tell how far the speaker of a vector sounds like a woman (above 0) or a man."""
        return float(np.append(vector, 1.0) @ self.gender_regression)


@dataclass(frozen=True, eq=False)
class FurtherLanguages:
    """The reader of languages other than English, and the networks that speak what it reads, if there are any yet.

    Parameters
    ----------
    tempo : how many times as long as in English everything lasts.
    readers_of : numbers of the readers that a recognizer understands best, by language; all where there are none.
    """

    codes: tuple[str, ...]
    reader: ContentReader
    prosody: Any
    network: Any
    tempo: float = 1.0
    readers_of: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SynthesizerModel:
    """An opened synthesizer: network, mask, pseudo-speakers, card; its prosody network and its readers, if any."""

    network: Any
    mask: Any
    bank: SpeakerBank
    card: dict[str, Any]
    prosody: Any = None
    content_reader: ContentReader | None = None
    reading_network: Any = None
    where: str = SHIPPED
    further: FurtherLanguages | None = None

    def masked(self, content: Floats) -> Floats:
        """Remove speaker information from content [frames, 288], as far as the mask has learnt to."""
        kept: Floats = self.mask.run(None, {"content": content})[0]
        return kept

    def log_bands(
        self, content: Floats, prosody: Floats, vector: Floats, *, is_read: bool = False, language: str = ENGLISH
    ) -> Floats:
        """Predict the log-strength of every band: [frames, bands]; ``is_read``: the reader of ``language`` made it."""
        inputs = {"content": content[None], "prosody": prosody[None], "voice": vector[None].astype(np.float32)}
        logs: Floats = self._network(language if is_read else None).run(None, inputs)[0][0]
        return logs

    def _network(self, language: str | None) -> Any:
        """The network that speaks what the reader of a language reads; None: encoded content."""
        if language is None:
            return self.network
        if language != ENGLISH and self.further is not None and self.further.network is not None:
            return self.further.network
        return self.network if self.reading_network is None else self.reading_network

    def predict_prosody(self, content: Floats, vector: Floats, *, language: str = ENGLISH) -> PredictedProsody:
        """Predict F0 contour, voicing and energy from content [frames, 288] in a language and a speaker vector."""
        if self.prosody is None:
            raise WeightsError(
                f"{self.where}: has no {PROSODY_NETWORK} to predict F0, energy or pauses with; add one with "
                "personare train prosody, or use f0=keep, energy=keep and timing=moved"
            )
        inputs = {"content": content[None], "voice": vector[None].astype(np.float32)}
        network = self.prosody
        if language != ENGLISH and self.further is not None and self.further.prosody is not None:
            network = self.further.prosody
        return read_prediction(network.run(None, inputs)[0][0])

    @property
    def reader(self) -> ContentReader:
        """What turns symbols of sounds into content."""
        if self.content_reader is None:
            raise WeightsError(
                f"{self.where}: has no {READER_NETWORKS[0]} to read words with; add a reader with personare train "
                "reader, or use another voice"
            )
        return self.content_reader

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that it reads; none without a reader."""
        english = () if self.content_reader is None else (ENGLISH,)
        return english if self.further is None or self.further.network is None else (*english, *self.further.codes)

    def reader_of(self, language: str) -> ContentReader:
        """What turns symbols of sounds into content in a language."""
        if language == ENGLISH:
            return self.reader
        if self.further is None or language not in self.further.codes:
            known = ", ".join(self.languages) or "nothing"
            raise WeightsError(
                f"{self.where}: its reader does not know '{language}', it reads {known}; train it with personare "
                f"train reader --language {language}, or use another voice"
            )
        return self.further.reader

    def read(self, numbers: Sequence[int], *, language: str, number: int, tempo: float) -> Floats:
        """Read symbols in a language: content [encoder frames, 288]; ``number`` stands for one of its readers.

        ``tempo`` says how many times as long as by the English readers everything lasts.
        """
        reader = self.reader_of(language)
        slots, slower = tuple(range(reader.readers)), 1.0
        if language != ENGLISH and self.further is not None:
            slots, slower = self.further.readers_of.get(language, slots), self.further.tempo
        return reader(numbers, reader=slots[number % len(slots)], tempo=tempo * slower)


def shipped_folder() -> Path:
    """Where the shipped synthesizer lies."""
    return Path(str(resources.files("personare.anonymizers.neural.xvector"))) / SHIPPED


def reader_languages(where: Path | str = SHIPPED) -> tuple[str, ...]:
    """Codes of the languages that a voice reads, by its card alone, without opening its networks."""
    folder = shipped_folder() if str(where) == SHIPPED else Path(where)
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        further = card["languages"]["codes"] if LANGUAGES_NETWORK in card["sha256"] else ()
    except (OSError, ValueError, KeyError, TypeError):  # opening the voice says what is wrong with it
        further = ()
    return (ENGLISH, *map(str, further))


def open_weights(where: Path | str = SHIPPED) -> SynthesizerModel:
    """Open the shipped synthesizer, or one that was trained into a folder; once, for as long as it is the same."""
    folder = shipped_folder() if str(where) == SHIPPED else Path(where)
    return _opened(folder, str(where), _digests(folder, str(where)))


def _digests(folder: Path, where: str) -> tuple[tuple[str, str], ...]:
    """Hash the card and the files beside it; a file that is missing is one line."""
    names = (CARD, NETWORK, MASK, VOICES, *(name for name in _LATER if (folder / name).exists()))
    try:
        return tuple((name, file_digest(folder / name)) for name in names)
    except FileNotFoundError as error:
        missing = Path(str(error.filename)).name
        raise WeightsError(f"{where}: has no {missing}; train a voice into this folder, or name another") from None
    except OSError as error:
        raise WeightsError(f"{where}: cannot be read ({error.strerror})") from None


@lru_cache(maxsize=2)
def _opened(folder: Path, where: str, digests: tuple[tuple[str, str], ...]) -> SynthesizerModel:
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        if dict(digests[1:]) != card["sha256"]:
            raise WeightsError(f"{where}: the files do not fit their card; train the voice again or restore them")
        content = {name: (folder / name).read_bytes() for name, _ in digests[1:]}
        sessions = {name: open_session(graph, where=where) for name, graph in content.items() if name != VOICES}
        bank, prosody = read_bank(content[VOICES]), sessions.get(PROSODY_NETWORK)
        return SynthesizerModel(
            sessions[NETWORK],
            sessions[MASK],
            bank,
            card,
            prosody,
            _content_reader(sessions, card),
            sessions.get(READING_NETWORK),
            where,
            _further_languages(sessions, card),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{where}: not a trained voice ({type(error).__name__}: {error})") from None


def _content_reader(sessions: Mapping[str, Session], card: Mapping[str, Any]) -> ContentReader | None:
    if any(name not in sessions for name in READER_NETWORKS):
        return None
    text, speech = (sessions[name] for name in READER_NETWORKS)
    return ContentReader(text, speech, int(card["reader"]["symbols"]), len(card["reader"]["readers"]))


def _further_languages(sessions: Mapping[str, Session], card: Mapping[str, Any]) -> FurtherLanguages | None:
    if any(name not in sessions for name in LANGUAGES_READER):
        return None
    told = card["languages"]
    text, speech = (sessions[name] for name in LANGUAGES_READER)
    reader = ContentReader(text, speech, int(told["symbols"]), len(told["readers"]))
    prosody, network = (sessions.get(name) for name in (LANGUAGES_PROSODY, LANGUAGES_NETWORK))
    readers_of = {str(code): tuple(map(int, slots)) for code, slots in told.get("readers_of", {}).items()}
    codes, tempo = tuple(map(str, told["codes"])), float(told.get("tempo", 1.0))
    return FurtherLanguages(codes, reader, prosody, network, tempo, readers_of)


def package_files(folder: Path) -> dict[str, bytes]:
    """The files of a voice beside its card, by name."""
    names = json.loads((folder / CARD).read_text(encoding="utf-8"))["sha256"]
    return {name: (folder / name).read_bytes() for name in names}


def read_bank(content: bytes) -> SpeakerBank:
    """Read the pseudo-speakers from the bytes of an npz."""
    import io

    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        genders = tuple(str(word) for word in arrays["genders"])
        return SpeakerBank(arrays["vectors"], genders, arrays["pitch"], arrays["gender"])
