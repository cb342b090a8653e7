"""Every part of the universal speech codec by itself: shapes, signs, scales, and what must not get through."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from personare.core.errors import ConfigError  # noqa: E402
from personare.training.usc import grid  # noqa: E402
from personare.training.usc.adversaries import Discriminators, contest  # noqa: E402
from personare.training.usc.mel_loss import SCALES, multi_scale_mel_loss  # noqa: E402
from personare.training.usc.privacy import LaplaceNoise, SpeakerClassifier, reversed_gradient  # noqa: E402
from personare.training.usc.residual_levels import ResidualLevels  # noqa: E402
from personare.training.usc.residual_quantizer import QuantizerDropout, ResidualQuantizer  # noqa: E402
from personare.training.usc.semantic_quantizer import SemanticQuantizer  # noqa: E402
from personare.training.usc.small_batches import LevelShares  # noqa: E402
from personare.training.usc.small_losses import distillation_loss  # noqa: E402
from personare.training.usc.waveform_network import SnakeBeta, WaveDecoder, WaveEncoder  # noqa: E402


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)


def test_snake_beta_is_its_formula_on_a_log_scale() -> None:
    snake = SnakeBeta(2)
    with torch.no_grad():
        snake.log_alpha.copy_(torch.tensor([math.log(2.0), 0.0]))
        snake.log_beta.copy_(torch.tensor([0.0, math.log(4.0)]))
    x = torch.tensor([[[0.3, -1.2], [0.7, 2.0]]])
    expected = [
        [0.3 + math.sin(0.6) ** 2, -1.2 + math.sin(2.4) ** 2],
        [0.7 + math.sin(0.7) ** 2 / 4, 2 + math.sin(2) ** 2 / 4],
    ]
    assert snake(x)[0].tolist() == [pytest.approx(row, rel=1e-5) for row in expected]


@pytest.mark.parametrize("seconds", [1, 2])
def test_the_papers_encoder_goes_down_640_times_and_its_decoders_come_back(seconds: int) -> None:
    encoder, decoder = WaveEncoder(2, (2, 4, 8, 10), 6), WaveDecoder(16, (10, 8, 4, 2), 6)
    upsampling = WaveDecoder(16, (10, 8, 4, 3), 6)
    wave = torch.randn(3, 1, 16_000 * seconds)
    z = encoder(wave)
    assert (encoder.hop, decoder.hop, upsampling.hop) == (640, 640, 960)
    assert z.shape == (3, 6, 25 * seconds)
    assert decoder(z).shape == wave.shape
    assert upsampling(z).shape == (3, 1, 24_000 * seconds)


def test_the_decoder_has_no_tanh_at_its_end() -> None:
    decoder = WaveDecoder(16, (10, 8, 4, 2), 6)
    with torch.no_grad():
        decoder.layers[-1].bias.fill_(3.0)
    assert float(decoder(torch.randn(1, 6, 5)).detach().max()) > 1.5


def test_reversal_hands_on_what_it_gets_and_turns_the_gradient_round() -> None:
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = reversed_gradient(x, 0.5)
    assert y.tolist() == x.tolist()
    (y * torch.tensor([3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [-1.5, -2.0]


def test_behind_reversal_the_classifier_learns_and_what_it_sees_gets_worse_for_it() -> None:
    classifier = SpeakerClassifier(6, 4, layers=1, inner=16)
    z = torch.randn(8, 5, 6, requires_grad=True)
    labels = torch.arange(8) % 4
    before = classifier(z, labels)
    classifier(reversed_gradient(z), labels).backward()
    with torch.no_grad():
        worse = classifier(z - 0.05 * z.grad, labels)
        for parameter in classifier.parameters():
            parameter -= 0.01 * parameter.grad
        better = classifier(z, labels)
    assert float(worse) > float(before.detach()) > float(better)


def test_am_softmax_takes_the_margin_from_the_true_speaker_only() -> None:
    classifier = SpeakerClassifier(6, 3, layers=1, inner=8)
    z, labels = torch.randn(2, 5, 6), torch.tensor([2, 0])
    with torch.no_grad():
        vectors = torch.nn.functional.normalize(classifier.embedded(z))
        cosines = vectors @ torch.nn.functional.normalize(classifier.directions).t()
        cosines[torch.arange(2), labels] -= 0.4
        expected = torch.nn.functional.cross_entropy(30 * cosines, labels)
        assert float(classifier(z, labels)) == pytest.approx(float(expected), rel=1e-5)


def test_laplace_noise_clips_to_c_and_has_the_scale_2c_over_epsilon() -> None:
    block = LaplaceNoise(15.0, warm_up=3)
    for factor in (1.0, 2.0, 3.0):
        assert torch.equal(block(factor * torch.ones(4, 8)), factor * torch.ones(4, 8))  # C is being estimated
    assert float(block.clip) == pytest.approx(16.0)
    assert block.scale == pytest.approx(2 * 16 / 15)
    clipped = block.clipped(torch.cat([10 * torch.ones(1, 8), 0.1 * torch.ones(1, 8)]))
    assert clipped.abs().sum(1).tolist() == [pytest.approx(16.0), pytest.approx(0.8)]
    noise = block(torch.zeros(50_000, 8))
    # the mean size of Laplace noise is its scale, the variance twice its square
    assert float(noise.abs().mean()) == pytest.approx(block.scale, rel=0.02)
    assert float(noise.var()) == pytest.approx(2 * block.scale**2, rel=0.04)
    assert abs(float(noise.mean())) < 0.02


def test_c_of_a_finished_variant_is_used_from_the_first_batch_on() -> None:
    block = LaplaceNoise(15.0, clip=4.0)
    noisy = block(100 * torch.ones(20_000, 8))
    assert float(block.clip) == 4.0 and block.scale == pytest.approx(8 / 15)
    assert float(noisy.mean()) == pytest.approx(4.0 / 8, abs=0.02)  # 800 in L1, clipped to 4
    with pytest.raises(ValueError, match="clipping value"):
        LaplaceNoise(15.0, clip=0.0)


def test_laplace_noise_is_off_at_use() -> None:
    block = LaplaceNoise(15.0, warm_up=1)
    block(torch.ones(2, 8))
    block.eval()
    x = 100 * torch.randn(5, 8)
    assert torch.equal(block(x), x)


def test_laplace_noise_refuses_an_epsilon_of_zero() -> None:
    with pytest.raises(ValueError, match="epsilon"):
        LaplaceNoise(0.0)


def test_semantic_quantizer_chooses_the_nearest_code_by_cosine() -> None:
    quantizer = SemanticQuantizer(6, 4, 32).eval()
    z = torch.randn(2, 7, 6)
    out, indices, codebook, commitment = quantizer(z)
    with torch.no_grad():
        p = torch.nn.functional.normalize(quantizer.enter(z), dim=-1)
        book = torch.nn.functional.normalize(quantizer.codes, dim=1)
        by_hand = torch.stack([((p[i][:, None] - book) ** 2).sum(-1).argmin(1) for i in range(2)])
    assert torch.equal(indices, by_hand)
    assert torch.allclose(out, quantizer.looked_up(indices), atol=1e-6)
    assert float(codebook.detach()) == pytest.approx(float(commitment.detach()), rel=1e-5)


def test_straight_through_reaches_the_encoder_unless_the_sample_is_stopped() -> None:
    quantizer = SemanticQuantizer(6, 4, 32)
    z = torch.randn(2, 7, 6, requires_grad=True)
    out, *_ = quantizer(z, stopped=torch.tensor([True, False]))
    out.square().sum().backward()
    assert z.grad[0].abs().max() == 0
    assert z.grad[1].abs().max() > 0
    assert quantizer.codes.grad.abs().max() > 0  # the sound teaches the codes of both
    assert quantizer.leave.weight.grad.abs().max() > 0


def test_the_papers_quantizer_stops_the_gradient_of_samples_that_keep_c0_alone() -> None:
    quantizer = ResidualQuantizer(6, 4, (32, 8, 8))
    z = torch.randn(3, 7, 6, requires_grad=True)
    quantizer(z, torch.tensor([1, 2, 3])).total.square().sum().backward()
    assert z.grad[0].abs().max() == 0
    assert min(float(z.grad[i].abs().max()) for i in (1, 2)) > 0
    z.grad = None
    quantizer(z, torch.tensor([1, 2, 3]), stop_alone=False).total.square().sum().backward()
    assert z.grad[0].abs().max() > 0


def test_each_level_of_the_papers_quantizer_sees_what_is_left_over() -> None:
    quantizer = ResidualQuantizer(6, 4, (32, 8, 8)).eval()
    z = torch.randn(2, 7, 6)
    found = quantizer(z, torch.tensor([3, 3]))
    assert torch.allclose(found.total, quantizer.looked_up(torch.stack(found.indices, dim=-1)), atol=1e-6)
    first = quantizer.levels[0].looked_up(found.indices[0])
    second = quantizer.levels[1].nearest(quantizer.levels[1].projected(z - first))
    assert torch.equal(second, found.indices[1])


def test_dead_codes_are_restarted_on_the_batch_and_used_again() -> None:
    quantizer = SemanticQuantizer(6, 4, 256, patience=5)
    z = 0.01 * torch.randn(4, 16, 6) + torch.tensor([1.0, 0, 0, 0, 0, 0])
    for _ in range(7):
        _, before, _, _ = quantizer(z)
    generator = torch.Generator().manual_seed(1)
    assert quantizer.restart(z, generator) > 0
    _, after, _, _ = quantizer(z)
    assert len(after.unique()) > 4 * len(before.unique())


def test_dropout_keeps_all_levels_half_of_the_time_and_else_any_number() -> None:
    drawn = QuantizerDropout(0.5).draw(np.random.default_rng(0), 60_000, 6)
    shares = np.bincount(drawn, minlength=7)[1:] / len(drawn)
    assert shares == pytest.approx([1 / 12] * 5 + [7 / 12], abs=0.006)
    assert set(QuantizerDropout(0.0).draw(np.random.default_rng(0), 100, 6)) == {6}


def test_level_shares_are_drawn_as_configured_and_must_add_up() -> None:
    drawn = LevelShares(0.45, 0.2, 0.35).draw(np.random.default_rng(0), 60_000, 6)
    shares = np.bincount(drawn, minlength=7)[1:] / len(drawn)
    assert shares == pytest.approx([0.45, 0.05, 0.05, 0.05, 0.05, 0.35], abs=0.006)
    with pytest.raises(ConfigError, match="add up"):
        LevelShares(0.5, 0.5, 0.5)


def test_residual_levels_start_by_pca_and_each_leaves_less() -> None:
    levels = ResidualLevels(16, 4, 64, 3)
    z_a, z_0 = torch.randn(8, 60, 16) @ torch.randn(16, 16), torch.zeros(8, 60, 16)
    levels.start(levels.rest(z_a, z_0).detach().reshape(-1, 16), torch.Generator().manual_seed(0))
    levels.eval()
    total, indices, _, left = levels(z_a, z_0, torch.full((8,), 3))
    spread = [float(x.square().sum(-1).mean()) for x in left]
    assert spread[0] > 1.5 * spread[1] > 2 * spread[2] and spread[2] > spread[3]
    assert [len(i.unique()) for i in indices] == [64, 64, 64]
    assert torch.allclose(total, levels.looked_up(torch.stack(indices, dim=-1)), atol=1e-5)
    for row, axes in enumerate(levels.levels):
        assert torch.allclose(axes.enter.weight @ axes.enter.weight.t(), torch.eye(4), atol=1e-4), row


def test_residual_levels_give_each_sample_its_own_number_of_levels() -> None:
    levels = ResidualLevels(16, 4, 64, 3)
    z_a, z_0 = torch.randn(4, 60, 16), torch.randn(4, 60, 16)
    levels.start(levels.rest(z_a, z_0).detach().reshape(-1, 16), torch.Generator().manual_seed(0))
    levels.eval()
    total, indices, _, _ = levels(z_a, z_0, torch.tensor([0, 1, 2, 3]))
    assert total[0].abs().max() == 0
    stacked = torch.stack(indices, dim=-1)
    for sample in (1, 2, 3):
        assert torch.allclose(total[sample], levels.looked_up(stacked[sample, :, :sample]), atol=1e-5)


def test_residual_codes_follow_what_chooses_them() -> None:
    levels = ResidualLevels(8, 2, 4, 1)
    level = levels.levels[0]
    p = torch.tensor([[5.0, 5.0]]).repeat(100, 1)
    chosen = level.nearest(p)
    for _ in range(600):
        level.follow(p, chosen, None)
    assert torch.allclose(level.codes[chosen[0]], p[0], atol=0.05)


def test_multi_scale_mel_loss_uses_the_seven_scales_and_is_zero_for_the_same_wave() -> None:
    assert [window for window, _ in SCALES] == [32, 64, 128, 256, 512, 1024, 2048]
    wave = 0.1 * torch.randn(2, 8000)
    assert float(multi_scale_mel_loss(wave, wave, rate_hz=16_000)) == 0
    # ten times louder is 1 in log10 at each of the seven scales
    assert float(multi_scale_mel_loss(10 * wave, wave, rate_hz=16_000)) == pytest.approx(7.0, rel=0.02)


def test_the_contest_teaches_discriminators_and_sound_apart() -> None:
    discriminators = Discriminators(2, periods=(2, 3), windows=(256,))
    made = (0.1 * torch.randn(2, 1, 4000)).requires_grad_(True)
    true = 0.1 * torch.randn(2, 1, 4000)
    loss_d, loss_g, matching = contest(discriminators, made, true)
    loss_d.backward(retain_graph=True)
    assert made.grad is None
    assert all(p.grad is not None for p in discriminators.parameters())
    for parameter in discriminators.parameters():
        parameter.grad = None
    (loss_g + matching).backward()
    assert float(torch.as_tensor(made.grad).abs().max()) > 0
    assert all(p.grad is None for p in discriminators.parameters())


def test_least_squares_losses_have_their_known_values_for_a_constant_verdict() -> None:
    class Constant(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: object) -> list[list[object]]:
            return [[torch.zeros(1), torch.tensor([0.25])]]

    loss_d, loss_g, matching = contest(Constant(), torch.zeros(1, 1, 8), torch.zeros(1, 1, 8))
    assert float(loss_d) == pytest.approx(0.75**2 + 0.25**2)
    assert float(loss_g) == pytest.approx(0.75**2)
    assert float(matching) == 0


def test_feature_matching_is_summed_over_all_layers() -> None:
    class Layers(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> list[list[Any]]:
            return [[x, 2 * x, x.sum()[None]], [3 * x, x.sum()[None]]]

    _, _, matching = contest(Layers(), torch.ones(1, 1, 8), torch.zeros(1, 1, 8))
    assert float(matching) == pytest.approx(1 + 2 + 3)


def test_distillation_loss_is_distance_minus_log_sigmoid_of_the_cosine() -> None:
    x = torch.tensor([[[3.0, 4.0]]])
    assert float(distillation_loss(x, x)) == pytest.approx(math.log(1 + math.exp(-1)))
    assert float(distillation_loss(-x, x)) == pytest.approx(7.0 + math.log(1 + math.exp(1)))


def test_teacher_frames_are_averaged_in_pairs_to_25_hz() -> None:
    rows = np.arange(8, dtype=np.float32)[:, None]
    assert grid.pooled(rows, 4)[:, 0].tolist() == [0.5, 2.5, 4.5, 6.5]


def test_pulses_have_power_one_and_one_peak_per_period() -> None:
    for f0_hz in (100.0, 200.0, 320.0):
        train = grid.pulses(np.full(250, f0_hz, np.float32))
        assert float(np.square(train).mean()) == pytest.approx(1.0, rel=0.1)
        peaks = np.sum((train[1:-1] > train[:-2]) & (train[1:-1] >= train[2:]) & (train[1:-1] > 0.5 * train.max()))
        assert abs(int(peaks) - f0_hz * 2) <= 2


def test_reading_is_right_when_the_letters_stand_where_they_are_said() -> None:
    from personare.training.usc.reading import LETTERS, ReadingBatch, letter_error_rate, reading_loss, spelled

    letters = spelled("AB B")
    empty = torch.zeros(1, 6, 1)
    batch = ReadingBatch(empty, empty, empty, empty, torch.tensor([6]), torch.tensor(letters), torch.tensor([4]))
    path = [0, letters[0], letters[0], 0, letters[1], letters[2], 0, letters[3], 0, 0, 0, 0]
    sure = torch.full((1, 12, 1 + len(LETTERS)), -20.0)
    sure[0, torch.arange(12), path] = 0.0
    assert letter_error_rate(sure.log_softmax(-1), batch) == 0
    assert float(reading_loss(sure.log_softmax(-1), batch)) < 0.1
    unsure = torch.zeros(1, 12, 1 + len(LETTERS)).log_softmax(-1)
    assert letter_error_rate(unsure, batch) == 1
    assert float(reading_loss(unsure, batch)) > 3
    wrong = sure.roll(1, dims=2).log_softmax(-1)
    assert letter_error_rate(wrong, batch) > 0.7
