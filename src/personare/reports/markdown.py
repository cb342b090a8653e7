"""The same report as Markdown: for a wiki, a repository or an e-mail; pictures are linked as files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from personare.reports.blocks import JUDGED, Block, Facts, Gallery, Missing, Points, Sounds, Table, Verdicts, Words
from personare.reports.page import Page

MARKS = {name: f"**{words}.** " for name, (_, words) in JUDGED.items()}


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
        for block in section.blocks:
            parts += _block(block, figures)
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, figures: str) -> Iterator[str]:
    if isinstance(block, Words | Missing):
        yield escaped(block.text)
    elif isinstance(block, Points):
        yield "\n".join(f"- {escaped(item)}" for item in block.items)
    elif isinstance(block, Verdicts):
        yield "\n".join(f"- {MARKS.get(v.judgement, '')}{escaped(v.sentence)}" for v in block.verdicts)
    elif isinstance(block, Table):
        yield f"*{escaped(block.caption)}*"
        yield _table(block)
    elif isinstance(block, Gallery):
        yield "\n\n".join(f"![{escaped(f.alt)}]({figures}/{f.name}.svg)" for f in block.figures)
        yield escaped(block.caption)
    elif isinstance(block, Sounds):
        yield "\n".join(
            f"- {escaped(c.title)}: {', '.join(escaped(label) for label, _ in c.sounds)}" for c in block.clips
        )
    elif isinstance(block, Facts):
        yield "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in block.entries.items())


def _table(table: Table) -> str:
    ends = ["---:" if i in table.numbers else "---" for i in range(len(table.head))]
    lines = [[escaped(name) for name in table.head], ends, *([escaped(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
