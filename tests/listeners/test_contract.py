"""What every listener promises: it gives what it declares, observes or refuses any sound, and counts failures."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conftest import hum
from listener_plugins import Likeness, Spelling
from personare.core.audio import Audio, resample, write
from personare.core.errors import ConfigError, PersonareError
from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext
from personare.core.protocols import Listener
from personare.core.seeding import Key
from personare.listeners import BUILTIN, listener, listener_class, located
from personare.listeners.affect import fit_affect, fit_affect_classes
from personare.metrics import CARDS
from personare.pipeline.observe import ObserveWork, UtterancePair
from personare.training.plan import TrainingPlan
from personare.training.recognizer.examples import examples
from personare.training.recognizer.features import SYMBOLS
from personare.training.recognizer.network import RecognizerShape
from personare.training.recognizer.run import train_recognizer

for library in ("pyworld", "pesq", "pystoi", "visqol", "faster_whisper"):
    pytest.importorskip(library, reason="needs the extras 'asr', 'pitch' and 'quality'")
pytest.importorskip("torch", reason="needs the extra 'neural'")
pytestmark = pytest.mark.models

OWN = ("affect values", "affect classes", "plug-in recognizer", "plug-in score")
NAMES = [*(name for name in BUILTIN if name != "affect"), *OWN]
SHORT_S, LONG_S = 0.1, 30.0
MOODS = ("calm", "tense")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of the user's own: a recognizer of two steps, a model of values and one of classes."""
    place = tmp_path_factory.mktemp("own")
    sounds, texts = [hum(i) for i in range(4)], ["ab", "ba", "aa", "bb"]
    prepared = examples(sounds, texts, normalize=str)
    plan = TrainingPlan(steps=2, validate_every=1, patience=0, warm_up=1)
    shape = RecognizerShape(width=8, blocks=1, kernel=3, symbols=SYMBOLS)
    list(train_recognizer(prepared, prepared, place / "asr", plan=plan, shape=shape, batch_size=2))
    fit_affect(sounds, np.arange(4.0)[:, None], outputs=["arousal"], trained_on="hums").save(place / "values.json")
    fit_affect_classes(sounds, [MOODS[i % 2] for i in range(4)], trained_on="hums").save(place / "classes.json")
    return place


@pytest.fixture(scope="module")
def made(folder: Path) -> Callable[[str], Listener]:
    """Makes a listener by its name in this file, anew each time."""
    own: dict[str, Callable[[], Listener]] = {
        "ctc": lambda: listener(f"ctc:{folder / 'asr'}"),
        "affect values": lambda: listener(f"affect:{folder / 'values.json'}"),
        "affect classes": lambda: listener(f"affect:{folder / 'classes.json'}"),
        "plug-in recognizer": Spelling,
        "plug-in score": Likeness,
    }
    return lambda name: own[name]() if name in own else listener(name)


def noisy(audio: Audio, seed: int) -> Audio:
    noise = 0.02 * np.random.default_rng(seed).standard_normal(len(audio.samples))
    return Audio((audio.samples + noise).astype(np.float32), audio.rate_hz)


def stimulus(one: Listener, audio: Audio, *, original: Audio | None = None) -> Stimulus:
    """The original lies beside a sound for those who compare, and is not there for the others."""
    return Stimulus(audio, (audio if original is None else original) if one.compares else None)


def whole(observation: Observation) -> bool:
    """Whether all numbers are finite, and whether there is anything: words, numbers, or why a number is missing."""
    numbers = [*observation.values.values(), *observation.probabilities.values()]
    said = observation.words is not None or bool(numbers) or bool(observation.missing)
    return said and all(math.isfinite(number) for number in numbers)


@pytest.mark.parametrize("name", NAMES)
def test_it_declares_what_it_gives_and_needs(name: str, made: Callable[[str], Listener]) -> None:
    one = made(name)
    assert dataclasses.is_dataclass(type(one)) and Listener in type(one).__mro__
    assert type(one).gives and set(type(one).gives) <= set(CARDS)
    assert one.metrics and set(one.metrics) <= set(type(one).gives)
    assert all(isinstance(column, str) for column in one.columns)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.other = 1  # type: ignore[attr-defined]
    one.check()


@pytest.mark.parametrize("name", NAMES)
def test_its_fingerprint_is_the_same_each_time_and_in_another_process(
    name: str, made: Callable[[str], Listener]
) -> None:
    one, again = made(name), made(name)
    sent = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own bytes
    assert one == again == sent
    assert one.fingerprint == again.fingerprint == sent.fingerprint != ""
    assert one.summary_fingerprint == again.summary_fingerprint


def test_no_two_listeners_share_a_fingerprint(made: Callable[[str], Listener]) -> None:
    assert len({made(name).fingerprint for name in NAMES}) == len(NAMES)


SOUNDS = {
    "silence": Audio(np.zeros(16_000, np.float32), 16_000),
    "a tenth of a second": hum(1, duration_s=SHORT_S),
    "one sample": Audio(np.full(1, 0.1, np.float32), 16_000),
    "noise": Audio((0.1 * np.random.default_rng(1).standard_normal(16_000)).astype(np.float32), 16_000),
}
RATES = {f"{rate_hz} Hz": rate_hz for rate_hz in (8_000, 22_050, 48_000)}


@pytest.mark.parametrize("sound", SOUNDS)
@pytest.mark.parametrize("name", NAMES)
def test_any_sound_is_observed_or_refused_in_one_line(name: str, sound: str, made: Callable[[str], Listener]) -> None:
    """Never another error, never a number that is none, and what is refused once is refused again."""
    one = made(name)
    try:
        (observation,) = one.observe([stimulus(one, SOUNDS[sound])])
    except PersonareError as error:
        assert "\n" not in str(error)
        with pytest.raises(type(error)):
            one.observe([stimulus(one, SOUNDS[sound])])
        return
    assert whole(observation)
    assert Observation.from_row(observation.as_row()) == observation


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", NAMES)
def test_any_rate_is_observed(name: str, rate: str, made: Callable[[str], Listener]) -> None:
    one, sound = made(name), hum(3, duration_s=1.5)
    (observation,) = one.observe([stimulus(one, resample(sound, RATES[rate]), original=sound)])
    assert whole(observation) and not observation.missing


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "visqol" else name for name in NAMES]
)
def test_thirty_seconds_are_observed(name: str, made: Callable[[str], Listener]) -> None:
    one, sound = made(name), hum(2, duration_s=LONG_S)
    (observation,) = one.observe([stimulus(one, sound)])
    assert whole(observation) and not observation.missing


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_its_stimuli_one_by_one(name: str, made: Callable[[str], Listener]) -> None:
    one = made(name)
    batch = [stimulus(one, noisy(hum(i, duration_s=1.2), i), original=hum(i, duration_s=1.2)) for i in (1, 2)]
    assert list(one.observe(batch)) == [one.observe([each])[0] for each in batch]
    assert list(one.observe(batch[::-1])) == list(one.observe(batch))[::-1]


def with_pause(sound: Audio, pause_s: float) -> Audio:
    middle, pause = len(sound.samples) // 2, np.zeros(round(pause_s * sound.rate_hz), np.float32)
    return Audio(np.concatenate([sound.samples[:middle], pause, sound.samples[middle:]]), sound.rate_hz)


def corpus(folder: Path) -> tuple[list[UtterancePair], SummaryContext]:
    """Three speakers of two utterances; files of two channels, of which the mean is observed."""
    import soundfile

    pairs, speakers, texts, moods = [], {}, {}, {}
    for s in range(3):
        for u in range(2):
            name = f"s{s}-{u}"
            sound = hum(10 * s + u, duration_s=1.2 + 0.05 * u, f0_hz=110.0 + 20 * s)
            sound = with_pause(sound, 0.3 + 0.05 * (2 * s + u))
            swing = Audio(sound.samples * np.linspace(0.5, 1.0, len(sound.samples), dtype=np.float32), 16_000)
            soundfile.write(folder / f"{name}.wav", np.stack([sound.samples, swing.samples], axis=1), 16_000)
            write(folder / f"{name}-a.wav", noisy(sound, s))
            pairs.append(UtterancePair(name, folder / f"{name}.wav", folder / f"{name}-a.wav"))
            speakers[name], texts[name], moods[name] = f"s{s}", "one two three", MOODS[(s + u) % 2]
    noted = {"text": texts, "emotion": moods}
    return pairs, SummaryContext("it", speakers, len(pairs), Key.from_seed(1), noted)


@pytest.mark.parametrize("name", NAMES)
def test_its_summary_gives_what_it_declares_and_a_failure_is_counted_not_averaged(
    name: str, made: Callable[[str], Listener], tmp_path: Path
) -> None:
    one = made(name)
    pairs, context = corpus(tmp_path)
    rows = ObserveWork(one, remember=False)(pairs)
    assert all(isinstance(row, ObservedUtterance) and row.failure is None for row in rows), rows
    kept = [row for row in rows if isinstance(row, ObservedUtterance)]
    assert [ObservedUtterance.from_json(row.to_json()) for row in kept] == kept

    findings = one.summarize(kept, context).findings
    assert {finding.metric.name for finding in findings} == set(one.metrics)
    assert all(f.failed == 0 and f.estimate.n == 3 and math.isfinite(f.estimate.value) for f in findings)
    again = one.summarize(kept, context).findings  # the same redraws
    assert [finding.as_row() for finding in again] == [finding.as_row() for finding in findings]

    failed = [*kept[:-1], ObservedUtterance(pairs[-1].utterance, failure="the sound is silent")]
    without = one.summarize(kept[:-1], dataclasses.replace(context, total=len(kept) - 1)).findings
    for counted, left_out in zip(one.summarize(failed, context).findings, without, strict=True):
        assert (counted.failed, left_out.failed) == (1, 0)
        assert dataclasses.replace(counted, failed=0).as_row() == left_out.as_row()


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("plug-in")])
def test_where_everything_fails_each_metric_says_so(name: str, made: Callable[[str], Listener]) -> None:
    one = made(name)
    rows = [ObservedUtterance(f"u{i}", failure="silent") for i in range(3)]
    context = SummaryContext("it", {row.utterance: "s" for row in rows}, 3, Key.from_seed(1))
    findings = one.summarize(rows, context).findings
    assert {finding.metric.name for finding in findings} == set(one.metrics)
    assert all(f.failed == 3 and f.estimate.n == 0 and math.isnan(f.estimate.value) for f in findings)


def test_what_is_no_listener_is_refused_and_paths_are_taken_from_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'listener_plugins:Stranger': Stranger must extend personare\.core"):
        listener("listener_plugins:Stranger")
    assert listener("listener_plugins:Likeness", scale=2.0) == Likeness(2.0)
    assert listener_class("listener_plugins:Likeness") is Likeness
    assert located("affect:a.json", {"labels": "mood"}, tmp_path) == (
        "affect",
        {"model": str(tmp_path / "a.json"), "labels": "mood"},
    )
