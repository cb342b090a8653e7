"""What is left of the speech: word error rates of every recognizer (VPC, figure 10), pitch, emotion and quality."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.reports.bar_figures import FindingBar, bar_figure
from personare.reports.blocks import Block, Figure, FigureRow, Paragraph, Section
from personare.reports.finding_rows import attacker_or_listener, findings_table
from personare.reports.run import Run
from personare.reports.sections.choosing import SeriesColours, groups, method_label, overall, slug

WORDS = ("wer", "cer")
SOUND = (
    *("f0_spearman", "pitch_correlation", "voicing_error", "ccc", "uar", "recall", "pesq", "stoi", "estoi", "visqol"),
    *("f0_shape", "energy_shape", "dnsmos", "dnsmos_speech", "dnsmos_background"),
)
TITLE = "What is left of the speech"
READING = "Listeners are programs that recognize words, follow pitch, or rate quality; they stand in for people."
BARS = "Whiskers: 95 % intervals. Compare with the bar of original speech, not with zero."
CAPTION = "Pitch, emotion and quality; measures that compare with the original have no row without protection"


def utility_section(run: Run, colours: SeriesColours) -> Section:
    """Draw word error rates of every recognizer, then list the other measures."""
    every = overall(run.findings)
    rates = {name: [f for f in every if f.metric.name == name] for name in WORDS}
    bars = [
        _bars(group, name, corpus, colours)
        for name, same in rates.items()
        for (corpus,), group in groups(same, "corpus").items()
    ]
    sound = [f for f in every if f.metric.name in SOUND]
    blocks: list[Block] = [FigureRow(bars, BARS)] if bars else []
    blocks += [findings_table(sound, name="utility", caption=CAPTION, folded=False)] if sound else []
    unmeasured = [] if bars else ["words (no recognizer)"]
    unmeasured += [] if sound else ["pitch, emotion and quality (no listener)"]
    return Section("utility", TITLE, [Paragraph(READING), *blocks] if blocks else [], unmeasured)


def _bars(findings: Sequence[Finding], name: str, corpus: str, colours: SeriesColours) -> Figure:
    bars = []
    for (method,), group in groups(findings, "anonymizer").items():
        for f in group:
            series = colours.listener(str(f.conditions.get("listener")))
            bars.append(FindingBar(method_label(method), attacker_or_listener(f), f, series))
    title = colours.titled(corpus, findings[0].metric.title)
    return bar_figure(bars, name=f"{name}-{slug(corpus)}", title=title)
