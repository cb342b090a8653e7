"""What every training writes beside its model: a log of the validations, a picture of it, the settings, the sources."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from personare.core.files import write_bytes, write_text
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Corpus, write_frame
from personare.pipeline.system import read_system
from personare.reports.learning_figure import write_learning_figure
from personare.training.checkpoints import Validation

LOG, FIGURE, CARD, SETTINGS = "log.tsv", "learning.svg", "card.md", "settings.yaml"


def write_log(
    validations: Sequence[Validation], folder: Path, *, column: str, title: str, label: str, scale: float
) -> None:
    """Write the validations as a table, with the held-out measure in ``column``, and as a picture."""
    steps, losses, held_out, rates = (list(values) for values in zip(*validations, strict=True))
    known = [None if math.isnan(loss) else loss for loss in losses]
    write_frame(pl.DataFrame({"step": steps, "loss": known, column: held_out, "rate": rates}), folder / LOG)
    write_learning_figure(
        [int(step) for step in steps], losses, held_out, folder / FIGURE, title=title, judged=label, scale=scale
    )


def write_package(files: Mapping[str, bytes], card: Mapping[str, Any], folder: Path, *, card_name: str) -> None:
    """Write the files of a trained model; the card that names them comes last."""
    for name, content in files.items():
        write_bytes(folder / name, content)
    write_text(folder / card_name, json.dumps(card, indent=2) + "\n")


def write_settings(settings: Any, folder: Path) -> None:
    """Write the settings of a training as the YAML it could be repeated with."""
    write_text(folder / SETTINGS, yaml.safe_dump(_plain(dataclasses.asdict(settings)), sort_keys=False))


def _plain(value: object) -> object:
    """Turn tuples into lists, as YAML writes them."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def system_of(folder: Path) -> SystemIdentity | None:
    """Which system made the speech in a folder; None where no card says so."""
    system = read_system(folder) if folder.is_dir() else None
    return system.identity if system else None


def sources_of(corpus: Corpus, part: str | None = None) -> list[str]:
    """Which corpora the utterances come from, where a column 'corpus' says so."""
    if "corpus" not in corpus.frame.columns:
        return []
    rows = corpus.frame if part is None else corpus.frame.filter(pl.col("part") == part)
    return sorted(rows["corpus"].drop_nulls().unique().to_list())
