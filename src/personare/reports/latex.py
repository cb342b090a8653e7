"""The report's tables for a paper: booktabs style, every special character escaped, one file to \\input."""

from __future__ import annotations

import re

from personare.reports.blocks import Table
from personare.reports.page import Page

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "“": "``",
    "”": "''",
    "\u2019": "'",
    "\u2013": "--",
    "∞": r"$\infty$",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}
LONG = 40  # rows; longer tables may break over pages
HEAD = "% Made by personare report. In the preamble: \\usepackage{booktabs,longtable}\n"


def escaped(text: str) -> str:
    r"""Write any text so that LaTeX prints it as it is.

    >>> print(escaped(r"5 % of a_b & c\d {x} ~ ^ $1 #2"))
    5 \% of a\_b \& c\textbackslash{}d \{x\} \textasciitilde{} \textasciicircum{} \$1 \#2
    """
    return "".join(SPECIAL.get(c, c) for c in " ".join(text.split()))


def as_latex(page: Page) -> str:
    """Write every table of the page."""
    tables = [_table(table) for table in page.tables if table.rows]
    return "\n".join([HEAD, *tables])


def _table(table: Table) -> str:
    columns = "".join("r" if i in table.numbers else "l" for i in range(len(table.head)))
    head = f"{' & '.join(escaped(name) for name in table.head)} \\\\"
    rows = "\n".join(f"{' & '.join(escaped(cell) for cell in row)} \\\\" for row in table.rows)
    label = re.sub(r"[^a-z0-9-]+", "-", table.name.lower())
    caption = f"\\caption{{{escaped(table.caption)}}}\\label{{tab:{label}}}"
    if len(table.rows) > LONG:
        return (
            f"\\begin{{longtable}}{{{columns}}}\n{caption}\\\\\n\\toprule\n{head}\n\\midrule\n\\endhead\n"
            f"{rows}\n\\bottomrule\n\\end{{longtable}}\n"
        )
    return (
        f"\\begin{{table}}\n\\centering\n{caption}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\n\\midrule\n"
        f"{rows}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )
