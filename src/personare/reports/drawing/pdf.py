"""A scene as PDF, for papers: one page as large as the scene, lines as lines, words in Helvetica that can be searched.

Written after ISO 32000-1. No date and no random number goes in: the same scene gives the same bytes. Words are in the
Latin letters of WinAnsi; a letter beyond them loses its accents, or becomes a question mark.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator

from personare.reports.drawing.lettering import text_width
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
from personare.reports.palette import LIGHT

_ROUND = 0.5523  # how far the control points of a quarter of a circle lie from its ends, in radii


def pdf_bytes(scene: Scene) -> bytes:
    """Write a scene."""
    page = _PageWriter(scene.height)
    content = "\n".join(line for shape in scene.shapes for line in page.lines(shape)).encode("ascii")
    states = " ".join(f"/A{key} << /ca {key / 100:g} /CA {key / 100:g} >>" for key in sorted(page.opacities))
    pictures = " ".join(f"/I{i} {7 + i} 0 R" for i in range(len(page.rasters)))
    resources = (
        f"<< /Font << /F1 5 0 R /F2 6 0 R >> /ExtGState << {states} >> /XObject << {pictures} >> "
        "/ProcSet [/PDF /Text /ImageC] >>"
    )
    box = f"[0 0 {_n(scene.width)} {_n(scene.height)}]"
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Contents 4 0 R /Resources {resources} >>".encode("ascii"),
        _stream("", content),
        font.format("Helvetica").encode("ascii"),
        font.format("Helvetica-Bold").encode("ascii"),
        *(_image(raster) for raster in page.rasters),
    ]
    return _file(objects)


def _file(objects: list[bytes]) -> bytes:
    """Number the objects and add the table of where each begins."""
    parts = [b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"]
    starts = []
    for number, content in enumerate(objects, 1):
        starts.append(sum(map(len, parts)))
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    table = sum(map(len, parts))
    rows = b"".join(b"%010d 00000 n \n" % start for start in starts)
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, rows))
    parts.append(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table))
    return b"".join(parts)


def _stream(entries: str, content: bytes) -> bytes:
    return f"<< {entries}/Length {len(content)} >>\nstream\n".encode("ascii") + content + b"\nendstream"


def _image(raster: Raster) -> bytes:
    size = f"/Width {raster.columns} /Height {raster.rows} "
    return _stream(f"/Type /XObject /Subtype /Image {size}/ColorSpace /DeviceRGB /BitsPerComponent 8 ", raster.rgb)


class _PageWriter:
    """Writes shapes as drawing operators, upside down as PDF counts; remembers the opacities and pictures it used."""

    def __init__(self, height: float) -> None:
        self.height = height
        self.opacities: set[int] = set()
        self.rasters: list[Raster] = []

    def lines(self, shape: Shape) -> Iterator[str]:
        """Give the operators of a shape, between saving and restoring the state."""
        yield "q"
        if isinstance(shape, Clip):
            yield f"{self._box(shape)} re W n"
            for inner in shape.shapes:
                yield from self.lines(inner)
        elif isinstance(shape, Raster):
            x, y, width, height = self._box(shape).split()
            yield f"{width} 0 0 {height} {x} {y} cm /I{len(self.rasters)} Do"
            self.rasters.append(shape)
        elif isinstance(shape, Words):
            yield self._words(shape)
        elif isinstance(shape, Circle):
            yield _paint(shape.colour, stroke=shape.width > 0)
            yield f"{_n(shape.width)} w {self._circle(shape)} {'S' if shape.width else 'f'}"
        else:
            yield from self._path(shape)
        yield "Q"

    def _box(self, shape: Clip | Raster) -> str:
        bottom = self.height - shape.y - shape.height
        return " ".join(map(_n, (shape.x, bottom, shape.width, shape.height)))

    def _at(self, point: PlotPoint) -> str:
        return f"{_n(point[0])} {_n(self.height - point[1])}"

    def _path(self, shape: Polyline | Polygon) -> Iterator[str]:
        if shape.opacity < 1:
            key = round(100 * shape.opacity)
            self.opacities.add(key)
            yield f"/A{key} gs"
        way = f"{self._at(shape.points[0])} m " + " ".join(f"{self._at(p)} l" for p in shape.points[1:])
        if isinstance(shape, Polygon):
            yield _paint(shape.colour, stroke=False)
            yield f"{way} h f"
        else:
            yield _paint(shape.colour, stroke=True)
            yield f"{_n(shape.width)} w 1 j [{' '.join(map(_n, shape.dash))}] 0 d"
            yield f"{way} S"

    def _circle(self, shape: Circle) -> str:
        """Four curves, one for each quarter."""
        x, y, r = shape.x, shape.y, shape.radius
        ends = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 0)]
        quarters = []
        for (a, b), (c, d) in itertools.pairwise(ends):
            controls = ((a + _ROUND * c, b + _ROUND * d), (c + _ROUND * a, d + _ROUND * b), (c, d))
            quarters.append(" ".join(self._at((x + r * u, y + r * v)) for u, v in controls) + " c")
        return f"{self._at((x + r, y))} m {' '.join(quarters)}"

    def _words(self, shape: Words) -> str:
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor]
        back = share * text_width(shape.text, shape.size, bold=shape.bold)
        start = (shape.x, shape.y + back) if shape.upwards else (shape.x - back, shape.y)
        turn = "0 1 -1 0" if shape.upwards else "1 0 0 1"
        font = f"/F{2 if shape.bold else 1} {_n(shape.size)} Tf"
        return f"{_paint(shape.colour, stroke=False)} BT {font} {turn} {self._at(start)} Tm {_text(shape.text)} Tj ET"


def _paint(colour: str, *, stroke: bool) -> str:
    digits = (LIGHT["ink"] if colour == INK else colour).lstrip("#")
    parts = (f"{int(digits[i : i + 2], 16) / 255:.3f}" for i in (0, 2, 4))
    return f"{' '.join(parts)} {'RG' if stroke else 'rg'}"


def _text(text: str) -> str:
    r"""Write a string for PDF.

    >>> print(_text("a (b) \\ é"))
    (a \(b\) \\ \351)
    """
    letters = b"".join(_winansi(letter) for letter in text)
    return (
        "("
        + "".join(f"\\{b:03o}" if b < 32 or b > 126 else f"\\{chr(b)}" if b in b"()\\" else chr(b) for b in letters)
        + ")"
    )


def _winansi(letter: str) -> bytes:
    try:
        return letter.encode("cp1252")
    except UnicodeEncodeError:
        if unicodedata.combining(letter):
            return b""
        return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore") or b"?"


def _n(value: float) -> str:
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
