"""What every speech codec looks like, and the one table of them: audio in, tokens out, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from personare.core.catalog import Catalog

if TYPE_CHECKING:
    import numpy as np

    from personare.codecs.tokens import Tokens
    from personare.core.audio import Audio


@runtime_checkable
class Codec(Protocol):
    """A frozen dataclass whose fields are its configuration."""

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that name the exact codec: its weights and the version of what is computed."""
        ...

    @property
    def rate_hz(self) -> int:
        """The sample rate of what ``decode`` gives before it is brought to the recording's own."""
        ...

    @property
    def frame_rate_hz(self) -> float:
        """Frames of tokens per second."""
        ...

    @property
    def code_counts(self) -> tuple[int, ...]:
        """How many codes each level has."""
        ...

    def encode(self, audio: Audio) -> Tokens:
        """Code one channel at any sample rate, with all levels."""
        ...

    def decode(self, tokens: Tokens, *, rng: np.random.Generator) -> Audio:
        """Make sound from tokens with any number of levels, of the recording's length and sample rate."""
        ...


CODECS = Catalog(
    "codec",
    {
        "usc": "personare.codecs.usc.codec:Usc",
        "usc-paper": "personare.codecs.usc.wave_codec:WaveUsc",
        "encodec": "personare.codecs.published.codecs:EnCodec",
        "dac": "personare.codecs.published.codecs:Dac",
        "speechtokenizer": "personare.codecs.published.codecs:SpeechTokenizer",
        "facodec": "personare.codecs.published.codecs:FaCodec",
    },
)


def codec_named(name: str, /, **parameters: Any) -> Codec:
    """Make a codec by its name, ``module:Class``, or ``NAME:PATH`` with the file or folder of its weights.

    >>> codec_named("usc:my-codec").weights
    'my-codec'
    """
    head, colon, path = name.partition(":")
    if colon and head in CODECS.names():
        return cast(Codec, CODECS.make(head, **{"weights": path, **parameters}))
    return cast(Codec, CODECS.make(name, **parameters))
