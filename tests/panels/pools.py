"""Speech for panels made by code, and evaluators of known habits who answer them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conftest import hum
from personare.core.audio import Audio, write
from personare.core.seeding import Key
from personare.panels import Test
from personare.panels.design import PanelSession
from personare.panels.folder import (
    STIMULI,
    ObjectiveValue,
    PanelFolder,
    PanelSettings,
    PlannedTrial,
    design_frame,
    write_panel,
)
from personare.panels.recordings import ORIGINAL, Recording, SpeechPool
from personare.panels.stimuli import write_headphone_check, write_stimuli
from personare.panels.store import AnswerStore
from personare.pipeline.jobs.panel import SESSIONS

SYSTEMS = ("b1", "b2")
OBJECTIVE = (
    ObjectiveValue(ORIGINAL, "ignorant", 0.05, 0.02, 0.1),
    ObjectiveValue("b1", "ignorant", 0.4, 0.35, 0.45),
    ObjectiveValue("b2", "ignorant", 0.3, None, None),
    ObjectiveValue(ORIGINAL, "ignorant", 0.2, 0.1, 0.3, "min_cllr"),
    ObjectiveValue("b1", "ignorant", 0.9, 0.8, 1.0, "min_cllr"),
    ObjectiveValue(ORIGINAL, "pocketsphinx", 0.1, 0.05, 0.15, "wer"),
    ObjectiveValue("b1", "pocketsphinx", 0.4, 0.3, 0.5, "wer"),
    ObjectiveValue("b2", "pocketsphinx", 0.2, None, None, "wer"),
)
Habit = Callable[[PlannedTrial, np.random.Generator], dict[str, Any]]


def pool(*, speakers: int = 24, utterances: int = 8, folder: Path | None = None) -> SpeechPool:
    """People of two genders, each with utterances, half of them also as anonymized by two systems; all are ranked."""
    recordings = []
    for s in range(speakers):
        for u in range(utterances):
            for system in (ORIGINAL, *SYSTEMS):
                if system != ORIGINAL and u < utterances // 2:
                    continue  # enrolment
                path = Path(f"{system}-{s}-{u}.wav") if folder is None else folder / f"{system}-{s}-{u}.wav"
                about = (f"anna{s:02d}", f"anna{s:02d}-u{u}", system, "fm"[s % 2], path)
                mood = ("anger", "sadness")[u // 2 % 2]
                recordings.append(Recording(*about, text=f"sentence {u % 2}", emotion=mood))
    names = sorted({r.speaker for r in recordings})
    genders = {r.speaker: r.gender for r in recordings}
    rng = np.random.default_rng(1)
    ranked = {}
    for r in recordings:
        if r.system != ORIGINAL:
            same = [n for n in names if genders[n] == r.gender]
            ranked[r.system, r.utterance] = tuple(same[i] for i in rng.permutation(len(same)))
    return SpeechPool(tuple(recordings), ranked)


def dealt(
    test: Test, *, sessions: int = 6, seed: int = 1, trials: int | None = None, speakers: int = 24
) -> list[PanelSession]:
    """The sessions of one test."""
    more = {} if trials is None else {"trials": trials}
    return SESSIONS[test](pool(speakers=speakers), sessions=sessions, key=Key.from_seed(seed), **more)


def write_test_panel(
    folder: Path, test: Test, *, sessions: int = 3, seconds: float = 0.4, trials: int | None = None
) -> PanelFolder:
    """Write a whole panel with sounds."""
    key = Key.from_seed(5)
    speech = pool(folder=folder / "speech")
    more = {} if trials is None else {"trials": trials}
    made = SESSIONS[test](speech, sessions=sessions, key=key, **more)
    stimuli = [s for session in made for trial in session.trials for s in trial.stimuli]
    for number, one in enumerate({s.recording for s in stimuli}):
        sound = hum(int(one.speaker[4:]), duration_s=seconds, f0_hz=100.0 + 5 * int(one.speaker[4:]))
        loud = 0.3 + 0.7 * (number % 3) / 3
        write(one.path, Audio((loud * sound.samples).astype(np.float32), sound.rate_hz))
    place = folder / "panel"
    lengths = write_stimuli(stimuli, place / STIMULI, key=key)
    settings = PanelSettings(
        test=test,
        title="Who is speaking?",
        seed=1,
        systems=SYSTEMS,
        contact="panel@example.org",
        headphones=write_headphone_check(place / STIMULI, key=key, tone_s=0.12),
        objective=OBJECTIVE,
        language="English",
    )
    return write_panel(place, settings, design_frame(made, lengths, key=key))


def silent_panel(folder: Path, test: Test, *, sessions: int) -> PanelFolder:
    """A panel without sounds, for statistics."""
    key = Key.from_seed(5)
    made = SESSIONS[test](pool(), sessions=sessions, key=key)
    tokens = {s.token(key): 1.0 for session in made for trial in session.trials for s in trial.stimuli}
    settings = PanelSettings(test=test, title="Who is speaking?", seed=1, systems=SYSTEMS, objective=OBJECTIVE)
    return write_panel(folder, settings, design_frame(made, tokens, key=key))


@dataclass(frozen=True)
class Listened:
    """What a page says about listening to everything."""

    trial: PlannedTrial

    @property
    def report(self) -> dict[str, Any]:
        """Everything was played once."""
        tokens = [s.token for s in self.trial.stimuli]
        played = {s.token: int(1000 * s.seconds) for s in self.trial.stimuli}
        return {"played_ms": played, "plays": dict.fromkeys(tokens, 1), "page_ms": 5000}


def simulate(
    panel: PanelFolder, habits: list[Habit], *, seed: int = 1, native: Callable[[int], bool | None] = lambda _: None
) -> None:
    """Let evaluators of these habits answer a whole session each; ``native`` says whose first language it is."""
    store = AnswerStore(panel.answers)
    store._db.execute("PRAGMA synchronous = OFF")  # thousands of answers: nothing is lost but time
    for number, (token, habit) in enumerate(zip(store.invite(len(habits), days=1), habits, strict=True)):
        login = store.enter(token)
        assert login is not None
        who = login.evaluator.evaluator
        store.consent(who, list(panel.sessions), native=native(number))
        store.tried_headphones(who, passed=True, last=False)
        again = store.login(login.cookie)
        assert again is not None and again.evaluator.session is not None
        rng = np.random.default_rng([seed, number])
        for trial in panel.sessions[again.evaluator.session]:
            assert store.answer(again.evaluator, trial.number, habit(trial, rng), Listened(trial).report)
    store.close()
