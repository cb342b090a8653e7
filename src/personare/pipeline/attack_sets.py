"""Who attacks where nobody chooses: the strongest attackers that can be played on this speech, or quick ones.

A proof must not be easier to pass than what a competent outsider would try. So the usual set hears with every embedder
of a kind of its own that is there, compares as training speakers judge best, anonymizes training speech several times,
and learns from the attacked corpus itself, fold by fold. What is not played is said, and why. A second voice embedder
(ECAPA beside WeSpeaker) costs a third of the time and gets no further (docs/explain/attackers.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from personare.attackers.choosing import FOLDS as CHOOSING_FOLDS
from personare.attackers.folds import FEWEST_SPEAKERS, FOLDS
from personare.attackers.fused import JOINT
from personare.attackers.knowledge import Knowledge
from personare.core.findings import WORDS_NOT_MEASURED
from personare.core.weights import missing
from personare.pipeline.attacker_choice import AttackerChoice
from personare.pipeline.stages.embed import models_of_embedder

VOICE, PLAIN = (
    "wespeaker",
    "ecapa",
)  # trained to tell voices apart: the stronger, and the one of --quick
PROSODY = ("energy", "rhythm", "f0", "phrases", "durations", "symbols")  # hear how it is said, and no voice
EMBEDDERS = (VOICE, "ge2e", "wakehubert", *PROSODY, "spectrum")
LEVELS = (Knowledge.ORIGINAL, Knowledge.IGNORANT, Knowledge.LAZY_INFORMED, Knowledge.INFORMED)
TRAIN_DRAWS = 2
COMPARISON_DRAWS = 2  # of enrolment speech: what minutes allow
FEWEST_CHOOSING = 2 * CHOOSING_FOLDS  # of speakers to learn from: fewer cannot judge a back-end
NEVER = (
    "Not among the usual attackers: semi-informed and aligned (personare attack), embedders that were trained on "
    "anonymized speech (personare train embedder, or the scorer adapted), and a second voice embedder (ecapa beside "
    "wespeaker)."
)
WORDS, WORDS_TRAINED = "words", "words, trained"  # labels of the attackers who read and hear no voice
QUICK = "Quick: one embedder and one draw of training speech only; leave out --quick for the strongest attackers."


@dataclass(frozen=True)
class AttackSet:
    """Attackers by label, and what a reader must know about the choice."""

    attackers: Mapping[str, AttackerChoice]
    notes: tuple[str, ...] = ()


def plain_set(embedder: str = PLAIN, *, notes: Sequence[str] = ()) -> AttackSet:
    """Give one attacker for each level of knowledge, with one embedder: what ``--quick`` plays."""
    return AttackSet({level.value: AttackerChoice(level.value, embedder=embedder) for level in LEVELS}, tuple(notes))


def quick_set() -> AttackSet:
    """Give the plain set, and say what is left out."""
    return plain_set(notes=(QUICK,))


def word_set(*, why_not: str = "", learnt_from: int = 0) -> AttackSet:
    """Give the attackers who read the words; ``why_not`` says why nobody can, and stands in the result then.

    One needs no training: tf-idf, by which rare words and topics link people. With enough training speakers
    (``learnt_from``, two texts each) another one learns which habits of style tell people apart.
    """
    if why_not:
        return AttackSet({}, (f"{WORDS_NOT_MEASURED} {why_not}.",))
    reads = Knowledge.IGNORANT.value  # the words of the release against words that were said by known people
    choices = {WORDS: AttackerChoice(reads, embedder="vocabulary", scorer="idf")}
    if learnt_from >= FEWEST_CHOOSING:
        choices[WORDS_TRAINED] = AttackerChoice(reads, embedder="words", scorer="chosen")
    return AttackSet(choices)


def comparison_set(*, attacked: int) -> AttackSet:
    """Give the attackers that compare several methods in minutes: one voice embedder, and what is no voice for free."""
    levels = (Knowledge.IGNORANT, Knowledge.LAZY_INFORMED)
    choices = {
        level.value: AttackerChoice(level.value, embedder=PLAIN, enroll_draws=COMPARISON_DRAWS) for level in levels
    }
    if attacked < FEWEST_SPEAKERS:
        return AttackSet(choices, (f"The informed attacker was not played: {_too_few(attacked)}",))
    embedders = JOINT.join((PLAIN, "energy", "rhythm", "spectrum"))
    choices[Knowledge.INFORMED.value] = AttackerChoice(
        Knowledge.INFORMED.value, embedder=embedders, scorer="chosen", enroll_draws=COMPARISON_DRAWS, folds=FOLDS
    )
    return AttackSet(choices, ("personare evaluate plays more embedders and draws, and gets further.",))


def _too_few(attacked: int) -> str:
    return f"{attacked} people are too few to learn from each other, from {FEWEST_SPEAKERS} on it does."


def strongest_set(*, attacked: int, learnt_from: int, invertible: bool = False) -> AttackSet:
    """Give the strongest set for so many attacked people, and others with two utterances or more to learn from.

    ``invertible`` says that the method's secret numbers can be estimated and undone: somebody tries.
    """
    there = [name for name in EMBEDDERS if not missing(*models_of_embedder(name))]
    absent = [name for name in EMBEDDERS if name not in there]
    voice = VOICE if VOICE in there else PLAIN  # a missing model is named when it is opened
    folds = FOLDS if attacked >= FEWEST_SPEAKERS else 0
    choosing = bool(folds) or learnt_from >= FEWEST_CHOOSING or not learnt_from  # who learns from nobody is not played
    choices = {level.value: AttackerChoice(level.value, embedder=voice) for level in LEVELS if level is not LEVELS[-1]}
    choices[Knowledge.INFORMED.value] = AttackerChoice(
        Knowledge.INFORMED.value,
        embedder=JOINT.join(dict.fromkeys((voice, *there))) if choosing else voice,
        scorer="chosen" if choosing else "plda",
        train_draws=TRAIN_DRAWS,
        folds=folds,
    )
    if invertible:
        choices[Knowledge.INVERTING.value] = AttackerChoice(
            Knowledge.INVERTING.value,
            embedder=voice,
            scorer="chosen" if learnt_from >= FEWEST_CHOOSING else "plda",
        )
    notes = [NEVER]
    if absent:
        models = dict.fromkeys(model for name in absent for model in missing(*models_of_embedder(name)))
        listed = f"Embedders that did not take part, because their models are not there: {', '.join(absent)}"
        instead = "" if VOICE in there else f" Voices are compared by {PLAIN}, which is weaker than {VOICE}."
        notes.append(f"{listed}; personare models fetch {' '.join(models)}.{instead}")
    if not choosing:
        notes.append(
            f"The informed attacker compares by PLDA: {learnt_from} people to learn from are too few to choose by, "
            f"from {FEWEST_CHOOSING} on it chooses among back-ends and embedders."
        )
    if not folds:
        notes.append(f"The informed attacker did not learn from the attacked corpus itself: {_too_few(attacked)}")
    return AttackSet(choices, tuple(notes))
