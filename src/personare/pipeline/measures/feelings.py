"""Is feeling still heard after anonymization? Concordance of values, and recall of categories averaged over them.

values       CCC between what a model hears before and after
categories   UAR of the likeliest class: against labels where somebody noted them (original and anonymized), else of the
             anonymized speech against what the same model heard in the original, which the finding says
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from personare.core.findings import Finding
from personare.core.seeding import Key, rng_for
from personare.metrics import card
from personare.metrics.utility.concordance import ccc_estimate
from personare.metrics.utility.recall import uar_chance, uar_estimate
from personare.pipeline.listening import HeardPair, SoundPair

Row = tuple[SoundPair, HeardPair]
SIDES = ("original", "anonymized")


def values(heard: Sequence[Row], key: Key, total: int) -> Iterator[Finding]:
    """Concordance of every output of the model of feeling, before and after."""
    for name in _outputs(heard):
        sides = [f"affect|{name}|{side}" for side in SIDES]
        rows = [(pair.speaker, *(got.numbers[s] for s in sides)) for pair, got in heard if sides[0] in got.numbers]
        speakers, before, after = zip(*rows, strict=True)
        estimate = ccc_estimate(before, after, speakers=speakers, rng=rng_for(key, "affect", name))
        yield Finding(card("ccc"), estimate, {"of": name}, failed=total - len(rows))


def categories(heard: Sequence[Row], labels: Mapping[str, str], key: Key, total: int) -> Iterator[Finding]:
    """Average recall of the likeliest class; ``labels`` are what somebody noted, by utterance (may be empty)."""
    names = _outputs(heard)
    rows = [(pair, got) for pair, got in heard if names and f"affect|{names[0]}|original" in got.numbers]
    if labels:
        rows = [(pair, got) for pair, got in rows if pair.utterance in labels]
    if not rows:
        return
    guesses = {side: [_likeliest(got, names, side) for _, got in rows] for side in SIDES}
    truth = [labels[pair.utterance] for pair, _ in rows] if labels else guesses["original"]
    for side in SIDES if labels else SIDES[1:]:
        estimate = uar_estimate(
            truth, guesses[side], speakers=[pair.speaker for pair, _ in rows], rng=rng_for(key, "affect", "uar", side)
        )
        conditions: dict[str, str | int | float] = {
            "speech": side,
            "reference": "noted" if labels else "heard in the original",
            "classes": len(set(truth)),
        }
        yield Finding(card("uar"), estimate, conditions, failed=total - len(rows), chance=uar_chance(truth))


def _outputs(heard: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(n.split("|")[1] for _, got in heard for n in got.numbers if n.startswith("affect|")))


def _likeliest(got: HeardPair, names: Sequence[str], side: str) -> str:
    return max(names, key=lambda name: got.numbers[f"affect|{name}|{side}"])
