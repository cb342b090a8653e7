"""Does one attack do better than guessing, and how would its attacker say it?

One-sided: exposed is what a guesser reaches in at most 2.5 % of cases, by the finding's own test (identities dealt out
anew, or the binomial law of its speakers), which is exact for few speakers; where there is no test, an interval that
lies wholly on the attacker's side of the chance level. A result on the other side is said to be below chance; it
exposes nobody. Of several attacks one may reach 2.5 % by accident: ``exposed_by`` corrects for their number (Holm), and
methods are judged with that in ``verdicts``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal

from personare.core.findings import LEVEL_OF_PROOF, Finding
from personare.reports.blocks import Statement, Tone
from personare.reports.sections.choosing import is_original

Outcome = Literal["exposed", "not shown", "below chance", "undecided"]
KNOWS = {
    "original": "Nothing is hidden from me.",
    "ignorant": "I do not know that voices were changed.",
    "lazy-informed": "I know the method, not the key, and anonymize the voices I know in the same way.",
    "semi-informed": "I know the method, not the key, and have trained on speech anonymized by a similar one.",
    "informed": "I know the method, not the key, and have trained on speech anonymized by it.",
    "aligned": "I know the method, not the key, and have learnt to map anonymized voices back.",
    "inverting": "I know the method, not the key, estimate the secret numbers from the recording and undo them.",
}
TONES: dict[Outcome, Tone] = {
    "exposed": "exposed",
    "not shown": "unproven",
    "below chance": "unproven",
    "undecided": "undecided",
}
READS = "I hear no voice and read only what is said."
TO_COMPARE = "To compare with"  # original speech is no failure of a method


def outcome(finding: Finding) -> Outcome:
    """Say whether an attack does better than guessing, as far as its test or its interval shows.

    >>> from personare.core.findings import Estimate, MetricCard
    >>> card = MetricCard("linkability", "", "lower", (0, 1), None, "")
    >>> [outcome(Finding(card, Estimate(v, v - 0.1, v + 0.1, 9), chance=0.3)) for v in (0.15, 0.3, 0.5)]
    ['below chance', 'not shown', 'exposed']
    """
    level, low, high = finding.chance_level, finding.estimate.low, finding.estimate.high
    if level is not None and finding.p_better is not None and finding.p_worse is not None:
        if math.isnan(finding.p_better) or math.isnan(finding.p_worse):
            return "undecided"
        if finding.p_better <= LEVEL_OF_PROOF:
            return "exposed"
        return "below chance" if finding.p_worse <= LEVEL_OF_PROOF else "not shown"
    if level is None or math.isnan(low) or math.isnan(high):
        return "undecided"
    above, below = low > level, high < level
    better, worse = (above, below) if finding.metric.better == "lower" else (below, above)
    return "exposed" if better else "below chance" if worse else "not shown"


def exposed_by(findings: Sequence[Finding]) -> list[Finding]:
    """Keep the attacks that do better than guessing although so many were tried: by Holm's method.

    The smallest probability that a guesser does as well must stay below 2.5 % divided by the number of attacks, the
    next one by one attack fewer, and so on. [holm1979]

    >>> from personare.core.findings import Estimate, MetricCard
    >>> card = MetricCard("eer", "", "higher", (0, 0.5), 0.5, "")
    >>> tried = [Finding(card, Estimate(0.4, 0.3, 0.5, 9), p_better=p, p_worse=1 - p) for p in (0.02, 0.001, 0.2)]
    >>> [f.p_better for f in exposed_by(tried)]
    [0.001]
    """
    judged = [f for f in findings if outcome(f) != "undecided"]
    ordered = sorted(judged, key=probability_of_guessing)
    kept: list[Finding] = []
    for place, finding in enumerate(ordered):
        if probability_of_guessing(finding) > LEVEL_OF_PROOF / (len(ordered) - place):
            break
        kept.append(finding)
    return [f for f in findings if any(f is one for one in kept)]


def probability_of_guessing(finding: Finding) -> float:
    """Give how likely a guesser does as well: by the finding's test, else from how far its interval is from chance."""
    if finding.p_better is not None:
        return finding.p_better
    level, e = finding.chance_level, finding.estimate
    if level is None or math.isnan(e.low) or math.isnan(e.high):
        return 1.0
    wants_more = finding.metric.better == "lower"
    ahead = e.value - level if wants_more else level - e.value
    reach = e.value - e.low if wants_more else e.high - e.value
    if reach <= 0:
        return 0.0 if ahead > 0 else 1.0
    return NormalDist().cdf(NormalDist().inv_cdf(LEVEL_OF_PROOF) * ahead / reach)


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
        "undecided": ", but there are too few speakers for an interval or a test: whether I do better is not known.",
    }
    return f"{guess} {finding.chance_text}{ending[outcome(finding)]}"


def achieved(finding: Finding, *, who: str = "I") -> str:
    """Say what the attacker achieves, in their own words or of ``who``, without the chance level."""
    c, value = finding.conditions, finding.text
    count = c.get("L", 1)
    speech = "one utterance" if count == 1 else f"{count} utterances"
    people = c.get("N", "all")
    gallery = f"{people:,}" if isinstance(people, int) else people
    known = "known words" if c.get("risk") == "words" else "a known voice"
    s, es = ("", "") if who == "I" else ("s", "es")
    sentences = {
        "linkability": f"From {speech} {who} pick{s} the right person out of {gallery} in {value} of cases",
        "population_linkability": f"From {speech} {who} would pick the right person out of {gallery} in {value} of "
        "cases, as far as this corpus foretells",
        "singling_out": f"From {speech} {who} describe{s} a voice that fits exactly one of {gallery} people in {value} "
        "of cases",
        "eer": f"Asked whether {speech} and {known} are the same person, {who} err{s} in {value} of cases",
        "risk_over_control": f"From an anonymized voice {who} guess{es} the speaker's "
        f"{c.get('attribute', 'attribute')}; beyond what works on other people {who} reach{es} {value} of the possible "
        "extra successes",
    }
    by, source = "" if who == "I" else f" by {who}", f" from {speech}" if "L" in c else ""
    return sentences.get(finding.metric.name, f"{finding.metric.title}{by}{source}: {value}")


def risk_statement(finding: Finding, *, protects: bool = False) -> Statement:
    """Say a finding as a sentence with number, interval and chance level.

    ``protects`` says that the whole verdict on the method is *protected*: only then is an attack that fails marked
    green.

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
    if c.get("risk") == "words":
        knows = READS
    words = " ".join(part for part in (knows, achieved(finding)) if part)
    sentence = f"{before}“{words}; {against_chance(finding)}”"
    if is_original(finding):
        return Statement(sentence, "plain", TO_COMPARE)
    tone = TONES[outcome(finding)]
    return Statement(sentence, "not-shown" if protects and tone == "unproven" else tone)


def listed(words: Sequence[str]) -> str:
    """Join words as a sentence does.

    >>> listed(["linking", "inference", "ranking"])
    'linking, inference and ranking'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
