"""Anonymize one recording: a file or a pipe in, a file or a pipe out; a video keeps its picture.

Beside the new file lies ``<target>-private`` with the key and where the original lies, as for a folder. A pipe has no
place beside it: without a key file its key is forgotten when it ends.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

import numpy as np

from personare.anonymizers.stream import Streaming
from personare.core import media
from personare.core.audio import MEDIA_SUFFIXES, WRITABLE, Audio, encode_wav, probe, read_channels, resample, write
from personare.core.errors import AudioError, OutputError
from personare.core.files import PRIVATE_FILE, atomic_path, write_text
from personare.core.progress import watched
from personare.core.seeding import Key, load_or_make_key
from personare.core.spoken import SpeechNotes, combine
from personare.core.utterances import Utterance
from personare.pipeline.jobs.anonymize_blocks import BlockwiseRecording, in_blocks
from personare.pipeline.jobs.channels import LongRecording, open_long, speak_channels
from personare.pipeline.jobs.target import JOB, KEY, make_both, private_folder
from personare.pipeline.system import System

TABLES = frozenset({".parquet", ".tsv", ".csv", ".jsonl", ".json", ".gz", ".scp", ".txt"})
PIPE = Path("-")


@dataclass(frozen=True)
class AnonymizedFile:
    """What became of one recording; ``private`` is None where nothing was kept of the key.

    ``speech_s`` is the length of the result, ``source_s`` that of the recording; ``notes`` are those of a method that
    transcribes.
    """

    speech_s: float
    wall_s: float
    channels: int
    voices: int
    picture: bool
    private: Path | None
    source_s: float = 0.0
    notes: SpeechNotes | None = None


def is_recording(path: Path) -> bool:
    """Whether a path names one recording (or a pipe) and not a corpus."""
    if path == PIPE or path.suffix.lower() in {*WRITABLE, *MEDIA_SUFFIXES}:
        return path == PIPE or not path.is_dir()
    return path.is_file() and path.suffix.lower() not in TABLES


def check_file(source: Path, target: Path, *, key_file: Path | None, file_format: str | None) -> None:
    """Refuse, before anything is read, a recording that cannot be anonymized or a place that cannot be written."""
    if target == PIPE:
        if file_format not in (None, "wav"):
            raise OutputError(f"--format {file_format}: a pipe gets wav; name a file instead of -")
    else:
        _check_target(source, target, file_format)
    if key_file is not None and target != PIPE and key_file.resolve() == target.resolve():
        raise OutputError(f"{key_file}: the key and the recording must not be one file")
    if source != PIPE:
        probe(source)


def _check_target(source: Path, target: Path, file_format: str | None) -> None:
    suffix, stem = target.suffix.lower(), "recording" if source == PIPE else source.stem
    if target.is_dir():
        raise OutputError(f"{target}: is a folder, but SRC is one recording; name a file, e.g. {target / stem}.flac")
    if target.exists():
        same = source != PIPE and source.resolve() == target.resolve()
        raise OutputError(f"{target}: {'is SRC itself' if same else 'exists already'}; name a new file")
    if suffix not in {*WRITABLE, *media.VIDEO_SOUND}:
        known = ", ".join(sorted({*WRITABLE, *media.VIDEO_SOUND}))
        given = f"'{suffix}' cannot be written" if suffix else "a file needs an ending"
        raise OutputError(f"{target}: {given}; use one of {known}")
    if file_format is not None and suffix != f".{file_format}":
        raise OutputError(f"{target}: --format {file_format} and the ending disagree; leave out --format")
    if suffix in media.VIDEO_SOUND:
        media.require(str(target))
        if source == PIPE or not media.has_picture(source):
            raise OutputError(f"{target}: SRC holds no moving picture; name a file ending in flac, wav, opus or mp3")


def anonymize_file(
    source: Path,
    target: Path,
    system: System,
    *,
    key_file: Path | None = None,
    each_channel: bool = False,
    pipes: tuple[BinaryIO, BinaryIO] | None = None,
    watch: Callable[[float, float], None] = lambda _done_s, _total_s: None,
) -> AnonymizedFile:
    """Anonymize one recording; ``each_channel`` draws a voice for each channel, else they share one.

    Parameters
    ----------
    source, target : files, or ``-`` for ``pipes`` (standard input and output).
    watch : is told how many seconds of sound are done, and how many there are in all channels; first of 0.
    """
    began = time.perf_counter()
    stem = "stdin" if source == PIPE else source.stem
    picture = target.suffix.lower() in media.VIDEO_SOUND
    if source != PIPE and target != PIPE and not picture:
        done = _in_blocks(source, target, system, key_file=key_file, each_channel=each_channel, watch=watch)
        if done is not None:
            return done
    channels, begin = _read(source, pipes, with_times=picture)
    names = [f"{stem}/{c}" if each_channel else stem for c in range(1, len(channels) + 1)]
    private = None if target == PIPE else private_folder(target)
    key = _key(key_file, private)
    tracks = [(name, name, channel) for name, channel in zip(names, channels, strict=True)]
    total_s, done_s = sum(channel.duration_s for channel in channels), 0.0
    watch(0.0, total_s)

    def tell(seconds: float) -> None:
        nonlocal done_s
        done_s = min(total_s, done_s + seconds)
        watch(done_s, total_s)

    spoken = speak_channels(system, key, tracks, watch=tell, timed=picture)
    hidden, notes = [track.audio for track in spoken], combine([track.notes for track in spoken])
    if target == PIPE:
        assert pipes is not None
        pipes[1].write(encode_wav(hidden))
        pipes[1].flush()
    elif picture:
        _write_video(target, source, hidden, begin)
    else:
        write(target, hidden)
    if private is not None:
        _note(private, source, system, names)
    spoken_s, wall_s = hidden[0].duration_s, time.perf_counter() - began
    source_s = channels[0].duration_s
    return AnonymizedFile(spoken_s, wall_s, len(hidden), len(set(names)), picture, private, source_s, notes)


def _in_blocks(
    source: Path,
    target: Path,
    system: System,
    *,
    key_file: Path | None,
    each_channel: bool,
    watch: Callable[[float, float], None],
) -> AnonymizedFile | None:
    """Anonymize a file block by block, where method and format can; else None."""
    began = time.perf_counter()
    facts, private = probe(source), private_folder(target)
    numbers = range(1, facts.channels + 1) if each_channel else [None]
    people = [Utterance(name, name, source, person_channel=n) for n in numbers for name in [_name(source, n)]]
    recording: BlockwiseRecording | LongRecording | None
    if isinstance(system.build(), Streaming):
        recording = in_blocks(people, target, system, lambda: _key(key_file, private))
    else:
        recording = open_long(people, target, system, lambda: _key(key_file, private), {})
    if recording is None:
        return None
    total_s, done_s = facts.duration_s * facts.channels, 0.0

    def tell(seconds: float) -> None:
        nonlocal done_s
        done_s += seconds
        watch(done_s, total_s)

    watch(0.0, total_s)
    with watched(tell, total_s=total_s), atomic_path(target) as written, written.open("wb") as stream:
        speech_s = recording.write(stream, target)
    _note(private, source, system, [person.speaker for person in people])
    notes = combine(recording.notes) if isinstance(recording, LongRecording) else None
    made = (speech_s, time.perf_counter() - began, facts.channels, len(people), False, private)
    return AnonymizedFile(*made, facts.duration_s, notes)


def _name(source: Path, channel: int | None) -> str:
    return source.stem if channel is None else f"{source.stem}/{channel}"


def _read(source: Path, pipes: tuple[BinaryIO, BinaryIO] | None, *, with_times: bool) -> tuple[list[Audio], Fraction]:
    if source == PIPE:
        import io

        assert pipes is not None
        content = pipes[0].read()
        if not content:
            raise AudioError("standard input: holds nothing; is a recording piped into it?")
        return read_channels(io.BytesIO(content)), Fraction(0)
    if not with_times:
        return read_channels(source), Fraction(0)
    frames, rate_hz, begin = media.read(source, str(source))
    return [Audio(np.ascontiguousarray(frames[:, c]), rate_hz) for c in range(frames.shape[1])], begin


def _key(key_file: Path | None, private: Path | None) -> Key:
    if key_file is not None:
        return load_or_make_key(key_file)[0]
    if private is None:
        return Key.new()
    make_both(private.parent, private)
    return load_or_make_key(private / KEY)[0]


def _write_video(target: Path, source: Path, channels: list[Audio], begin: Fraction) -> None:
    rate_hz = media.sound_rate_hz(target.suffix.lower(), channels[0].rate_hz)
    frames = np.stack([resample(channel, rate_hz).samples for channel in channels], axis=1)
    with atomic_path(target) as part:
        media.write_video(part, source, np.clip(frames, -1.0, 1.0), rate_hz, begin=begin)


def _note(private: Path, source: Path, system: System, names: list[str]) -> None:
    """Write down, in the private folder, what was done to which recording."""
    job = {
        "method": system.method,
        "parameters": dict(system.parameters),
        "fingerprint": system.present_fingerprint,
        "level": system.level,
        "recording": "standard input" if source == PIPE else str(source.resolve()),
        "speakers": sorted(set(names)),
    }
    make_both(private.parent, private)
    write_text(private / JOB, json.dumps(job, indent=2, sort_keys=True, default=str) + "\n", mode=PRIVATE_FILE)
