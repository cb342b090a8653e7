"""What a method needs besides personare itself: libraries of an extra and fetched models, checked before any work."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field

from personare.core.errors import MissingExtraError
from personare.core.weights import files_of


@dataclass(frozen=True)
class Requirements:
    """Libraries and models that must be there before work begins.

    Parameters
    ----------
    needed_for : what asks for them, in the words of an error line, e.g. ``"the listener 'pesq'"``.
    libraries : library -> the extra that brings it.
    models : names out of ``personare models list``.
    """

    needed_for: str = ""
    libraries: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise one line for the first library that is not installed or model that is not fetched.

        >>> Requirements("this example", {"no_such_library": "quality"}).check()
        Traceback (most recent call last):
            ...
        personare.core.errors.MissingExtraError: this example needs the extra 'quality'; install it with: \
pip install '.[quality]' (in the source folder of personare)
        """
        for library, extra in self.libraries.items():
            if importlib.util.find_spec(library) is None:
                raise MissingExtraError(extra, self.needed_for)
        for model in self.models:
            files_of(model)
