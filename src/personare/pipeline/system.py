"""A system: an anonymizer with its settings, as typed and as built; known by its fingerprint wherever systems compare.

The card in an anonymized folder (``anonymization.json``) and the attacker's knowledge are both about a system. Two
systems are the same when their fingerprints are, however they were typed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from personare.anonymizers import ANONYMIZERS
from personare.anonymizers.former_names import present_names
from personare.core.audio import Audio
from personare.core.errors import ConfigError, PersonareError, RejectedSpeechError
from personare.core.fingerprint import SystemIdentity, fingerprint
from personare.core.language_codes import language_title
from personare.core.protocols import Anonymizer
from personare.core.seeding import Key, token_for
from personare.pseudospeakers import PSEUDOSPEAKERS
from personare.pseudospeakers.generator import PseudoSpeakerGenerator

CARD = "anonymization.json"
LANGUAGE = "language"  # the parameter of methods that transcribe
Level = Literal["speaker", "utterance"]
Family = Literal["anonymizer", "pseudospeaker"]
_CATALOGS = {"anonymizer": ANONYMIZERS, "pseudospeaker": PSEUDOSPEAKERS}
_BUILT: dict[Any, Any] = {}
_MOST_BUILT = 32
_REHEARSED_VOICES = 16


@dataclass(frozen=True)
class System:
    """How voices are anonymized: what an informed attacker may know, and what the card of the folder says.

    Parameters
    ----------
    method : a name of the catalog, or ``module:Class``; ``parameters`` are its fields, as they were typed.
    level : one pseudo-speaker per speaker, or a new one for each utterance.
    family : ``pseudospeaker`` for a generator of speaker vectors, which makes no sound.
    recorded : of a system read from a card, the fingerprint written there ("": none was, the version is unknown).
    """

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    level: Level = "speaker"
    family: Family = "anonymizer"
    recorded: str | None = field(default=None, compare=False)

    def build(self) -> Anonymizer:
        """Make the anonymizer, once a process; unknown names and parameters are errors with a suggestion."""
        return cast(Anonymizer, self._built())

    def in_language(self, language: str | None) -> System:
        """Give the system for a recording whose ``language`` the corpus states; itself where nobody does.

        A language among the parameters overrides the corpus. Speech in a language that the method does not speak is
        refused; a method that does not transcribe works in any language.
        """
        if language is None or LANGUAGE in self.parameters or not self.transcribes:
            return self
        stated = replace(self, parameters={**self.parameters, LANGUAGE: language}, recorded=None)
        try:
            stated.build()
        except ConfigError as error:
            title = language_title(language)
            raise RejectedSpeechError(f"the corpus says that this is {title}: {error}", language=language) from None
        return stated

    @property
    def transcribes(self) -> bool:
        """Whether the method recognizes words, so that it must know their language."""
        return self.family == "anonymizer" and bool(getattr(ANONYMIZERS.load(self.method), "LANGUAGES", ()))

    def build_generator(self) -> PseudoSpeakerGenerator[Any]:
        """Make the generator of speaker vectors."""
        return cast("PseudoSpeakerGenerator[Any]", self._built())

    @property
    def present_fingerprint(self) -> str:
        """The identity of the method as it is here and now: class, version, parameters, models."""
        own = getattr(self._built(), "fingerprint", None)
        return own if isinstance(own, str) else fingerprint(self._built())

    @property
    def fingerprint(self) -> str:
        """The identity of the method: as its card records it, else as it is here and now."""
        return self.recorded or self.present_fingerprint

    @property
    def identity(self) -> SystemIdentity:
        """The fingerprint, with a name for messages."""
        return SystemIdentity(self.fingerprint, self.name)

    @property
    def present_identity(self) -> SystemIdentity:
        """The identity of what this program makes of the same settings."""
        return SystemIdentity(self.present_fingerprint, self.name)

    @property
    def name(self) -> str:
        """The method and its settings, as typed.

        >>> System("mcadams", {"alpha": [0.5, 0.9]}).name
        'mcadams (alpha = [0.5, 0.9])'
        """
        settings = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return f"{self.method}{f' ({settings})' if settings else ''}"

    def describe(self) -> str:
        """Write the system on one line.

        >>> System("mcadams", {"alpha": [0.5, 0.9]}).describe()
        'mcadams (alpha = [0.5, 0.9]) per speaker'
        """
        note = self.version_note
        return f"{self.name} per {self.level}{f', of {note}' if note else ''}"

    @property
    def version_note(self) -> str:
        """Of a system read from a card, what is not certain about its version; nothing where it is the one here.

        >>> System("mcadams", recorded="").version_note
        'an unknown version'
        """
        if self.recorded is None:
            return ""
        if not self.recorded:
            return "an unknown version"
        try:
            same = self.recorded == self.present_fingerprint
        except PersonareError:  # a plug-in that is not here, or a parameter that has another name now
            return "a version that is not here"
        return "" if same else "another version than the one here"

    def names_of(self, speaker: str, utterance: str) -> tuple[str, ...]:
        """The names that a pseudo-speaker is drawn for."""
        return (speaker,) if self.level == "speaker" else (speaker, utterance)

    def _built(self) -> object:
        catalog = _CATALOGS[self.family]
        try:
            settings = json.dumps(dict(self.parameters), sort_keys=True, default=_plain)
        except TypeError:  # settings that are objects: a program's own, which it may change
            return catalog.make(self.method, **self.parameters)
        key = (self.family, self.method, settings, self._classes())
        if key not in _BUILT:
            if len(_BUILT) >= _MOST_BUILT:
                _BUILT.clear()
            _BUILT[key] = catalog.make(self.method, **self.parameters)
        return _BUILT[key]

    def _classes(self) -> tuple[type, ...]:
        """The classes that the settings name, so that one that was defined again is built again."""
        catalog = _CATALOGS[self.family]
        known = {*catalog.builtin, *catalog.registered}
        return tuple(catalog.load(name) for name in sorted({self.method, *(_texts(self.parameters) & known)}))


def _plain(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no plain setting")


def _texts(value: object) -> set[str]:
    """Every text among settings, however deep: names of methods are some of them."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        return _texts(list(value.values()))
    return set().union(*(_texts(one) for one in value)) if isinstance(value, list | tuple) else set()


def tokens_of(key: Key, system: System, speaker: str, utterance: str) -> tuple[str, str]:
    """Give the new names of an utterance and its speaker; at utterance level no name says who belongs together."""
    return (
        utterance_token(key, speaker, utterance),
        token_for(key, "speaker", *system.names_of(speaker, utterance), digits=12),
    )


def utterance_token(key: Key, speaker: str, utterance: str) -> str:
    """Give the new name of an utterance."""
    return token_for(key, "utterance", speaker, utterance)


def key_token(key: Key) -> str:
    """Give a public token of a key: equal tokens mean equal pseudo-speakers, and nobody learns the key from it."""
    return token_for(key, "draw")


def rehearse(system: System) -> bool:
    """Anonymize a moment of noise twice: what is wrong or missing must fail before anything is written.

    Tells whether the method draws anything: if not, everybody gets the same change, and no key protects it.
    """
    noise = Audio(np.random.default_rng(0).normal(0.0, 0.1, 4000).astype(np.float32), 16_000)
    anonymize = system.build()
    once, again = (anonymize(noise, rng=np.random.default_rng(seed)).samples for seed in (1, 2))
    if not np.array_equal(once, again):
        return True
    steps = getattr(anonymize, "methods", (anonymize,))  # those of a chain
    tells = [
        step.voice_of for step in steps if hasattr(step, "voice_of")
    ]  # who speaks words has none to speak in noise
    seeds = range(_REHEARSED_VOICES)
    return any(len({voice_of(noise, rng=np.random.default_rng(seed)) for seed in seeds}) > 1 for voice_of in tells)


def read_system(folder: Path) -> System | None:
    """Read from an anonymized folder how it was made, in present names; None when another tool made it."""
    path = folder / CARD
    if not path.is_file():
        return None
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        recorded = str(card.get("fingerprint", ""))
        method, parameters = card["method"], card["parameters"]
        if "card" not in card:
            method, parameters = present_names(method, parameters)
        return System(method, parameters, card["level"], recorded=recorded)
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise ConfigError(f"{path}: not a card written by personare anonymize ({error})") from None
