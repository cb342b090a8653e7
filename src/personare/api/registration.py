"""Methods of one's own: classes that join the tables of anonymizers, embedders, scorers, listeners and measures.

A name registered here is known to this program and to the workers it starts. Others join by an entry point of an
installed package (``personare.anonymizers`` and so on), or are named by where they lie, ``module:Class``.
"""

from __future__ import annotations


def register_anonymizer(name: str, cls: type) -> None:
    """Make an anonymizer of one's own known by a name, as if it were built in."""
    from personare.anonymizers import ANONYMIZERS

    ANONYMIZERS.register(name, cls)


def register_embedder(name: str, cls: type) -> None:
    """Make an embedder of one's own known by a name."""
    from personare.attackers import EMBEDDERS

    EMBEDDERS.register(name, cls)


def register_scorer(name: str, cls: type) -> None:
    """Make a scorer of one's own known by a name."""
    from personare.attackers import SCORERS

    SCORERS.register(name, cls)


def register_listener(name: str, cls: type) -> None:
    """Make a listener of one's own known by a name."""
    from personare.listeners import LISTENERS

    LISTENERS.register(name, cls)


def register_metric(name: str, cls: type) -> None:
    """Make a measure of one's own known by a name; studies then know the metrics it gives."""
    from personare.pipeline.measures import MEASURES

    MEASURES.register(name, cls)
