"""The speech of a study: every corpus read (or planned, where voices are invented), with a role for every utterance."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from personare.core.errors import AudioError
from personare.core.files import file_digest, file_state, write_text
from personare.core.seeding import Key
from personare.core.tables import Corpus, Trials
from personare.corpora import read_corpus
from personare.corpora.problems import Problem
from personare.corpora.voices.synthesizer import fingerprint
from personare.pipeline.jobs.voices import VoiceWork, Wanted
from personare.pipeline.old_infer import Attribute, attribute_of
from personare.pipeline.roles import with_roles
from personare.pipeline.study import CorpusChoice, Parts, Study

DEMO_SPEAKERS, DEMO_UTTERANCES, DEMO_RATE_HZ = 20, 6, 16_000
FATAL = frozenset({"missing-audio", "duplicate-utterance"})


@dataclass(frozen=True, eq=False)
class Speech:
    """One corpus of a study.

    Parameters
    ----------
    frame : utterance, speaker, audio, role and what else is known, sorted by utterance.
    trials : the challenge's list of trials, where the corpus has one.
    wanted : the voices to invent, None for a corpus on disk; they are made in ``folder``.
    problems, notes : what stops a study, and what a reader must know.
    """

    label: str
    frame: pl.DataFrame
    trials: Trials | None = None
    wanted: Wanted | None = None
    folder: Path | None = None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    swapped: bool = field(default=False)
    """Whether Singling Out enrols the trial set and tests the enrolment set (sets A and B)."""
    path: Path | None = None
    """Where the corpus lies; None where voices are invented."""

    def of(self, role: str) -> pl.DataFrame:
        """Give the utterances of one role."""
        return self.frame.filter(pl.col("role") == role)

    def genders(self) -> dict[str, str | None]:
        """Give every speaker's gender, where known."""
        if "gender" not in self.frame.columns:
            return {}
        return dict(self.frame.select("speaker", "gender").iter_rows())

    def attribute(self, name: str) -> Attribute:
        """Give an attribute of every speaker: a column of the corpus, or of the speakers.tsv beside it."""
        return attribute_of(name, (self.path or self.folder or Path(), Corpus(self.frame)))


def speech_of(label: str, study: Study, *, stages: Path) -> Speech:
    """Read one corpus and give everybody a role; invented voices need not exist yet."""
    choice, key = study.corpora[label], Key.from_seed(study.seed).child("study")
    trials: Trials | None = None
    wanted: Wanted | None = None
    folder: Path | None = None
    problems: tuple[Problem, ...] = ()
    notes: list[str] = []
    if choice.path is None:
        wanted = Wanted(
            choice.speakers or DEMO_SPEAKERS, choice.utterances or DEMO_UTTERANCES, choice.voices, DEMO_RATE_HZ
        )
        folder = stages / f"voices-{hashlib.sha256(repr(wanted).encode()).hexdigest()[:12]}"
        frame = _invented(wanted, folder)
    else:
        reading = read_corpus(choice.path, layout=choice.layout)
        frame, trials = reading.corpus.frame, reading.trials
        problems = tuple(p for p in reading.problems if p.kind in FATAL)
        notes += [*reading.notes, *(p.line for p in reading.problems if p.kind not in FATAL)]
        choice, said = _parts_found(choice, frame)
        notes += said
    frame, more = with_roles(frame, choice, key)
    notes += more
    sets = choice.split == "sets"
    return Speech(label, frame, trials, wanted, folder, problems, tuple(notes), swapped=sets, path=choice.path)


def _parts_found(choice: CorpusChoice, frame: pl.DataFrame) -> tuple[CorpusChoice, list[str]]:
    """Where no part is named and the corpus itself has a part 'train', nobody of it is attacked; and this is said."""
    known = set(frame["part"].drop_nulls().unique().to_list()) if "part" in frame.columns else set()
    if choice.parts is not None or "train" not in known or len(known) < 2:
        return choice, []
    use = "learnt from" if choice.train else "not attacked"
    others = ", ".join(f"'{part}'" for part in sorted(known - {"train"}))
    return replace(choice, parts=Parts(train="train"), train=0.0, calibration=0.0), [
        f"the corpus' own part 'train' is {use}; attacked: {others}"
    ]


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
    columns = ["utterance", "speaker", "audio", "gender", "text", "mark"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def with_marks(speech: Speech, memory: Path) -> Speech:
    """Add the column ``mark``: the content of every file, hashed once (``memory`` keeps size, date and hash)."""
    if "mark" in speech.frame.columns:
        return speech
    known: dict[str, list[str]] = json.loads(memory.read_text(encoding="utf-8")) if memory.is_file() else {}
    for path in speech.frame["audio"].unique(maintain_order=True).to_list():
        state = _state(path)
        if known.get(path, [""])[0] != state:
            known[path] = [state, file_digest(Path(path)) if state else "not there"]
    write_text(memory, json.dumps(known, sort_keys=True))
    marks = pl.Series("mark", [known[path][1] for path in speech.frame["audio"]], dtype=pl.String)
    return replace(speech, frame=speech.frame.with_columns(marks))


def _state(path: str) -> str:
    try:
        size, changed_ns = file_state(Path(path))
    except OSError:
        return ""
    return f"{size} {changed_ns}"


def content_of(frame: pl.DataFrame) -> str:
    """Hash what a result depends on: ids, speakers, genders, cuts and the content of the files; not where they lie."""
    columns = [c for c in ("utterance", "speaker", "gender", "start_s", "end_s", "mark") if c in frame.columns]
    if "mark" not in columns:
        raise AudioError("the speech has not been hashed yet")
    rows = json.dumps(frame.select(columns).rows(), sort_keys=True)
    return hashlib.sha256(rows.encode()).hexdigest()
