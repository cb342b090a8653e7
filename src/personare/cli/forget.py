"""personare forget: remove what was kept of people's voices and words so that nothing was heard twice."""

from __future__ import annotations

import typer


def forget() -> None:
    """Remove speaker vectors and recognized words of all recordings from the cache folder.

    They are kept so that no recording is heard twice, and they are personal: a vector can recognise its speaker. Models
    and results stay; what is needed again is computed again.

    Example:

        personare forget
    """
    from personare.attackers.cache import forget as forget_vectors
    from personare.core import weights
    from personare.listeners.cache import forget as forget_observations

    vectors, observations = forget_vectors(), forget_observations()
    typer.echo(f"forgot {vectors} speaker vectors and {observations} observations of what was said ({weights.home()})")
