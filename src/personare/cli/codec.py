"""personare codec: speech as tokens: encode recordings or a corpus, decode them, see levels and rates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from personare.cli import show
from personare.cli.settings import parse_settings

if TYPE_CHECKING:
    from personare.codecs.codec import Codec
    from personare.pipeline.jobs.code_corpus import CodingSummary

app = typer.Typer(
    no_args_is_help=True, help="Speech as tokens: encode recordings or a corpus, decode them, see levels and rates."
)

_CODEC = typer.Option("usc", help="A codec (see: personare codec info), NAME:PATH with its weights, or module:Class.")
_SETTINGS = typer.Option(None, "--set", metavar="NAME=VALUE", help="A parameter of the codec.")
_JOBS = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once.")


@app.callback()
def _codec() -> None:
    """Speech as tokens."""


@app.command()
def encode(
    source: Path = typer.Argument(..., metavar="SRC", help="A recording, or a corpus in any known layout."),
    target: Path = typer.Argument(..., metavar="DST", help="A token file (.pntk); for a corpus, a new folder."),
    codec: str = _CODEC,
    levels: int = typer.Option(1, min=1, help="How many levels are kept: 1 holds what is said, all hold the voice."),
    settings: list[str] | None = _SETTINGS,
    container: str = typer.Option("parquet", "--format", help="Of a corpus: 'parquet', or 'webdataset' shards."),
    key: Path | None = typer.Option(
        None, metavar="FILE", help="The secret key of the names; made there when absent.  [DST-private/key]"
    ),
    level: str = typer.Option("speaker", help="One name per 'speaker', or a new one per 'utterance'."),
    names: str = typer.Option("tokens", help="'tokens' tell nobody who it was; 'keep' keeps ids (research only)."),
    layout: str | None = typer.Option(None, help="Layout of SRC, where several fit."),
    jobs: int = _JOBS,
    as_json: bool = show.JSON,
) -> None:
    """Turn speech into tokens: a file for a recording, a table or shards for a corpus.

    One level (C0) holds the words and how they are intoned, not the voice; every further level adds how it sounded. A
    token corpus has new names for utterances and speakers, and the texts; the key goes to DST-private beside it.
    Interrupted? Run the same command again. Channels of a recording are mixed.

    Examples:

        personare codec encode speech.wav speech.pntk

        personare codec encode recordings/ tokens/ --jobs 2

        personare codec encode recordings/ tokens/ --levels 6 --format webdataset

        personare codec encode in/ tokens/ --codec encodec:weights.th --levels 8
    """
    from personare.codecs.tokens import SUFFIX, write_tokens
    from personare.core.audio import read_mono, readable_suffixes
    from personare.core.config import coerce
    from personare.core.errors import ConfigError, OutputError
    from personare.corpora import read_corpus
    from personare.engine import engine_for
    from personare.pipeline.jobs.code_corpus import Container, encode_corpus

    chosen = _chosen(codec, settings)
    most = len(chosen.code_counts)
    if levels > most:
        raise ConfigError(f"this codec has levels 1 to {most}, not {levels}; change --levels")
    if levels > 1:
        show.aside(f"note: {levels} levels hold the voice: these tokens are as personal as the recordings")
    recording = source.is_file() and source.suffix.lower() in readable_suffixes()
    if recording != (target.suffix == SUFFIX) and source.exists():
        rule = f"a recording becomes a token file, which ends in {SUFFIX}" if recording else "a corpus becomes a folder"
        raise OutputError(f"{target}: {rule}; name another")
    if recording:
        tokens = chosen.encode(read_mono(source)).kept(levels)
        write_tokens(target, tokens)
        _rates(target, chosen, levels, tokens.samples / tokens.rate_hz, as_json=as_json)
        return
    if target.resolve().is_relative_to(source.resolve()):
        raise OutputError(f"{target}: lies inside {source} and would become part of it; name a folder elsewhere")
    reading = read_corpus(source, layout=layout)
    show.problems(reading.problems)
    with show.progress("coding", len(reading.corpus)) as tick:
        summary = encode_corpus(
            reading.corpus,
            target,
            chosen,
            levels=levels,
            engine=engine_for(jobs),
            container=coerce(container, Container, where="--format"),
            level=coerce(level, Literal["speaker", "utterance"], where="--level"),
            names=coerce(names, Literal["tokens", "keep"], where="--names"),
            key_file=key,
            watch=lambda _: tick(1),
        )
    private = f"{target.resolve()}-private"
    _summary(summary, target, as_json=as_json, private=private)
    if not as_json:
        typer.echo(f"keep private: {private}")
    if summary.failures:
        raise typer.Exit(1)


@app.command()
def decode(
    source: Path = typer.Argument(..., metavar="SRC", help="A token file, or the folder of a token corpus."),
    target: Path = typer.Argument(..., metavar="DST", help="An audio file; for a token corpus, a new folder."),
    codec: str = _CODEC,
    levels: int | None = typer.Option(None, min=1, help="How many of the levels are used.  [all that are there]"),
    settings: list[str] | None = _SETTINGS,
    file_format: str = typer.Option("flac", "--format", help="Audio format of a corpus: flac or wav."),
    jobs: int = _JOBS,
    as_json: bool = show.JSON,
) -> None:
    """Turn tokens into speech, by the codec that made them.

    Examples:

        personare codec decode speech.pntk speech.wav

        personare codec decode tokens/ speech/ --set voice=voice-2
    """
    import numpy as np

    from personare.codecs.tokens import read_tokens
    from personare.core.audio import write
    from personare.core.config import coerce
    from personare.engine import engine_for
    from personare.pipeline.jobs.code_corpus import decode_corpus, utterances_in

    chosen = _chosen(codec, settings)
    if source.is_file() and source.suffix != ".parquet":
        tokens = read_tokens(source)
        made = chosen.decode(tokens if levels is None else tokens.kept(levels), rng=np.random.default_rng(0))
        write(target, made)
        if as_json:
            show.json_object({"target": str(target), "seconds": made.duration_s, "rate_hz": made.rate_hz})
        else:
            typer.echo(f"{target}: {made.duration_s:.2f} s at {made.rate_hz} Hz")
        return
    with show.progress("decoding", utterances_in(source)) as tick:
        summary = decode_corpus(
            source,
            target,
            chosen,
            engine=engine_for(jobs),
            levels=levels,
            file_format=coerce(file_format, Literal["flac", "wav"], where="--format"),
            watch=lambda _: tick(1),
        )
    _summary(summary, target, as_json=as_json)
    if summary.failures:
        raise typer.Exit(1)


@app.command("info")
def describe(
    what: str | None = typer.Argument(None, help="A codec as in --codec, a token file, or a token corpus."),
    as_json: bool = show.JSON,
) -> None:
    """List the codecs, or show the levels and rates of one, or what a token file or corpus holds.

    Examples:

        personare codec info

        personare codec info usc

        personare codec info tokens/
    """
    if what is None:
        _list(as_json=as_json)
    elif Path(what).is_dir() or Path(what).is_file():
        _contents(Path(what), as_json=as_json)
    else:
        _describe(what, as_json=as_json)


def _chosen(codec: str, settings: list[str] | None) -> Codec:
    from personare.codecs.codec import codec_named

    return codec_named(codec, **parse_settings(settings))


def _list(*, as_json: bool) -> None:
    from personare.codecs.codec import CODECS

    head, rows = ["name", "what it is", "weights"], [[name, *_state(name)] for name in CODECS.names()]
    if as_json:
        show.json_object({"codecs": show.records(head, rows)})
    else:
        show.table("codecs", head, rows)


def _state(name: str) -> tuple[str, str]:
    """What a codec is, and whether it can be used as it is."""
    from personare.codecs.codec import CODECS
    from personare.core.errors import ConfigError, PersonareError

    try:
        what = show.description(CODECS.load(name)).partition("\n")[0] or name
    except ConfigError:
        return "another program's codec, of weights you have", "needs the extra 'neural'"
    try:
        return what, "here" if CODECS.make(name).fingerprint else ""
    except PersonareError:
        return what, f"bring your own: {name}:PATH"


def _describe(name: str, *, as_json: bool) -> None:
    codec = _chosen(name, None)
    counts, voices = codec.code_counts, getattr(codec, "voices", ())
    head = ["levels", "codes of the last", "kbit/s", "what they hold"]
    rows = [
        ["C0" if n == 1 else f"C0:{n - 1}", f"{counts[n - 1]:,}", f"{_kbits(codec, n):.2f}", _holds(name, n)]
        for n in range(1, len(counts) + 1)
    ]
    if as_json:
        rates = {"rate_hz": codec.rate_hz, "frame_rate_hz": codec.frame_rate_hz, "fingerprint": codec.fingerprint}
        show.json_object({"codec": name, **rates, "voices": list(voices), "levels": show.records(head, rows)})
        return
    show.table(
        f"{name}: {codec.rate_hz:,} Hz, {codec.frame_rate_hz:g} frames per second, codec {codec.fingerprint}",
        head,
        rows,
    )
    if voices:
        show.text(f"voices for C0 alone: {', '.join(voices)}, or none (--set voice=NAME)")
    show.text("a token file holds no name, text, speaker or date; with C0 alone not even the recording's level")


def _holds(name: str, levels: int) -> str:
    if not name.startswith("usc"):
        return "coarse sound" if levels == 1 else "finer sound"
    return "words and relative intonation; the voice is meant to be left out" if levels == 1 else "the voice, too"


def _kbits(codec: Codec, levels: int) -> float:
    from personare.codecs.tokens import bit_rate

    return bit_rate(codec.code_counts[:levels], codec.frame_rate_hz) / 1000


def _contents(path: Path, *, as_json: bool) -> None:
    from personare.codecs.token_corpus import open_corpus
    from personare.codecs.tokens import bits_of, read_tokens

    if path.is_file() and path.suffix != ".parquet":
        found = [("", read_tokens(path))]
    else:
        found = [(row.speaker, row.tokens) for row in open_corpus(path)]
    seconds = sum(tokens.samples / tokens.rate_hz for _, tokens in found)
    frames = sum(len(tokens.codes) for _, tokens in found)
    kinds = sorted({(tokens.fingerprint, tokens.code_counts) for _, tokens in found})
    speakers = {speaker for speaker, _ in found if speaker}
    if as_json:
        codecs = [{"fingerprint": fingerprint, "code_counts": list(counts)} for fingerprint, counts in kinds]
        counted = {"utterances": len(found), "speakers": len(speakers), "frames": frames, "seconds": seconds}
        show.json_object({"path": str(path), **counted, "codecs": codecs})
        return
    for fingerprint, counts in kinds:
        bits = sum(bits_of(counts)) * frames
        show.text(f"{path}: codec {fingerprint}, levels {len(counts)} ({', '.join(map(str, counts))} codes)")
        if len(kinds) == 1 and seconds:
            typer.echo(f"{frames} frames of {seconds:.2f} s: {bits / seconds / 1000:.2f} kbit/s")
    if path.is_dir() or path.suffix == ".parquet":
        typer.echo(f"{len(found)} utterances of {len(speakers)} speakers, {seconds / 3600:.3f} hours")


def _rates(target: Path, codec: Codec, levels: int, seconds: float, *, as_json: bool) -> None:
    size = target.stat().st_size
    if as_json:
        rates = {"levels": levels, "kbit_per_s": _kbits(codec, levels), "seconds": seconds, "bytes": size}
        show.json_object({"target": str(target), **rates})
        return
    rate = f"{_kbits(codec, levels):.2f} kbit/s"
    typer.echo(f"{target}: {levels} of {len(codec.code_counts)} levels, {rate}, {seconds:.2f} s, {size} bytes")


def _summary(summary: CodingSummary, target: Path, *, as_json: bool, **more: object) -> None:
    show.failures(summary.failures)
    if as_json:
        show.json_object(summary, target=str(target), **more)
        return
    row = [str(summary.done), str(len(summary.failures)), f"{summary.speech_s / 3600:.3f}"]
    show.table(str(target), ["done", "failed", "hours"], [row])
