"""The pages of the documentation as the tests read them: their code blocks, links, options and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path

    @property
    def name(self) -> str:
        """Where it lies, from the root of the project."""
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def prose(self) -> str:
        """The page without its code blocks."""
        return FENCE.sub("", self.text)

    def blocks(self, *languages: str) -> list[str]:
        """Give the code blocks of these languages ("" for those that name none), without their indentation."""
        found = []
        for indent, language, code in FENCE.findall(self.text):
            if language in languages:
                found.append("".join(line.removeprefix(indent) for line in code.splitlines(keepends=True)))
        return found

    @property
    def inline(self) -> list[str]:
        """What stands in backticks."""
        return INLINE.findall(self.prose)

    @property
    def links(self) -> list[str]:
        """Where it links to, pictures too."""
        return LINK.findall(self.prose)

    @cached_property
    def anchors(self) -> set[str]:
        """The headings, as a browser finds them."""
        titles = re.findall(r"^#+ (.+)$", self.prose, re.MULTILINE)
        plain = [re.sub(r"[^\w\s-]", "", title.lower()).strip() for title in titles]
        generated = re.findall(r"^::: (personare\.[\w.]+)$", self.text, re.MULTILINE)
        return {re.sub(r"[\s-]+", "-", title) for title in plain} | set(generated)

    def table(self, heading: str | None = None) -> Iterator[list[str]]:
        """Give the rows of the first table below a heading (None: of the page), without its head."""
        text = self.text if heading is None else self.text.split(f" {heading}\n", 1)[1]
        rows: list[list[str]] = []
        for line in text.splitlines():
            if line.startswith("|"):
                rows.append([cell.strip() for cell in line.replace("\\|", "/").strip("|").split("|")])
            elif rows:
                break
        yield from rows[2:]


def pages() -> list[Page]:
    """Every page: the site's, and those beside it."""
    return [*(Page(path) for path in sorted(DOCS.rglob("*.md"))), *(Page(ROOT / name) for name in BESIDE)]
