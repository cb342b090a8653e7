"""How something is said: numbers that follow the sound, guesses marked as guesses, feeling by one's own model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import hum
from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import AudioError, ConfigError, WeightsError
from personare.listeners import listener
from personare.listeners.affect import Affect, fit_affect, fit_affect_classes
from personare.listeners.attributes import Attributes
from personare.listeners.linear import Line, fit_classes, fit_values
from personare.listeners.paralinguistics import NAMES, Paralinguistics
from personare.listeners.swift_pitch import SwiftPitch
from personare.metrics.utility.concordance import ccc

pytest.importorskip("pyworld", reason="needs the extra 'pitch'")


def named(audio: Audio) -> dict[str, float]:
    return dict(zip(NAMES, Paralinguistics()([audio])[0].tolist(), strict=True))


def test_numbers_follow_the_sound() -> None:
    low, high = named(hum(1, f0_hz=110.0)), named(hum(1, f0_hz=220.0))
    assert high["pitch_median"] - low["pitch_median"] == pytest.approx(12, abs=0.2)
    assert low["voiced_share"] > 0.8
    assert low["loudness_peaks_per_s"] == pytest.approx(3, abs=2)


def test_recording_level_does_not_count_and_rate_hardly() -> None:
    sound = hum(1)
    quiet = named(Audio(sound.samples * np.float32(0.1), 16_000))
    for name, value in named(sound).items():
        assert quiet[name] == pytest.approx(value, rel=0.02, abs=0.05), name
    assert named(resample(sound, 48_000))["pitch_median"] == pytest.approx(named(sound)["pitch_median"], abs=0.1)


@pytest.mark.parametrize("frames", [0, 1, 4_000, 16_000])
def test_silence_is_refused(frames: int) -> None:
    silence = Audio(np.zeros(frames, np.float32), 16_000)
    for tested in (Paralinguistics(), Attributes()):
        with pytest.raises(AudioError, match="silent or shorter"):
            tested([silence])


def test_unvoiced_sound_is_refused() -> None:
    noise = np.random.default_rng(1).standard_normal(8_000).astype(np.float32)
    with pytest.raises(AudioError, match="voiced frames"):
        Paralinguistics()([Audio(0.1 * np.diff(noise, prepend=0).astype(np.float32), 16_000)])


def test_a_line_finds_the_line_it_was_made_of() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 3)) * [1, 10, 100] + 5
    y = x @ np.array([[1.0, 0.0], [0.2, 0.0], [0.0, -0.03]]) + [2, 7]
    line = fit_values(x, y, inputs="abc", outputs=["p", "q"], trained_on="numbers", penalty=1e-9)
    assert np.allclose(line(x), y, atol=1e-4)


def test_classes_weigh_the_same_however_rare() -> None:
    rng = np.random.default_rng(0)
    truth = np.array(["common"] * 190 + ["rare"] * 10)
    x = rng.standard_normal((200, 1)) + np.where(truth == "rare", 3.0, 0.0)[:, None]
    line = fit_classes(x, list(truth), inputs=["a"], trained_on="numbers")
    heard = np.array(line.outputs)[line(x).argmax(1)]
    assert np.mean(heard[truth == "rare"] == "rare") >= 0.8
    assert np.allclose(line(x).sum(axis=1), 1)


def test_a_line_is_kept_as_json_and_refuses_nonsense(tmp_path: Path) -> None:
    line = fit_classes([[0.0], [1.0], [0.1], [0.9]], list("nyny"), inputs=["a"], trained_on="four numbers")
    line.save(tmp_path / "line.json")
    assert Line.load(tmp_path / "line.json") == line
    (tmp_path / "bad.json").write_text("[1, 2]")
    with pytest.raises(WeightsError, match="not a model"):
        Line.load(tmp_path / "bad.json")
    with pytest.raises(WeightsError, match="not a model"):
        Line.load(tmp_path / "absent.json")
    with pytest.raises(ConfigError, match="two kinds"):
        fit_classes([[0.0], [1.0]], list("aa"), inputs=["a"], trained_on="")
    with pytest.raises(ConfigError, match="finite"):
        fit_values([[0.0], [np.nan]], [[1.0], [2.0]], inputs=["a"], outputs=["b"], trained_on="")


def test_guesses_are_marked_as_predicted_and_sum_to_one() -> None:
    for guesses in (Attributes()([hum(1)])[0], Attributes().of_speaker([hum(1), hum(2)])):
        assert set(guesses) == {"gender", "age_group"}
        for guess in guesses.values():
            assert guess.predicted
            assert sum(guess.probabilities.values()) == pytest.approx(1)
            assert guess.value == max(guess.probabilities, key=lambda name: guess.probabilities[name])
    with pytest.raises(ConfigError, match="at least one utterance"):
        Attributes().of_speaker([])


@pytest.mark.shared
def test_most_adult_evaluation_speakers_are_guessed_right(shared_folder: Path) -> None:
    """Speakers the guesses were not fitted on; three utterances each of 12 adults."""
    corpus = shared_folder / "corpus"
    people = pl.read_csv(corpus / "speakers.tsv", separator="\t", quote_char=None)
    adults = people.filter((pl.col("part") == "eval") & (pl.col("age_group") == "adult"))
    chosen = pl.concat([adults.filter(pl.col("gender") == g).head(6) for g in ("f", "m")])
    manifest = pl.read_csv(corpus / "manifest.tsv", separator="\t", quote_char=None)
    right = 0
    for speaker, gender in chosen.select("speaker", "gender").iter_rows():
        paths = manifest.filter(pl.col("speaker") == speaker)["audio"].head(3)
        right += Attributes().of_speaker([read_mono(corpus / p) for p in paths])["gender"].value == gender
    assert right >= 9


def rated() -> tuple[list[Audio], Any]:
    """Sounds whose 'rating' is their pitch: something a line can learn."""
    pitches = np.geomspace(90, 260, 16)
    return [hum(i, f0_hz=float(p), duration_s=0.6) for i, p in enumerate(pitches)], np.log2(pitches)[:, None]


def test_feeling_is_learnt_from_ratings_and_identical_audio_agrees(tmp_path: Path) -> None:
    batch, ratings = rated()
    fit_affect(batch, ratings, outputs=["arousal"], trained_on="hums").save(tmp_path / "model.json")
    tested = Affect(tmp_path / "model.json")
    heard = [one["arousal"] for one in tested(batch)]
    assert ccc(ratings.ravel(), heard) > 0.8
    again = [one["arousal"] for one in tested(batch)]
    assert ccc(heard, again) == pytest.approx(1)


def test_categories_are_learnt_from_labels(tmp_path: Path) -> None:
    batch, ratings = rated()
    labels = ["calm" if r < np.log2(150) else "excited" for r in ratings.ravel()]
    fit_affect_classes(batch, labels, trained_on="hums").save(tmp_path / "model.json")
    heard = [max(one, key=lambda name: one[name]) for one in Affect(tmp_path / "model.json")(batch)]
    assert heard == labels


def network(path: Path, op: str) -> Path:
    """Write a network of one operation over all samples (ReduceMean, ReduceLogSumExp, ...), given out twice."""
    from onnx import TensorProto, helper, save

    one = helper.make_node(op, ["samples"], ["one"], axes=[1], keepdims=1)
    both = helper.make_node("Concat", ["one", "one"], ["values"], axis=1)
    graph = helper.make_graph(
        [one, both],
        "one",
        [helper.make_tensor_value_info("samples", TensorProto.FLOAT, [1, "n"])],
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, [1, 2])],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def test_a_network_of_the_users_own_is_taken(tmp_path: Path) -> None:
    mean = network(tmp_path / "mean.onnx", "ReduceMean")
    sound = Audio(np.full(16_000, 0.25, np.float32), 16_000)
    (heard,) = Affect(mean, outputs=("arousal", "valence"))([sound])
    assert heard == {"arousal": pytest.approx(0.25), "valence": pytest.approx(0.25)}
    with pytest.raises(ConfigError, match="gave 2 numbers for 1 named"):
        Affect(mean, outputs=("arousal",))([sound])


def test_a_network_gives_what_onnxruntime_gives_at_the_rate_it_wants(tmp_path: Path) -> None:
    """The adapter compared with the library it wraps; a sound at another rate is resampled first."""
    import onnxruntime

    path = network(tmp_path / "size.onnx", "ReduceL2")
    session = onnxruntime.InferenceSession(path)
    for rate_hz in (8_000, 16_000):
        tested = Affect(path, outputs=("a", "b"), rate_hz=rate_hz)
        for sound in (hum(1), resample(hum(1), 44_100), hum(2, duration_s=0.6), hum(3, duration_s=30)):
            ((theirs, _),) = session.run(None, {"samples": resample(sound, rate_hz).samples[None]})[0]
            assert tested([sound])[0]["a"] == pytest.approx(float(theirs), rel=1e-6)


def test_noise_moves_a_network_further_and_further(tmp_path: Path) -> None:
    tested = Affect(network(tmp_path / "size.onnx", "ReduceL2"), outputs=("a", "b"))
    sounds = [hum(i) for i in range(4)]
    clean = [one["a"] for one in tested(sounds)]
    heard = [[one["a"] for one in tested([noisy(a, snr_db) for a in sounds])] for snr_db in (30, 15, 0)]
    agreement = [ccc(clean, after) for after in heard]
    assert ccc(clean, clean) == pytest.approx(1)
    assert 1 > agreement[0] > agreement[1] > agreement[2]


def test_wrong_models_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.onnx or \.json"):
        listener("affect", model="model.pt")
    with pytest.raises(ConfigError, match="name the outputs"):
        listener("affect", model="model.onnx")
    (tmp_path / "text.onnx").write_text("not a network")
    with pytest.raises(WeightsError, match="onnxruntime"):
        Affect(tmp_path / "text.onnx", outputs=("a",))([hum(1)])
    with pytest.raises(WeightsError, match="no such file"):
        _ = Affect(tmp_path / "absent.onnx", outputs=("a",)).fingerprint
    with pytest.raises(AudioError, match="affect needs"):
        Affect(tmp_path / "text.onnx", outputs=("a",))([Audio(np.zeros(16_000, np.float32), 16_000)])


@pytest.fixture(scope="module")
def real_speech(shared_folder: Path) -> list[Audio]:
    """36 short utterances of 36 speakers."""
    corpus = shared_folder / "corpus"
    manifest = pl.read_csv(corpus / "manifest.tsv", separator="\t", quote_char=None)
    rows = manifest.filter(pl.col("seconds").is_between(2, 5)).unique("speaker", maintain_order=True).head(36)
    return [read_mono(corpus / path) for path in rows["audio"]]


def noisy(audio: Audio, snr_db: float) -> Audio:
    noise = np.random.default_rng(5).standard_normal(len(audio.samples))
    scale = np.sqrt(np.mean(audio.samples.astype(np.float64) ** 2) / 10 ** (snr_db / 10))
    return Audio((audio.samples + scale * noise).astype(np.float32), audio.rate_hz)


@pytest.mark.shared
def test_a_value_of_real_voices_is_learnt_and_noise_hides_it_step_by_step(
    real_speech: list[Audio], tmp_path: Path
) -> None:
    """The 'rating' is openly computed (median log pitch by the neural tracker): a stand-in, not an emotion."""
    tracks = SwiftPitch()(real_speech)
    ratings = np.array([[np.log2(np.median(track[track > 0]))] for track in tracks])
    fit_affect(real_speech[:24], ratings[:24], outputs=["lift"], trained_on="pitch").save(tmp_path / "lift.json")
    tested, others = Affect(tmp_path / "lift.json"), real_speech[24:]
    clean = [one["lift"] for one in tested(others)]
    assert ccc(ratings[24:].ravel(), clean) > 0.7
    assert ccc(clean, [one["lift"] for one in tested(others)]) == pytest.approx(1)
    heard = [[one["lift"] for one in tested([noisy(a, snr_db) for a in others])] for snr_db in (30, 15, 0)]
    agreement = [ccc(clean, after) for after in heard]
    assert 1 > agreement[0] > agreement[1] > agreement[2]


@pytest.mark.shared
def test_noise_moves_the_numbers_further_and_further(real_speech: list[Audio]) -> None:
    clean = np.stack(Paralinguistics()(real_speech[:8]))
    spread = clean.std(axis=0) + 1e-9
    away = []
    for snr_db in (30, 15, 0):
        rows = np.stack(Paralinguistics()([noisy(audio, snr_db) for audio in real_speech[:8]]))
        away.append(np.mean(np.abs((rows - clean) / spread)))
    assert 0 < away[0] < away[1] < away[2]


@pytest.mark.shared
def test_noise_moves_guesses_further_and_further(real_speech: list[Audio]) -> None:
    """Not which class is named, which noise may leave as it is, but how likely each class is said to be."""

    def shares(batch: list[Audio]) -> Any:
        return np.array([[p for kind in g.values() for p in kind.probabilities.values()] for g in Attributes()(batch)])

    clean = shares(real_speech[:12])
    away = [np.abs(shares([noisy(a, snr_db) for a in real_speech[:12]]) - clean).mean() for snr_db in (30, 15, 0)]
    assert 0 < away[0] < away[1] < away[2]


@pytest.mark.shared
def test_guesses_of_the_same_speech_at_another_rate_hardly_differ(real_speech: list[Audio]) -> None:
    for audio in real_speech[:3]:
        (same,), (other,) = Attributes()([audio]), Attributes()([resample(audio, 48_000)])
        assert other["gender"].value == same["gender"].value
        for kind in ("gender", "age_group"):
            assert other[kind].probabilities == pytest.approx(dict(same[kind].probabilities), abs=0.1)


@pytest.mark.shared
def test_thirty_seconds_and_one_word_of_real_speech_are_heard(real_speech: list[Audio], tmp_path: Path) -> None:
    joined = np.concatenate([audio.samples for audio in real_speech[:14]])[: 30 * 16_000]
    word = Audio(real_speech[0].samples[len(real_speech[0].samples) // 2 :][:12_000], 16_000)
    fit_affect(real_speech[:8], np.arange(8.0)[:, None], outputs=["x"], trained_on="").save(tmp_path / "x.json")
    for sound in (Audio(joined, 16_000), word, resample(word, 44_100)):
        (row,) = Paralinguistics()([sound])
        assert np.isfinite(row).all()
        assert Attributes()([sound])[0]["gender"].predicted
        assert np.isfinite(Affect(tmp_path / "x.json")([sound])[0]["x"])


def test_a_network_of_categories_says_so_and_a_line_knows(tmp_path: Path) -> None:
    assert Affect(tmp_path / "any.onnx", outputs=("sad", "glad"), classes=True).categorical
    assert not Affect(tmp_path / "any.onnx", outputs=("arousal",)).categorical
    fit_classes([[0.0] * 41, [1.0] * 41], ["a", "b"], inputs=NAMES, trained_on="").save(tmp_path / "classes.json")
    assert Affect(tmp_path / "classes.json").categorical
    with pytest.raises(ConfigError, match="says itself"):
        listener("affect", model=tmp_path / "classes.json", classes=True)
