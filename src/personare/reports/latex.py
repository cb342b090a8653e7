"""The report's tables for a paper: booktabs style, every special character escaped, one file to \\input."""

from __future__ import annotations

import re

from personare.reports.blocks import ReportTable
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
LINES = {"\\footnotesize": 80.0, "\\scriptsize": 92.0, "\\tiny": 118.0}  # letters on a line of an article
WIDEST, GAP = 34, 1.6  # letters that a column asks for at most, and between two columns
HEAD = (
    "% Made by personare report. In the preamble: \\usepackage{array,booktabs,longtable}\n"
    "% With pdflatex also \\usepackage[T1]{fontenc}; labels that are not in Latin letters need xelatex or lualatex.\n"
)
NARROW = "\\setlength{\\tabcolsep}{3pt}"


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


def _table(table: ReportTable) -> str:
    size, columns = _columns(table)
    head = f"{' & '.join(escaped(name) for name in table.head)} \\\\"
    rows = "\n".join(f"{' & '.join(escaped(cell) for cell in row)} \\\\" for row in table.rows)
    label = re.sub(r"[^a-z0-9-]+", "-", table.name.lower())
    caption = f"\\caption{{{escaped(table.caption)}}}\\label{{tab:{label}}}"
    if len(table.rows) > LONG:
        return (
            f"{{{size}{NARROW}\n\\begin{{longtable}}{{{columns}}}\n{caption}\\\\\n\\toprule\n{head}\n\\midrule\n\\endhead\n"
            f"{rows}\n\\bottomrule\n\\end{{longtable}}}}\n"
        )
    return (
        f"\\begin{{table}}\n\\centering{size}{NARROW}\n{caption}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\n\\midrule\n"
        f"{rows}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _columns(table: ReportTable) -> tuple[str, str]:
    """Give the size of letters and the width of columns.

    As wide as they come where a line holds them, else in proportion; letters are as small as the longest words need.
    """
    cells = [[head, *(row[i] for row in table.rows)] for i, head in enumerate(table.head)]
    size = next(iter(LINES))
    if sum(max(map(len, column)) + GAP for column in cells) <= LINES[size]:
        return size, "".join("r" if i in table.numbers else "l" for i in range(len(cells)))
    least = [1.15 * max((len(word) for cell in c for word in cell.split()), default=1) + GAP for c in cells]
    natural = [max(word, min(WIDEST, max(map(len, column)))) for word, column in zip(least, cells, strict=True)]
    size = next((name for name, line in LINES.items() if sum(least) <= line), list(LINES)[-1])
    spare = max(LINES[size] - sum(least), 0) / max(sum(natural) - sum(least), 1)
    wide = [a + spare * (b - a) for a, b in zip(least, natural, strict=True)]
    sides = ["left" if i in table.numbers else "right" for i in range(len(cells))]  # ragged on that side
    return size, "@{}" + "".join(
        f">{{\\ragged{side}\\arraybackslash}}p{{\\dimexpr {width / sum(wide):.4f}\\linewidth-2\\tabcolsep\\relax}}"
        for side, width in zip(sides, wide, strict=True)
    )
