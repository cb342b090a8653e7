"""Whether words of a picture are cut by its edge or stand on each other, by the widths of Helvetica."""

from __future__ import annotations

import itertools

from personare.reports.drawing.lettering import text_width
from personare.reports.drawing.shapes import Clip, Scene, Shape, Words


def flat(shapes: tuple[Shape, ...]) -> list[Shape]:
    return [inner for shape in shapes for inner in (flat(shape.shapes) if isinstance(shape, Clip) else [shape])]


def words_of(drawn: Scene) -> list[Words]:
    return [shape for shape in flat(drawn.shapes) if isinstance(shape, Words)]


def ink_box(word: Words) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a word in Helvetica."""
    wide = text_width(word.text, word.size, bold=word.bold)
    start = -wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[word.anchor]
    if word.upwards:
        return word.x - 0.72 * word.size, word.y - start - wide, word.x, word.y - start
    return word.x + start, word.y - 0.72 * word.size, word.x + start + wide, word.y


def assert_nothing_is_cut_or_covered(drawn: Scene) -> None:
    boxes = [(word.text, ink_box(word)) for word in words_of(drawn) if word.text.strip()]
    for text, (left, top, right, bottom) in boxes:
        assert left >= -0.5 and top >= -0.5, f"'{text}' is cut on the left or above"
        assert right <= drawn.width + 0.5 and bottom <= drawn.height + 0.5, f"'{text}' is cut on the right or below"
    for (one, a), (two, b) in itertools.combinations(boxes, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, f"'{one}' and '{two}' overlap"
