"""Presets: three strengths in one table, so that nobody must know a method's name to hide a voice well.

The figures are those of docs/reference/anonymizers (benchmarks/attack_table.py prints them): the lowest EER of all
attackers that were played (50 % is guessing), on held-out speakers of speechocean762, from one utterance; and how many
words a recognizer gets wrong, on held-out speakers of LibriSpeech. ``measured_with`` names the method and version that
they were measured with. The table is the one place to change when a stronger method joins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from personare.anonymizers import anonymizer, models_needed
from personare.core.errors import UnknownNameError, did_you_mean
from personare.core.weights import missing


@dataclass(frozen=True)
class Preset:
    """A strength: which method with which parameters, and what it means in plain words.

    Parameters
    ----------
    attacker_errs : the lowest EER in percent of all attackers that were run; 50 is guessing, None is not measured.
    words_wrong : word error rate in percent, of audiobooks; None is not measured.
    measured_with : the method, its version and settings that both figures belong to.
    """

    name: str
    method: str
    meaning: str
    attacker_errs: float | None
    words_wrong: float | None
    measured_with: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> tuple[str, ...]:
        """The models it needs for English, out of ``personare models list``."""
        return models_needed(self.method, self.parameters)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages it speaks; empty where it works in any language."""
        return tuple(getattr(anonymizer(self.method, **self.parameters), "spoken", ()))

    @property
    def voice_by_language(self) -> dict[str, str]:
        """The voice that speaks each language; empty where it works in any language."""
        return dict(getattr(anonymizer(self.method, **self.parameters), "voice_by_language", {}))

    @property
    def label(self) -> str:
        """The method and its parameters, as one would type them.

        >>> PRESETS["strong"].label
        'cascade gender=any'
        """
        return " ".join([self.method, *(f"{name}={value}" for name, value in self.parameters.items())])

    @property
    def missing(self) -> list[str]:
        """Those of its models that are not fetched."""
        return missing(*self.models)


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "fast",
            "mcadams",
            "quick, also live; an attacker who knows the method re-identifies everybody",
            0.6,
            8.0,
            "mcadams, version 1",
        ),
        Preset(
            "balanced",
            "cascade",
            "transcribes the speech, and a neural voice speaks the words; the usual choice",
            36.9,
            7.3,
            "cascade, version 6, with the voice neural, English",
        ),
        Preset(
            "strong",
            "cascade",
            "transcribes the speech, and a neural voice of any gender speaks the words",
            None,
            None,
            "not measured on these people with gender=any; on all 80 in an earlier version: explain/neural-voice",
            {"gender": "any"},
        ),
    )
}
UNPROTECTED = {"attacker_errs": 0.1, "words_wrong": 6.2}  # of the same people, before
USUAL = ("balanced", "fast")  # the first whose models are there is taken where nobody says a method


def preset(name: str) -> Preset:
    """Give a preset by name."""
    if name not in PRESETS:
        raise UnknownNameError(f"no strength '{name}'; {did_you_mean(name, PRESETS)}")
    return PRESETS[name]


def usual() -> tuple[Preset, str]:
    """Give the best usual preset whose models are there, and the line that says how to get a better one ("": none)."""
    best = PRESETS[USUAL[0]]
    chosen = next((PRESETS[name] for name in USUAL if not PRESETS[name].missing), PRESETS[USUAL[-1]])
    if chosen is best:
        return chosen, ""
    need = " ".join(best.missing)
    return chosen, (
        f"using '{chosen.name}' ({chosen.label}), which is weak against an informed attacker; for '{best.name}' "
        f"({best.label}) run: personare models fetch {need}"
    )
