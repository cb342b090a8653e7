"""Emotion judges never judge a speaker they were trained on; expression is compared without tempo, with a zero line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.core.audio import Audio, write
from personare.core.errors import AudioError, ConfigError
from personare.core.findings import Finding
from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext
from personare.core.seeding import Key
from personare.core.tables import Corpus
from personare.listeners.discriminants import Discriminant, fit_lda, fit_svm
from personare.listeners.emotion import (
    CORPUS,
    EMOTIONS,
    SHIPPED,
    EmotionSpectrum,
    TrainingPool,
    emodb_speaker,
    folded_decider,
)
from personare.listeners.emotion_weights import CARD, FITTED, shipped
from personare.listeners.expression import Expression, measured

pl = pytest.importorskip("polars")
JUDGE = EmotionSpectrum()
Floats = NDArray[np.float64]


def moods(speakers: int = 6, each: int = 3) -> tuple[list[ObservedUtterance], SummaryContext]:
    """Speakers whose four emotions lie apart in the first numbers; the anonymized side is pure noise."""
    rng = np.random.default_rng(3)
    rows, who, emotion, text = [], {}, {}, {}
    for s in range(speakers):
        for k, name in enumerate(EMOTIONS):
            for u in range(each):
                utterance = f"s{s}-{name}-{u}"
                before, after = rng.standard_normal((2, len(JUDGE.INPUTS)))
                before[10 * k : 10 * k + 10] += 8
                sides = {
                    side: Observation(values=dict(zip(JUDGE.INPUTS, row.tolist(), strict=True)))
                    for side, row in (("original", before), ("anonymized", after))
                }
                rows.append(ObservedUtterance(utterance, sides))  # type: ignore[arg-type]
                who[utterance], emotion[utterance], text[utterance] = f"s{s}", name, f"sentence {u}"
    return rows, SummaryContext("emotion", who, len(rows), Key.from_seed(1), {"emotion": emotion, "text": text})


def only(findings: tuple[Finding, ...], metric: str, **conditions: str) -> Finding:
    (one,) = (
        f for f in findings if f.metric.name == metric and all(f.conditions.get(k) == v for k, v in conditions.items())
    )
    return one


@pytest.mark.parametrize("fit", [fit_lda, fit_svm])
def test_classes_that_lie_apart_are_told_apart(fit: object) -> None:
    rng = np.random.default_rng(1)
    rows, labels = rng.standard_normal((90, 5)), ["a", "b", "c"] * 30
    rows[np.arange(90), np.arange(90) % 3] += 8
    model = fit(rows, labels)  # type: ignore[operator]
    assert isinstance(model, Discriminant) and model(rows) == labels
    np.testing.assert_allclose(model.scores(rows[:1]), model.scores(rows)[:1])
    constant = np.column_stack([rows, np.ones(90)])
    assert fit(constant, labels)(constant) == labels  # type: ignore[operator]
    for wrong in ((rows, labels[:-1]), (rows, ["a"] * 90), (rows * np.nan, labels)):
        with pytest.raises(ConfigError, match="a classifier needs"):
            fit(*wrong)  # type: ignore[operator]


def test_lda_with_equal_spheres_decides_by_the_nearest_mean() -> None:
    """Closed form: with W proportional to I and equal priors, the border lies halfway."""
    rows = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])
    model = fit_lda(np.concatenate([rows, rows + np.array([10.0, 0.0])]), ["a"] * 4 + ["b"] * 4)
    assert model([[4.99, 3.0], [5.01, -3.0]]) == ["a", "b"]


def test_uar_recall_and_chance_of_both_sides() -> None:
    rows, context = moods()
    summary = JUDGE.summarize(rows, context)
    trained = {"of": "emotion", "trained on": CORPUS}
    before = only(summary.findings, "uar", speech="original", **trained)
    after = only(summary.findings, "uar", speech="anonymized", **trained)
    assert before.estimate.value == 1.0 and before.chance == 0.25 and before.conditions["classes"] == 4
    assert after.estimate.value == pytest.approx(0.25, abs=0.15) and not after.failed
    recalls = [f for f in summary.findings if f.metric.name == "recall" and f.conditions["speech"] == "original"]
    mine = [f for f in recalls if f.conditions["trained on"] == CORPUS and f.conditions["of"] == "emotion"]
    assert {str(f.conditions["class"]) for f in mine} == set(EMOTIONS) and all(f.estimate.value == 1 for f in mine)
    arousal = only(summary.findings, "uar", speech="original", of="arousal", **{"trained on": CORPUS})
    assert arousal.chance == 0.5 and arousal.estimate.value == 1.0
    ccc = only(summary.findings, "ccc", of="arousal")
    assert ccc.chance is not None and abs(ccc.estimate.value - ccc.chance) < 0.25, "noise lies on the zero line"


def test_speakers_who_are_judged_train_nothing() -> None:
    """One speaker's classes are swapped: a judge that had heard them would know."""
    rows, context = moods(speakers=6)
    odd = {u: {"anger": "sadness", "sadness": "anger"}.get(e, e) if u.startswith("s0") else e
           for u, e in context.noted["emotion"].items()}  # fmt: skip
    swapped = SummaryContext("emotion", context.speakers, context.total, context.key, {"emotion": odd})
    own = [row for row in rows if row.utterance.startswith("s0")]
    found = JUDGE.summarize(rows, swapped)
    assert own and only(found.findings, "uar", speech="original", of="emotion", **{"trained on": CORPUS})
    recall = only(found.findings, "recall", speech="original", **{"class": "anger", "trained on": CORPUS})
    assert recall.estimate.value <= 5 / 6, "those of the odd speaker are all wrong"


def test_too_few_speakers_train_no_judge() -> None:
    rows, context = moods(speakers=3)
    summary = JUDGE.summarize(rows, context)
    assert not [f for f in summary.findings if f.conditions.get("trained on") == CORPUS]
    assert any("needs 4 speakers with every class" in note for note in summary.notes)
    pool = TrainingPool(np.zeros((0, 2)), (), ())
    assert folded_decider(None, pool, fit_lda) is None  # type: ignore[arg-type]


def test_other_emotions_are_named_and_no_class() -> None:
    rows, context = moods()
    noted = {u: "disgust" if u.endswith("-0") else e for u, e in context.noted["emotion"].items()}
    summary = JUDGE.summarize(rows, SummaryContext("e", context.speakers, len(rows), context.key, {"emotion": noted}))
    assert any("24 utterances of other emotions (disgust)" in note for note in summary.notes)
    assert any("no zero line" in note for note in summary.notes), "nobody wrote down the words"
    assert only(summary.findings, "ccc", of="valence").chance is None
    found = only(summary.findings, "uar", speech="original", of="emotion", **{"trained on": CORPUS})
    assert found.conditions["classes"] == 4 and found.estimate.value == 1.0


def test_without_labels_the_original_is_the_reference() -> None:
    rows, context = moods()
    summary = JUDGE.summarize(rows, SummaryContext("e", context.speakers, len(rows), context.key))
    found = [f for f in summary.findings if f.metric.name == "uar"]
    assert found and {f.conditions["reference"] for f in found} == {"heard in the original"}
    assert {f.conditions["trained on"] for f in found} == {SHIPPED}
    nothing = JUDGE.summarize([], SummaryContext("e", {}, 4, context.key))
    assert all(f.failed == 4 and f.estimate.n == 0 for f in nothing.findings)


def test_a_larger_corpus_trains_the_judge_without_those_of_the_same_name(tmp_path: Path) -> None:
    sounds = []
    for s in range(5):
        for k, name in enumerate(EMOTIONS):
            path = tmp_path / f"{s}-{name}.wav"
            write(path, hum(10 * s + k, duration_s=0.6))
            sounds.append((f"u{s}{k}", f"s{s}", str(path), name))
    frame = pl.DataFrame(sounds, schema=["utterance", "speaker", "audio", "emotion"], orient="row")
    Corpus(frame).save(tmp_path / "all.parquet")
    judge = EmotionSpectrum(training=tmp_path / "all.parquet")
    judge.check()
    assert judge.summary_fingerprint != EmotionSpectrum().summary_fingerprint
    rows, context = moods(speakers=1, each=1)
    found = judge.summarize(rows, context)
    assert [f for f in found.findings if f.conditions.get("trained on") == CORPUS]
    Corpus(frame.drop("emotion")).save(tmp_path / "bare.parquet")
    with pytest.raises(ConfigError, match="has no column 'emotion'"):
        EmotionSpectrum(training=tmp_path / "bare.parquet").check()


def test_a_speaker_of_emodb_is_judged_by_weights_without_them() -> None:
    assert emodb_speaker("16b10Wb") == "16" and emodb_speaker("emodb-03-03a01fa") == "03"
    assert emodb_speaker("ravdess-actor01-03-01-01-01-01-01-01") == "" == emodb_speaker("LJ001-0016b1")
    folds = {fold for judge, task, fold in shipped().models if (judge, task) == (JUDGE.JUDGE, "emotion")}
    assert len(folds) == 11 and "" in folds
    one, other = (shipped().models[JUDGE.JUDGE, "emotion", fold] for fold in ("03", "08"))
    assert not np.allclose(one.weights, other.weights)
    rows, context = moods(speakers=1, each=1)
    named = [ObservedUtterance("03a01Wa", rows[0].sides)]
    speakers = {"03a01Wa": "s0"}
    summary = JUDGE.summarize(named, SummaryContext("e", speakers, 1, context.key, {"emotion": {"03a01Wa": "anger"}}))
    assert any("1 utterances of EmoDB are judged by weights" in note for note in summary.notes)


def test_the_card_names_speakers_and_results_of_speakers_and_corpora_apart() -> None:
    card = json.loads((FITTED / CARD).read_text(encoding="utf-8"))
    assert len(card["speakers"]) == 10 and "EmoDB" in card["trained on"]
    rows = card["results (percent, [value, low, high])"]
    for judge in ("emotion", "emotion-spectrum"):
        own = [r for r in rows if r["judge"] == judge and r["task"] == "emotion"]
        assert {(r["judged"], r["trained on"]) for r in own} >= {
            ("emodb-de", "emodb-de, others"),
            ("ravdess-en", "emodb-de"),
        }
        assert all(set(r["recall"]) == set(EMOTIONS) and r["uar"][0] > 25 for r in own)


def test_silence_is_refused_and_levels_do_not_count() -> None:
    with pytest.raises(AudioError, match="silent or shorter"):
        JUDGE.observe([Stimulus(Audio(np.zeros(16_000, np.float32), 16_000))])
    sound = hum(2, duration_s=1.0)
    soft = Audio(sound.samples * np.float32(0.2), sound.rate_hz)
    loud, quiet = (np.array(list(o.values.values())) for o in JUDGE.observe([Stimulus(sound), Stimulus(soft)]))
    np.testing.assert_allclose(loud, quiet, atol=0.5)
    (decided,) = JUDGE([sound])
    assert decided["emotion"] in EMOTIONS and decided["arousal"] in ("high", "low")


def melody(shape: Floats, *, seconds: float, pause_s: float = 0.0) -> Audio:
    """A voice whose F0 follows a shape from 100 to 200 Hz, with a pause in the middle."""
    rate = 16_000
    f0 = 100 + 100 * np.interp(np.linspace(0, 1, round(rate * seconds)), np.linspace(0, 1, len(shape)), shape)
    phase = 2 * np.pi * np.cumsum(f0) / rate
    sound = np.sum([np.sin(k * phase) / k for k in range(1, 8)], axis=0) * 0.1
    half = len(sound) // 2
    return Audio(np.concatenate([sound[:half], np.zeros(round(rate * pause_s)), sound[half:]]).astype(np.float32), rate)


def test_tempo_and_pauses_do_not_count_in_the_shape_but_in_rate_and_pauses() -> None:
    pytest.importorskip("pyworld", reason="needs the extra 'pitch'")
    rise = np.array([0.0, 0.3, 1.0, 0.5])
    quick, slow, other = (
        melody(rise, seconds=1.2),
        melody(rise, seconds=2.4, pause_s=0.5),
        melody(1 - rise, seconds=1.5),
    )
    texts = {"a": "same words", "b": "same words"}
    listener = Expression()
    first, second, third = listener.observe([Stimulus(s) for s in (quick, slow, other)])
    rows = [
        ObservedUtterance("a", {"original": first, "anonymized": second}),
        ObservedUtterance("b", {"original": third, "anonymized": third}),
    ]
    summary = listener.summarize(rows, SummaryContext("x", {"a": "p", "b": "q"}, 2, Key.from_seed(1), {"text": texts}))
    found = only(summary.findings, "f0_shape")
    assert found.estimate.value > 0.9 and found.chance is not None and found.chance < -0.5
    assert measured(slow)["pauses"] > measured(quick)["pauses"] + 0.1
    assert {str(f.conditions["of"]) for f in summary.findings if f.metric.name == "ccc"} == {"rate", "pauses"}
    with pytest.raises(AudioError, match="silent or shorter"):
        measured(Audio(np.zeros(16_000, np.float32), 16_000))
    alone = listener.summarize(rows[:1], SummaryContext("x", {"a": "p"}, 1, Key.from_seed(1)))
    assert only(alone.findings, "f0_shape").chance is None and any("no zero line" in note for note in alone.notes)
    nothing = listener.summarize([], SummaryContext("x", {}, 3, Key.from_seed(1)))
    assert all(f.failed == 3 for f in nothing.findings)
