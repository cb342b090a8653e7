"""What was compared, and how it was set: speech, methods, attackers and listeners of a study, with their papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from personare.reports.blocks import Block, Missing, Section, Table, Words
from personare.reports.run import ORIGINAL, Run
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
        name = str(c.get("method") or c.get("generator") or label)
        settings = [f"{key} = {_plain(value)}" for key, value in c.items() if key != "method"]
        described = _described(run, "methods", label)
        does = ": ".join(part for part in (name, described["description"]) if part)
        rows.append([label, does, ", ".join(settings) or "as shipped", described["paper"] or "-"])
    return Table("methods", "Methods that hide voices", ["method", "what it does", "settings", "paper"], rows)


def _described(run: Run, family: str, name: str) -> Mapping[str, str]:
    """Give what the run says of a method, embedder, scorer or listener: description, paper, fingerprint."""
    listed = run.environment.get(family)
    entry = listed.get(name) if isinstance(listed, Mapping) else None
    known = entry if isinstance(entry, Mapping) else {}
    return {key: str(known.get(key) or "") for key in ("description", "paper", "fingerprint")}


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
        described = [_described(run, "embedders", ear), _described(run, "scorers", scorer)]
        papers = [one["paper"] for one in described if one["paper"]]
        knows = "; ".join([f"“{KNOWS.get(str(level), str(level))}”", *more])
        rows.append([label, knows, f"{ear}, {scorer}", "; ".join(papers) or "-"])
    return Table("attackers", "Attackers", ["attacker", "what they know", "ear, scorer", "paper"], rows)


def _listeners(run: Run) -> Table:
    chosen = run.study.get("listeners") or []
    listed = chosen.items() if isinstance(chosen, Mapping) else [(name, {"listener": name}) for name in chosen]
    rows = []
    for label, c in listed:
        trained = c.get("trained_on", ORIGINAL) if str(c["listener"]).startswith("ctc") else "-"
        described = _described(run, "listeners", str(label))
        does = ": ".join(part for part in (_plain(c["listener"]), described["description"]) if part)
        rows.append([_plain(label), does, str(trained), described["paper"] or "-"])
    return Table("listeners", "Listeners", ["listener", "what it does", "trained on", "paper"], rows)


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
