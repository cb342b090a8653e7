"""The audit of an anonymized folder before it is published: findings with a severity, and how often it is relinked.

Without the originals the folder is read as whoever gets it would; with them (and the key, which pairs them) it is
compared with where it came from. An audit that finds nothing shows that these checks found nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Literal

import polars as pl

from personare.core.errors import CorpusError, PersonareError, TableError
from personare.core.files import TEMPORARY, file_sha256
from personare.core.findings import Finding
from personare.core.tables import Corpus, read_frame
from personare.core.utterances import Utterance, utterances_in
from personare.corpora import read_corpus
from personare.engine import Engine, Result, Serial
from personare.pipeline.audit.relinking import Pairs, Trace, relink_findings, traces, untouched
from personare.pipeline.audit.tags import residual_tags
from personare.pipeline.audit.texts import names_within, spoken_identifiers
from personare.pipeline.given import pair_given
from personare.pipeline.given_choice import read_original
from personare.pipeline.jobs.published import MANIFEST, SUMS
from personare.pipeline.resolve import GivenFolder
from personare.pipeline.system import CARD, read_system

Severity = Literal["high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
DC_OFFSET = 0.005
_EXAMPLES = 3
_ADVICE = {
    "relink_duration": "--retime, or --trim, changes lengths",
    "relink_envelope": "--retime changes pauses and rate; a stronger method changes more",
    "relink_transcript": "--no-text leaves transcripts out",
    "relink_waveform": "choose a method that synthesizes speech anew, e.g. --method cascade",
}


@dataclass(frozen=True)
class AuditFinding:
    """One kind of trouble: how bad, what, in how many places (the first of them named), what to do."""

    severity: Severity
    kind: str
    count: int
    examples: tuple[str, ...]
    advice: str


@dataclass(frozen=True)
class Audited:
    """What an audit found: findings, the worst first; ``relinking`` where the originals were compared; notes."""

    files: int
    utterances: int
    findings: tuple[AuditFinding, ...]
    relinking: tuple[Finding, ...]
    notes: tuple[str, ...]

    def of(self, severity: Severity) -> list[AuditFinding]:
        """Give the findings of one severity."""
        return [one for one in self.findings if one.severity == severity]

    def as_document(self) -> dict[str, Any]:
        """Give it for JSON and the report."""
        rows = [{**vars(one), "examples": list(one.examples)} for one in self.findings]
        relinking = [one.as_row() for one in self.relinking]
        counts = {"files": self.files, "utterances": self.utterances}
        return {**counts, "findings": rows, "relinking": relinking, "notes": list(self.notes)}


def audit(
    target: Path,
    *,
    original: Path | None = None,
    key_file: Path | None = None,
    layout: str | None = None,
    speaker_from: str | None = None,
    most: int = 500,
    engine: Engine | None = None,
    watch: Callable[[Result[Utterance, Trace]], None] = lambda _: None,
) -> Audited:
    """Audit a folder; ``original`` compares it with where it came from, on at most ``most`` recordings.

    ``speaker_from`` says who speaks in a folder without order: the originals, and what another tool made of them.
    """
    if not target.is_dir():
        raise CorpusError(f"{target}: no such folder")
    corpus = read_corpus(target, speaker_from=speaker_from if read_system(target) is None else None).corpus
    files = sorted(path for path in target.rglob("*") if path.is_file())
    found = [*_files(target, files, corpus), *_tables(target), *_texts(corpus)]
    found += _same_files(target, [path for path in files if path.suffix not in (".parquet", ".json", "")])
    notes: list[str] = []
    relinking: list[Finding] = []
    items = list(utterances_in(corpus.frame))
    chosen = _spread(items, most)
    if len(chosen) < len(items):
        notes.append(f"sound was looked into on {len(chosen)} of {len(items)} recordings, evenly spread (--most)")
    heard, unreadable = traces(chosen, engine=engine or Serial(), watch=watch)
    found += _grouped("high", "cannot be read", unreadable, "remove it, or anonymize it again")
    found += _signatures(heard)
    if original is not None:
        before = read_original(original, target, speaker_from=speaker_from, layout=layout)[0].corpus
        found += _names(target, files, corpus, before)
        try:
            pairs, unread = _pairs(target, before, key_file, corpus, heard, most, engine or Serial())
        except PersonareError as error:
            notes.append(f"relinking was not measured: {error}")
        else:
            notes += [f"{name}: original cannot be read ({why})" for name, why in unread[:_EXAMPLES]]
            found += _grouped("high", "untouched sound", untouched(pairs), "anonymize it again, every channel")
            relinking = relink_findings(pairs)
            found += [one for finding in relinking if (one := _relinked(finding)) is not None]
            found += _equal_lengths(pairs)
    found.sort(key=lambda one: (SEVERITIES.index(one.severity), -one.count))
    return Audited(len(files), len(items), tuple(found), tuple(relinking), tuple(notes))


def _grouped(
    severity: Severity, kind: str, places: Sequence[tuple[str, str]] | Sequence[str], advice: str
) -> list[AuditFinding]:
    """Make one finding of all places, or none where there are none."""
    if not places:
        return []
    told = [place if isinstance(place, str) else f"{place[0]}: {place[1]}" for place in places]
    return [AuditFinding(severity, kind, len(told), tuple(told[:_EXAMPLES]), advice)]


def _spread(items: Sequence[Utterance], most: int) -> list[Utterance]:
    step = max(1.0, len(items) / most)
    return [items[int(n * step)] for n in range(min(most, len(items)))]


def _files(target: Path, files: Sequence[Path], corpus: Corpus) -> list[AuditFinding]:
    """Sort the files: audio that is listed, audio that nobody lists, temporary files, and what else lies there."""
    root, listed = target.resolve(), set(corpus.frame["audio"])
    audio: list[tuple[Path, str]] = []
    temporary, unlisted, foreign = [], [], []
    for path in files:
        name = path.relative_to(target).as_posix()
        if TEMPORARY.match(path.name):
            temporary.append(name)
        elif str(root / name) in listed:
            audio.append((path, name))
        elif name.startswith("audio/"):
            audio.append((path, name))
            unlisted.append(name)
        elif name not in (CARD, MANIFEST, SUMS):
            foreign.append(name)
    tags = [(name, ", ".join(tags)) for path, name in audio if (tags := residual_tags(path))]
    dates = {int(path.stat().st_mtime) for path, _ in audio}
    return [
        *_grouped(
            "high", "audio that the manifest does not list", unlisted, "it may be an original: listen, and delete it"
        ),
        *_grouped("high", "tags in audio files", tags, "write them again without tags: personare anonymize"),
        *_grouped("medium", "foreign files", foreign, "look into them, or delete them"),
        *_grouped("medium", "temporary files", temporary, "run the same command again, or delete them"),
        *_grouped(
            "low",
            "dates of files differ",
            [f"{len(dates)} different times of change"] if len(dates) > 1 else [],
            "times of writing tell the order of the source; copy with one date (touch -d @0)",
        ),
    ]


def _tables(target: Path) -> list[AuditFinding]:
    """Look for absolute paths in every table and text file: they name a machine, and do not work elsewhere."""
    absolute: list[str] = []
    for path in sorted(target.rglob("*")):
        if path.suffix in (".parquet", ".tsv"):
            try:
                frame = read_frame(path)
            except TableError:
                continue
            texts: Iterable[str] = (t for c in frame.select(pl.col(pl.String)) for t in c.drop_nulls().head(100_000))
        elif path.suffix in (".json", ".txt", ".yaml", ".csv") and path.stat().st_size < 1 << 22:
            texts = path.read_text(encoding="utf-8", errors="replace").replace('"', " ").split()
        else:
            continue
        bad = [t for t in texts if PurePosixPath(t).is_absolute() or PureWindowsPath(t).is_absolute()]
        if bad:
            absolute.append(f"{path.relative_to(target).as_posix()}: {bad[0]}")
    return _grouped("high", "absolute paths", absolute, "write paths relative to the folder")


def _texts(corpus: Corpus) -> list[AuditFinding]:
    if "text" not in corpus.frame.columns:
        return []
    rows = corpus.frame.select("utterance", "text").drop_nulls().iter_rows()
    spoken = [(name, ", ".join(kinds)) for name, text in rows if (kinds := spoken_identifiers(text))]
    return _grouped("medium", "identifiers in transcripts", spoken, "listen, cut them out, or leave out (--no-text)")


def _same_files(target: Path, files: Sequence[Path]) -> list[AuditFinding]:
    first: dict[str, str] = {}
    same = []
    for path in files:
        name, digest = path.relative_to(target).as_posix(), file_sha256(path)
        if digest in first:
            same.append((name, f"is the same file as {first[digest]}"))
        first.setdefault(digest, name)
    return _grouped("low", "identical files", same, "one recording twice links two names")


def _names(target: Path, files: Sequence[Path], corpus: Corpus, original: Corpus) -> list[AuditFinding]:
    """Look for ids of the originals in paths and in every text of the manifest."""
    ids = [*original.speakers, *original.frame["utterance"], *(Path(a).stem for a in original.frame["audio"])]
    paths = [path.relative_to(target).as_posix() for path in files]
    columns = [c for c in corpus.frame.columns if corpus.frame[c].dtype == pl.String and c not in ("audio", "text")]
    cells = [str(value) for c in columns for value in corpus.frame[c].drop_nulls().unique()]
    texts = [] if "text" not in corpus.frame.columns else corpus.frame["text"].drop_nulls().unique().to_list()
    words = [name for name in original.speakers if not any(c.isdigit() for c in name)]
    return [
        *_grouped("high", "ids of originals in paths", list(names_within(paths, ids)), "leave out --names keep"),
        *_grouped("high", "ids of originals in tables", list(names_within(cells, ids)), "leave out --names keep"),
        *_grouped(
            "medium", "names of speakers in transcripts", list(names_within(texts, words)), "cut them out, or --no-text"
        ),
    ]


def _signatures(heard: dict[str, Trace]) -> list[AuditFinding]:
    dc = [(name, f"{trace.dc:+.3f}") for name, trace in heard.items() if abs(trace.dc) > DC_OFFSET]
    silent = [(name, f"{trace.zero_runs} stretches") for name, trace in heard.items() if trace.zero_runs]
    return [
        *_grouped("medium", "constant offset (DC), which tells the recorder", dc, "remove it before anonymizing"),
        *_grouped("low", "exact silence, which lies where it lay in the original", silent, "--retime moves it"),
    ]


def _pairs(
    target: Path,
    original: Corpus,
    key_file: Path | None,
    corpus: Corpus,
    heard: dict[str, Trace],
    most: int,
    engine: Engine,
) -> tuple[Pairs, list[tuple[str, str]]]:
    """Read the originals of what was heard, and as many others to be confused with."""
    files = pair_given(original.frame, GivenFolder(target, key_file), anonymized=corpus).files
    names = {str(Path(audio).resolve()): name for name, audio in corpus.frame.select("utterance", "audio").iter_rows()}
    new_names = {utterance: names.get(str(path.resolve()), "") for utterance, path in files.items()}
    mine = [one for one in utterances_in(original.frame) if new_names.get(one.utterance) in heard]
    others = [one for one in utterances_in(original.frame) if new_names.get(one.utterance) not in heard]
    read, unread = traces([*mine, *_spread(others, most)], engine=engine, watch=lambda _: None)
    columns = {name: place for place, name in enumerate(read)}
    rows = [one for one in mine if one.utterance in read]
    if not rows:
        raise CorpusError(f"{target}: none of its originals could be read")
    after_text = dict(corpus.frame.select("utterance", "text").iter_rows()) if "text" in corpus.frame.columns else {}
    before_text = {one.utterance: one.text for one in (*mine, *others)}
    pairs = Pairs(
        [new_names[one.utterance] for one in rows],
        [one.speaker for one in rows],
        [heard[new_names[one.utterance]] for one in rows],
        [columns[one.utterance] for one in rows],
        [after_text.get(new_names[one.utterance]) for one in rows],
        list(read.values()),
        [before_text[name] for name in read],
    )
    return pairs, unread


def _relinked(finding: Finding) -> AuditFinding | None:
    """Make a finding of a metric whose interval lies above guessing."""
    chance = finding.chance or 0.0
    if finding.estimate.low <= chance:
        return None
    severity: Severity = "high" if finding.metric.name == "relink_waveform" else "medium"
    told = f"{finding.estimate.value:.1%} are found again among {finding.conditions['N']}, guessing {chance:.1%}"
    return AuditFinding(severity, finding.metric.title.lower(), 1, (told,), _ADVICE[finding.metric.name])


def _equal_lengths(pairs: Pairs) -> list[AuditFinding]:
    equal = [
        name
        for name, after, right in zip(pairs.names, pairs.anonymized, pairs.right, strict=True)
        if (after.samples, after.rate_hz) == (pairs.originals[right].samples, pairs.originals[right].rate_hz)
    ]
    return _grouped("low", "as many samples as the original", equal, "--retime or --trim changes lengths")
