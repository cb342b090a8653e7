"""personare train reader --language and train synthesizer --for-languages at the door; mistakes are one line."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from personare.anonymizers.neural.xvector.weights import (
    LANGUAGES_NETWORK,
    LANGUAGES_PROSODY,
    LANGUAGES_READER,
    open_weights,
    shipped_folder,
)
from personare.core.files import file_digest
from personare.corpora.voices.reading_aloud import FURTHER_READERS
from personare.languages import language
from personare.pipeline.jobs import train_languages
from personare.training import checkpoints
from personare.training.plan import TrainingPlan
from personare.training.reader.settings import ReaderSettings
from personare.training.reader.start import begin_with
from personare.voices.spelling import SYMBOL_COUNT, symbol_numbers

SENTENCES = "language\tset\ttext\n" + "".join(
    f"{code}\tfirst\t{text}\n"
    for code, texts in {"es": ("Buenas noches.", "Gracias."), "de": ("Guten Abend.", "Schöne Grüße.")}.items()
    for text in texts
)
READER = "plan: {steps: 2, validate_every: 1, patience: 0, warm_up: 1}\nbatch: 2\nalike: 2\nprocesses: 1\nheld_out: 2\n"
VOICE = """
plan: {steps: 2, validate_every: 1, patience: 0, warm_up: 1}
batch: 2
rehearsed: 1
frames: 40
discriminator_crops: 2
discriminator_frames: 32
processes: 1
held_out: 1
"""


def one_line(printed: str) -> str:
    assert "Traceback" not in printed
    return " ".join(printed.split())


@pytest.fixture
def words(tmp_path: Path) -> list[str | Path]:
    for name, content in {"s.tsv": SENTENCES, "reader.yaml": READER, "voice.yaml": VOICE}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return ["--sentences", tmp_path / "s.tsv", "--out", tmp_path / "languages", "--config", tmp_path / "reader.yaml"]


@pytest.mark.models
@pytest.mark.slow
def test_it_trains_a_reader_and_a_voice_that_speak_further_languages(
    tmp_path: Path, words: list[str | Path], monkeypatch: pytest.MonkeyPatch, personare: Command
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    monkeypatch.setattr("personare.training.reader.run._MIN_SENTENCES", 2)
    monkeypatch.setattr("personare.training.synthesizer.run._MIN_SPEAKERS", 1)
    monkeypatch.setattr("personare.pipeline.jobs.train_languages._REHEARSED_SENTENCES", 2)
    monkeypatch.setattr("personare.training.prosody.run._MIN_SPEAKERS", 1)
    plan = TrainingPlan(steps=2, validate_every=1, patience=0, warm_up=1)
    quick = dataclasses.replace(train_languages.PROSODY, plan=plan, held_out=1, batch=2)
    monkeypatch.setattr("personare.pipeline.jobs.train_languages.PROSODY", quick)
    reader, voice = tmp_path / "languages", tmp_path / "voice"
    codes = ["--language", "es", "--language", "de", "--each", "5", "--jobs", "1"]
    trained = personare("train", "reader", *words, *codes)
    assert trained.code == 0, trained.stderr
    assert "--for-languages" in trained.stdout
    card, shipped = (json.loads((one / "voice.json").read_text("utf-8")) for one in (reader, shipped_folder()))
    assert card["languages"]["codes"] == ["es", "de"]
    assert card["languages"]["symbols"] == SYMBOL_COUNT
    assert card["languages"]["readers"] == list(FURTHER_READERS)
    networks = [file_digest(reader / name) for name in LANGUAGES_READER]
    english = set(shipped["sha256"]) - {*LANGUAGES_READER, LANGUAGES_PROSODY, LANGUAGES_NETWORK}
    assert all(card["sha256"][name] == shipped["sha256"][name] for name in english)
    assert open_weights(reader).languages == ("en",), "nothing speaks what it reads yet"

    resumed = personare("train", "reader", *words, *codes, "--resume", "--json")
    assert resumed.code == 0
    assert json.loads(resumed.stdout)["content_distance"] == card["languages"]["measured"]["content_distance"]
    assert [file_digest(reader / name) for name in LANGUAGES_READER] == networks

    spoken_by = ["--readings", reader, "--for-languages", "--out", voice, "--config", tmp_path / "voice.yaml"]
    ended = personare("train", "synthesizer", *spoken_by, "--jobs", "1", "--json")
    assert ended.code == 0, ended.stderr
    assert json.loads(ended.stdout)["steps"] == 2
    model = open_weights(voice)
    assert model.languages == ("en", "es", "de")
    assert model.card["reader"]["languages"] == ["en", "es", "de"]
    assert model.card["languages"]["voice"]["data"]["speakers"] >= 2
    assert model.card["languages"]["prosody"]["steps"] == 2
    assert all(model.card["sha256"][name] == shipped["sha256"][name] for name in english)
    content = model.reader_of("de")(symbol_numbers(language("de").pronounce("Guten Tag.")), reader=0)
    assert np.isfinite(content).all()

    (tmp_path / "joint.yaml").write_text(f"{VOICE}reader_weight: 1.0\nrepeated: {{de: 2}}\n", encoding="utf-8")
    together = tmp_path / "together"
    both = ["--readings", reader, "--for-languages", "--start", voice, "--out", together]
    ended = personare("train", "synthesizer", *both, "--config", tmp_path / "joint.yaml", "--jobs", "1", "--json")
    assert ended.code == 0, ended.stderr
    joint = open_weights(together)
    begun = begin_with(
        train_languages._earlier_reader(reader), ReaderSettings(), symbols=SYMBOL_COUNT, readers=len(FURTHER_READERS)
    )
    last = checkpoints.load(together / checkpoints.LAST, fingerprint=None).tensors
    for name, values in begun.items():
        assert not np.array_equal(last[f"reader.{name}"].detach().numpy(), values), "the reader is trained, too"
    assert joint.languages == ("en", "es", "de") and joint.card["languages"]["voice"]["steps"] == 2
    assert joint.further is not None and set(joint.further.readers_of) == {"es", "de"}


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        (("--language", "xx"), "no sentence in the language 'xx'"),
        (("--language", "de", "--part", "third"), "no sentence in the language 'de' in the set 'third'"),
        (("--language", "de", "--corpus", "somewhere"), "name either --corpus (English) or --language"),
        ((), "name either --corpus (English) or --language"),
    ],
)
@pytest.mark.models
def test_mistakes_are_one_line(
    given: tuple[str, ...], printed: str, words: list[str | Path], tmp_path: Path, personare: Command
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    ended = personare("train", "reader", *words, *given)
    assert ended.code == 2
    assert printed in one_line(ended.stderr)
    assert not (tmp_path / "languages").exists()


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        (("--for-languages",), "--for-languages needs --readings DIR"),
        (("--for-languages", "--readings", "here", "--for-reading"), "--for-languages needs --readings DIR"),
        ((), "name the speech to train on with --corpus PATH"),
    ],
)
def test_mistakes_of_the_voice_are_one_line(
    given: tuple[str, ...], printed: str, tmp_path: Path, personare: Command
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    ended = personare("train", "synthesizer", "--out", tmp_path / "voice", *given)
    assert ended.code == 2
    assert printed in one_line(ended.stderr)
