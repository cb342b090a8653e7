"""Anonymize a whole corpus: every utterance in, a folder out whose names, tags and tables tell nobody's identity.

What may be given away is the target folder: audio under keyed tokens, a manifest, a card that says how it was made and
by which system (its fingerprint), and the digests of it all. What must be kept private is beside it, in
``<target>-private``: the key, the settings of the job, the journal, and the list of failures, which names source files.
A folder is finished only by the system that began it: ``job.json`` holds its fingerprint. What is in the journal is on
the disk, and what is kept from an earlier run is confirmed by its digest.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from personare.anonymizers.signal.retiming import Timing
from personare.core.audio import AudioFacts, probe
from personare.core.corpus_parts import CorpusParts, in_parts
from personare.core.errors import FailureKind, PersonareError
from personare.core.files import sweep
from personare.core.ledger import Excluded, Ledger, count
from personare.core.progress import WorkProgress
from personare.core.remote import RemoteFolder
from personare.core.spoken import SpeechSummary, UncertainRecording
from personare.core.tables import Corpus
from personare.engine import Engine, ProcessPool, Result, Serial
from personare.pipeline.jobs.anonymize_journal import AnonymizeJournal
from personare.pipeline.jobs.anonymize_work import (
    AnonymizedUtterance,
    AnonymizeWork,
    Assignment,
    Conversation,
    current_digest,
)
from personare.pipeline.jobs.anonymize_work import hide_channels as hide_channels
from personare.pipeline.jobs.anonymize_work import plain as plain
from personare.pipeline.jobs.least_certain import heard_in, write_least_certain
from personare.pipeline.jobs.published import AUDIO, CARRIED, publish, write_failures
from personare.pipeline.jobs.published import MANIFEST as MANIFEST
from personare.pipeline.jobs.speaker_survey import surveys
from personare.pipeline.jobs.target import Format, Names, Origin, prepare
from personare.pipeline.jobs.target import private_folder as private_folder
from personare.pipeline.jobs.worktable import NOTED, WorkTable, in_shard, work_table
from personare.pipeline.system import LANGUAGE, System

Outcome = Result[Assignment, AnonymizedUtterance]
Failures = dict[str, tuple[Assignment, str, FailureKind]]
SURVEY = "speakers"
MOST_MEASURED = 20_000  # recordings whose headers are read to know how long the work takes


@dataclass(frozen=True)
class AnonymizeSummary:
    """The job in numbers; ``done`` and ``failed`` are what the manifest and the list of failures hold.

    ``ledger`` accounts for every recording that was found, in all shards; ``several_speakers`` names the recordings of
    the folder in which more than one person speaks on a channel. ``speech`` says what they hold, and
    ``least_certain`` names those whose words or language are least certain, for a person to listen to.
    ``unexplained`` counts audio in the target that no utterance of the corpus explains. Of what an earlier run had
    made, ``changed`` was made again because its source is another now, ``missing`` because it was gone, ``damaged``
    because its digest did not confirm it. ``swept`` counts files that a killed run had left half written.
    """

    done: int
    failed: int
    kept: int
    speech_s: float
    wall_s: float
    failures: tuple[tuple[str, str], ...]
    ledger: Ledger
    several_speakers: tuple[str, ...] = ()
    speech: SpeechSummary = field(default_factory=SpeechSummary)
    least_certain: tuple[UncertainRecording, ...] = ()
    unexplained: int = 0
    changed: int = 0
    missing: int = 0
    damaged: int = 0
    swept: int = 0
    vanished: bool = False

    @property
    def real_time_factor(self) -> float:
        """Wall seconds per second of speech processed now (NaN when nothing was left to do)."""
        return self.wall_s / self.speech_s if self.speech_s else float("nan")


@dataclass
class _Tally:
    """What has been counted so far: a run over a million utterances keeps numbers and failures, not results."""

    kept: int = 0
    speech_s: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    failures: Failures = field(default_factory=dict)

    def add(self, result: Outcome) -> None:
        made = result.value
        if made is None:
            self.failures[result.item.utterance] = (result.item, result.error or "failed", result.kind)
            return
        self.kept += made.work_s == 0
        self.speech_s += made.speech_s if made.work_s else 0.0
        self.reasons[made.reason] += 1


def expected_work(table: WorkTable, shard: str | None, *, workers: int) -> WorkProgress:
    """Read how long recordings are, all their channels counted; of very many, and where nobody can tell, a mean one."""
    lengths: dict[str, float] = {}
    headers: dict[Path, AudioFacts] = {}
    total = 0
    for one in table.assignments(shard):
        total += 1
        if total > MOST_MEASURED:
            continue
        first = one.item.people[0] if isinstance(one.item, Conversation) else one.item
        if first.audio not in headers:
            with contextlib.suppress(PersonareError):  # told as a failure when its turn comes
                headers[first.audio] = probe(first.audio)
        if first.audio in headers:
            facts = headers[first.audio]
            stop_s = facts.duration_s if first.end_s is None else min(first.end_s, facts.duration_s)
            lengths[one.utterance] = max(0.0, stop_s - first.start_s) * facts.channels
    return WorkProgress(lengths, total=total, workers=workers)


def refuse_names(corpus: Corpus | CorpusParts, suffix: str) -> None:
    """Refuse ids that cannot be kept as names of files; called before anything is written."""
    with work_table(None) as table:
        table.fill(corpus, lambda speaker, utterance: f"audio/{plain(speaker)}/{plain(utterance)}.{suffix}")


def anonymize(
    corpus: Corpus | CorpusParts,
    target: Path,
    system: System,
    *,
    engine: Engine,
    key_file: Path | None = None,
    file_format: Format = "flac",
    names: Names = "tokens",
    shard: str | None = None,
    timing: Timing | None = None,
    text: bool = True,
    watch: Callable[[Outcome], None] = lambda _: None,
    told: Callable[[WorkProgress], None] | None = None,
    origin: Origin | None = None,
    fetch: RemoteFolder | None = None,
    put: RemoteFolder | None = None,
    excluded: Sequence[Excluded] = (),
) -> AnonymizeSummary:
    """Anonymize ``corpus`` into ``target``; what an interrupted run finished is kept, and the end is bit-identical.

    Parameters
    ----------
    shard : ``I/N`` does the I-th of N parts; the manifest lists what is in the folder after this run.
    timing : what is changed of pauses, rate and length; text : whether transcripts come along.
    watch : is given each Result as it comes.
    told : is told how far it is, after each recording and, within long ones, on the way.
    origin : where the corpus was read from, noted in the private folder so that ``personare lookup`` finds it.
    fetch, put : where recordings lie and where results go, if not on this file system; what is listed of them (the
        manifest, the card, digests) is written to ``target``, and put there too.
    excluded : recordings that were found and are not in ``corpus``; they are counted, and named in the private folder.
    """
    began = time.perf_counter()
    if names == "keep":
        refuse_names(corpus, file_format)
    private = private_folder(target)
    timing = timing or Timing()
    key, vanished = prepare(
        target,
        system,
        key_file=key_file,
        file_format=file_format,
        names=names,
        origin=origin,
        timing=asdict(timing) if timing else None,
        text=text,
        put=put.url if put else None,
    )
    swept = sweep(target) + sweep(private)
    asks = surveys(system.build())
    survey = private / SURVEY if asks else None
    work = AnonymizeWork(system, key, target, file_format, names, timing=timing, fetch=fetch, put=put, survey=survey)
    carried = [c for c in CARRIED if c in in_parts(corpus).columns and (text or c != "text")]
    journal = AnonymizeJournal(private, system.present_fingerprint, shard)
    tally = _Tally()
    with work_table(private) as table:
        table.fill(corpus, work.name_of)
        table.note(journal.lines())
        try:
            progress = expected_work(table, shard, workers=getattr(engine, "jobs", 1)) if told else None
            follow = Following(progress, told) if progress and told else None
            items = table.assignments(shard, survey=asks)
            with contextlib.closing(_results(engine, work, items, follow)) as results:
                for result in results:
                    journal.add(result)
                    tally.add(result)
                    watch(result)
            journal.flush()
        except BaseException:
            with contextlib.suppress(PersonareError):  # what stopped the work is told, not what followed from it
                journal.flush()
            raise
        finally:
            sweep(target)
        table.note(journal.lines())
        failed = _settle(table, work, tally.failures)
        checked, several = table.several_speakers()
        speech, uncertain = heard_in(table.spoken())
        made = table.made_in(None)
        ledger = count(
            excluded,
            [kind for _, kind in failed.values()],
            anonymized=made,
            pending=len(table) - made - len(failed),
            speakers_checked=checked,
            several_speakers=len(several),
            speech=speech,
        )
        carried += NOTED if speech.languages or speech.non_speech else ()
        if LANGUAGE in in_parts(corpus).columns and LANGUAGE not in carried:
            carried.append(LANGUAGE)
        published = publish(work, table, private, carried=carried, ledger=ledger)
        done = table.made_in(shard)
    write_failures(private, failed, excluded)
    write_least_certain(private, uncertain)
    unread = [(one.name, one.reason) for one in excluded if one.outcome != "left out"]
    every = [*((name, error) for name, (error, _) in failed.items()), *unread]
    failures = tuple(sorted((name, error) for name, error in every if in_shard(shard, name)))
    return AnonymizeSummary(
        done=done,
        failed=len(failures),
        kept=tally.kept,
        speech_s=tally.speech_s,
        wall_s=time.perf_counter() - began,
        failures=failures,
        ledger=ledger,
        several_speakers=tuple(sorted(several)),
        speech=speech,
        least_certain=uncertain,
        unexplained=published.unexplained,
        changed=tally.reasons["changed"],
        missing=tally.reasons["missing"],
        damaged=tally.reasons["damaged"],
        swept=swept,
        vanished=vanished,
    )


def _results(
    engine: Engine, work: AnonymizeWork, items: Iterator[Assignment], follow: Following | None
) -> Generator[Outcome, None, None]:
    if follow is None:
        yield from engine.map(work, items, ordered=False)
        return
    noted = follow.noted(items)
    if isinstance(engine, Serial | ProcessPool):  # hear what happens within an item
        results = engine.map(work, noted, ordered=False, told=follow.step)
    else:
        results = engine.map(work, noted, ordered=False)
    for result in results:
        follow.end(result)
        yield result


@dataclass(frozen=True)
class Following:
    """Follows a job: which items are at hand, and whoever is told how far it is."""

    progress: WorkProgress
    told: Callable[[WorkProgress], None]
    at_hand: dict[int, str] = field(default_factory=dict)

    def noted(self, items: Iterator[Assignment]) -> Iterator[Assignment]:
        """Note the names of items as they are taken."""
        for index, item in enumerate(items):
            self.at_hand[index] = item.utterance
            yield item

    def step(self, index: int, share: float) -> None:
        """More of an item is done; a word that comes after its result says nothing new."""
        if index in self.at_hand:
            self.progress.step(self.at_hand[index], share)
            self.told(self.progress)

    def end(self, result: Outcome) -> None:
        """An item is done."""
        self.at_hand.pop(result.index, None)
        self.progress.end(result.item.utterance, kept=result.value is not None and result.value.work_s == 0)
        self.told(self.progress)


def _settle(table: WorkTable, work: AnonymizeWork, failures: Failures) -> dict[str, tuple[str, FailureKind]]:
    """Tell the table what is in the folder, and give what failed: every item that was tried is in one of them.

    A result counts if its file is there. Where this run failed (a worker was killed, say), a result of before or of
    another run that works on the same folder still counts if its digests say so. What nothing confirms is removed.
    """
    put = work.put.names(AUDIO) if work.put else None
    failed: dict[str, tuple[str, FailureKind]] = {}
    for item in table.noted():
        there = False
        if item.output is not None and item.lead not in failures:
            there = (work.target / item.place).is_file() if put is None else item.place in put
        elif item.output is not None:
            now = current_digest(failures[item.lead][0].item, work.fetch)
            there = now in (None, item.source) and work.confirmed(item.place, item.output)
            if not there:
                work.remove(item.place)
        if there:
            table.made(item)
        elif item.lead in failures:
            failed[item.lead] = failures[item.lead][1:]
        elif item.error is not None or item.output is not None:
            failed[item.lead] = (item.error or "was made, but is not there any more", item.kind or "failed")
    return failed
