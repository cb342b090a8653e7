"""Who is learnt from, who judges, and who must be neither: trial speakers never enter a training.

The judges are other speakers of the training part, drawn from the seed. A speaker who also appears in another part of
the corpus, or among those named as attacked, ends the training before it begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from personare.attackers.split import refuse_known
from personare.attackers.training.clips import Clip, clips_of
from personare.core.errors import CorpusError, TrainingError, did_you_mean
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus

if TYPE_CHECKING:
    from personare.attackers.training.settings import HeldOut

FEWEST_LEARNT = 2


@dataclass(frozen=True)
class Division:
    """Utterances to learn from and utterances that judge, of different people; the judges' genders where known."""

    learn: tuple[Clip, ...]
    judge: tuple[Clip, ...]
    genders: Mapping[str, str | None] | None = None

    def __post_init__(self) -> None:
        refuse_known((clip.speaker for clip in self.learn), (clip.speaker for clip in self.judge))


def divide(
    corpus: Corpus, held_out: HeldOut, *, key: Key, part: str | None = None, attacked: Iterable[str] = ()
) -> Division:
    """Divide one part of a corpus; ``attacked`` are the speakers of the trials to come, wherever those are."""
    frame, others = part_of(corpus.frame, part)
    everyone = sorted(frame["speaker"].unique().to_list())
    refuse_known(everyone, {*attacked, *others})
    judges = _judges(frame, everyone, held_out, key)
    judging = pl.col("speaker").is_in(judges)
    few = frame.filter(judging).sort("utterance").group_by("speaker", maintain_order=True).head(held_out.utterances)
    genders = dict(few.select("speaker", "gender").iter_rows()) if "gender" in few.columns else None
    return Division(tuple(clips_of(Corpus(frame.filter(~judging)))), tuple(clips_of(Corpus(few))), _useful(genders))


def part_of(frame: pl.DataFrame, part: str | None) -> tuple[pl.DataFrame, set[str]]:
    """Give the rows of a part, and everyone who speaks in the other parts."""
    parts = sorted(frame["part"].drop_nulls().unique().to_list()) if "part" in frame.columns else []
    if part is None:
        if len(parts) > 1:
            raise CorpusError(f"the corpus has the parts {', '.join(parts)}; say which to learn from with --part")
        return frame, set()
    if part not in parts:
        raise CorpusError(f"the corpus has no part '{part}'; {did_you_mean(part, parts)}")
    chosen = (pl.col("part") == part).fill_null(False)
    return frame.filter(chosen), set(frame.filter(~chosen)["speaker"].to_list())


def _judges(frame: pl.DataFrame, everyone: list[str], held_out: HeldOut, key: Key) -> list[str]:
    counted = frame.group_by("speaker").len().filter(pl.col("len") > 1)
    able = sorted(counted["speaker"].to_list())
    if len(able) < held_out.speakers or len(everyone) < held_out.speakers + FEWEST_LEARNT:
        need = f"{held_out.speakers} speakers with 2 utterances to judge and {FEWEST_LEARNT} to learn from"
        raise TrainingError(f"a training needs {need}; here are {len(everyone)} (lower held_out.speakers)")
    drawn = rng_for(key, "held out").choice(len(able), size=held_out.speakers, replace=False)
    return sorted(able[i] for i in drawn)


def _useful(genders: Mapping[str, str | None] | None) -> Mapping[str, str | None] | None:
    """Keep trials within a gender only where some gender has two judges, else nobody would meet a stranger."""
    if genders is None:
        return None
    found = list(genders.values())
    return genders if any(found.count(gender) > 1 for gender in set(found)) else None
