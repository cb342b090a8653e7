"""The same report as Markdown: for a wiki, a repository or an e-mail; pictures are linked as files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from personare.reports.blocks import (
    AudioExamples,
    Block,
    BulletList,
    Facts,
    FigureRow,
    Notice,
    Paragraph,
    ReportTable,
    Statement,
    Statements,
)
from personare.reports.page import Page


def escaped(text: str) -> str:
    r"""Keep what Markdown or HTML would take for markup, on one line.

    >>> print(escaped("a_b|c <i> *x* # `q`"))
    a\_b\|c &lt;i> \*x\* # \`q\`
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_|\[\]])", r"\\\1", text)


def as_markdown(page: Page, *, figures: str = "figures") -> str:
    """Write the page; ``figures`` is the folder of the pictures, as seen from the file."""
    parts = [f"# {escaped(page.title)}", escaped(page.subtitle)]
    for section in page.sections:
        parts.append(f"## {escaped(section.title)}")
        for block in section.every_block:
            parts += _block(block, figures)
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, figures: str) -> Iterator[str]:
    if isinstance(block, Paragraph | Notice):
        yield escaped(block.text)
    elif isinstance(block, BulletList):
        yield "\n".join(f"- {escaped(sentence)}" for sentence in block.sentences)
    elif isinstance(block, Statements):
        yield "\n".join(f"- {_statement(statement)}" for statement in block.statements)
    elif isinstance(block, ReportTable):
        yield f"*{escaped(block.caption)}*"
        yield _table(block)
    elif isinstance(block, FigureRow):
        yield "\n\n".join(f"![{escaped(f.alt)}]({figures}/{f.name}.svg)" for f in block.figures)
        yield escaped(block.caption)
    elif isinstance(block, AudioExamples):
        yield "\n".join(
            f"- {escaped(e.title)}: {', '.join(escaped(label) for label, _ in e.versions)}" for e in block.examples
        )
    elif isinstance(block, Facts):
        yield f"**{escaped(block.title)}**" if block.title else ""
        yield "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in block.entries.items())


def _statement(statement: Statement) -> str:
    heading = f"**{escaped(statement.heading)}.** " if statement.heading else ""
    step = f" Next: {statement.next_step}" if statement.next_step else ""
    return f"{heading}{escaped(statement.sentence)}{step}"


def _table(table: ReportTable) -> str:
    ends = ["---:" if i in table.numbers else "---" for i in range(len(table.head))]
    lines = [[escaped(name) for name in table.head], ends, *([escaped(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
