"""What a study file may say: every key with its meaning, read strictly from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from personare.attackers.fused import JOINT, parts_of
from personare.core.catalog import allow_modules
from personare.core.config import load_yaml
from personare.core.errors import ConfigError
from personare.pipeline.attacker_choice import AttackerChoice as AttackerChoice
from personare.pipeline.corpus_choice import CorpusChoice as CorpusChoice
from personare.pipeline.corpus_choice import Parts as Parts

ORIGINAL = "original"
TAKE_FILES = ("trained",)  # embedders followed by a file; before another colon stands a module


@dataclass(frozen=True)
class ListenerChoice:
    """One machine listener under a label of its own.

    Parameters
    ----------
    listener : a name of the table of listeners, with a file of your own after a colon where it takes one (ctc:FOLDER,
        affect:FILE), or module:Class.
    parameters : its settings, by name; relative paths begin at the study file.
    trained_on : for a recognizer that the study trains (``ctc`` without a folder): the anonymizer (its label, or
        original) whose speech it learns from.
    learns_from : the corpus of that training, by its label, one with ``split: train``; without, the train part of the
        corpus that is measured.
    config : settings of that training; the shipped small ones without.
    """

    listener: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trained_on: str = ORIGINAL
    learns_from: str | None = None
    config: Path | None = None
    RENAMED: ClassVar[Mapping[str, str]] = {
        name: f"parameters: {{{name}: ...}}" for name in ("outputs", "rate_hz", "classes", "labels")
    }


@dataclass(frozen=True)
class Bound:
    """An acceptable risk, or a quality that must be kept; what is not named is any.

    ``test: interval`` compares the unfavourable end of the interval, ``value`` the number itself.
    """

    metric: str
    at_most: float | None = None
    at_least: float | None = None
    corpus: str | None = None
    anonymizer: str | None = None
    attacker: str | None = None
    listener: str | None = None
    gender: str | None = None
    L: int | None = None
    N: int | None = None
    test: Literal["interval", "value"] = "interval"

    def __post_init__(self) -> None:
        if (self.at_most is None) == (self.at_least is None):
            raise ConfigError(f"a bound on {self.metric} needs at_most or at_least, one of them")


@dataclass(frozen=True)
class Study:
    """A whole study; ``folder`` is where its file lies, for relative paths.

    Parameters
    ----------
    anonymizers : label -> method (or generator) with its parameters and level; ``original: {}`` changes nothing;
        ``given: FOLDER`` is speech that was anonymized before, by this tool or another (``key`` pairs it with the
        originals; ``method`` and its parameters say how it was made, where the folder does not).
    metrics : names, groups of them, or module:Class for a measure of your own.
    utterances_per_trial : numbers of utterances the attacker hears at once, L.
    gallery_sizes : numbers of people, N; without: steps up to everybody.
    attributes : what attackers who learn guess about a speaker, for the metric ``inference``: columns of the corpus, or
        of the speakers.tsv beside it.
    populations : sizes beyond the corpus for which linkability is forecast.
    repetitions : random draws of Singling Out; rank_tests : tests per speaker of the rank metrics.
    enrolment_utterances : utterances that describe a voice in Singling Out, at most (30 in the paper, 10 in the code of
        its authors).
    skip_impossible : leave out (and note) every L and N that the corpus is too small for, instead of refusing to run.
    by : a column of the corpus (gender, age_group, part, ...): what listeners find for each of its values, too.
    clips : utterances whose sound goes into the report.
    """

    title: str
    corpora: Mapping[str, CorpusChoice]
    anonymizers: Mapping[str, Mapping[str, Any] | None]
    attackers: Mapping[str, AttackerChoice] = field(default_factory=dict)
    listeners: tuple[str, ...] | Mapping[str, ListenerChoice] = ()
    metrics: tuple[str, ...] = ("eer", "linkability")
    utterances_per_trial: tuple[int, ...] = (1,)
    gallery_sizes: tuple[int, ...] = ()
    populations: tuple[int, ...] = ()
    attributes: tuple[str, ...] = ("gender",)
    repetitions: int = 5
    enrolment_utterances: int = 30
    rank_tests: int = 100
    skip_impossible: bool = False
    by: str | None = None
    seed: int = 1
    clips: int = 3
    bounds: tuple[Bound, ...] = ()
    notes: str = ""
    RENAMED: ClassVar[Mapping[str, str]] = {
        "people": "gallery_sizes",
        "conversations": "utterances_per_trial",
        "possible_only": "skip_impossible",
    }

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise ConfigError("title must say what is compared")
        for name, smallest in (("utterances_per_trial", 1), ("gallery_sizes", 2), ("populations", 2)):
            odd = [value for value in getattr(self, name) if value < smallest]
            if odd:
                raise ConfigError(f"{name} must be {smallest} or more, not {odd[0]}")
        if not self.utterances_per_trial or self.repetitions < 1 or self.rank_tests < 1 or self.clips < 0:
            raise ConfigError("utterances_per_trial, repetitions and rank_tests must be at least 1, clips at least 0")
        if self.enrolment_utterances < 1:
            raise ConfigError(f"enrolment_utterances must be at least 1, not {self.enrolment_utterances}")
        if not any(one.is_attacked for one in self.corpora.values()) or not self.anonymizers:
            raise ConfigError("a study needs at least one corpus, not only learnt from, and one anonymizer")

    @property
    def listener_choices(self) -> dict[str, ListenerChoice]:
        """Listeners by label."""
        if isinstance(self.listeners, Mapping):
            return dict(self.listeners)
        return {name: ListenerChoice(name) for name in self.listeners}


def read_study(path: Path) -> Study:
    """Read a study file; relative paths in it are taken from its own folder."""
    study, folder = load_yaml(Study, path), path.resolve().parent
    attackers = study.attackers.values()
    names = [*(one.embedder for one in attackers), *(one.scorer or "" for one in attackers), *study.metrics]
    allow_modules([*names, *(one.listener for one in study.listener_choices.values())], folder)
    return located(study, folder)


def located(study: Study, folder: Path) -> Study:
    """Make every path of a study absolute, from ``folder``."""
    corpora = {
        label: replace(
            choice, path=_absolute_or_none(choice.path, folder), train_path=_absolute_or_none(choice.train_path, folder)
        )
        for label, choice in study.corpora.items()
    }
    attackers = {
        label: replace(choice, embedder=_named_file(choice.embedder, folder))
        for label, choice in study.attackers.items()
    }
    listeners = study.listeners
    if isinstance(listeners, Mapping):
        listeners = {
            label: choice if choice.config is None else replace(choice, config=_absolute(choice.config, folder))
            for label, choice in listeners.items()
        }
    return replace(study, corpora=corpora, attackers=attackers, listeners=listeners)


def with_corpus(study: Study, path: Path, *, speakers: int | None = None, utterances: int | None = None) -> Study:
    """Let a study run on another corpus; numbers that were meant for the demo fall away.

    ``speakers`` and ``utterances`` are how many to use at most of each part; where speakers are set aside by number,
    the same share of them is. A corpus with a part 'train' of its own keeps it. Listeners learn from what they did.
    """
    attacked = [label for label, choice in study.corpora.items() if choice.is_attacked]
    if len(attacked) > 1:
        raise ConfigError(f"--corpus replaces the one corpus of a study; this one has {len(attacked)}")
    label, choice = attacked[0], study.corpora[attacked[0]]
    others = {name: other for name, other in study.corpora.items() if name != label}
    name = path.resolve().name if choice.path is None else label
    train, calibration = (_share(aside, choice) for aside in (choice.train, choice.calibration))
    chosen = replace(choice, path=path.resolve(), speakers=speakers, utterances=utterances)
    return replace(study, corpora={name: replace(chosen, train=train, calibration=calibration), **others})


def with_training(study: Study, path: Path) -> Study:
    """Let the attackers of a study learn from another corpus; nobody of the attacked corpora is set aside then."""
    corpora = {
        label: replace(choice, train_path=path.resolve(), train=0.0) if choice.is_attacked else choice
        for label, choice in study.corpora.items()
    }
    return replace(study, corpora=corpora)


def with_pool(study: Study, path: Path) -> Study:
    """Let every method of a study that generates pseudo-speakers learn them from the pool in this file."""
    from personare.anonymizers import ANONYMIZERS

    if not path.is_file():
        raise ConfigError(f"--pool: {path}: no such file; make one with personare pseudospeakers pool")
    chosen: dict[str, Any] = {}
    for label, given in study.anonymizers.items():
        settings = given or {}
        method, fitted = settings.get("method"), str(settings.get("generator", "")).endswith(".npz")  # its own pool
        takes = isinstance(method, str) and "pool" in getattr(ANONYMIZERS.load(method), "__dataclass_fields__", {})
        chosen[label] = {**settings, "pool": str(path.resolve())} if takes and not fitted else given
    if chosen == dict(study.anonymizers):
        raise ConfigError("--pool: no method of this study generates pseudo-speakers from a pool; leave it out")
    return replace(study, anonymizers=chosen)


def _share(aside: float, choice: CorpusChoice) -> float:
    """Make a share of a number of invented speakers."""
    invented = choice.path is None and choice.speakers is not None
    return aside / choice.speakers if invented and choice.speakers and aside >= 1 else aside


def _absolute(path: Path, folder: Path) -> Path:
    path = path.expanduser()
    return path if path.is_absolute() else (folder / path).resolve()


def _absolute_or_none(path: Path | None, folder: Path) -> Path | None:
    return None if path is None else _absolute(path, folder)


def _named_file(name: str, folder: Path) -> str:
    """Make the files absolute that an embedder, or the parts of a fusion, are named by."""
    split = [(part, *part.partition(":")) for part in parts_of(name)]
    return JOINT.join(
        f"{kind}:{_absolute(Path(path), folder)}" if path and kind in TAKE_FILES else part
        for part, kind, _, path in split
    )
