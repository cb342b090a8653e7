"""The annex as PDF: every number of the criteria is in it as in findings.json, nobody's name is, text is never code."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Command
from personare.core.errors import MissingExtraError, OutputError
from personare.core.files import file_sha256
from personare.core.text import number_text
from personare.reports import evidence
from personare.reports.blocks import (
    Block,
    BulletList,
    Facts,
    Notice,
    Paragraph,
    ReportTable,
    Section,
    Statement,
    Statements,
)
from personare.reports.run import read_run
from personare.reports.typst_markup import as_typst, literal
from reports.runs import SPEAKERS, write_evaluation, write_run, write_small_run


def words_of(pdf: bytes | Path) -> str:
    """The text of all pages, with single blanks and without places where words may break."""
    stream = io.BytesIO(pdf) if isinstance(pdf, bytes) else pdf
    pages = [page.extract_text() for page in pypdf.PdfReader(stream).pages]
    return re.sub(r"\s+", " ", " ".join(pages).replace("\u200b", ""))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def pdf(run: Path) -> bytes:
    return evidence.evidence_pdf(read_run(run))


def test_the_numbers_are_those_of_findings_json(run: Path, pdf: bytes) -> None:
    text = words_of(pdf)
    rows = json.loads((run / "findings.json").read_text())["findings"]
    for metric in ("linkability", "eer"):
        for row in (r for r in rows if r["metric"] == metric and r.get("L") == 1):
            if row.get("N") in (None, max(r["N"] for r in rows if r.get("N"))) and "gender" not in row:
                assert number_text(row["value"], "%") in text, row
    assert "Singling out" in text and "Inference" in text and "What this does not prove" in text


def test_it_has_a_few_pages_and_no_date(run: Path, pdf: bytes) -> None:
    reader = pypdf.PdfReader(io.BytesIO(pdf))
    assert 2 <= len(reader.pages) <= 7
    assert evidence.evidence_pdf(read_run(run)) == pdf
    assert reader.metadata is not None and reader.metadata.title == evidence.TITLE


def test_it_names_nobody_and_every_file_by_its_digest(run: Path, pdf: bytes) -> None:
    text = words_of(pdf)
    for name in (*SPEAKERS, "anna-99"):
        assert name not in text
    assert file_sha256(run / "findings.json") in text.replace(" ", "")


@pytest.mark.parametrize("write", [write_small_run, write_evaluation])
def test_runs_with_less_have_an_annex_too(tmp_path: Path, write: object) -> None:
    folder = write(tmp_path / "run")  # type: ignore[operator]
    assert "In short" in words_of(evidence.write_evidence(folder, tmp_path / "evidence.pdf"))


def test_the_command_writes_it_beside_the_report(personare: Command, run: Path, tmp_path: Path) -> None:
    done = personare("report", run, "--out", tmp_path / "report", "--format", "json", "--pdf", tmp_path / "a.pdf")
    assert done.code == 0 and (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert str(tmp_path / "a.pdf") in done.stdout


def test_another_ending_and_a_missing_extra_are_one_line_before_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(OutputError, match=r"name it \.pdf"):
        evidence.check_evidence(tmp_path / "evidence.html")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"\.\[pdf\]"):
        evidence.check_evidence(tmp_path / "evidence.pdf")


@given(st.text(max_size=80))
def test_any_text_is_printed_and_never_run(text: str) -> None:
    """A string literal ends only where we end it: a backslash or a quote within it is always escaped."""
    inside = literal(text)[1:-1]
    assert re.fullmatch(r'(?:[^"\\\n]|\\.)*', inside)


HOSTILE = '#panic("x") $x$ *b* _i_ `r` <l> @r [c] {d} \\ " // /* ~ = + - \u201c\u00e9\u201d #import "x"'


def test_hostile_words_come_out_as_they_are() -> None:
    import typst

    blocks: list[Block] = [
        Paragraph(HOSTILE), Notice(HOSTILE), BulletList([HOSTILE]), Statements([Statement(HOSTILE, "exposed")]),
        ReportTable("t", HOSTILE, [HOSTILE, "b"], [[HOSTILE, "1"]], numbers=(1,)), Facts({HOSTILE: HOSTILE}),
    ]  # fmt: skip
    source = as_typst(HOSTILE, HOSTILE, [Section("s", HOSTILE, blocks)])
    text = words_of(typst.compile(source.encode(), ignore_system_fonts=True))
    assert text.count('#panic("x")') >= len(blocks)
