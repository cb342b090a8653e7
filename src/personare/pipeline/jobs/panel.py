"""Making a listening panel of a run: which speech there is, who sounds like whom, the design, and the sounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from personare import __version__
from personare.core.config import from_mapping
from personare.core.errors import ConfigError, OutputError, TableError
from personare.core.files import kept_private, refuse_full
from personare.core.findings import Finding
from personare.core.seeding import Key
from personare.core.tables import read_frame
from personare.panels import Test
from personare.panels.abx import abx_sessions
from personare.panels.clustering import clustering_sessions
from personare.panels.design import PanelSession, balance_problems, repeats
from personare.panels.expression import expression_sessions
from personare.panels.folder import STIMULI, ObjectiveValue, PanelFolder, PanelSettings, design_frame, write_panel
from personare.panels.mos import mos_sessions
from personare.panels.recordings import ORIGINAL, Recording, SpeechPool
from personare.panels.stimuli import write_headphone_check, write_stimuli
from personare.panels.unified import unified_sessions
from personare.pipeline.folder import STAGES
from personare.pipeline.graph import Graph
from personare.pipeline.measured import finite
from personare.pipeline.roles import ENROLMENT, TRIAL
from personare.pipeline.run import HASHES, HOME, read_corpora
from personare.pipeline.speech import FileDigests, StudyCorpus, with_digests
from personare.pipeline.store import Store
from personare.pipeline.study import Study, located
from personare.reports.run import Run, read_run

ATTACKED = ("eer", "cllr", "min_cllr")  # of attackers, to set beside people
RAN = "study.json"  # the study as it ran, also where it was changed on the command line
SESSIONS: Mapping[Test, Callable[..., list[PanelSession]]] = {
    "unified": unified_sessions,
    "clustering": clustering_sessions,
    "abx": abx_sessions,
    "expression": expression_sessions,
    "mos": mos_sessions,
}


@dataclass(frozen=True, eq=False)
class MadePanel:
    """A panel that was made: its folder, its sessions, and what its maker should know."""

    panel: PanelFolder
    sessions: Sequence[PanelSession]
    stimuli: int
    notes: tuple[str, ...]


def make_panel(
    run: Path,
    folder: Path,
    *,
    test: Test = "unified",
    sessions: int = 20,
    trials: int | None = None,
    seed: int = 1,
    title: str = "",
    contact: str = "",
    language: str = "",
    watch: Callable[[int], None] = lambda _: None,
) -> MadePanel:
    """Make a panel of a run folder that still has its stages: choose speech, deal it, write the sounds."""
    if sessions < 1 or (trials is not None and trials < 1):
        raise ConfigError(f"a panel needs at least one session of one trial, not {sessions} of {trials}")
    refuse_full(folder)
    found, key = read_run(run), Key.from_seed(seed).child("panel", test)
    pool = speech_pool(run, found)
    if not pool.systems:
        raise ConfigError(f"{run}: nothing in this run was anonymized, so there is nothing to compare")
    many = {} if trials is None else {"trials": trials}
    dealt = SESSIONS[test](pool, sessions=sessions, key=key, **many)
    uneven = list(balance_problems(dealt))
    if uneven:
        raise ConfigError(f"the design is not balanced: {uneven[0]}; choose more sessions or other trials")
    # names of files must not tell what they hold, not even to somebody who knows the seed
    names = Key.new()
    stimuli = [s for session in dealt for trial in session.trials for s in trial.stimuli]
    with kept_private(folder):
        seconds = write_stimuli(stimuli, folder / STIMULI, key=names, watch=watch)
        settings = PanelSettings(
            test=test,
            title=title or found.title,
            seed=seed,
            systems=tuple(pool.systems),
            contact=contact,
            language=language,
            version=__version__,
            headphones=write_headphone_check(folder / STIMULI, key=names),
            objective=tuple(_objective(found.findings)),
        )
        panel = write_panel(folder, settings, design_frame(dealt, seconds, key=names))
    return MadePanel(panel, dealt, len(seconds), tuple(repeats(dealt)))


def speech_pool(run: Path, found: Run) -> SpeechPool:
    """Gather the attacked speech of a run: originals of both roles, and the trial speech of every system."""
    graph, store = _graph(run)
    recordings = [r for corpus in graph.attacked for r in _recordings(graph, store, corpus)]
    return SpeechPool(tuple(recordings), dict(_ranked(found)))


def _graph(run: Path) -> tuple[Graph, Store]:
    """Put the study of a run together again, from what the run folder keeps."""
    store = Store(run / STAGES)
    if not (run / RAN).is_file() or not store.folder.is_dir():
        raise OutputError(f"{run}: has no {STAGES}/ any more, where the anonymized speech was; run the study again")
    home = store.folder / HOME
    place = Path(home.read_text(encoding="utf-8").strip()) if home.is_file() else Path.cwd()
    try:
        ran = from_mapping(Study, json.loads((run / RAN).read_text(encoding="utf-8")), where=str(run / RAN))
    except ValueError as error:
        raise ConfigError(f"{run / RAN}: is not JSON any more ({error})") from None
    study, digests = located(ran, place), FileDigests(store.folder / HASHES)
    corpora = {label: with_digests(one, digests) for label, one in read_corpora(study, place, store).items()}
    return Graph(study, corpora, place, digests), store


def _recordings(graph: Graph, store: Store, corpus: StudyCorpus) -> Iterator[Recording]:
    for role in (ENROLMENT, TRIAL):
        for row in corpus.of(role).iter_rows(named=True):
            cut = (row.get("start_s") or 0.0, row.get("end_s"))
            about = (row["speaker"], row["utterance"], ORIGINAL, row.get("gender") or "")
            yield Recording(*about, Path(row["audio"]), *cut, row.get("text") or "", row.get("emotion") or "")
    people = {row["utterance"]: row for row in corpus.of(TRIAL).iter_rows(named=True)}
    for way in graph.anonymizers:
        if way.kind != "sound":
            continue
        job = graph.anonymized(corpus, TRIAL, way, "owner")
        if store.done(job.stage) is None:
            raise TableError(
                f"{store.folder}: the speech of '{way.label}' is not there; run the study again with --resume"
            )
        for utterance, path in sorted(job.files(store).items()):
            row = people[utterance]
            yield Recording(row["speaker"], utterance, way.label, row.get("gender") or "", path)


def _ranked(found: Run) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    """Sort, for every trial utterance, the enrolled speakers by an ignorant attacker's scores, best first."""
    seen: set[str] = set()
    for artefact in found.of_kind("scores"):
        c = artefact.conditions
        system = str(c.get("anonymizer"))
        if c.get("knowledge") != "ignorant" or c.get("L", 1) != 1 or system in seen:
            continue
        seen.add(system)
        scores = read_frame(artefact.path).sort("score", "enroll", descending=[True, False])
        for (test,), group in scores.group_by(["test"], maintain_order=True):
            yield (system, str(test)), tuple(group["enroll"].to_list())


def _objective(findings: Sequence[Finding]) -> Iterator[ObjectiveValue]:
    """Keep EER and Cllr of every attacker against every system, one utterance at a time, and word error rates."""
    seen: set[tuple[str, ...]] = set()
    for f in findings:
        c, e, name = f.conditions, f.estimate, f.metric.name
        if "gender" in c or "anonymizer" not in c or finite(e.value) is None:
            continue
        system = str(c["anonymizer"])
        if name in ATTACKED and c.get("L", 1) == 1:
            by = str(c["attacker"])
        elif name == "wer" and "listener" in c:
            by = str(c["listener"])
        else:
            continue
        if (name, by, system) not in seen:
            seen.add((name, by, system))
            yield ObjectiveValue(system, by, e.value, finite(e.low), finite(e.high), name)
