"""Methods that change the timing: who compares moment by moment is not asked, and what belongs together stays so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import hum
from personare.core.audio import Audio
from personare.core.protocols import in_time, keeps_timing
from personare.core.seeding import Key
from personare.listeners import listener
from personare.pipeline.check_speech import not_heard_notes
from personare.pipeline.jobs.anonymize import hide_channels
from personare.pipeline.measures.utility import listener_problems
from personare.pipeline.resolve import OTHER_TIMING, ResolvedAnonymizer
from personare.pipeline.study import CorpusChoice, ListenerChoice, Study
from personare.pipeline.system import System

MOVED, KEPT = (ResolvedAnonymizer(label, "sound", System("xvector", {"timing": label})) for label in ("moved", "keep"))
PLAIN = ResolvedAnonymizer("original", "none")


def study(*listeners: str) -> Study:
    choices = {name: ListenerChoice(name) for name in listeners}
    return Study("timing", {"voices": CorpusChoice(path=Path("nowhere"))}, {"original": {}}, listeners=choices)


def test_who_compares_moment_by_moment_is_not_asked_and_that_is_said() -> None:
    assert MOVED.not_compared(listener("stoi")) == OTHER_TIMING
    assert not MOVED.not_compared(listener("moonshine"))
    assert not KEPT.not_compared(listener("stoi"))
    assert not ResolvedAnonymizer("given", "sound").not_compared(listener("stoi")), "nobody says how it was made"
    asked = study("stoi", "moonshine")
    assert list(not_heard_notes(asked, [PLAIN, MOVED, KEPT], Path())) == [
        f"listeners: stoi: not asked about moved: {OTHER_TIMING}"
    ]
    assert not [line for line in listener_problems(asked, [PLAIN, MOVED, KEPT], Path()) if "compare" in line]
    nothing = [line for line in listener_problems(asked, [PLAIN, MOVED], Path()) if "compare" in line]
    assert nothing == [f"listeners: stoi: has nothing to compare: {OTHER_TIMING}; leave the listener out"]


@pytest.mark.models
def test_channels_and_pictures_keep_their_timing_and_one_voice_does_not() -> None:
    one, other = hum(1, duration_s=1.0), hum(2, duration_s=1.0)
    system, key = System("xvector", {"timing": "even"}), Key.from_seed(1)
    calls = hide_channels(system, key, [("anna", "a", one), ("bela", "a", other)])
    assert [len(channel.samples) for channel in calls] == [len(one.samples)] * 2
    (timed,) = hide_channels(system, key, [("anna", "a", one)], timed=True)
    assert len(timed.samples) == len(one.samples)
    (alone,) = hide_channels(system, key, [("anna", "a", one)])
    assert len(alone.samples) != len(one.samples)


def test_a_chain_keeps_its_timing_where_every_step_does() -> None:
    chain = System("chain", {"steps": [{"name": "cascade"}, {"name": "mcadams"}]}).build()
    assert not keeps_timing(chain)
    timed = in_time(chain)
    assert keeps_timing(timed) and timed.fingerprint != chain.fingerprint
    silent = Audio(np.zeros(100, np.float32), 16_000)
    assert len(timed(silent, rng=np.random.default_rng(1)).samples) == 100
