"""The sound of invented speakers: real speech levels, a fingerprint that tells apart all that changes the sound."""

# ruff: noqa: RUF001 - phonetic letters look like others on purpose

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from personare.core.errors import ConfigError
from personare.corpora.voices.plan import plan, speaker
from personare.corpora.voices.synthesizer import fingerprint, style_of, synthesize
from personare.voices.kokoro import symbol_ids


def test_a_fingerprint_changes_with_everything_that_changes_the_sound() -> None:
    item = plan(30, 1, seed=1)[-1]
    who = item.speaker
    others = [
        replace(item, phonemes=item.phonemes.replace("ˈ", "ˌ")),
        replace(item, speaker=replace(who, pace=who.pace + 0.001)),
        replace(item, speaker=replace(who, share=who.share + 0.001)),
        replace(item, speaker=replace(who, voices=who.voices[::-1])),
    ]
    names = [fingerprint(i, rate_hz=16_000) for i in (item, *others)] + [fingerprint(item, rate_hz=24_000)]
    assert len(set(names)) == len(names) and fingerprint(item, rate_hz=16_000) == names[0]


@pytest.mark.models
def test_an_unknown_symbol_is_an_error_never_left_out() -> None:
    with pytest.raises(ConfigError, match="Kokoro has no symbol 'ж'"):
        symbol_ids("ˈoж")


@pytest.mark.models
def test_a_mixed_style_lies_between_its_two_voices() -> None:
    mixed = speaker(40, seed=1)
    first, second = (style_of(replace(mixed, voices=(v,)), 30) for v in mixed.voices)
    expected = mixed.share * first.astype(np.float64) + (1 - mixed.share) * second
    assert style_of(mixed, 30).shape == (1, 256) and np.allclose(style_of(mixed, 30), expected, atol=1e-6)
    assert np.array_equal(style_of(mixed, 10_000), style_of(mixed, 509)), "a longer text takes the last row"


@pytest.mark.models
def test_speech_is_heard_at_a_natural_level_and_never_clipped() -> None:
    audio = synthesize(plan(1, 1, seed=1)[0], rate_hz=16_000)
    level_db = 20 * np.log10(np.sqrt(np.mean(audio.samples.astype(np.float64) ** 2)))
    assert audio.rate_hz == 16_000 and 1.2 < audio.duration_s < 5
    assert -35 < level_db < -12 and 0.1 < np.abs(audio.samples).max() <= 0.95 + 1e-6
