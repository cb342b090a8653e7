"""Who is learnt from, who is enrolled, who is tested: rules that give every utterance of a corpus at most one role.

train, calibration   other people: attackers learn from the first, and set their scale on the second
enrolment, trial     the attacked people: what the attacker has of them, and what the attacker hears

Rules for the attacked: ``auto`` (the lists of the corpus where there are some, else halves), ``halves`` (each speaker's
utterances dealt, the larger half enrolled), ``count`` (so many are enrolled), ``sets`` (A and B of vauquier2025legal,
section 3.1: everybody in B is in A with other utterances; A is enrolled, B is the trial, and for Singling Out the other
way round), ``lists`` (VoicePrivacy's enrolls and trials), ``trial`` (nothing is enrolled), ``train`` (nobody is
attacked).
Deviations: the paper does not say how a speaker's speech is shared between A and B; here by ``min_speech``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from personare.core.audio import probe
from personare.core.errors import CorpusError, did_you_mean
from personare.core.seeding import Key, rng_for
from personare.pipeline.study import CorpusChoice

ENROLMENT, TRIAL, TRAIN = "enrolment", "trial", "train"
CALIBRATION = ("calibration enrolment", "calibration trial")
ROLES = (ENROLMENT, TRIAL, TRAIN, *CALIBRATION)


def with_roles(frame: pl.DataFrame, choice: CorpusChoice, key: Key) -> tuple[pl.DataFrame, list[str]]:
    """Give the utterances that have a role, in the column ``role``, sorted; and notes on what was left out."""
    frame = frame.sort("utterance")
    if not choice.is_attacked:
        named = choice.parts.named("train") if choice.parts is not None else ()
        if named and "part" not in frame.columns:
            raise CorpusError("parts names a part of the corpus, and it has no column 'part'; leave parts out")
        learnt_from = frame.filter(pl.col("part").is_in(named)) if named else frame
        return _limited(learnt_from, choice, key).with_columns(pl.lit(TRAIN).alias("role")), []
    groups = _by_part(frame, choice) if choice.parts is not None else _by_number(frame, choice, key)
    notes: list[str] = []
    roles: dict[str, str] = {}
    for name, part in groups.items():
        part = _limited(part, choice, key)
        if name == "train":
            roles |= dict.fromkeys(part["utterance"].to_list(), TRAIN)
        elif name == "calibration":
            first, rest = _halves(part, key)
            roles |= dict.fromkeys(first, CALIBRATION[0]) | dict.fromkeys(rest, CALIBRATION[1])
        elif name in (ENROLMENT, TRIAL):
            roles |= dict.fromkeys(part["utterance"].to_list(), name)
        else:
            enroll, trial = _dealt(part, choice, key)
            roles |= dict.fromkeys(enroll, ENROLMENT) | dict.fromkeys(trial, TRIAL)
    if choice.on_one_side == "drop":
        notes += _dropped(frame, roles)
    given = pl.Series("role", [roles.get(u) for u in frame["utterance"]], dtype=pl.String)
    frame = (frame.drop("role") if "role" in frame.columns else frame).with_columns(given)
    unused = int(given.is_null().sum())
    if unused:
        notes.append(f"{unused} of {len(frame)} utterances have no role and are not used")
    return frame.filter(pl.col("role").is_not_null()), notes


def _dropped(frame: pl.DataFrame, roles: dict[str, str]) -> Iterator[str]:
    """Take the roles of people who are only enrolled or only tested away."""
    given = pl.Series("role", [roles.get(u) for u in frame["utterance"]], dtype=pl.String)
    both = one_sided(frame.with_columns(given))
    alone = {*both[0], *both[1]}
    for utterance, speaker in frame.select("utterance", "speaker").iter_rows():
        if speaker in alone:
            roles.pop(utterance, None)
    if alone:
        first = f"first: '{min(alone)}'"
        yield f"{len(alone)} speakers have too few utterances to be enrolled and tested; they are left out ({first})"


def one_sided(frame: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Name the attacked speakers who are only enrolled, and those who are only tested."""
    enrolled, tested = (set(frame.filter(pl.col("role") == role)["speaker"].to_list()) for role in (ENROLMENT, TRIAL))
    return sorted(enrolled - tested), sorted(tested - enrolled)


def _by_part(frame: pl.DataFrame, choice: CorpusChoice) -> dict[str, pl.DataFrame]:
    """Group by the ``part`` column; whoever is named nowhere is left out, unless nobody is named as attacked."""
    assert choice.parts is not None
    known = sorted(frame["part"].drop_nulls().unique().to_list()) if "part" in frame.columns else []
    groups: dict[str, pl.DataFrame] = {}
    named: list[str] = []
    for role in ("train", "calibration", "attacked", ENROLMENT, TRIAL):
        parts = choice.parts.named(role)
        for part in parts:
            if part not in known:
                raise CorpusError(f"the corpus has no part '{part}' (for {role}); {did_you_mean(part, known)}")
        if parts:
            groups[role] = frame.filter(pl.col("part").is_in(list(parts)))
            named += parts
    if not {"attacked", ENROLMENT, TRIAL} & set(groups):
        groups["attacked"] = frame.filter(~pl.col("part").is_in(named).fill_null(False))
    return groups


def _by_number(frame: pl.DataFrame, choice: CorpusChoice, key: Key) -> dict[str, pl.DataFrame]:
    """Set speakers aside by number or share, genders in turn, chosen by the seed."""
    order = list(_in_turn(frame, key))
    counts = [round(n * len(order)) if n < 1 else int(n) for n in (choice.train, choice.calibration)]
    if sum(counts) > len(order) - 2 and choice.split != "trial":
        rest = f", {sum(counts)} of them are set aside for train and calibration" if sum(counts) else ""
        people = "is 1 speaker" if len(order) == 1 else f"are {len(order)} speakers"
        raise CorpusError(f"there {people}{rest}; at least 2 must be left to be attacked")
    groups = {}
    for name, count in zip(("train", "calibration"), counts, strict=True):
        aside, order = order[:count], order[count:]
        if aside:
            groups[name] = frame.filter(pl.col("speaker").is_in(aside))
    groups["attacked"] = frame.filter(pl.col("speaker").is_in(order))
    return groups


def _in_turn(frame: pl.DataFrame, key: Key) -> Iterator[str]:
    """Name all speakers in an order of the seed, genders taking turns where they are known."""
    genders = dict(frame.select("speaker", "gender").iter_rows()) if "gender" in frame.columns else {}
    names = sorted(frame["speaker"].unique().to_list())
    shuffled = [names[i] for i in rng_for(key, "speakers").permutation(len(names))]
    queues = [
        [n for n in shuffled if (genders.get(n) or "") == g] for g in sorted({genders.get(n) or "" for n in names})
    ]
    for place in range(max(map(len, queues), default=0)):
        yield from (queue[place] for queue in queues if place < len(queue))


def _limited(part: pl.DataFrame, choice: CorpusChoice, key: Key) -> pl.DataFrame:
    """Keep at most so many speakers and so many utterances of each, chosen by the seed; invented voices are exact."""
    if choice.path is None:
        return part
    if choice.speakers is not None:
        part = part.filter(pl.col("speaker").is_in(list(_in_turn(part, key))[: choice.speakers]))
    if choice.utterances is None:
        return part
    kept = [u for _, ids in _each(part, key) for u in ids[: choice.utterances]]
    return part.filter(pl.col("utterance").is_in(kept))


def _each(part: pl.DataFrame, key: Key) -> Iterator[tuple[str, list[str]]]:
    """Give every speaker's utterances in an order of the seed."""
    for (speaker,), own in part.sort("utterance").group_by(["speaker"], maintain_order=True):
        ids = own["utterance"].to_list()
        yield str(speaker), [ids[i] for i in rng_for(key, "split", str(speaker)).permutation(len(ids))]


def _dealt(part: pl.DataFrame, choice: CorpusChoice, key: Key) -> tuple[list[str], list[str]]:
    if choice.split == "lists":
        return _listed(part)
    if choice.split == "sets":
        return _sets(part, choice, key)
    if choice.split == "trial":
        return [], part["utterance"].to_list()
    if choice.split == "count":
        enrolled = choice.enrolment or 1
        dealt = [(ids[:enrolled], ids[enrolled:]) for _, ids in _each(part, key)]
        return [u for one, _ in dealt for u in one], [u for _, two in dealt for u in two]
    return _halves(part, key)


def _halves(part: pl.DataFrame, key: Key) -> tuple[list[str], list[str]]:
    """Deal each speaker's utterances, the larger half first."""
    dealt = [(ids[: (len(ids) + 1) // 2], ids[(len(ids) + 1) // 2 :]) for _, ids in _each(part, key)]
    return [u for one, _ in dealt for u in one], [u for _, two in dealt for u in two]


def _listed(part: pl.DataFrame) -> tuple[list[str], list[str]]:
    if "role" not in part.columns:
        raise CorpusError("split: lists needs a VoicePrivacy data directory with enrolls and trials; this has none")
    return tuple(part.filter(pl.col("role") == r)["utterance"].to_list() for r in ("enroll", "test"))  # type: ignore[return-value]


def _sets(part: pl.DataFrame, choice: CorpusChoice, key: Key) -> tuple[list[str], list[str]]:
    """Share each speaker's speech between A and B; who has enough for A only is in A only, who has less is nowhere."""
    amount = dict(zip(part["utterance"], _amounts(part, choice), strict=True))
    least_a, least_b = choice.min_speech
    a: list[str] = []
    b: list[str] = []
    for _, ids in _each(part, key):
        upto = np.cumsum([amount[u] for u in ids])
        if upto[-1] < least_a:
            continue
        share = upto[-1] * least_a / (least_a + least_b) if upto[-1] >= least_a + least_b else upto[-1]
        cut = int(np.searchsorted(upto, max(share, least_a) - 1e-9)) + 1
        rest = ids[cut:]
        enough = sum(amount[u] for u in rest) >= least_b
        a += ids[:cut] if enough else ids
        b += rest if enough else []
    return a, b


def _amounts(part: pl.DataFrame, choice: CorpusChoice) -> Sequence[float]:
    """How much each utterance counts: one, or its seconds from the table, else from the file's header."""
    if choice.unit == "utterances":
        return [1.0] * len(part)
    if choice.path is None:
        raise CorpusError("unit: seconds is for recordings; invented voices are counted in utterances")
    found = []
    for row in part.iter_rows(named=True):
        known = row.get("duration_s")
        if known is None and row.get("end_s") is not None:
            known = row["end_s"] - (row.get("start_s") or 0.0)
        found.append(float(known if known is not None else probe(Path(row["audio"])).duration_s))
    return found
