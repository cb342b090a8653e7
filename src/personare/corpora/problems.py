"""What can be wrong with a collection of recordings: one table of kinds, one clear line for each kind found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from personare.core.errors import how_to_install
from personare.core.ledger import Excluded, Outcome

# kind -> what one is, what several are, what became of them
KINDS: dict[str, tuple[str, str, str]] = {
    "missing-audio": (
        "entry names an audio file that does not exist",
        "entries name audio files that do not exist",
        "left out; check the paths",
    ),
    "not-a-file": (
        "entry names a folder, a pipe or a device instead of an audio file",
        "entries name folders, pipes or devices instead of audio files",
        "not read; copy the recording into a regular file",
    ),
    "orphan-audio": ("audio file has no entry", "audio files have no entry", "not read"),
    "orphan-entry": ("entry has no audio", "entries have no audio", "left out"),
    "duplicate-utterance": (
        "utterance id occurs more than once",
        "utterance ids occur more than once",
        "only the first of each is kept",
    ),
    "duplicate-file": ("audio file is listed more than once", "audio files are listed more than once", "all kept"),
    "idle-speaker": ("listed speaker has no utterance", "listed speakers have no utterance", ""),
    "no-speaker": ("entry names no speaker", "entries name no speaker", "left out"),
    "no-utterance": ("entry has no utterance id", "entries have no utterance id", "left out"),
    "unsafe-name": (
        "name could lead outside a folder or break a line",
        "names could lead outside a folder or break a line",
        "left out; rename it",
    ),
    "empty-text": ("utterance has an empty transcript", "utterances have an empty transcript", "kept without text"),
    "unreadable-text": ("transcript cannot be read", "transcripts cannot be read", "kept without text"),
    "bad-segment": (
        "segment starts before 0 s, does not end after its start, or has a time that is not finite",
        "segments start before 0 s, do not end after their start, or have a time that is not finite",
        "left out",
    ),
    "overlapping-segment": (
        "segment overlaps the one before it in the same file",
        "segments overlap the one before them in the same file",
        "kept",
    ),
    "mixed-gender": ("speaker has more than one gender", "speakers have more than one gender", "gender left empty"),
    "bad-line": ("line cannot be understood", "lines cannot be understood", "left out"),
    "bad-trial": (
        "trial names an utterance or speaker that is not there",
        "trials name an utterance or speaker that is not there",
        "left out",
    ),
    "duplicate-trial": ("trial occurs more than once", "trials occur more than once", "only the first of each is kept"),
    "unsupported-format": (
        "file needs the extra 'media'",
        "files need the extra 'media'",
        f"not read; {how_to_install('media')}",
    ),
    "no-speaker-in-name": (
        "file name does not fit the rule of --speaker-from",
        "file names do not fit the rule of --speaker-from",
        "not read",
    ),
    "channel-count": (
        "file has another number of channels than --speaker-from names people",
        "files have another number of channels than --speaker-from names people",
        "not read",
    ),
    "nested-speaker": (
        "speaker's folder holds further folders",
        "speakers' folders hold further folders",
        "read as one person each; if each inner folder is a person, use --speaker-from last-folder",
    ),
    "repeated-folder": (
        "folder name occurs at several places",
        "folder names occur at several places",
        "read as one person each; if they are several, use a pattern of --speaker-from or rename them",
    ),
    "most-of-the-speech": (
        "speaker has more than 100 times as much speech as the median speaker",
        "speakers have more than 100 times as much speech as the median speaker",
        "read as one person each; if they are several, use --speaker-from file, last-folder, channel or a pattern",
    ),
    "repeated-link": (
        "link leads to a folder that is read already",
        "links lead to folders that are read already",
        "not followed",
    ),
    "outside-link": (
        "link leads out of the corpus",
        "links lead out of the corpus",
        "not read; --follow-links reads them",
    ),
    "closed-folder": ("folder cannot be opened", "folders cannot be opened", "not read; check the permissions"),
    "odd-name": ("file name is not valid Unicode", "file names are not valid Unicode", "not read; rename it"),
    "unreadable-audio": (
        "audio file cannot be read",
        "audio files cannot be read",
        "kept; each command that reads them counts them as failed",
    ),
    "several-speakers": (
        "recording has more than one speaker on one channel",
        "recordings have more than one speaker on one channel",
        "all speakers of a recording would get the same new voice; split it by speaker first",
    ),
    "person-on-each-channel": (
        "two-channel recording has another speaker on each channel and is read as one speaker",
        "two-channel recordings have another speaker on each channel and are read as one speaker",
        "both would get the same new voice; --speaker-from channel gives each channel its own",
    ),
    "segment-past-end": ("segment ends after its file", "segments end after their files", "check the times"),
}

# kinds whose names are recordings that are not in the corpus
LEFT_OUT = frozenset(
    {
        *("missing-audio", "orphan-audio", "duplicate-utterance", "no-speaker", "no-utterance", "unsafe-name"),
        *("bad-segment", "unsupported-format", "no-speaker-in-name", "channel-count", "odd-name"),
    }
)
# kinds whose names are failures of a job that should have read them
NOT_READ: dict[str, Outcome] = {
    "closed-folder": "unreadable",
    "not-a-file": "unreadable",
    "outside-link": "rejected",
}


@dataclass(frozen=True)
class Problem:
    """One kind of fault in one place, with everything it befell."""

    kind: str
    place: str
    names: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many it befell."""
        return len(self.names)

    @property
    def line(self) -> str:
        """Say it in one line: the place, how many, the rule, the first, what became of them.

        >>> Problem("orphan-audio", "manifest.tsv", ("a.wav", "b.wav")).line
        "manifest.tsv: 2 audio files have no entry (first: 'a.wav'); not read"
        """
        one, many, outcome = KINDS[self.kind]
        said = f"{plain(self.place)}: {self.count:,} {one if self.count == 1 else many}"
        said = f"{said} (first: '{plain(self.names[0])}')"
        return f"{said}; {outcome}" if outcome else said


def plain(text: str) -> str:
    r"""Show a name from someone's list on one line; what would steer a terminal is spelled out.

    >>> plain("a\nb\x1b[31m")
    'a\\nb\\x1b[31m'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def found(kind: str, place: str, names: Iterable[str]) -> list[Problem]:
    """Make one Problem of the names it befell, or none when there are none."""
    befallen = tuple(names)
    return [Problem(kind, place, befallen)] if befallen else []


def left_out(problems: Iterable[Problem]) -> tuple[Excluded, ...]:
    """List the recordings that are not in the corpus, each with the reason.

    >>> left_out([Problem("orphan-audio", "calls", ("a.wav",)), Problem("idle-speaker", "calls", ("anna",))])
    (Excluded(name='a.wav', outcome='left out', reason='audio file has no entry'),)
    """
    outcomes: dict[str, Outcome] = {**dict.fromkeys(LEFT_OUT, "left out"), **NOT_READ}
    return tuple(
        Excluded(name, outcomes[p.kind], KINDS[p.kind][0]) for p in problems if p.kind in outcomes for name in p.names
    )
