"""Methods side by side in a terminal: the verdict, the strongest attack by voice and by words, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from personare.core.findings import Finding
from personare.core.text import number_text
from personare.reports.outcomes import Outcome
from personare.reports.protection import Protection
from personare.reports.sections.choosing import (
    fewest_utterances,
    gallery_size,
    groups,
    is_original,
    largest_gallery,
    of_risk,
    overall,
    strongest_attack,
    utterances,
    values,
)
from personare.reports.verdicts import MethodVerdict, judged_methods

PRICES = {"wer": "words\nwrong", "cer": "letters\nwrong", "dnsmos": "DNSMOS\nof 5", "f0_spearman": "F0\nkept"}
UNPROTECTED = "unprotected"
ANSWERS: dict[Protection, str] = {
    "protected": "yes",
    "partly protected": "partly",
    "not protected": "no",
    "not decided": "undecided",
}
SO_FAR = "so far"  # no attacker was played who had learnt from speech of the method
BY_WORDS: dict[Outcome, str] = {
    "exposed": "no",
    "not shown": "-",  # no risk is shown, and no method of voices would protect from it
    "below chance": "-",
    "undecided": "undecided",
}


def comparison_rows(findings: Iterable[Finding]) -> tuple[list[str], list[list[str]]]:
    """Lay out two rows per method, by voice and by words; original speech first, then the methods in the run's order.

    EER and linkability are those of the same attack, the strongest on that method. Where nobody read the words in the
    whole run, there is one row per method.
    """
    every = overall(findings)
    corpora = len(values(every, "corpus")) > 1
    verdicts = {(v.corpus, v.method): v for v in judged_methods(every)}
    prices = [name for name in PRICES if any(f.metric.name == name for f in every)]
    people = max((gallery_size(f) for f in every if f.metric.name == "linkability"), default=0)
    read = bool(of_risk(every, "words"))
    rows = []
    for (corpus, method), group in sorted(
        groups(every, "corpus", "anonymizer").items(), key=lambda item: not is_original(item[1][0])
    ):
        name, verdict = UNPROTECTED if is_original(group[0]) else method, verdicts.get((corpus, method))
        before = [*[corpus] * corpora, name]
        heard = [*["voice"] * read, "-" if verdict is None else _answer(verdict), *_attack(of_risk(group, "voice"))]
        rows.append([*before, *heard, *(_price(group, price) for price in prices)])
        if read:
            shown = "-" if verdict is None or verdict.words.strongest is None else BY_WORDS[verdict.words.shown]
            rows.append([*before, "words", shown, *_attack(of_risk(group, "words")), *["-"] * len(prices)])
    linked = f"linked, of {people:,}\nchance {number_text(1 / people, '%')} [95 %]" if people else "linked\n[95 %]"
    head = [
        *["corpus"] * corpora,
        *("method", *["by"] * read, "protected", "strongest\nattacker", "L", linked, "EER\n[95 %]"),
        *(PRICES[p] for p in prices),
    ]
    return head, rows


def _answer(verdict: MethodVerdict) -> str:
    """Answer whether a method protects the voice; where nobody had learnt what it does, only so far."""
    return SO_FAR if verdict.protection == "protected" and not verdict.learned else ANSWERS[verdict.protection]


def _attack(group: Sequence[Finding]) -> list[str]:
    """Name the strongest attack and write its linkability and EER."""
    best = strongest_attack([f for f in group if "attacker" in f.conditions])
    if best is None:
        return ["-"] * 4
    attacker, count = str(best.conditions["attacker"]), utterances(best)
    same = [f for f in group if f.conditions.get("attacker") == attacker and utterances(f) == count]
    shown = [largest_gallery([f for f in same if f.metric.name == name])[:1] for name in ("linkability", "eer")]
    return [attacker, str(count), *(found[0].text if found else "-" for found in shown)]


def _price(group: Sequence[Finding], metric: str) -> str:
    """Write what the first listener measured; without its interval, which the report has."""
    found = fewest_utterances([f for f in group if f.metric.name == metric])
    return found[0].value_text if found else "-"
