"""Voices that can be mistaken for one another, in parts; the commands that measure them, and the numbers they give."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from typer.testing import CliRunner, Result

from conftest import hum
from personare.cli import app
from personare.core.audio import Audio, write
from personare.core.command import carried_out
from personare.core.findings import Finding
from personare.core.tables import Corpus

CONDITIONS = ("metric", "anonymizer", "knowledge", "scorer", "L", "N", "gender")
Question = tuple[Any, ...]
Answer = tuple[float, float | None, float | None, float | None, int]


def blend(speaker: int, utterance: int) -> Audio:
    """A speaker's own hum, half drowned by another one in every utterance: nobody is recognised for sure."""
    rng = np.random.default_rng([speaker, utterance])
    duration_s = 0.4 + 0.03 * utterance
    own = hum(speaker, duration_s=duration_s, f0_hz=100 + 6 * speaker + 4 * float(np.sin(7 * utterance + speaker)))
    other = hum(1000 + 31 * speaker + utterance, duration_s=duration_s, f0_hz=float(rng.uniform(125, 155)))
    sound = (own.samples + other.samples) / 2 * rng.uniform(0.3, 1) + 0.004 * rng.standard_normal(len(own.samples))
    return Audio(sound.astype(np.float32), own.rate_hz)


def write_blends(
    folder: Path,
    *,
    attacked: int = 8,
    enrolment: int = 3,
    trial: int = 6,
    train: int = 3,
    parts: bool = True,
    names: Sequence[str] = (),
) -> Path:
    """Write the voices: so many enrolment and trial utterances of the attacked, ``train`` others with three each.

    Without ``parts`` the manifest does not say which utterance is for what; ``names`` are s00, s01, ... without.
    """
    rows = []
    for s in range(attacked + train):
        name = names[s] if names else f"s{s:02d}"
        for u in range(enrolment + trial if s < attacked else 3):
            path = folder / name / f"{name}-{u}.wav"
            write(path, blend(s, u))
            part = "train" if s >= attacked else "enrolment" if u < enrolment else "trial"
            rows.append((f"{name}-{u}", name, str(path), "fm"[s % 2], f"sentence {u}", part))
    frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "gender", "text", "part"], orient="row")
    Corpus(frame if parts else frame.drop("part")).save(folder / "manifest.parquet")
    return folder


def command(*words: object, code: int = 0) -> Result:
    """Type a command; anything but the expected exit code is shown."""
    typed = [str(word) for word in words]
    with carried_out(typed):  # as the program's own main does
        done = CliRunner().invoke(app, typed)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done


def answers(findings: Iterable[Finding]) -> dict[Question, Answer]:
    """Lay out findings by what was asked, without the labels of a study; the same question has the same answer."""
    given: dict[Question, Answer] = {}
    for finding in findings:
        facts = {"metric": finding.metric.name, **finding.conditions}
        facts["anonymizer"] = "none" if facts.get("anonymizer") == "original" else "some"
        e, question = finding.estimate, tuple(facts.get(name) for name in CONDITIONS)
        low, high = (None if math.isnan(end) else end for end in (e.low, e.high))  # NaN is not equal to itself
        answer = (e.value, low, high, finding.chance_level, e.n)
        assert given.setdefault(question, answer) == answer, question
    return given


def answers_in(folder: Path) -> dict[Question, Answer]:
    """The same, of a run folder, as it is on disk."""
    from personare.reports.run import read_run

    return answers(read_run(folder).findings)


def noted(model: Path, target: Path, **notes: str) -> Path:
    """Copy a model file with other notes in it: an entry that is appended to the bytes of a protobuf replaces."""

    def field(tag: int, content: bytes) -> bytes:
        length = len(content)
        size = bytes([length]) if length < 128 else bytes([length & 127 | 128, length >> 7])
        return bytes([tag << 3 | 2]) + size + content

    entries = [field(14, field(1, name.encode()) + field(2, value.encode())) for name, value in notes.items()]
    target.write_bytes(model.read_bytes() + b"".join(entries))
    return target
