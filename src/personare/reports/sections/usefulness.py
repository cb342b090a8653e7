"""What is left of the speech: words (VPC, figure 10), melody, quality; and what the privacy costs."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.reports.bars import Bar, bar_figure
from personare.reports.blocks import Block, Figure, Gallery, Missing, Section, Table, Words
from personare.reports.run import ORIGINAL, Run
from personare.reports.scatter import Point, scatter_figure
from personare.reports.sections.choosing import Palette, groups, overall, shortest, strongest, values, word
from personare.reports.wording import HEAD, NUMBER_COLUMNS, by, rows

SPOKEN = ("wer", "cer")
SOUND = (
    *("f0_spearman", "pitch_correlation", "voicing_error", "ccc", "uar", "pesq", "stoi", "estoi", "visqol"),
    *("dnsmos", "dnsmos_speech", "dnsmos_background"),
)
RISKS = ("linkability", "eer")
USES = ("wer", "cer", "dnsmos", "visqol", "pesq", "estoi", "f0_spearman")


def tradeoff_section(run: Run, palette: Palette) -> Section:
    """Draw the strongest attacker's success against what is left of the speech."""
    every = overall(run.findings)
    figures: list[Figure] = []
    for corpus in values(every, "corpus") or [""]:
        here = [f for f in every if str(f.conditions.get("corpus", "")) == corpus]
        risks = [name for name in RISKS if any(f.metric.name == name for f in here)]
        uses = [name for name in USES if any(f.metric.name == name for f in here)][:2]
        for risk in risks[:1]:
            figures += [f for use in uses if (f := _traded(here, risk, use, corpus, palette)) is not None]
    title = "Privacy against utility"
    if not figures:
        return Section(
            "tradeoff", title, [Missing("Not measured: it needs an attack and a listener on the same speech.")]
        )
    caption = "Each point: one method, the strongest attacker hearing the fewest utterances. Crosses: 95 % intervals."
    return Section("tradeoff", title, [Gallery(figures, caption)])


def _traded(found: Sequence[Finding], risk: str, use: str, corpus: str, palette: Palette) -> Figure | None:
    points = []
    for (method,), group in groups(found, "anonymizer").items():
        attack = strongest(shortest([f for f in group if f.metric.name == risk and "attacker" in f.conditions]))
        heard = [
            f for f in group if f.metric.name == use and f.conditions.get("listener_trained_on", ORIGINAL) == ORIGINAL
        ]
        if attack is not None and heard:
            label = "no protection" if method == ORIGINAL else method
            points.append(Point(label, heard[0], attack, palette.method(method)))
    if not points:
        return None
    names = {"linkability": "Linked", "eer": "Errors of the attacker"}
    title = palette.titled(corpus, f"{names[risk]}, against {points[0].x.metric.title}")
    return scatter_figure(points, name=f"tradeoff-{word(corpus)}-{risk}-{use}", title=title)


def usefulness_section(run: Run, palette: Palette) -> Section:
    """Draw word error rates of every recognizer, then list melody and quality."""
    every, blocks = overall(run.findings), list[Block]()
    spoken = [f for f in every if f.metric.name in SPOKEN]
    bars = [_bars(group, name, corpus, palette) for (corpus, name), group in _by_metric(spoken).items()]
    if bars:
        blocks.append(
            Gallery(bars, "Whiskers: 95 % intervals. Compare with the bar of original speech, not with zero.")
        )
    else:
        blocks.append(Missing("Not measured: words (no recognizer listened)."))
    sound = [f for f in every if f.metric.name in SOUND]
    if sound:
        caption = "Melody and quality; measures that compare with the original have no row without protection"
        blocks.append(Table("utility", caption, HEAD, rows(sound), NUMBER_COLUMNS))
    else:
        blocks.append(Missing("Not measured: melody and quality (no listener for them)."))
    words = "Listeners are programs that recognize words, follow pitch, or rate quality; they stand in for people."
    return Section("usefulness", "What is left of the speech", [Words(words), *blocks])


def _by_metric(findings: Sequence[Finding]) -> dict[tuple[str, str], list[Finding]]:
    found: dict[tuple[str, str], list[Finding]] = {}
    for f in findings:
        found.setdefault((str(f.conditions.get("corpus", "")), f.metric.name), []).append(f)
    return found


def _bars(found: Sequence[Finding], name: str, corpus: str, palette: Palette) -> Figure:
    bars = []
    for (method,), group in groups(found, "anonymizer").items():
        label = "no protection" if method == ORIGINAL else method
        bars += [Bar(label, by(f), f, palette.listener(str(f.conditions.get("listener")))) for f in group]
    file = f"{name}-{word(corpus)}".replace("_", "-")
    return bar_figure(bars, name=file, title=palette.titled(corpus, found[0].metric.title))
