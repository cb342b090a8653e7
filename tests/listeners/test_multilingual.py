"""Words in several languages: recognized in their own language, counted by its rules, never counted together."""

from __future__ import annotations

import numpy as np
import pytest

from personare.core.audio import Audio
from personare.core.errors import AudioError
from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext
from personare.core.seeding import Key
from personare.encoders import whisper
from personare.listeners import listener
from personare.listeners.cache import _place
from personare.listeners.multilingual import WhisperBase, WhisperSmall
from personare.listeners.normalize import ByLanguage, normalizer

NOISE = Audio(np.random.default_rng(1).normal(0, 0.1, 8000).astype(np.float32), 16_000)


def test_each_utterance_is_recognized_in_its_own_language(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(samples: object, *, language: str, model: str) -> str:
        return f"{language} {model}"

    monkeypatch.setattr(whisper, "transcribe", asked)
    batch = [Stimulus(NOISE, language="de"), Stimulus(NOISE), Stimulus(NOISE, language="fr")]
    assert [one.words for one in WhisperSmall().observe(batch)] == [
        f"{code} whisper-small" for code in ("de", "en", "fr")
    ]
    assert WhisperBase()([NOISE]) == ["en whisper-base"]
    with pytest.raises(AudioError, match="does not recognize nds"):
        WhisperBase().observe([Stimulus(NOISE, language="nds")])


def test_the_cache_tells_languages_apart_for_those_who_hear_them() -> None:
    german, french = Stimulus(NOISE, language="de"), Stimulus(NOISE, language="fr")
    assert _place("it", german, None, by_language=True) != _place("it", french, None, by_language=True)
    assert _place("it", german, None, by_language=False) == _place("it", french, None, by_language=False)


def rows() -> list[ObservedUtterance]:
    heard = {
        "d1": ("Er zahlt 21 Euro", "er zahlt einundzwanzig Euro"),
        "d2": ("Guten Tag", "Guter Tag"),
        "f1": ("Il a 80 ans", "il a quatre-vingts ans"),
    }
    return [
        ObservedUtterance(name, {"original": Observation(words=first), "anonymized": Observation(words=second)})
        for name, (first, second) in heard.items()
    ]


def test_error_rates_are_given_for_each_language() -> None:
    texts = {"d1": "Er zahlt 21 Euro.", "d2": "Guten Tag!", "f1": "Il a 80 ans."}
    noted = {"text": texts, "language": {"d1": "de", "d2": "de", "f1": "fr"}}
    context = SummaryContext("it", dict.fromkeys(texts, "s"), 3, Key.from_seed(1), noted)
    summary = WhisperSmall().summarize(rows(), context)
    values = {
        (f.metric.name, f.conditions["language"], f.conditions["speech"]): f.estimate.value for f in summary.findings
    }
    assert values == {
        ("wer", "de", "original"): 0.0,
        ("wer", "de", "anonymized"): 1 / 6,
        ("cer", "de", "original"): 0.0,
        ("cer", "de", "anonymized"): 1 / (len("er zahlt einundzwanzig euro") + len("guten tag")),
        ("wer", "fr", "original"): 0.0,
        ("wer", "fr", "anonymized"): 0.0,
        ("cer", "fr", "original"): 0.0,
        ("cer", "fr", "anonymized"): 0.0,
    }
    assert "Error rates are given for each language; none pools languages." in summary.notes


def test_english_recognizers_say_so() -> None:
    assert {name: listener(name).languages for name in ("moonshine", "whisper")} == dict.fromkeys(
        ("moonshine", "whisper"), ("en",)
    )


def test_normalizers_by_language() -> None:
    assert normalizer("language") == ByLanguage()
    assert normalizer("letters").of_language("de")("Ü") == "u", "rules that know no language are the same for all"
    assert ByLanguage().of_language(None)("Colour") == "color"
