"""Pictures: the same bytes twice, nothing that is not a number, no word cut or over another, files that can be read."""

from __future__ import annotations

import itertools
import math
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import OutputError
from personare.reports.drawing.axes import Axis, limits, rows_axis
from personare.reports.drawing.items import Band, Cells, Curve, Level, Note, Panel, Ring, Whisker
from personare.reports.drawing.panels import picture
from personare.reports.drawing.pdf import pdf_bytes
from personare.reports.drawing.shapes import Clip, Scene, Words, marker
from personare.reports.drawing.svg import file_svg, page_svg
from personare.reports.figures import COLOURS, GREY, MARKERS, save_drawing, spread
from reports.drawing.overlaps import assert_nothing_is_cut_or_covered, words_of
from reports.drawing.pdf_reader import read_pdf

SVG = "{http://www.w3.org/2000/svg}"
LONG = "random-projection_of_a-very-long/method.name with words, <angles> & more words than fit into one line"


def scene(title: str = "A title", name: str = "lazy", values: tuple[float, ...] = (0.9, 0.4, 0.1)) -> Scene:
    """One of everything."""
    x = [1.0, 10.0, 100.0][: len(values)]
    items = (
        Band(x, [v - 0.1 for v in values], [v + 0.1 for v in values], COLOURS[0]),
        Curve(x, values, COLOURS[0], marker="square", dash=(3.0, 2.0), label=name),
        Level(0.5, dash=(4.0, 2.0), label="guessing"),
        Level(10, across=True, colour=GREY),
        Whisker((10.0, 0.2), (10.0, 0.6)),
        Ring(10.0, 0.4),
        Note(100.0, 0.1, "an end", right=6),
    )
    panel = Panel(Axis(0.9, 120, label="people N", scale="log"), Axis(0, 1, label="share"), items, title)
    cells = Cells(2, 2, bytes([0, 34, 78, 254, 232, 56] * 2))
    matrix = Panel(Axis(0, 1, ticks=()), Axis(0, 1, ticks=()), (cells,), framed=False)
    return picture([panel, matrix], width=400, height=150, widths=(3, 1))


def test_the_same_scene_gives_the_same_bytes() -> None:
    assert page_svg(scene(), name="a") == page_svg(scene(), name="a")
    assert file_svg(scene()) == file_svg(scene()) and pdf_bytes(scene()) == pdf_bytes(scene())


def test_svg_in_a_page_follows_its_colours_and_keeps_its_own_names() -> None:
    text = page_svg(scene(), name="first")
    assert (
        "currentColor" in text and "var(--c1)" in text and "var(--c0)" in text and not re.search("#[0-9a-f]{6}", text)
    )
    names = re.findall(r'id="([^"]+)"', text)
    assert names == ["first-clip-1", "first-clip-2"] == re.findall(r"url\(#([^)]+)\)", text)
    assert "width=" not in text[: text.index(">")], "the page says how large it is"


def test_svg_as_a_file_stands_alone() -> None:
    text = file_svg(scene(), alt="What <it> shows")
    root = ElementTree.fromstring(text.partition("\n")[2])  # noqa: S314 - our own
    assert "var(" not in text and "currentColor" not in text and root.get("width") == "400pt"
    assert root[0].tag == f"{SVG}title" and root[0].text == "What <it> shows"


@given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="\x7f\x85\u2028\u2029", exclude_categories=["Cs"]),
        min_size=1,
        max_size=30,
    )
)
def test_any_words_stay_words(text: str) -> None:
    """In SVG exactly; in PDF as far as WinAnsi goes. Neither file breaks."""
    drawn = Scene(100, 20, (Words(5, 15, text),))
    root = ElementTree.fromstring(page_svg(drawn))  # noqa: S314 - our own
    assert (root[0].text or "") == re.sub("[\x00-\x1f\ufffe\uffff]", "", text)
    (shown,) = read_pdf(pdf_bytes(drawn)).words
    assert len(shown) or all(ord(letter) > 127 for letter in text)
    if text.isascii():
        assert shown == text


def test_markup_in_names_is_escaped() -> None:
    text = page_svg(scene(name="<b>&'\"", title="a < b & c"), name='x"><script>')
    assert "<b>" not in text and "<script>" not in text and "&lt;b&gt;&amp;" in text and "a &lt; b &amp; c" in text


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=3))
def test_what_is_not_finite_is_left_out(values: list[float]) -> None:
    small = [v for v in values if not (math.isfinite(v) and abs(v) > 1e12)] or [math.nan]
    drawn = scene(values=tuple(small))
    for text in (page_svg(drawn), pdf_bytes(drawn).decode("latin-1")):
        assert not re.search(r"\b(nan|inf)\b", text)


def test_a_line_breaks_where_a_value_is_missing() -> None:
    curve = Curve([0, 1, 2, 3, 4], [1, 1, math.nan, 1, 1], marker="circle")
    drawn = picture([Panel(Axis(0, 4, grid=False), Axis(0, 2, grid=False), (curve,))], width=200, height=80)
    clip = next(shape for shape in drawn.shapes if isinstance(shape, Clip))
    assert len(clip.shapes) == 2
    assert page_svg(drawn).count("<circle") == 4


def test_one_point_and_equal_values_have_space_around_them() -> None:
    for values in ([3.0], [3.0, 3.0], [0.0], [math.nan]):
        axis = Axis(*limits(values))
        curve = Curve(values, values, marker="circle")
        drawn = picture([Panel(axis, axis, (curve,), "One")], width=200, height=100)
        assert len(axis.ticks_over(150)) >= 2
        assert page_svg(drawn).count("<circle") == sum(map(math.isfinite, values))
        assert_nothing_is_cut_or_covered(drawn)


@pytest.mark.parametrize("title", ["short", LONG])
@pytest.mark.parametrize("name", ["b2", LONG])
def test_long_words_are_neither_cut_nor_covered(title: str, name: str) -> None:
    assert_nothing_is_cut_or_covered(scene(title=title, name=name))
    panel = Panel(
        Axis(0, 100, label=title), rows_axis([name[:20], "b", "c"]), (Note(100, 1, name[:25], right=5),), title
    )
    assert_nothing_is_cut_or_covered(picture([panel], width=320, height=60))


def test_a_legend_names_each_look_once() -> None:
    curve = Curve([0, 1], [0, 1], label="same")
    panel = Panel(Axis(0, 1), Axis(0, 1), (curve, curve), "")
    drawn = picture([panel, panel], width=400, height=80)
    assert [word.text for word in words_of(drawn)].count("same") == 1


def test_labels_move_apart_by_their_heights() -> None:
    places = spread([10.0, 10.0, 10.0, 90.0], [10.0, 30.0, 10.0, 10.0], low=0.0, high=100.0)
    boxes = sorted((p - h / 2, p + h / 2) for p, h in zip(places, [10.0, 30.0, 10.0, 10.0], strict=True))
    assert boxes[0][0] >= 0 and boxes[-1][1] <= 100
    assert all(a[1] <= b[0] + 1e-9 for a, b in itertools.pairwise(boxes))


def test_every_marker_is_its_own_sign() -> None:
    assert len({page_svg(Scene(10, 10, (marker(name, 5, 5, 6, GREY),))) for name in MARKERS}) == len(MARKERS)


def test_pdf_has_the_size_the_words_and_the_picture() -> None:
    drawn = scene(name="a (b) \\ é “c” ő →")
    read = read_pdf(pdf_bytes(drawn))
    assert read.box() == pytest.approx([0, 0, drawn.width, drawn.height], abs=0.01)
    assert {"A title", "people N", "guessing", "an end", "a (b) \\ é “c” o ?"} <= set(read.words)
    assert b"/Width 2 /Height 2" in read.objects[7] and "/I0 Do" in read.operators
    assert b"/BaseFont /Helvetica " in read.objects[5] and b"/WinAnsiEncoding" in read.objects[6]
    assert set(re.findall(r"/A(\d+) gs", read.operators)) == {"13", "15"} and b"/A15 << /ca 0.15" in read.objects[3]


def test_another_programs_reader_finds_the_words(tmp_path: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("needs pdftotext (poppler-utils), which is not on this machine")
    path = save_drawing(scene(), tmp_path / "a.pdf")
    done = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True)
    assert "A title" in done.stdout and "people N" in done.stdout and not done.stderr


def test_files_are_svg_or_pdf_and_others_are_refused(tmp_path: Path) -> None:
    assert save_drawing(scene(), tmp_path / "a.svg", alt="words").read_text(encoding="utf-8").startswith("<?xml")
    assert save_drawing(scene(), tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(OutputError, match=r"a\.png: pictures are drawn as \.svg .* or \.pdf .*, not as '\.png'"):
        save_drawing(scene(), tmp_path / "a.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pdf", "a.svg"]
