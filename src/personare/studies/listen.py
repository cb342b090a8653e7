"""What is left of words, melody and sound after anonymization, as findings with intervals over speakers.

Words: word error rate of each recognizer on original and anonymized speech (a recognizer of one's own writes letters:
its character error rate). Where nobody wrote down what was said, the
words heard in the original are the reference, which is said in the finding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from personare.core.findings import Finding
from personare.core.seeding import Key, rng_for
from personare.engine import Engine, Result
from personare.listeners.normalize import Normalizer
from personare.metrics import card
from personare.metrics.utility.concordance import ccc_estimate
from personare.metrics.utility.quality import mean_estimate
from personare.metrics.utility.wer import character_errors, wer_estimate, word_errors
from personare.studies.listening import HeardPair, ListenWork, SoundPair
from personare.studies.pairing import Pairs

Row = tuple[SoundPair, HeardPair]


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
    watch: Callable[[Result[SoundPair, HeardPair]], None] = lambda _: None,
) -> Listening:
    """Hear every pair and put the numbers together; ``seed`` chooses the bootstrap's redraws."""
    work.check()
    key = Key.from_seed(seed)
    heard: list[Row] = []
    failures = [(utterance, "has no anonymized counterpart") for utterance in pairs.missing]
    for result in engine.map(work, sound_pairs(pairs)):
        watch(result)
        if result.value is None:
            failures.append((result.item.utterance, result.error or "failed"))
        else:
            heard.append((result.item, result.value))
            failures += [(result.item.utterance, f"{m}: {reason}") for m, reason in result.value.failures.items()]
    total = len(pairs.frame) + len(pairs.missing)
    texts = _texts(pairs)
    findings = [*_words(heard, texts, work, normalizer or Normalizer(), key, total), *_numbers(heard, key, total)]
    findings += _affect(heard, key, total)
    return Listening(tuple(findings), tuple(failures), tuple(_notes(texts, total, work)))


def _texts(pairs: Pairs) -> dict[str, str]:
    if "text" not in pairs.frame.columns:
        return {}
    return {u: t for u, t in pairs.frame.select("utterance", "text").iter_rows() if t}


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


def _affect(heard: Sequence[Row], key: Key, total: int) -> Iterator[Finding]:
    """Concordance of every output of the model of feeling, before and after."""
    names = dict.fromkeys(n.split("|")[1] for _, got in heard for n in got.numbers if n.startswith("affect|"))
    for name in names:
        sides = (f"affect|{name}|original", f"affect|{name}|anonymized")
        rows = [(pair.speaker, *(got.numbers[s] for s in sides)) for pair, got in heard if sides[0] in got.numbers]
        speakers, before, after = zip(*rows, strict=True)
        estimate = ccc_estimate(before, after, speakers=speakers, rng=rng_for(key, "affect", name))
        yield Finding(card("ccc"), estimate, {"of": name}, failed=total - len(rows))


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
    head = ["measure", "of", "value", "95 % interval", "speakers", "failed", "better"]
    return head, [_row(finding) for finding in found.findings]


def _row(finding: Finding) -> list[str]:
    e, conditions = finding.estimate, finding.conditions
    percent = finding.metric.name in ("wer", "cer", "voicing_error")
    words = [str(conditions[k]) for k in ("speech", "frames", "by", "of") if k in conditions]
    value, low, high = (f"{100 * v:.1f} %" if percent else f"{v:.3f}" for v in (e.value, e.low, e.high))
    interval = "-" if math.isnan(e.low) else f"{low} to {high}"
    of = ", ".join(words) or "anonymized beside original"
    return [finding.metric.title, of, value, interval, str(e.n), str(finding.failed), finding.metric.better]


def as_json(found: Listening) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "findings": [finding.as_row() for finding in found.findings],
        "failures": [{"utterance": utterance, "reason": reason} for utterance, reason in found.failures],
        "notes": list(found.notes),
    }
