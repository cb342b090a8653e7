"""A scene as SVG: in a page it follows the reader's light or dark screen, as a file it stands on white."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Iterator
from html import escape

from personare.reports.drawing.shapes import (
    INK,
    Circle,
    Clip,
    PlotPoint,
    Polygon,
    Polyline,
    Raster,
    Scene,
    Shape,
    Words,
)
from personare.reports.palette import LIGHT, NEUTRAL, SERIES

FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_FIXED = {INK: LIGHT["ink"]}
_OF_THE_PAGE = {
    INK: "currentColor",
    **{LIGHT[name]: f"var(--{name})" for name in ("soft", "line", "bad", "warn", "good")},
    **{colour: f"var(--c{i})" for i, colour in enumerate((NEUTRAL, *SERIES))},
}


def page_svg(scene: Scene, *, name: str = "") -> str:
    """Write a scene to put into a page, in the page's colours.

    ``name`` goes before every id, because one page holds many pictures.
    """
    return _svg(scene, _OF_THE_PAGE, name=name)


def file_svg(scene: Scene, *, alt: str = "") -> str:
    """Write a scene as a file of its own, in light colours on white; ``alt`` says what it shows."""
    size = f' width="{_n(scene.width)}pt" height="{_n(scene.height)}pt" style="background: {LIGHT["paper"]}"'
    return '<?xml version="1.0" encoding="utf-8"?>\n' + _svg(scene, _FIXED, size=size, alt=alt) + "\n"


def _svg(scene: Scene, colours: dict[str, str], *, name: str = "", size: str = "", alt: str = "") -> str:
    writer = _SvgWriter(colours, escape(f"{name}-clip" if name else "clip"))
    title = f"<title>{_escaped(alt)}</title>\n" if alt else ""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(scene.width)} {_n(scene.height)}"{size} '
        f'font-family="{FONTS}" stroke-linejoin="round">\n{title}'
    )
    return head + "\n".join(line for shape in scene.shapes for line in writer.lines(shape)) + "\n</svg>"


class _SvgWriter:
    """Writes shapes as elements; counts the clipping boxes to name them."""

    def __init__(self, colours: dict[str, str], clip_name: str) -> None:
        self.colours, self.clip_name, self.clips = colours, clip_name, 0

    def lines(self, shape: Shape) -> Iterator[str]:
        """Give the elements of a shape."""
        if isinstance(shape, Clip):
            yield from self._clip(shape)
        elif isinstance(shape, Raster):
            box = f'x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.width)}" height="{_n(shape.height)}"'
            source = base64.b64encode(_png(shape)).decode("ascii")
            look = 'preserveAspectRatio="none" style="image-rendering: pixelated"'
            yield f'<image {box} {look} href="data:image/png;base64,{source}"/>'
        else:
            colour = escape(self.colours.get(shape.colour, shape.colour))
            yield _element(shape, colour)

    def _clip(self, shape: Clip) -> Iterator[str]:
        self.clips += 1
        name = f"{self.clip_name}-{self.clips}"
        box = f'x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.width)}" height="{_n(shape.height)}"'
        yield f'<clipPath id="{name}"><rect {box}/></clipPath>'
        yield f'<g clip-path="url(#{name})">'
        for inner in shape.shapes:
            yield from self.lines(inner)
        yield "</g>"


def _element(shape: Polyline | Polygon | Circle | Words, colour: str) -> str:
    if isinstance(shape, Words):
        bold = ' font-weight="bold"' if shape.bold else ""
        anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
        turn = f' transform="rotate(-90 {_n(shape.x)} {_n(shape.y)})"' if shape.upwards else ""
        place = f'x="{_n(shape.x)}" y="{_n(shape.y)}" font-size="{_n(shape.size)}" fill="{colour}"'
        return f"<text {place}{anchor}{bold}{turn}>{_escaped(shape.text)}</text>"
    if isinstance(shape, Circle):
        paint = f'fill="none" stroke="{colour}" stroke-width="{_n(shape.width)}"' if shape.width else f'fill="{colour}"'
        return f'<circle cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}" {paint}/>'
    opacity = f' opacity="{_n(shape.opacity)}"' if shape.opacity < 1 else ""
    if isinstance(shape, Polygon):
        return f'<path d="{_path(shape.points)}Z" fill="{colour}"{opacity}/>'
    dash = f' stroke-dasharray="{" ".join(map(_n, shape.dash))}"' if shape.dash else ""
    paint = f'fill="none" stroke="{colour}" stroke-width="{_n(shape.width)}"'
    return f'<path d="{_path(shape.points)}" {paint}{dash}{opacity}/>'


def _escaped(text: str) -> str:
    """Write any text as XML; the few characters that XML cannot hold are left out."""
    return escape(re.sub("[\x00-\x1f\ufffe\uffff]", "", text))


def _path(points: tuple[PlotPoint, ...]) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _n(value: float) -> str:
    """Write a number with at most two places.

    >>> [_n(v) for v in (1.0, 0.126, -0.001)]
    ['1', '0.13', '0']
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _png(raster: Raster) -> bytes:
    """Write coloured cells as a PNG, one pixel a cell."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    row = 3 * raster.columns
    unfiltered = b"".join(b"\0" + raster.rgb[i * row : (i + 1) * row] for i in range(raster.rows))
    head = struct.pack(">IIBBBBB", raster.columns, raster.rows, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(unfiltered, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
