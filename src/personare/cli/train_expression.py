"""personare train expression: fit the label maker of the method expressive."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show


def expression(
    corpus: list[Path] = typer.Option(
        ..., metavar="PATH", help="Speech in any known layout; acted where a column 'emotion' says so; repeatable."
    ),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the label maker and its card."),
    part: str | None = typer.Option(None, help="The part of the corpora to train on, e.g. train."),
    measure_part: str | None = typer.Option(None, help="A part with emotions that is only measured, e.g. eval."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [those of the shipped one]"),
    layout: str | None = typer.Option(None, help="Layout of the corpora, where several fit."),
    as_json: bool = show.JSON,
) -> None:
    """Fit the label maker: acted emotions give the labels, neutral speech of many people the differences to ignore.

    Needs no torch and some minutes. Acted utterances need the emotions anger, happiness, sadness, fear and neutral;
    others are left out. The card holds the recall of every label, with the speaker left out.

    Examples:

        personare train expression --corpus acted/ --corpus read/ --out labels
    """
    from personare.core.config import load_yaml
    from personare.core.errors import OutputError
    from personare.corpora import read_corpus
    from personare.pipeline.jobs.train_expression import train_expression
    from personare.training.expression import LabelSettings

    if out.exists() and any(out.iterdir()):
        raise OutputError(f"{out}: exists already; name a new folder")
    settings = LabelSettings() if config is None else load_yaml(LabelSettings, config)
    corpora = []
    for path in corpus:
        reading = read_corpus(path, layout=layout)
        show.problems(reading.problems)
        corpora.append(reading.corpus)
    with show.progress("measuring", sum(map(len, corpora))) as tick:
        result = train_expression(corpora, out, settings, part=part, measure_part=measure_part, watch=tick)
    show.failures(result.failures)
    if as_json:
        show.json_object({"labels": str(out), "failed": len(result.failures), **result.card})
        return
    rows = [
        [name, str(one["utterances"]), f"{one['uar_of_4']:.1f}", f"{one['uar_of_5']:.1f}"]
        + [f"{one['recall'].get(label, float('nan')):.1f}" for label in one["recall"]]
        for name, one in result.card["measured"].items()
    ]
    head = [
        "measured on",
        "utterances",
        "UAR of 4",
        "UAR of 5",
        *next(iter(result.card["measured"].values()))["recall"],
    ]
    show.table(f"label maker in {out} (recall in %, chance 25 and 20)", head, rows)
