"""Kokoro: pseudo-speakers that speak any language from phonemes; each is a mixture of Kokoro's own voices.

Kokoro takes symbol ids framed by 0, a style (how a voice sounds in a text of that length: row n of its table for n ids)
and a speaking rate. Mixing the style tables of two or three voices of one gender gives a new voice, which speaks every
language that Kokoro has symbols for. The network holds no chance, and one thread sums in one order: the same phonemes,
voice and rate give the same samples in any process on this kind of machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.fingerprint import Fingerprinted
from personare.core.seeding import Key, rng_for
from personare.core.sessions import Session, open_session
from personare.core.weights import files_of, home, require
from personare.voices.kokoro_network import F0_FACTOR, F0_HZ, with_f0_factor, with_products
from personare.voices.synthesizer import Gender, OfflineVoice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MODEL = "kokoro"
LANGUAGES_MODEL = "kokoro-languages"  # further voices, each for one language
RATE_HZ = 24_000
STYLE_SIZE = 256
LONGEST = 510  # symbols of one call of the network
RATE_RANGE = (0.5, 2.0)  # speaking rates that still sound like speech
LOUDEST = 0.95  # a peak above this is turned down to it
TABLE = "kokoro_voices.tsv"
_SENTENCE_ENDS, _CLAUSE_ENDS, _SPACE = ".!?…", ",;:—", " "
_ENGLISH = "ab"  # first letters of American and British voices
_MOST_NUMBERS = 10_000
_RATES = (1.0, 1.2)  # of pseudo-speakers; Kokoro's own rate is slow
_LEAST_SHARE = 0.2

# Voices whose German, French and Spanish Whisper base reads best; the name's second letter is the gender.
INGREDIENTS: dict[Gender, tuple[str, ...]] = {
    "f": ("bf_alice", "ff_siwis", "pf_dora", "af_sky", "if_sara", "af_heart", "bf_lily", "ef_dora", "af_river"),
    "m": ("am_eric", "bm_daniel", "am_liam", "am_michael", "bm_fable", "am_puck", "am_onyx", "im_nicola"),
}


@dataclass(frozen=True)
class StyleMixture:
    """A pseudo-speaker: the voices it is made of, their shares (sum 1) and its speaking rate."""

    gender: Gender
    voices: tuple[str, ...]
    shares: tuple[float, ...]
    rate: float


@dataclass(frozen=True)
class Kokoro(Fingerprinted):
    """Speaks phonemes with a pseudo-speaker's voice, the same one in every language."""

    VERSION: ClassVar[int] = 1
    MODELS: ClassVar[tuple[str, ...]] = (MODEL, LANGUAGES_MODEL)

    @property
    def voices(self) -> Sequence[OfflineVoice]:
        """The selected pseudo-speakers; any number from 0 to 9999 can be spoken with."""
        return measured_voices()

    def speak_phonemes(self, phonemes: str, *, voice: int, rate: float, rng: np.random.Generator) -> Audio:
        """Speak Kokoro's symbols; none but marks and spaces give no samples.

        Parameters
        ----------
        voice : number of a pseudo-speaker (see ``mixture``).
        rate : speaking rate, 1 is the pseudo-speaker's own.
        rng : not used, the network draws nothing.
        """
        del rng
        return self._spoken(phonemes, voice, rate, None)

    def speak_with_f0(self, phonemes: str, *, voice: int, rate: float, change: Callable[[Floats], Floats]) -> Audio:
        """Speak Kokoro's symbols with another F0: ``change`` gets the predicted curve in Hz, 0 or so where unvoiced."""
        return self._spoken(phonemes, voice, rate, change)

    def _spoken(self, phonemes: str, voice: int, rate: float, change: Callable[[Floats], Floats] | None) -> Audio:
        speaker = mixture(voice)
        if not RATE_RANGE[0] <= rate <= RATE_RANGE[1]:
            raise ConfigError(f"rate must be {RATE_RANGE[0]} to {RATE_RANGE[1]}, not {rate}")
        require(*self.MODELS)
        parts = [part for part in split_phonemes(phonemes) if any(symbol.isalpha() for symbol in part)]
        waves = []
        for part in parts:
            ids = symbol_ids(part)
            style = mixed_style(speaker.voices, speaker.shares, length=len(ids))
            waves.append(speak_ids(ids, style=style, rate=rate * speaker.rate, change_f0=change))
        samples = np.concatenate(waves) if waves else np.zeros(0, np.float32)
        peak = float(np.abs(samples).max(initial=0.0))
        return Audio(samples if peak <= LOUDEST else samples * np.float32(LOUDEST / peak), RATE_HZ)


@lru_cache(maxsize=1024)
def mixture(number: int) -> StyleMixture:
    """Give the pseudo-speaker of a number: even ones are female, odd ones male.

    >>> mixture(0).gender, mixture(1).gender, round(sum(mixture(7).shares), 3)
    ('f', 'm', 1.0)
    """
    if not 0 <= number < _MOST_NUMBERS:
        raise ConfigError(f"Kokoro has the pseudo-speakers 0 to {_MOST_NUMBERS - 1}, not {number}")
    rng = rng_for(Key.from_seed("kokoro"), "pseudo-speaker", str(number))
    gender: Gender = "m" if number % 2 else "f"
    count = int(rng.integers(2, 4))
    voices = rng.choice(INGREDIENTS[gender], size=count, replace=False)
    extra = rng.dirichlet(np.ones(count)) * (1 - count * _LEAST_SHARE)
    shares = [round(float(share), 3) for share in _LEAST_SHARE + extra[:-1]]
    rate = round(float(rng.uniform(*_RATES)), 3)
    return StyleMixture(gender, tuple(map(str, voices)), (*shares, round(1 - sum(shares), 3)), rate)


def split_phonemes(phonemes: str, *, longest: int = LONGEST) -> list[str]:
    """Cut phonemes into parts of at most ``longest`` symbols, after the last sentence, clause or word that fits.

    >>> split_phonemes("wˈʌn, tˈuː. θɹˈiː", longest=12)
    ['wˈʌn, tˈuː.', 'θɹˈiː']
    """
    parts, rest = [], phonemes.strip()
    while len(rest) > longest:
        cut = _last_cut(rest[: longest + 1], longest)
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [part for part in (*parts, rest) if part]


def _last_cut(text: str, longest: int) -> int:
    """Give how many symbols to take: a mark counts only where a space follows, and not in the first quarter."""
    for marks in (_SENTENCE_ENDS, _CLAUSE_ENDS):
        ends = [place + 1 for place in range(longest // 4, longest) if text[place] in marks and text[place + 1] == " "]
        if ends:
            return ends[-1]
    return text.rfind(_SPACE, 1) if _SPACE in text[1:] else longest


def symbol_ids(phonemes: str) -> list[int]:
    """Turn phonemes into the network's numbers; a symbol it does not know is an error, never left out."""
    numbers = symbols()
    strange = sorted(set(phonemes) - set(numbers))
    if strange:
        raise ConfigError(f"Kokoro has no symbol '{strange[0]}' (in '{phonemes}'); spell the sentence with others")
    return [numbers[symbol] for symbol in phonemes]


def speak_ids(
    ids: Sequence[int], *, style: Floats, rate: float, change_f0: Callable[[Floats], Floats] | None = None
) -> Floats:
    """Run the network: ids without the frame, style [1, 256]; samples at 24 kHz, not limited in level."""
    inputs: dict[str, NDArray[Any]] = {
        "input_ids": np.array([[0, *ids, 0]], dtype=np.int64),
        "style": style,
        "speed": np.array([rate], dtype=np.float32),
        F0_FACTOR: np.ones((1, 1, 1), np.float32),
    }
    if change_f0 is not None:
        (f0_hz,) = session(home()).run([F0_HZ], inputs)
        changed = np.asarray(change_f0(f0_hz[0, 0]), np.float32)
        inputs[F0_FACTOR] = np.where(f0_hz != 0, changed / np.where(f0_hz != 0, f0_hz, 1), 1).astype(np.float32)
    (wave,) = session(home()).run(["waveform"], inputs)
    return np.ascontiguousarray(wave.reshape(-1), dtype=np.float32)


def mixed_style(voices: Sequence[str], shares: Sequence[float], *, length: int) -> Floats:
    """Give the style [1, 256] of a mixture for a text of ``length`` symbols."""
    tables = [style_table(voice) for voice in voices]
    rows = [np.float32(share) * table[min(length, len(table) - 1)] for share, table in zip(shares, tables, strict=True)]
    return np.asarray(sum(rows[1:], start=rows[0]), dtype=np.float32)


@lru_cache(maxsize=1)
def measured_voices() -> tuple[OfflineVoice, ...]:
    """The pseudo-speakers of the shipped table, which ``benchmarks/kokoro_voices.py`` makes.

    >>> {voice.gender for voice in measured_voices()} == {"f", "m"}
    True
    """
    lines = resources.files(__package__).joinpath(TABLE).read_text(encoding="utf-8").splitlines()[1:]
    voices = []
    for number, f0_hz, dnsmos, *_ in (line.split("\t") for line in lines):
        voices.append(OfflineVoice(int(number), float(f0_hz), mixture(int(number)).gender, float(dnsmos)))
    return tuple(voices)


def network_file() -> Path:
    """Where the network lies."""
    return _files(MODEL, home())["kokoro-quantized.onnx"]


def symbols() -> dict[str, int]:
    """Symbol -> number, without the frame symbol."""
    return _symbols(home())


@lru_cache(maxsize=1)
def session(_cache: Path) -> Session:
    """The network, loaded once per process, on one thread."""
    return open_session(with_f0_factor(with_products(network_file().read_bytes())), where=str(network_file()))


def style_table(voice: str) -> Floats:
    """The styles of one voice: float32 [lengths, 1, 256]."""
    return _table(voice, home())


@lru_cache(maxsize=2)
def _files(model: str, _cache: Path) -> dict[str, Path]:
    """A model's files, hashed once per process."""
    return files_of(model)


@lru_cache(maxsize=1)
def _symbols(cache: Path) -> dict[str, int]:
    table = json.loads(_files(MODEL, cache)["tokenizer.json"].read_text(encoding="utf-8"))["model"]["vocab"]
    return {symbol: number for symbol, number in table.items() if number != 0}


@lru_cache(maxsize=64)
def _table(voice: str, cache: Path) -> Floats:
    model = MODEL if voice[0] in _ENGLISH else LANGUAGES_MODEL
    return np.fromfile(_files(model, cache)[f"{voice}.bin"], dtype=np.float32).reshape(-1, 1, STYLE_SIZE)
