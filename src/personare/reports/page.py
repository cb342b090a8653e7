"""One self-contained HTML page from findings: verdict first, then numbers, a picture, and sounds to listen to.

The page needs no network, no script and no second file; it follows the reader's light or dark setting and prints.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from personare.core.audio import Audio, encode_flac
from personare.core.files import write_text
from personare.core.findings import Finding


@dataclass(frozen=True)
class Figure:
    """A drawing: SVG text, what it shows in words (for those who cannot see it), and its caption."""

    svg: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Clip:
    """One utterance to compare by ear: its title and its versions, (label, sound)."""

    title: str
    sounds: Sequence[tuple[str, Audio]]


@dataclass(frozen=True)
class Page:
    """Everything a report shows.

    Parameters
    ----------
    verdicts : each risk as one sentence in plain words, the most important first.
    notes : what was and was not measured, and what failed.
    facts : name -> value, for the section that lets a reader repeat the work.
    exposed : the most exposed speakers, (speaker, attacker, share of utterances linked).
    """

    title: str
    subtitle: str
    verdicts: Sequence[str]
    findings: Sequence[Finding]
    figures: Sequence[Figure] = ()
    clips: Sequence[Clip] = ()
    exposed: Sequence[tuple[str, str, float]] = ()
    notes: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


def number(value: float, unit: str = "") -> str:
    """Write a number for people; percentages from shares.

    >>> number(0.0731, "%"), number(1.5)
    ('7.3 %', '1.5')
    """
    return f"{100 * value:.1f} %" if unit == "%" else f"{value:.3g}"


def condition(finding: Finding) -> str:
    """Write a finding's conditions on one line, the attacker left out."""
    return ", ".join(f"{name} = {value}" for name, value in finding.conditions.items() if name != "attacker")


def data_uri(audio: Audio) -> str:
    """Put a sound into the page itself."""
    return "data:audio/flac;base64," + base64.b64encode(encode_flac(audio)).decode("ascii")


def render(page: Page) -> str:
    """Make the HTML; every text is escaped, only our own SVG goes in as it is."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("personare.reports"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(number=number, condition=condition, data_uri=data_uri, svg=Markup)
    return environment.get_template("report.html.j2").render(page=page)


def save(page: Page, folder: Path) -> Path:
    """Write ``report.html`` and ``findings.json`` into ``folder``; give the page's path."""
    write_text(folder / "report.html", render(page))
    rows = {"title": page.title, "facts": dict(page.facts), "findings": [f.as_row() for f in page.findings]}
    write_text(folder / "findings.json", json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    return folder / "report.html"
