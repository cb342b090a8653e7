"""What is left of words, melody and sound after anonymization, as findings with intervals over speakers.

Words: word error rate of each recognizer on original and anonymized speech (a recognizer of one's own writes letters:
its character error rate). Where nobody wrote down what was said, the
words heard in the original are the reference, which is said in the finding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.errors import CorpusError, did_you_mean
from personare.core.findings import Finding
from personare.core.seeding import Key, rng_for
from personare.engine import Engine
from personare.listeners.normalize import Normalizer
from personare.metrics import card
from personare.metrics.utility.quality import mean_estimate
from personare.metrics.utility.wer import character_errors, wer_estimate, word_errors
from personare.pipeline.jobs.guess_attributes import labels_of
from personare.pipeline.listening import HeardPair, ListenWork, SoundPair
from personare.pipeline.listening_together import ListenTogether, in_batches
from personare.pipeline.measures import feelings

Row = tuple[SoundPair, HeardPair]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Originals with their anonymized audio (column ``anonymized``), and utterances that have none."""

    frame: pl.DataFrame
    missing: tuple[str, ...]


SHOWN_ELSEWHERE = {"speech", "frames", "by", "of", "reference", "words", "letters", "S", "D", "I", "classes"}


@dataclass(frozen=True, eq=False)
class Listening:
    """What was found, and (utterance, reason) for everything that could not be heard or compared."""

    findings: tuple[Finding, ...]
    failures: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def sound_pairs(pairs: Pairs) -> list[SoundPair]:
    """List the utterances to hear; originals may be parts of longer files, anonymized files hold one utterance."""
    return [
        SoundPair(
            row["utterance"],
            row["speaker"],
            Path(row["audio"]),
            Path(row["anonymized"]),
            row.get("start_s") or 0.0,
            row.get("end_s"),
        )
        for row in pairs.frame.iter_rows(named=True)
    ]


def listen(
    pairs: Pairs,
    work: ListenWork,
    *,
    engine: Engine,
    seed: int = 1,
    normalizer: Normalizer | None = None,
    by: str | None = None,
    labels: str = "emotion",
    watch: Callable[[int], None] = lambda _: None,
) -> Listening:
    """Hear every pair and put the numbers together.

    Parameters
    ----------
    seed : chooses the bootstrap's redraws.
    by : a column (gender, age_group, part, ...): findings for each of its values too.
    labels : the column that notes the true emotion, for a model of categories; used where the corpus has it.
    watch : told how many pairs were heard, batch by batch.
    """
    work.check()
    groups = _groups(pairs, by)
    heard, failures = _heard(pairs, work, engine, watch)
    total = len(pairs.frame) + len(pairs.missing)
    texts = _texts(pairs, "text")
    put = functools.partial(
        _findings,
        texts=texts,
        labels=_texts(pairs, labels),
        work=work,
        words=normalizer or Normalizer(),
        key=Key.from_seed(seed),
    )
    findings = put(heard, total=total)
    for value in sorted(set(groups.values())):
        rows = [row for row in heard if groups[row[0].utterance] == value]
        size = sum(group == value for group in groups.values())
        findings += [replace(f, conditions={**f.conditions, str(by): value}) for f in put(rows, total=size)]
    return Listening(tuple(findings), tuple(failures), tuple(_notes(texts, total, work)))


def _groups(pairs: Pairs, by: str | None) -> dict[str, str]:
    if by is None:
        return {}
    if by not in pairs.frame.columns:
        hint = "; --guess fills gender and age_group by machine" if by in ("gender", "age_group") else ""
        raise CorpusError(f"the corpus has no column '{by}'; {did_you_mean(by, pairs.frame.columns)}{hint}")
    return labels_of(pairs.frame, by)


def _heard(
    pairs: Pairs, work: ListenWork, engine: Engine, watch: Callable[[int], None]
) -> tuple[list[Row], list[tuple[str, str]]]:
    """Hear batches of about equal length; give the rows in the corpus' own order, and what failed."""
    found: dict[str, Row] = {}
    failures = [(utterance, "has no anonymized counterpart") for utterance in pairs.missing]
    listed = sound_pairs(pairs)
    for result in engine.map(ListenTogether(work), in_batches(listed)):
        watch(len(result.item))
        told = result.value or [result.error or "failed"] * len(result.item)
        for pair, got in zip(result.item, told, strict=True):
            if isinstance(got, str):
                failures.append((pair.utterance, got))
            else:
                found[pair.utterance] = (pair, got)
                failures += [(pair.utterance, f"{measure}: {reason}") for measure, reason in got.failures.items()]
    return [found[pair.utterance] for pair in listed if pair.utterance in found], failures


def _findings(
    heard: Sequence[Row],
    *,
    texts: Mapping[str, str],
    labels: Mapping[str, str],
    work: ListenWork,
    words: Normalizer,
    key: Key,
    total: int,
) -> list[Finding]:
    found = [*_words(heard, texts, work, words, key, total), *_numbers(heard, key, total)]
    if work.affect is not None and work.affect.categorical:
        return found + list(feelings.categories(heard, labels, key, total))
    return found + list(feelings.values(heard, key, total))


def _texts(pairs: Pairs, column: str) -> dict[str, str]:
    if column not in pairs.frame.columns:
        return {}
    return {u: str(t) for u, t in pairs.frame.select("utterance", column).iter_rows() if t}


def _words(
    heard: Sequence[Row], texts: Mapping[str, str], work: ListenWork, words: Normalizer, key: Key, total: int
) -> Iterator[Finding]:
    """Word error rates: original and anonymized against what was said, or anonymized against what was heard before."""
    for recognizer in work.recognizers if "words" in work.measures else ():
        rows = [(pair, got.words[recognizer]) for pair, got in heard if recognizer in got.words]
        written = bool(texts)
        if written:
            rows = [row for row in rows if row[0].utterance in texts]
        said = [words(texts[pair.utterance] if written else before) for pair, (before, _) in rows]
        for side, speech in enumerate(("original", "anonymized")):
            if not any(said) or (side == 0 and not written):
                continue
            letters = recognizer.startswith("ctc:")
            count = character_errors if letters else word_errors
            errors = count(said, [words(both[side]) for _, both in rows])
            rng = rng_for(key, "words", recognizer, speech)
            estimate = wer_estimate(errors, speakers=[pair.speaker for pair, _ in rows], rng=rng)
            conditions: dict[str, str | int | float] = {
                "speech": speech,
                "by": recognizer,
                "reference": "written" if written else "heard in the original",
                "letters" if letters else "words": int(errors.words.sum()),
                "S": int(errors.substitutions.sum()),
                "D": int(errors.deletions.sum()),
                "I": int(errors.insertions.sum()),
            }
            yield Finding(card("cer" if letters else "wer"), estimate, conditions, failed=total - len(rows))


def _numbers(heard: Sequence[Row], key: Key, total: int) -> Iterator[Finding]:
    """Means over utterances of every other number, in the order they were measured."""
    names = dict.fromkeys(name for _, got in heard for name in got.numbers if not name.startswith("affect|"))
    for name in names:
        rows = [(pair.speaker, got.numbers[name]) for pair, got in heard if name in got.numbers]
        metric, _, condition = name.partition("|")
        label = "frames" if metric == "pitch_correlation" else "speech"
        estimate = mean_estimate(
            [value for _, value in rows],
            speakers=[speaker for speaker, _ in rows],
            rng=rng_for(key, "numbers", name),
        )
        yield Finding(card(metric), estimate, {label: condition} if condition else {}, failed=total - len(rows))


def _notes(texts: Mapping[str, str], total: int, work: ListenWork) -> Iterator[str]:
    if "words" in work.measures and not texts:
        yield "Nobody wrote down what was said: words heard in the original are the reference for those heard after."
    elif "words" in work.measures and len(texts) < total:
        yield f"{total - len(texts)} of {total} utterances have no text and count as failed for the word error rate."
    if {"pesq", "stoi", "estoi", "visqol"} & set(work.measures):
        yield "PESQ, STOI and ViSQOL punish every change of the voice, wanted or not: they compare anonymizers."


def table_rows(found: Listening) -> tuple[list[str], list[list[str]]]:
    """Lay out the findings for a terminal."""
    head = ["measure", "of", "value [95 % interval]", "speakers", "failed", "better"]
    return head, [_row(finding) for finding in found.findings]


def _row(finding: Finding) -> list[str]:
    e, conditions = finding.estimate, finding.conditions
    words = [str(conditions[k]) for k in ("speech", "frames", "by", "of") if k in conditions]
    words += [f"{k} {v}" for k, v in conditions.items() if k not in SHOWN_ELSEWHERE]
    of = ", ".join(words) or "anonymized beside original"
    return [finding.metric.title, of, finding.text, str(e.n), str(finding.failed), finding.metric.better]


def as_json(found: Listening) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "findings": [finding.as_row() for finding in found.findings],
        "failures": [{"utterance": utterance, "reason": reason} for utterance, reason in found.failures],
        "notes": list(found.notes),
    }
