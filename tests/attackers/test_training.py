"""Ears that are really trained, tiny and on humming: the loss falls, runs repeat, graphs agree, nobody leaks."""

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
from personare.attackers.scoring import unit_rows
from personare.attackers.trained import Trained, taught_by
from personare.attackers.training import augment, settings
from personare.attackers.training.clips import clips_of, open_clips
from personare.attackers.training.course import Course, prepare
from personare.attackers.training.division import Division, divide
from personare.attackers.training.ear import HEAD, aim_head
from personare.attackers.training.settings import HeldOut, Network, Settings, Sounds
from personare.core.audio import Audio, write
from personare.core.errors import ConfigError, CorpusError, LeakError, MissingExtraError, TrainingError, WeightsError
from personare.core.fingerprint import SystemIdentity
from personare.core.protocols import Embedder
from personare.core.seeding import Key
from personare.core.tables import Corpus
from personare.metrics.privacy.eer import rocch_eer
from personare.nn.plan import Plan

KEY = Key.from_seed(1)
RECIPES = Path(__file__).resolve().parents[2] / "recipes"
TINY = Settings(
    network=Network(channels=16, frame_channels=24, attention=8, squeeze=8, dimensions=40),
    sounds=Sounds(batch=8, crop_s=0.5, noise_share=0.3, babble_share=0.3),
    held_out=HeldOut(speakers=3, utterances=3, longest_s=0.6),
    plan=Plan(steps=24, judge_every=8, patience=0, rate=0.01, warm_up=4),
)
CLEAN = Sounds(batch=8, crop_s=0.4, speeds=(1.0,), noise_share=0.0, babble_share=0.0)
XVECTOR = dataclasses.replace(
    TINY, arch="xvector", network=Network(channels=16, frame_channels=24, dimensions=20), head=settings.Head("am")
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


def _course(corpus: Corpus, chosen: Settings = TINY) -> Course:
    pytest.importorskip("torch", reason="needs torch: pip install 'personare[neural]'")
    return prepare(corpus, chosen, eer=rocch_eer, part="train")


def _bits(course: Course) -> dict[str, bytes]:
    return {name: tensor.detach().numpy().tobytes() for name, tensor in course.ear.tensors.items()}


@pytest.mark.parametrize("chosen", [TINY, XVECTOR], ids=["ecapa", "xvector"])
def test_a_tiny_ear_learns_and_becomes_an_embedder(hummers: Corpus, tmp_path: Path, chosen: Settings) -> None:
    plan = Plan(steps=40, judge_every=10, patience=0, rate=0.004, warm_up=4)
    course = _course(hummers, dataclasses.replace(chosen, sounds=CLEAN, plan=plan))
    list(course.learn(tmp_path))
    done = course.finish(tmp_path)
    assert done.rows[-1][1] < 0.5 * done.rows[1][1], "the loss falls"
    assert done.difference < 1e-4
    ear = embedder("trained", path=str(done.model))
    assert isinstance(ear, Embedder)
    sounds = [hum(1, duration_s=0.7), hum(2, duration_s=0.4), hum(3, duration_s=0.7)]
    wanted = np.stack([course.ear.hear(sound.samples) for sound in sounds])
    np.testing.assert_allclose(ear(sounds), wanted, atol=1e-4 * np.abs(wanted).max())
    assert ear(sounds).shape == (3, chosen.network.dimensions)
    assert ear([]).shape == (0, chosen.network.dimensions)
    assert np.isfinite(ear([Audio(np.full(1, 0.1, np.float32), 8000), Audio(np.zeros(9000, np.float32), 16000)])).all()
    np.testing.assert_array_equal(embedder(f"trained:{done.model}")(sounds), ear(sounds))
    assert Trained(done.model).settings["arch"] == chosen.arch


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(hummers: Corpus, tmp_path: Path) -> None:
    ends = []
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        course = _course(hummers, dataclasses.replace(TINY, seed=seed, plan=Plan(steps=4, judge_every=4)))
        list(course.learn(tmp_path / folder))
        ends.append((_bits(course), course.finish(tmp_path / folder).model.read_bytes()))
    assert ends[0] == ends[1]
    assert ends[0][0] != ends[2][0]


def test_a_stopped_training_ends_bit_by_bit_like_one_that_was_not(hummers: Corpus, tmp_path: Path) -> None:
    whole = _course(hummers)
    list(whole.learn(tmp_path / "whole"))
    stopped = _course(hummers).learn(tmp_path / "parts")
    list(itertools.islice(stopped, 13))
    again = _course(hummers)
    steps = [told.step for told in again.learn(tmp_path / "parts", resume=True)]
    assert steps == list(range(9, 25)), "goes on from the checkpoint of step 8"
    assert _bits(again) == _bits(whole)
    models = [c.finish(tmp_path / f).model.read_bytes() for c, f in ((whole, "whole"), (again, "parts"))]
    assert models[0] == models[1]


def test_other_speech_or_settings_are_not_gone_on_with(hummers: Corpus, tmp_path: Path) -> None:
    few = dataclasses.replace(TINY, plan=Plan(steps=2, judge_every=2))
    list(_course(hummers, few).learn(tmp_path))
    fewer = Corpus(hummers.frame.filter(pl.col("utterance") != "0-0"))
    for course in (_course(fewer, few), _course(hummers, dataclasses.replace(few, seed=3))):
        with pytest.raises(ConfigError, match="another configuration or from other speech"):
            list(course.learn(tmp_path, resume=True))
    slower = dataclasses.replace(few, sounds=dataclasses.replace(few.sounds, memory_mb=0))
    assert _course(hummers, slower).mark == _course(hummers, few).mark, "memory changes nothing"


def test_a_trained_ear_refuses_its_teachers(hummers: Corpus, tmp_path: Path) -> None:
    course = _course(hummers, dataclasses.replace(TINY, plan=Plan(steps=1, judge_every=1)))
    list(course.learn(tmp_path))
    assert taught_by(f"trained:{course.finish(tmp_path).model}") is taught_by("ecapa") is None
    ear = Trained(course.finish(tmp_path, system=SystemIdentity("5f3a", "mcadams (alpha = 0.8)")).model)
    learnt = taught_by(f"trained:{ear.path}")
    assert learnt == SystemIdentity("5f3a", "another name") and str(learnt) == "mcadams (alpha = 0.8)"
    ear.check(["p7", "p8", "somebody"])
    with pytest.raises(LeakError, match="2 trial speakers are also in the training of this ear \\(first: 'p0'\\)"):
        ear.check(["p8", "p0", "p6"])
    assert b"p0" not in ear.path.read_bytes().split(b"speakers", 1)[1], "speakers are named by tokens"


def test_an_evaluation_with_an_ear_that_knows_the_speakers_is_refused(hummers: Corpus, tmp_path: Path) -> None:
    from personare.attackers.knowledge import Knowledge
    from personare.engine import engine_for
    from personare.pipeline import old_evaluate as evaluate
    from personare.pipeline import old_knowledge as knowledge
    from personare.pipeline.pairing import Pairs

    course = _course(hummers, dataclasses.replace(TINY, plan=Plan(steps=1, judge_every=1)))
    list(course.learn(tmp_path))
    ear = f"trained:{course.finish(tmp_path).model}"
    pairs = Pairs(hummers.frame.with_columns(anonymized=pl.col("audio")), (), 0)
    with pytest.raises(LeakError, match="7 trial speakers"):
        evaluate.evaluate(pairs, system=None, engine=engine_for(1), embedder=ear)
    with pytest.raises(LeakError, match="7 trial speakers"):
        knowledge.plan(pairs, [Knowledge.ORIGINAL], system=None, embedder=ear)
    others = Pairs(pairs.frame.filter(pl.col("part") == "eval"), (), 0)
    found = evaluate.evaluate(others, system=None, engine=engine_for(1), embedder=ear)
    assert found.failures == () and found.facts["embedder"].startswith("trained-")


def test_a_head_can_be_aimed_at_the_speakers_a_network_already_knows(hummers: Corpus) -> None:
    course = _course(hummers)
    aim_head(course.ear)
    directions = course.ear.tensors[HEAD].detach().numpy()
    heard = [unit_rows(course.ear.vectors(mels)).mean(axis=0) for mels in course.ear.batches.one_of_each()]
    np.testing.assert_allclose(directions, np.stack(heard), rtol=1e-5)
    assert directions.shape == (12, 40)


@pytest.mark.slow
@pytest.mark.models
def test_the_published_ear_learns_on(hummers: Corpus, tmp_path: Path) -> None:
    few = dataclasses.replace(
        settings.shipped("ecapa", "ecapa"), sounds=CLEAN, held_out=TINY.held_out, plan=Plan(steps=2, judge_every=2)
    )
    course = _course(hummers, few)
    before = course.ear.hear(hum(1).samples)
    np.testing.assert_allclose(before, embedder("ecapa")([hum(1)])[0], atol=1e-4 * np.abs(before).max())
    list(course.learn(tmp_path))
    assert not np.allclose(course.ear.hear(hum(1).samples), before)
    assert course.finish(tmp_path).difference < 1e-4


def test_frozen_layers_stay_as_they_were(hummers: Corpus, tmp_path: Path) -> None:
    frozen = dataclasses.replace(TINY.network, frozen=("blocks.0", "mfa"))
    course = _course(hummers, dataclasses.replace(TINY, network=frozen, plan=Plan(steps=3, judge_every=3)))
    before = _bits(course)
    list(course.learn(tmp_path))
    same = {name for name, bits in _bits(course).items() if before[name] == bits}
    assert same == {name for name in before if name.startswith(("blocks.0.", "mfa."))}
    with pytest.raises(ConfigError, match="no layer 'block' to freeze; did you mean 'blocks'"):
        _course(hummers, dataclasses.replace(TINY, network=dataclasses.replace(TINY.network, frozen=("block",))))


def test_trial_speakers_never_enter_a_training(hummers: Corpus) -> None:
    with pytest.raises(LeakError, match="first: 'p3'"):
        divide(hummers, TINY.held_out, key=KEY, part="train", attacked=["p3", "x"])
    both = hummers.frame.with_columns(part=pl.when(pl.col("utterance") == "2-1").then(pl.lit("eval")).otherwise("part"))
    with pytest.raises(LeakError, match="first: 'p2'"):
        divide(Corpus(both), TINY.held_out, key=KEY, part="train")
    clips = tuple(clips_of(hummers))
    with pytest.raises(LeakError, match="also in the attacker's training"):
        Division(clips[:6], clips[5:])


def test_judges_are_other_people_drawn_from_the_seed(hummers: Corpus) -> None:
    found = divide(hummers, TINY.held_out, key=KEY, part="train")
    learnt, judges = ({clip.speaker for clip in part} for part in (found.learn, found.judge))
    assert (len(learnt), len(judges), learnt & judges) == (4, 3, set())
    assert len(found.judge) == 9
    assert found == divide(hummers, TINY.held_out, key=KEY, part="train")


def test_a_corpus_that_cannot_be_divided(hummers: Corpus) -> None:
    with pytest.raises(CorpusError, match="eval, train; say which to learn from with --part"):
        divide(hummers, TINY.held_out, key=KEY)
    with pytest.raises(CorpusError, match="no part 'trian'; did you mean 'train'"):
        divide(hummers, TINY.held_out, key=KEY, part="trian")
    with pytest.raises(TrainingError, match=r"lower held_out\.speakers"):
        divide(hummers, HeldOut(speakers=6), key=KEY, part="train")


def test_broken_recordings_are_rows(hummers: Corpus, tmp_path: Path) -> None:
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"no sound")
    frame = hummers.frame.with_columns(
        audio=pl.when(pl.col("utterance") == "0-1").then(pl.lit(str(broken))).otherwise("audio")
    )
    clips = open_clips(clips_of(Corpus(frame)), memory_mb=0)
    assert [name for name, _ in clips.failures] == ["0-1"]
    assert len(clips.clips) == len(frame) - 1
    assert clips.kept == {}
    assert clips.duration_s == pytest.approx(9 * (0.45 + 0.55 + 0.65 + 0.75) - 0.55)
    with pytest.raises(TrainingError, match="no recording to learn from can be read"):
        open_clips([clip for clip in clips_of(Corpus(frame)) if clip.utterance == "0-1"], memory_mb=1)


def test_augmentation_does_what_it_says() -> None:
    rng = np.random.default_rng(1)
    tone = np.sin(2 * np.pi * 1000 * np.arange(17_616) / 16_000).astype(np.float32)
    faster = augment.heard_at(tone, 1.1, 16_000)
    assert len(faster) == 16_000
    assert np.abs(np.fft.rfft(faster)).argmax() == 1100, "pitch moves with the speed"
    noise = augment.coloured_noise(16_000, rng=rng)
    mixed = augment.with_noise(tone[:16_000], noise, 10.0)
    snr = 20 * np.log10(augment.level(tone[:16_000]) / augment.level(mixed - tone[:16_000]))
    assert snr == pytest.approx(10, abs=0.01)
    assert augment.level(augment.babble([tone, 3 * noise[:1000].repeat(18)[:17_616]])) == pytest.approx(1, abs=1e-3)
    assert not augment.babble([np.zeros(10, np.float32)]).any()


def test_batches_depend_on_their_step_only_and_know_who_speaks(hummers: Corpus) -> None:
    batches = _course(hummers).ear.batches
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
    system = settings.chosen("ecapa", None, RECIPES / "embedder-ecapa-1024.yaml")
    assert (system.network.channels, system.head.kind, system.plan.device) == (1024, "aam", "cuda")
    with pytest.raises(ConfigError, match="arch is 'ecapa', not 'xvector'"):
        settings.chosen("xvector", None, RECIPES / "embedder-ecapa-1024.yaml")


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: Settings(network=Network(channels=12)), "multiples of 8, not 12"),
        (lambda: Settings(arch="xvector", init="ecapa"), "not for 'xvector'"),
        (lambda: Sounds(speeds=(1.0, 3.0)), "between 0.5 and 2"),
        (lambda: Sounds(noise_share=0.7, babble_share=0.7), "at most 1 together"),
        (lambda: Sounds(noise_snr_db=(9.0, 1.0)), "from low to high"),
        (lambda: HeldOut(speakers=1), "at least 2 speakers"),
        (lambda: settings.Head(margin=2.0), "0 <= margin < 1.5"),
    ],
)
def test_impossible_settings(make: Any, line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        make()


def test_files_that_are_no_ears(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no such file; train one with"):
        embedder("trained", path=str(tmp_path / "none.onnx"))
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    with pytest.raises(WeightsError, match=r"bad\.onnx: onnxruntime cannot open"):
        embedder("trained", path=str(tmp_path / "bad.onnx"))([hum(1)])
    from personare.encoders.graphs import Graph

    graph = Graph()
    (tmp_path / "other.onnx").write_bytes(graph.encode("x", [1], graph.add("Relu", "x"), [1]))
    with pytest.raises(WeightsError, match="not written by personare train embedder"):
        embedder("trained", path=str(tmp_path / "other.onnx"))([hum(1)])


def test_without_torch_it_is_one_line(hummers: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="training an embedder needs the extra 'neural'"):
        prepare(hummers, TINY, eer=rocch_eer, part="train")
