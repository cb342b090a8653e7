"""EnCodec, DAC, SpeechTokenizer and FaCodec with our interface, from weights that a user has; the comparators of USC.

``levels`` is how many codebooks are written; C0 alone, or prosody and content of FaCodec, is ``tokens.kept(n)``.
Long recordings are coded in one piece, as the published programs do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.codecs.published import checkpoint
from personare.codecs.published.opening import FACODEC_FILES, open_dac, open_facodec, open_seanet
from personare.codecs.tokens import TokenError, Tokens
from personare.core.audio import Audio, resample
from personare.core.errors import AudioError, ConfigError, WeightsError
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_FACODEC_SEMANTIC = 3  # levels of prosody and content together
_PEAK = np.float32(0.99)


@dataclass(frozen=True)
class _Published:
    """What the four have in common: 24, 16 or 44.1 kHz in, codes, and back to the recording's rate and length."""

    weights: str = ""
    levels: int = 8

    def __post_init__(self) -> None:
        if self.levels < 1:
            raise ConfigError(f"levels must be at least 1, not {self.levels}")

    @property
    def fingerprint(self) -> str:
        """The exact weights."""
        self._network()
        return checkpoint.digest_of(self.weights)

    @property
    def rate_hz(self) -> int:
        """Sample rate of the networks."""
        raise NotImplementedError

    def _network(self) -> Any:
        raise NotImplementedError

    @property
    def frame_rate_hz(self) -> float:
        """Frames of tokens per second."""
        return self.rate_hz / float(self._network().hop)

    @property
    def code_counts(self) -> tuple[int, ...]:
        """Codes per level."""
        raise NotImplementedError

    def _samples(self, audio: Audio) -> Any:
        if not len(audio.samples) or not np.isfinite(audio.samples).all():
            raise AudioError("a recording is empty or holds NaN; repair or remove it")
        samples = resample(audio, self.rate_hz).samples
        return torch_for("other codecs").from_numpy(samples if len(samples) else np.zeros(1, np.float32))

    def encode(self, audio: Audio) -> Tokens:
        """Code one channel at any sample rate."""
        with torch_for("other codecs").no_grad():
            codes = self._network().encode(self._samples(audio))[:, : self.levels]
        return self._tokens(codes, audio)

    def _tokens(self, codes: Any, audio: Audio, vector: Floats | None = None) -> Tokens:
        found = np.ascontiguousarray(codes.numpy(), dtype=np.int32)
        counts = self.code_counts[: found.shape[1]]
        return Tokens(found, counts, self.fingerprint, audio.rate_hz, len(audio.samples), vector=vector)

    def decode(self, tokens: Tokens, *, rng: np.random.Generator) -> Audio:  # noqa: ARG002 - nothing here is drawn
        """Make sound from the levels that are there."""
        self._check(tokens)
        torch = torch_for("other codecs")
        with torch.no_grad():
            samples = self._network().decode(torch.from_numpy(tokens.codes.astype(np.int64))).numpy()
        return self._audio(samples, tokens)

    def _check(self, tokens: Tokens) -> None:
        if tokens.fingerprint != self.fingerprint:
            raise TokenError(f"tokens of the codec {tokens.fingerprint} cannot be decoded by {self.fingerprint}")

    def _audio(self, samples: Floats, tokens: Tokens) -> Audio:
        back = resample(Audio(np.ascontiguousarray(samples), self.rate_hz), tokens.rate_hz).samples[: tokens.samples]
        back = np.pad(back, (0, tokens.samples - len(back)))
        peak = float(np.abs(back).max(initial=0.0))
        return Audio(back if peak <= _PEAK else back * (_PEAK / np.float32(peak)), tokens.rate_hz)


@dataclass(frozen=True)
class EnCodec(_Published):
    """EnCodec at 24 kHz: 75 frames per second, 8 codebooks of 1,024 (6 kbit/s).

    Parameters
    ----------
    weights : your copy of encodec_24khz-d7cc33bc.th.
    levels : codebooks written, 1 to 32.
    """

    @property
    def rate_hz(self) -> int:
        """24 kHz."""
        return 24_000

    @property
    def code_counts(self) -> tuple[int, ...]:
        """Codes per level."""
        return tuple(len(book) for book in self._network().quantizer.books[: self.levels])

    def _network(self) -> Any:
        return open_seanet(self.weights, "EnCodec", "encodec_24khz-d7cc33bc.th", causal=True)


@dataclass(frozen=True)
class SpeechTokenizer(_Published):
    """SpeechTokenizer at 16 kHz: 50 frames per second, 8 codebooks of 1,024 (4 kbit/s); C0 is distilled from HuBERT.

    Parameters
    ----------
    weights : your copy of SpeechTokenizer.pt (speechtokenizer_hubert_avg).
    levels : codebooks written, 1 to 8.
    """

    @property
    def rate_hz(self) -> int:
        """16 kHz."""
        return 16_000

    @property
    def code_counts(self) -> tuple[int, ...]:
        """Codes per level."""
        return tuple(len(book) for book in self._network().quantizer.books[: self.levels])

    def _network(self) -> Any:
        return open_seanet(self.weights, "SpeechTokenizer", "SpeechTokenizer.pt", causal=False)


@dataclass(frozen=True)
class Dac(_Published):
    """DAC at 16, 24 or 44.1 kHz: 9 codebooks of 1,024 are 7.75 kbit/s at 44.1 kHz.

    Parameters
    ----------
    weights : your copy of weights_16khz.pth, weights_24khz.pth or weights_44khz_8kbps.pth.
    levels : codebooks written.
    """

    levels: int = 9

    @property
    def rate_hz(self) -> int:
        """What the checkpoint says."""
        return int(open_dac(self.weights)[1])

    @property
    def code_counts(self) -> tuple[int, ...]:
        """Codes per level."""
        return tuple(len(book.book) for book in self._network().quantizer["quantizers"][: self.levels])

    def _network(self) -> Any:
        return open_dac(self.weights)[0]


@dataclass(frozen=True)
class FaCodec(_Published):
    """FaCodec at 16 kHz: 80 frames per second, 1 + 2 + 3 codebooks of 1,024 (4.8 kbit/s), and a timbre vector.

    Parameters
    ----------
    weights : the folder with your copies of ns3_facodec_encoder.bin and ns3_facodec_decoder.bin.
    timbre : a .npy of the mean timbre vector of many speakers, with which prosody and content alone are decoded.
    """

    levels: int = 6
    timbre: str = ""

    @property
    def fingerprint(self) -> str:
        """The exact weights."""
        self._network()
        return checkpoint.digest_of(*(str(Path(self.weights) / name) for name in FACODEC_FILES))

    @property
    def rate_hz(self) -> int:
        """16 kHz."""
        return 16_000

    @property
    def code_counts(self) -> tuple[int, ...]:
        """Codes per level."""
        return tuple(len(book.book) for book in self._network().decoder.books[: self.levels])

    def _network(self) -> Any:
        return open_facodec(self.weights)

    def encode(self, audio: Audio) -> Tokens:
        """Code one channel; the timbre vector goes with the tokens while all levels do."""
        network = self._network()
        with torch_for("other codecs").no_grad():
            z = network.frames(self._samples(audio))
            codes, vector = network.decoder.encode(z)[:, : self.levels], network.decoder.timbre(z).numpy()
        return self._tokens(codes, audio, vector if codes.shape[1] > _FACODEC_SEMANTIC else None)

    def decode(self, tokens: Tokens, *, rng: np.random.Generator) -> Audio:  # noqa: ARG002 - nothing here is drawn
        """Make sound with the timbre that goes with the tokens, or with the mean one."""
        self._check(tokens)
        torch = torch_for("other codecs")
        timbre = self._mean_timbre() if tokens.vector is None else np.asarray(tokens.vector, np.float32)
        with torch.no_grad():
            codes = torch.from_numpy(tokens.codes.astype(np.int64))
            samples = self._network().decoder.decode(codes, torch.from_numpy(timbre)).numpy()
        return self._audio(samples, tokens)

    def _mean_timbre(self) -> Floats:
        if not self.timbre:
            raise ConfigError("FaCodec decodes prosody and content with a mean timbre; set timbre=FILE.npy")
        try:
            return np.asarray(np.load(self.timbre, allow_pickle=False), np.float32).reshape(-1)
        except (OSError, ValueError) as error:
            raise WeightsError(f"{self.timbre}: not a timbre vector ({error})") from None
