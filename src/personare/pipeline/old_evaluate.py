"""How well are these voices hidden? Three attackers listen to an anonymized corpus and say who speaks.

unprotected     enrolment and trial original: how well the attacker hears when nothing is hidden     [VPC 2020: oo]
ignorant        enrolment original, trial anonymized: does not know that voices were changed         [VPC 2020: oa]
lazy-informed   enrolment anonymized by the attacker with the same method but their own key, trial anonymized:
                knows the method, keeps the embedder that was trained on original speech             [VPC 2020: aa]

Enrolment and trial utterances are disjoint, and their pseudo-voices come from different keys, as the challenge demands.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from personare import __version__
from personare.attackers.trained import refuse_teachers
from personare.core.errors import CorpusError
from personare.core.findings import Finding
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus, Embeddings
from personare.engine import Engine
from personare.pipeline.hearing import Heard, HearWork, Sound, hear, nothing_heard
from personare.pipeline.jobs.guess_attributes import gender_notes
from personare.pipeline.old_attack import AttackOutcome, run_attack
from personare.pipeline.pairing import Pairs
from personare.pipeline.system import System

UNPROTECTED, IGNORANT, LAZY_INFORMED = "unprotected", "ignorant", "lazy-informed"
LENGTHS = (1, 3)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What was found: one outcome per attacker, what failed, what was left out, and how to repeat it."""

    outcomes: tuple[AttackOutcome, ...]
    failures: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    facts: dict[str, str]
    pairs: Pairs

    @property
    def findings(self) -> list[Finding]:
        """All findings, attacker by attacker."""
        return [finding for outcome in self.outcomes for finding in outcome.findings]


def split(frame: pl.DataFrame, key: Key) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """Deal each speaker's utterances into enrolment (the larger half) and trial; speakers with one are left out."""
    enroll: list[str] = []
    alone: list[str] = []
    for (speaker,), own in frame.sort("utterance").group_by(["speaker"], maintain_order=True):
        ids = own["utterance"].to_list()
        if len(ids) < 2:
            alone.append(str(speaker))
            continue
        order = rng_for(key, "split", str(speaker)).permutation(len(ids))
        enroll += [ids[i] for i in order[: (len(ids) + 1) // 2]]
    kept = frame.filter(~pl.col("speaker").is_in(alone))
    chosen = pl.col("utterance").is_in(enroll)
    return kept.filter(chosen), kept.filter(~chosen), sorted(alone)


def _sounds(frame: pl.DataFrame, column: str, *, disguised: bool = False) -> Iterator[Sound]:
    for row in frame.iter_rows(named=True):
        cut = column == "audio"  # anonymized files hold the utterance alone, originals may hold more
        start_s, end_s = (row.get("start_s") or 0.0, row.get("end_s")) if cut else (0.0, None)
        yield Sound(row["utterance"], row["speaker"], Path(row[column]), start_s, end_s, disguised)


def evaluate(
    pairs: Pairs,
    *,
    system: System | None,
    engine: Engine,
    embedder: str = "ecapa",
    seed: int = 1,
    lengths: Sequence[int] = LENGTHS,
    watch: Callable[[Any], None] = lambda _: None,
) -> Evaluation:
    """Let the attackers listen and count their successes.

    Parameters
    ----------
    system : how the corpus was anonymized; without it nobody can play the lazy-informed attacker, which is then noted.
    seed : chooses the split, the attacker's own key and the bootstrap; the same seed gives the same findings.
    """
    refuse_teachers(embedder, pairs.frame["speaker"])
    key = Key.from_seed(seed)
    enroll, trial, alone = split(pairs.frame, key)
    _check_enough(enroll, trial)
    _possible(trial["speaker"].to_list(), lengths)
    work = HearWork(embedder, system, key.child("attacker"))
    original = hear([*_sounds(enroll, "audio"), *_sounds(trial, "audio")], work, engine=engine, watch=watch)
    hidden = hear(list(_sounds(trial, "anonymized")), work, engine=engine, watch=watch)
    disguised = nothing_heard()
    if system is not None:
        disguised = hear(list(_sounds(enroll, "audio", disguised=True)), work, engine=engine, watch=watch)
    failures = (*original.failures, *hidden.failures, *disguised.failures)
    if not original.embeddings.ids or not hidden.embeddings.ids:
        raise CorpusError(f"nothing could be heard (first: {failures[0][0]}: {failures[0][1]})")
    used = _possible(hidden.embeddings.speakers, lengths)
    outcomes = _attacks(original, hidden, disguised, enroll, key=key, lengths=used)
    return Evaluation(
        outcomes,
        failures,
        tuple(_notes(pairs, alone, system, lengths, outcomes)),
        _facts(enroll, trial, embedder, system, seed),
        pairs,
    )


def how_many_sounds(pairs: Pairs, *, system: System | None, seed: int = 1) -> int:
    """Count what an evaluation will have to listen to, for progress bars."""
    enroll, trial, _ = split(pairs.frame, Key.from_seed(seed))
    return len(enroll) * (2 if system else 1) + 2 * len(trial)


def _check_enough(enroll: pl.DataFrame, trial: pl.DataFrame) -> None:
    speakers = enroll["speaker"].n_unique()
    if speakers < 2 or trial.is_empty():
        raise CorpusError(
            f"an evaluation needs at least 2 speakers with 2 anonymized utterances each; this corpus has {speakers}"
        )


def _possible(speakers: Sequence[str], lengths: Sequence[int]) -> list[int]:
    """Keep the lengths for which every speaker has enough trial utterances; ``speakers`` names one per utterance."""
    most = min(Counter(speakers).values())
    found = [length for length in lengths if length <= most]
    if not found:
        raise CorpusError(f"L = {min(lengths)} is not possible: some speaker has only {most} trial utterances")
    return found


def _attacks(
    original: Heard, hidden: Heard, disguised: Heard, enroll: pl.DataFrame, *, key: Key, lengths: Sequence[int]
) -> tuple[AttackOutcome, ...]:
    names = set(enroll["utterance"].to_list())
    known, unseen = _part(original.embeddings, names, inside=True), _part(original.embeddings, names, inside=False)
    genders = dict(enroll.select("speaker", "gender").iter_rows()) if "gender" in enroll.columns else {}
    unknown = [failure for failure in original.failures if failure[0] in names]
    plans: list[tuple[str, Embeddings, Embeddings, Sequence[Any]]] = [
        (UNPROTECTED, known, unseen, original.failures),
        (IGNORANT, known, hidden.embeddings, (*unknown, *hidden.failures)),
    ]
    if disguised.embeddings.ids:
        failures = (*hidden.failures, *disguised.failures)
        plans.append((LAZY_INFORMED, disguised.embeddings, hidden.embeddings, failures))
    return tuple(
        run_attack(name, _of(e, t), _of(t, e), genders=genders, lengths=lengths, key=key, failed=len(failures))
        for name, e, t, failures in plans
    )


def _part(embeddings: Embeddings, names: set[str], *, inside: bool) -> Embeddings:
    return _rows(embeddings, [i for i, name in enumerate(embeddings.ids) if (name in names) == inside])


def _of(embeddings: Embeddings, other: Embeddings) -> Embeddings:
    """Keep the speakers that the other side has too: after failures, one side may have lost somebody."""
    there = set(other.speakers)
    return _rows(embeddings, [i for i, speaker in enumerate(embeddings.speakers) if speaker in there])


def _rows(embeddings: Embeddings, rows: list[int]) -> Embeddings:
    ids, speakers = embeddings.ids, embeddings.speakers
    return Embeddings(tuple(ids[i] for i in rows), tuple(speakers[i] for i in rows), embeddings.vectors[rows])


def _notes(
    pairs: Pairs,
    alone: list[str],
    system: System | None,
    asked: Sequence[int],
    outcomes: Sequence[AttackOutcome],
) -> Iterator[str]:
    yield (
        "Measured: linkability (WP29 Opinion 05/2014, criterion 2) and EER, by voice only. "
        "Not measured here: singling out, inference, and what the words themselves give away."
    )
    yield from gender_notes(pairs.frame)
    if system is None:
        yield "The lazy-informed attacker was not played: the method is unknown (no anonymization.json in the folder)."
    elif LAZY_INFORMED not in {outcome.attacker for outcome in outcomes}:
        yield "The lazy-informed attacker could not be played: every disguise failed. The strongest risk is open."
    if system is not None and system.version_note:
        yield f"The lazy-informed attacker used the {system.method} of today; the folder is of {system.version_note}."
    if not any(f.metric.name == "eer" for outcome in outcomes for f in outcome.findings):
        yield "EER was not measured: no two enrolled speakers have the same gender."
    if pairs.missing:
        yield f"{len(pairs.missing)} original utterances have no anonymized counterpart (first: {pairs.missing[0]})."
    if pairs.strangers:
        yield f"{pairs.strangers} anonymized utterances have no original and were not used."
    if alone:
        yield f"{len(alone)} speakers have only one utterance and were left out (first: {alone[0]})."
    used = {int(finding.conditions["L"]) for outcome in outcomes for finding in outcome.findings}
    for length in sorted(set(asked) - used):
        yield f"L = {length} was not measured: some speaker has fewer trial utterances."


def _facts(
    enroll: pl.DataFrame, trial: pl.DataFrame, embedder: str, system: System | None, seed: int
) -> dict[str, str]:
    from personare.attackers import embedder as make

    return {
        "method": system.describe() if system else "unknown",
        "speakers": str(enroll["speaker"].n_unique()),
        "enrolment utterances": str(len(enroll)),
        "trial utterances": str(len(trial)),
        "embedder": make(embedder).fingerprint,
        "seed": str(seed),
        "personare": __version__,
        "python": platform.python_version(),
    }


def read_pair(original: Path, anonymized: Path, key_file: Path | None) -> tuple[Pairs, System | None, Corpus]:
    """Read both corpora and pair them with the key."""
    from personare.corpora import read_corpus
    from personare.pipeline.pairing import pair_folders
    from personare.pipeline.system import read_system

    source = read_corpus(original).corpus
    pairs = pair_folders(source, read_corpus(anonymized).corpus, anonymized, key_file)
    return pairs, read_system(anonymized), source
