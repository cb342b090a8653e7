"""personare languages: the languages that can be spoken, how well, and what to download for each."""

from __future__ import annotations

from typing import Any

import typer

from personare.cli import show

FIGURES = {
    "wer": "WER of the examples",
    "cer": "CER of the examples",
    "wer_espeak": "WER with phonemes of espeak-ng",
    "agreement": "phonemes as espeak-ng, known sentences",
    "agreement_unseen": "phonemes as espeak-ng, new sentences",
    "eer": "lowest EER by voice, L = 1, real speakers",
}


def languages(
    code: str | None = typer.Argument(None, metavar="CODE", help="One language, e.g. de, to see all of its row."),
    as_json: bool = show.JSON,
) -> None:
    """List the languages that balanced and strong speak: status, recognizer, voices, download size, figures.

    The status is measured (figures come from real recordings), usable (from synthetic speech that a recognizer
    transcribed) or experimental (nothing was measured, or many words are lost). fast works in any language.

    Examples:

        personare languages

        personare languages de
    """
    from personare.api import choices
    from personare.core.errors import UnknownNameError
    from personare.core.language_codes import checked_language, language_title

    rows = choices.languages()
    if code is not None:
        wanted = checked_language(code, where="CODE")
        rows = [one for one in rows if one["code"] == wanted]
        if not rows:
            title = language_title(wanted)
            raise UnknownNameError(f"{title} is not spoken yet; personare languages lists those that are")
    if as_json:
        show.json_object({"languages": rows})
    elif code is None:
        _table(rows)
    else:
        _one(rows[0])


def _table(rows: list[dict[str, Any]]) -> None:
    strengths = list(dict.fromkeys(name for one in rows for name in one["spoken_by"]))
    head = ["code", "language", "status", "recognizer", *strengths, "MB", "there", "WER", "CER"]
    cells = [
        [
            *(one["code"], one["name"], one["status"], one["recognizer"]),
            *(one["spoken_by"].get(name, "-") for name in strengths),
            *(f"{one['download_mb']:,}", "no" if one["missing"] else "yes"),
            *(_percent(one["figures"].get(name)) for name in ("wer", "cer")),
        ]
        for one in rows
    ]
    show.table("languages: personare anonymize SRC DST --language CODE", head, cells)
    show.text(
        "MB: download of all models that balanced and strong need (personare models fetch --language CODE). WER, CER: "
        "word and character errors of Whisper base on five example sentences, spoken by the first voice of Kokoro. "
        "balanced, strong: the voice that speaks the language in this strength. personare languages CODE prints the "
        "whole row."
    )


def _one(row: dict[str, Any]) -> None:
    figures = {FIGURES.get(name, name): _percent(value) for name, value in row["figures"].items()}
    facts = {
        "language": f"{row['name']} ({row['code']})",
        "status": row["status"],
        "strengths": ", ".join(f"{name} (voice {voice})" for name, voice in row["spoken_by"].items()) or "none",
        "recognizer": row["recognizer"],
        "voices of Kokoro": ", ".join(row["voices"]),
        "entity model": row["entity_model"] or "none",
        "models": f"{', '.join(row['models'])} ({row['download_mb']:,} MB)",
        "not fetched": ", ".join(row["missing"]) or "none",
        **figures,
    }
    for line in show.definitions(facts, indent=2):
        show.text(line)
    show.text("examples")
    for example in row["examples"]:
        show.text(f"  {example}")


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"
