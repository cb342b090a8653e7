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
