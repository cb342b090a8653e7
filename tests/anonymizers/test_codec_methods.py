"""Speech through a codec and back: `usc` passes on C0 alone, `codec` as many levels as asked, of any codec."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from conftest import hum
from personare.anonymizers import anonymizer
from personare.anonymizers.neural.codec import as_loud
from personare.codecs.usc.codec import Usc
from personare.core.audio import Audio
from personare.core.errors import ConfigError, UnknownNameError, WeightsError
from personare.core.fingerprint import models_of
from personare.pipeline.system import System

pytestmark = pytest.mark.models


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many levels every decoding was given."""
    given: list[int] = []
    original = Usc.decode

    def spy(self: Usc, tokens: object, **options: object) -> Audio:
        given.append(tokens.levels)  # type: ignore[attr-defined]
        return original(self, tokens, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Usc, "decode", spy)
    return given


def test_usc_passes_on_nothing_but_c0(tiny_codec: Path, decoded: list[int]) -> None:
    anonymizer("usc", weights=str(tiny_codec), voice="a")(hum(11), rng=rng())
    assert decoded == [1]


def test_codec_passes_on_as_many_levels_as_asked(tiny_codec: Path, decoded: list[int]) -> None:
    for setting in ({}, {"levels": 1}, {"levels": 4}):
        anonymizer("codec", weights=str(tiny_codec), **setting)(hum(11), rng=rng())
    assert decoded == [6, 1, 4]


def test_a_speaker_keeps_the_drawn_voice_and_another_draw_is_another(tiny_codec: Path) -> None:
    method, audio = anonymizer("usc", weights=str(tiny_codec)), hum(10, duration_s=1.5, rate_hz=22_050)
    one, same, other = (method(audio, rng=rng(seed)).samples for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.allclose(one, other, atol=1e-3)


def test_the_codec_counts_by_its_files_not_by_where_they_lie(tiny_codec: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny_codec, tmp_path / "copy"))
    for name in ("usc", "codec"):
        one, other = (anonymizer(name, weights=str(place)) for place in (tiny_codec, copy))
        assert one.fingerprint == other.fingerprint
        assert {"moonshine", "swift-f0"} <= {model.partition("/")[0] for model in models_of(one)}


def test_what_cannot_be_used_is_one_line(tiny_codec: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="levels must be at least 1"):
        anonymizer("codec", levels=0)
    with pytest.raises(UnknownNameError, match="no codec 'ucs'; did you mean 'usc'"):
        anonymizer("codec", codec="ucs")
    with pytest.raises(UnknownNameError, match="no voice 'c'"):
        anonymizer("usc", weights=str(tiny_codec), voice="c")(hum(1), rng=rng())
    with pytest.raises(WeightsError, match=r"has no card\.json"):
        anonymizer("usc", weights=str(tmp_path))(hum(1), rng=rng())


def test_without_weights_the_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from personare.codecs.usc import trained

    trained._opened.cache_clear()
    monkeypatch.setattr("personare.codecs.usc.trained.resources.files", lambda _: tmp_path)
    with pytest.raises(WeightsError, match=r"brings no weights of the codec usc along; train it .* weights=FOLDER"):
        System("usc").present_fingerprint  # noqa: B018 - the property raises
    trained._opened.cache_clear()


def test_loudness_is_one_gain_and_silence_stays() -> None:
    audio = hum(3, duration_s=1.0)
    gap = Audio(np.concatenate([audio.samples, np.zeros(800, np.float32), audio.samples]), 16_000)
    made = Audio(np.roll(gap.samples, 0) * np.float32(0.2) + np.float32(0.001), 16_000)
    result = as_loud(gap, made).samples
    assert not result[16_000:16_800].any()
    assert np.sqrt(np.mean(np.square(result))) == pytest.approx(np.sqrt(np.mean(np.square(gap.samples))), rel=0.05)
