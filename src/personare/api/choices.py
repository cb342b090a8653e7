"""What a voice can be hidden by: the strengths, and the methods that can be chosen by their name."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


def strengths() -> list[dict[str, Any]]:
    """List the strengths, weakest first: what each means, what it costs, and which of its models are not fetched.

    >>> [one["name"] for one in strengths()]
    ['fast', 'balanced', 'strong']
    """
    from personare.anonymizers.presets import PRESETS

    names = ("name", "method", "meaning", "attacker_errs", "words_wrong", "languages", "missing")
    return [{name: getattr(preset, name) for name in names} for preset in PRESETS.values()]


def methods() -> list[dict[str, Any]]:
    """List the methods that need no parameters: what each does, what it still needs, and which strength it is.

    >>> {one["name"]: one["strength"] for one in methods()}["cascade"]
    'balanced'
    """
    from personare.anonymizers.offered import offered_methods

    return [asdict(method) for method in offered_methods()]


def paper_systems() -> list[dict[str, Any]]:
    """List the systems of papers that can be built here, by their names there: what each is, and what it still needs.

    >>> {one["name"]: one["method"] for one in paper_systems()}["D1"]
    'mcadams alpha=0.8 radius=0.975'
    """
    from personare.anonymizers.offered import needs
    from personare.anonymizers.papers import PAPERS

    return [
        {
            "name": row.name,
            "summary": f"{row.typed}. Differs from the original: {row.deviations}.",
            "needs": needs(row.name),
            "strength": "",
            "method": row.typed,
            "paper": f"{row.paper}, {row.section}",
        }
        for row in PAPERS.values()
        if not row.missing
    ]


def language_models(code: str) -> tuple[str, ...]:
    """Name the models that ``balanced`` and ``strong`` need for speech in a language, in the order of the model index.

    >>> "kokoro" in language_models("fr")
    True
    """
    from personare.anonymizers import models_needed
    from personare.anonymizers.presets import PRESETS
    from personare.core.carriers import WEIGHTS
    from personare.core.errors import ConfigError
    from personare.core.language_codes import language_title

    speaking = [preset for preset in PRESETS.values() if code in preset.languages]
    if not speaking:
        raise ConfigError(
            f"no strength speaks {language_title(code)}; personare languages lists those that are spoken, and fast "
            "works in any language without models"
        )
    given: tuple[dict[str, str], ...] = ({"language": code}, {})  # said by the user, or identified
    needed = {
        name for one in speaking for also in given for name in models_needed(one.method, {**one.parameters, **also})
    }
    return tuple(name for name in WEIGHTS if name in needed)


def languages() -> list[dict[str, Any]]:
    """List the languages that can be spoken: status, strengths, recognizer, voices, models and figures of each.

    ``spoken_by`` names the voice of cascade that speaks the language in each strength; ``voices`` are Kokoro's that
    were chosen for it.

    >>> {one["code"]: one["status"] for one in languages()}["en"]
    'measured'
    """
    from personare.anonymizers.presets import PRESETS
    from personare.core.carriers import WEIGHTS
    from personare.core.weights import missing
    from personare.languages import LANGUAGES

    rows = []
    for row in LANGUAGES.values():
        strengths = [one.name for one in PRESETS.values() if row.code in one.languages]
        models = language_models(row.code) if strengths else ()
        spoken_by = {name: PRESETS[name].voice_by_language[row.code] for name in strengths}
        rows.append(
            {
                "code": row.code,
                "name": row.name,
                "status": row.status,
                "strengths": strengths,
                "spoken_by": spoken_by,
                "recognizer": row.recognizer,
                "voices": list(row.voices),
                "entity_model": row.entity_model,
                "models": list(models),
                "download_mb": sum(WEIGHTS[name].size_mb for name in models),
                "missing": missing(*models),
                "figures": dict(row.figures),
                "examples": list(row.examples),
            }
        )
    return rows
