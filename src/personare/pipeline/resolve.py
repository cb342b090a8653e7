"""The methods a study names, built: how speech is anonymized, who attacks, whose key draws which pseudo-speaker.

Keys come from the study's public seed: everybody can repeat a study, and what it anonymizes is not meant to be given
away.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from personare.anonymizers import ANONYMIZERS
from personare.attackers.attack import Attacker
from personare.attackers.inversion import secret_names_of
from personare.attackers.knowledge import Knowledge, knowledge
from personare.core.catalog import allow_modules
from personare.core.config import coerce
from personare.core.errors import ConfigError, did_you_mean
from personare.core.fingerprint import SystemIdentity
from personare.core.protocols import Listener, keeps_timing
from personare.core.seeding import Key
from personare.pipeline.study import ORIGINAL, AttackerChoice, Study
from personare.pipeline.system import Level, System, read_system
from personare.pseudospeakers import PSEUDOSPEAKERS

Kind = Literal["none", "sound", "vectors"]
Who = Literal["owner", "attacker", "training", "calibration", "system"]
GIVEN, METHOD, GENERATOR = "given", "method", "generator"


@dataclass(frozen=True)
class GivenFolder:
    """Speech that was anonymized before; ``key`` pairs its names with the originals (None: where it usually lies)."""

    folder: Path
    key: Path | None = None


@dataclass(frozen=True)
class ResolvedAnonymizer:
    """A way to anonymize, under its label in the study.

    Parameters
    ----------
    kind : ``none`` changes nothing, ``sound`` changes audio, ``vectors`` generates speaker vectors without any sound.
    system : how it is done; None where a given folder does not say and nobody else does.
    given : the owner's speech is taken from this folder; attackers still anonymize by ``system``.
    """

    label: str
    kind: Kind
    system: System | None = None
    given: GivenFolder | None = None

    @property
    def owner_identity(self) -> SystemIdentity:
        """The system that made the owner's speech: what leak checks compare, whatever its label."""
        if self.system is None:
            return SystemIdentity(f"{ORIGINAL if self.kind == 'none' else 'unknown'} {self.label}", self.label)
        return self.system.identity if self.given is not None else self.system.present_identity

    @property
    def present_identity(self) -> SystemIdentity:
        """The system that attackers anonymize by, as it is here and now."""
        return self.known.present_identity

    @property
    def known(self) -> System:
        """How it is done; whoever asks needs to know."""
        if self.system is None:
            raise ConfigError(f"anonymizers: {self.label}: {UNKNOWN_METHOD}")
        return self.system

    def not_invertible(self) -> str:
        """Say why nobody can estimate secret numbers of this anonymizer and undo them; nothing where one can."""
        if self.system is None:
            return UNKNOWN_METHOD
        built = self.system.build() if self.kind == "sound" else None
        return "" if built is not None and secret_names_of(built) else NOT_INVERTIBLE

    def not_compared(self, listener: Listener) -> str:
        """Say why a listener cannot compare this speech with the original; nothing where it can, or need not."""
        built = self.system.build() if listener.compares and self.kind == "sound" and self.system is not None else None
        return "" if built is None or keeps_timing(built) else OTHER_TIMING

    def unlike_owner(self) -> str:
        """Say why attackers cannot anonymize as the owner did; nothing where they can."""
        if self.kind != "sound" or self.given is None:
            return ""
        if self.system is None:
            return UNKNOWN_METHOD
        note = self.system.version_note
        if note and self.system.recorded:
            return f"the folder was made by {note}; anonymize it again, or say how it was made with method: NAME"
        return ""


OTHER_TIMING = "it compares moment by moment, and this method changes the timing (its parameter 'timing' can keep it)"
NOT_INVERTIBLE = "this method has no secret numbers that could be estimated and undone"
UNKNOWN_METHOD = (
    "nobody says how the folder was made (it has no anonymization.json); say it with method: NAME (--method), or leave "
    "out attackers who anonymize speech themselves"
)


@dataclass(frozen=True)
class ResolvedAttacker:
    """An attacker under a label; ``similar`` is the other system that a semi-informed one has learnt from."""

    label: str
    attacker: Attacker
    enroll_draws: int = 1
    similar: ResolvedAnonymizer | None = None
    train_draws: int = 1

    @property
    def by_cosine(self) -> bool:
        """Whether vectors end up in a space in which the cosine compares them."""
        return self.attacker.scorer_name in ("cosine", "wccn", "idf", "aligned") and not self.attacker.as_norm

    def does_as(self, other: ResolvedAttacker) -> bool:
        """Whether two attackers do the same under different labels."""
        return self.facts() == other.facts() and self.attacker.embedder == other.attacker.embedder

    def learns_from_owner(self, anonymizer: ResolvedAnonymizer) -> bool:
        """Whether the similar system of a semi-informed attacker is the attacked one itself."""
        return self.similar is not None and self.similar.present_identity == anonymizer.owner_identity

    def not_played(self, anonymizer: ResolvedAnonymizer) -> str:
        """Say why this attacker has nothing to do against an anonymizer; nothing where they have."""
        if self.attacker.knowledge is not Knowledge.INVERTING or anonymizer.kind == "none":
            return ""
        return anonymizer.not_invertible()

    def against(self, anonymizer: ResolvedAnonymizer) -> ResolvedAttacker:
        """Give the attack on unprotected speech with the same embedder and scorer, where nothing is anonymized."""
        if anonymizer.kind != "none" or self.attacker.knowledge is Knowledge.ORIGINAL:
            return self
        scorer = "wccn" if self.attacker.scorer_name == "aligned" else self.attacker.scorer_name
        plain = replace(self.attacker, knowledge=Knowledge.ORIGINAL, scorer=scorer, folds=0)
        return replace(self, attacker=plain, similar=None, train_draws=1)

    def facts(self) -> dict[str, Any]:
        """Everything an attack depends on besides its speech."""
        level = self.attacker.knowledge
        return {
            "knowledge": level.value,
            "scorer": self.attacker.scorer_version,
            "enroll_draws": self.enroll_draws if level.enroll == "anonymized" else 1,
            "as_norm": self.attacker.as_norm,
            "alignment": self.attacker.alignment if level is Knowledge.ALIGNED else "",
            "similar": self.similar.present_identity.fingerprint if self.similar else "",
            "train_draws": self.train_draws,
            "folds": self.attacker.folds,
        }


def resolve_anonymizers(study: Study, folder: Path) -> list[ResolvedAnonymizer]:
    """Build every anonymizer of a study; a wrong name or parameter is one line."""
    return [resolve_anonymizer(label, given or {}, folder) for label, given in study.anonymizers.items()]


def resolve_anonymizer(label: str, settings: Mapping[str, Any], folder: Path) -> ResolvedAnonymizer:
    """Build one; ``original: {}`` changes nothing, ``given: FOLDER`` is speech that was anonymized before."""
    where = f"anonymizers: {label}"
    if not settings:
        if label != ORIGINAL:
            raise ConfigError(f"{where}: needs a method (or a generator, or given); only '{ORIGINAL}' changes nothing")
        return ResolvedAnonymizer(label, "none")
    if label == ORIGINAL:
        raise ConfigError(f"{where}: '{ORIGINAL}' changes nothing and has no settings; choose another label")
    if not {METHOD, GENERATOR, GIVEN} & set(settings):
        names = "; ".join(did_you_mean(str(n), [METHOD, GENERATOR, GIVEN, "level"]) for n in settings)
        raise ConfigError(f"{where}: needs a method, a generator or given ({names})")
    if GIVEN in settings:
        return _given(label, settings, folder)
    return ResolvedAnonymizer(label, "sound" if METHOD in settings else "vectors", _system(where, settings, folder))


def _system(where: str, settings: Mapping[str, Any], folder: Path) -> System:
    ours = (METHOD if METHOD in settings else GENERATOR, "level")  # a method may have a generator of its own
    level: Level = coerce(settings.get("level", "speaker"), Level, where=f"{where}: level")
    rest = {name: value for name, value in settings.items() if name not in ours}
    catalog = ANONYMIZERS if METHOD in settings else PSEUDOSPEAKERS
    name = coerce(settings[ours[0]], str, where=where)
    allow_modules([name], folder)
    try:
        rest = _with_paths(catalog.load(name), rest, folder)
        catalog.make(name, **rest)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    return System(name, rest, level, "anonymizer" if METHOD in settings else "pseudospeaker")


def _given(label: str, settings: Mapping[str, Any], folder: Path) -> ResolvedAnonymizer:
    """Take a folder; how it was made is what the study says, else what the folder says."""
    where = f"anonymizers: {label}"
    place = _absolute(coerce(settings[GIVEN], Path, where=f"{where}: {GIVEN}"), folder)
    if not place.exists():
        raise ConfigError(f"{where}: {place}: no such file or folder")
    key = coerce(settings.get("key"), Path | None, where=f"{where}: key")
    rest = {name: value for name, value in settings.items() if name not in (GIVEN, "key")}
    if rest and METHOD not in rest:
        raise ConfigError(f"{where}: {', '.join(rest)} belong to a method; say which with method: NAME")
    system = _system(where, rest, folder) if rest else _noted(where, place)
    return ResolvedAnonymizer(
        label, "sound", system, GivenFolder(place, None if key is None else _absolute(key, folder))
    )


def _noted(where: str, place: Path) -> System | None:
    """Read what the folder says; a class of the user's own that only the folder names is not looked for in files."""
    system = read_system(place)
    if system is not None and ":" in system.method:
        try:
            ANONYMIZERS.load(system.method)
        except ConfigError:
            rule = f"{place} was made by {system.method}, and no file is loaded because a folder names it"
            raise ConfigError(f"{where}: {rule}; name it yourself, with --method {system.method}") from None
    return system


def _absolute(path: Path, folder: Path) -> Path:
    return (folder / path.expanduser()).resolve()


def _with_paths(cls: type, parameters: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Take relative paths among the parameters from the study's folder."""
    hints = typing.get_type_hints(cls)
    located = dict(parameters)
    for name, value in parameters.items():
        hint = hints.get(name)
        is_path = hint is Path or Path in typing.get_args(hint)
        is_path |= hint is str and ("/" in str(value) or bool(Path(str(value)).suffix))  # e.g. a generator's .npz
        if is_path and isinstance(value, str) and (folder / value).exists():
            located[name] = str((folder / value).resolve())
    return located


def resolve_attackers(
    study: Study, anonymizers: list[ResolvedAnonymizer], folder: Path = Path()
) -> list[ResolvedAttacker]:
    """Build every attacker of a study."""
    return [resolve_attacker(label, choice, anonymizers, folder) for label, choice in study.attackers.items()]


def resolve_attacker(
    label: str, choice: AttackerChoice, anonymizers: list[ResolvedAnonymizer], folder: Path
) -> ResolvedAttacker:
    """Build one; a level that learns from another system must name it."""
    where = f"attackers: {label}"
    try:
        level = knowledge(choice.knowledge)
        attacker = Attacker(level, choice.embedder, choice.scorer, choice.as_norm, choice.alignment, choice.folds)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    similar = None
    if level is Knowledge.SEMI_INFORMED:
        similar = _similar(where, choice.learns_from, anonymizers, folder)
    elif choice.learns_from is not None:
        raise ConfigError(f"{where}: learns_from is for semi-informed attackers, not for {level.value}")
    return ResolvedAttacker(label, attacker, choice.enroll_draws, similar, choice.train_draws)


def _similar(
    where: str, name: str | Mapping[str, Any] | None, anonymizers: list[ResolvedAnonymizer], folder: Path
) -> ResolvedAnonymizer:
    if isinstance(name, Mapping):
        return resolve_anonymizer(f"similar system of {where.rpartition(' ')[2]}", name, folder)
    known = {one.label: one for one in anonymizers if one.kind != "none"}
    if name not in known:
        raise ConfigError(
            f"{where}: semi-informed learns_from another anonymizer of the study; {did_you_mean(name or '', known)}"
        )
    return known[name]


def key_of(study: Study, who: Who, draw: int = 1) -> Key:
    """Give the key by which someone draws pseudo-speakers; no two of them share one, and no two draws do."""
    if draw > 1:
        return key_of(study, who).child(str(draw))
    owner = Key.from_seed(study.seed).child("study", "owner")
    attacker = Key.from_seed(study.seed).child("study", "attacker")
    system = Key.from_seed(study.seed).child("study", "system")  # what all who know the system share
    keys = {"owner": owner, "attacker": attacker, "training": attacker.child("training"), "system": system}
    return keys.get(who) or attacker.child("calibration")
