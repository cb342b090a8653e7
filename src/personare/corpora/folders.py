"""A folder per speaker: the plainest layout, and the last one that is tried.

``anna/u1.wav`` is utterance ``anna/u1`` of speaker ``anna``; deeper folders are fine. A text file of the same name
beside a recording (``anna/u1.txt``) is its transcript. A ``speakers.tsv`` (speaker, gender) at the top names genders.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.core.audio import readable_suffixes
from personare.core.errors import CorpusError
from personare.corpora.gathering import Reading, gather, idle_speakers
from personare.corpora.listing import read_texts
from personare.corpora.manifest import speakers_beside
from personare.corpora.problems import Problem, found
from personare.corpora.walking import Tree, folders_in, is_folder, nested_speakers, stem_of, suffix_of, walk


@dataclass(frozen=True)
class FolderPerSpeaker:
    """A folder per speaker, audio files inside."""

    looks_for = "folders, one per speaker, with audio files inside"

    def detects(self, path: Path) -> str | None:
        """Say why this is a folder per speaker, or None."""
        if not path.is_dir():
            return None
        names = folders_in(path)
        for name in names:
            first = first_audio(path / name)
            if first is not None:
                count = f"{len(names):,} folder{'s' if len(names) > 1 else ''}"
                return f"{count} with audio inside, such as {name}/{first}"
        return None

    def read(self, path: Path) -> Reading:
        """Read the folders below ``path``."""
        evidence = self.detects(path)
        if evidence is None:
            raise CorpusError(f"{path}: layout 'folders' needs {self.looks_for}")
        tree = walk(path.resolve())
        audio = tree.audio()
        owned = [a for a in audio if "/" in a]
        texts, problems = _texts(tree, {stem_of(a) for a in audio})
        frame = pl.DataFrame(
            {
                "utterance": [stem_of(a) for a in owned],
                "speaker": [a.partition("/")[0] for a in owned],
                "audio": [tree.place(a) for a in owned],
            },
            schema=dict.fromkeys(("utterance", "speaker", "audio"), pl.String()),
        )
        if texts:
            frame = frame.with_columns(text=pl.col("utterance").replace_strict(texts, default=None))
        place = str(path)
        problems += [
            *tree.problems,
            *found("orphan-audio", place, (a for a in audio if "/" not in a)),
            *nested_speakers(place, audio),
            *idle_speakers((f for f in tree.folders if "/" not in f), [frame["speaker"]], place=place),
        ]
        listed = speakers_beside(tree.root)
        if listed is not None and "gender" in listed.columns:
            genders = listed.select("speaker", "gender").unique("speaker", keep="first", maintain_order=True)
            frame = frame.join(genders, on="speaker", how="left", maintain_order="left")
        return gather(frame, layout="folders", evidence=evidence, place=place, problems=problems)


def _texts(tree: Tree, heard: set[str]) -> tuple[dict[str, str], list[Problem]]:
    """Read the transcripts that lie beside their recordings."""
    written = [t for t in tree.with_suffix(".txt") if "/" in t]
    texts, problems = read_texts({stem_of(t): tree.place(t) for t in written if stem_of(t) in heard})
    if not texts:
        return {}, problems
    return texts, problems + found("orphan-entry", str(tree.root), (t for t in written if stem_of(t) not in heard))


def first_audio(folder: Path, *, deepest: int = 4) -> str | None:
    """Find one audio file in or below a folder, at most ``deepest`` levels down, as a relative path."""
    try:
        with os.scandir(folder) as entries:
            seen = sorted((e.name, is_folder(e)) for e in entries if not e.name.startswith("."))
    except OSError:
        return None
    readable = readable_suffixes()
    for name, inner in seen:
        if not inner and suffix_of(name) in readable:
            return name
    for name, inner in seen:
        below = first_audio(folder / name, deepest=deepest - 1) if inner and deepest else None
        if below is not None:
            return f"{name}/{below}"
    return None
