"""A neural voice with a reader of further languages speaks each of them: finite, deterministic, the same speakers.

The reader is the English one, with rows for the further symbols, before any training: these tests are about the way
through the networks, not about how well they speak.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from personare.anonymizers.neural.xvector.prosody_choice import ProsodyChoice, chosen_prosody
from personare.anonymizers.neural.xvector.synthesis import synthesize
from personare.anonymizers.neural.xvector.weights import (
    CARD,
    LANGUAGES_NETWORK,
    LANGUAGES_PROSODY,
    LANGUAGES_READER,
    PROSODY_NETWORK,
    READING_NETWORK,
    open_weights,
    package_files,
    reader_languages,
    shipped_folder,
)
from personare.core.errors import ConfigError, WeightsError
from personare.encoders.grid import CONTENT_STEP, STEP, frame_count, on_frames
from personare.languages import language
from personare.pipeline.jobs.training_files import write_package
from personare.voices.spelling import ENGLISH_SYMBOL_COUNT, SYMBOL_COUNT, symbol_numbers

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")

from personare.pipeline.jobs import train_languages  # noqa: E402 - after the skip
from personare.training.reader.settings import ReaderSettings  # noqa: E402
from personare.training.reader.start import begin_with  # noqa: E402
from personare.training.reader.task import SPEECH, TEXT, part  # noqa: E402
from personare.training.synthesizer.export import encode  # noqa: E402

FURTHER = ("de", "fr", "es", "it", "pt")
READERS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A voice whose further networks are the English ones."""
    settings, shipped = ReaderSettings(), shipped_folder()
    earlier = train_languages.english_reader(shipped)
    tensors = begin_with(earlier, settings, symbols=SYMBOL_COUNT, readers=READERS)
    shapes = settings.text_shape(symbols=SYMBOL_COUNT, readers=READERS), settings.speech_shape(readers=READERS)
    graphs = (encode(part(tensors, prefix), shape) for prefix, shape in zip((TEXT, SPEECH), shapes, strict=True))
    files = {**package_files(shipped), **dict(zip(LANGUAGES_READER, graphs, strict=True))}
    files |= {LANGUAGES_PROSODY: files[PROSODY_NETWORK], LANGUAGES_NETWORK: files[READING_NETWORK]}
    card = json.loads((shipped / CARD).read_text(encoding="utf-8"))
    card["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    card["languages"] = {"codes": FURTHER, "symbols": SYMBOL_COUNT, "readers": list("abc")}
    card["reader"]["languages"] = ["en", *FURTHER]
    voice = tmp_path_factory.mktemp("voice")
    write_package(files, card, voice, card_name=CARD)
    return voice


def content(voice: Path, code: str, text: str, *, reader: int = 0, tempo: float = 1.0) -> NDArray[np.float32]:
    numbers = symbol_numbers(language(code).pronounce(text))
    read = open_weights(voice).reader_of(code)(numbers, reader=reader, tempo=tempo)
    return on_frames(read, frame_count(len(read) * CONTENT_STEP))


def speak(voice: Path, code: str, text: str, *, speaker: int = 0) -> NDArray[np.float32]:
    model, given = open_weights(voice), content(voice, code, text)
    vector = model.bank.vectors[speaker]
    choice = ProsodyChoice(f0="predicted", energy="predicted", timing="even")
    predicted = model.predict_prosody(given, vector, language=code)
    track = chosen_prosody(choice, None, predicted, source=None, target=model.bank.f0_of(vector))
    rng, length = np.random.default_rng(1), len(given) * STEP
    return synthesize(model, given, track, vector, length=length, rng=rng, is_read=True, language=code)


def test_the_languages_are_those_of_the_card(folder: Path) -> None:
    assert open_weights(folder).languages == reader_languages(folder) == ("en", *FURTHER)
    assert open_weights().languages == reader_languages()


@pytest.mark.parametrize("code", FURTHER)
def test_each_language_is_spoken(code: str, folder: Path) -> None:
    for text in language(code).examples[:2]:
        sound = speak(folder, code, text)
        assert np.isfinite(sound).all()
        assert np.square(sound).mean() > 1e-6
        symbols = len(language(code).pronounce(text))
        assert 0.03 * symbols < len(sound) / 16_000 < 0.15 * symbols, "seconds per symbol as in speech"
    np.testing.assert_array_equal(speak(folder, code, text), sound)
    other = speak(folder, code, text, speaker=1)
    assert len(other) == len(sound) and not np.array_equal(other, sound), "content is the same for everybody"


def test_tempo_changes_how_it_is_read(folder: Path) -> None:
    text, *_ = language("de").examples
    lengths = [len(content(folder, "de", text, reader=1, tempo=tempo)) for tempo in (1.0, 1.5)]
    assert lengths[1] == pytest.approx(1.5 * lengths[0], rel=0.1)


def test_a_language_that_it_does_not_read_is_one_line(folder: Path) -> None:
    model = open_weights(folder)
    with pytest.raises(WeightsError, match="its reader does not know 'nl', it reads en, de, fr, es, it, pt; train it"):
        model.reader_of("nl")
    with pytest.raises(ConfigError, match=f"knows the symbols 0 to {ENGLISH_SYMBOL_COUNT - 1}"):
        model.reader_of("en")(symbol_numbers(language("de").pronounce("schön")), reader=0)
