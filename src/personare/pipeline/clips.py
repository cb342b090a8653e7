"""Sounds of a run: a few trial utterances, original and anonymized by each method, as 16-bit WAV files.

Original speech and its text stay in the run folder, which is private; a report shows them only where its maker asks.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.audio import Audio, read_mono, write
from personare.core.errors import AudioError
from personare.pipeline.graph import Graph
from personare.pipeline.roles import TRIAL
from personare.pipeline.speech import StudyCorpus
from personare.pipeline.stages.anonymize import AnonymizedSpeech
from personare.pipeline.store import Store
from personare.pipeline.study import ORIGINAL

CLIPS = "clips"


def write_clips(graph: Graph, store: Store, folder: Path) -> list[dict[str, Any]]:
    """Write the clips; gives their entries for artefacts.json. What cannot be read is a failure named elsewhere."""
    shutil.rmtree(folder / CLIPS, ignore_errors=True)
    entries: list[dict[str, Any]] = []
    for speech in graph.attacked:
        jobs = {
            way.label: graph.anonymized(speech, TRIAL, way, "owner") for way in graph.anonymizers if way.kind == "sound"
        }
        for row in _chosen(speech, graph.study.clips).iter_rows(named=True):
            for label, audio in _sounds(row, jobs, store):
                name = f"{CLIPS}/{len(entries):03d}.wav"
                write(folder / name, audio)
                conditions = {"corpus": speech.label, "anonymizer": label, "utterance": row["utterance"]}
                conditions |= {"speaker": row["speaker"], "text": row.get("text") or ""}
                entries.append({"kind": "clip", "file": name, "conditions": conditions})
    return entries


def _chosen(speech: StudyCorpus, count: int) -> pl.DataFrame:
    """Take one utterance of each of the first speakers, genders in turn where they are known."""
    first = speech.of(TRIAL).sort("speaker", "utterance").unique("speaker", keep="first", maintain_order=True)
    if "gender" in first.columns:
        turn = pl.int_range(pl.len()).over("gender")
        first = first.with_columns(turn.alias("_turn")).sort("_turn", "speaker").drop("_turn")
    return first.head(count)


def _sounds(row: dict[str, Any], jobs: dict[str, AnonymizedSpeech], store: Store) -> Iterator[tuple[str, Audio]]:
    try:
        part: dict[str, Any] = {"start_s": row.get("start_s") or 0.0, "stop_s": row.get("end_s")}
        yield ORIGINAL, read_mono(Path(row["audio"]), **part, channel=row.get("person_channel"))
    except AudioError:
        return
    for label, job in jobs.items():
        path = job.files(store).get(row["utterance"])
        if path is None:
            continue
        try:
            yield label, read_mono(path, channel=job.channel_of(row["utterance"]))
        except AudioError:
            continue
