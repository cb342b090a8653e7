"""What can be done with a job of the app, and how a job is shown: buttons on one side, the folder on the other."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from personare import api
from personare.api.choices import languages
from personare.core.audio import readable_suffixes
from personare.core.errors import did_you_mean
from personare.core.weights import home
from personare.web.guard import RequestError
from personare.web.job_folders import PHASES, PROGRESS, REFUSED, UNCERTAIN, JobFolder, Phase, protects

MOST_FOLDERS, MOST_LOOKED_AT, LONGEST_NAME = 500, 20_000, 200
REMOVAL_TRIES = 50


class Workers(Protocol):
    """Whoever starts and stops the work of a job."""

    def start(self, job: JobFolder, phase: Phase) -> None:
        """Begin a phase, or go on with it."""
        ...

    def stop(self, job: JobFolder) -> None:
        """End it; what is done stays."""
        ...


def job_state(job: JobFolder, *, running: bool) -> dict[str, Any]:
    """Say everything a page shows of a job."""
    facts = job.facts()
    told = asdict(facts) | {"names": len(facts.names), "progress": job.read(PROGRESS)}
    ended = {phase: job.ended(phase) for phase in PHASES}
    told["ended"] = ended
    open_ended = ended[facts.phase] is None  # a process that has written its end is as good as over
    told["status"] = "idle" if not open_ended else "running" if running else facts.status
    if told["status"] == "running" and not running:
        told["status"] = "interrupted"
    told["private"] = str(job.private)
    told["refused"] = job.read(REFUSED) or []
    told["copied"] = facts.source == str(job.uploads)
    told["give_away"] = may_be_given_away(job)
    return told


def may_be_given_away(job: JobFolder) -> bool:
    """Whether attackers have listened and every verdict says that people are protected, at least partly."""
    ended = job.ended("attack") or {}
    return bool(ended.get("ok")) and protects(ended.get("verdicts", ()))


def act(workers: Workers, job: JobFolder, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Do what a button asks for; gives what there is to say besides the job's state."""
    action = given.get("action")
    known: dict[str, Callable[[], dict[str, Any] | None]] = {
        "read": lambda: _read(workers, job, given),
        "name": lambda: _name(job, given),
        "preview": lambda: _begin(workers, job, "preview", given),
        "hide": lambda: _begin(workers, job, "hide", given),
        "attack": lambda: _begin(workers, job, "attack", given),
        "pause": lambda: _pause(workers, job),
        "resume": lambda: _resume(workers, job),
        "cancel": lambda: _cancel(workers, job),
        "again": lambda: _again(workers, job),
        "forget": lambda: _forget(workers, job),
    }
    if not isinstance(action, str) or action not in known:
        raise RequestError(422, "there is nothing of that name to do")
    return known[action]()


def _read(workers: Workers, job: JobFolder, given: Mapping[str, Any]) -> None:
    """Look for people again, by another rule."""
    rule, chosen = given.get("rule", job.facts().rule), given.get("chosen", False) is True
    if job.facts().expired:
        raise RequestError(409, "the copies of these recordings were deleted because of their age; drop them again")
    if not isinstance(rule, str) or len(rule) > LONGEST_NAME:
        raise RequestError(422, "a rule is file, folder, last-folder, channel, or a pattern such as {speaker}_{rest}")
    workers.stop(job)
    _remove_made(job)
    job.forget_from("read")
    job.change(rule=rule, names={}, rule_chosen=chosen)
    workers.start(job, "read")


def _name(job: JobFolder, given: Mapping[str, Any]) -> None:
    """Give somebody a name; two people of one name are one person."""
    found, name = given.get("found"), given.get("name")
    if not isinstance(found, str) or not isinstance(name, str) or not 0 < len(name.strip()) <= LONGEST_NAME:
        raise RequestError(422, "a name has 1 to 200 letters")
    if found not in set(job.people()["found"]):
        raise RequestError(422, "there is nobody of that name")
    if job.anonymized.exists():
        raise RequestError(409, "the voices are hidden already; cancel that first, then change names")
    job.change(names={**job.facts().names, found: name.strip()})
    job.forget_from("preview")


def _begin(workers: Workers, job: JobFolder, phase: Phase, given: Mapping[str, Any]) -> None:
    before = PHASES[max(0, PHASES.index(phase) - 1)] if phase != "hide" else "read"
    ended = job.ended(before)
    if ended is None or not ended["ok"]:
        raise RequestError(409, "something else comes first; load the page again")
    if phase in ("preview", "hide"):
        facts = job.facts()
        chosen = _chosen(given)
        if job.anonymized.exists() and replace(facts, **chosen).hidden_by != facts.hidden_by:
            raise RequestError(409, "the voices are hidden in another way already; cancel that first")
        job.change(**chosen)
    workers.start(job, phase)


def _chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    """Take the strength or the method, and the language, out of what a page sends; nothing where it says neither."""
    strength, method, language = (given.get(name, "") for name in ("strength", "method", "language"))
    if not isinstance(strength, str) or not isinstance(method, str) or not isinstance(language, str):
        raise RequestError(422, "name a strength or a method, and a language")
    if strength and method:
        raise RequestError(422, "a strength and a method both say how voices are hidden; name one of them")
    if strength and strength not in [one["name"] for one in api.strengths()]:
        raise RequestError(422, f"there is no strength '{strength[:LONGEST_NAME]}'")
    if method:
        needs = {one["name"]: one["needs"] for one in other_methods()}
        if method not in needs:
            raise RequestError(422, f"there is no method '{method[:LONGEST_NAME]}'; {did_you_mean(method, needs)}")
        if needs[method]:
            raise RequestError(409, f"the method '{method}' cannot be used yet; it needs: {needs[method]}")
    codes = [one["code"] for one in languages()]
    if language and language not in codes:
        raise RequestError(422, f"'{language[:LONGEST_NAME]}' is not spoken; {did_you_mean(language, codes)}")
    return {"strength": strength, "method": method, "language": language} if strength or method else {}


def other_methods() -> list[dict[str, Any]]:
    """List the methods that no strength stands for, and the systems of papers: what each does and still needs."""
    return [*(one for one in api.methods() if not one["strength"]), *api.paper_systems()]


def spoken_languages() -> list[dict[str, Any]]:
    """List the languages that can be chosen: how well each is spoken, and which of its models are not fetched."""
    names = ("code", "name", "status", "missing")
    return [{name: one[name] for name in names} for one in languages()]


def _pause(workers: Workers, job: JobFolder) -> None:
    workers.stop(job)
    if job.ended(job.facts().phase) is None:
        job.change(status="paused")


def _resume(workers: Workers, job: JobFolder) -> None:
    if job.ended(job.facts().phase) is None:
        workers.start(job, job.facts().phase)


def _cancel(workers: Workers, job: JobFolder) -> None:
    """End the work and remove what it has made, with the key: nothing can be undone from it any more."""
    workers.stop(job)
    phase = job.facts().phase
    if phase == "attack":
        shutil.rmtree(job.path / "run", ignore_errors=True)
        job.forget_from("attack")
        job.change(phase="hide", status="idle")
        return
    _again(workers, job)


def _again(workers: Workers, job: JobFolder) -> None:
    """Remove everything that was made, with its key, so that another strength can be chosen."""
    workers.stop(job)
    _remove_made(job)
    job.forget_from("preview")
    job.change(phase="read", status="idle")


def _remove_made(job: JobFolder) -> None:
    made = (
        job.anonymized,
        job.private,
        job.path / "run",
        job.path / "report",
        job.path / "preview",
        job.path / UNCERTAIN,
        job.cache,
    )
    for path in made:
        shutil.rmtree(path, ignore_errors=True)
    for name in ("anonymized.zip", "evidence.pdf"):
        (job.path / name).unlink(missing_ok=True)


def _forget(workers: Workers, job: JobFolder) -> dict[str, Any]:
    """Remove the job with all it holds and all that was derived from it, and say what remains, and where.

    Original recordings that lie in a folder of their own stay. Embeddings and transcripts are in the job's own cache.
    """
    workers.stop(job)
    source, copied = job.facts().source, job.facts().source == str(job.uploads)
    remains = [] if copied else [f"the original recordings in {source}"]
    remains += ["files that you have downloaded", f"models, which hold nothing of your recordings, in {home()}"]
    for _ in range(REMOVAL_TRIES):  # what a process that is just ending still writes is removed, too
        shutil.rmtree(job.path, ignore_errors=True)
        if not job.path.exists():
            return {"removed": str(job.path), "remains": remains}
        time.sleep(0.1)
    raise RequestError(500, f"{job.path} could not be removed whole; remove the folder yourself")


def listing(path: str) -> dict[str, Any]:
    """List the folders in a folder of this machine, and how many recordings lie in it."""
    if "\0" in path:
        raise RequestError(422, "name a folder")
    here = Path(path).expanduser()
    try:
        here = here.resolve()
        folders, sounds = [], 0
        with os.scandir(here) as entries:
            for number, entry in enumerate(entries):
                if number >= MOST_LOOKED_AT:
                    break
                if entry.name.startswith("."):
                    continue
                if entry.is_dir():
                    folders.append(entry.name)
                else:
                    sounds += Path(entry.name).suffix.lower() in readable_suffixes()
    except (OSError, RuntimeError, ValueError) as error:
        raise RequestError(
            422, f"{path[:200]}: cannot be opened ({getattr(error, 'strerror', None) or error})"
        ) from None
    shown = sorted(folders, key=str.lower)[:MOST_FOLDERS]
    return {"path": str(here), "parent": str(here.parent), "folders": shown, "recordings": sounds}
