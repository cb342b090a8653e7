"""personare lookup: who is behind a token, for whoever holds the key; a person's right of access."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from personare.cli import show
from personare.cli.anonymize import SPEAKER_FROM_HELP

if TYPE_CHECKING:
    from personare.pipeline.jobs.lookup import Match


def lookup(
    name: str = typer.Argument(..., metavar="TOKEN", help="A token, an anonymized file, or an original's name."),
    place: Path = typer.Argument(..., metavar="SRC", help="The originals (with --key), or DST or DST-private."),
    key: Path | None = typer.Option(None, metavar="FILE", help="The secret key.  [DST-private/key]"),
    level: str | None = typer.Option(None, help="'speaker' or 'utterance', as it was made; noted in DST-private."),
    layout: str | None = typer.Option(None, help="Layout of SRC, where several fit; noted in DST-private."),
    speaker_from: str | None = typer.Option(None, "--speaker-from", metavar="RULE", help=SPEAKER_FROM_HELP),
    as_json: bool = show.JSON,
) -> None:
    """Find the original behind a token, or the tokens of an original, with the key.

    A speaker's token gives all of their utterances. Nobody without the key can do this; nothing is stored for it.

    Examples:

        personare lookup 3f9a0c1b2d4e5f60 anonymous-private/

        personare lookup 3f9a0c1b2d4e5f60 --key secret.key recordings/

        personare lookup anna recordings/ --key secret.key --json
    """
    from personare.core.config import coerce
    from personare.corpora.problems import plain
    from personare.pipeline.jobs.lookup import look_up, originals_of

    chosen = None if level is None else coerce(level, Literal["speaker", "utterance"], where="--level")
    originals = originals_of(place, key_file=key, level=chosen, layout=layout, speaker_from=speaker_from)
    matches = look_up(name, originals)
    if as_json:
        show.json_object(
            {"asked": name, "source": str(originals.source)}, matches=[dataclasses.asdict(m) for m in matches]
        )
        return
    people: dict[tuple[str, str], list[Match]] = {(m.speaker, m.speaker_token): [] for m in matches}
    for match in matches:
        people[match.speaker, match.speaker_token].append(match)
    for (speaker, token), own in people.items():
        show.text(plain(f"speaker {speaker} = {token}"))
        for match in own:
            show.text(plain(f"  utterance {match.utterance} = {match.utterance_token}: {match.audio}"))
