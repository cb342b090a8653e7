"""Original speech and what it became, as evaluate, attack, infer and listen are given it: found, read, listed.

How the originals are to be read (who speaks in a flat folder, which channel is whom) is what ``personare anonymize``
noted in the private folder, unless somebody says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from personare.attackers.knowledge import Knowledge, knowledge
from personare.attackers.trained import trained_on
from personare.core.errors import CorpusError
from personare.core.tables import Corpus
from personare.corpora import check_place, read_corpus
from personare.corpora.gathering import Reading
from personare.engine import Engine
from personare.pipeline.attacker_choice import AttackerChoice
from personare.pipeline.folder import STAGES
from personare.pipeline.jobs.guess_attributes import with_guesses
from personare.pipeline.jobs.spoken_languages import with_languages
from personare.pipeline.jobs.target import noted_origin
from personare.pipeline.resolve import GIVEN, METHOD, ResolvedAnonymizer, resolve_anonymizer
from personare.pipeline.study import ORIGINAL, CorpusChoice
from personare.pipeline.system import read_system


@dataclass(frozen=True)
class GivenSpeechChoice:
    """Original speech and what it became.

    Parameters
    ----------
    original, anonymized : two corpora; key : what pairs their names, where it is not beside the anonymized one.
    method, parameters, level : how it was made, where the folder does not say; a method alone, which the folder
        names too, has the parameters that the folder names.
    train : speech of other people to learn from; own_train : whether the original corpus has a part for that.
    name : what the corpus is called, by its file or folder without; notes : what a reader must know about it.
    languages : those that the original speech is stated to be in.
    """

    original: Path
    anonymized: Path
    key: Path | None = None
    method: str | None = None
    parameters: Mapping[str, Any] | None = None
    level: str = "speaker"
    train: Path | None = None
    own_train: bool = False
    name: str = ""
    notes: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What the anonymizer is called in tables: by its method where known, else by its folder."""
        if self.method is not None:
            return self.method
        system = read_system(self.anonymized)
        place = self.anonymized.resolve()
        name = system.method if system is not None else place.name if place.is_dir() else place.stem
        return name if name != ORIGINAL else "given"

    @property
    def settings(self) -> dict[str, Any]:
        """The anonymizer, as a study says it."""
        given: dict[str, Any] = {GIVEN: str(self.anonymized.resolve())}
        if self.key is not None:
            given["key"] = str(self.key.resolve())
        if self.method is not None:
            given |= {METHOD: self.method, **self._method_settings}
        return given

    @property
    def _method_settings(self) -> dict[str, Any]:
        """Level and parameters: those named; where none is and the folder names the same method, the folder's."""
        noted = read_system(self.anonymized)
        if noted is not None and noted.method == self.method and not self.parameters and self.level == "speaker":
            return {"level": noted.level, **noted.parameters}
        return {"level": self.level, **(self.parameters or {})}

    def corpus(self, split: str = "halves") -> dict[str, CorpusChoice]:
        """The corpus, as a study says it."""
        train = None if self.train is None else self.train.resolve()
        choice = CorpusChoice(path=self.original.resolve(), train_path=train, one_sided="drop")
        name = self.name or self.original.resolve().stem
        if split == "trial":
            choice = replace(choice, split="trial", one_sided="keep")
        return {name or "corpus": choice}

    @property
    def has_training(self) -> bool:
        """Whether there is speech of other people to learn from."""
        return self.train is not None or self.own_train

    def _resolved(self) -> ResolvedAnonymizer:
        return resolve_anonymizer(self.label, self.settings, Path.cwd())

    def cannot(self, choice: AttackerChoice) -> str:
        """Say why an attacker cannot be played on this speech; nothing where they can."""
        system = read_system(self.anonymized) if self.method is None else None
        level, trained = knowledge(choice.knowledge), trained_on(choice.embedder) is not None
        if level.enroll == "anonymized" or level.trained_on == "same system":
            if self.method is None and system is None:
                return "the method is unknown (no anonymization.json in the folder); name it with --method"
            if system is not None and system.recorded and system.version_note:
                return f"the folder was made by {system.version_note}; anonymize it again, or name it with --method"
        if trained and level.trial == "anonymized" and not level.needs_training:
            return "its embedder has learnt from anonymized speech, so that it is informed"
        if level is Knowledge.INVERTING and (reason := self._resolved().not_invertible()):
            return reason
        trained = trained and level is not Knowledge.INVERTING  # what is undone is learnt from speech, not by a network
        if level.needs_training and not self.has_training and not trained and not choice.folds:
            return "there is no speech of other people to learn from; name it with --train"
        return ""


def given_speech(
    original: Path | Corpus,
    anonymized: Path | Corpus,
    *,
    folder: Path,
    engine: Engine,
    train: Path | Corpus | None = None,
    key: Path | None = None,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    level: str = "speaker",
    guess: Sequence[str] = (),
    speaker_from: str | None = None,
    language: str | None = None,
) -> GivenSpeechChoice:
    """Name both corpora by path; those in memory, read by a rule, or with guessed columns, are listed in ``folder``.

    ``guess`` are attributes (gender, age_group) that are guessed by machine where nobody noted them. ``speaker_from``
    says who speaks in a folder without order: the originals, and what another tool made of them. ``language`` is that
    of all speech, or ``auto`` to identify it.
    """
    _refuse_swapped(original, anonymized)
    name = "corpus" if isinstance(original, Corpus) else original.resolve().stem
    notes: list[str] = []
    if isinstance(original, Path):
        reading, listed = read_original(original, anonymized, speaker_from=speaker_from)
        if listed:
            original = reading.corpus
            notes += [problem.line for problem in reading.problems]
        source = reading.corpus
    else:
        source = original
    if isinstance(anonymized, Path) and speaker_from is not None and read_system(anonymized) is None:
        foreign = read_corpus(anonymized, speaker_from=speaker_from, person_channels=True)
        notes += [problem.line for problem in foreign.problems]
        anonymized = _saved(foreign.corpus, folder, f"anonymized/{anonymized.resolve().name}")
    parts = set(source.frame["part"].drop_nulls()) if "part" in source.frame.columns else set()
    if guess:
        guesses = with_guesses(source.frame, engine=engine, kinds=tuple(guess))
        original = Corpus(guesses.frame)
        notes += guesses.notes
        if guesses.failures:
            notes.append(f"For {len(guesses.failures)} speakers nothing could be guessed: no voice was found in them.")
    if language is not None:
        filled = with_languages((original if isinstance(original, Corpus) else source).frame, language, engine=engine)
        original = Corpus(filled.frame)
        notes += filled.notes
        if filled.failures:
            notes.append(f"For {len(filled.failures)} recordings no language could be identified.")
    return GivenSpeechChoice(
        _listed(original, folder, "original"),
        _listed(anonymized, folder, "anonymized"),
        key,
        method,
        parameters,
        level,
        None if train is None else _listed(train, folder, "train"),
        "train" in parts,
        name,
        tuple(notes),
        tuple((original if isinstance(original, Corpus) else source).languages),
    )


def _refuse_swapped(original: Path | Corpus, anonymized: Path | Corpus) -> None:
    """Refuse folders that are not there, and say so when the two were swapped."""
    for one in (original, anonymized):
        if isinstance(one, Path):
            check_place(one)
    made_of = noted_origin(original) if isinstance(original, Path) and isinstance(anonymized, Path) else None
    if made_of is not None and made_of.source == Path(str(anonymized)).resolve():
        raise CorpusError(f"{original}: was made of {anonymized} by personare anonymize; ORIG comes first, then ANON")


def read_original(
    original: Path, anonymized: Path | Corpus, *, speaker_from: str | None, layout: str | None = None
) -> tuple[Reading, bool]:
    """Read the originals, as somebody says or as they were anonymized; True where a path alone would not say how."""
    if speaker_from is not None or layout is not None:
        return read_corpus(original, layout=layout, speaker_from=speaker_from, person_channels=True), True
    noted = noted_origin(anonymized) if isinstance(anonymized, Path) else None
    plain = noted is None or (noted.layout == noted.speaker_from and not noted.follow_links)
    if noted is None or plain or noted.source != original.resolve():
        return read_corpus(original, person_channels=True), False
    how = {"layout": noted.layout, "speaker_from": noted.speaker_from}
    return read_corpus(original, **how, person_channels=True, follow_links=noted.follow_links), True


def _listed(corpus: Path | Corpus, folder: Path, name: str) -> Path:
    return corpus if isinstance(corpus, Path) else _saved(corpus, folder, name)


def _saved(corpus: Corpus, folder: Path, name: str) -> Path:
    place = folder / STAGES / "corpora" / f"{name}.parquet"
    corpus.save(place)
    return place
