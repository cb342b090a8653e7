"""VoxCeleb 1 and 2: speaker/video/number.wav below wav/, dev/, test/ or aac/; genders in vox?_meta.csv; trial lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.core.errors import CorpusError
from personare.core.tables import Trials
from personare.corpora.gathering import Reading, checked_trials, gather, idle_speakers
from personare.corpora.listing import heading_of, lines_of, table_of
from personare.corpora.problems import Problem, found, plain
from personare.corpora.walking import Tree, folders_in, walk

SPEAKER = re.compile(r"id\d{5}")
RECORDING = re.compile(r"(?:(?P<before>.*)/)?(?P<utterance>(?P<speaker>id\d{5})/[^/]+/[^/]+)\.\w+$")
PEOPLE = ("vox1_meta.csv", "vox2_meta.csv")
TRIAL_LISTS = ("veri_test.txt", "veri_test2.txt")
PARTS = ("dev", "test")


@dataclass(frozen=True)
class VoxCeleb:
    """VoxCeleb 1 or 2; ``trial_list`` chooses the list of trials where there are several."""

    trial_list: str | None = None
    looks_for = "id?????/video/number.wav (or .m4a), also below wav/, dev/, test/ or aac/"

    def detects(self, path: Path) -> str | None:
        """Say why this is VoxCeleb, or None."""
        if not path.is_dir():
            return None
        for root in _roots(path):
            speakers = [name for name in folders_in(root) if SPEAKER.fullmatch(name)]
            videos = folders_in(root / speakers[0]) if speakers else []
            if videos:
                return str((root / speakers[0] / videos[0]).relative_to(path)) + "/"
        return None

    def read(self, path: Path) -> Reading:
        """Read everything below ``path``."""
        evidence = self.detects(path)
        if evidence is None:
            raise CorpusError(f"{path}: layout 'voxceleb' needs {self.looks_for}")
        tree = walk(path.resolve())
        frame, stray = _recordings(tree)
        problems = [*tree.problems, *found("orphan-audio", str(path), stray)]
        people = _people(tree.root)
        notes = []
        if people is None:
            notes.append(f"{' and '.join(PEOPLE)} are neither there nor in the folder above: genders are unknown")
        else:
            frame = frame.join(people.select("speaker", "gender"), on="speaker", how="left", maintain_order="left")
            here = people.filter(pl.col("part").is_in(frame["part"].drop_nulls().unique().to_list()))
            problems += idle_speakers(here["speaker"], [frame["speaker"]], place="vox_meta.csv")
        trials, faults, remarks = _trials(tree.root, self.trial_list, set(frame["utterance"]))
        return gather(
            frame,
            layout="voxceleb",
            evidence=evidence,
            place=str(path),
            problems=[*problems, *faults],
            notes=[*notes, *remarks],
            trials=trials,
        )


def _roots(path: Path) -> Iterator[Path]:
    """Yield the folder and the folders up to two levels below it that are no speakers."""
    yield path
    for name in folders_in(path)[:50]:
        if not SPEAKER.fullmatch(name):
            yield path / name
            yield from (path / name / below for below in folders_in(path / name)[:50] if not SPEAKER.fullmatch(below))


def _recordings(tree: Tree) -> tuple[pl.DataFrame, list[str]]:
    """Make one row per id?????/video/number, and list the audio that is named otherwise."""
    rows: list[tuple[str, str, str, str | None]] = []
    stray: list[str] = []
    for audio in tree.audio():
        match = RECORDING.match(audio)
        if match is None:
            stray.append(audio)
            continue
        above = [*tree.root.parts[-2:], *(match["before"] or "").split("/")]
        part = next((name for name in reversed(above) if name in PARTS), None)
        rows.append((match["utterance"], match["speaker"], tree.place(audio), part))
    schema = dict.fromkeys(("utterance", "speaker", "audio", "part"), pl.String())
    return pl.DataFrame(rows, schema=schema, orient="row"), stray


def _people(root: Path) -> pl.DataFrame | None:
    """Read the lists of celebrities: id, gender and part only."""
    tables = []
    for name in PEOPLE:
        path = next((p / name for p in (root, root.parent) if (p / name).is_file()), None)
        if path is None:
            continue
        frame = table_of(path, "\t" if len(heading_of(path, "\t")) > 1 else ",")
        if not {"Gender", "Set"} <= set(frame.columns):
            raise CorpusError(f"{path}: needs the columns Gender and Set; it has {plain(', '.join(frame.columns))}")
        tables.append(frame.select(pl.col(frame.columns[0]).alias("speaker"), gender="Gender", part="Set"))
    return pl.concat(tables).unique("speaker", keep="first", maintain_order=True) if tables else None


def _trials(root: Path, wanted: str | None, heard: set[str]) -> tuple[Trials | None, list[Problem], list[str]]:
    """Read ``1|0 enroll.wav test.wav``; both sides are utterances."""
    names = (wanted,) if wanted is not None else TRIAL_LISTS
    lists = [p / name for name in names for p in (root, root.parent) if (p / name).is_file()]
    if wanted is not None and not lists:
        raise CorpusError(f"{root}: no trial list '{wanted}' there or in the folder above")
    if not lists:
        return None, [], []
    rows: list[tuple[str, str, bool]] = []
    bad: list[str] = []
    for line in lines_of(lists[0]):
        words = line.split()
        if len(words) == 3 and words[0] in ("0", "1"):
            enroll, test = (re.sub(r"\.\w+$", "", word) for word in words[1:])
            rows.append((enroll, test, words[0] == "1"))
        elif words:
            bad.append(line)
    trials, problems = checked_trials(rows, tests=heard, enrolls=heard, bad=bad, place=lists[0].name)
    others = [p.name for p in lists[1:]]
    notes = [f"trials are read from {lists[0].name}, not from {', '.join(others)}"] if others else []
    return trials, problems, notes
