"""A report can be read by all: a screen reader finds its way, and words stand out from the paper, light or dark."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from personare.reports import palette
from personare.reports.page import render
from personare.reports.report import page_of_run
from personare.reports.run import read_run
from reports.runs import write_run


class Outline(HTMLParser):
    """Collects what a screen reader goes by."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def of(self, *names: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag in names]


def test_the_page_can_be_read_without_eyes(tmp_path: Path) -> None:
    page = Outline(render(page_of_run(read_run(write_run(tmp_path)), sounds="original")))
    assert page.of("html")[0]["lang"] == "en" and page.of("title") and page.of("meta")[1]["name"] == "viewport"
    for landmark in ("header", "main", "nav"):
        assert page.of(landmark), landmark
    assert len(page.of("h1")) == 1 == len(page.of("main")) and all(n.get("aria-label") for n in page.of("nav"))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(b - a <= 1 for a, b in itertools.pairwise(levels)), "no level is skipped"
    drawings = [a for tag, a in page.tags if tag == "div" and a.get("role") == "img"]
    assert len(drawings) == len(page.of("figure")) > 10 and all(len(a["aria-label"]) > 20 for a in drawings)
    sounds = page.of("audio")
    assert len(sounds) == 6 == len({a["aria-label"] for a in sounds}) and all("controls" in a for a in sounds)
    named = [a["id"] for _, a in page.tags if "id" in a]
    assert len(named) == len(set(named)), "an id stands once"
    places = {a["href"][1:] for a in page.of("a")}
    assert places <= set(named) and {a["aria-labelledby"] for a in page.of("section")} == places
    assert all(a.get("scope") for a in page.of("th")) and {a["aria-labelledby"] for a in page.of("table")} <= set(named)


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    bright, dim = sorted((luminance(one), luminance(two)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize(
    ("named", "series", "neutral"),
    [(palette.LIGHT, palette.SERIES, palette.NEUTRAL), (palette.DARK, palette.SERIES_DARK, palette.NEUTRAL_DARK)],
    ids=["light", "dark"],
)
def test_words_and_labels_stand_out_from_the_paper(
    named: dict[str, str], series: tuple[str, ...], neutral: str
) -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21) and contrast("#767676", "#ffffff") == pytest.approx(
        4.54, abs=0.01
    )
    words = [named[name] for name in ("ink", "soft", "mark", "bad", "good")]
    for ground in (named["paper"], named["card"]):
        for colour in (*words, *series, neutral):
            assert contrast(colour, ground) >= 4.5, (colour, ground)
    assert len(set(series)) == len(series) == len(palette.SERIES)
