"""The verdict on every method in words: whether the voice is protected (``protection``), and what the words give away.

A verdict never says *protected* beside people who are linked every time, and is marked green only where the voice is
protected and the words are not shown to identify anybody.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from personare.core.findings import Finding
from personare.core.text import number_text
from personare.reports.blocks import Statement, Tone
from personare.reports.outcomes import achieved, exposed_by, listed, outcome
from personare.reports.protection import (
    EVIDENCE,
    Protection,
    evidence,
    linked_every_time,
    may_remain,
    protection_of,
    remaining,
    verdict,
)
from personare.reports.sections.choosing import (
    condition,
    groups,
    is_original,
    of_risk,
    overall,
    strongest,
    strongest_attack,
    values,
)
from personare.reports.word_risk import IDENTIFY, NOTHING_READ, WordRisk, risk_row, word_risk, word_row

PROTECTION_TONES: dict[Protection, Tone] = {
    "protected": "not-shown",
    "partly protected": "partly",
    "not protected": "exposed",
    "not decided": "undecided",
}
LEARNED = ("semi-informed", "informed")  # attackers who have trained on speech of the method, or of a similar one
NEXT_STEPS: dict[Protection, str] = {
    "protected": "repeat it with more people and with other speech before you rely on it, and keep the key apart.",
    "partly protected": "release fewer utterances of each person, or use a stronger method ({stronger}).",
    "not protected": "do not release it as anonymous; use a stronger method ({stronger}) and evaluate again.",
    "not decided": "attack more people, with more speech of each: so few prove nothing.",
}
STRONGEST = ("strong", "cascade")  # presets and their method: nobody is sent where they are
QUICKER = "balanced"
NOTHING_STRONGER: dict[Protection, str] = {
    "partly protected": "release fewer utterances of each person; no stronger method is built in.",
    "not protected": "do not release it as anonymous; try fewer utterances of each person, or a method of your own.",
}
FEWER_WORDS = (
    "release fewer utterances of each person, or remove names and rare words: no change of the voice hides them."
)
PLAY_INFORMED = (
    "let an attacker try who has learnt from speech of other people: `personare evaluate ... --train OTHERS`."
)


@dataclass(frozen=True)
class MethodVerdict:
    """The verdict on one method on one corpus, and what it rests on.

    Parameters
    ----------
    attacks : the method's ``evidence`` by voice; strongest : of those that are exposed, where any is, else of all.
    unprotected : what the best attacker reaches on original speech by the same metric, at the same L and N.
    several_corpora : whether the label must say which corpus.
    words : what the words give away.
    """

    corpus: str
    method: str
    protection: Protection
    attacks: tuple[Finding, ...]
    strongest: Finding | None
    unprotected: Finding | None
    several_corpora: bool = False
    words: WordRisk = NOTHING_READ

    @property
    def played(self) -> list[str]:
        """Every attacker, in the order of the run."""
        return values(self.attacks, "attacker")

    @property
    def better(self) -> list[str]:
        """The attackers who are shown to do better than guessing, all that were tried counted."""
        return values(exposed_by(self.attacks), "attacker")

    @property
    def learned(self) -> bool:
        """Whether anybody was played who has learnt what the method does."""
        return any(f.conditions.get("knowledge") in LEARNED for f in self.attacks)

    @property
    def label(self) -> str:
        """The method and the verdict on it."""
        where = f" on {self.corpus}" if self.several_corpora and self.corpus else ""
        return f"{self.method}{where}: {self.words_of_verdict}"

    @property
    def words_of_verdict(self) -> str:
        """Whether the voice is protected, and whether words identify people: never the one without the other."""
        limit = " against those who were played" if self.protection == "protected" and not self.learned else ""
        return f"voice {self.protection}{limit}{f', {IDENTIFY}' if self.words.identifies else ''}"

    @property
    def tone(self) -> Tone:
        """The mark and colour of the verdict; green only where neither voice nor words are shown to identify."""
        if self.protection == "protected" and self.words.identifies:
            return "partly"
        return PROTECTION_TONES[self.protection]

    @property
    def sentence(self) -> str:
        """By voice: against whom, and the strongest attack in numbers."""
        return " ".join(part for part in (self._against(), self._number(), self._remainder(), self._always()) if part)

    @property
    def both_risks(self) -> str:
        """The risk by voice, then the risk by words."""
        return f"By voice: {self.sentence[:1].lower()}{self.sentence[1:]} {self.words.sentence}"

    @property
    def next_step(self) -> str:
        """What to do about it."""
        if self.protection == "protected" and self.words.identifies:
            return FEWER_WORDS
        if self.protection == "protected" and not self.learned:
            return PLAY_INFORMED
        if any(name in self.method for name in STRONGEST):
            return NOTHING_STRONGER.get(self.protection, NEXT_STEPS[self.protection])
        other = "" if QUICKER in self.method else f"; `--strength {QUICKER}` is quicker"
        return NEXT_STEPS[self.protection].format(stronger=f"`personare anonymize --strength {STRONGEST[0]}`{other}")

    @property
    def text(self) -> str:
        """Everything in one paragraph."""
        return f"{self.label}. {self.both_risks} Next: {self.next_step}"

    @property
    def statement(self) -> Statement:
        """The verdict for a page."""
        return Statement(self.both_risks, self.tone, self.label, self.next_step)

    def as_row(self) -> dict[str, Any]:
        """Lay out the verdict for programs."""
        return {
            "corpus": self.corpus,
            "method": self.method,
            "protection": self.protection,
            "verdict": self.words_of_verdict,
            "tone": self.tone,
            "sentence": self.both_risks,
            "next": self.next_step,
            "by_voice": {**risk_row(self.strongest, verdict(self.attacks)), "sentence": self.sentence},
            "by_words": dict(word_row(self.words)),
        }

    def _against(self) -> str:
        """Name the attackers by what they are shown to reach."""
        if not self.attacks:
            return "No attacker heard the voice."
        if self.protection == "not decided":
            kinds = listed([EVIDENCE[name] for name in EVIDENCE if name in {f.metric.name for f in self.attacks}])
            alone = values((f for f in self.attacks if outcome(f) == "exposed"), "attacker")
            if alone:
                tried = f"{len(self.attacks)} attacks ({kinds}) were tried, and so many reach this by chance too often"
                return f"By itself an attack of {listed(alone)} does better than guessing, but {tried}."
            if any(outcome(f) == "undecided" for f in self.attacks):
                return f"Too few people were attacked to tell these attacks ({kinds}) from guessing."
            left = number_text(min(may_remain(self.strongest, self.unprotected), 1.0), "%")
            shown = f"Nobody who was played ({listed(self.played)}) is shown to do better than guessing"
            return f"{shown}, but so few people were attacked that up to {left} of the unprotected risk may remain."
        if self.protection == "protected":
            below = {outcome(f) for f in self.attacks} == {"below chance"}
            missing = "" if self.learned else " An informed attacker was not played."
            if below:
                return f"Everybody who was played ({listed(self.played)}) does worse than guessing.{missing}"
            return f"Nobody who was played ({listed(self.played)}) is shown to do better than guessing.{missing}"
        if not self.better:
            return f"On average nobody who was played ({listed(self.played)}) is shown to do better than guessing."
        weaker = [who for who in self.played if who not in self.better]
        if not weaker and len(self.better) > 1:
            return f"Everybody who was played ({listed(self.better)}) does better than guessing."
        return f"Better than guessing: {listed(self.better)}{f'; not shown to be: {listed(weaker)}' if weaker else ''}."

    def _number(self) -> str:
        if self.strongest is None:
            return ""
        who = f"the {self.strongest.conditions.get('attacker')} attacker"
        bare = "" if self.unprotected is None else f", speech without protection {self.unprotected.value_text}"
        return f"{achieved(self.strongest, who=who)}; guessing gives {self.strongest.chance_text}{bare}."

    def _remainder(self) -> str:
        share = self.share
        if math.isnan(share) or self.protection not in ("partly protected", "not protected"):
            return ""
        return f"Of the unprotected risk {number_text(min(share, 1.0), '%')} remains."

    def _always(self) -> str:
        """Count the people whom the strongest attack links in every test: never beside the word protected alone."""
        always = 0 if self.strongest is None else int(self.strongest.conditions.get("always_linked", 0))
        if self.strongest is None or not always or self.protection not in ("partly protected", "not protected"):
            return ""
        verb = "is" if always == 1 else "are"
        return f"{always:,} of {self.strongest.estimate.n:,} people {verb} linked every time."

    @property
    def share(self) -> float:
        """How much of the unprotected risk the strongest attack keeps; NaN where that is unknown."""
        if self.strongest is None:
            return math.nan
        return remaining(self.strongest, self.unprotected)


def judged_methods(findings: Iterable[Finding], notes: Sequence[str] = ()) -> list[MethodVerdict]:
    """Give the verdict on every method, over all attackers and all privacy metrics, in the order of the run.

    ``notes`` of the run say why nobody read the words, where nobody did.
    """
    findings = list(findings)
    every = evidence(findings)
    originals = [f for f in of_risk(overall(findings), "voice") if is_original(f) and "attacker" in f.conditions]
    several = len(values(every, "corpus")) > 1
    judged = []
    for (corpus, method), group in groups(every, "corpus", "anonymizer").items():
        voice = of_risk(group, "voice")
        best = strongest_attack(exposed_by(voice) or linked_every_time(voice) or voice, EVIDENCE)
        bare = None if best is None else _unprotected(best, originals)
        words = word_risk(of_risk(group, "words"), notes)
        protection = protection_of(voice, bare, best)
        judged.append(MethodVerdict(corpus, method, protection, tuple(voice), best, bare, several, words))
    return judged


def _unprotected(attack: Finding, originals: Iterable[Finding]) -> Finding | None:
    """Find what the best attacker reaches on original speech under the same conditions."""
    read = [condition(name) for name in ("corpus", "L", "N", "attribute")]
    same = [f for f in originals if f.metric.name == attack.metric.name and all(r(f) == r(attack) for r in read)]
    return strongest(same)


def method_verdicts(findings: Iterable[Finding], notes: Sequence[str] = ()) -> list[Statement]:
    """Give the verdict on every method in words, with its next step."""
    return [judged.statement for judged in judged_methods(findings, notes)]
