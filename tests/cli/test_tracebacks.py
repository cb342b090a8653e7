"""What once was a traceback is one line: unreadable folders, odd YAML, odd tables, odd names."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import Command
from personare.core.config import parse_yaml
from personare.core.errors import ConfigError

ODD_YAML = {
    "a: " + "9" * 5000: "cannot be read",
    "a: 0x" + "f" * 6000: "too many digits",
    "[" * 3000: "nested more than 40 levels deep",
    "{a: " * 2000: "nested more than 40 levels deep",
    "a: &x [*x]": "nested more than 40 levels deep",
    'a: "\\ud800"': "half of a letter",
    "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
    "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]": "too many values",
}


@pytest.mark.parametrize("text", ODD_YAML, ids=lambda text: text[:12])
def test_odd_yaml_is_one_line_in_files_and_on_the_command_line(text: str, tmp_path: Path, personare: Command) -> None:
    with pytest.raises(ConfigError, match=ODD_YAML[text]):
        parse_yaml(text, where="x")
    (tmp_path / "study.yaml").write_text(text)
    done = personare("study", "check", tmp_path / "study.yaml")
    assert done.code == 2 and len(done.stderr.splitlines()) == 1 and len(done.stderr) < 400
    done = personare("methods", "mcadams")
    done = personare(
        "anonymize", tmp_path / "study.yaml", tmp_path / "o.flac", "--method", "mcadams", "--set", f"a={text}"
    )
    assert done.code == 2 and len(done.stderr.splitlines()) == 1


def test_dates_are_words() -> None:
    assert parse_yaml("a: 2024-13-32", where="x") == {"a": "2024-13-32"}
    assert parse_yaml("a: 2024-01-31", where="x") == {"a": "2024-01-31"}


def test_damaged_manifests_are_called_so(small_corpus: Path, personare: Command) -> None:
    table = small_corpus / "manifest.parquet"
    whole = table.read_bytes()
    for content in (b"", b"words", whole[: len(whole) // 2], whole[:-4] + b"PAR2"):
        table.write_bytes(content)
        done = personare("corpus", "info", small_corpus)
        assert done.code == 2 and "manifest.parquet: damaged" in done.stderr, done.stderr
    table.unlink()
    (small_corpus / "manifest.tsv").write_bytes("utterance\tspeaker\taudio\n".encode("utf-16"))
    done = personare("corpus", "info", small_corpus)
    assert done.code == 2 and "manifest.tsv: damaged" in done.stderr


def test_a_byte_order_mark_is_no_part_of_a_name(small_corpus: Path, personare: Command) -> None:
    frame = pl.read_parquet(small_corpus / "manifest.parquet")
    (small_corpus / "manifest.parquet").unlink()
    text = frame.write_csv(separator="\t")
    (small_corpus / "manifest.tsv").write_text("\ufeff" + text, encoding="utf-8")
    done = personare("corpus", "info", small_corpus)
    assert done.code == 0 and "16" in done.stdout


@pytest.mark.parametrize("column", ["utterance", "speaker", "audio", "gender", "text", "start_s", "person_channel"])
@pytest.mark.parametrize("kind", ["list", "binary", "struct"])
def test_columns_of_odd_types_are_one_line(small_corpus: Path, personare: Command, column: str, kind: str) -> None:
    frame = pl.read_parquet(small_corpus / "manifest.parquet")
    value = {"list": pl.lit([["x"]]).first(), "binary": pl.lit(b"\xff"), "struct": pl.struct(pl.lit(1).alias("a"))}[
        kind
    ]
    frame.with_columns(value.alias(column)).write_parquet(small_corpus / "manifest.parquet")
    done = personare("corpus", "info", small_corpus)
    assert done.code in (0, 2) and "Traceback" not in done.stderr
    if done.code == 2:
        assert len(done.stderr.splitlines()) == 1, done.stderr


def test_markup_in_a_targets_name_is_a_name(small_corpus: Path, tmp_path: Path, personare: Command) -> None:
    target = tmp_path / "[bold]out[" / "[/b]x"
    done = personare("anonymize", small_corpus, target, "--method", "mcadams", "--names", "keep")
    assert done.code == 0 and "[/b]x" in done.stdout.replace("\n", "")


def test_long_ids_that_are_kept_are_refused_in_one_line(small_corpus: Path, tmp_path: Path, personare: Command) -> None:
    frame = pl.read_parquet(small_corpus / "manifest.parquet")
    frame.with_columns(utterance=pl.lit("u" * 300) + pl.col("utterance")).write_parquet(
        small_corpus / "manifest.parquet"
    )
    done = personare("anonymize", small_corpus, tmp_path / "out", "--method", "mcadams", "--names", "keep")
    assert done.code == 2 and "too long for a file name" in done.stderr.splitlines()[-1]
    assert personare("anonymize", small_corpus, tmp_path / "out", "--method", "mcadams").code == 0


def test_a_folder_that_may_not_be_read_is_a_problem_and_no_traceback(
    small_corpus: Path, personare: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small_corpus / "manifest.parquet").unlink()
    closed = small_corpus / "anna"
    shutil.rmtree(small_corpus / "bela")
    if os.geteuid() == 0:  # root may read everything: the system's answer to an ordinary user is given here
        real_stat, real_scan = os.stat, os.scandir

        def stat(path: Any, **more: Any) -> os.stat_result:
            if str(path).startswith(f"{closed}/"):
                raise PermissionError(13, "Permission denied", str(path))
            return real_stat(path, **more)

        def scandir(path: Any = ".") -> Any:
            if str(path) == str(closed):
                raise PermissionError(13, "Permission denied", str(path))
            return real_scan(path)

        monkeypatch.setattr(os, "stat", stat)
        monkeypatch.setattr(os, "scandir", scandir)
    else:
        closed.chmod(0)
    done = personare("corpus", "info", small_corpus)
    closed.chmod(0o755)
    assert done.code == 0 and "1 folder cannot be opened (first: 'anna')" in done.stdout
