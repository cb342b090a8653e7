"""The tables for a paper compile: every character is escaped, every row has its columns, nothing leaves the page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from personare.reports.blocks import ReportTable, Section
from personare.reports.latex import as_latex
from personare.reports.page import Page
from personare.reports.report import page_of_run
from personare.reports.run import read_run
from reports.runs import write_run

PAPER = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{array,booktabs,longtable}
\begin{document}
\input{tables.tex}
\end{document}
"""
SPECIAL = "5 % of a_b & c\\d {x} ~ ^ $1 #2 <y> |z| “quoted” it\u2019s \u2013 ∞ ± → … é ü"
TABLE = re.compile(r"\\begin\{(longtable|tabular)\}\{([^\n]*)\}\n(.*?)\\end\{\1\}", re.DOTALL)
MOST_PT = 5.0  # a line that sticks out by less is not seen


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> str:
    page = page_of_run(read_run(write_run(tmp_path_factory.mktemp("run"))), sounds="none")
    odd = ReportTable("odd & <x>", SPECIAL, ["name", SPECIAL], [[SPECIAL, "1"], ["", SPECIAL]], numbers=(1,))
    long = ReportTable("long", "Long", ["a", "b"], [[f"{i}", SPECIAL] for i in range(60)])
    return as_latex(Page("t", "s", [*page.sections, Section("odd", "Odd", [odd, long])]))


def columns_of(told: str) -> int:
    """Count columns as LaTeX does: letters, and paragraphs with what goes before them."""
    told = re.sub(r">\{\\ragged(?:left|right)\\arraybackslash\}p\{\\dimexpr [\d.]+[^}]*\\relax\}", "p", told)
    assert re.fullmatch(r"(@\{\})?[lrp]+", told), told
    return len(told.replace("@{}", ""))


def test_every_row_has_its_columns(tables: str) -> None:
    found = TABLE.findall(tables)
    assert len(found) > 10 and len(found) == tables.count(r"\caption{") == tables.count(r"\label{tab:")
    for _, told, body in found:
        wanted = columns_of(told)
        rows = [line for line in body.splitlines() if line.endswith("\\\\") and not line.startswith(r"\caption")]
        assert len(rows) >= 2, "a head and a row"
        for row in rows:
            assert len(re.findall(r"(?<!\\)&", row)) + 1 == wanted, row


def test_specials_are_escaped_and_everything_is_closed(tables: str) -> None:
    body = re.sub(r"(?m)^%.*\n", "", tables)
    plain = (
        re.sub(r"\\[&%$#_{}]", "", body).replace(r"$\infty$", "").replace(r"$\pm$", "").replace(r"$\rightarrow$", "")
    )
    plain = plain.replace(r"\textasciicircum{}", "").replace(r"\textasciitilde{}", "")
    assert not re.search(r"[%#$_^~<|]", re.sub(r">\{\\ragged", "", plain)), "special characters are escaped"
    assert plain.count("{") == plain.count("}")
    opened = re.findall(r"\\(begin|end)\{(\w+)\}", plain)
    stack: list[str] = []
    for word, name in opened:
        if word == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    known = {"é", "ü", "…"}  # what LaTeX itself reads
    assert {c for c in body if ord(c) > 126} <= known


def test_latex_compiles_it_and_nothing_sticks_out(tables: str, tmp_path: Path) -> None:
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("needs pdflatex, which is not on this machine")
    (tmp_path / "tables.tex").write_text(tables, encoding="utf-8")
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="latin-1", timeout=120, check=False)
    assert done.returncode == 0, re.findall(r"(?m)^!.*\n.*", done.stdout)
    wide = [float(x) for x in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert max(wide, default=0.0) < MOST_PT, f"{len(wide)} lines stick out, the worst by {max(wide)} pt"
