"""A resumed job trusts only what digests confirm: spoilt, changed, missing and shared files are noticed and said."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import polars as pl
import pytest

from conftest import Command, hum
from personare.core.audio import write
from personare.core.errors import ConfigError, OutputError
from personare.core.files import TEMPORARY, temporary_name
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.engine import Serial
from personare.pipeline.jobs.anonymize import anonymize, private_folder
from personare.pipeline.jobs.anonymize_journal import read_results
from personare.pipeline.system import System
from pipeline.test_anonymize import content, run

FAST = ("--method", "mcadams")


def spoil(path: Path, how: str) -> None:
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "cut in half": whole[:middle],
            "flipped byte": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "zeroed tail": whole[:middle] + bytes(len(whole) - middle),
            "empty": b"",
        }[how]
    )


@pytest.mark.parametrize("how", ["cut in half", "flipped byte", "zeroed tail", "empty"])
@pytest.mark.parametrize("file_format", ["flac", "wav"])
def test_a_spoilt_result_is_made_again(small_corpus: Path, tmp_path: Path, how: str, file_format: str) -> None:
    run(small_corpus, tmp_path / "out", file_format=file_format)
    whole = content(tmp_path / "out")
    for path in sorted((tmp_path / "out").rglob(f"*.{file_format}"))[:3]:
        spoil(path, how)
    again = run(small_corpus, tmp_path / "out", file_format=file_format)
    assert (again.done, again.kept, again.damaged, again.failed) == (16, 13, 3, 0)
    assert content(tmp_path / "out") == whole


def test_a_source_that_changed_is_done_again_and_said(small_corpus: Path, tmp_path: Path, personare: Command) -> None:
    assert personare("anonymize", small_corpus, tmp_path / "out", *FAST).code == 0
    before = content(tmp_path / "out")
    write(small_corpus / "anna" / "anna-2.wav", hum(99, duration_s=0.5))
    done = personare("anonymize", small_corpus, tmp_path / "out", *FAST, "--json")
    summary = json.loads(done.stdout)
    assert (summary["done"], summary["kept"], summary["changed"]) == (16, 15, 1)
    assert "note: 1 recordings have changed since they were anonymized, and were done again" in done.stderr
    after = content(tmp_path / "out")
    assert sum(before[name] != after[name] for name in before if name.endswith(".flac")) == 1


def test_a_changed_source_that_fails_leaves_nothing_of_the_old_one(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out")
    (small_corpus / "anna" / "anna-2.wav").write_bytes(b"RIFF not really")
    again = run(small_corpus, tmp_path / "out")
    assert (again.done, again.failed, again.unexplained) == (15, 1, 0)
    assert len(Corpus.load(tmp_path / "out" / "manifest.parquet")) == 15
    assert len(list((tmp_path / "out").rglob("*.flac"))) == 15


def test_a_result_whose_source_is_gone_is_kept(small_corpus: Path, tmp_path: Path) -> None:
    corpus = read_corpus(small_corpus).corpus
    system = System("mcadams", {"alpha": [0.5, 0.9]})
    anonymize(corpus, tmp_path / "out", system, engine=Serial())
    (small_corpus / "anna" / "anna-2.wav").unlink()
    again = anonymize(corpus, tmp_path / "out", system, engine=Serial())
    assert (again.done, again.kept, again.failed) == (16, 16, 0)


def test_a_target_that_vanished_is_noticed(small_corpus: Path, tmp_path: Path, personare: Command) -> None:
    personare("anonymize", small_corpus, tmp_path / "out", *FAST)
    whole = content(tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    done = personare("anonymize", small_corpus, tmp_path / "out", *FAST)
    assert done.code == 0 and f"note: {tmp_path / 'out'} was not there any more" in done.stderr
    assert content(tmp_path / "out") == whole
    next((tmp_path / "out").rglob("*.flac")).unlink()
    done = personare("anonymize", small_corpus, tmp_path / "out", *FAST)
    assert "note: 1 results of an earlier run were gone, and were made again" in done.stderr


def test_a_target_that_vanishes_in_the_middle_is_noticed(small_corpus: Path, tmp_path: Path) -> None:
    seen: list[object] = []

    def unmount(result: object) -> None:
        seen.append(result)
        if len(seen) == 5:
            (tmp_path / "out").rename(tmp_path / "elsewhere")

    summary = run(small_corpus, tmp_path / "out", watch=unmount)
    assert (summary.done, summary.failed) == (0, 16), "nothing is called done that is not there"
    assert any("was it moved, deleted or unmounted?" in error for _, error in summary.failures)
    assert any("is not there any more" in error for _, error in summary.failures)


def test_the_summary_equals_manifest_and_failures(small_corpus: Path, tmp_path: Path) -> None:
    for speaker in ("anna", "bela"):
        (small_corpus / speaker / f"{speaker}-1.wav").write_bytes(b"words")
    for _ in range(2):
        summary = run(small_corpus, tmp_path / "out")
        listed = Corpus.load(tmp_path / "out" / "manifest.parquet")
        lines = (private_folder(tmp_path / "out") / "failures.tsv").read_text().splitlines()[1:]
        assert (summary.done, summary.failed) == (len(listed), len(lines)) == (14, 2)


def test_the_journal_holds_digests_and_failures(small_corpus: Path, tmp_path: Path) -> None:
    (small_corpus / "bela" / "bela-1.wav").write_bytes(b"words")
    run(small_corpus, tmp_path / "out")
    private = private_folder(tmp_path / "out")
    rows = read_results(private)
    assert len(rows) == 16 and rows["error"].null_count() == 15 and rows["lead"].n_unique() == 16
    made = rows.filter(pl.col("output").is_not_null())
    assert set(made["output"]) == {d for n, d in content(tmp_path / "out").items() if n.endswith(".flac")}
    assert (made["source"].str.len_chars() == 64).all() and (made["work_s"] > 0).all()
    assert stat.S_IMODE((private / "journal").stat().st_mode) == 0o600
    run(small_corpus, tmp_path / "out")
    assert len(read_results(private)) == 17, "what is kept is not written again; what failed was tried again"


def test_digests_are_listed_as_sha256sum_reads_them(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out")
    lines = (tmp_path / "out" / "SHA256SUMS").read_text().splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert listed == {name: digest for name, digest in content(tmp_path / "out").items() if name != "SHA256SUMS"}


def test_ids_that_would_share_a_file_are_refused_before_work(tmp_path: Path) -> None:
    write(tmp_path / "a.wav", hum(1, duration_s=0.2))
    system = System("mcadams", {"alpha": 0.8})

    def keep(*ids: tuple[str, str]) -> None:
        rows = [(utterance, speaker, str(tmp_path / "a.wav")) for speaker, utterance in ids]
        corpus = Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio"], orient="row"))
        anonymize(corpus, tmp_path / "out", system, engine=Serial(), names="keep")

    for ids in ((("a", "b/c"), ("a/b", "c")), (("Anna", "x"), ("anna", "X"))):
        with pytest.raises(OutputError, match="would be written to one file"):
            keep(*ids)
    with pytest.raises(OutputError, match="would be written below"):
        keep(("a", "b"), ("a", "b.flac/c"))
    with pytest.raises(OutputError, match="too long for a file name"):
        keep(("a", "u" * 300))
    assert not (tmp_path / "out").exists()
    keep(("a", "b"), ("b", "a"), ("a", "a/b"))


def test_what_a_killed_run_left_is_swept(small_corpus: Path, tmp_path: Path, personare: Command) -> None:
    personare("anonymize", small_corpus, tmp_path / "out", *FAST)
    part = temporary_name(tmp_path / "out" / "audio" / "ab" / "x.flac").name.split("-")
    left = tmp_path / "out" / "audio" / "-".join([*part[:-2], "4194305", part[-1]])  # above the largest process number
    left.write_bytes(b"half")
    assert TEMPORARY.match(left.name)
    done = personare("anonymize", small_corpus, tmp_path / "out", *FAST)
    assert not left.exists() and "note: 1 half-written files of a run that was killed were removed" in done.stderr


def test_a_private_folder_that_others_can_read_is_refused(small_corpus: Path, tmp_path: Path) -> None:
    run(small_corpus, tmp_path / "out")
    private_folder(tmp_path / "out").chmod(0o755)
    with pytest.raises(ConfigError, match=r"that others can read or change \(mode 755\); run: chmod 700"):
        run(small_corpus, tmp_path / "out")
