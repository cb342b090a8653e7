"""The verdicts at a glance: of each method one track from guessing to no protection, the strongest attack marked on it.

Rows share one scale, the share of the unprotected risk that is left, so that methods measured by different metrics can
stand below each other; the words at the marks give the numbers themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from personare.core.findings import Estimate, Finding
from personare.core.text import number_text
from personare.reports.blocks import Figure, Tone
from personare.reports.drawing.lettering import LEADING, block_width, wrapped
from personare.reports.drawing.shapes import INK, Anchor, Circle, Polyline, Scene, Shape, Words, box
from personare.reports.palette import LIGHT
from personare.reports.protection import MOST_LEFT, remaining
from personare.reports.sections.choosing import groups, strongest, utterances
from personare.reports.verdicts import MethodVerdict

WIDTH_PT, PAD = 316.0, 4.0
NAME_PT, MARK_PT, END_PT = 11.5, 10.0, 9.5  # sizes of letters
TRACK_PT, GAP_PT = 13.0, 17.0
TRACK_OPACITY, INTERVAL_OPACITY = 0.1, 0.28
COLOURS: dict[Tone, str] = {
    "not-shown": LIGHT["good"],
    "partly": LIGHT["warn"],
    "exposed": LIGHT["bad"],
    "undecided": LIGHT["soft"],
}
REACHED = {
    "linkability": "{} linked",
    "singling_out": "{} singled out",
    "eer": "{} errors",
    "risk_over_control": "{} inferred",
    "dsys": "D_sys {}",
    "rank_link_p50": "median rank {}",
    "rank_single_p50": "median rank {}",
}
SO_FAR = " so far"  # nobody was played who has learnt what the method does
NOTHING_HIDDEN, PERFECT, HALF = "no protection", "perfect attack", "half"


@dataclass(frozen=True)
class _Ends:
    """What stands at both ends of a track."""

    low: str
    high: str


def verdict_figure(verdicts: Sequence[MethodVerdict], *, name: str = "verdict") -> Figure:
    """Draw one track per method; the ends are named once where they are the same for all."""
    ends = [_ends(v) for v in verdicts]
    once = len(set(ends)) == 1
    shapes: list[Shape] = []
    top = PAD
    for i, (verdict, end) in enumerate(zip(verdicts, ends, strict=True)):
        row = list(_row(verdict, top))
        shapes += row
        top = max(_bottom(shape) for shape in row)
        if not once or i == len(verdicts) - 1:
            shapes += _end_words(end, top)
            top += END_PT * LEADING + 2
        top += GAP_PT
    alt = "; ".join(_words(v, end) for v, end in zip(verdicts, ends, strict=True))
    return Figure(Scene(WIDTH_PT, top - GAP_PT + PAD, tuple(shapes)), f"{alt}.", name=name)


def _x(share: float) -> float:
    return PAD + min(max(share, 0.0), 1.0) * (WIDTH_PT - 2 * PAD)


def _row(verdict: MethodVerdict, top: float) -> Iterator[Shape]:
    """The method and its verdict in words, what the strongest attack reaches, and the track."""
    colour = COLOURS[verdict.tone]
    method, word = verdict.label.rpartition(": ")[0], f"Voice {verdict.protection}"
    word += SO_FAR if verdict.protection == "protected" and not verdict.learned else ""
    space = WIDTH_PT - 2 * PAD - block_width(word, NAME_PT, bold=True) - 8
    lines = wrapped(method, NAME_PT, space, bold=True).split("\n")
    for i, line in enumerate(lines):
        yield Words(PAD, top + NAME_PT * (0.92 + LEADING * i), line, NAME_PT, bold=True)
    yield Words(WIDTH_PT - PAD, top + NAME_PT * 0.92, word, NAME_PT, colour, "end", bold=True)
    top += NAME_PT * LEADING * len(lines) + 2
    mark = _share(verdict)
    text = wrapped(_mark(verdict), MARK_PT, WIDTH_PT - 2 * PAD)
    at, anchor = _anchored(_x(0.0 if math.isnan(mark) else mark), block_width(text, MARK_PT))
    for line in text.split("\n"):
        yield Words(at, top + MARK_PT * 0.92, line, MARK_PT, anchor=anchor)
        top += MARK_PT * LEADING
    yield from _track(verdict, top + 3, mark, colour)


def _anchored(x: float, wide: float) -> tuple[float, Anchor]:
    """Centre words over a place, or let them begin or end with the track where they would reach beyond it."""
    if x - wide / 2 < PAD:
        return PAD, "start"
    return (WIDTH_PT - PAD, "end") if x + wide / 2 > WIDTH_PT - PAD else (x, "middle")


def _track(verdict: MethodVerdict, top: float, mark: float, colour: str) -> Iterator[Shape]:
    middle, bottom = top + TRACK_PT / 2, top + TRACK_PT
    yield box(_x(0), top, _x(1) - _x(0), TRACK_PT, INK, TRACK_OPACITY)
    if not math.isnan(mark):
        low, high = _interval(verdict)
        if not math.isnan(low):
            yield box(_x(low), top, _x(high) - _x(low), TRACK_PT, colour, INTERVAL_OPACITY)
        yield box(_x(0), middle - 2.5, _x(mark) - _x(0), 5.0, colour)
        for share in _weaker(verdict):
            yield Circle(_x(share), middle, 3.0, colour)
            yield Circle(_x(share), middle, 3.0, INK, width=0.9)
        yield box(_x(mark) - 1.75, top - 2, 3.5, TRACK_PT + 4, colour)
    tick = _x(MOST_LEFT)
    yield Polyline(((tick, top), (tick, bottom + 3)), INK, 0.8, (2.0, 2.0), 0.7)
    for end in (_x(0), _x(1)):
        yield Polyline(((end, top), (end, bottom + 3)), INK, 0.8)


def _end_words(ends: _Ends, top: float) -> Iterator[Words]:
    y = top + 2 + END_PT * 0.92
    yield Words(PAD, y, ends.low, END_PT, LIGHT["soft"])
    yield Words(WIDTH_PT - PAD, y, ends.high, END_PT, LIGHT["soft"], "end")
    widest = max(block_width(text, END_PT) for text in (ends.low, ends.high))
    if widest + block_width(HALF, END_PT) / 2 + 6 < WIDTH_PT / 2 - PAD:
        yield Words(_x(MOST_LEFT), y, HALF, END_PT, LIGHT["soft"], "middle")


def _bottom(shape: Shape) -> float:
    if isinstance(shape, Words):
        return shape.y
    if isinstance(shape, Circle):
        return shape.y + shape.radius
    points = getattr(shape, "points", ())
    return max((y for _, y in points), default=0.0)


def _far_end(verdict: MethodVerdict) -> Finding | None:
    """What the track ends with: unprotected speech, or where none was attacked an attacker who is always right."""
    attack = verdict.strongest
    if attack is None or verdict.unprotected is not None:
        return verdict.unprotected
    value = attack.metric.bounds[1 if attack.metric.better == "lower" else 0]
    return Finding(attack.metric, Estimate(value, value, value, 0), chance=attack.chance)


def _share(verdict: MethodVerdict) -> float:
    return math.nan if verdict.strongest is None else remaining(verdict.strongest, _far_end(verdict))


def _interval(verdict: MethodVerdict) -> tuple[float, float]:
    """Both ends of the strongest attack's interval, as shares."""
    attack = verdict.strongest
    if attack is None:
        return math.nan, math.nan
    ends = [remaining(attack, _far_end(verdict), value=end) for end in (attack.estimate.low, attack.estimate.high)]
    return min(ends), max(ends)


def _weaker(verdict: MethodVerdict) -> list[float]:
    """The best of every other attacker by the same metric, as shares."""
    attack, far = verdict.strongest, _far_end(verdict)
    if attack is None:
        return []
    same = [f for f in verdict.attacks if f.metric.name == attack.metric.name]
    best = [strongest(group) for group in groups(same, "attacker").values()]
    others = [f for f in best if f is not None and f.conditions.get("attacker") != attack.conditions.get("attacker")]
    return [share for f in others if not math.isnan(share := remaining(f, far))]


def _mark(verdict: MethodVerdict) -> str:
    attack = verdict.strongest
    if attack is None:
        return "nothing was measured"
    count = utterances(attack)
    speech = "1 utterance" if count == 1 else f"{count} utterances"
    reached = REACHED.get(attack.metric.name, f"{attack.metric.title} {{}}").format(attack.value_text)
    return f"{attack.conditions.get('attacker')}{f', {speech}' if 'L' in attack.conditions else ''}: {reached}"


def _ends(verdict: MethodVerdict) -> _Ends:
    attack, far = verdict.strongest, _far_end(verdict)
    if attack is None or far is None:
        return _Ends("guessing", NOTHING_HIDDEN)
    name = PERFECT if verdict.unprotected is None else NOTHING_HIDDEN
    return _Ends(f"guessing {attack.chance_text}", f"{name} {number_text(far.estimate.value, far.metric.unit)}")


def _words(verdict: MethodVerdict, ends: _Ends) -> str:
    return f"{verdict.label}; strongest attack: {_mark(verdict)}, between {ends.low} and {ends.high}"
