"""The page of a training: curves of its losses and measurements, and held-out speech as it sounds at each level."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.audio import Audio, encode_flac
from personare.core.files import write_text

if TYPE_CHECKING:
    from personare.codecs.codec import Codec

PAGE = "log.html"
_STYLE = "body{font:16px sans-serif;max-width:60em;margin:2em auto}td,th{padding:.3em .8em;text-align:right}"


def write_page(
    folder: Path, rows: Sequence[Mapping[str, Any]], sounds: Mapping[str, Mapping[str, Audio]] | None = None
) -> Path:
    """Write the page; ``sounds`` maps an utterance to its sounds by name (original, C0, ...)."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>Training of the codec</title>",
        f"<style>{_STYLE}</style><h1>Training of the codec</h1>",
        f"<p>{rows[-1]['step']} steps, {rows[-1].get('cpu_s', 0):.0f} s of processor time since the last start.</p>",
        _curves(rows),
        _table(rows[-1]),
        _players(sounds or {}),
    ]
    write_text(folder / PAGE, "\n".join(parts) + "\n")
    return folder / PAGE


def _curves(rows: Sequence[Mapping[str, Any]]) -> str:
    """Three plots over steps: the loss and its parts, the mel distance per number of levels, what each level leaves."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 9), layout="constrained")
    losses, mels, left = figure.subplots(3, 1, sharex=True)
    steps = [row["step"] for row in rows]
    losses.plot(steps, [row["loss"] for row in rows], color="black", label="loss")
    for name in sorted({name for row in rows for name in row.get("parts", {})}):
        losses.plot(steps, [row.get("parts", {}).get(name, np.nan) for row in rows], label=name)
    for place, level in enumerate(rows[-1].get("levels", [])):
        label = "C0" if level == 1 else f"C0:{level - 1}"
        mels.plot(steps, [row["mel"][place] for row in rows], label=label)
    for level in range(len(rows[-1].get("left", []))):
        values = [row["left"][level] if level < len(row.get("left", [])) else np.nan for row in rows]
        left.plot(steps, values, label="before C1" if level == 0 else f"after C{level}")
    losses.set_ylabel("losses")
    mels.set_ylabel("mel distance, held out (nepers)")
    left.set_ylabel("variance left")
    left.set_xlabel("steps")
    for axis in (losses, mels, left):
        axis.set_yscale("log")
        if axis.lines:
            axis.legend(fontsize=8, ncols=3)
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()[stream.getvalue().index("<svg") :]


def _table(row: Mapping[str, Any]) -> str:
    """Codes used and variance left, per level, at the last measurement."""
    if "used" not in row:
        return ""
    cells = [
        f"<tr><td>C{level}<td>{used}<td>{perplexity:.0f}</tr>"
        for level, (used, perplexity) in enumerate(zip(row["used"], row["perplexity"], strict=True))
    ]
    head = f"<tr><th>level<th>codes used in {row['frames']} frames<th>perplexity</tr>"
    return f"<h2>Codes</h2><table>{head}{''.join(cells)}</table>"


def _players(sounds: Mapping[str, Mapping[str, Audio]]) -> str:
    parts = ["<h2>Held-out speech</h2>"] if sounds else []
    for name, versions in sounds.items():
        parts.append(f"<h3>{html.escape(name)}</h3>")
        for version, audio in versions.items():
            encoded = base64.b64encode(encode_flac(audio)).decode("ascii")
            source = f"data:audio/flac;base64,{encoded}"
            parts.append(f"<p>{html.escape(version)}<br><audio controls src='{source}'></audio></p>")
    return "\n".join(parts)


def sounds_of(
    codec: Codec, utterances: Mapping[str, Audio], *, rng: np.random.Generator
) -> dict[str, dict[str, Audio]]:
    """Code held-out utterances and decode them with C0, with the first residual level, and with all."""
    found: dict[str, dict[str, Audio]] = {}
    for name, audio in utterances.items():
        tokens = codec.encode(audio)
        versions = {"original": audio}
        for levels in sorted({1, min(2, tokens.levels), tokens.levels}):
            label = "C0" if levels == 1 else f"C0:{levels - 1}"
            versions[label] = codec.decode(tokens.kept(levels), rng=rng)
        found[name] = versions
    return found
