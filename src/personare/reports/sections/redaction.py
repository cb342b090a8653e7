"""People are numbers: a report leaves names, ids and paths out, so that it can be shown to others.

Speaker 1 is the one who is linked most often over all attacks on anonymized voices, so that a number says nothing about
a name; a report made with names gives both, for whoever holds the run folder.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from personare.core.command import without_places
from personare.core.tables import read_frame
from personare.reports.run import ORIGINAL, ArtefactFile, Person, Run

LEFT_OUT = "…"
PATHS = re.compile(r"[^\s'\"(]*[/\\].*?(?=: |; |, |['\")]|$)")
BEGINS = re.compile(r"(?:[\w-]{2,}:)?(?:[/~]|\.{1,2}[/\\]|[A-Za-z]:[/\\])")  # a path, also after "trained:"
FIRST = re.compile(r"\s*\(first: .*?\)(?=[\s;:,.]|$)")
QUOTED = re.compile(r"(?<!\w)'[^']+'(?!\w)")
# columns of a run's tables that name somebody or something of the corpus
NAMING_COLUMNS = {
    "exposed": ("speaker",),
    "ranks": ("speaker", "utterance"),
    "similarity": ("row_speaker", "column_speaker"),
    "scores": ("enroll", "test"),
}
NAMING_CONDITIONS = ("speaker", "utterance", "text")
LABELS = ("corpus", "anonymizer", "attacker", "listener", "listener_trained_on")  # the study's own, shown as written


def with_names(run: Run) -> Run:
    """Show everybody's name and number; for the holder of the run folder only."""
    labels = {who: f"{who[1]} ({number})" for who, number in speaker_numbers(run).items()}
    return replace(run, speaker_labels=labels, shows_names=True)


def without_names(run: Run) -> Run:
    """Show numbers only; utterances are counted, names, ids and paths fall out of everything a report may say."""
    labels = speaker_numbers(run)
    names = {name for _, name in labels} | set(_names_in(run))
    failures = [(stage, LEFT_OUT, redacted(why, {*names, item})) for stage, item, why in run.failures]
    return replace(
        run,
        speaker_labels=labels,
        findings=tuple(replace(f, conditions=_conditions(f.conditions, labels)) for f in run.findings),
        artefacts=tuple(replace(a, conditions=_conditions(a.conditions, labels)) for a in _numbered(run.artefacts)),
        failures=tuple(failures),
        notes=tuple(dict.fromkeys(redacted(note, names) for note in run.notes)),
        environment=without_paths(run.environment),
        study=without_paths(run.study),
        command=_without(without_places(run.command), names),
    )


def speaker_numbers(run: Run) -> dict[Person, str]:
    """Number everybody of a run, those who are linked most often first."""
    shares: dict[Person, list[float]] = {}
    for artefact in run.of_kind("exposed"):
        corpus = str(artefact.conditions.get("corpus", ""))
        original = artefact.conditions.get("anonymizer") == ORIGINAL
        for name, share in read_frame(artefact.path).select("speaker", "share").iter_rows():
            shares.setdefault((corpus, str(name)), []).extend([] if original else [float(share)])
    for conditions in _every_condition(run):
        if "speaker" in conditions:
            shares.setdefault((str(conditions.get("corpus", "")), str(conditions["speaker"])), [])
    order = sorted(shares, key=lambda who: (-sum(shares[who]) / (len(shares[who]) or 1), _shuffled(who)))
    width = len(str(len(order)))
    return {who: f"speaker {place:0{width}d}" for place, who in enumerate(order, start=1)}


def redacted(text: str, names: Iterable[str] = ()) -> str:
    """Leave paths, quoted ids and known names out of a message.

    >>> redacted("/data/x/Anna B/u1.wav: cannot be opened")
    '…: cannot be opened'
    >>> redacted("3 entries name no file (first: 'anna/u3 -> a.wav'); left out"), redacted("anna is short", ["anna"])
    ('3 entries name no file; left out', '… is short')
    >>> redacted("1088-134315-0001 is short: 12 of 1088", ["1088-134315-0001", "1088", "12"])
    '… is short: 12 of …'
    """
    return _without(QUOTED.sub(LEFT_OUT, PATHS.sub(LEFT_OUT, FIRST.sub("", text))), names)


def _without(text: str, names: Iterable[str]) -> str:
    # a name of one letter or a few digits is also a word or a count: it cannot be told apart, and says little
    telling = {n for n in names if len(n) > 1 and (not n.isdigit() or len(n) > 3)}
    known = sorted((n for n in telling if n in text), key=len, reverse=True)
    for name in known:
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", LEFT_OUT, text)
    return text


def without_paths(value: Any) -> Any:
    r"""Leave every path out of settings, also below a kind such as ``trained:``.

    >>> without_paths({"embedder": "trained:/data/anna b/voice.onnx", "alpha": [0.5, 0.9], "path": "speech/anna"})
    {'embedder': 'trained:…', 'alpha': [0.5, 0.9], 'path': '…'}
    >>> without_paths(["Taal et al., IEEE/ACM TASLP, 2016", "C:\\Anna B\\x.wav", "ecapa"])
    ['Taal et al., IEEE/ACM TASLP, 2016', '…', 'ecapa']
    """
    if isinstance(value, Mapping):
        return {key: without_paths(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(one) for one in value]
    if isinstance(value, str) and (BEGINS.match(value) or re.fullmatch(r"\S*[/\\]\S*", value)):
        kind, colon, _ = value.partition(":")
        return f"{kind}:{LEFT_OUT}" if colon and len(kind) > 1 and "/" not in kind else LEFT_OUT
    return value


def _names_in(run: Run) -> Iterator[str]:
    """Give every name and id that the tables and sounds of a run hold."""
    for kind, columns in NAMING_COLUMNS.items():
        for artefact in run.of_kind(kind):
            frame = read_frame(artefact.path)
            for column in columns:
                if column in frame.columns:
                    yield from (str(name) for name in frame[column].drop_nulls().unique())
    for conditions in _every_condition(run):
        yield from (str(conditions[name]) for name in NAMING_CONDITIONS if conditions.get(name))


def _every_condition(run: Run) -> Iterator[Mapping[str, Any]]:
    yield from (artefact.conditions for artefact in run.of_kind("clip"))
    yield from (finding.conditions for finding in run.findings)


def _shuffled(who: Person) -> str:
    """Order ties by nothing that can be seen in a name."""
    return hashlib.sha256("\0".join(who).encode()).hexdigest()


def _numbered(artefacts: Iterable[ArtefactFile]) -> list[ArtefactFile]:
    """Count each speaker's utterances instead of naming them."""
    places: dict[tuple[str, str, str], int] = {}
    counts: Counter[tuple[str, str]] = Counter()
    numbered = []
    for artefact in artefacts:
        c = artefact.conditions
        key = (str(c.get("corpus", "")), str(c.get("speaker", "")), str(c.get("utterance", "")))
        if "utterance" in c and key not in places:
            counts[key[:2]] += 1
            places[key] = counts[key[:2]]
        place = {"utterance": f"utterance {places[key]}"} if "utterance" in c else {}
        numbered.append(replace(artefact, conditions={**c, **place}))
    return numbered


def _conditions(conditions: Mapping[str, Any], labels: Mapping[Person, str]) -> dict[str, Any]:
    shown = {name: value if name in LABELS else without_paths(value) for name, value in conditions.items()}
    if "speaker" in shown:
        shown["speaker"] = labels[str(conditions.get("corpus", "")), str(conditions["speaker"])]
    return shown
