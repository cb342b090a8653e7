"""What a page is made of: words, tables, pictures, sounds; every kind of page and every file format uses these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from personare.core.audio import Audio

Judgement = Literal["exposed", "hidden", "unknown", "kept", "broken", "plain"]
JUDGED: Mapping[str, tuple[str, str]] = {
    "exposed": ("▲", "Better than guessing"),
    "hidden": ("●", "Not shown to be better than guessing"),
    "unknown": ("?", "Not decided"),
    "kept": ("●", "Gate open"),
    "broken": ("▲", "Gate closed"),
}


@dataclass(frozen=True)
class Words:
    """One paragraph; ``soft`` for remarks."""

    text: str
    soft: bool = False
    kind: ClassVar[str] = "words"


@dataclass(frozen=True)
class Missing:
    """One line that says what was not measured, in place of an empty picture."""

    text: str
    kind: ClassVar[str] = "missing"


@dataclass(frozen=True)
class Points:
    """A list of sentences; ``soft`` for remarks."""

    items: Sequence[str]
    soft: bool = False
    kind: ClassVar[str] = "points"


@dataclass(frozen=True)
class Verdict:
    """One sentence; ``judgement`` says whether the attacker beats guessing, or whether bounds are kept."""

    sentence: str
    judgement: Judgement = "plain"


@dataclass(frozen=True)
class Verdicts:
    """Risks, the most important first; ``folded`` under these words when given."""

    verdicts: Sequence[Verdict]
    folded: str = ""
    kind: ClassVar[str] = "verdicts"


@dataclass(frozen=True)
class Table:
    """Rows of words and numbers.

    Parameters
    ----------
    name : a short word for files and references; caption : what the table shows.
    numbers : the columns that hold numbers; folded : whether the page shows it only on request.
    """

    name: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()
    folded: bool = False
    kind: ClassVar[str] = "table"


@dataclass(frozen=True)
class Figure:
    """A drawing: SVG text, what it shows in words (for those who cannot see it), its caption, and a PNG of it."""

    svg: str
    alt: str
    caption: str
    name: str = ""
    png: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side where there is room, with one caption for all."""

    figures: Sequence[Figure]
    caption: str = ""
    kind: ClassVar[str] = "gallery"


@dataclass(frozen=True)
class Clip:
    """One utterance to compare by ear: its title and its versions, (label, sound)."""

    title: str
    sounds: Sequence[tuple[str, Audio]]


@dataclass(frozen=True)
class Sounds:
    """Utterances to listen to."""

    clips: Sequence[Clip]
    kind: ClassVar[str] = "sounds"


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    entries: Mapping[str, str]
    kind: ClassVar[str] = "facts"


Block = Words | Missing | Points | Verdicts | Table | Gallery | Sounds | Facts


@dataclass(frozen=True)
class Section:
    """One heading with what stands below it; ``name`` is its place in the page."""

    name: str
    title: str
    blocks: Sequence[Block]
