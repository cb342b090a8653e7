"""Anonymizing a corpus: nothing of the identity in what is given away, resumable to the bit, failures as rows."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import sys
from pathlib import Path

import polars as pl
import pytest
import soundfile

from conftest import hum
from personare.core.audio import read_channels, write
from personare.core.errors import CorpusError, MissingExtraError, OutputError, PersonareError, UnknownNameError
from personare.core.seeding import load_or_make_key
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.engine import Engine, ProcessPool, Serial
from personare.pipeline.given import pair_given
from personare.pipeline.jobs.anonymize import AnonymizeSummary, anonymize, private_folder
from personare.pipeline.resolve import GivenFolder
from personare.pipeline.system import System, read_system, rehearse

RANDOM = System("mcadams", {"alpha": [0.5, 0.9]})
SPEAKERS = ("anna", "bela", "cora", "dirk")


def run(
    source: Path, target: Path, system: System = RANDOM, *, engine: Engine | None = None, **options: object
) -> AnonymizeSummary:
    corpus = read_corpus(source).corpus
    return anonymize(corpus, target, system, engine=engine or Serial(), **options)  # type: ignore[arg-type]


def content(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_nothing_that_leaves_the_house_tells_who_spoke(small_corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    summary = run(small_corpus, target)
    assert (summary.done, summary.failed, summary.kept) == (16, 0, 0)
    key = (private_folder(target) / "key").read_text().strip()
    for path in target.rglob("*"):
        name = str(path.relative_to(target))
        seen = name.encode() + (path.read_bytes() if path.is_file() else b"")
        for secret in (*SPEAKERS, str(small_corpus), key):
            assert secret.encode() not in seen, f"{name} tells '{secret}'"
        if path.suffix == ".flac":
            with soundfile.SoundFile(path) as file:
                assert not any(file.copy_metadata().values())
    frame = Corpus.load(target / "manifest.parquet").frame
    assert frame.columns == ["utterance", "speaker", "audio", "gender", "text"] and len(frame) == 16
    assert frame["speaker"].n_unique() == 4 and frame["utterance"].is_sorted()
    assert not frame["audio"].is_empty() and all(Path(p).is_file() for p in frame["audio"])


def test_the_key_is_private_and_outside(small_corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    run(small_corpus, target)
    private = private_folder(target)
    assert not private.is_relative_to(target)
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert stat.S_IMODE((private / "key").stat().st_mode) == 0o600


def test_at_utterance_level_no_name_groups_a_speaker(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out", System("mcadams", {"alpha": [0.5, 0.9]}, "utterance"))
    assert Corpus.load(tmp_path / "out" / "manifest.parquet").frame["speaker"].n_unique() == 16


def test_the_same_key_gives_the_same_bytes_on_one_or_two_workers(small_corpus: Path, tmp_path: Path) -> None:
    key = tmp_path / "secret.key"
    run(small_corpus, tmp_path / "one", key_file=key)
    run(small_corpus, tmp_path / "two", key_file=key, engine=ProcessPool(2))
    assert content(tmp_path / "one") == content(tmp_path / "two")
    run(small_corpus, tmp_path / "three", key_file=tmp_path / "other.key")
    other = content(tmp_path / "three")
    assert not set(other.values()).intersection(
        digest for name, digest in content(tmp_path / "one").items() if name.endswith(".flac")
    )


def test_an_interrupted_job_resumes_and_ends_bit_identical(small_corpus: Path, tmp_path: Path) -> None:
    key = tmp_path / "secret.key"
    run(small_corpus, tmp_path / "whole", key_file=key)
    target = tmp_path / "resumed"

    seen = []

    def stop_after_five(result: object) -> None:
        seen.append(result)
        if len(seen) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(small_corpus, target, key_file=key, watch=stop_after_five)
    summary = run(small_corpus, target, key_file=key)
    assert (summary.done, summary.kept) == (16, 5)
    assert content(target) == content(tmp_path / "whole")


def test_shards_add_up_to_the_whole(small_corpus: Path, tmp_path: Path) -> None:
    key = tmp_path / "secret.key"
    run(small_corpus, tmp_path / "whole", key_file=key)
    for shard in ("1/3", "3/3", "2/3"):
        run(
            small_corpus,
            tmp_path / "parts",
            key_file=key,
            shard=shard,
        )
    assert content(tmp_path / "parts") == content(tmp_path / "whole")


def test_a_broken_file_is_a_row_and_the_rest_is_done(small_corpus: Path, tmp_path: Path) -> None:
    (small_corpus / "anna" / "anna-2.wav").write_bytes(b"RIFF not really")
    summary = run(small_corpus, tmp_path / "out", engine=ProcessPool(2))
    assert (summary.done, summary.failed) == (15, 1)
    assert summary.failures[0][0] == "anna-2" and "not audio" in summary.failures[0][1]
    assert "anna-2\t" in (private_folder(tmp_path / "out") / "failures.tsv").read_text()
    write(small_corpus / "anna" / "anna-2.wav", hum(1))
    again = run(small_corpus, tmp_path / "out")
    assert (again.done, again.failed, again.kept) == (16, 0, 15)


def test_every_channel_is_kept_with_one_voice(tmp_path: Path) -> None:
    sound = hum(3)
    write(tmp_path / "in" / "anna" / "a.wav", [sound, hum(4)])
    write(tmp_path / "in" / "bela" / "b.wav", [sound, sound])
    run(tmp_path / "in", tmp_path / "out")
    shapes = {}
    for path in Corpus.load(tmp_path / "out" / "manifest.parquet").frame["audio"]:
        left, right = read_channels(Path(path))
        shapes[path] = (left.samples == right.samples).all()
    assert sorted(shapes.values()) == [False, True]


def test_targets_that_cannot_be_used(small_corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("precious")
    with pytest.raises(OutputError, match="is not empty"):
        run(small_corpus, tmp_path / "full")
    assert (tmp_path / "full" / "thesis.txt").read_text() == "precious"
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        run(small_corpus, tmp_path / "file")
    run(small_corpus, tmp_path / "out")
    with pytest.raises(OutputError, match="other settings or another key"):
        run(small_corpus, tmp_path / "out", System("mcadams", {"alpha": 0.8}))
    with pytest.raises(OutputError, match="other settings or another key"):
        run(small_corpus, tmp_path / "out", key_file=tmp_path / "new.key")


def test_a_wrong_method_fails_before_anything_is_written(small_corpus: Path, tmp_path: Path) -> None:
    before = set(tmp_path.rglob("*"))
    with pytest.raises(UnknownNameError, match="did you mean 'mcadams'"):
        run(small_corpus, tmp_path / "out", System("mcadam"))
    with pytest.raises(PersonareError, match="did you mean 'alpha'"):
        run(small_corpus, tmp_path / "out", System("mcadams", {"alhpa": 0.8}))
    assert set(tmp_path.rglob("*")) == before


def test_a_missing_extra_fails_before_anything_is_written(
    small_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyworld", None)
    before = set(tmp_path.rglob("*"))
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[pitch\]'"):
        run(small_corpus, tmp_path / "out", System("world"))
    assert set(tmp_path.rglob("*")) == before


def test_kept_names_must_be_plain(tmp_path: Path) -> None:
    write(tmp_path / "a.wav", hum(1))
    rows = {"utterance": ["x/../../y"], "speaker": ["anna"], "audio": [str(tmp_path / "a.wav")]}
    corpus = Corpus(pl.DataFrame(rows))
    with pytest.raises(OutputError, match="cannot be a file name"):
        anonymize(corpus, tmp_path / "out", RANDOM, engine=Serial(), names="keep")
    assert anonymize(corpus, tmp_path / "tokens", RANDOM, engine=Serial()).done == 1


def test_originals_and_anonymized_pair_only_with_the_key(small_corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    run(small_corpus, target)
    original, hidden = read_corpus(small_corpus).corpus, read_corpus(target).corpus
    pairs = pair_given(original.frame, GivenFolder(target))
    assert len(pairs.files) == 16 and not pairs.unpaired and pairs.key is not None
    text = {str(pairs.files[u]): t for u, t in original.frame.select("utterance", "text").iter_rows()}
    assert all(text[a] == t for a, t in hidden.frame.select("audio", "text").iter_rows())
    (target / "anonymization.json").unlink()
    again = pair_given(original.frame, GivenFolder(target))
    assert again.files == pairs.files, "the key alone tells who is who, also where the card is lost"
    load_or_make_key(tmp_path / "other.key")
    with pytest.raises(CorpusError, match="is it the right key"):
        pair_given(original.frame, GivenFolder(target, tmp_path / "other.key"))
    shutil.rmtree(private_folder(target))
    with pytest.raises(CorpusError, match="name the key with --key"):
        pair_given(original.frame, GivenFolder(target))


def test_missing_and_strange_utterances_are_counted(small_corpus: Path, tmp_path: Path) -> None:
    original = read_corpus(small_corpus).corpus
    run(small_corpus, tmp_path / "out", names="keep")
    hidden = Corpus(read_corpus(tmp_path / "out").corpus.frame.filter(pl.col("utterance") != "anna-0"))
    without = Corpus(original.frame.filter(pl.col("utterance") != "bela-1"))
    hidden.save(tmp_path / "some" / "manifest.parquet")
    pairs = pair_given(without.frame, GivenFolder(tmp_path / "some"))
    assert set(without.frame["utterance"]) - set(pairs.files) == {"anna-0"} and pairs.unpaired == 1
    assert len(pairs.files) == 14 and pairs.key is None


def test_the_card_says_how_and_nothing_else(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out")
    card = json.loads((tmp_path / "out" / "anonymization.json").read_text())
    how = {
        "card",
        "made_by",
        "method",
        "parameters",
        "fingerprint",
        "level",
        "names",
        "utterances",
        "timing",
        "text",
        "ledger",
    }
    assert set(card) == {*how, "status"} and "Pseudonymous while the key or the originals exist" in card["status"]
    assert card["fingerprint"] == RANDOM.fingerprint
    assert read_system(tmp_path / "out") == RANDOM and read_system(tmp_path) is None
    (tmp_path / "out" / "anonymization.json").write_text("{}")
    with pytest.raises(PersonareError, match="not a card"):
        read_system(tmp_path / "out")


def test_a_read_only_target_is_one_line(small_corpus: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    if os.geteuid() == 0:  # root may write into any folder, but not into the kernel's own
        locked = Path("/proc")
    with pytest.raises(OutputError, match="cannot be written"):
        run(small_corpus, locked / "out")


def test_file_times_do_not_tell_the_order_of_the_source(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out")
    assert {p.stat().st_mtime for p in (tmp_path / "out" / "audio").rglob("*.flac")} == {0.0}


def test_work_goes_in_the_order_of_the_new_names(small_corpus: Path, tmp_path: Path) -> None:
    seen: list[str] = []
    run(small_corpus, tmp_path / "out", watch=lambda result: seen.append(result.item.speaker))
    assert seen != sorted(seen), "speakers must not be written one after the other"


def test_the_key_must_not_lie_in_the_folder_that_is_given_away(small_corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="must not lie in the folder that is given away"):
        run(small_corpus, tmp_path / "out", key_file=tmp_path / "out" / "key")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        (bytes(range(32)).hex(), 0o644, "others can read"),
        ("00" * 32, 0o600, "all its bytes are 0"),
        ("ab", 0o600, "holds 1 bytes"),
    ],
)
def test_a_key_that_is_refused_leaves_nothing_behind(
    small_corpus: Path, tmp_path: Path, content: str, mode: int, says: str
) -> None:
    key = tmp_path / "keys" / "key"
    key.parent.mkdir()
    key.write_text(content + "\n")
    key.chmod(mode)
    with pytest.raises(PersonareError, match=says):
        run(small_corpus, tmp_path / "new" / "out", key_file=key)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keys", "original"]


def test_a_withdrawn_speaker_is_noticed(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out")
    rest = Corpus(read_corpus(small_corpus).corpus.frame.filter(pl.col("speaker") != "anna"))
    summary = anonymize(rest, tmp_path / "out", RANDOM, engine=Serial())
    assert (summary.done, summary.unexplained) == (12, 4)


def test_a_spoilt_result_is_made_again(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out", key_file=tmp_path / "k")
    whole = content(tmp_path / "out")
    spoilt = next((tmp_path / "out" / "audio").rglob("*.flac"))
    spoilt.write_bytes(b"spoilt")
    assert run(small_corpus, tmp_path / "out", key_file=tmp_path / "k").kept == 15
    assert content(tmp_path / "out") == whole


def test_shards_keep_each_others_failures(small_corpus: Path, tmp_path: Path) -> None:
    for speaker in SPEAKERS:
        (small_corpus / speaker / f"{speaker}-1.wav").write_bytes(b"words")
    for shard in ("1/2", "2/2"):
        run(small_corpus, tmp_path / "out", shard=shard)
    lines = (private_folder(tmp_path / "out") / "failures.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["utterance", "anna-1", "bela-1", "cora-1", "dirk-1"]


def test_whether_a_recipe_draws_anything() -> None:
    assert rehearse(RANDOM) and not rehearse(System("mcadams", {"alpha": 0.8}))


def test_names_with_folders_can_be_kept(tmp_path: Path) -> None:
    write(tmp_path / "in" / "anna" / "a.wav", hum(1))
    write(tmp_path / "in" / "bela" / "b.wav", hum(2))
    assert run(tmp_path / "in", tmp_path / "out", names="keep").done == 2
    assert sorted(p.name for p in (tmp_path / "out" / "audio").rglob("*.flac")) == ["a.flac", "b.flac"]


def test_segments_in_the_anonymized_corpus_are_refused(small_corpus: Path, tmp_path: Path) -> None:
    original = read_corpus(small_corpus).corpus
    cut = Corpus(original.frame.with_columns(start_s=pl.lit(0.0), end_s=pl.lit(0.5)))
    cut.save(tmp_path / "cut" / "manifest.parquet")
    with pytest.raises(CorpusError, match="one file per utterance"):
        pair_given(original.frame, GivenFolder(tmp_path / "cut"))
