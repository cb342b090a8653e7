"""What a page is made of: paragraphs, tables, figures, sounds; every kind of page and every file format uses these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from personare.core.audio import Audio
from personare.reports.drawing.shapes import Scene
from personare.reports.drawing.svg import page_svg

Tone = Literal["exposed", "partly", "not-shown", "unproven", "undecided", "kept", "broken", "plain"]
TONES: Mapping[str, tuple[str, str]] = {
    "exposed": ("▲", "Better than guessing"),
    "partly": ("◆", "Partly protected"),
    "not-shown": ("●", "Not shown to be better than guessing"),
    "unproven": ("○", "Not shown to be better than guessing"),  # one attack; whether a method protects is not decided
    "undecided": ("?", "Not decided"),
    "kept": ("●", "Gate open"),
    "broken": ("▲", "Gate closed"),
}


@dataclass(frozen=True)
class Paragraph:
    """One paragraph; ``soft`` for remarks."""

    text: str
    soft: bool = False
    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True)
class Notice:
    """One line that stands out: what is missing here, and why."""

    text: str
    kind: ClassVar[str] = "notice"


@dataclass(frozen=True)
class BulletList:
    """A list of sentences; ``soft`` for remarks."""

    sentences: Sequence[str]
    soft: bool = False
    kind: ClassVar[str] = "list"


@dataclass(frozen=True)
class Statement:
    """One sentence; its ``tone`` says whether an attacker does better than guessing, or whether bounds are kept.

    ``label`` stands over it instead of the tone's words, ``next_step`` below it: what to do about it.
    """

    sentence: str
    tone: Tone = "plain"
    label: str = ""
    next_step: str = ""

    @property
    def heading(self) -> str:
        """What stands over the sentence: its label, or the words of its tone; nothing over a plain one."""
        return self.label or TONES.get(self.tone, ("", ""))[1]

    @property
    def sign(self) -> str:
        """The sign of its tone."""
        return TONES.get(self.tone, ("", ""))[0]


@dataclass(frozen=True)
class Statements:
    """Sentences about risks, the most important first; ``folded`` under this heading when given."""

    statements: Sequence[Statement]
    folded: str = ""
    kind: ClassVar[str] = "statements"


@dataclass(frozen=True)
class ReportTable:
    """Rows of words and numbers.

    Parameters
    ----------
    name : a short name for files and references; caption : what the table shows.
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
    """A drawing, what it shows in words (for those who cannot see it), its caption, and its name among all figures."""

    scene: Scene = field(repr=False)
    alt: str
    caption: str = ""
    name: str = ""

    @property
    def svg(self) -> str:
        """The drawing for a page, in the page's colours."""
        return page_svg(self.scene, name=self.name)


@dataclass(frozen=True)
class FigureRow:
    """Figures side by side where there is space, with one caption for all."""

    figures: Sequence[Figure]
    caption: str = ""
    kind: ClassVar[str] = "figures"


@dataclass(frozen=True)
class AudioExample:
    """One utterance to listen to: its title and its versions, (label, sound)."""

    title: str
    versions: Sequence[tuple[str, Audio]]


@dataclass(frozen=True)
class AudioExamples:
    """Utterances to listen to."""

    examples: Sequence[AudioExample]
    kind: ClassVar[str] = "audio"


@dataclass(frozen=True)
class Facts:
    """Names and values, under a title where they need one."""

    entries: Mapping[str, str]
    title: str = ""
    kind: ClassVar[str] = "facts"


Block = Paragraph | Notice | BulletList | Statements | ReportTable | FigureRow | AudioExamples | Facts


@dataclass(frozen=True)
class Section:
    """One heading with what stands below it; ``name`` is its place in the page.

    ``aside`` stands beside the blocks where a screen is wide, and after them elsewhere. ``unmeasured`` names what this
    section would show, had it been measured; a section without blocks is left out.
    """

    name: str
    title: str
    blocks: Sequence[Block] = ()
    unmeasured: Sequence[str] = ()
    aside: Sequence[Block] = ()

    @property
    def every_block(self) -> list[Block]:
        """The blocks, and what stands beside them."""
        return [*self.blocks, *self.aside]
