"""Speech that was anonymized before, by this tool or another: which file came from which original.

Only the key's owner can tell for a folder whose names are tokens; tools that keep names need no key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.errors import ConfigError, CorpusError
from personare.core.ledger import Ledger, read_ledger
from personare.core.seeding import Key, load_key
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.engine import Result
from personare.pipeline.jobs.target import private_folder
from personare.pipeline.jobs.worklist import LEAD, with_leads
from personare.pipeline.resolve import GivenFolder, ResolvedAnonymizer
from personare.pipeline.roles import ENROLMENT, TRIAL
from personare.pipeline.speech import FileDigests, StudyCorpus, content_of, study_corpus
from personare.pipeline.store import Failures, Stage, Store
from personare.pipeline.study import Study
from personare.pipeline.system import CARD, utterance_token

MISSING = "has no anonymized counterpart"


@dataclass(frozen=True, eq=False)
class GivenSpeech:
    """The anonymized file of every original utterance that has one; ``unpaired`` counts files with no original.

    ``channels`` says on which channel of it the person is, where each channel is another person.
    """

    files: Mapping[str, Path]
    unpaired: int
    key: Key | None
    channels: Mapping[str, int | None] = field(default_factory=dict)


def pair_given(frame: pl.DataFrame, given: GivenFolder, *, anonymized: Corpus | None = None) -> GivenSpeech:
    """Pair by equal utterance ids, else by keyed tokens or by equal file names; where nothing can be paired, refuse.

    ``anonymized`` is the folder's corpus, where it was read already.
    """
    anonymized = anonymized or read_corpus(given.folder, person_channels=True).corpus
    if "start_s" in anonymized.frame.columns:
        raise CorpusError(f"{given.folder}: cuts utterances out of longer files; write one file per utterance")
    files = {u: Path(a) for u, a in anonymized.frame.select("utterance", "audio").iter_rows()}
    ids = frame["utterance"].to_list()
    key = _key(given)
    names = dict(zip(ids, ids, strict=True))
    if key is not None and not files.keys() & set(ids):
        rows = frame.select("speaker", "utterance").iter_rows()
        names = {utterance: utterance_token(key, speaker, utterance) for speaker, utterance in rows}
    elif not files.keys() & set(ids):
        names = _by_file_name(ids, list(files))
    paired = {utterance: files[name] for utterance, name in names.items() if name in files}
    if not paired:
        hint = "is it the right key?" if key else "name the key with --key (it is in the folder ending in -private)"
        raise CorpusError(f"{given.folder}: no anonymized utterance can be paired with an original; {hint}")
    channels = {one.utterance: one.person_channel for one in anonymized}
    own = {utterance: channels[names[utterance]] for utterance in paired}
    return GivenSpeech(paired, len(files) - len(paired), key, own)


def given_ledger(corpus: StudyCorpus, speech: GivenSpeech, given: GivenFolder) -> Ledger | None:
    """Give the ledger that ``anonymize`` noted in the folder, with what was attacked; None where it noted none."""
    try:
        noted = read_ledger(json.loads((given.folder / CARD).read_text(encoding="utf-8")).get("ledger"))
    except (OSError, ValueError, AttributeError):
        return None
    used = with_leads(corpus.frame.filter(pl.col("utterance").is_in(list(speech.files))))
    attacked, enrolled = (set(used.filter(pl.col("role") == role)[LEAD]) for role in (TRIAL, ENROLMENT))
    try:
        return noted and replace(noted, attacked=len(attacked), enrolled=len(enrolled - attacked))
    except ValueError:  # the folder was made of other recordings than these
        return None


def _by_file_name(ids: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """Pair ids by their last part, where folders are called differently; names that occur twice pair nothing.

    >>> _by_file_name(["anna-1", "anna-2"], ["out/anna/anna-1", "out/anna/x"])
    {'anna-1': 'out/anna/anna-1'}
    """
    ends: list[dict[str, list[str]]] = [{}, {}]
    for found, names in zip(ends, (ids, others), strict=True):
        for name in names:
            found.setdefault(name.rpartition("/")[2], []).append(name)
    return {own[0]: ends[1][end][0] for end, own in ends[0].items() if len(own) == len(ends[1].get(end, ())) == 1}


def read_study_corpus(
    label: str, study: Study, anonymizers: Sequence[ResolvedAnonymizer], *, stages: Path
) -> StudyCorpus:
    """Read one corpus; where its anonymized speech is given, only people who are in it are attacked."""
    given = [one for one in anonymizers if one.given is not None]
    choice = study.corpora[label]
    if not given or not choice.is_attacked:
        return study_corpus(label, study, stages=stages)
    if choice.path is None:
        raise ConfigError("anonymized speech is given, so that its originals must be named with path; none is invented")
    frame = read_corpus(choice.path, layout=choice.layout, person_channels=True).corpus.frame
    attacked: set[str] = set()
    notes: list[str] = []
    for one in given:
        assert one.given is not None
        speech = pair_given(frame, one.given)
        attacked |= set(frame.filter(pl.col("utterance").is_in(list(speech.files)))["speaker"])
        if speech.unpaired:
            notes.append(f"{one.label}: {speech.unpaired} anonymized utterances have no original and are not used")
        if one.system is None:
            notes.append(
                f"{one.label}: nobody says how it was made, so that no attacker can anonymize as its owner did"
            )
    corpus = study_corpus(label, study, stages=stages, attacked=sorted(attacked))
    return replace(corpus, notes=(*corpus.notes, *notes))


def _key(given: GivenFolder) -> Key | None:
    """Find the key of an anonymized folder: the one named, or the one in its private folder."""
    if given.key is not None:
        return load_key(given.key)
    beside = private_folder(given.folder.resolve()) / "key"
    return load_key(beside) if beside.is_file() else None


@dataclass(frozen=True, eq=False)
class GivenJob:
    """The stage "anonymize" of speech that is anonymized already: nothing is done but to note what is missing."""

    label: str
    frame: pl.DataFrame
    speech: GivenSpeech
    digests: FileDigests

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the originals, and the bytes of the given files."""
        files = [(u, self.digests.of(self.speech.files[u])) for u in self._paired]
        facts: dict[str, Any] = {"given": files, "speech": content_of(self.frame)}
        channels = [self.channel_of(u) for u in self._paired]
        facts |= {"channels": channels} if any(channels) else {}
        return Stage("anonymize", self.label, facts, items=len(self.frame))

    @property
    def _paired(self) -> list[str]:
        return [utterance for utterance in self.frame["utterance"] if utterance in self.speech.files]

    def items(self, _store: Store, /) -> Sequence[str]:
        """Nothing is to be done."""
        return []

    def work(self, _store: Store, /) -> Any:
        """Nothing is done."""
        return str

    def name(self, item: Any, /) -> str:
        """Failures are named by utterance."""
        return str(item)

    def finish(self, _store: Store, _results: Sequence[Result[Any, Any]], /) -> Failures:
        """What has no counterpart failed when it was anonymized."""
        return tuple((u, MISSING) for u in self.frame["utterance"] if u not in self.speech.files)

    def files(self, _store: Store, /) -> dict[str, Path]:
        """Give the anonymized file of every utterance that has one."""
        return {utterance: self.speech.files[utterance] for utterance in self._paired}

    def channel_of(self, utterance: str, /) -> int | None:
        """Give the channel of that file on which the person is; None where all channels are theirs."""
        return self.speech.channels.get(utterance)
