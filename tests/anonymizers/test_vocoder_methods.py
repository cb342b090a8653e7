"""WORLD warp, formants, chain, targets: what they move goes where they say, and the rest stays."""

from __future__ import annotations

import builtins
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from anonymizers.contract import hide, voice
from personare.anonymizers import anonymizer
from personare.anonymizers.signal import vocoder
from personare.anonymizers.signal.chain import Chain, Step
from personare.anonymizers.signal.formant_tracking import median_formants_hz
from personare.anonymizers.signal.formants import Formants, _exchanged
from personare.anonymizers.signal.mcadams import McAdams
from personare.anonymizers.signal.speaking_rate import source_frames
from personare.anonymizers.signal.targets import (
    TargetVoice,
    average_target,
    builtin_targets,
    load_targets,
    measure_target,
    save_targets,
)
from personare.anonymizers.signal.vocoder import resynthesize, track_f0, voiced_median_hz
from personare.anonymizers.signal.world import WorldWarp
from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError, MissingExtraError, TableError
from personare.core.seeding import Key, rng_for

TRACT_HZ = (520.0, 1500.0, 2500.0, 3500.0, 4500.0)


def vowel(f0_hz: float = 120.0, *, tract_hz: tuple[float, ...] = TRACT_HZ, rate_hz: int = 16_000) -> Audio:
    """Two seconds of one vowel: pulses through a chain of resonators, whose formants are known."""
    count = 2 * rate_hz
    glide = f0_hz * (1 + 0.05 * np.sin(2 * np.pi * np.arange(count) / rate_hz))
    pulses = np.diff(np.floor(np.cumsum(glide) / rate_hz), prepend=0.0)
    sound = pulses + 1e-3 * np.random.default_rng(1).normal(size=count)
    for f in tract_hz:
        pole = np.exp((-np.pi * 80 + 2j * np.pi * f) / rate_hz)
        sound = lfilter([1.0], np.poly([pole, pole.conjugate()]).real, sound)
    return Audio((0.3 * sound / np.abs(sound).max()).astype(np.float32), rate_hz)


def test_formants_of_a_known_tract_are_found() -> None:
    for rate_hz in (11_025, 16_000, 44_100):
        found = median_formants_hz(vowel(rate_hz=rate_hz))
        assert found is not None
        assert np.abs(found[1:] / TRACT_HZ[1:] - 1).max() < 0.05
        assert abs(found[0] / TRACT_HZ[0] - 1) < 0.2  # F1 is drawn to the nearest harmonic


def test_too_little_speech_has_no_formants() -> None:
    assert median_formants_hz(Audio(np.zeros(16_000, dtype=np.float32), 16_000)) is None
    assert median_formants_hz(Audio(np.ones(10, dtype=np.float32), 16_000)) is None


@pytest.mark.parametrize("target_hz", [90.0, 220.0])
def test_world_moves_pitch_and_resonances_where_it_says(target_hz: float) -> None:
    method = WorldWarp(warp=1.15, either_way=False, f0_hz=target_hz, f0_spread=1.0, aperiodicity=1.0, drift=0.0)
    audio = vowel()
    result = method(audio, rng=np.random.default_rng(1))
    found = voiced_median_hz(track_f0(result))
    assert found is not None
    assert abs(found / target_hz - 1) < 0.03
    before, after = median_formants_hz(audio), median_formants_hz(result)
    assert before is not None
    assert after is not None
    assert np.abs(after[1:4] / before[1:4] - 1.15).max() < 0.08


def test_world_warps_up_in_half_of_the_draws_and_down_in_the_others() -> None:
    audio = vowel()
    before = median_formants_hz(audio)
    assert before is not None
    directions = set()
    for seed in range(4):
        method = WorldWarp(warp=1.15, f0_hz=120.0, f0_spread=1.0, aperiodicity=1.0, drift=0.0)
        after = median_formants_hz(method(audio, rng=np.random.default_rng(seed)))
        assert after is not None
        down = np.random.default_rng(seed).random() < 0.5  # the first draw decides, as a fixed warp draws nothing
        assert np.abs(after[1:4] / before[1:4] * (1.15 if down else 1 / 1.15) - 1).max() < 0.06
        directions.add(bool(down))
    assert directions == {True, False}


def test_world_without_any_change_keeps_pitch_and_resonances() -> None:
    audio = vowel()
    centre = voiced_median_hz(track_f0(audio))
    assert centre is not None
    method = WorldWarp(warp=1.0, f0_hz=centre, f0_spread=1.0, aperiodicity=1.0, drift=0.0)
    result = method(audio, rng=np.random.default_rng(1))
    before, after = median_formants_hz(audio), median_formants_hz(result)
    assert before is not None
    assert after is not None
    assert np.abs(after / before - 1).max() < 0.05


@pytest.mark.parametrize("speed", [0.85, 1.15])
def test_resampling_moves_all_resonances_and_nothing_else(speed: float) -> None:
    audio = vowel()
    result = resynthesize(audio, lambda speech: speech, speed=speed)
    before, after = median_formants_hz(audio), median_formants_hz(result)
    assert before is not None
    assert after is not None
    assert np.abs(after[1:4] / before[1:4] / speed - 1).max() < 0.04
    assert len(result.samples) == len(audio.samples)
    found, wanted = voiced_median_hz(track_f0(result)), voiced_median_hz(track_f0(audio))
    assert found is not None
    assert wanted is not None
    assert abs(found / wanted - 1) < 0.02


def test_i1_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[int] = []

    def counted(audio: Audio, rate_hz: int) -> Audio:
        played.append(audio.rate_hz)
        return resample(audio, rate_hz)

    monkeypatch.setattr(vocoder, "resample", counted)
    hide(Formants(), vowel())
    assert any(abs(rate_hz / 16_000 - 1) > 0.01 for rate_hz in played)


def test_i1_moves_pitch_and_formants_to_the_target(tmp_path: Path) -> None:
    target = TargetVoice("f", 200.0, (600.0, 1750.0, 2850.0, 4100.0, 5300.0))
    save_targets([target], tmp_path / "targets.tsv")
    method = Formants(targets=tmp_path / "targets.tsv", exchange=False, noise_db=None, speaking_rate=1.0, drift=0.0)
    result = method(vowel(), rng=np.random.default_rng(1))
    measured = measure_target([result])
    assert measured is not None
    assert abs(measured.f0_hz / 200.0 - 1) < 0.03
    assert np.abs(np.array(measured.formants_hz[1:4]) / target.formants_hz[1:4] - 1).max() < 0.08


def test_i1_noise_fills_the_bands_above_the_fifth_formant() -> None:
    def noise_share(samples: NDArray[np.float32]) -> float:
        spectrum = np.abs(np.fft.rfft(samples[8000:24_000].astype(np.float64))) ** 2
        band = spectrum[6500:7500]
        return float(np.median(band) / band.mean())  # 0 for lines, ln 2 for noise

    audio = vowel(tract_hz=(*TRACT_HZ, 5500.0, 6500.0, 7500.0))
    plain = Formants(exchange=False, noise_db=None, speaking_rate=1.0)
    noisy = Formants(exchange=False, noise_db=10.0, speaking_rate=1.0)
    assert noise_share(hide(noisy, audio)) > 2 * noise_share(hide(plain, audio))


def test_exchange_swaps_the_fourth_and_fifth_bands_and_leaves_the_rest() -> None:
    frequencies = np.linspace(0, 8000, 513)
    shown = _exchanged(frequencies, np.array(TRACT_HZ))
    assert abs(np.interp(3500, frequencies, shown) - 4500) < 1
    assert abs(np.interp(4500, frequencies, shown) - 3500) < 1
    assert np.array_equal(shown[frequencies < 2900], frequencies[frequencies < 2900])
    assert np.allclose(shown[frequencies > 5100], frequencies[frequencies > 5100])


def test_i1_exchanges_the_bands_of_f4_and_f5_in_the_sound(tmp_path: Path) -> None:
    audio = vowel()
    own = median_formants_hz(audio)
    assert own is not None
    save_targets([TargetVoice("f", 120.0, tuple(own))], tmp_path / "own.tsv")  # a target like the source: nothing moves

    def f4_over_f5_db(samples: NDArray[np.float32]) -> float:
        power = np.abs(np.fft.rfft(samples[8000:24_000].astype(np.float64))) ** 2  # one bin is one Hz
        f4, f5 = (power[round(f) - 300 : round(f) + 300].sum() for f in own[3:5])
        return float(10 * np.log10(f4 / f5))

    settings = {"targets": tmp_path / "own.tsv", "noise_db": None, "speaking_rate": 1.0}
    kept, exchanged = (
        f4_over_f5_db(hide(anonymizer("formants", exchange=exchange, **settings), audio)) for exchange in (False, True)
    )
    assert kept > 10
    assert exchanged < -10


def test_words_get_faster_and_pauses_longer() -> None:
    words = np.array([True] * 100 + [False] * 50 + [True] * 100)
    shown = source_frames(words, 1.25)
    assert len(shown) == len(words)
    assert abs(words[shown].sum() - 200 / 1.25) <= 3
    assert (np.diff(shown) >= 0).all()


def test_pauses_limit_how_slow_the_words_can_get() -> None:
    words = np.array([True] * 95 + [False] * 5)
    assert words[source_frames(words, 0.5)].sum() <= 100


@pytest.mark.parametrize("name", ["world", "formants"])
def test_speakers_get_voices_of_their_own_and_runs_differ(name: str) -> None:
    method, audio = anonymizer(name), voice(0.5)
    one, two = Key.from_seed(1), Key.from_seed(2)
    anna = method(audio, rng=rng_for(one, "anna")).samples
    assert not np.array_equal(anna, method(audio, rng=rng_for(one, "bela")).samples)
    assert not np.array_equal(anna, method(audio, rng=rng_for(two, "anna")).samples)


def test_chain_is_one_method_after_the_other() -> None:
    audio = voice(0.5)
    both = Chain((Step("mcadams", {"alpha": 0.9}), Step("mcadams", {"alpha": 0.8})))
    assert np.array_equal(hide(both, audio), hide(McAdams(alpha=0.8), Audio(hide(McAdams(alpha=0.9), audio), 16_000)))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "at least one method"),
        ([{"name": "mcadam"}], "did you mean 'mcadams'"),
        ([{"name": "mcadams", "parameters": {"alhpa": 1}}], "did you mean 'alpha'"),
        ([{"nmae": "mcadams"}], "did you mean 'name'"),
    ],
)
def test_wrong_chains_are_one_clear_line(steps: list[dict[str, object]], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        anonymizer("chain", steps=steps)


def test_the_table_of_targets_survives_writing_and_reading(tmp_path: Path) -> None:
    save_targets(builtin_targets(), tmp_path / "targets.tsv")
    again = load_targets(tmp_path / "targets.tsv")
    assert [t.gender for t in again] == [t.gender for t in builtin_targets()]
    assert max(abs(a.f0_hz - b.f0_hz) for a, b in zip(again, builtin_targets(), strict=True)) < 0.1


def test_built_in_targets_are_plausible_people() -> None:
    table = builtin_targets()
    assert len({t.f0_hz for t in table}) == len(table)
    for t in table:
        assert 80 < t.f0_hz < 320
        assert all(a < b for a, b in zip(t.formants_hz, t.formants_hz[1:], strict=False))
    men, women = ([t.f0_hz for t in table if t.gender == g] for g in "mf")
    assert abs(np.median(men) / 130 - 1) < 0.05
    assert abs(np.median(women) / 220 - 1) < 0.05
    assert np.median(men) < average_target().f0_hz < np.median(women)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gender\tf0_hz\nm\t100\n", "column 'f1_hz' is missing"),
        ("gender\tf0_hz\tf1_hz\tf2_hz\tf3_hz\tf4_hz\tf5_hz\n", "holds no targets"),
        ("gender\tf0_hz\tf1_hz\tf2_hz\tf3_hz\tf4_hz\tf5_hz\nm\tx\t1\t2\t3\t4\t5\n", "row 1: .* must be numbers"),
        ("f0_hz\tf1_hz\tf2_hz\tf3_hz\tf4_hz\tf5_hz\n100\t500\t400\t2500\t3500\t4500\n", "formants must rise"),
    ],
)
def test_wrong_tables_are_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(TableError, match=message):
        hide(Formants(targets=tmp_path / "t.tsv"), voice(0.2))


def test_a_missing_vocoder_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name == "pyworld":
            raise ImportError(name)
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"\.\[pitch\]"):
        hide(WorldWarp(), voice(0.2))
