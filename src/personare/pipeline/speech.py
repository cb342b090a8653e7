"""The speech of a study: every corpus read (or planned, where voices are invented), with a role for every utterance."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from personare.core.errors import AudioError, CorpusError
from personare.core.files import write_text
from personare.core.language_codes import AUTO, language_title
from personare.core.seeding import Key
from personare.core.tables import Corpus, Trials
from personare.core.weights import file_sha256
from personare.corpora import read_corpus
from personare.corpora.problems import Problem
from personare.corpora.voices.plan import ENGLISH
from personare.corpora.voices.synthesizer import fingerprint
from personare.pipeline.attributes import Attribute, attribute_of
from personare.pipeline.jobs.spoken_languages import (
    LANGUAGE,
    NOT_GIVEN,
    counts_text,
    filled_languages,
    stated_counts,
)
from personare.pipeline.jobs.voices import VoiceWork, Wanted
from personare.pipeline.roles import ENROLMENT, TRAIN, TRIAL, with_roles
from personare.pipeline.study import CorpusChoice, Parts, Study

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEMO_SPEAKERS, DEMO_UTTERANCES, DEMO_RATE_HZ = 20, 6, 16_000
FATAL = frozenset({"missing-audio", "duplicate-utterance"})
OWN_PARTS = ("train", "calibration", ENROLMENT, TRIAL)


@dataclass(frozen=True, eq=False)
class StudyCorpus:
    """One corpus of a study.

    Parameters
    ----------
    frame : utterance, speaker, audio, role and what else is known, sorted by utterance.
    trials : the challenge's list of trials, where the corpus has one.
    wanted : the voices to invent, None for a corpus on disk; they are made in ``folder``.
    problems, notes : what stops a study, and what a reader must know.
    swapped : whether Singling Out enrols the trial set and tests the enrolment set (sets A and B).
    sampled : whether a few utterances stand for the corpus: everything is asked of them, though they are too few.
    path, train_path : where it lies, and the corpus that is learnt from, where that is another one.
    is_attacked : whether anybody of it is to be attacked; if not, all of it is only learnt from.
    """

    label: str
    frame: pl.DataFrame
    trials: Trials | None = None
    wanted: Wanted | None = None
    folder: Path | None = None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    swapped: bool = field(default=False)
    path: Path | None = None
    sampled: bool = False
    train_path: Path | None = None
    is_attacked: bool = True

    def of(self, role: str) -> pl.DataFrame:
        """Give the utterances of one role."""
        return self.frame.filter(pl.col("role") == role)

    def counts(self, role: str) -> NDArray[np.int64]:
        """Count the utterances of every speaker in a role."""
        return self.of(role)["speaker"].value_counts()["count"].to_numpy().astype(np.int64)

    @property
    def enrolled(self) -> set[str]:
        """Who is enrolled."""
        return set(self.of(ENROLMENT)["speaker"])

    @property
    def tested(self) -> set[str]:
        """Who is tested."""
        return set(self.of(TRIAL)["speaker"])

    def genders(self) -> dict[str, str | None]:
        """Give every speaker's gender, where known."""
        if "gender" not in self.frame.columns:
            return {}
        return dict(self.frame.select("speaker", "gender").iter_rows())

    def attribute(self, name: str) -> Attribute:
        """Give an attribute of every speaker: a column of the corpus, or of the speakers.tsv beside it."""
        places = [self.path or self.folder or Path(), *([] if self.train_path is None else [self.train_path])]
        return attribute_of(name, *((place, Corpus(self.frame)) for place in places))


def study_corpus(label: str, study: Study, *, stages: Path, attacked: Sequence[str] | None = None) -> StudyCorpus:
    """Read one corpus and give everybody a role; invented voices need not exist yet.

    ``attacked`` are the only speakers who can be attacked, where the anonymized speech is given and has no others.
    """
    choice, key = study.corpora[label], Key.from_seed(study.seed).child("study")
    trials: Trials | None = None
    wanted: Wanted | None = None
    folder: Path | None = None
    problems: tuple[Problem, ...] = ()
    notes: list[str] = []
    if choice.path is None:
        counts = (choice.speakers or DEMO_SPEAKERS, choice.utterances or DEMO_UTTERANCES)
        wanted = Wanted(
            *counts, choice.voices, DEMO_RATE_HZ, choice.source, choice.reading, choice.skip, _invented_language(choice)
        )
        named = repr(wanted).replace(f", language='{ENGLISH}'", "")  # the only one there was: folders keep their names
        folder = stages / f"voices-{hashlib.sha256(named.encode()).hexdigest()[:12]}"
        frame = _invented(wanted, folder)
    else:
        reading = read_corpus(choice.path, layout=choice.layout, person_channels=True)
        frame, trials = reading.corpus.frame, reading.trials
        problems = tuple(p for p in reading.problems if p.kind in FATAL and not study.skip_impossible)
        notes += [*reading.notes, *(p.line for p in reading.problems if p not in problems)]
        frame, more = in_languages(frame, choice, stages)
        notes += more
        choice, more = _parts_found(choice, frame) if choice.is_attacked else (choice, [])
        notes += more
        choice, more = _lists_found(choice, frame, trials)
        notes += more
        trials = trials if choice.split == "lists" else None
        frame, more = _attacked_only(frame, choice, attacked)
        notes += more
    frame, more = with_roles(frame, choice, key)
    notes += more
    frame, more = _learnt_from(frame, choice)
    notes += more
    swapped = choice.split == "sets"
    return StudyCorpus(
        label,
        frame,
        trials,
        wanted,
        folder,
        problems,
        tuple(notes),
        swapped=swapped,
        path=choice.path,
        train_path=choice.train_path,
        is_attacked=choice.is_attacked,
    )


def in_languages(frame: pl.DataFrame, choice: CorpusChoice, stages: Path) -> tuple[pl.DataFrame, list[str]]:
    """State or identify the language of a corpus as its choice says, and keep the utterances in one language."""
    filled = filled_languages(frame, choice.language, memory=stages / "languages.json")
    kept = _spoken_in(filled.frame, choice.spoken)
    if kept.is_empty():
        raise CorpusError(f"no utterance is in {language_title(str(choice.spoken))}; leave out spoken")
    counts = stated_counts(kept)
    stated = [] if set(counts) == {NOT_GIVEN} else [f"language: {counts_text(counts)} utterances"]
    return kept, [*filled.notes, *stated]


def _spoken_in(frame: pl.DataFrame, code: str | None) -> pl.DataFrame:
    """Keep the utterances in one language, and those whose language nobody states where nobody states any."""
    if code is None or LANGUAGE not in frame.columns:
        return frame
    return frame.filter(pl.col(LANGUAGE) == code)


def _attacked_only(
    frame: pl.DataFrame, choice: CorpusChoice, attacked: Sequence[str] | None
) -> tuple[pl.DataFrame, list[str]]:
    """Leave out people with no anonymized speech, unless they are learnt from."""
    if attacked is None:
        return frame, []
    aside = [part for role in ("train", "calibration") for part in (choice.parts.named(role) if choice.parts else ())]
    kept = pl.col("speaker").is_in(list(attacked))
    if aside and "part" in frame.columns:
        kept |= pl.col("part").is_in(aside).fill_null(False)
    rest = frame.filter(kept)
    left = frame["speaker"].n_unique() - rest["speaker"].n_unique()
    who = (
        "1 speaker has no anonymized speech and is"
        if left == 1
        else f"{left} speakers have no anonymized speech and are"
    )
    return rest, [f"{who} not attacked"] if left else []


def _learnt_from(frame: pl.DataFrame, choice: CorpusChoice) -> tuple[pl.DataFrame, list[str]]:
    """Add the corpus that is learnt from; people who are attacked are left out of it."""
    if choice.train_path is None:
        return frame, []
    others = _spoken_in(read_corpus(choice.train_path, person_channels=True).corpus.frame, choice.spoken)
    frame = frame.filter(pl.col("role") != TRAIN)
    attacked = frame["speaker"].unique().to_list()
    both = others.filter(pl.col("speaker").is_in(attacked))["speaker"].n_unique()
    others = others.filter(~pl.col("speaker").is_in(attacked)).with_columns(pl.lit(TRAIN).alias("role"))
    if others["speaker"].n_unique() < 2:
        raise CorpusError(f"{choice.train_path}: holds fewer than 2 speakers who are not attacked; give other speech")
    clash = set(others["utterance"]) & set(frame["utterance"])
    if clash:
        raise CorpusError(f"{choice.train_path}: {len(clash)} utterance ids are also attacked (first: '{min(clash)}')")
    notes = [f"{both} attacked speakers are left out of the training speech"] if both else []
    return pl.concat([frame, others], how="diagonal_relaxed").sort("utterance"), notes


def _parts_found(choice: CorpusChoice, frame: pl.DataFrame) -> tuple[CorpusChoice, list[str]]:
    """Where no part is named, parts called train, enrolment and trial are for what they say; and a note says so."""
    known = set(frame["part"].drop_nulls().unique().to_list()) if "part" in frame.columns else set()
    if choice.parts is not None or len(known) < 2:
        return choice, []
    if {ENROLMENT, TRIAL} <= known and choice.split in ("auto", "halves"):
        named = {name: name for name in OWN_PARTS if name in known}
        chosen = replace(choice, parts=Parts(**named), train=0.0, calibration=0.0, one_sided=choice.one_sided or "keep")
        return chosen, [f"the corpus' own parts are used as they are called: {', '.join(named)}"]
    if "train" not in known:
        return choice, []
    others = ", ".join(f"'{part}'" for part in sorted(known - {"train"}))
    return replace(choice, parts=Parts(train="train"), train=0.0, calibration=0.0), [
        f"nobody of the corpus' own part 'train' is attacked, attackers who learn may learn from it; attacked: {others}"
    ]


def _lists_found(choice: CorpusChoice, frame: pl.DataFrame, trials: Trials | None) -> tuple[CorpusChoice, list[str]]:
    """Use the enrolment and trial lists of a VoicePrivacy directory, where nobody chose another split; and say so."""
    roles = set(frame["role"].drop_nulls().unique().to_list()) if "role" in frame.columns else set()
    if choice.split == "auto" and choice.parts is None and trials is not None and roles >= {"enroll", "test"}:
        aside = [name for name in ("train", "calibration") if getattr(choice, name)]
        notes = [f"the enrolment and trial lists of the corpus are used: {trial_counts(trials)}"]
        if aside:
            kept = "nobody of the lists is set aside, although the study asks for it"
            notes.append(f"{kept} ({', '.join(aside)}); name speech to learn from with --train, or train_path")
        return replace(choice, split="lists", train=0.0, calibration=0.0, one_sided="keep"), notes
    if choice.split == "lists" and trials is not None:
        return choice, [f"the enrolment and trial lists of the corpus are used: {trial_counts(trials)}"]
    return choice, []


def trial_counts(trials: Trials) -> str:
    """Count the trials of each list, as Table 2 of the VoicePrivacy 2020 paper does.

    >>> frame = pl.DataFrame({"enroll": ["a", "a"], "test": ["u", "v"], "target": [True, False]})
    >>> trial_counts(Trials(frame))
    '1 target and 1 impostor trials'
    """
    frame = trials.frame if "list" in trials.frame.columns else trials.frame.with_columns(pl.lit("").alias("list"))
    counts = []
    for (name,), part in frame.group_by(["list"], maintain_order=True):
        targets = int(part["target"].sum())
        counts.append(f"{name} {targets:,} target and {len(part) - targets:,} impostor trials".strip())
    return "; ".join(sorted(counts))


def _invented(wanted: Wanted, folder: Path) -> pl.DataFrame:
    """Plan the voices: where each will lie, who speaks, what is said."""
    work = VoiceWork(folder, wanted.rate_hz)
    rows = [
        (
            u.name,
            u.speaker.name,
            str(work.place_of(u)),
            u.speaker.gender,
            u.text,
            fingerprint(u, rate_hz=wanted.rate_hz),
        )
        for u in wanted.plan()
    ]
    columns = ["utterance", "speaker", "audio", "gender", "text", "digest"]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    return frame if wanted.language == ENGLISH else frame.with_columns(pl.lit(wanted.language).alias(LANGUAGE))


def _invented_language(choice: CorpusChoice) -> str:
    """Give the language that invented people speak."""
    if choice.language == AUTO:
        raise CorpusError("invented people speak a language that is named, e.g. de, not auto")
    return choice.language or ENGLISH


class FileDigests:
    """The content of files, hashed once: ``memory`` keeps size, date and digest between runs."""

    def __init__(self, memory: Path) -> None:
        self._memory = memory
        self._known: dict[str, list[str]] = {}
        with contextlib.suppress(OSError, ValueError):  # nothing kept, or damaged: everything is hashed anew
            self._known = dict(json.loads(memory.read_text(encoding="utf-8")))

    def of(self, path: Path | str) -> str:
        """Give the digest of a file, or say that it is not there."""
        state = _state(str(path))
        if self._known.get(str(path), [""])[0] != state or not state:
            self._known[str(path)] = [state, file_sha256(Path(path)) if state else "not there"]
        return self._known[str(path)][1]

    def save(self) -> None:
        """Keep what is known."""
        write_text(self._memory, json.dumps(self._known, sort_keys=True))


def with_digests(corpus: StudyCorpus, digests: FileDigests) -> StudyCorpus:
    """Add the column ``digest``: the content of every file."""
    if "digest" in corpus.frame.columns and not corpus.frame["digest"].null_count():
        return corpus
    known = corpus.frame["digest"].to_list() if "digest" in corpus.frame.columns else [None] * len(corpus.frame)
    values = [one or digests.of(path) for one, path in zip(known, corpus.frame["audio"], strict=True)]
    return replace(corpus, frame=corpus.frame.with_columns(pl.Series("digest", values, dtype=pl.String)))


def _state(path: str) -> str:
    try:
        facts = Path(path).stat()
    except OSError:
        return ""
    return f"{facts.st_size} {facts.st_mtime_ns}"


def content_of(frame: pl.DataFrame) -> str:
    """Hash what a result depends on: ids, speakers, genders, languages, cuts and content of files, not their place."""
    known = ("utterance", "speaker", "gender", "start_s", "end_s", "person_channel", "language", "digest")
    columns = [c for c in known if c in frame.columns]
    if "digest" not in columns:
        raise AudioError("the speech has not been hashed yet")
    rows = json.dumps(frame.select(columns).rows(), sort_keys=True)
    return hashlib.sha256(rows.encode()).hexdigest()
