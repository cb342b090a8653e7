"""The methods a study names, made: how voices are hidden, who attacks, whose key draws which pseudo-voice.

Keys come from the study's public seed: everybody can repeat a study, and nothing it hides is meant to be given away.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from personare.anonymizers import ANONYMIZERS
from personare.attackers.knowledge import Knowledge, knowledge
from personare.core.catalog import allow_modules_in
from personare.core.config import coerce
from personare.core.errors import ConfigError, did_you_mean
from personare.core.seeding import Key
from personare.pipeline.study import ORIGINAL, AttackerChoice, Study
from personare.pipeline.system import Level, System
from personare.pseudospeakers import PSEUDOSPEAKERS

Kind = Literal["none", "sound", "vectors"]
Who = Literal["owner", "attacker", "training", "calibration", "system"]


@dataclass(frozen=True)
class Hiding:
    """A way to hide voices, under its label in the study; ``vectors`` generates speaker vectors without any sound.

    ``system`` is None where nothing is hidden.
    """

    label: str
    kind: Kind
    system: System | None = None

    @property
    def known_system(self) -> System:
        """The system, where there is one."""
        if self.system is None:
            raise ConfigError(f"'{self.label}' hides nothing and has no system")
        return self.system

    @property
    def identity(self) -> str:
        """What it does, whatever its label and however it was typed: the fingerprint of its system, and the level."""
        return ORIGINAL if self.system is None else f"{self.system.fingerprint} per {self.system.level}"


@dataclass(frozen=True)
class Assault:
    """An attacker under a label; ``scorer`` is always said, ``similar`` is what a semi-informed one has learnt from."""

    label: str
    knowledge: Knowledge
    choice: AttackerChoice
    similar: Hiding | None = None

    @property
    def scorer(self) -> str:
        """How voices are compared."""
        if self.knowledge is Knowledge.ALIGNED:
            return "aligned"
        return self.choice.scorer or ("wccn" if self.knowledge.needs_training else "cosine")

    @property
    def learns(self) -> bool:
        """Whether speech of other people is needed."""
        return self.knowledge.needs_training or self.scorer != "cosine" or self.choice.as_norm > 0

    def against(self, hiding: Hiding) -> Assault:
        """Give the attack on unprotected speech with the same ear and scorer, where nothing is hidden."""
        if hiding.kind != "none" or self.knowledge is Knowledge.ORIGINAL:
            return self
        scorer: Any = "wccn" if self.scorer == "aligned" else self.scorer
        return replace(self, knowledge=Knowledge.ORIGINAL, choice=replace(self.choice, scorer=scorer), similar=None)

    def facts(self) -> dict[str, Any]:
        """Everything an attack depends on besides its speech."""
        return {
            "knowledge": self.knowledge.value,
            "scorer": self.scorer,
            "disguises": self.choice.disguises if self.knowledge.enroll == "anonymized" else 1,
            "as_norm": self.choice.as_norm,
            "alignment": self.choice.alignment if self.knowledge is Knowledge.ALIGNED else "",
            "similar": self.similar.identity if self.similar else "",
        }


def hidings(study: Study, folder: Path) -> list[Hiding]:
    """Make every anonymizer of a study; a wrong name or parameter is one line."""
    return [hiding_of(label, given or {}, folder) for label, given in study.anonymizers.items()]


def hiding_of(label: str, given: Mapping[str, Any], folder: Path) -> Hiding:
    """Make one; ``original: {}`` hides nothing."""
    where = f"anonymizers: {label}"
    ours = ("method" if "method" in given else "generator", "level")  # a method may have a generator of its own
    rest = {name: value for name, value in given.items() if name not in ours}
    level: Level = coerce(given.get("level", "speaker"), Level, where=f"{where}: level")
    if not given:
        if label != ORIGINAL:
            raise ConfigError(f"{where}: needs a method (or a generator of voices); only '{ORIGINAL}' hides nothing")
        return Hiding(label, "none")
    if label == ORIGINAL:
        raise ConfigError(f"{where}: '{ORIGINAL}' hides nothing and has no settings; choose another label")
    if not {"method", "generator"} & set(given):
        names = "; ".join(did_you_mean(str(n), ["method", "generator", "level"]) for n in given)
        raise ConfigError(f"{where}: needs a method or a generator ({names})")
    catalog = ANONYMIZERS if "method" in given else PSEUDOSPEAKERS
    name = coerce(given.get("method", given.get("generator")), str, where=where)
    if ":" in name:
        allow_modules_in(folder)
    try:
        rest = _with_paths(catalog.load(name), rest, folder)
        catalog.make(name, **rest)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    if "method" in given:
        return Hiding(label, "sound", System(name, rest, level))
    return Hiding(label, "vectors", System(name, rest, level, "pseudospeaker"))


def _with_paths(cls: type, parameters: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Take relative paths among the parameters from the study's folder."""
    hints = typing.get_type_hints(cls)
    found = dict(parameters)
    for name, value in parameters.items():
        hint = hints.get(name)
        is_path = hint is Path or Path in typing.get_args(hint)
        is_path |= hint is str and ("/" in str(value) or bool(Path(str(value)).suffix))  # e.g. a generator's .npz
        if is_path and isinstance(value, str) and (folder / value).exists():
            found[name] = str((folder / value).resolve())
    return found


def assaults(study: Study, ways: list[Hiding]) -> list[Assault]:
    """Make every attacker of a study."""
    labels = {way.label: way for way in ways}
    found = []
    for label, choice in study.attackers.items():
        where = f"attackers: {label}"
        try:
            level = knowledge(choice.knowledge)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None
        similar = None
        if level is Knowledge.SEMI_INFORMED:
            if choice.learns_from not in labels or labels[choice.learns_from].kind == "none":
                known = [way.label for way in ways if way.kind != "none"]
                told = did_you_mean(choice.learns_from or "", known)
                raise ConfigError(f"{where}: semi-informed learns_from another anonymizer of the study; {told}")
            similar = labels[choice.learns_from]
        elif choice.learns_from is not None:
            raise ConfigError(f"{where}: learns_from is for semi-informed attackers, not for {level.value}")
        if level.needs_training and choice.scorer == "cosine":
            raise ConfigError(f"{where}: {level.value} learns, and cosine cannot; use scorer: wccn or plda")
        found.append(Assault(label, level, choice, similar))
    return found


def key_of(study: Study, who: Who, draw: int = 1) -> Key:
    """Give the key by which someone draws pseudo-voices; no two of them share one, and no two draws do."""
    if draw > 1:
        return key_of(study, who).child(str(draw))
    owner = Key.from_seed(study.seed).child("study", "owner")
    attacker = Key.from_seed(study.seed).child("study", "attacker")
    system = Key.from_seed(study.seed).child("study", "system")  # what all who know the system share
    keys = {"owner": owner, "attacker": attacker, "training": attacker.child("training"), "system": system}
    return keys.get(who) or attacker.child("calibration")
