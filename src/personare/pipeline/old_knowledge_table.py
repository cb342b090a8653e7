"""What attackers achieved, in lines for a terminal: one row per attacker and metric, and who is exposed most."""

from __future__ import annotations

from personare.pipeline.old_knowledge import Campaign


def table_rows(found: Campaign) -> tuple[list[str], list[list[str]]]:
    """Make the printed table: one row per attacker, conversation length and metric, with interval and chance."""
    head = ["attacker", "L", "metric", "value [95 % interval]", "chance", "n"]
    rows = []
    for outcome in found.outcomes:
        for finding in outcome.findings:
            conditions = [outcome.attacker, str(finding.conditions["L"])]
            rows.append([*conditions, finding.metric.title, finding.text, finding.chance_text, str(finding.estimate.n)])
    return head, rows


def exposed_lines(found: Campaign, *, most: int = 5) -> list[str]:
    """Name, for each attacker, the speakers linked most often."""
    lines = []
    for outcome in found.outcomes:
        worst = sorted(outcome.linked.items(), key=lambda item: (-item[1], item[0]))[:most]
        named = ", ".join(f"{speaker} {share:.0%}" for speaker, share in worst if share > 0)
        lines.append(f"most exposed to the {outcome.attacker} attacker: {named or 'nobody was linked'}")
    return lines
