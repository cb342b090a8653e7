"""personare voices: make a corpus of invented speakers, for demos, recipes and tests."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show


def voices(
    target: Path = typer.Argument(..., metavar="DST", help="A new folder, or one this command was making."),
    speakers: int = typer.Option(20, min=1, help="How many speakers (182 at most, of piper 904, but for English 72)."),
    utterances: int = typer.Option(
        8, min=1, help="How many each of them reads: 226 sentences, or 2000 rows of words, at most."
    ),
    source: str = typer.Option("kokoro", help="Whose voices: kokoro (better sound) or piper (904 voices, quicker)."),
    reading: str = typer.Option(
        "sentences", help="What they read: our sentences, or words in no order (piper; for recognizers to learn from)."
    ),
    language: str = typer.Option(
        "en",
        metavar="CODE",
        help="What kokoro's speakers speak (see: personare languages); 80 sentences but for en.",
    ),
    seed: int = typer.Option(1, help="Who they are and what they read; the same seed gives the same corpus."),
    skip: int = typer.Option(
        0, min=0, help="Leave so many of the seed's speakers out first: two corpora share nobody."
    ),
    jobs: int = typer.Option(2, "--jobs", "-j", min=1, help="How many processes speak at once (0.5 GB each)."),
    rate: int = typer.Option(16_000, metavar="HZ", help="Sample rate of the files."),
    as_json: bool = show.JSON,
) -> None:
    """Make a corpus of invented speakers who read our own sentences: no person's voice is in it.

    Of kokoro's speakers the first 28 or so are the offline voices themselves, the others are mixtures of two of them,
    female and male in turn. Piper's are 904 voices as they are; their genders are guessed by pitch, and some unknown.
    Words and genders are in manifest.parquet. Clips are kept in the cache folder, so that making the same corpus again
    takes a second. Run the same command again when it was interrupted. Failed clips are rows in failures.tsv; the exit
    code is then 1.

    Examples:

        personare voices voices/

        personare voices many/ --speakers 60 --utterances 20 --seed 7 --jobs 4

        personare voices hundreds/ --source piper --speakers 400 --utterances 8

        personare voices stimmen/ --language de

        personare voices hours/ --source piper --reading words --speakers 300
    """
    from personare.core.config import coerce
    from personare.core.language_codes import checked_language
    from personare.corpora.voices.speakers import Source
    from personare.corpora.voices.text import Reading
    from personare.engine import engine_for
    from personare.pipeline.jobs.voices import Wanted, make_voices

    whose, what = coerce(source, Source, where="--source"), coerce(reading, Reading, where="--reading")
    wanted = Wanted(speakers, utterances, seed, rate, whose, what, skip, checked_language(language))
    with show.progress("speaking", speakers * utterances) as tick:
        summary = make_voices(target, wanted, engine=engine_for(jobs), watch=lambda _: tick(1))
    show.failures(summary.failures)
    if as_json:
        show.json_object(summary, target=str(target))
    else:
        head = ["speakers", "utterances", "minutes", "kept from before", "failed", "real-time factor"]
        counts = [str(summary.speakers), str(summary.done), f"{summary.speech_s / 60:.1f}", str(summary.kept)]
        factor = f"{summary.real_time_factor:.2f}" if summary.made_s else "-"
        show.table(f"voices -> {target}", head, [[*counts, str(summary.failed), factor]])
    if summary.failed:
        raise typer.Exit(1)
