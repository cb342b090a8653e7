"""A small reader of PDF files: follows the table of objects as a viewer does, and gives back objects and words."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class PdfFile:
    """The numbered objects of a file, the operators of its page and the words shown."""

    objects: dict[int, bytes]
    operators: str
    words: list[str]

    def box(self) -> list[float]:
        """The page's size: left, bottom, right, top."""
        found = re.search(rb"/MediaBox \[([^\]]+)\]", self.objects[3])
        assert found is not None
        return [float(number) for number in found.group(1).split()]


def read_pdf(content: bytes) -> PdfFile:
    """Read a file by its table of objects; anything that does not fit is an assertion."""
    assert content.startswith(b"%PDF-1.4\n") and content.endswith(b"%%EOF\n")
    tail = re.search(rb"startxref\n(\d+)\n%%EOF\n$", content)
    assert tail is not None
    table = content[int(tail.group(1)) :]
    head = re.match(rb"xref\n0 (\d+)\n", table)
    assert head is not None
    rows = [table[head.end() + 20 * i : head.end() + 20 * (i + 1)] for i in range(int(head.group(1)))]
    assert rows[0] == b"0000000000 65535 f \n" and all(re.fullmatch(rb"\d{10} 00000 n \n", row) for row in rows[1:])
    assert b"/Size %d /Root 1 0 R" % len(rows) in table
    objects = {number: _object(content, number, int(row[:10])) for number, row in enumerate(rows[1:], 1)}
    stream = re.fullmatch(rb"<< /Length (\d+) >>\nstream\n(.*)\nendstream", objects[4], re.DOTALL)
    assert stream is not None and int(stream.group(1)) == len(stream.group(2))
    operators = stream.group(2).decode("ascii")
    assert operators.split().count("q") == operators.split().count("Q")
    shown = re.findall(r"\(((?:\\.|[^\\()])*)\) Tj", operators)
    return PdfFile(objects, operators, [_unescaped(text) for text in shown])


def _object(content: bytes, number: int, start: int) -> bytes:
    begin = b"%d 0 obj\n" % number
    assert content[start : start + len(begin)] == begin, f"object {number} does not begin where the table says"
    return content[start + len(begin) : content.index(b"\nendobj\n", start)]


def _unescaped(text: str) -> str:
    octal = re.sub(r"\\(\d{3})", lambda code: chr(int(code.group(1), 8)), text)
    return re.sub(r"\\([()\\])", r"\1", octal).encode("latin-1").decode("cp1252")
