"""What a study file may say about speech: where it lies or who is invented, who is attacked and who is learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from personare.core.errors import ConfigError
from personare.core.language_codes import checked_language

Names = str | tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """Values of the corpus' ``part`` column, by what they are for; ``attacked`` is dealt by the rule of ``split``."""

    train: Names = ()
    calibration: Names = ()
    attacked: Names = ()
    enrolment: Names = ()
    trial: Names = ()

    def named(self, role: str) -> tuple[str, ...]:
        """Give the part names of one role."""
        value: Names = getattr(self, role)
        return (value,) if isinstance(value, str) else value


@dataclass(frozen=True)
class CorpusChoice:
    """Speech to measure on.

    Parameters
    ----------
    path, layout : a corpus on disk, relative to the study file; without a path voices are invented (the demo corpus).
    speakers, utterances : how many to invent; with a path, how many to use at most.
    voices : which people are invented: another number gives other people.
    skip : so many of these people are left out first, so that two corpora of a study share nobody.
    source : whose voices invented people have: ``kokoro`` (182 at most, better sound) or ``piper`` (904, quicker).
    reading : what invented people read: our ``sentences``, or ``words`` in no order (piper), for recognizers to learn.
    language : of all its speech, a code such as ``de``, or ``auto`` to identify it; without, its own column
        ``language``. Invented people speak it (English without).
    spoken : use the utterances in this language only. A corpus that states several languages is measured language by
        language.
    parts : which values of the ``part`` column are for what. Without it, parts that are called train, calibration,
        enrolment and trial are for what their names say.
    train, calibration : where no part is named: how many speakers (below 1: which share) are set aside.
    train_path : another corpus to learn from; speakers who are attacked are left out of it.
    split : how the attacked speakers' utterances become enrolment and trial: ``auto`` uses the lists of a VoicePrivacy
        directory where there are some (nobody of it is set aside then: name speech to learn from with ``train_path``),
        and halves otherwise; dealt in ``halves``; the first
        ``enrolment`` by ``count``; ``sets`` A and B of the legal paper; the ``lists`` of a VoicePrivacy directory;
        ``trial`` enrols nothing, for what needs no enrolment (inference, listeners); ``train`` attacks nobody: all of
        it is speech that listeners of the study learn from (``learns_from``).
    enrolment : for ``count``: how many utterances of each speaker are enrolled.
    min_speech : for ``sets``: how much speech a speaker needs to be in A, and in B besides; ``unit`` of both.
    one_sided : what happens to a speaker who is only enrolled or only tested: ``refuse`` makes it a problem, ``keep``
        keeps and ``drop`` leaves them out.
    """

    path: Path | None = None
    layout: str | None = None
    speakers: int | None = None
    utterances: int | None = None
    voices: int = 1
    skip: int = 0
    source: Literal["kokoro", "piper"] = "kokoro"
    reading: Literal["sentences", "words"] = "sentences"
    language: str | None = None
    spoken: str | None = None
    parts: Parts | None = None
    train: float = 0.0
    calibration: float = 0.0
    train_path: Path | None = None
    split: Literal["auto", "halves", "count", "sets", "lists", "trial", "train"] = "auto"
    enrolment: int | None = None
    min_speech: tuple[float, float] = (2, 2)
    unit: Literal["utterances", "seconds"] = "utterances"
    one_sided: Literal["refuse", "keep", "drop"] | None = None
    RENAMED: ClassVar[Mapping[str, str]] = {"least": "min_speech"}

    def __post_init__(self) -> None:
        for name in ("language", "spoken"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checked_language(str(value), where=name))
        for name in ("speakers", "utterances", "enrolment"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, not {value}")
        if self.train < 0 or self.calibration < 0:
            raise ConfigError("train and calibration are numbers of speakers, or shares below 1; none is negative")
        if (self.split == "count") != (self.enrolment is not None):
            raise ConfigError("split: count and enrolment: NUMBER need each other")
        if self.train and self.train_path is not None:
            raise ConfigError("train sets speakers of this corpus aside, train_path names another; give one of them")
        if self.split == "train" and (self.train or self.calibration or self.train_path):
            raise ConfigError("split: train learns from all of a corpus, or of parts; leave train and calibration out")

    @property
    def is_attacked(self) -> bool:
        """Whether anybody of it is attacked; if not, it is only learnt from."""
        return self.split != "train"

    @property
    def on_one_side(self) -> Literal["refuse", "keep", "drop"]:
        """What happens to people who are only enrolled or only tested; some designs have them."""
        return self.one_sided or ("keep" if self.split in ("sets", "lists", "trial") else "refuse")
