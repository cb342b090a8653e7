"""Blocks of a report as typst markup, for a PDF: every text is a string literal, so that nothing in it is code.

Sounds have no place on paper and are left out; folded tables are shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from personare.reports.blocks import (
    AudioExamples,
    Block,
    BulletList,
    Facts,
    FigureRow,
    Notice,
    Paragraph,
    ReportTable,
    Section,
    Statement,
    Statements,
)
from personare.reports.drawing.svg import file_svg
from personare.reports.page import NO_BREAK, unbroken

FOOT = "personare"
INKS = {"exposed": "#a4262c", "broken": "#a4262c", "partly": "#8a5300", "not-shown": "#1f6f43", "kept": "#1f6f43"}
PLAIN_INK = "#44505c"
ALONE = "120mm"  # as wide as one figure by itself is set
WIDE = 6  # columns from which a table is set smaller
WHOLE = 16  # rows up to which a table stays on one page
LONGEST_WORD = 24  # letters after which a word may break
PREAMBLE = """#set document(title: {title}, date: none)
#set page(paper: "a4", margin: (x: 20mm, top: 22mm, bottom: 20mm), numbering: "1 / 1",
  header: context if counter(page).get().first() > 1 [#text(8pt, luma(110), {title}) #h(1fr)
    #text(8pt, luma(110), {foot})])
#set text(font: ("Libertinus Serif",), size: 11pt, lang: "en")
#set par(leading: 0.68em, spacing: 1em)
#show heading.where(level: 1): it => block(above: 0pt, below: 5mm, text(21pt, it.body))
#show heading.where(level: 2): it => block(above: 8mm, below: 3.5mm, sticky: true, text(14pt, it.body))
#show table.cell.where(y: 0): strong
#set table.cell(breakable: false)
#set table(stroke: (x, y) => (bottom: if y == 0 {{ 0.7pt + luma(60) }} else {{ 0.3pt + luma(200) }}),
  inset: (x: 2.2mm, y: 1.6mm), align: left + top)
#show figure.where(kind: table): set figure.caption(position: top)
#show figure.caption: it => align(left, text(9.5pt, luma(70), it.body))
#show figure: set block(breakable: true)
"""


def literal(text: str) -> str:
    r"""Write any text as a string literal; long words may break after _ . / and -, a number and its unit never.

    >>> print(literal('half of "a"\\b #c'))
    "half of \"a\"\\b #c"
    """
    if any(len(word) > LONGEST_WORD for word in text.split()):
        text = "".join(f"{c}\u200b" if c in "_./-:" else c for c in text)
    return _quoted(unbroken(text))


def _quoted(text: str) -> str:
    return '"' + "".join(_LITERAL.get(c, c) for c in text if c.isprintable() or c in f"\n\t\u200b{NO_BREAK}") + '"'


_LITERAL = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": " "}


def as_typst(title: str, subtitle: str, sections: Sequence[Section], *, foot: str = FOOT) -> str:
    """Write a whole document."""
    parts = [PREAMBLE.format(title=literal(title), foot=literal(foot)), f"= #{literal(title)}"]
    parts.append(f"#text(11pt, luma(80), {literal(subtitle)})")
    for section in sections:
        parts += [f"== #{literal(section.title)}", *(_block(block) for block in section.every_block)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph(text, soft):
            return _soft(text) if soft else f"#{literal(text)}"
        case Notice(text):
            return f"#block(fill: luma(242), inset: 3mm, width: 100%, {literal(text)})"
        case BulletList(sentences, soft):
            words = ", ".join(f"[{_soft(text) if soft else f'#{literal(text)}'}]" for text in sentences)
            return f"#list({words})"
        case Statements(statements):
            return "\n\n".join(map(_statement, statements))
        case ReportTable():
            return _table(block)
        case FigureRow(figures, caption):
            width = "100%" if len(figures) > 1 else ALONE
            drawn = [
                f'image(bytes({_quoted(file_svg(f.scene))}), format: "svg", width: {width}, alt: {literal(f.alt)})'
                for f in figures
            ]
            grid = f"grid(columns: {min(2, len(drawn))}, gutter: 4mm, {', '.join(drawn)})"
            return f"#figure({grid}, kind: image, supplement: none, caption: [#{literal(caption)}])"
        case Facts(entries, title):
            cells = ", ".join(f"[#text(luma(80), {literal(k)})], [#{literal(v)}]" for k, v in entries.items())
            over = (
                f'#block(below: 2.5mm, sticky: true, text(11pt, weight: "bold", {literal(title)}))\n' if title else ""
            )
            return f"{over}#text(10pt, grid(columns: (38mm, 1fr), row-gutter: 2.6mm, {cells}))"
        case AudioExamples():
            return ""


def _statement(statement: Statement) -> str:
    ink = INKS.get(statement.tone, PLAIN_INK)
    words = literal(statement.heading if statement.label else statement.heading.upper())
    size = "12pt" if statement.label else "9.5pt"
    mark = f'#text({size}, weight: "bold", fill: rgb("{ink}"), {words}) #linebreak()' if statement.heading else ""
    side = f'stroke: (left: 2pt + rgb("{ink}")), inset: (left: 4mm, y: 1.5mm)'
    gap = "#linebreak() " if statement.sentence else ""
    step = f"{gap}{_soft(f'Next: {statement.next_step}'.replace('`', ''))}" if statement.next_step else ""
    return f"#block({side}, width: 100%, breakable: false)[{mark}#{literal(statement.sentence)}{step}]"


def _soft(text: str) -> str:
    return f"#text(10pt, luma(70), {literal(text)})"


def _table(table: ReportTable) -> str:
    """Set a table over the whole width: words may wrap, numbers stay on their line."""
    if not table.rows:
        return ""
    columns = ", ".join("auto" if i in (0, *table.numbers) else "1fr" for i in range(len(table.head)))
    align = ", ".join("right" if i in table.numbers else "left" for i in range(len(table.head)))
    head = ", ".join(f"[#{literal(name)}]" for name in table.head)
    rows = ",\n  ".join(", ".join(f"[#{literal(cell)}]" for cell in row) for row in table.rows)
    size = "8.5pt" if len(table.head) >= WIDE else "9.5pt"
    body = f"table(columns: ({columns},), align: ({align},), table.header({head}),\n  {rows})"
    caption = f"caption: [#{literal(table.caption)}], gap: 2mm"
    figure = f"#figure(text({size}, {body}), kind: table, supplement: none, {caption})"
    return f"#[#show figure: set block(breakable: false)\n{figure}]" if len(table.rows) <= WHOLE else figure
