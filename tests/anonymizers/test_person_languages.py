"""One pseudo-speaker for a person in all languages: the neural voice, or Kokoro for who speaks another language too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conftest import hum
from personare.anonymizers.neural.cascade import anonymizer as cascade_anonymizer
from personare.anonymizers.neural.cascade.anonymizer import Cascade
from personare.anonymizers.neural.cascade.neural_voice import NeuralVoice
from personare.anonymizers.neural.cascade.offline_voice import KokoroVoice
from personare.anonymizers.neural.words import transcript
from personare.anonymizers.neural.words.languages import Stretch
from personare.anonymizers.neural.words.phrases import Phrase
from personare.anonymizers.neural.words.transcript import SpokenPhrase, Transcript, transcribe
from personare.anonymizers.neural.xvector.weights import LANGUAGES_NETWORK, open_weights, reader_languages
from personare.core import weights
from personare.core.audio import Audio
from personare.core.errors import WeightsError
from personare.core.spoken import NOTHING_KNOWN, SpeakerEvidence, SpeakerFacts, SpeechNotes, combine, pool
from personare.encoders.recognition import RecognizedWord
from personare.pipeline.jobs.least_certain import heard_in

if TYPE_CHECKING:
    from personare.anonymizers.neural.cascade.voice import CascadeVoice

VECTOR = tuple(open_weights().bank.vectors[3].tolist())
ENGLISH = SpeakerFacts("f", VECTOR, languages=("en",))
FRENCH_TOO = SpeakerFacts("f", VECTOR, languages=("en", "fr"))
ITALIAN_TOO = SpeakerFacts("f", VECTOR, languages=("en", "it"))
WORDS = {"en": "Yes.", "fr": "Oui.", "it": "Sì."}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """Every pseudo-speaker that is drawn: its voice and its identity; recordings hold the words of ``hears``."""
    found: list[tuple[str, object]] = []
    real = Cascade._drawn

    def drawing(self: Cascade, voice: CascadeVoice, *given: object, **also: object) -> object:
        speaker = real(self, voice, *given, **also)  # type: ignore[arg-type]
        found.append((type(voice).__name__, speaker.identity))
        return speaker

    monkeypatch.setattr(Cascade, "_drawn", drawing)
    monkeypatch.setattr(Cascade, "_spoken", lambda *_, length, **__: np.ones(length, np.float32))
    monkeypatch.setattr(cascade_anonymizer, "require", lambda *_: None)
    return found


def hears(monkeypatch: pytest.MonkeyPatch, *codes: str) -> None:
    words = tuple(RecognizedWord(WORDS[code], 0.9, code) for code in codes)
    heard = Transcript((SpokenPhrase(Phrase(0, 8000), words),), SpeechNotes(codes[0], 0.9, 1.0, 0.0, len(codes), 0.9))
    monkeypatch.setattr(cascade_anonymizer, "transcribe", lambda *_, **__: heard)


def spoken(method: Cascade, speaker: SpeakerFacts, seed: int = 1) -> SpeechNotes:
    made = method.speak(hum(1, duration_s=0.5), rng=np.random.default_rng(seed), speaker=speaker)
    assert made.notes is not None
    return made.notes


def test_who_speaks_a_language_of_kokoro_alone_has_kokoro_in_all_languages(
    monkeypatch: pytest.MonkeyPatch, drawn: list[tuple[str, object]]
) -> None:
    method = Cascade()
    hears(monkeypatch, "en")
    assert not spoken(method, ENGLISH).other_speaker and drawn[-1][0] == NeuralVoice.__name__
    assert not spoken(method, FRENCH_TOO).other_speaker and drawn[-1][0] == KokoroVoice.__name__, "in English, too"
    hears(monkeypatch, "fr")
    assert not spoken(method, FRENCH_TOO).other_speaker
    assert drawn[-1] == drawn[-2], "one pseudo-speaker in both languages"
    audio = hum(1, duration_s=0.5)
    assert method.voice_of(audio, rng=np.random.default_rng(1), speaker=FRENCH_TOO) == drawn[-2][1]
    spoken(Cascade(voice="kokoro"), FRENCH_TOO)
    assert drawn[-1] == drawn[-2], "the same as with voice=kokoro"


def test_a_person_who_speaks_two_languages_of_the_neural_voice_keeps_one_pseudo_speaker(
    monkeypatch: pytest.MonkeyPatch, drawn: list[tuple[str, object]]
) -> None:
    for code in ("en", "it"):
        hears(monkeypatch, code)
        assert not spoken(Cascade(), ITALIAN_TOO).other_speaker
    assert drawn[-1] == drawn[-2] and drawn[-1][0] == NeuralVoice.__name__


@pytest.mark.models
def test_a_language_that_the_survey_missed_is_spoken_by_kokoro_and_counted(
    monkeypatch: pytest.MonkeyPatch, drawn: list[tuple[str, object]]
) -> None:
    hears(monkeypatch, "en", "fr")
    notes = spoken(Cascade(), ENGLISH)
    assert notes.other_speaker and drawn[-1][0] == KokoroVoice.__name__
    summary, _ = heard_in([("a", "a.flac", 1.0, 1.0, notes), ("b", "b.flac", 1.0, 1.0, SpeechNotes("en", 1.0, 1.0))])
    assert summary.other_speaker == 1 and "1 recording holds a language" in summary.other_speaker_line
    both = combine([SpeechNotes("en", 0.9, 1.0), notes])
    assert both is not None and both.other_speaker
    assert not spoken(Cascade(), NOTHING_KNOWN).other_speaker, "of one recording by itself, there is no other voice"
    assert drawn[-1][0] == KokoroVoice.__name__


def test_a_language_that_is_given_decides_for_everybody(
    monkeypatch: pytest.MonkeyPatch, drawn: list[tuple[str, object]]
) -> None:
    hears(monkeypatch, "fr")
    spoken(Cascade(language="fr"), ENGLISH)
    assert drawn[-1][0] == KokoroVoice.__name__
    hears(monkeypatch, "en")
    spoken(Cascade(language="en"), FRENCH_TOO)
    assert drawn[-1][0] == NeuralVoice.__name__


def test_models_of_a_language_are_needed_where_it_is_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    """English needs neither Kokoro nor a recognizer of other languages; French names all that it lacks in one line."""
    gone = {"kokoro", "kokoro-languages"}
    method = Cascade()
    assert not gone & set(method.needed_models)
    monkeypatch.setattr(weights, "missing", lambda *names: [name for name in names if name in gone])

    def in_language(code: str) -> Transcript:
        stretch = Stretch(Phrase(0, 16_000), 1.0, code, 1.0, method.spoken)
        monkeypatch.setattr(transcript, "identify", lambda *_, **__: [stretch])
        monkeypatch.setattr(transcript, "recognize", lambda *_, **__: [RecognizedWord("ja", 0.9)] * 3)
        samples = hum(1, duration_s=1.0).samples
        return transcribe(samples, how=method._recognizing, speaker=NOTHING_KNOWN, method="cascade")

    assert in_language("en").notes.words == 3
    with pytest.raises(WeightsError, match=r"fetch them with: personare models fetch kokoro kokoro-languages$"):
        in_language("fr")


def test_a_survey_names_languages_with_a_share_of_the_speech() -> None:
    english = SpeakerEvidence(30.0, languages=(("en", 28.0),))
    facts = pool([english, SpeakerEvidence(20.0, languages=(("de", 12.0), ("en", 5.0), ("fr", 2.0)))])
    assert facts.languages == ("en", "de"), "two seconds of French are more often an error"
    assert SpeakerFacts.from_dict(facts.to_dict()) == facts
    older = {name: value for name, value in facts.to_dict().items() if name != "languages"}
    assert SpeakerFacts.from_dict(older).languages == (), "written before languages were surveyed"
    assert pool([SpeakerEvidence(3.0)]).languages == ()


def test_the_card_of_a_voice_says_what_its_reader_speaks(tmp_path: Path) -> None:
    assert reader_languages()[0] == "en" and "fr" not in reader_languages()
    assert reader_languages(tmp_path) == ("en",)
    card = {"sha256": {LANGUAGES_NETWORK: ""}, "languages": {"codes": ["de"]}}
    (tmp_path / "voice.json").write_text(json.dumps(card), encoding="utf-8")
    assert reader_languages(tmp_path) == ("en", "de")
    assert Cascade(weights=tmp_path).speaking.languages == ("en", "de")


def test_a_recording_of_silence_has_no_pseudo_speaker() -> None:
    silent = Audio(np.zeros(800, np.float32), 16_000)
    assert Cascade().voice_of(silent, rng=np.random.default_rng(1)) == b""
    assert Cascade().evidence(silent) == SpeakerEvidence()
