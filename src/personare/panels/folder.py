"""The panel folder: settings, the design, the sounds and the answers of one panel.

panel.json       what is asked, the words people read (may be changed by hand), what the attackers of the run reached
design.parquet   who hears what, and what it is: whoever has it can read the answers; it never leaves the server
stimuli/         the sounds under opaque names
answers.sqlite   invitations (digests only) and answers
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.config import coerce
from personare.core.errors import ConfigError, TableError
from personare.core.files import write_text
from personare.core.seeding import Key
from personare.core.tables import read_frame, write_frame
from personare.panels import TESTS, Test
from personare.panels.design import PanelSession

SETTINGS, DESIGN, STIMULI, ANSWERS = "panel.json", "design.parquet", "stimuli", "answers.sqlite"
FORMAT = "personare panel 1"
CONSENT = (
    "Taking part is voluntary; you may stop at any time by closing the page. What is kept: your answers, how long you "
    "listened and when you answered, under a random token, and what you say about yourself on this page, if you are "
    "asked. Your name, address and browser are not kept."
)


@dataclass(frozen=True)
class ObjectiveValue:
    """What a machine (an attacker, or a recognizer) reached with one system in the run: a metric with its interval."""

    system: str
    attacker: str
    value: float
    low: float | None
    high: float | None
    metric: str = "eer"


@dataclass(frozen=True)
class PanelSettings:
    """What panel.json says.

    Parameters
    ----------
    title, consent, contact : words that people read; systems : what is compared, besides original speech.
    headphones : the place of the quiet tone in each sound of the headphone check.
    objective : EER and Cllr of every attacker of the run, and word error rates, to set beside what people say.
    language : of the recordings; where it is named, people are asked whether it is their first one.
    """

    test: Test
    title: str
    seed: int
    systems: tuple[str, ...]
    consent: str = CONSENT
    contact: str = ""
    format: str = FORMAT
    version: str = ""
    headphones: Mapping[str, int] = field(default_factory=dict)
    objective: tuple[ObjectiveValue, ...] = ()
    language: str = ""


@dataclass(frozen=True)
class PlannedStimulus:
    """One sound of a trial: its part (A, B, X, ...), token, length, and whose it is."""

    token: str
    part: str
    seconds: float
    speaker: str


@dataclass(frozen=True)
class PlannedTrial:
    """One trial of a session, as the design has it."""

    session: int
    number: int
    system: str
    target: bool | None
    answer: str
    check: str
    stimuli: tuple[PlannedStimulus, ...]
    gender: str = ""  # of the speakers, where all have the same


@dataclass(frozen=True, eq=False)
class PanelFolder:
    """A panel on disk."""

    path: Path
    settings: PanelSettings
    design: pl.DataFrame = field(repr=False)

    @cached_property
    def sessions(self) -> dict[int, list[PlannedTrial]]:
        """The trials of every session, in the order they are heard."""
        found: dict[int, dict[int, list[dict[str, Any]]]] = {}
        for row in self.design.sort("session", "trial", "place").iter_rows(named=True):
            found.setdefault(row["session"], {}).setdefault(row["trial"], []).append(row)
        return {s: [_planned(rows) for rows in trials.values()] for s, trials in found.items()}

    @property
    def answers(self) -> Path:
        """Where the answers are."""
        return self.path / ANSWERS

    def sound(self, token: str) -> Path:
        """Give the file of a stimulus; the token must come from the design, never from a request."""
        return self.path / STIMULI / f"{token}.flac"


def _planned(rows: Sequence[Mapping[str, Any]]) -> PlannedTrial:
    first = rows[0]
    stimuli = tuple(PlannedStimulus(r["stimulus"], r["part"], r["seconds"], r["speaker"]) for r in rows)
    facts = (first["session"], first["trial"], first["system"], first["target"], first["answer"], first["check"])
    genders = {r["gender"] for r in rows}
    return PlannedTrial(*facts, stimuli, genders.pop() if len(genders) == 1 else "")


def design_frame(sessions: Sequence[PanelSession], seconds: Mapping[str, float], *, key: Key) -> pl.DataFrame:
    """Lay a design out as a table, one row per sound of every trial."""
    rows = [
        {
            "session": s,
            "trial": t,
            "place": p,
            "part": stimulus.part,
            "stimulus": stimulus.token(key),
            "seconds": seconds[stimulus.token(key)],
            "speaker": stimulus.recording.speaker,
            "utterance": stimulus.recording.utterance,
            "gender": stimulus.recording.gender,
            "heard": stimulus.recording.system,
            "system": trial.system,
            "target": trial.target,
            "answer": trial.answer,
            "check": trial.check,
        }
        for s, session in enumerate(sessions, start=1)
        for t, trial in enumerate(session.trials, start=1)
        for p, stimulus in enumerate(trial.stimuli, start=1)
    ]
    return pl.DataFrame(rows, schema_overrides={"target": pl.Boolean}, infer_schema_length=None)


def write_panel(path: Path, settings: PanelSettings, design: pl.DataFrame) -> PanelFolder:
    """Write settings and design; the sounds are there already."""
    write_frame(design, path / DESIGN)
    write_text(path / SETTINGS, json.dumps(asdict(settings), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return PanelFolder(path, settings, design)


def read_panel(path: Path) -> PanelFolder:
    """Read a panel folder; what is none is one clear line."""
    file = path / SETTINGS
    if not file.is_file() or not (path / DESIGN).is_file():
        raise TableError(
            f"{path}: is no panel folder (it has no {SETTINGS}); make one with: personare panel make RUN DIR"
        )
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{file}: is not JSON any more ({error})") from None
    settings: PanelSettings = coerce(document, PanelSettings, where=str(file))
    if settings.format != FORMAT or settings.test not in TESTS:
        raise ConfigError(f"{file}: '{settings.format}' with test '{settings.test}' is not a panel of this version")
    return PanelFolder(path, settings, read_frame(path / DESIGN))
