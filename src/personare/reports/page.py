"""One self-contained HTML page from findings: verdict first, then numbers, figures, and sounds to listen to.

The page needs no network, no script and no second file; it follows the reader's light or dark setting and prints.
"""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from personare.core.audio import Audio, encode_flac
from personare.core.findings import Finding
from personare.reports.blocks import Block, Facts, Figure, FigureRow, ReportTable, Section, Statements
from personare.reports.figures import save_drawing
from personare.reports.palette import variables

NO_BREAK = "\u00a0"


@dataclass(frozen=True)
class Page:
    """Everything a report shows, in the order of its sections; ``findings`` are all numbers behind it."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    findings: Sequence[Finding] = ()

    @property
    def statements(self) -> list[str]:
        """Every sentence about a risk."""
        return [s.sentence for b in self.blocks() if isinstance(b, Statements) for s in b.statements]

    @property
    def facts(self) -> dict[str, str]:
        """Everything that lets a reader repeat the work."""
        return {name: value for b in self.blocks() if isinstance(b, Facts) for name, value in b.entries.items()}

    @property
    def tables(self) -> list[ReportTable]:
        """All tables."""
        return [block for block in self.blocks() if isinstance(block, ReportTable)]

    @property
    def figures(self) -> list[Figure]:
        """All figures."""
        return [figure for block in self.blocks() if isinstance(block, FigureRow) for figure in block.figures]

    def blocks(self) -> Iterator[Block]:
        """Go through everything, from top to bottom."""
        for section in self.sections:
            yield from section.every_block


def distinct(sections: Sequence[Section]) -> list[Section]:
    """Give figures of the same name (methods called b1 and B1) different ones, so that none takes another's place."""
    seen: set[str] = set()

    def own(figure: Figure) -> Figure:
        names = itertools.chain([figure.name], (f"{figure.name}-{i}" for i in itertools.count(2)))
        name = next(n for n in names if n not in seen)
        seen.add(name)
        return replace(figure, name=name)

    def checked(block: Block) -> Block:
        return replace(block, figures=[own(f) for f in block.figures]) if isinstance(block, FigureRow) else block

    return [
        replace(section, blocks=[checked(b) for b in section.blocks], aside=[checked(b) for b in section.aside])
        for section in sections
    ]


def data_uri(audio: Audio) -> str:
    """Put a sound into the page itself."""
    return "data:audio/flac;base64," + base64.b64encode(encode_flac(audio)).decode("ascii")


def unbroken(text: Any) -> Any:
    """Keep a number and its unit, an interval, and ``L = 3`` on one line.

    >>> unbroken("8.3 % [2.1, 14.0] at L = 3").replace("\u00a0", "~")
    '8.3~% [2.1,~14.0] at L~=~3'
    """
    if type(text) is not str:  # markup of our own stays as it is
        return text
    joined = re.sub(r"(?<=\d) (?=%|dB\b|bit\b|Hz\b|kHz\b)", NO_BREAK, text)
    joined = re.sub(r"\[[-\d][^\[\]]*\]", lambda interval: interval.group().replace(" ", NO_BREAK), joined)
    return re.sub(r"(?<=\w) = (?=\S)", f"{NO_BREAK}={NO_BREAK}", joined)


def render(page: Page) -> str:
    """Make the HTML; every text is escaped, only our own SVG goes in as it is."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("personare.reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=unbroken,
    )
    environment.filters.update(data_uri=data_uri, svg=Markup)
    colours = {"light": variables(dark=False), "dark": variables(dark=True)}
    return environment.get_template("report.html.j2").render(page=page, **colours)


def save_figures(page: Page, folder: Path) -> list[Path]:
    """Write every figure as SVG and PDF; gives their paths."""
    return [
        save_drawing(figure.scene, folder / f"{figure.name}{kind}", alt=figure.alt)
        for figure in page.figures
        for kind in (".svg", ".pdf")
    ]
