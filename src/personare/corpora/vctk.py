"""VCTK: wav48_silence_trimmed (or wav48), txt and speaker-info.txt; one of the two microphones is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from personare.core.errors import CorpusError
from personare.corpora.gathering import Reading, gather, idle_speakers
from personare.corpora.listing import lines_of, read_texts
from personare.corpora.problems import Problem, found
from personare.corpora.walking import Tree, stem_of, walk

SOUND_FOLDERS = ("wav48_silence_trimmed", "wav48")
PEOPLE = "speaker-info.txt"
RECORDING = re.compile(r"(?P<speaker>[^/]+)/(?P<utterance>(?P=speaker)_\d+[a-z]?)(?:_(?P<mic>mic\d))?\.\w+$")


@dataclass(frozen=True)
class Vctk:
    """VCTK 0.80 to 0.92; ``mic`` chooses the microphone where there are two."""

    mic: Literal["mic1", "mic2"] = "mic1"
    looks_for = "speaker-info.txt beside wav48_silence_trimmed or wav48"

    def detects(self, path: Path) -> str | None:
        """Say why this is VCTK, or None."""
        folder = _sound_folder(path)
        return f"{PEOPLE} beside {folder}" if folder and (path / PEOPLE).is_file() else None

    def read(self, path: Path) -> Reading:
        """Read the corpus at ``path``."""
        folder, evidence = _sound_folder(path), self.detects(path)
        if folder is None or evidence is None:
            raise CorpusError(f"{path}: layout 'vctk' needs {self.looks_for}")
        tree = walk(path.resolve() / folder)
        frame, stray, unheard = _recordings(tree, self.mic)
        written = walk(path.resolve() / "txt") if (path / "txt").is_dir() else None
        problems = [*tree.problems, *found("orphan-audio", folder, stray)]
        notes = []
        if unheard:
            notes.append(f"{unheard:,} recordings by the other microphone are not read (read: {self.mic})")
        if written is not None:
            frame, faults = _with_texts(frame, written)
            problems += faults
        people = _people(path / PEOPLE)
        problems += idle_speakers(people["speaker"], [frame["speaker"]], place=PEOPLE)
        frame = frame.join(people, on="speaker", how="left", maintain_order="left")
        return gather(frame, layout="vctk", evidence=evidence, place=str(path), problems=problems, notes=notes)


def _sound_folder(path: Path) -> str | None:
    return next((name for name in SOUND_FOLDERS if (path / name).is_dir()), None)


def _recordings(tree: Tree, mic: str) -> tuple[pl.DataFrame, list[str], int]:
    """Make one row per utterance of the microphone; list what is none, count those of the other microphone."""
    rows: list[tuple[str, str, str]] = []
    stray: list[str] = []
    unheard = 0
    for audio in tree.audio():
        match = RECORDING.match(audio)
        if match is None:
            stray.append(audio)
        elif match["mic"] in (None, mic):
            rows.append((match["utterance"], match["speaker"], tree.place(audio)))
        else:
            unheard += 1
    schema = dict.fromkeys(("utterance", "speaker", "audio"), pl.String())
    return pl.DataFrame(rows, schema=schema, orient="row"), stray, unheard


def _with_texts(frame: pl.DataFrame, tree: Tree) -> tuple[pl.DataFrame, list[Problem]]:
    """Read txt/speaker/utterance.txt for every row; report the transcripts nobody spoke."""
    heard = set(frame["utterance"])
    written = {stem_of(t).rpartition("/")[2]: t for t in tree.with_suffix(".txt")}
    texts, problems = read_texts({u: tree.place(written[u]) for u in frame["utterance"] if u in written})
    problems += found("orphan-entry", "txt", (t for u, t in written.items() if u not in heard))
    column = pl.Series("text", [texts.get(u) for u in frame["utterance"]], dtype=pl.String)
    return frame.with_columns(column), problems


def _people(path: Path) -> pl.DataFrame:
    """Read ``ID AGE GENDER ACCENTS ...``; ids without their p (as in 0.80) get it back."""
    rows = []
    for line in lines_of(path):
        words = line.split()
        if len(words) >= 3 and words[0] != "ID":
            rows.append((f"p{words[0]}" if words[0].isdigit() else words[0], words[2]))
    schema = {"speaker": pl.String(), "gender": pl.String()}
    return pl.DataFrame(rows, schema=schema, orient="row").unique("speaker", keep="first", maintain_order=True)
