"""LibriSpeech: subset/speaker/chapter/*.flac, a transcript list per chapter, genders in SPEAKERS.TXT."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.core.errors import CorpusError
from personare.corpora.gathering import Reading, gather, idle_speakers
from personare.corpora.listing import lines_of, pairs
from personare.corpora.problems import found
from personare.corpora.walking import Tree, folders_in, stem_of, walk

CHAPTER_LIST = re.compile(r"(?:^|.*/)(?P<speaker>\d+)/(?P<chapter>\d+)/(?P=speaker)-(?P=chapter)\.trans\.txt$")
LOOKED_INTO = 3


@dataclass(frozen=True)
class LibriSpeech:
    """LibriSpeech, whole or one subset of it."""

    looks_for = "speaker/chapter/speaker-chapter.trans.txt with numbers for names"

    def detects(self, path: Path) -> str | None:
        """Say why this is LibriSpeech, or None."""
        if not path.is_dir():
            return None
        roots = [path, path / "LibriSpeech"]
        roots += [r / name for r in roots for name in folders_in(r)[:50] if not name.isdigit()]
        for root in roots:
            for speaker in [n for n in folders_in(root) if n.isdigit()][:LOOKED_INTO]:
                for chapter in folders_in(root / speaker)[:LOOKED_INTO]:
                    listed = root / speaker / chapter / f"{speaker}-{chapter}.trans.txt"
                    if listed.is_file():
                        return str(listed.relative_to(path))
        return None

    def read(self, path: Path) -> Reading:
        """Read every chapter below ``path``."""
        evidence = self.detects(path)
        if evidence is None:
            raise CorpusError(f"{path}: layout 'librispeech' needs {self.looks_for}")
        tree = walk(path.resolve())
        frame, lost = _chapters(tree)
        heard = set(frame["audio"])
        stray = [a for a in tree.audio() if tree.place(a) not in heard]
        problems = [
            *tree.problems,
            *found("orphan-entry", "*.trans.txt", lost),
            *found("orphan-audio", str(path), stray),
        ]
        notes = []
        people = _people(tree.root)
        if people is None:
            notes.append("SPEAKERS.TXT is neither there nor in the folder above: genders are unknown")
        else:
            frame = frame.join(people.select("speaker", "gender"), on="speaker", how="left", maintain_order="left")
            here = people.filter(pl.col("part").is_in(frame["part"].unique().to_list()))
            problems += idle_speakers(here["speaker"], [frame["speaker"]], place="SPEAKERS.TXT")
        return gather(frame, layout="librispeech", evidence=evidence, place=str(path), problems=problems, notes=notes)


def _chapters(tree: Tree) -> tuple[pl.DataFrame, list[str]]:
    """Make one row per transcript line that has audio, and list those that have none."""
    sounds = {stem_of(a): a for a in tree.audio()}
    rows: list[tuple[str, str, str, str, str]] = []
    lost: list[str] = []
    for listed in tree.with_suffix(".trans.txt"):
        match = CHAPTER_LIST.match(listed)
        if match is None:
            continue
        folder = listed.rpartition("/")[0]
        part = Path(tree.place(folder)).parents[1].name
        for utterance, text in pairs(Path(tree.place(listed))):
            audio = sounds.get(f"{folder}/{utterance}")
            if audio is None:
                lost.append(utterance)
            else:
                rows.append((utterance, match["speaker"], tree.place(audio), text, part))
    names = ("utterance", "speaker", "audio", "text", "part")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String()), orient="row"), lost


def _people(root: Path) -> pl.DataFrame | None:
    """Read ``ID | SEX | SUBSET | MINUTES | NAME``; names are left where they are."""
    places = [root, root / "LibriSpeech", root.parent, root.parent.parent]
    path = next((p / "SPEAKERS.TXT" for p in places if (p / "SPEAKERS.TXT").is_file()), None)
    if path is None:
        return None
    split = [[w.strip() for w in line.split("|")] for line in lines_of(path) if line.strip() and line[0] != ";"]
    rows = [tuple(words[:3]) for words in split if len(words) >= 3]
    schema = {"speaker": pl.String(), "gender": pl.String(), "part": pl.String()}
    return pl.DataFrame(rows, schema=schema, orient="row").unique("speaker", keep="first", maintain_order=True)
