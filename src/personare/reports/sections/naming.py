"""Names stay at home: a report numbers speakers and leaves out ids and paths, so that it can be shown to others.

Speaker 1 is the one who is linked most often over all attacks on hidden voices, so that a number tells nothing about a
name; a report made with names gives both, for whoever holds the run folder.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from personare.core.findings import Finding
from personare.core.tables import read_frame
from personare.reports.run import ORIGINAL, Artefact, Person, Run

LEFT_OUT = "…"
PATHS = re.compile(r"[^\s'\"(]*[/\\].*?(?=: |; |, |['\")]|$)")
FIRST = re.compile(r"\s*\(first: .*?\)(?=[\s;:,.]|$)")
QUOTED = re.compile(r"(?<!\w)'[^']+'(?!\w)")


def with_numbers(run: Run) -> Run:
    """Show everybody's name and number; for the holder of the run folder only."""
    return replace(run, called={who: f"{who[1]} ({number})" for who, number in numbers(run).items()}, named=True)


def without_names(run: Run) -> Run:
    """Show numbers only; utterances are counted, paths and ids fall out of notes and failures."""
    called = numbers(run)
    names = {name for _, name in called} | {str(a.conditions.get("utterance", "")) for a in run.of_kind("clip")}
    shown = [replace(a, conditions=_unnamed(a.conditions, called)) for a in _counted(run.artefacts)]
    failures = [(stage, LEFT_OUT, redacted(why, {*names, item})) for stage, item, why in run.failures]
    return replace(
        run,
        called=called,
        findings=tuple(_about(f, called) for f in run.findings),
        artefacts=tuple(shown),
        failures=tuple(failures),
        notes=tuple(dict.fromkeys(redacted(note, names) for note in run.notes)),
    )


def numbers(run: Run) -> dict[Person, str]:
    """Number everybody of a run, those who are linked most often first."""
    linked: dict[Person, list[float]] = {}
    for artefact in run.of_kind("exposed"):
        corpus, bare = str(artefact.conditions.get("corpus", "")), artefact.conditions.get("anonymizer") == ORIGINAL
        for name, share in read_frame(artefact.path).select("speaker", "share").iter_rows():
            linked.setdefault((corpus, str(name)), []).extend([] if bare else [float(share)])
    others = [a.conditions for a in run.of_kind("clip")] + [f.conditions for f in run.findings]
    for c in others:
        if "speaker" in c:
            linked.setdefault((str(c.get("corpus", "")), str(c["speaker"])), [])
    order = sorted(linked, key=lambda who: (-sum(linked[who]) / (len(linked[who]) or 1), _mixed(who)))
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
    text = QUOTED.sub(LEFT_OUT, PATHS.sub(LEFT_OUT, FIRST.sub("", text)))
    # a name of one letter or a few digits is also a word or a count: it cannot be told apart, and tells little
    telling = (n for n in names if len(n) > 1 and (not n.isdigit() or len(n) > 3))
    for name in sorted(telling, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", LEFT_OUT, text)
    return text


def _mixed(who: Person) -> str:
    """Order ties by nothing that can be seen in a name."""
    return hashlib.sha256("\0".join(who).encode()).hexdigest()


def _counted(artefacts: Iterable[Artefact]) -> list[Artefact]:
    """Count each speaker's utterances instead of naming them."""
    places: dict[tuple[str, str, str], int] = {}
    counts: Counter[tuple[str, str]] = Counter()
    found = []
    for artefact in artefacts:
        c = artefact.conditions
        key = (str(c.get("corpus", "")), str(c.get("speaker", "")), str(c.get("utterance", "")))
        if "utterance" in c and key not in places:
            counts[key[:2]] += 1
            places[key] = counts[key[:2]]
        numbered = {"utterance": f"utterance {places[key]}"} if "utterance" in c else {}
        found.append(replace(artefact, conditions={**c, **numbered}))
    return found


def _unnamed(conditions: Mapping[str, Any], called: Mapping[Person, str]) -> dict[str, Any]:
    if "speaker" not in conditions:
        return dict(conditions)
    return {**conditions, "speaker": called[str(conditions.get("corpus", "")), str(conditions["speaker"])]}


def _about(finding: Finding, called: Mapping[Person, str]) -> Finding:
    return replace(finding, conditions=_unnamed(finding.conditions, called))
