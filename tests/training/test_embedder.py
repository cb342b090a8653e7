"""Embedders that are really trained, tiny and on humming: the loss falls, runs repeat, graphs agree, nobody leaks."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import hum
from personare.attackers import embedder
from personare.attackers.trained import TrainedEmbedder, trained_on
from personare.core.audio import Audio, write
from personare.core.errors import ConfigError, CorpusError, LeakError, MissingExtraError, TrainingError, WeightsError
from personare.core.fingerprint import SystemIdentity
from personare.core.protocols import Embedder
from personare.core.seeding import Key
from personare.core.tables import Corpus
from personare.core.vectors import unit_rows
from personare.pipeline.jobs.train_embedder import held_out_eer
from personare.training.embedder import augment, settings
from personare.training.embedder.run import EmbedderTrainingRun, prepare
from personare.training.embedder.settings import BatchSettings, EmbedderHeldOut, EmbedderNetwork, EmbedderSettings
from personare.training.embedder.speakers import SpeakerSplit, split_speakers
from personare.training.embedder.task import HEAD, initialize_head
from personare.training.embedder.utterances import read_utterances, utterances_of
from personare.training.plan import TrainingPlan

KEY = Key.from_seed(1)
TRAININGS = Path(__file__).resolve().parents[2] / "trainings"
TINY = EmbedderSettings(
    network=EmbedderNetwork(channels=16, frame_channels=24, attention=8, squeeze=8, dimensions=40),
    sounds=BatchSettings(batch=8, crop_s=0.5, noise_share=0.3, babble_share=0.3),
    held_out=EmbedderHeldOut(speakers=3, utterances=3, longest_s=0.6),
    plan=TrainingPlan(steps=24, validate_every=8, patience=0, rate=0.01, warm_up=4),
)
CLEAN = BatchSettings(batch=8, crop_s=0.4, speeds=(1.0,), noise_share=0.0, babble_share=0.0)
XVECTOR = dataclasses.replace(
    TINY,
    arch="xvector",
    network=EmbedderNetwork(channels=16, frame_channels=24, dimensions=20),
    head=settings.MarginHead("am"),
)


@pytest.fixture(scope="module")
def hummers(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Nine people of four utterances, the last two in the part 'eval'."""
    folder = tmp_path_factory.mktemp("hummers")
    rows = []
    for who in range(9):
        for u in range(4):
            path = folder / f"{who}-{u}.wav"
            write(path, hum(who, duration_s=0.45 + 0.1 * u, f0_hz=90.0 + 15 * who + u))
            rows.append((f"{who}-{u}", f"p{who}", str(path), "eval" if who > 6 else "train"))
    return Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "part"], orient="row"))


def _run(corpus: Corpus, chosen: EmbedderSettings = TINY) -> EmbedderTrainingRun:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    return prepare(corpus, chosen, eer=held_out_eer, part="train")


def _bits(run: EmbedderTrainingRun) -> dict[str, bytes]:
    return {name: tensor.detach().numpy().tobytes() for name, tensor in run.task.tensors.items()}


@pytest.mark.parametrize("chosen", [TINY, XVECTOR], ids=["ecapa", "xvector"])
def test_a_tiny_network_is_trained_and_becomes_an_embedder(
    hummers: Corpus, tmp_path: Path, chosen: EmbedderSettings
) -> None:
    plan = TrainingPlan(steps=40, validate_every=10, patience=0, rate=0.004, warm_up=4)
    run = _run(hummers, dataclasses.replace(chosen, sounds=CLEAN, plan=plan))
    list(run.train(tmp_path))
    done = run.finish(tmp_path)
    assert done.validations[-1].loss < 0.5 * done.validations[1].loss, "the loss falls"
    assert done.difference < 1e-4
    made = embedder("trained", path=str(done.model))
    assert isinstance(made, Embedder)
    sounds = [hum(1, duration_s=0.7), hum(2, duration_s=0.4), hum(3, duration_s=0.7)]
    wanted = np.stack([run.task.embed(sound.samples) for sound in sounds])
    np.testing.assert_allclose(made(sounds), wanted, atol=1e-4 * np.abs(wanted).max())
    assert made(sounds).shape == (3, chosen.network.dimensions)
    assert made([]).shape == (0, chosen.network.dimensions)
    assert np.isfinite(made([Audio(np.full(1, 0.1, np.float32), 8000), Audio(np.zeros(9000, np.float32), 16000)])).all()
    np.testing.assert_array_equal(embedder(f"trained:{done.model}")(sounds), made(sounds))
    assert TrainedEmbedder(done.model).settings["arch"] == chosen.arch


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(hummers: Corpus, tmp_path: Path) -> None:
    ends = []
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        run = _run(hummers, dataclasses.replace(TINY, seed=seed, plan=TrainingPlan(steps=4, validate_every=4)))
        list(run.train(tmp_path / folder))
        ends.append((_bits(run), run.finish(tmp_path / folder).model.read_bytes()))
    assert ends[0] == ends[1]
    assert ends[0][0] != ends[2][0]


def test_a_stopped_training_ends_bit_by_bit_like_one_that_was_not(hummers: Corpus, tmp_path: Path) -> None:
    whole = _run(hummers)
    list(whole.train(tmp_path / "whole"))
    stopped = _run(hummers).train(tmp_path / "parts")
    list(itertools.islice(stopped, 13))
    again = _run(hummers)
    steps = [step.step for step in again.train(tmp_path / "parts", resume=True)]
    assert steps == list(range(9, 25)), "goes on from the checkpoint of step 8"
    assert _bits(again) == _bits(whole)
    models = [c.finish(tmp_path / f).model.read_bytes() for c, f in ((whole, "whole"), (again, "parts"))]
    assert models[0] == models[1]


def test_other_speech_or_settings_are_not_gone_on_with(hummers: Corpus, tmp_path: Path) -> None:
    few = dataclasses.replace(TINY, plan=TrainingPlan(steps=2, validate_every=2))
    list(_run(hummers, few).train(tmp_path))
    fewer = Corpus(hummers.frame.filter(pl.col("utterance") != "0-0"))
    for run in (_run(fewer, few), _run(hummers, dataclasses.replace(few, seed=3))):
        with pytest.raises(ConfigError, match="another configuration or from other speech"):
            list(run.train(tmp_path, resume=True))
    slower = dataclasses.replace(few, sounds=dataclasses.replace(few.sounds, memory_mb=0))
    assert _run(hummers, slower).fingerprint == _run(hummers, few).fingerprint, "memory changes nothing"


def test_a_trained_embedder_refuses_its_training_speakers(hummers: Corpus, tmp_path: Path) -> None:
    run = _run(hummers, dataclasses.replace(TINY, plan=TrainingPlan(steps=1, validate_every=1)))
    list(run.train(tmp_path))
    assert trained_on(f"trained:{run.finish(tmp_path).model}") is trained_on("ecapa") is None
    identity = SystemIdentity("1234", "mcadams (alpha = 0.8)")
    made = TrainedEmbedder(run.finish(tmp_path, system=identity).model)
    assert trained_on(f"trained:{made.path}") == identity
    made.check(["p7", "p8", "somebody"])
    with pytest.raises(LeakError, match="2 trial speakers are also in the training of this embedder \\(first: 'p0'\\)"):
        made.check(["p8", "p0", "p6"])
    assert b"p0" not in made.path.read_bytes().split(b"speakers", 1)[1], "speakers are named by tokens"


def test_a_head_can_begin_with_the_speakers_a_pretrained_network_knows(hummers: Corpus) -> None:
    run = _run(hummers)
    initialize_head(run.task)
    directions = run.task.tensors[HEAD].detach().numpy()
    heard = [unit_rows(run.task.vectors(mels)).mean(axis=0) for mels in run.task.batches.one_of_each()]
    np.testing.assert_allclose(directions, np.stack(heard), rtol=1e-5)
    assert directions.shape == (12, 40)


@pytest.mark.slow
@pytest.mark.models
def test_the_published_embedder_is_trained_further(hummers: Corpus, tmp_path: Path) -> None:
    few = dataclasses.replace(
        settings.shipped("ecapa", "ecapa"),
        sounds=CLEAN,
        held_out=TINY.held_out,
        plan=TrainingPlan(steps=2, validate_every=2),
    )
    run = _run(hummers, few)
    before = run.task.embed(hum(1).samples)
    np.testing.assert_allclose(before, embedder("ecapa")([hum(1)])[0], atol=1e-4 * np.abs(before).max())
    list(run.train(tmp_path))
    assert not np.allclose(run.task.embed(hum(1).samples), before)
    assert run.finish(tmp_path).difference < 1e-4


def test_frozen_layers_stay_as_they_were(hummers: Corpus, tmp_path: Path) -> None:
    frozen = dataclasses.replace(TINY.network, frozen=("blocks.0", "mfa"))
    run = _run(hummers, dataclasses.replace(TINY, network=frozen, plan=TrainingPlan(steps=3, validate_every=3)))
    before = _bits(run)
    list(run.train(tmp_path))
    same = {name for name, bits in _bits(run).items() if before[name] == bits}
    assert same == {name for name in before if name.startswith(("blocks.0.", "mfa."))}
    with pytest.raises(ConfigError, match="no layer 'block' to freeze; did you mean 'blocks'"):
        _run(hummers, dataclasses.replace(TINY, network=dataclasses.replace(TINY.network, frozen=("block",))))


def test_trial_speakers_never_enter_a_training(hummers: Corpus) -> None:
    with pytest.raises(LeakError, match="first: 'p3'"):
        split_speakers(hummers, TINY.held_out, key=KEY, part="train", attacked=["p3", "x"])
    both = hummers.frame.with_columns(part=pl.when(pl.col("utterance") == "2-1").then(pl.lit("eval")).otherwise("part"))
    with pytest.raises(LeakError, match="first: 'p2'"):
        split_speakers(Corpus(both), TINY.held_out, key=KEY, part="train")
    items = tuple(utterances_of(hummers))
    with pytest.raises(LeakError, match="also in the attacker's training"):
        SpeakerSplit(items[:6], items[5:])


def test_held_out_speakers_are_others_drawn_from_the_seed(hummers: Corpus) -> None:
    found = split_speakers(hummers, TINY.held_out, key=KEY, part="train")
    trained, held_out = ({item.speaker for item in part} for part in (found.train, found.held_out))
    assert (len(trained), len(held_out), trained & held_out) == (4, 3, set())
    assert len(found.held_out) == 9
    assert found == split_speakers(hummers, TINY.held_out, key=KEY, part="train")


def test_a_corpus_that_cannot_be_divided(hummers: Corpus) -> None:
    with pytest.raises(CorpusError, match="eval, train; say which to train on with --part"):
        split_speakers(hummers, TINY.held_out, key=KEY)
    with pytest.raises(CorpusError, match="no part 'trian'; did you mean 'train'"):
        split_speakers(hummers, TINY.held_out, key=KEY, part="trian")
    with pytest.raises(TrainingError, match=r"lower held_out\.speakers"):
        split_speakers(hummers, EmbedderHeldOut(speakers=6), key=KEY, part="train")


def test_broken_recordings_are_rows(hummers: Corpus, tmp_path: Path) -> None:
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"no sound")
    frame = hummers.frame.with_columns(
        audio=pl.when(pl.col("utterance") == "0-1").then(pl.lit(str(broken))).otherwise("audio")
    )
    items = read_utterances(utterances_of(Corpus(frame)), memory_mb=0)
    assert [name for name, _ in items.failures] == ["0-1"]
    assert len(items.items) == len(frame) - 1
    assert items.kept == {}
    assert items.duration_s == pytest.approx(9 * (0.45 + 0.55 + 0.65 + 0.75) - 0.55)
    with pytest.raises(TrainingError, match="no recording to train on can be read"):
        read_utterances([item for item in utterances_of(Corpus(frame)) if item.utterance == "0-1"], memory_mb=1)


def test_augmentation_does_what_it_says() -> None:
    rng = np.random.default_rng(1)
    tone = np.sin(2 * np.pi * 1000 * np.arange(17_616) / 16_000).astype(np.float32)
    faster = augment.at_speed(tone, 1.1, 16_000)
    assert len(faster) == 16_000
    assert np.abs(np.fft.rfft(faster)).argmax() == 1100, "pitch moves with the speed"
    noise = augment.coloured_noise(16_000, rng=rng)
    mixed = augment.with_noise(tone[:16_000], noise, 10.0)
    snr = 20 * np.log10(augment.level(tone[:16_000]) / augment.level(mixed - tone[:16_000]))
    assert snr == pytest.approx(10, abs=0.01)
    assert augment.level(augment.babble([tone, 3 * noise[:1000].repeat(18)[:17_616]])) == pytest.approx(1, abs=1e-3)
    assert not augment.babble([np.zeros(10, np.float32)]).any()


def test_batches_depend_on_their_step_only_and_know_who_speaks(hummers: Corpus) -> None:
    batches = _run(hummers).task.batches
    first, again, other = batches(3), batches(3), batches(4)
    np.testing.assert_array_equal(first.mels, again.mels)
    assert not np.array_equal(first.mels, other.mels)
    assert first.mels.shape == (8, 80, 51)
    assert batches.classes == 12, "four people at three speeds"
    assert {int(label) for step in range(20) for label in batches(step).labels} == set(range(12))


def test_shipped_settings_and_the_recipe_are_read() -> None:
    for arch in ("ecapa", "xvector"):
        assert settings.shipped(arch).arch == arch
    assert settings.shipped("ecapa", "ecapa").init == "ecapa"
    recipe = settings.embedder_settings("ecapa", None, TRAININGS / "embedder-ecapa-1024.yaml")
    assert (recipe.network.channels, recipe.head.kind, recipe.plan.device) == (1024, "aam", "cuda")
    with pytest.raises(ConfigError, match="arch is 'ecapa', not 'xvector'"):
        settings.embedder_settings("xvector", None, TRAININGS / "embedder-ecapa-1024.yaml")


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: EmbedderSettings(network=EmbedderNetwork(channels=12)), "multiples of 8, not 12"),
        (lambda: EmbedderSettings(arch="xvector", init="ecapa"), "not for 'xvector'"),
        (lambda: BatchSettings(speeds=(1.0, 3.0)), "between 0.5 and 2"),
        (lambda: BatchSettings(noise_share=0.7, babble_share=0.7), "at most 1 together"),
        (lambda: BatchSettings(noise_snr_db=(9.0, 1.0)), "from low to high"),
        (lambda: EmbedderHeldOut(speakers=1), "at least 2 speakers"),
        (lambda: settings.MarginHead(margin=2.0), "0 <= margin < 1.5"),
    ],
)
def test_impossible_settings(make: Any, line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        make()


def test_files_that_are_no_embedders(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no such file; train one with"):
        embedder("trained", path=str(tmp_path / "none.onnx"))
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    with pytest.raises(WeightsError, match=r"bad\.onnx: onnxruntime cannot open"):
        embedder("trained", path=str(tmp_path / "bad.onnx"))([hum(1)])
    from personare.encoders.graphs import OnnxGraph

    graph = OnnxGraph()
    (tmp_path / "other.onnx").write_bytes(graph.encode("x", [1], graph.add("Relu", "x"), [1]))
    with pytest.raises(WeightsError, match="not written by personare train embedder"):
        embedder("trained", path=str(tmp_path / "other.onnx"))([hum(1)])


def test_without_torch_it_is_one_line(hummers: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="training an embedder needs the extra 'neural'"):
        prepare(hummers, TINY, eer=held_out_eer, part="train")
