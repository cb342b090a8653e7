"""Does an attack do better than guessing? One rule for every table and page, and each risk as an attacker's sentence.

One-sided: only an interval that lies wholly on the attacker's side of the chance level counts as exposed. A result on
the other side is said to be below chance; it exposes nobody. A method has one verdict over all attackers and all
metrics that compare an attack with guessing, so that a low EER is not outvoted by linkability, or the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from personare.core.findings import Finding
from personare.reports.blocks import Statement, Tone
from personare.reports.sections.choosing import groups, is_original, largest_gallery, overall, protected

Outcome = Literal["exposed", "not shown", "below chance", "undecided"]
# ZEBRA's numbers and min Cllr are fitted to the labels of the very trials: with few speakers they leave chance behind
# more often than an interval should, and stand in their own section
EVIDENCE = {
    "linkability": "linking",
    "singling_out": "singling out",
    "risk_over_control": "inference",
    "eer": "verification (EER)",
    "dsys": "linking by scores (D_sys)",
    "rank_link_p50": "ranking (linkability)",
    "rank_single_p50": "ranking (singling out)",
}
KNOWS = {
    "original": "Nothing is hidden from me.",
    "ignorant": "I do not know that voices were changed.",
    "lazy-informed": "I know the method, not the key, and anonymize the voices I know in the same way.",
    "semi-informed": "I know the method, not the key, and have trained on speech anonymized by a similar one.",
    "informed": "I know the method, not the key, and have trained on speech anonymized by it.",
    "aligned": "I know the method, not the key, and have learnt to map anonymized voices back.",
}
TONES: dict[Outcome, Tone] = {
    "exposed": "exposed",
    "not shown": "not-shown",
    "below chance": "not-shown",
    "undecided": "undecided",
}


def outcome(finding: Finding) -> Outcome:
    """Say whether an attack does better than guessing, as far as its interval shows.

    >>> from personare.core.findings import Estimate, MetricCard
    >>> card = MetricCard("linkability", "", "lower", (0, 1), None, "")
    >>> [outcome(Finding(card, Estimate(v, v - 0.1, v + 0.1, 9), chance=0.3)) for v in (0.15, 0.3, 0.5)]
    ['below chance', 'not shown', 'exposed']
    """
    level, low, high = finding.chance_level, finding.estimate.low, finding.estimate.high
    if level is None or math.isnan(low) or math.isnan(high):
        return "undecided"
    above, below = low > level, high < level
    better, worse = (above, below) if finding.metric.better == "lower" else (below, above)
    return "exposed" if better else "below chance" if worse else "not shown"


def evidence(findings: Iterable[Finding]) -> list[Finding]:
    """Keep the attacks on anonymized speech that a verdict rests on: of each attacker, metric and L the largest N."""
    attacks = [
        f
        for f in protected(overall(findings))
        if "attacker" in f.conditions and f.metric.name in EVIDENCE and f.chance_level is not None
    ]
    kept: list[Finding] = []
    for group in groups(attacks, "corpus", "anonymizer", "attacker", "L", "attribute").values():
        for metric in dict.fromkeys(f.metric.name for f in group):
            kept += largest_gallery([f for f in group if f.metric.name == metric])
    return kept


def verdict(findings: Sequence[Finding]) -> Outcome:
    """Give one verdict over several attacks: exposed by any of them, undecided while any of them is."""
    outcomes = {outcome(f) for f in findings}
    if "exposed" in outcomes:
        return "exposed"
    if not outcomes or "undecided" in outcomes:
        return "undecided"
    return "below chance" if outcomes == {"below chance"} else "not shown"


def method_verdicts(findings: Iterable[Finding]) -> list[Statement]:
    """Give the verdict on every method in one sentence, over all attackers and all privacy metrics."""
    every = evidence(findings)
    several = len({f.conditions.get("corpus") for f in every}) > 1
    return [
        Statement(f"{f'On {corpus}: ' if several else ''}{method_sentence(method, group)}", TONES[verdict(group)])
        for (corpus, method), group in groups(every, "corpus", "anonymizer").items()
    ]


def method_sentence(method: str, findings: Sequence[Finding]) -> str:
    """Sum up all attacks on one method; ``findings`` are its ``evidence``."""
    findings = sorted(findings, key=lambda f: list(EVIDENCE).index(f.metric.name))
    kinds = list(dict.fromkeys(EVIDENCE[f.metric.name] for f in findings))
    better = [f for f in findings if outcome(f) == "exposed"]
    below = [f for f in findings if outcome(f) == "below chance"]
    counted = f"{len(better)} of {len(findings)} result{'s' if len(findings) > 1 else ''}"
    match verdict(findings):
        case "exposed":
            work = list(dict.fromkeys(EVIDENCE[f.metric.name] for f in better))
            sentence = (
                f"{method} does not hide these voices from everybody: {listed(work)} "
                f"work{'' if len(work) > 1 else 's'} better than guessing ({counted})."
            )
        case "undecided":
            sentence = f"{method}: too little was measured to tell these attacks from guessing ({listed(kinds)})."
        case "below chance":
            sentence = f"{method}: every attack made here ({listed(kinds)}) does worse than guessing."
        case _:
            sentence = (
                f"{method}: no attack made here ({listed(kinds)}) is shown to be better than guessing. A stronger "
                "attacker or more speakers may still show a risk."
            )
    few = f" {len(below)} of {len(findings)} results lie below chance, which exposes nobody."
    return sentence + (few if below and len(below) < len(findings) else "")


def against_chance(finding: Finding) -> str:
    """End a sentence with the guesser's level; what the interval shows is the statement's tone, or said here."""
    if finding.chance_level is None:
        return "No chance level is known for it."
    control = finding.metric.name == "risk_over_control"
    guess = "doing no better than on other people would be" if control else "guessing would give"
    ending = {
        "exposed": ".",
        "not shown": ".",
        "below chance": ": below chance, I do worse than guessing.",
        "undecided": ", but there are too few speakers for an interval: whether I do better is not known.",
    }
    return f"{guess} {finding.chance_text}{ending[outcome(finding)]}"


def achieved(finding: Finding) -> str:
    """Say what the attacker achieves, in their own words, without the chance level."""
    c, value = finding.conditions, finding.text
    count = c.get("L", 1)
    speech = "one utterance" if count == 1 else f"{count} utterances"
    people = c.get("N", "all")
    gallery = f"{people:,}" if isinstance(people, int) else people
    sentences = {
        "linkability": f"From {speech} I pick the right person out of {gallery} in {value} of cases",
        "population_linkability": f"From {speech} I would pick the right person out of {gallery} in {value} of cases, "
        "as far as this corpus foretells",
        "singling_out": f"From {speech} I describe a voice that fits exactly one of {gallery} people in {value} "
        "of cases",
        "eer": f"Asked whether {speech} and a known voice are the same person, I err in {value} of cases",
        "risk_over_control": f"From an anonymized voice I guess the speaker's {c.get('attribute', 'attribute')}; "
        f"beyond what works on other people I reach {value} of the possible extra successes",
    }
    return sentences.get(finding.metric.name, f"{finding.metric.title} from {speech}: {value}")


def risk_statement(finding: Finding) -> Statement:
    """Say a finding as a sentence with number, interval and chance level.

    >>> from personare.core.findings import Estimate, MetricCard
    >>> card = MetricCard("linkability", "", "lower", (0, 1), None, "", unit="%")
    >>> where = {"anonymizer": "mcadams", "attacker": "lazy", "knowledge": "lazy-informed", "L": 1, "N": 20}
    >>> print(risk_statement(Finding(card, Estimate(0.45, 0.3, 0.6, 20), where, chance=0.05)).sentence)
    ... # doctest: +NORMALIZE_WHITESPACE
    mcadams: “I know the method, not the key, and anonymize the voices I know in the same way. From one utterance I pick
    the right person out of 20 in 45.0 % [30.0, 60.0] of cases; guessing would give 5.0 %.”
    """
    c = finding.conditions
    method, level = str(c.get("anonymizer", "")), str(c.get("knowledge", c.get("attacker", "")))
    if is_original(finding):
        before, knows = "Without protection: ", KNOWS["original"]
    else:
        before, knows = f"{method}: " if method else "", KNOWS.get(level, "")
    words = " ".join(part for part in (knows, achieved(finding)) if part)
    return Statement(f"{before}“{words}; {against_chance(finding)}”", TONES[outcome(finding)])


def listed(words: Sequence[str]) -> str:
    """Join words as a sentence does.

    >>> listed(["linking", "inference", "ranking"])
    'linking, inference and ranking'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
