"""Anonymize a whole corpus: every utterance in, a folder out whose names, tags and tables tell nobody's identity.

What leaves the house is the target folder: audio under keyed tokens, a manifest, and a card that says how it was
made. What must stay is beside it, in ``<target>-private``: the key, the settings of the job and the list of failures,
which names source files. Whoever deletes the private folder cuts the link for good.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from personare import __version__
from personare.anonymizers import anonymizer
from personare.core.audio import Audio, probe, read_channels, write
from personare.core.errors import PersonareError, TargetError
from personare.core.files import write_text
from personare.core.seeding import Key, load_or_make_key, rng_for, token_for
from personare.core.tables import Corpus
from personare.engine import Engine, Result

MANIFEST = "manifest.parquet"
CARD = "anonymization.json"
Level = Literal["speaker", "utterance"]
Format = Literal["flac", "wav"]
Names = Literal["tokens", "keep"]


@dataclass(frozen=True)
class Recipe:
    """How voices are hidden: what an informed attacker may know, and what the card in the target folder says.

    Parameters
    ----------
    method : name in the catalog of anonymizers; ``parameters`` are its fields.
    level : one pseudo-voice per speaker, or a new one for each utterance.
    """

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    level: Level = "speaker"

    def in_words(self) -> str:
        """Write the recipe on one line.

        >>> Recipe("mcadams", {"alpha": [0.5, 0.9]}).in_words()
        'mcadams (alpha = [0.5, 0.9]) per speaker'
        """
        settings = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return f"{self.method}{f' ({settings})' if settings else ''} per {self.level}"

    def names_of(self, speaker: str, utterance: str) -> tuple[str, ...]:
        """Whose voice it is under this recipe: the names that chance is drawn for."""
        return (speaker,) if self.level == "speaker" else (speaker, utterance)


@dataclass(frozen=True)
class Utterance:
    """One item of work: where its sound is and who speaks."""

    utterance: str
    speaker: str
    audio: Path
    start_s: float = 0.0
    end_s: float | None = None


@dataclass(frozen=True)
class Done:
    """What became of one utterance: seconds of speech, seconds of work (0 when an earlier run had done it)."""

    speech_s: float
    work_s: float


@dataclass(frozen=True)
class Summary:
    """The job in numbers."""

    done: int
    failed: int
    kept: int
    speech_s: float
    wall_s: float
    failures: tuple[tuple[str, str], ...]

    @property
    def real_time_factor(self) -> float:
        """Wall seconds per second of speech processed now (NaN when nothing was left to do)."""
        return self.wall_s / self.speech_s if self.speech_s else float("nan")


def tokens_of(key: Key, recipe: Recipe, speaker: str, utterance: str) -> tuple[str, str]:
    """Give the new names of an utterance and its speaker; at utterance level no name says who belongs together."""
    return (
        token_for(key, "utterance", speaker, utterance),
        token_for(key, "speaker", *recipe.names_of(speaker, utterance), digits=12),
    )


def plain(name: str) -> str:
    """Give a name back if it can be a file's name as it is; nothing a corpus says may lead out of the target."""
    if not re.fullmatch(r"[\w-][\w.+@=-]*", name):
        raise TargetError(f"'{name}' cannot be a file name; leave out --names keep")
    return name


@dataclass(frozen=True)
class AnonymizeWork:
    """The work on one utterance, for any engine: read, hide each channel with the same voice, write."""

    recipe: Recipe
    key: Key
    target: Path
    format: Format
    names: Names

    def place_of(self, item: Utterance) -> Path:
        """Where the result of an utterance goes."""
        if self.names == "keep":
            return self.target / "audio" / plain(item.speaker) / f"{plain(item.utterance)}.{self.format}"
        token, _ = tokens_of(self.key, self.recipe, item.speaker, item.utterance)
        return self.target / "audio" / token[:2] / f"{token}.{self.format}"

    def __call__(self, item: Utterance) -> Done:
        """Do it."""
        place = self.place_of(item)
        if place.is_file():
            return Done(probe(place).duration_s, 0.0)
        began = time.perf_counter()
        hide = anonymizer(self.recipe.method, **self.recipe.parameters)
        names = self.recipe.names_of(item.speaker, item.utterance)
        channels = read_channels(item.audio, start_s=item.start_s, stop_s=item.end_s)
        hidden = [hide(channel, rng=rng_for(self.key, "voice", *names)) for channel in channels]
        write(place, hidden)
        return Done(hidden[0].duration_s, time.perf_counter() - began)


def utterances_of(corpus: Corpus) -> list[Utterance]:
    """List a corpus as items of work."""
    columns = ["utterance", "speaker", "audio", *(c for c in ("start_s", "end_s") if c in corpus.frame.columns)]
    return [
        Utterance(row["utterance"], row["speaker"], Path(row["audio"]), row.get("start_s") or 0.0, row.get("end_s"))
        for row in corpus.frame.select(columns).iter_rows(named=True)
    ]


def private_folder(target: Path) -> Path:
    """The folder beside ``target`` that must stay in the house."""
    return target.with_name(target.name + "-private")


def prepare(target: Path, recipe: Recipe, *, key_file: Path | None, file_format: Format, names: Names) -> Key:
    """Check the target, find or make the key, and write down the settings; an earlier run must have had the same."""
    _rehearse(recipe)
    private = private_folder(target)
    job_file = private / "job.json"
    if target.exists() and not target.is_dir():
        raise TargetError(f"{target}: is a file; name a folder")
    if target.is_dir() and any(target.iterdir()) and not job_file.is_file():
        raise TargetError(f"{target}: is not empty and was not made by personare anonymize; name a new folder")
    try:
        target.mkdir(parents=True, exist_ok=True)
        private.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise TargetError(f"{error.filename or target}: cannot be written ({error.strerror})") from None
    key, _ = load_or_make_key(key_file or private / "key")
    job = {
        "method": recipe.method,
        "parameters": dict(recipe.parameters),
        "level": recipe.level,
        "format": file_format,
        "names": names,
        "key_check": token_for(key, "check"),
    }
    text = json.dumps(job, indent=2, sort_keys=True) + "\n"
    if job_file.is_file() and job_file.read_text(encoding="utf-8") != text:
        raise TargetError(f"{target}: was begun with other settings or another key; name a new folder or delete it")
    write_text(job_file, text)
    return key


def _rehearse(recipe: Recipe) -> None:
    """Hide a moment of noise: a wrong name or parameter or a missing extra must fail before anything is written."""
    rng = np.random.default_rng(0)
    noise = Audio(rng.normal(0.0, 0.1, 4000).astype(np.float32), 16_000)
    anonymizer(recipe.method, **recipe.parameters)(noise, rng=rng)


def anonymize(
    corpus: Corpus,
    target: Path,
    recipe: Recipe,
    *,
    engine: Engine,
    key_file: Path | None = None,
    file_format: Format = "flac",
    names: Names = "tokens",
    keep: Callable[[list[Utterance]], list[Utterance]] = lambda items: items,
    watch: Callable[[Result[Utterance, Done]], None] = lambda _: None,
) -> Summary:
    """Anonymize ``corpus`` into ``target``; what an interrupted run finished is kept, and the end is bit-identical.

    Parameters
    ----------
    keep : chooses a shard of the items; the manifest lists what is in the folder after this run.
    watch : is told each Result as it comes.
    """
    began = time.perf_counter()
    items = keep(utterances_of(corpus))
    if names == "keep":
        for item in items:  # names that cannot be kept must fail before anything is written
            plain(item.speaker), plain(item.utterance)
    key = prepare(target, recipe, key_file=key_file, file_format=file_format, names=names)
    work = AnonymizeWork(recipe, key, target, file_format, names)
    results: list[Result[Utterance, Done]] = []
    for result in engine.map(work, items, ordered=False):
        results.append(result)
        watch(result)
    _write_manifest(corpus, work)
    failures = tuple(sorted((r.item.utterance, r.error or "") for r in results if not r.ok))
    lines = "".join(f"{utterance}\t{error}\n" for utterance, error in failures)
    write_text(private_folder(target) / "failures.tsv", f"utterance\terror\n{lines}")
    done = [r.value for r in results if r.value is not None]
    fresh = [d for d in done if d.work_s > 0]
    return Summary(
        done=len(done),
        failed=len(failures),
        kept=len(done) - len(fresh),
        speech_s=sum(d.speech_s for d in fresh),
        wall_s=time.perf_counter() - began,
        failures=failures,
    )


def _write_manifest(corpus: Corpus, work: AnonymizeWork) -> None:
    """List what is in the folder, in an order that says nothing of the source; only gender and text come along."""
    rows = []
    carried = [c for c in ("gender", "text") if c in corpus.frame.columns]
    for item, row in zip(utterances_of(corpus), corpus.frame.iter_rows(named=True), strict=True):
        place = work.place_of(item)
        if place.is_file():
            utterance, speaker = (
                (item.utterance, item.speaker)
                if work.names == "keep"
                else tokens_of(work.key, work.recipe, item.speaker, item.utterance)
            )
            rows.append(
                {"utterance": utterance, "speaker": speaker, "audio": str(place.resolve())}
                | {c: row[c] for c in carried}
            )
    schema = dict.fromkeys(["utterance", "speaker", "audio", *carried], pl.String)
    if rows:
        Corpus(pl.DataFrame(rows, schema=schema).sort("utterance")).save(work.target / MANIFEST)
    card = {
        "made_by": f"personare {__version__}",
        "method": work.recipe.method,
        "parameters": dict(work.recipe.parameters),
        "level": work.recipe.level,
        "names": work.names,
        "utterances": len(rows),
    }
    write_text(work.target / CARD, json.dumps(card, indent=2, sort_keys=True) + "\n")


def read_recipe(folder: Path) -> Recipe | None:
    """Read from an anonymized folder how it was made; None when another tool made it."""
    path = folder / CARD
    if not path.is_file():
        return None
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        return Recipe(card["method"], card["parameters"], card["level"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise PersonareError(f"{path}: not a card written by personare anonymize ({error})") from None
