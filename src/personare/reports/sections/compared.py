"""What was compared, and how it was set: speech, methods, attackers and listeners of a study, with their papers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from personare.anonymizers import ANONYMIZERS
from personare.core.errors import PersonareError
from personare.reports.blocks import Block, Missing, Section, Table, Words
from personare.reports.run import ORIGINAL, Run
from personare.reports.sections.sources import EARS, GENERATORS, METHODS, SCORERS
from personare.reports.verdicts import KNOWS

SPLITS = {
    "halves": "each speaker's utterances dealt into halves, the larger one enrolled",
    "count": "the first {enrolment} utterances of each speaker enrolled",
    "sets": "sets A and B of the legal paper",
    "lists": "enrolment and trial lists of the corpus",
}


def compared_section(run: Run) -> Section:
    """List everything with its settings; paths are told by their last part only."""
    title = "What was compared"
    if not run.study:
        return Section("compared", title, [Missing("The run does not keep its study, so settings are unknown.")])
    tables = [_speech(run), _methods(run), _attackers(run), _listeners(run)]
    blocks: list[Block] = [table for table in tables if table.rows]
    counts = {"L": "conversations", "N": "people", "populations foretold": "populations"}
    asked = [f"{name} = {_plain(run.study[key])}" for name, key in counts.items() if run.study.get(key)]
    if asked:
        blocks.append(Words(f"Asked for: {'; '.join(asked)}.", soft=True))
    return Section("compared", title, blocks)


def _speech(run: Run) -> Table:
    rows = []
    for label, c in _labelled(run.study.get("corpora")):
        invented = f"{c.get('speakers') or 20} invented speakers, {c.get('utterances') or 6} utterances each"
        path = c.get("path")
        most = [f"at most {c[name]} {name}" for name in ("speakers", "utterances") if path and c.get(name)]
        told = ", ".join([f"read from {Path(str(path)).name}", *most]) if path else invented
        aside = [f"{name}: {_plain(c[name])}" for name in ("train", "calibration") if c.get(name)]
        split = SPLITS.get(str(c.get("split")), str(c.get("split"))).format(enrolment=c.get("enrolment"))
        split = "enrolment and trial parts of the corpus" if _own_parts(c) else split
        rows.append([label, told, split, ", ".join(aside) or "-"])
    return Table("speech", "Speech", ["corpus", "what it is", "enrolment and trial", "set aside"], rows)


def _own_parts(choice: Mapping[str, Any]) -> bool:
    return bool((choice.get("parts") or {}).get("enrolment"))


def _methods(run: Run) -> Table:
    rows = []
    for label, c in _labelled(run.study.get("anonymizers")):
        if label == ORIGINAL and not c:
            rows.append([label, "nothing is hidden: the row to compare with", "-", "-"])
            continue
        name, generator = c.get("method"), c.get("generator")
        does = _does(str(name)) if name else f"speaker vectors of the generator {generator}, without sound"
        settings = [f"{key} = {_plain(value)}" for key, value in c.items() if key != "method"]
        papers = [METHODS.get(str(name), ""), GENERATORS.get(str(generator), "")]
        rows.append([label, does, ", ".join(settings) or "as shipped", "; ".join(p for p in papers if p) or "-"])
    return Table("methods", "Methods that hide voices", ["method", "what it does", "settings", "paper"], rows)


def _does(name: str) -> str:
    """Give a method's own first line; a plug-in that is not here any more is called by its name."""
    try:
        first = (inspect.getdoc(ANONYMIZERS.load(name)) or name).splitlines()[0]
    except PersonareError:
        first = f"{name} (not installed here)"
    return f"{name}: {first.replace('``', '')}"


def _attackers(run: Run) -> Table:
    rows = []
    for label, c in _labelled(run.study.get("attackers")):
        same = [f.conditions for f in run.findings if f.conditions.get("attacker") == label]
        level = next((str(k["knowledge"]) for k in same if k.get("knowledge", ORIGINAL) != ORIGINAL), c["knowledge"])
        scorer = next((str(k["scorer"]) for k in same if k.get("scorer")), str(c.get("scorer") or "-"))
        ear = _plain(c.get("embedder", "-"))
        more = [f"learns from {c['learns_from']}"] if c.get("learns_from") else []
        more += [f"{c['disguises']} disguises"] if c.get("disguises", 1) > 1 else []
        more += [f"scores normalized by {c['as_norm']} strangers"] if c.get("as_norm") else []
        papers = [source for source in (EARS.get(ear), SCORERS.get(scorer)) if source]
        knows = "; ".join([f"“{KNOWS.get(str(level), str(level))}”", *more])
        rows.append([label, knows, f"{ear}, {scorer}", "; ".join(papers) or "-"])
    return Table("attackers", "Attackers", ["attacker", "what they know", "ear, scorer", "paper"], rows)


def _listeners(run: Run) -> Table:
    chosen = run.study.get("listeners") or []
    listed = chosen.items() if isinstance(chosen, Mapping) else [(name, {"listener": name}) for name in chosen]
    rows = []
    for label, c in listed:
        trained = c.get("trained_on", ORIGINAL) if str(c["listener"]).startswith("ctc") else "-"
        rows.append([_plain(label), _plain(c["listener"]), str(trained)])
    return Table("listeners", "Listeners", ["listener", "program", "trained on"], rows)


def _labelled(chosen: Any) -> list[tuple[str, Mapping[str, Any]]]:
    return [(str(label), choice or {}) for label, choice in (chosen or {}).items()]


def _plain(value: Any) -> str:
    """Write a setting; of a path only the last part.

    >>> _plain([0.7, 0.9]), _plain("trained:/data/me/ear.onnx"), _plain(16.0)
    ('0.7 to 0.9', 'trained:ear.onnx', '16')
    """
    if isinstance(value, list | tuple):
        numbers = len(value) == 2 and all(isinstance(v, float) for v in value)
        return (" to " if numbers else ", ").join(_plain(v) for v in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_plain(v)}" for k, v in value.items()) or "none"
    if isinstance(value, str) and ("/" in value or "\\" in value):
        kind, colon, path = value.partition(":")
        return f"{kind}:{Path(path).name}" if colon else Path(value).name
    return f"{value:g}" if isinstance(value, float) else str(value)
