"""Which answers a test takes: every scale within its ends, every recording in a cluster, everything listened to."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from personare.core.errors import PersonareError
from personare.panels import Test, clustering, mos, unified
from personare.panels.folder import PlannedTrial

HEARD_SHARE = 0.9  # of a sound that must have been played: browsers round
CLOCKS_DIFFER_S = 5.0  # of the page and the server
MOST_MOVES = 10_000
LONGEST_MS = 86_400_000


class AnswerError(PersonareError):
    """An answer that the test does not take."""


def checked_answer(test: Test, trial: PlannedTrial, answer: Any) -> dict[str, Any]:
    """Give an answer in its one form, or refuse it."""
    if not isinstance(answer, Mapping):
        raise AnswerError("an answer is an object")
    if test in ("abx", "expression"):
        if set(answer) != {"choice"} or answer["choice"] not in ("A", "B"):
            raise AnswerError("choose A or B")
        return {"choice": answer["choice"]}
    if test == "clustering":
        return _clusters(trial, answer)
    rules = unified if test == "unified" else mos
    if set(answer) != set(rules.SCALES):
        raise AnswerError(f"rate {', '.join(rules.SCALES)}")
    for name, value in answer.items():
        if not _whole(value, rules.LOW, rules.HIGH):
            raise AnswerError(f"{name} is a whole number from {rules.LOW} to {rules.HIGH}")
    return {name: answer[name] for name in rules.SCALES}


def _clusters(trial: PlannedTrial, answer: Mapping[Any, Any]) -> dict[str, Any]:
    """Take a cluster from 1 to 4 for every recording, and how often recordings changed their cluster."""
    placed, moves = answer.get("clusters"), answer.get("moves")
    if set(answer) != {"clusters", "moves"} or not isinstance(placed, Mapping) or not _whole(moves, 0, MOST_MOVES):
        raise AnswerError("put every recording into a cluster")
    if set(placed) != {s.token for s in trial.stimuli}:
        raise AnswerError("put every recording into a cluster")
    if not all(_whole(cluster, 1, clustering.MOST_CLUSTERS) for cluster in placed.values()):
        raise AnswerError(f"there are {clustering.MOST_CLUSTERS} clusters")
    return {"clusters": dict(placed), "moves": moves}


def checked_listening(trial: PlannedTrial, listening: Any) -> dict[str, Any]:
    """Take how long every sound was played (ms) and how often, and the time on the page; everything must be heard."""
    if not isinstance(listening, Mapping) or set(listening) != {"played_ms", "plays", "page_ms"}:
        raise AnswerError("listening is played_ms, plays and page_ms")
    played, plays, page_ms = listening["played_ms"], listening["plays"], listening["page_ms"]
    tokens = {s.token for s in trial.stimuli}
    if not isinstance(played, Mapping) or not isinstance(plays, Mapping) or {*played, *plays} - tokens:
        raise AnswerError("listening names the sounds of the trial")
    if not _whole(page_ms, 0, LONGEST_MS):
        raise AnswerError("page_ms is a whole number of milliseconds")
    for sound in trial.stimuli:
        if not _whole(played.get(sound.token), 0, LONGEST_MS) or not _whole(plays.get(sound.token), 0, MOST_MOVES):
            raise AnswerError("listen to everything first")
        if played[sound.token] < HEARD_SHARE * 1000 * sound.seconds or plays[sound.token] < 1:
            raise AnswerError("listen to everything first")
    return {"played_ms": dict(played), "plays": dict(plays), "page_ms": page_ms}


def check_time(trial: PlannedTrial, listening: Mapping[str, Any], *, elapsed_s: float, sent: Set[str]) -> None:
    """Refuse what cannot have been heard, by the server's own clock, whatever the page reports.

    Sounds are played one after the other, so that a trial takes at least as long as its sounds; each must have been
    sent. Reported times must fit into ``elapsed_s``, the seconds since the trial was first shown.
    """
    lengths = {sound.token: sound.seconds for sound in trial.stimuli}
    least_s = HEARD_SHARE * sum(lengths.values())
    if elapsed_s < least_s or not lengths.keys() <= sent:
        raise AnswerError(f"listen to everything first: that takes at least {least_s:.1f} s")
    reported_s = max(listening["page_ms"], sum(listening["played_ms"].values())) / 1000
    if reported_s > elapsed_s + CLOCKS_DIFFER_S:
        raise AnswerError("the page reports more time than has passed since it was shown; load it again")


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
