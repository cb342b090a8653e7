"""The small universal speech codec at use: exported files, tokens, any length and rate, silence, threads."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from conftest import hum
from tiny_codec import tiny_network, tiny_shape

torch = pytest.importorskip("torch")

from personare.codecs.codec import CODECS, Codec  # noqa: E402
from personare.codecs.tokens import TokenError, read_tokens, write_tokens  # noqa: E402
from personare.codecs.usc import export, features  # noqa: E402
from personare.codecs.usc.codec import Usc, pieces  # noqa: E402
from personare.codecs.usc.trained import open_trained  # noqa: E402
from personare.core.audio import Audio  # noqa: E402
from personare.core.errors import AudioError, UnknownNameError, WeightsError  # noqa: E402
from personare.training.usc import grid  # noqa: E402
from personare.training.usc.small_network import SmallShape  # noqa: E402


@pytest.fixture(scope="module")
def folder(tiny_codec: Path) -> Path:
    return tiny_codec


def test_exported_graphs_give_what_the_network_gives(folder: Path) -> None:
    trained, network, rng = open_trained(str(folder)), tiny_network(tiny_shape()), np.random.default_rng(0)
    semantic = rng.standard_normal((1, 50, 588), dtype=np.float32)
    acoustic = rng.standard_normal((1, 50, 328), dtype=np.float32)
    codes = np.stack([rng.integers(0, n, 50) for n in trained.quantizers.code_counts], axis=1).astype(np.int32)
    with torch.no_grad():
        z_s = network.content_norm(network.content(torch.from_numpy(semantic)))
        p = network.semantic.projected(z_s)[0].numpy()
        z_a = network.acoustic.norm(network.mel(torch.from_numpy(acoustic)))[0].numpy()
    assert trained.semantic.run(None, {"features": semantic})[0][0] == pytest.approx(p, abs=5e-3)
    assert trained.acoustic.run(None, {"features": acoustic})[0][0] == pytest.approx(z_a, abs=2e-2)
    for levels in (1, 3, 6):
        for voice in (None, trained.voices["a"]):
            with torch.no_grad():
                total = network.semantic.looked_up(torch.from_numpy(codes[None, :, 0]))
                if levels > 1:
                    total = total + network.acoustic.looked_up(torch.from_numpy(codes[None, :, 1:levels]))
                vector = torch.zeros(1, 256) if voice is None else torch.from_numpy(voice)[None]
                condition = network.conditioned(torch.tensor([levels]), vector, torch.tensor([voice is not None]))
                expected = network.decoded(total, condition)[0].numpy()
            assert trained.decoded(codes[:, :levels], voice) == pytest.approx(expected, abs=3e-2)


def test_the_quantizers_at_use_choose_the_codes_that_training_chooses(folder: Path) -> None:
    trained, network, rng = open_trained(str(folder)), tiny_network(tiny_shape()), np.random.default_rng(1)
    p = rng.standard_normal((200, 4), dtype=np.float32)
    p /= np.linalg.norm(p, axis=1, keepdims=True)
    z_a = rng.standard_normal((200, 24), dtype=np.float32)
    found = trained.quantizers.nearest(p, z_a)
    with torch.no_grad():
        first = network.semantic.nearest(torch.from_numpy(p))
        z_0 = network.semantic.looked_up(first)
        network.acoustic.norm = torch.nn.Identity()
        _, indices, _, _ = network.acoustic(torch.from_numpy(z_a)[None], z_0[None], torch.tensor([5]))
    assert (found[:, 0] == first.numpy()).mean() > 0.98
    assert (found[:, 1] == indices[0][0].numpy()).mean() > 0.95


def test_a_long_decoding_in_pieces_is_the_same_as_in_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained, rng = open_trained(str(folder)), np.random.default_rng(2)
    codes = np.stack([rng.integers(0, n, 400) for n in trained.quantizers.code_counts], axis=1).astype(np.int32)
    whole = trained.decoded(codes, None)
    monkeypatch.setattr("personare.codecs.usc.trained._PIECE", 90)
    assert trained.decoded(codes, None) == pytest.approx(whole, abs=1e-4)


@pytest.mark.models
@pytest.mark.parametrize(
    ("rate_hz", "duration_s"), [(16_000, 1.3), (8_000, 0.7), (48_000, 0.6), (16_000, 0.1), (44_100, 0.0001)]
)
def test_any_rate_and_length_comes_back_as_long_as_it_was(folder: Path, rate_hz: int, duration_s: float) -> None:
    codec, audio = Usc(weights=str(folder)), hum(3, duration_s=duration_s, rate_hz=rate_hz)
    tokens = codec.encode(audio)
    assert len(tokens.codes) == max(1, math.ceil(round(audio.duration_s * 16_000) / 640))
    for levels in (1, 6):
        back = codec.decode(tokens.kept(levels), rng=np.random.default_rng(0))
        assert (len(back.samples), back.rate_hz) == (len(audio.samples), rate_hz)
        assert np.isfinite(back.samples).all() and np.abs(back.samples).max() <= 1


@pytest.mark.models
def test_long_speech_is_cut_between_frames_and_coded_without_gaps(folder: Path) -> None:
    audio = hum(4, duration_s=47.0)
    cuts = list(pieces(audio.samples))
    assert cuts[0][0] == 0 and cuts[-1][1] == len(audio.samples)
    assert all(a[1] == b[0] and a[1] % grid.HOP == 0 for a, b in itertools.pairwise(cuts))
    assert all(last - first <= 20 * 16_000 for first, last in cuts)
    assert len(Usc(weights=str(folder)).encode(audio).codes) == 47 * 25


@pytest.mark.models
def test_tokens_are_the_same_on_one_and_two_threads_and_each_time(folder: Path) -> None:
    audio = hum(5, duration_s=3.0)
    one, again, two = (Usc(weights=str(folder), threads=n).encode(audio) for n in (1, 1, 2))
    assert np.array_equal(one.codes, again.codes)
    assert np.array_equal(one.codes, two.codes)


@pytest.mark.models
def test_silence_can_be_coded_and_stays_a_sound_without_nan(folder: Path) -> None:
    codec, silence = Usc(weights=str(folder)), Audio(np.zeros(16_000, np.float32), 16_000)
    tokens = codec.encode(silence)
    assert math.isnan(tokens.level_db)
    assert np.isfinite(codec.decode(tokens, rng=np.random.default_rng(0)).samples).all()


@pytest.mark.models
def test_the_level_of_a_recording_comes_back_with_more_than_c0(folder: Path) -> None:
    codec, audio = Usc(weights=str(folder)), hum(6, duration_s=2.0)
    soft = codec.encode(Audio(audio.samples * np.float32(0.01), 16_000))
    loud = codec.encode(audio)
    assert loud.level_db - soft.level_db == pytest.approx(40, abs=0.05)
    assert np.array_equal(soft.codes[:, 0], loud.codes[:, 0])
    assert math.isnan(loud.kept(1).level_db)


@pytest.mark.models
def test_the_voice_changes_what_c0_alone_sounds_like_and_nothing_else(folder: Path) -> None:
    tokens = Usc(weights=str(folder)).encode(hum(7, duration_s=1.0))

    def made(voice: str, levels: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        return Usc(weights=str(folder), voice=voice).decode(tokens.kept(levels), rng=np.random.default_rng(0)).samples

    assert not np.array_equal(made("a", 1), made("b", 1))
    assert np.array_equal(made("a", 6), made("b", 6))
    with pytest.raises(UnknownNameError, match="no voice 'c'"):
        made("c", 1)


@pytest.mark.models
def test_tokens_survive_a_file_and_another_codec_refuses_them(folder: Path, tmp_path: Path) -> None:
    codec = Usc(weights=str(folder))
    tokens = codec.encode(hum(8, duration_s=1.0))
    write_tokens(tmp_path / "a.pntk", tokens)
    back = codec.decode(read_tokens(tmp_path / "a.pntk"), rng=np.random.default_rng(0))
    assert np.array_equal(back.samples, codec.decode(tokens, rng=np.random.default_rng(0)).samples)
    from dataclasses import replace

    with pytest.raises(TokenError, match="cannot be decoded"):
        codec.decode(replace(tokens, fingerprint="0" * 16), rng=np.random.default_rng(0))


def test_nothing_and_nan_are_refused(folder: Path) -> None:
    codec = Usc(weights=str(folder))
    with pytest.raises(AudioError, match="without samples"):
        codec.encode(Audio(np.zeros(0, np.float32), 16_000))
    with pytest.raises(AudioError, match="NaN"):
        codec.encode(Audio(np.array([0.1, np.nan], np.float32), 16_000))


def test_a_folder_that_was_changed_or_is_no_codec_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"has no card\.json"):
        open_trained(str(tmp_path))
    for name in (*export.FILES, export.CARD):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with (tmp_path / export.DECODER).open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(WeightsError, match="do not fit their card"):
        open_trained(str(tmp_path))
    (tmp_path / export.CARD).write_text(json.dumps({"front": "split"}), encoding="utf-8")
    with pytest.raises(WeightsError, match="not an exported codec"):
        open_trained(str(tmp_path))


def test_the_codec_is_in_the_table_and_keeps_the_interface(folder: Path) -> None:
    codec = CODECS.make("usc", weights=str(folder))
    assert isinstance(codec, Codec)
    assert codec.code_counts == (256, 32, 32, 32, 32, 32)
    assert len(codec.fingerprint) == 16


def test_the_published_bit_rates_are_those_of_the_published_sizes() -> None:
    from personare.codecs.tokens import bit_rate

    shape = SmallShape()
    counts = (shape.semantic_codes, *[shape.acoustic_codes] * (shape.levels - 1))
    assert bit_rate(counts[:1], grid.FRAME_RATE_HZ) == 350
    assert bit_rate(counts, grid.FRAME_RATE_HZ) == 1600


def test_level_gain_brings_speech_to_the_coding_level_and_leaves_silence() -> None:
    audio = hum(9, duration_s=2.0).samples
    for factor in (0.01, 1.0, 3.0):
        sound = audio * np.float32(factor)
        assert 20 * math.log10(np.sqrt(np.mean(np.square(sound * features.level_gain(sound))))) == pytest.approx(
            -26, abs=1
        )
    assert features.level_gain(np.zeros(100, np.float32)) == 1.0
