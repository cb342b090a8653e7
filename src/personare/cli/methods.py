"""personare methods: the strengths to choose from, which anonymizers there are, and with which parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.anonymizers.presets import Preset


def methods(
    name: str | None = typer.Argument(None, help="One method, or module:Class of your own, to see its parameters."),
    papers: bool = typer.Option(False, "--papers", help="List the systems of papers by their names there."),
    as_json: bool = show.JSON,
) -> None:
    """List the strengths and the anonymizers, the systems of papers, or the parameters of one.

    The figures of a strength were measured on held-out speakers: how often an
    attacker who hides voices in the same way errs (EER; 50 % is guessing), and
    how many words a recognizer gets wrong (35 % before).

    Examples:

        personare methods

        personare methods mcadams

        personare methods --papers

        personare methods M1c3

        personare methods my_module:MyAnonymizer
    """
    import dataclasses

    from personare.anonymizers import ANONYMIZERS
    from personare.anonymizers.presets import PRESETS, UNPROTECTED

    if papers and name is not None:
        raise typer.BadParameter("--papers lists all systems of papers; leave the name out, or --papers")
    if papers:
        _papers(as_json=as_json)
        return
    if name is None and as_json:
        strengths = [_as_row(one) for one in PRESETS.values()]
        show.json_object({"strengths": strengths, "unprotected": UNPROTECTED, "methods": ANONYMIZERS.names()})
        return
    if name is None:
        rows = [
            [
                *(p.name, p.label, _percent(p.attacker_errs), _percent(p.words_wrong)),
                *(", ".join(p.languages) or "any", _state(p), p.meaning),
            ]
            for p in PRESETS.values()
        ]
        head = ["strength", "method", "EER", "wrong words", "languages", "models", "what it means"]
        show.table("strengths: personare anonymize SRC DST --strength NAME", head, rows)
        show.text(
            "EER: how often the strongest of the attackers errs by voice; words give away the same with every method. "
            f"{UNPROTECTED['attacker_errs']:.1f} % without protection, 50 % by guessing. "
            f"Wrong words without protection: {UNPROTECTED['words_wrong']:.1f} %. "
            f"Measured with: {'; '.join(f'{p.name}: {p.measured_with}' for p in PRESETS.values())}."
        )
        rows = [[n, ANONYMIZERS.summary(n)] for n in ANONYMIZERS.names()]
        show.table("anonymizers", ["name", "what it does"], rows)
        show.text(
            "Systems of papers, by their names there (B1, B2, M1c3, RP+GMM, USC, ...): personare methods --papers"
        )
        return
    cls = ANONYMIZERS.load(name)
    _, settings = ANONYMIZERS.resolve(name)
    shown = [
        [
            f.name,
            f.type if isinstance(f.type, str) else getattr(f.type, "__name__", str(f.type)),
            str(settings[f.name]) if f.name in settings else "" if f.default is dataclasses.MISSING else str(f.default),
        ]
        for f in dataclasses.fields(cls)
        if f.init
    ]
    if as_json:
        columns = ("parameter", "type", "default")
        show.json_object({"name": name, "parameters": [dict(zip(columns, row, strict=True)) for row in shown]})
        return
    if card := _paper_card(name):
        show.text(card)
    intro, meanings = _explained(show.description(cls) or name)
    show.text(intro)
    defaults = {f.name: settings.get(f.name, f.default) for f in dataclasses.fields(cls)}
    rows = [[name, kind, _short(defaults[name], text), meanings.get(name, "")] for name, kind, text in shown]
    show.table("", ["parameter", "type", "default", "what it means"], rows)


def _papers(*, as_json: bool) -> None:
    """Print the table of the papers' systems."""
    from personare.anonymizers.papers import PAPERS

    systems = list(PAPERS.values())
    if as_json:
        names = ("name", "paper", "section", "method", "deviations", "missing")
        plain = [{name: getattr(row, name) for name in names} | {"settings": dict(row.settings)} for row in systems]
        show.json_object({"papers": plain})
        return
    papers = list(dict.fromkeys(row.paper for row in systems))
    rows = [
        [
            *(row.name, f"[{papers.index(row.paper) + 1}] {row.section}", row.typed or "not here"),
            row.deviations or f"missing: {row.missing}",
        ]
        for row in systems
    ]
    show.table("systems of papers: --method NAME", ["name", "described in", "is", "what differs here"], rows)
    for number, paper in enumerate(papers, start=1):
        show.text(f"[{number}] {paper}")


def _paper_card(name: str) -> str:
    """Say what a system of a paper is here, and what differs from the original; nothing of another name."""
    from personare.anonymizers import ANONYMIZERS
    from personare.anonymizers.papers import PAPERS

    row = PAPERS.get(ANONYMIZERS.alias_of(name) or "")
    if row is None:
        return ""
    return f"{row.name} ({row.paper}, {row.section}) is {row.typed}. Differs from the original: {row.deviations}."


def _explained(doc: str) -> tuple[str, dict[str, str]]:
    """Part a docstring into its sentences and what it says of each parameter; examples for programmers stay away.

    >>> _explained("Turns.\\n\\nParameters\\n----------\\na, b : how far,\\n    and back.\\n\\n>>> 1")
    ('Turns.', {'a': 'how far, and back.', 'b': 'how far, and back.'})
    """
    prose, _, rest = doc.partition("Parameters\n----------\n")
    paragraphs = [" ".join(text.split()) for text in prose.split("\n\n") if not text.lstrip().startswith(">>>")]
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in rest.partition("\n\n")[0].splitlines():
        head, colon, text = line.partition(" : ")
        if colon and not line.startswith(" "):
            names = [name.strip() for name in head.split(",")]
            meanings |= dict.fromkeys(names, text.strip())
        else:
            meanings |= {name: f"{meanings[name]} {line.strip()}" for name in names}
    return "\n\n".join(text for text in paragraphs if text), meanings


def _short(default: object, text: str) -> str:
    return f"{default:.6g}" if isinstance(default, float) else text


def _state(preset: Preset) -> str:
    if not preset.models:
        return "none"
    return "not fetched" if preset.missing else "there"


def _percent(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.1f} %"


def _as_row(preset: Preset) -> dict[str, Any]:
    return {
        "name": preset.name,
        "method": preset.method,
        "parameters": dict(preset.parameters),
        "meaning": preset.meaning,
        "eer_percent": preset.attacker_errs,
        "wer_percent": preset.words_wrong,
        "measured_with": preset.measured_with,
        "languages": list(preset.languages),
        "models": list(preset.models),
        "missing": preset.missing,
    }
