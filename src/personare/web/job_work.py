"""What the app does in the background, one phase at a time, in a process of its own: ``python -m`` this JOB PHASE.

It calls the public API only, writes its progress beside the job, and says at the end how it went. It can be stopped at
any time, and ends when the server that started it does: started again, it goes on where it was.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from personare import api
from personare.api.inspection import Inspection, inspect_corpus, preview_recording
from personare.core.audio import write
from personare.core.errors import AudioError, CorpusError, MissingExtraError, PersonareError
from personare.core.files import atomic_path
from personare.core.findings import Finding
from personare.core.ledger import Excluded
from personare.core.progress import WorkProgress
from personare.web.job_folders import EXCLUDED, FOUND, PHASES, PROGRESS, REFUSED, UNCERTAIN, JobFolder, Phase, protects

if TYPE_CHECKING:
    from personare.core.spoken import UncertainRecording
    from personare.core.tables import Corpus

EVERY_S = 0.3
PREVIEWS, MOST_TRIED, MOST_LINES, MOST_NAMED = 3, 12, 40, 50
MOST_UNCERTAIN, UNCERTAIN_S = 5, 20.0
WAVES = {
    "anonymize": "Attackers hide what they know in the same way",
    "estimate": "Attackers learn what the method has drawn",
    "invert": "Attackers undo it",
    "embed": "Attackers listen",
    "measure": "Attackers compare",
    "voices": "Voices are made",
}


class Progress:
    """Tells how far a phase is, a few times a second at most."""

    def __init__(self, job: JobFolder, phase: Phase) -> None:
        self._job, self._phase, self._written = job, phase, 0.0
        self.done = self.failed = self.total = 0
        self.label, self.lines = "", list[str]()
        self._work: WorkProgress | None = None
        self._items = WorkProgress({})

    def did(self, *, ok: bool) -> None:
        """One more item is done."""
        self.done, self.failed = self.done + 1, self.failed + (not ok)
        self._items.end(str(self.done))
        self.tell()

    def begin(self, label: str, total: int) -> None:
        """Another kind of work begins."""
        self.label, self.done, self.total = label, 0, total
        self._work, self._items = None, WorkProgress({}, total=total)
        self.tell(now=True)

    def told(self, work: WorkProgress) -> None:
        """Recordings differ in length: how much is done, and how long the rest takes, goes by that."""
        self._work = work
        self.tell()

    def tell(self, *, now: bool = False) -> None:
        """Write it down."""
        if not now and time.time() - self._written < EVERY_S:
            return
        self._written = time.time()
        left = (self._work or self._items).left_s if self.total else None
        self._job.keep(
            PROGRESS,
            {
                "phase": self._phase,
                "label": self.label,
                "done": self.done,
                "total": self.total,
                "failed": self.failed,
                "share": self._work.share if self._work else self.done / self.total if self.total else None,
                "left_s": None if left is None else round(left),
                "lines": self.lines[-MOST_LINES:],
            },
        )


def read(job: JobFolder, progress: Progress) -> Mapping[str, Any]:
    """Find the recordings, who speaks in them, and which of them cannot be used.

    Where most recordings are calls with a person on each channel, each channel is a person, unless somebody has chosen
    another rule.
    """
    facts = job.facts()
    progress.begin("Looking at the recordings", 0)

    def inspected(rule: str) -> Inspection:
        return inspect_corpus(
            facts.source,
            speaker_from=rule or None,
            began=lambda count: progress.begin("Looking at the recordings", count),
            watch=lambda ok: progress.did(ok=ok),
        )

    found, rule = inspected(facts.rule), facts.rule
    calls = len(found.person_on_each_channel)
    if calls and not facts.rule_chosen and 2 * calls > found.recordings:
        found, rule = inspected("channel"), "channel"
        job.change(rule=rule)
    refused = [one for one in job.read(REFUSED) or [] if one["recording"]]
    excluded = [*found.excluded, *(Excluded(one["name"], "left out", one["reason"]) for one in refused)]
    if found.corpus is None:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in excluded[:3])
        raise CorpusError(f"none of {len(excluded)} recordings can be used ({reasons})")
    found.corpus.save(job.path / FOUND)
    job.keep(EXCLUDED, [asdict(one) for one in excluded])
    outcomes = Counter(one.outcome for one in excluded)
    return {
        "people": len(found.corpus.speakers),
        "recordings": found.recordings,
        "found": found.recordings + len(excluded),
        "unreadable": outcomes["unreadable"],
        "rejected": outcomes["rejected"],
        "left_out": outcomes["left out"],
        "excluded": [asdict(one) for one in excluded[:MOST_NAMED]],
        "several": list(found.several_speakers[:MOST_NAMED]),
        "several_count": len(found.several_speakers),
        "speakers_checked": found.speakers_checked,
        "calls": calls,
        "by_channel": rule == "channel" and not facts.rule_chosen,
        "notes": list(found.notes[:20]),
    }


def preview(job: JobFolder, progress: Progress) -> Mapping[str, Any]:
    """Anonymize three recordings as the job would; one that is rejected is named and does not stop the others."""
    facts, corpus = job.facts(), job.write_speech()
    frame = corpus.frame.sort("speaker", "utterance")
    first = frame.unique("speaker", keep="first", maintain_order=True)["utterance"].to_list()
    order = [*first, *(u for u in frame["utterance"].to_list() if u not in set(first))]
    progress.begin("Hiding three voices", min(PREVIEWS, len(order)))
    shutil.rmtree(job.path / "preview", ignore_errors=True)
    shown: list[dict[str, Any]] = []
    failed: list[dict[str, str]] = []
    for utterance in order[:MOST_TRIED]:
        if len(shown) == PREVIEWS:
            break
        try:
            made = preview_recording(corpus, utterance, **facts.hidden_by)
        except AudioError as error:
            failed.append({"recording": utterance, "kind": error.kind, "reason": " ".join(str(error).split())})
            continue
        for kind, audio in (("before", made.before), ("after", made.after)):
            write(job.path / "preview" / f"{len(shown)}-{kind}.flac", audio)
        row = {"speaker": made.speaker, "recording": utterance, "whole": made.whole}
        shown.append({**row, "seconds": round(made.before.duration_s, 2)})
        progress.did(ok=True)
    return {"sounds": shown, "failed": failed, **facts.hidden_by}


def hide(job: JobFolder, progress: Progress) -> Mapping[str, Any]:
    """Anonymize all recordings."""
    facts, corpus = job.facts(), job.write_speech()
    progress.begin("Hiding voices", len(corpus))
    made = api.anonymize_corpus(
        job.speech,
        job.anonymized,
        **facts.hidden_by,
        watch=lambda result: progress.did(ok=result.ok),
        told=progress.told,
        excluded=[Excluded(**one) for one in job.read(EXCLUDED) or []],
    )
    failures = [f"{Path(item).name}: {why}" for item, why in made.failures]
    _keep_uncertain(job, corpus, made.least_certain[:MOST_UNCERTAIN])
    return {
        "done": made.done,
        "failed": made.failed,
        "failures": failures[:MOST_NAMED],
        "ledger": made.ledger.to_dict(),
        "several": list(made.several_speakers[:MOST_NAMED]),
        "languages": made.ledger.languages_line,
        "length": made.speech.length_line,
        "uncertain": [asdict(one) for one in made.least_certain[:MOST_UNCERTAIN]],
        "folder": str(made.folder),
        "private": str(made.private),
    }


def _keep_uncertain(job: JobFolder, corpus: Corpus, recordings: Sequence[UncertainRecording]) -> None:
    """Keep the beginnings of the least certain recordings, before and after, to be listened to."""
    shutil.rmtree(job.path / UNCERTAIN, ignore_errors=True)
    sources = {one.utterance: one for one in corpus}
    for number, recording in enumerate(recordings):
        source = sources[recording.utterance]
        result = replace(source, audio=job.anonymized / recording.result, start_s=0.0, end_s=None)
        for kind, one in (("before", source), ("after", result)):
            write(job.path / UNCERTAIN / f"{number}-{kind}.flac", one.read_beginning(UNCERTAIN_S))


def pack(job: JobFolder) -> None:
    """Pack what may be given away; without dates, which would tell the order of the originals."""
    files = sorted(path for path in job.anonymized.rglob("*") if path.is_file())
    with atomic_path(job.path / "anonymized.zip") as part, zipfile.ZipFile(part, "w") as packed:
        for path in files:
            inside = zipfile.ZipInfo(f"anonymized/{path.relative_to(job.anonymized).as_posix()}", (1980, 1, 1, 0, 0, 0))
            with packed.open(inside, "w") as target, path.open("rb") as source:
                shutil.copyfileobj(source, target)


def in_words(finding: Finding, attacker: str) -> str:
    """Say what an attacker reached, for somebody who knows no metric by name."""
    who = "Without protection an attacker" if attacker.startswith("original") else f"The {attacker} attacker"
    pattern = {
        "eer": "{who} is wrong about who speaks in {value} of cases; guessing is in {chance}.",
        "linkability": "{who} picks the right person in {value} of cases; guessing does in {chance}.",
    }.get(finding.metric.name, "{who}: {title} {value}, by guessing {chance}.")
    return pattern.format(who=who, value=finding.text, chance=finding.chance_text, title=finding.metric.title)


class AttackProgress:
    """Follows the stages of an evaluation; what an attacker has measured is said at once."""

    def __init__(self, job: JobFolder, progress: Progress) -> None:
        self._run, self._progress = job.path / "run", progress

    def began(self, wave: str, _jobs: Any, items: int) -> None:
        """A kind of work begins."""
        self._progress.begin(WAVES.get(wave, wave), items)

    def did(self, _job: Any, result: Any) -> None:
        """One item is done."""
        self._progress.did(ok=result.ok)

    def ended(self, job: Any, _failures: Any, _seconds: float) -> None:
        """A stage is complete: say its numbers, if it measured something."""
        for finding in api.measured(self._run, job):
            if "gender" not in finding.conditions and finding.conditions.get("L", 1) == 1:
                self._progress.lines.append(in_words(finding, str(job.labels.get("attacker", ""))))
        self._progress.tell(now=True)


def attack(job: JobFolder, progress: Progress) -> Mapping[str, Any]:
    """Let attackers listen; write the report and, where it can be set, the PDF."""
    how: dict[str, Any] = {"language": job.facts().language or None, "watch": AttackProgress(job, progress)}
    found = api.evaluate(job.speech, job.anonymized, out=job.path / "run", **how)
    progress.begin("Writing the report", 0)
    found.report(job.path / "report")
    evidence = ""
    try:
        found.evidence(job.path / "evidence.pdf")
    except MissingExtraError as error:
        evidence = str(error)
    tables = [{"head": [" ".join(name.split()) for name in head], "rows": rows} for head, rows in found.tables()]
    told = {"verdict": found.verdict, "verdicts": found.to_json()["verdicts"], "tables": tables[:1]}
    if protects(told["verdicts"]):
        progress.begin("Packing", 0)
        pack(job)
    ledger = None if found.ledger is None else dict(found.ledger.rows)
    return {**told, "notes": list(found.notes)[:20], "evidence": evidence, "ledger": ledger}


WORK = {"read": read, "preview": preview, "hide": hide, "attack": attack}


def end_with_the_server() -> None:
    """End at once when the server is gone, even killed: a later one starts this work again, and two would collide."""

    def wait() -> None:
        with contextlib.suppress(OSError):
            os.read(0, 1)  # nothing is ever sent: it returns when the other end is closed
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main(folder: Path, phase: Phase) -> int:
    """Do one phase; how it ended is written last."""
    job = JobFolder(folder)
    os.environ["PERSONARE_PERSONAL_CACHE"] = str(job.cache)  # deleted with the job
    progress = Progress(job, phase)
    try:
        result: Mapping[str, Any] = {"ok": True, **WORK[phase](job, progress)}
    except PersonareError as error:
        result = {"ok": False, "error": " ".join(str(error).split())}
    except Exception as error:
        job.keep(
            f"done-{phase}.json",
            {"ok": False, "error": f"this is a fault of personare: {type(error).__name__}: {error}"},
        )
        raise
    job.keep(f"done-{phase}.json", result)
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    end_with_the_server()
    chosen = next(name for name in PHASES if name == sys.argv[2])
    sys.exit(main(Path(sys.argv[1]), chosen))
