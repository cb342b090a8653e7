"""Who is trained on, who is held out, and who must be neither: trial speakers never enter a training.

The held-out speakers are others of the training part, drawn from the seed. A speaker who also appears in another part
of the corpus, or among those named as attacked, ends the training before it begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from personare.core.errors import CorpusError, TrainingError, did_you_mean
from personare.core.seeding import Key, rng_for
from personare.core.speakers import refuse_overlap
from personare.core.tables import Corpus
from personare.training.embedder.utterances import TrainingUtterance, utterances_of

if TYPE_CHECKING:
    from personare.training.embedder.settings import EmbedderHeldOut

MIN_TRAINED = 2


@dataclass(frozen=True)
class SpeakerSplit:
    """Utterances to train on and utterances to validate on, of different speakers; the latter's genders where known."""

    train: tuple[TrainingUtterance, ...]
    held_out: tuple[TrainingUtterance, ...]
    genders: Mapping[str, str | None] | None = None

    def __post_init__(self) -> None:
        refuse_overlap((item.speaker for item in self.train), (item.speaker for item in self.held_out))


def split_speakers(
    corpus: Corpus, held_out: EmbedderHeldOut, *, key: Key, part: str | None = None, attacked: Iterable[str] = ()
) -> SpeakerSplit:
    """Split one part of a corpus; ``attacked`` are the speakers of the trials to come, wherever those are."""
    frame, others = part_of(corpus.frame, part)
    everyone = sorted(frame["speaker"].unique().to_list())
    refuse_overlap(everyone, {*attacked, *others})
    is_held_out = pl.col("speaker").is_in(_drawn(frame, everyone, held_out, key))
    few = frame.filter(is_held_out).sort("utterance").group_by("speaker", maintain_order=True).head(held_out.utterances)
    genders = dict(few.select("speaker", "gender").iter_rows()) if "gender" in few.columns else None
    trained, kept_out = (tuple(utterances_of(Corpus(rows))) for rows in (frame.filter(~is_held_out), few))
    return SpeakerSplit(trained, kept_out, _paired_genders(genders))


def part_of(frame: pl.DataFrame, part: str | None) -> tuple[pl.DataFrame, set[str]]:
    """Give the rows of a part, and everyone who speaks in the other parts."""
    parts = sorted(frame["part"].drop_nulls().unique().to_list()) if "part" in frame.columns else []
    if part is None:
        if len(parts) > 1:
            raise CorpusError(f"the corpus has the parts {', '.join(parts)}; say which to train on with --part")
        return frame, set()
    if part not in parts:
        raise CorpusError(f"the corpus has no part '{part}'; {did_you_mean(part, parts)}")
    in_part = (pl.col("part") == part).fill_null(False)
    return frame.filter(in_part), set(frame.filter(~in_part)["speaker"].to_list())


def _drawn(frame: pl.DataFrame, everyone: list[str], held_out: EmbedderHeldOut, key: Key) -> list[str]:
    """Draw the held-out speakers among those with two utterances."""
    counted = frame.group_by("speaker").len().filter(pl.col("len") > 1)
    able = sorted(counted["speaker"].to_list())
    if len(able) < held_out.speakers or len(everyone) < held_out.speakers + MIN_TRAINED:
        need = f"{held_out.speakers} speakers with 2 utterances to hold out and {MIN_TRAINED} to train on"
        raise TrainingError(f"a training needs {need}; here are {len(everyone)} (lower held_out.speakers)")
    drawn = rng_for(key, "held out").choice(len(able), size=held_out.speakers, replace=False)
    return sorted(able[i] for i in drawn)


def _paired_genders(genders: Mapping[str, str | None] | None) -> Mapping[str, str | None] | None:
    """Keep trials within a gender only where some gender has two speakers, else there would be no nontarget trial."""
    if genders is None:
        return None
    values = list(genders.values())
    return genders if any(values.count(gender) > 1 for gender in set(values)) else None
