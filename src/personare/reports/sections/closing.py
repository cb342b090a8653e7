"""The end of a report: sounds, failures, how every number is defined, all numbers, and what is needed to repeat it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from personare.core.audio import Audio, read_mono
from personare.core.errors import AudioError
from personare.metrics.literature import REFERENCES, keys_in
from personare.reports.blocks import Block, Clip, Facts, Missing, Points, Section, Sounds, Table, Words
from personare.reports.run import ORIGINAL, Run
from personare.reports.wording import HEAD, NUMBER_COLUMNS, rows

CLIPS, CLIP_S, SOUNDS = 6, 10.0, 36
FAILURES = 50
REPEAT = (
    "The study file lies in the run folder as study.yaml; personare study run gives the same findings from it. The "
    "keys of a study come from its seed: its sounds are for measuring and not for release."
)
WARNING = "This page holds original speech: keep it where the originals may be kept."


def sounds_section(run: Run, *, wanted: bool = True) -> Section:
    """Let a reader hear a few utterances before and after, at most ten seconds of each."""
    if not wanted:
        return Section("sounds", "Listen", [Missing("No sounds: this report was made without them.")])
    heard: dict[tuple[str, str, str], list[tuple[str, Audio]]] = {}
    titles: dict[tuple[str, str, str], str] = {}
    lost = 0
    for artefact in run.of_kind("clip"):
        c = artefact.conditions
        key = (str(c.get("corpus", "")), str(c.get("utterance", "")), str(c.get("speaker", "")))
        if (key not in heard and len(heard) >= CLIPS) or sum(map(len, heard.values())) >= SOUNDS:
            continue
        try:
            sound = read_mono(artefact.path)
        except AudioError:
            lost += 1
            continue
        short = Audio(sound.samples[: int(CLIP_S * sound.rate_hz)], sound.rate_hz)
        heard.setdefault(key, []).append((str(c.get("anonymizer", "sound")), short))
        words = f": “{c['text']}”" if c.get("text") else ""
        who = run.called.get((key[0], str(c.get("speaker", ""))), str(c.get("speaker", "")))
        titles[key] = f"{who}, {key[1]}{words}"
    blocks: list[Block] = []
    if heard:
        blocks = [Words(WARNING, soft=True)] if any(name == ORIGINAL for s in heard.values() for name, _ in s) else []
        blocks.append(Sounds([Clip(titles[key], sounds) for key, sounds in heard.items()]))
    else:
        blocks.append(Missing("No sounds: the run keeps no clips."))
    if lost:
        blocks.append(Words(f"{lost} clips could not be read.", soft=True))
    return Section("sounds", "Listen", blocks)


def failures_section(run: Run) -> Section:
    """Count what failed, by stage and reason; a failure is never dropped silently."""
    blocks: list[Block] = []
    if not run.failures:
        blocks.append(Words("Nothing failed."))
    else:
        reasons = Counter((stage, why) for stage, _, why in run.failures)
        blocks.append(
            Words(f"{len(run.failures):,} items failed; numbers that miss them say so in the column “failed”.")
        )
        counted = [[stage, why, f"{count:,}"] for (stage, why), count in reasons.most_common(FAILURES)]
        more = "" if len(reasons) <= FAILURES else f", the {FAILURES} most frequent"
        caption = f"Failures by stage and reason{more}; failures.tsv in the run folder names every item"
        blocks.append(Table("failures", caption, ["stage", "why", "failures"], counted, numbers=(2,)))
    if run.named and run.failures:
        first = [list(row) for row in run.failures[:FAILURES]]
        caption = f"The first {len(first)} failures; all are in failures.tsv"
        blocks.append(Table("failed-items", caption, ["stage", "item", "why"], first, folded=True))
    if run.notes:
        blocks += [Words("Notes of the run:"), Points(run.notes)]
    return Section("failures", "What failed, and notes", blocks)


def methods_section(run: Run) -> Section:
    """Explain every metric that was used, with its definition's source."""
    cards = list({f.metric.name: f.metric for f in run.findings}.values())
    told = [
        f"{c.title}: {c.reading.rstrip('.')}. Caution: {c.caution.rstrip('.')}. [{c.cite}]" if c.reading else c.title
        for c in cards
    ]
    keys = sorted({key for c in cards for key in keys_in(c.cite)})
    cited = [f"{key}: {REFERENCES[key]}" for key in keys if key in REFERENCES]
    words = (
        "Intervals are at 95 % and redraw speakers, not utterances, where speakers are known. A result is "
        "“distinguishable from chance” when its interval leaves out the level that a guesser reaches on the very same "
        "trials."
    )
    blocks: list[Block] = [Words(words), Points(told) if told else Missing("No metric was used.")]
    if cited:
        blocks += [Words("Literature:"), Points(cited)]
    return Section("methods", "How every number is defined", blocks)


def numbers_section(run: Run) -> Section:
    """List every finding."""
    if not run.findings:
        return Section("numbers", "Every number", [Missing("Nothing was measured.")])
    table = Table("findings", "All findings", HEAD, rows(run.findings), NUMBER_COLUMNS, folded=True)
    return Section("numbers", "Every number", [table])


def repeat_section(run: Run) -> Section:
    """Say with what the study ran."""
    env = run.environment
    if not env:
        return Section("repeat", "To repeat it", [Missing("The run does not say with what it was made.")])
    entries = {"personare": str(env.get("personare", "?")), "Python": str(env.get("python", "?"))}
    entries |= {"platform": str(env.get("platform", "?")), "seed": str(env.get("seed", "?"))}
    entries |= {"libraries": ", ".join(f"{k} {v}" for k, v in env.get("libraries", {}).items()) or "-"}
    entries |= {f"model {name}": _model(model) for name, model in env.get("models", {}).items()}
    for family in ("methods", "embedders", "scorers", "listeners"):
        for name, described in env.get(family, {}).items():
            entries |= _fingerprint(f"{family.removesuffix('s')} {name}", described)
    return Section("repeat", "To repeat it", [Facts(entries), Words(REPEAT, soft=True)])


def _fingerprint(name: str, described: Any) -> dict[str, str]:
    """Name the exact version of a method, and its files by the beginning of their hashes."""
    if not isinstance(described, dict) or not described.get("fingerprint"):
        return {}
    files = [f"{file} {str(sha)[:16]}…" for file, sha in (described.get("files") or {}).items()]
    return {name: ", ".join([str(described["fingerprint"]), *files])}


def _model(model: Any) -> str:
    if not isinstance(model, dict):
        return str(model)
    hashes = model.get("sha256") or {}
    first = next(iter(hashes.items()), None)
    told = f"; {first[0]} SHA-256 {first[1][:16]}…" if first else ""
    more = f" and {len(hashes) - 1} more files (environment.json)" if len(hashes) > 1 else ""
    return f"{model.get('carrier', '')}, {model.get('licence', '')}{told}{more}"
