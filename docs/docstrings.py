"""Makes docstrings of this project readable for the site: ``name : what it is`` lines, and examples without a heading.

Our docstrings say under Parameters what a field means, on the line of its name, and leave its type to the annotation.
The numpy parser takes that text for a type; here it becomes the description. Loaded by mkdocs.yml, no part of the
package.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

FIELDS = re.compile(r"^(?P<names>\w+(?:, \w+)*) : (?P<text>.+)$")
HEADINGS = ("Parameters", "Examples", "Returns", "Raises")


def rewritten(text: str) -> str:
    """Put descriptions on lines of their own, one for each name, and examples under a heading.

    >>> rewritten("Read.\\n\\nParameters\\n----------\\npath : a file.").splitlines()[-2:]
    ['path', '    a file.']
    >>> rewritten("Add.\\n\\n>>> 1 + 1\\n2").splitlines()[-4:]
    ['Examples', '--------', '>>> 1 + 1', '2']
    """
    lines: list[str] = []
    section = ""
    for line in text.splitlines():
        if line in HEADINGS:
            section = line
        if line.startswith(">>>") and section != "Examples":
            section = "Examples"
            lines += ["Examples", "--------"]
        match = FIELDS.match(line) if section == "Parameters" else None
        lines += [line] if match is None else _fields(match["names"], match["text"])
    return "\n".join(lines)


def _fields(names: str, text: str) -> list[str]:
    """Give the lines of one entry; ``a : one; b : two`` is two of them."""
    first, *more = re.split(r"; (?=\w+(?:, \w+)* : )", text)
    lines = [names, f"    {first}"]
    for entry in more:
        name, _, meaning = entry.partition(" : ")
        lines += [name, f"    {meaning}"]
    return lines


class ReadableDocstrings(griffe.Extension):
    """Rewrites every docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite one."""
        del kwargs
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring.value)
