"""Anonymize a recording block by block: memory does not grow with its length.

For methods that can work on a stream (``anonymizers.stream.Streaming``) and formats that are written front to back. The
result is, byte for byte, that of a call on the whole recording.
"""

from __future__ import annotations

import hashlib
import io
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from personare.anonymizers.stream import Streaming
from personare.core.audio import AudioBlocks, encode_blocks, open_blocks
from personare.core.audio_writing import can_encode_blocks
from personare.core.errors import AudioError
from personare.core.files import atomic_path, file_sha256
from personare.core.progress import advance, part
from personare.core.remote import RemoteFolder
from personare.core.seeding import Key, rng_for
from personare.core.utterances import Utterance
from personare.pipeline.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

Track = tuple[str, str, int]  # speaker, utterance, and the channel (0 is the first)


class OpenRecording(ABC):
    """A recording that is open and can be written once, front to back, anonymized."""

    @property
    @abstractmethod
    def total_s(self) -> float:
        """Seconds of all channels; 0 where nobody knows."""

    @abstractmethod
    def write(self, place: BinaryIO, path: Path) -> float:
        """Encode the anonymized channels into ``place``, an open file, as ``path`` would be; gives the seconds."""

    def finish(self, path: Path, *, put: RemoteFolder | None = None, name: str = "") -> tuple[float, str]:
        """Write it to ``path``, or under ``name`` into ``put``; gives the seconds and the digest of what was written.

        It is dated 0: dates would tell the order of the source, and so who is who.
        """
        with part(
            1 / self.total_s if self.total_s else 0.0
        ):  # methods count seconds; an engine hears shares of this item
            if put is not None:
                content = io.BytesIO()
                speech_s = self.write(content, path)
                put.put(name, content.getvalue())
                return speech_s, hashlib.sha256(content.getbuffer()).hexdigest()
            with atomic_path(path, dated=False) as written:
                with written.open("wb") as stream:
                    speech_s = self.write(stream, path)
                return speech_s, file_sha256(written)


@dataclass(frozen=True)
class BlockwiseRecording(OpenRecording):
    """A recording that is open, and the method that hides its tracks; it can be written once."""

    source: AudioBlocks
    system: System
    key: Key
    method: Streaming
    channels: Sequence[Track]

    @property
    def total_s(self) -> float:
        """Seconds of all channels; 0 where nobody knows."""
        return (self.source.frames or 0) / self.source.rate_hz * len(self.channels)

    def write(self, place: BinaryIO, path: Path) -> float:
        """Encode the anonymized channels into ``place``, an open file, as ``path`` would be; gives the seconds."""
        rate_hz = self.source.rate_hz
        frames = encode_blocks(place, path, self._hidden(), rate_hz=rate_hz, channels=len(self.channels))
        return frames / rate_hz

    def _hidden(self) -> Iterator[NDArray[np.float32]]:
        """Give blocks [frames, channels]; every channel gets the same blocks, and so answers with the same ones."""
        feeds = _feeds(self.source, [channel for _, _, channel in self.channels])
        hidden = [
            self.method.stream(
                feed, rate_hz=self.source.rate_hz, rng=rng_for(self.key, "voice", *self.system.names_of(who, what))
            )
            for feed, (who, what, _) in zip(feeds, self.channels, strict=True)
        ]
        for blocks in zip(*hidden, strict=True):
            yield np.stack(blocks, axis=1)
            advance(len(blocks[0]) * len(blocks) / self.source.rate_hz)


def in_blocks(
    people: Sequence[Utterance],
    target: Path,
    system: System,
    key: Callable[[], Key],
) -> BlockwiseRecording | None:
    """Open a recording to be anonymized block by block; None where the method or the format needs the whole.

    Parameters
    ----------
    people : who speaks, each on a channel, or one person on all of them; all name the same file.
    key : gives the key, once the file is open: what cannot be read leaves no key behind.
    """
    method = system.build()
    if not isinstance(method, Streaming) or hasattr(method, "voice_of"):
        return None
    first = people[0]
    opened = open_blocks(first.audio, start_s=first.start_s, stop_s=first.end_s)
    if not can_encode_blocks(target, opened.rate_hz):
        opened.close()
        return None
    if len(people) == 1 and first.person_channel is None:
        tracks = [(first.speaker, first.utterance, channel) for channel in range(opened.channels)]
    else:
        tracks = [(who.speaker, who.utterance, (who.person_channel or 1) - 1) for who in people]
        absent = next((channel for _, _, channel in tracks if channel >= opened.channels), None)
        if absent is not None:
            opened.close()
            raise AudioError(f"{first.audio}: has no channel {absent + 1}; it has {opened.channels}")
    return BlockwiseRecording(opened, system, key(), method, tracks)


def _feeds(blocks: AudioBlocks, channels: Sequence[int]) -> list[Iterator[NDArray[np.float32]]]:
    """Give an iterator per channel over one pass through a file; whoever is ahead reads, the others find it waiting."""
    waiting: list[deque[NDArray[np.float32]]] = [deque() for _ in channels]
    source = iter(blocks)

    def feed(number: int) -> Iterator[NDArray[np.float32]]:
        while True:
            if not waiting[number]:
                block = next(source, None)
                if block is None:
                    return
                for line, channel in zip(waiting, channels, strict=True):
                    line.append(np.ascontiguousarray(block[:, channel]))
            yield waiting[number].popleft()

    return [feed(number) for number in range(len(channels))]
