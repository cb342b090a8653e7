"""personare express: speech as words and symbols of its expression, in a file that can be read, edited and spoken."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show
from personare.cli.settings import parse_settings

if TYPE_CHECKING:
    from personare.anonymizers.neural.expressive.anonymizer import Expressive

app = typer.Typer(
    no_args_is_help=True,
    help="Speech as words and symbols of its expression: encode recordings, edit the symbols, speak them.",
)

_SETTINGS = typer.Option(None, "--set", metavar="NAME=VALUE", help="A parameter of the method expressive.")


@app.callback()
def _express() -> None:
    """Speech as words and symbols of its expression."""


@app.command()
def encode(
    source: Path = typer.Argument(..., metavar="SRC", help="A recording, or a corpus in any known layout."),
    target: Path = typer.Argument(..., metavar="SYMBOLS", help="A new file, JSON lines."),
    keep: str = typer.Option("intonation", help="words, label, intonation, or fine (see: personare methods)."),
    language: str | None = typer.Option(None, help="Of the speech, e.g. de.  [identified]"),
    settings: list[str] | None = _SETTINGS,
    layout: str | None = typer.Option(None, help="Layout of SRC, where several fit."),
    as_json: bool = show.JSON,
) -> None:
    """Transcribe speech, and write the words and the symbols of every sentence: nothing on the source's time axis.

    The file keeps the names of speakers and recordings: replace them before you give it away. Speech that cannot be
    transcribed is refused as by anonymize --method cascade. docs/reference/expression.md describes the format.

    Examples:

        personare express encode speech.wav speech.jsonl

        personare express encode recordings/ symbols.jsonl --keep label
    """
    from personare.anonymizers.neural.expressive.symbols import write_symbols
    from personare.core.errors import OutputError
    from personare.core.files import write_text
    from personare.core.utterances import utterances_in
    from personare.corpora import read_corpus
    from personare.pipeline.jobs.anonymize_file import is_recording
    from personare.pipeline.jobs.express import encode_file, encode_utterances

    if target.exists():
        raise OutputError(f"{target}: exists already; name a new file")
    method = _method({"keep": keep, **({"language": language} if language else {})}, settings)
    if is_recording(source):
        encoded = encode_file(source, method)
    else:
        reading = read_corpus(source, layout=layout)
        show.problems(reading.problems)
        with show.progress("encoding", len(reading.corpus)) as tick:
            encoded = encode_utterances(list(utterances_in(reading.corpus.frame)), method, watch=tick)
    write_text(target, write_symbols(encoded.recordings))
    show.failures(encoded.failures)
    if as_json:
        show.json_object(
            {
                "symbols": str(target),
                "recordings": len(encoded.recordings),
                "sentences": encoded.sentences,
                "bits_per_sentence": encoded.bits_per_sentence,
                "failed": len(encoded.failures),
            }
        )
    else:
        many = f"{len(encoded.recordings)} recordings, {encoded.sentences} sentences"
        typer.echo(f"{target}: {many}, at most {encoded.bits_per_sentence:.1f} bits per sentence besides the words")
    if encoded.failures:
        raise typer.Exit(1)


@app.command()
def speak(
    source: Path = typer.Argument(..., metavar="SYMBOLS", help="A file of personare express encode, edited or not."),
    target: Path = typer.Argument(..., metavar="DST", help="A new folder for the recordings."),
    key: Path | None = typer.Option(
        None, metavar="FILE", help="The secret key of the pseudo-speakers; made there when absent.  [a new one]"
    ),
    settings: list[str] | None = _SETTINGS,
    as_json: bool = show.JSON,
) -> None:
    """Speak the words and symbols of a file as pseudo-speakers: one for each speaker, the same with the same key.

    Examples:

        personare express speak symbols.jsonl spoken/ --key my.key

        personare express speak symbols.jsonl spoken/ --set voice=kokoro
    """
    from personare.anonymizers.neural.expressive.symbols import read_symbols
    from personare.core.errors import ConfigError
    from personare.core.seeding import Key, load_or_make_key
    from personare.pipeline.jobs.express import check_target, speak_recordings

    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise ConfigError(f"{source}: cannot be read ({reason}); name a file of personare express encode") from None
    recordings = read_symbols(text, where=str(source))
    method = _method({}, settings)
    check_target(recordings, target)
    secret = Key.new() if key is None else load_or_make_key(key)[0]
    with show.progress("speaking", len(recordings)) as tick:
        seconds = speak_recordings(recordings, target, method, secret, watch=tick)
    if as_json:
        show.json_object({"target": str(target), "recordings": len(recordings), "seconds": seconds})
    else:
        typer.echo(f"{target}: {len(recordings)} recordings, {seconds:.1f} s")


def _method(parameters: dict[str, object], settings: list[str] | None) -> Expressive:
    from personare.anonymizers import anonymizer
    from personare.anonymizers.neural.expressive.anonymizer import Expressive

    made = anonymizer("expressive", **{**parameters, **parse_settings(settings)})
    assert isinstance(made, Expressive)
    return made
