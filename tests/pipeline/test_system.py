"""One system is one fingerprint: however it is typed, in stages, jobs, cards and leak checks; and no other is."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import polars as pl
import pytest

import personare as pn
from personare.anonymizers import ANONYMIZERS
from personare.anonymizers.signal.mcadams import McAdams
from personare.core.errors import OutputError, StudyError
from personare.core.seeding import Key
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.engine import Serial
from personare.pipeline.attacker_choice import AttackerChoice
from personare.pipeline.given_choice import GivenSpeechChoice
from personare.pipeline.jobs.anonymize import AnonymizeSummary, anonymize, private_folder
from personare.pipeline.resolve import resolve_anonymizer
from personare.pipeline.stages.anonymize import AnonymizeJob
from personare.pipeline.system import System, read_system

CODE = """
from dataclasses import dataclass
from pathlib import Path

@dataclass(frozen=True)
class Toy:
    VERSION = 1
    strength: float = 1.0
    weights: Path | None = None

    def __call__(self, audio, *, rng):
        return audio
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A method with shipped weights; gives the file of the weights."""
    package = tmp_path / "toymethod"
    (package / "shipped").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "anonymizer.py").write_text(CODE)
    weights = package / "shipped" / "voice.onnx"
    weights.write_bytes(b"first")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(ANONYMIZERS.builtin, "toy", "toymethod.anonymizer:Toy")
    for name in ("toymethod", "toymethod.anonymizer"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return weights


def key(system: System) -> str:
    frame = pl.DataFrame({"utterance": ["u"], "speaker": ["s"], "audio": ["u.wav"], "digest": ["m"]})
    return AnonymizeJob("anonymize", frame, system, Key.from_seed(1)).stage.key


@pytest.mark.parametrize(
    "typed",
    [
        {"alpha": [0.8, 0.9]},
        {"alpha": (0.80, 0.9), "radius": 1},
        {"match_level": True, "order": None, "alpha": [0.8, 0.9]},
        {"pivot_hz": McAdams().pivot_hz},
    ],
)
def test_a_system_is_one_however_it_is_typed(typed: dict[str, object]) -> None:
    one, other = System("mcadams"), System("mcadams", typed)
    assert one.fingerprint == other.fingerprint
    assert one.identity == other.identity
    assert key(one) == key(other)
    named = System("personare.anonymizers.signal.mcadams:McAdams", typed)
    assert named.fingerprint == one.fingerprint
    a, b = (resolve_anonymizer("a", {"method": s.method, **s.parameters}, Path()) for s in (one, other))
    assert a.owner_identity == b.owner_identity == a.present_identity
    other_alpha = resolve_anonymizer("c", {"method": "mcadams", "alpha": 0.7}, Path())
    assert a.owner_identity not in (
        other_alpha.owner_identity,
        resolve_anonymizer("original", {}, Path()).owner_identity,
    )


def test_the_level_is_no_part_of_the_system_but_of_the_stage() -> None:
    one, other = System("mcadams"), System("mcadams", level="utterance")
    assert one.fingerprint == other.fingerprint
    assert key(one) != key(other)


@pytest.mark.parametrize("system", [System("toy"), System("chain", {"steps": [{"name": "toy"}]})])
def test_other_shipped_weights_are_another_stage(toy: Path, system: System) -> None:
    before, plain = key(system), key(System("mcadams"))
    toy.write_bytes(b"retrained")
    assert key(system) != before
    assert key(System("mcadams")) == plain
    toy.write_bytes(b"first")
    assert key(system) == before


def test_a_file_or_folder_of_ones_own_counts_by_content(tmp_path: Path, toy: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "voice.onnx").write_bytes(b"a")
    before = key(System("toy", {"weights": str(folder)}))
    (folder / "voice.onnx").write_bytes(b"b")
    assert key(System("toy", {"weights": str(folder)})) != before
    moved = tmp_path / "moved"
    folder.rename(moved)
    (moved / "voice.onnx").write_bytes(b"a")
    assert key(System("toy", {"weights": str(moved)})) == before


def test_a_new_version_is_another_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(System("mcadams"))
    monkeypatch.setattr(McAdams, "VERSION", McAdams.VERSION + 1)
    assert key(System("mcadams")) != before


def test_a_system_is_built_once_and_survives_a_journey() -> None:
    system = System("world", {"warp": [1.1, 1.2]})
    again = pickle.loads(pickle.dumps(system))  # noqa: S301 - our own bytes
    assert again == system
    assert again.fingerprint == system.fingerprint
    assert again.build() is system.build()


def run(source: Path, target: Path, system: System) -> AnonymizeSummary:
    return anonymize(read_corpus(source).corpus, target, system, engine=Serial())


def audio(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (folder / "audio").rglob("*.flac")}


def test_a_folder_is_finished_by_the_same_system_typed_in_another_way(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out", System("mcadams"))
    again = run(small_corpus, tmp_path / "out", System("mcadams", {"radius": 1, "alpha": [0.8, 0.9]}))
    assert (again.done, again.kept) == (16, 16)


def test_two_versions_never_mix_in_one_folder(
    small_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(small_corpus, tmp_path / "out", System("mcadams"))
    before = audio(tmp_path / "out")
    monkeypatch.setattr(McAdams, "VERSION", McAdams.VERSION + 1)
    with pytest.raises(OutputError, match="was begun with another version of 'mcadams' or with other models") as caught:
        run(small_corpus, tmp_path / "out", System("mcadams"))
    assert "name a new folder, or delete this one" in str(caught.value)
    assert audio(tmp_path / "out") == before
    read = read_system(tmp_path / "out")
    assert read is not None
    assert read.describe() == "mcadams per speaker, of another version than the one here"


def test_changed_models_never_mix_in_one_folder(small_corpus: Path, tmp_path: Path, toy: Path) -> None:
    run(small_corpus, tmp_path / "out", System("toy"))
    toy.write_bytes(b"retrained")
    with pytest.raises(OutputError, match="would mix two systems"):
        run(small_corpus, tmp_path / "out", System("toy"))


def test_a_folder_of_an_earlier_personare_is_not_gone_on_with(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out", System("mcadams"))
    job = private_folder(tmp_path / "out") / "job.json"
    told = json.loads(job.read_text())
    assert told["fingerprint"] == System("mcadams").fingerprint
    job.write_text(json.dumps({name: value for name, value in told.items() if name != "fingerprint"}))
    with pytest.raises(OutputError, match="wrote no version of 'mcadams' down, and would mix two versions"):
        run(small_corpus, tmp_path / "out", System("mcadams"))
    with pytest.raises(OutputError, match="other settings or another key"):
        run(small_corpus, tmp_path / "out", System("mcadams", {"alpha": 0.7}))
    job.write_text("no json")
    with pytest.raises(OutputError, match=r"job\.json: is no job of personare anonymize"):
        run(small_corpus, tmp_path / "out", System("mcadams"))


def test_an_old_card_is_read_and_said_to_be_of_unknown_version(small_corpus: Path, tmp_path: Path) -> None:
    system = System("mcadams", {"alpha": 0.8})
    run(small_corpus, tmp_path / "out", system)
    card = tmp_path / "out" / "anonymization.json"
    told = json.loads(card.read_text())
    del told["fingerprint"]
    card.write_text(json.dumps(told))
    read = read_system(tmp_path / "out")
    assert read == system
    assert read.describe() == "mcadams (alpha = 0.8) per speaker, of an unknown version"
    assert read.fingerprint == system.fingerprint, "taken for the one that is here, and said to be"


def test_an_attacker_with_another_version_than_the_folders_is_refused(
    small_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(small_corpus, tmp_path / "out", System("mcadams", {"alpha": [0.5, 0.9]}))
    monkeypatch.setattr(McAdams, "VERSION", McAdams.VERSION + 1)
    given = resolve_anonymizer("given", {"given": str(tmp_path / "out")}, Path())
    assert given.owner_identity != given.present_identity, "the folder's version and the attacker's are two systems"
    assert "another version than the one here" in given.unlike_owner()
    speech = GivenSpeechChoice(small_corpus, tmp_path / "out")
    assert "another version than the one here" in speech.cannot(AttackerChoice("lazy-informed", "ge2e"))
    assert speech.cannot(AttackerChoice("ignorant", "ge2e")) == ""
    with pytest.raises(StudyError, match="another version than the one here"):
        pn.evaluate(small_corpus, tmp_path / "out", attackers=["lazy-informed"], embedder="ge2e")


def test_a_corpus_gives_its_utterances(small_corpus: Path) -> None:
    corpus = Corpus.load(small_corpus / "manifest.parquet")
    first = next(iter(corpus))
    assert (first.utterance, first.speaker, first.gender, first.part) == ("anna-0", "anna", "f", None)
    assert (first.start_s, first.end_s, first.text) == (0.0, None, "SENTENCE NUMBER 0")
    assert first.audio == small_corpus / "anna" / "anna-0.wav"
    assert len(list(corpus)) == len(corpus) == 16
    cut = Corpus(corpus.frame.with_columns(start_s=pl.lit(0.1), end_s=pl.lit(0.3)))
    part = next(iter(cut))
    assert part.read().duration_s == pytest.approx(0.2)
    assert [channel.duration_s for channel in part.read_channels()] == [pytest.approx(0.2)]
