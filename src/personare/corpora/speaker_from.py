"""Who speaks in a folder of recordings, by a rule the user names: each file, folder or channel, or a part of the name.

``file``: each file is another person. ``folder``: the first folder below the corpus is the person. ``last-folder``: the
folder that holds the file is, however deep it lies; folders of one name are one person. ``channel``: each channel of
each file is another person (two-channel calls). Anything else is a pattern with ``{speaker}`` in it, such as
``{speaker}_{rest}``, or with a field for each channel, such as ``{speaker1}_{speaker2}_{rest}``: compared with the
file's name without its ending or, where the pattern holds a ``/``, with the path below the folder. Each ``{field}``
takes at least one character, as few as it can, and never a ``/``; the last one takes the rest. ``{part}`` is the part
of the corpus, such as train, as in ``{part}/{speaker}/{rest}``. It is no regular expression and cannot run away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from personare.core.audio import probe
from personare.core.errors import ConfigError, CorpusError, PersonareError, did_you_mean
from personare.corpora.gathering import Reading, gather
from personare.corpora.listing import read_texts
from personare.corpora.problems import Problem, found
from personare.corpora.walking import Tree, nested_speakers, stem_of, walk

Word = Literal["file", "folder", "last-folder", "channel"]
WORDS: tuple[Word, ...] = get_args(Word)
SPEAKER, PART = "speaker", "part"


@dataclass(frozen=True)
class SpeakerRule:
    """Where the speaker's name comes from.

    Parameters
    ----------
    kind : which rule it is.
    literals, fields : of a pattern: the text around its fields (one more than fields), and the names of the fields;
        where they name a person for each channel (``speaker1``, ``speaker2``), the kind is ``channel``.
    """

    kind: Word | Literal["pattern"]
    literals: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def channels(self) -> int:
        """How many channels a pattern names people for; 0 where each channel of a file is a person of their own."""
        return sum(field != SPEAKER and field.startswith(SPEAKER) for field in self.fields)

    def speaker_of(self, stem: str) -> str | None:
        """Give the speaker of a file by its path below the folder, without ending; None where the rule gives none.

        >>> parse_rule("{speaker}_{rest}").speaker_of("calls/anna_2024_03")
        'anna'
        >>> parse_rule("{year}/{speaker}/{rest}").speaker_of("2024/anna/u1")
        'anna'
        >>> [parse_rule(rule).speaker_of("team/anna/u1") for rule in ("file", "folder", "last-folder")]
        ['team/anna/u1', 'team', 'anna']
        """
        if self.kind == "file" or (self.kind == "channel" and not self.fields):
            return stem
        if self.kind == "folder":
            return stem.partition("/")[0] if "/" in stem else None
        if self.kind == "last-folder":
            return stem.split("/")[-2] if "/" in stem else None
        found = self.values_of(stem)
        return None if found is None else found[SPEAKER if self.kind == "pattern" else f"{SPEAKER}1"]

    def values_of(self, stem: str) -> dict[str, str] | None:
        """Give what a pattern finds in a path, by the names of its fields; None where it does not fit.

        >>> parse_rule("{speaker1}_{speaker2}_{rest}").values_of("calls/agent7_4711_monday")
        {'speaker1': 'agent7', 'speaker2': '4711', 'rest': 'monday'}
        """
        whole = any("/" in literal for literal in self.literals)
        name = stem if whole else stem.rpartition("/")[2]
        first, *others = self.literals
        if not name.startswith(first):
            return None
        place, values = len(first), {}
        for number, (field, literal) in enumerate(zip(self.fields, others, strict=True), 1):
            if number < len(self.fields):
                end = name.find(literal, place + 1)
            else:
                end = len(name) - len(literal) if name.endswith(literal) else -1
            value = name[place:end]
            if end <= place or "/" in value:
                return None
            values[field] = value
            place = end + len(literal)
        return values


def parse_rule(text: str) -> SpeakerRule:
    """Read a rule; anything that is none is one line."""
    where = f"--speaker-from '{text}'"
    for word in WORDS:
        if text == word:
            return SpeakerRule(word)
    if "{" not in text:
        example = "or a pattern such as {speaker}_{rest}"
        raise ConfigError(f"{where} is none of {', '.join(WORDS)}, {example}; {did_you_mean(text, WORDS)}")
    pieces = re.split(r"\{(\w+)\}", text)
    literals, fields = tuple(pieces[::2]), tuple(pieces[1::2])
    if any(c in literal for literal in literals for c in "{}"):
        raise ConfigError(f"{where}: a field is letters between braces, such as {{speaker}}")
    people = sorted(field for field in fields if re.fullmatch(rf"{SPEAKER}\d*", field))
    if people != [SPEAKER] and (not people or people != [f"{SPEAKER}{c}" for c in range(1, len(people) + 1)]):
        each = "or, with one person per channel, {speaker1} and {speaker2} once each"
        raise ConfigError(f"{where}: name the field {{speaker}} once, e.g. {{speaker}}_{{rest}}; {each}")
    if "" in literals[1:-1]:
        raise ConfigError(
            f"{where}: nobody can tell where one field ends and the next begins; write a sign between them"
        )
    return SpeakerRule("pattern" if people == [SPEAKER] else "channel", literals, fields)


def read_speaker_from(path: Path, text: str) -> Reading:
    """Read every recording below a folder, speakers as the rule says."""
    rule = parse_rule(text)
    if not path.is_dir():
        raise CorpusError(f"{path}: --speaker-from is for a folder of recordings; this is a file")
    tree = walk(path.resolve())
    audio = tree.audio()
    if not audio:
        why = f" ({tree.problems[0].line})" if tree.problems else ""
        raise CorpusError(f"{path}: no recording lies in it or below it{why}")
    speakers = {a: rule.speaker_of(stem_of(a)) for a in audio}
    owned = [a for a in audio if speakers[a] is not None]
    if not owned:
        raise CorpusError(f"{path}: --speaker-from {text} fits no file name (first: '{audio[0]}')")
    problems = [*tree.problems, *found("no-speaker-in-name", str(path), (a for a in audio if speakers[a] is None))]
    if rule.kind == "folder":
        problems += nested_speakers(str(path), audio)
    if rule.kind == "last-folder":
        problems += _repeated_folders(str(path), owned)
    frame, more = _channels(tree, owned, rule, str(path)) if rule.kind == "channel" else _rows(tree, owned, speakers)
    if PART in rule.fields:
        parts = {tree.place(a): (rule.values_of(stem_of(a)) or {}).get(PART) for a in owned}
        frame = frame.with_columns(pl.col("audio").replace_strict(parts, return_dtype=pl.String).alias(PART))
    evidence = f"{len(audio):,} files, speakers by {text}"
    return gather(frame, layout="files", evidence=evidence, place=str(path), problems=[*problems, *more])


def _repeated_folders(place: str, audio: list[str]) -> list[Problem]:
    """Name the last folders that occur at several places: perhaps not one person each."""
    folders: dict[str, set[str]] = {}
    for one in audio:
        folder = one.rpartition("/")[0]
        folders.setdefault(folder.rpartition("/")[2], set()).add(folder)
    return found("repeated-folder", place, sorted(name for name, places in folders.items() if len(places) > 1))


def _rows(tree: Tree, audio: list[str], speakers: dict[str, str | None]) -> tuple[pl.DataFrame, list[Problem]]:
    """One utterance per file, with the transcript that lies beside it."""
    stems = [stem_of(a) for a in audio]
    beside = {stem_of(t): tree.place(t) for t in tree.with_suffix(".txt")}
    texts, problems = read_texts({stem: beside[stem] for stem in stems if stem in beside})
    frame = pl.DataFrame(
        {
            "utterance": stems,
            "speaker": [speakers[a] for a in audio],
            "audio": [tree.place(a) for a in audio],
            **({"text": [texts.get(stem) for stem in stems]} if texts else {}),
        }
    )
    return frame, problems


def _channels(tree: Tree, audio: list[str], rule: SpeakerRule, path: str) -> tuple[pl.DataFrame, list[Problem]]:
    """One utterance per channel of each file; each channel is another person, and who, only a pattern can tell.

    A file that cannot be read keeps its rows, which fail with a reason: one for each person whom the pattern names, or
    a single one where nobody is named.
    """
    rows: list[tuple[str, str, str, int | None]] = []
    misfits: list[str] = []
    for one in audio:
        stem, place = stem_of(one), tree.place(one)
        try:
            count = probe(Path(place)).channels
        except PersonareError:
            if not rule.channels:
                rows.append((stem, stem, place, None))
                continue
            count = rule.channels
        if rule.channels not in (0, count):
            misfits.append(one)
            continue
        named = rule.values_of(stem) if rule.channels else None
        for c in range(1, count + 1):
            rows.append((f"{stem}/{c}", named[f"{SPEAKER}{c}"] if named else f"{stem}/{c}", place, c))
    columns = {"utterance": pl.String, "speaker": pl.String, "audio": pl.String, "person_channel": pl.Int64}
    return pl.DataFrame(rows, schema=columns, orient="row"), found("channel-count", path, misfits)
