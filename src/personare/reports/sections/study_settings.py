"""What was compared, and how it was set: speech, methods, attackers and listeners of a study, with their papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from personare.reports.blocks import Block, Notice, Paragraph, ReportTable, Section
from personare.reports.outcomes import KNOWS
from personare.reports.run import ORIGINAL, Run
from personare.reports.sections.environment import description_of, parameters_of

TITLE = "What was compared"
SPLITS = {
    "auto": "enrolment and trial lists of the corpus where there are some (the notes say so), else each speaker's "
    "utterances dealt into halves, the larger one enrolled",
    "halves": "each speaker's utterances dealt into halves, the larger one enrolled",
    "count": "the first {enrolment} utterances of each speaker enrolled",
    "sets": "sets A and B of the legal paper",
    "lists": "enrolment and trial lists of the corpus",
}
ENROLS_ORIGINALS = (ORIGINAL, "ignorant")
# study keys as they are and as they were called, by what the page calls them
SIZES = {
    "L": ("utterances_per_trial", "conversations"),
    "N": ("gallery_sizes", "people"),
    "populations forecast": ("populations",),
}


def settings_section(run: Run) -> Section:
    """List everything with its settings; paths are left out, or given by their last part where names are shown."""
    if not run.study:
        return Section("settings", TITLE, [Notice("The run does not keep its study, so settings are unknown.")])
    tables = [_speech(run), _methods(run), _attackers(run), _listeners(run)]
    blocks: list[Block] = [table for table in tables if table.rows]
    asked = [
        f"{name} = {_setting(run.study[key])}" for name, keys in SIZES.items() for key in keys if run.study.get(key)
    ]
    if asked:
        blocks.append(Paragraph(f"Asked for: {'; '.join(asked)}.", soft=True))
    return Section("settings", TITLE, blocks)


def _speech(run: Run) -> ReportTable:
    rows = []
    for label, c in _labelled(run.study.get("corpora")):
        invented = f"{c.get('speakers') or 20} invented speakers, {c.get('utterances') or 6} utterances each"
        most = [f"at most {c[name]} {name}" for name in ("speakers", "utterances") if c.get("path") and c.get(name)]
        place = f"read from {_setting(c['path'])}" if c.get("path") and run.shows_names else "a corpus on disk"
        source = ", ".join([place, *most]) if c.get("path") else invented
        aside = [f"{name}: {_setting(c[name])}" for name in ("train", "calibration") if c.get(name)]
        split = SPLITS.get(str(c.get("split")), str(c.get("split"))).format(enrolment=c.get("enrolment"))
        split = "enrolment and trial parts of the corpus" if _own_parts(c) else split
        rows.append([label, source, split, ", ".join(aside) or "-"])
    return ReportTable("speech", "Speech", ["corpus", "what it is", "enrolment and trial", "set aside"], rows)


def _own_parts(choice: Mapping[str, Any]) -> bool:
    return bool((choice.get("parts") or {}).get("enrolment"))


def _methods(run: Run) -> ReportTable:
    rows = []
    for label, c in _labelled(run.study.get("anonymizers")):
        if label == ORIGINAL and not c:
            rows.append([label, "nothing is hidden: the row to compare with", "-", "-"])
            continue
        name = str(c.get("method") or c.get("generator") or label)
        described = description_of(run, "methods", label)
        given = {"speech": "anonymized before", **parameters_of(run, label)} if "given" in c else {}
        named = {**{key: value for key, value in c.items() if key not in ("method", "given")}, **given}
        settings = [f"{key} = {_setting(value)}" for key, value in named.items()]
        text = ": ".join(part for part in (name, described["description"]) if part)
        rows.append([label, text, ", ".join(settings) or "as shipped", described["paper"] or "-"])
    return ReportTable("methods", "Anonymizers", ["method", "what it does", "settings", "paper"], rows)


def _attackers(run: Run) -> ReportTable:
    rows = []
    for label, c in _labelled(run.study.get("attackers")):
        same = [f.conditions for f in run.findings if f.conditions.get("attacker") == label]
        level = next((str(k["knowledge"]) for k in same if k.get("knowledge", ORIGINAL) != ORIGINAL), c["knowledge"])
        scorer = next((str(k["scorer"]) for k in same if k.get("scorer")), str(c.get("scorer") or "-"))
        embedder = _setting(c.get("embedder", "-"))
        more = [f"learns from {c['learns_from']}"] if c.get("learns_from") else []
        draws = int(c.get("enroll_draws") or c.get("disguises") or 1) if level not in ENROLS_ORIGINALS else 1
        more += [f"{draws} draws of each enrolled utterance"] if draws > 1 else []
        more += [f"scores normalized by {c['as_norm']} cohort speakers"] if c.get("as_norm") else []
        described = [description_of(run, "embedders", embedder), description_of(run, "scorers", scorer)]
        papers = [one["paper"] for one in described if one["paper"]]
        knows = "; ".join([f"“{KNOWS.get(str(level), str(level))}”", *more])
        rows.append([label, knows, f"{embedder}, {scorer}", "; ".join(papers) or "-"])
    head = ["attacker", "what they know", "embedder, scorer", "paper"]
    return ReportTable("attackers", "Attackers", head, rows)


def _listeners(run: Run) -> ReportTable:
    chosen = run.study.get("listeners") or []
    choices = chosen.items() if isinstance(chosen, Mapping) else [(name, {"listener": name}) for name in chosen]
    rows = []
    for label, c in choices:
        described = description_of(run, "listeners", str(label))
        text = ": ".join(part for part in (_setting(c["listener"]), described["description"]) if part)
        rows.append([_setting(label), text, described["trained_on"] or "-", described["paper"] or "-"])
    head = ["listener", "what it does", "trained on", "paper"]
    return ReportTable("listeners", "Listeners", head, rows)


def _labelled(chosen: Any) -> list[tuple[str, Mapping[str, Any]]]:
    return [(str(label), choice or {}) for label, choice in (chosen or {}).items()]


def _setting(value: Any) -> str:
    """Write a setting; of a path only the last part.

    >>> _setting([0.7, 0.9]), _setting("trained:/data/me/voice.onnx"), _setting(16.0)
    ('0.7 to 0.9', 'trained:voice.onnx', '16')
    """
    if isinstance(value, list | tuple):
        numbers = len(value) == 2 and all(isinstance(v, float) for v in value)
        return (" to " if numbers else ", ").join(_setting(v) for v in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_setting(v)}" for k, v in value.items()) or "none"
    if isinstance(value, str) and ("/" in value or "\\" in value):
        kind, colon, path = value.partition(":")
        return f"{kind}:{Path(path).name}" if colon else Path(value).name
    return f"{value:g}" if isinstance(value, float) else str(value)
