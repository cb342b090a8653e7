"""Other people's layouts become one Corpus: one file per layout, detected by evidence and never guessed in silence."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from personare.core.catalog import Catalog
from personare.core.errors import CorpusError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from personare.core.tables import Corpus, Trials
    from personare.corpora.gathering import PartsReading, Reading

BUILTIN = {
    "manifest": "personare.corpora.manifest:Manifest",
    "kaldi": "personare.corpora.kaldi:Kaldi",
    "librispeech": "personare.corpora.librispeech:LibriSpeech",
    "vctk": "personare.corpora.vctk:Vctk",
    "commonvoice": "personare.corpora.commonvoice:CommonVoice",
    "voxceleb": "personare.corpora.voxceleb:VoxCeleb",
    "hub": "personare.corpora.hub:Hub",
    "lhotse": "personare.corpora.lhotse:Lhotse",
    "folders": "personare.corpora.folders:FolderPerSpeaker",
}
WRITERS = {
    "kaldi": "personare.corpora.kaldi_writing:write_kaldi",
    "parquet": "personare.corpora.manifest:write_manifest",
}
LAYOUTS = Catalog("layout", BUILTIN)
# Nearly every layout contains folders with audio inside: these match only where no other layout does.
LAST = ("folders",)
FOLDERS_LOOKED_INTO = 20


class Layout(Protocol):
    """A way to lay out a corpus; a frozen dataclass whose fields are its choices."""

    @property
    def looks_for(self) -> str:
        """What gives this layout away, for messages."""
        ...

    def detects(self, path: Path) -> str | None:
        """Give the evidence that ``path`` is of this layout, or None; cheap, reads no audio."""
        ...

    def read(self, path: Path) -> Reading:
        """Read everything at ``path``."""
        ...


class Writer(Protocol):
    """Writes the lists of a corpus into a new folder; audio is named by its path and not copied."""

    def __call__(self, corpus: Corpus, folder: Path, *, trials: Trials | None = None) -> None:
        """Write; a folder with something in it is refused."""
        ...


def layout_named(name: str, /, **parameters: Any) -> Layout:
    """Make a layout by name; unknown names and parameters are errors with a suggestion."""
    return cast(Layout, LAYOUTS.make(name, **parameters))


def check_place(path: Path) -> None:
    """Refuse a path where no corpus can be: nothing is there, or a pipe or a device."""
    if not path.exists():
        raise CorpusError(f"{path}: no such file or folder")
    if not (path.is_file() or path.is_dir()):
        raise CorpusError(
            f"{path}: is neither a regular file nor a folder (a pipe or a device); copy it into a file first"
        )


def read_corpus(
    path: Path,
    *,
    layout: str | None = None,
    speaker_from: str | None = None,
    person_channels: bool = False,
    follow_links: bool = False,
    **parameters: Any,
) -> Reading:
    """Read the corpus at ``path``; the layout is detected unless named.

    ``speaker_from`` reads any folder of recordings instead, speakers by a rule (see ``corpora.speaker_from``).
    ``person_channels`` takes recordings in which each channel is another person; most commands cannot.
    ``follow_links`` reads what links of the corpus take from outside it; else they are named and left out.

    Exactly one layout must give evidence. ``folders`` counts only where no other layout does, because nearly every
    layout contains folders with audio inside. None, or several, is an error that says what to do.
    """
    check_place(path)
    from personare.corpora.walking import links_kept_within

    with links_kept_within(None if follow_links else path):
        if speaker_from is not None:
            from personare.corpora.speaker_from import read_speaker_from

            if layout is not None:
                either = "leave out --layout, or --speaker-from"
                raise CorpusError(f"--speaker-from reads any folder of recordings: {either}")
            reading = read_speaker_from(path, speaker_from)
        else:
            reading = layout_named(layout if layout is not None else detect(path)[0], **parameters).read(path)
    if not person_channels:
        from personare.corpora.gathering import refuse_person_channels

        refuse_person_channels(reading.corpus.frame, str(path))
    return reading


@contextlib.contextmanager
def read_in_parts(
    path: Path,
    *,
    layout: str | None = None,
    speaker_from: str | None = None,
    fetched: bool = False,
    follow_links: bool = False,
) -> Iterator[PartsReading]:
    """Read the corpus at ``path`` for work that goes through it row by row; what is kept for it is removed at the end.

    A manifest is read some rows at a time, whatever its size, and other layouts whole. ``fetched``: a table of
    utterances whose audio lies on another file system. Channels may be several people.
    """
    from personare.core.corpus_parts import in_parts
    from personare.corpora.gathering import PartsReading
    from personare.corpora.manifest import Manifest, read_listed
    from personare.corpora.walking import links_kept_within

    how: dict[str, Any] = {"layout": layout, "speaker_from": speaker_from, "follow_links": follow_links}
    if fetched:
        reading = read_listed(path)
    elif speaker_from is None and path.exists() and (layout or detect(path)[0]) == "manifest":
        with links_kept_within(None if follow_links else path):
            reading = Manifest().read_parts(path)
    else:
        whole = read_corpus(path, **how, person_channels=True)
        reading = PartsReading(in_parts(whole.corpus), whole.layout, whole.evidence, whole.problems, whole.notes)
    with contextlib.closing(reading.corpus):
        yield reading


def detect(path: Path) -> tuple[str, str]:
    """Find the one layout of ``path``: its name and the evidence for it."""
    check_place(path)
    seen = evidence_of(path)
    if len(seen) > 1:
        several = " and ".join(f"'{name}' ({why})" for name, why in seen.items())
        raise CorpusError(f"{path}: could be {several}; choose with --layout {' or --layout '.join(seen)}")
    if not seen or set(seen) <= set(LAST):
        _refuse_folder_of_corpora(path)
    if not seen and _loose_audio(path):
        rule = "--speaker-from file, channel, or a pattern such as {speaker}_{rest}"
        raise CorpusError(f"{path}: no known layout, audio files lie in it directly; say who speaks: {rule}")
    if not seen:
        looked_for = "; ".join(f"{name}: {layout_named(name).looks_for}" for name in LAYOUTS.names())
        raise CorpusError(f"{path}: no known layout; looked for {looked_for}")
    return next(iter(seen.items()))


def _refuse_folder_of_corpora(path: Path) -> None:
    """Refuse a folder whose folders are corpora themselves: read as speakers, they would make no sense."""
    from personare.corpora.walking import folders_in

    for name in folders_in(path)[:FOLDERS_LOOKED_INTO]:
        seen = {layout: why for layout, why in evidence_of(path / name).items() if layout not in LAST}
        if seen:
            layout, why = next(iter(seen.items()))
            inner = f"{path / name} is ('{layout}': {why})"
            raise CorpusError(f"{path}: is no corpus itself, but {inner}; name that folder, or use --layout folders")


def _loose_audio(path: Path) -> bool:
    """Whether audio lies in a folder directly, in no order."""
    from personare.core.audio import AUDIO_SUFFIXES, MEDIA_SUFFIXES

    kinds = AUDIO_SUFFIXES | MEDIA_SUFFIXES
    try:
        return path.is_dir() and any(p.suffix.lower() in kinds for p in path.iterdir())
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from None


def writer_named(name: str) -> Writer:
    """Give the function that writes a layout: ``write(corpus, folder, trials=None)``, into a new folder only."""
    if name not in WRITERS:
        raise UnknownNameError(f"no layout '{name}' to write; {did_you_mean(name, WRITERS)}")
    module, _, function = WRITERS[name].partition(":")
    return cast(Writer, getattr(importlib.import_module(module), function))


def _evidence(name: str, path: Path) -> str | None:
    """Ask one layout; a folder that may not be looked into gives none."""
    try:
        return layout_named(name).detects(path)
    except PermissionError:
        return None


def evidence_of(path: Path) -> dict[str, str]:
    """Ask every layout for its evidence; the last ones only when the others have none."""
    first = [name for name in LAYOUTS.names() if name not in LAST]
    for names in (first, LAST):
        answers = {name: _evidence(name, path) for name in names}
        seen = {name: why for name, why in answers.items() if why is not None}
        if seen:
            return seen
    return {}
