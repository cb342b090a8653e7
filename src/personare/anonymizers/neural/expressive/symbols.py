"""The symbol file of ``personare express``: words and symbols of each sentence as JSON lines, to read, edit and speak.

The first line names the format. A line with ``recording`` begins a recording; each line with ``words`` is one of its
sentences. ``[tone]`` and ``[silence]`` stand for words that are left out. There is no time anywhere in the file.

    {"format": "personare-expression", "version": 1}
    {"recording": "a/1.wav", "speaker": "a", "gender": "f", "rate_hz": 16000}
    {"words": "Kids are talking by the door.", "language": "en", "label": "anger", "f0": "mhml", "strongest": 3}
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from personare.anonymizers.neural.cascade.anonymizer import Script
from personare.anonymizers.neural.cascade.expression import FINALS, LABELS, LEVELS, PLACES, SentenceSymbols
from personare.anonymizers.neural.expressive.anonymizer import rendered_as
from personare.anonymizers.neural.words.transcript import Segment
from personare.core.errors import ConfigError, did_you_mean
from personare.languages import LANGUAGES

FORMAT, VERSION = "personare-expression", 1
_MARKS: dict[str, Literal["tone", "silence"]] = {"[tone]": "tone", "[silence]": "silence"}
_RECORDING = ("recording", "speaker", "gender", "rate_hz")
_SENTENCE = ("words", "language", "label", "f0", "strongest", "final")
_RATES_HZ = (8_000, 192_000)


@dataclass(frozen=True)
class SymbolSentence:
    """A sentence: its words with marks, its language, and its symbols; without symbols it is spoken as the voice does.

    >>> sentence = SymbolSentence("Call [tone] at noon.", "en", SentenceSymbols("anger"))
    >>> [segment.text or segment.kind for segment in sentence.segments]
    ['Call', 'tone', 'at noon.']
    """

    words: str
    language: str = "en"
    expression: SentenceSymbols | None = None

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The words and marks, as a pseudo-speaker takes them."""
        parts: list[Segment] = []
        for is_mark, group in itertools.groupby(self.words.split(), _MARKS.__contains__):
            tokens = list(group)
            if is_mark:
                parts += [Segment(_MARKS[token]) for token in tokens]
            else:
                parts.append(Segment("words", " ".join(tokens), self.language))
        return tuple(parts)

    @property
    def word_count(self) -> int:
        """How many words are spoken."""
        return sum(token not in _MARKS for token in self.words.split())

    @property
    def bits(self) -> float:
        """How many bits its symbols have at most.

        >>> round(SymbolSentence("a b c d e f g h", "en", SentenceSymbols("fear", "mhml", 2)).bits, 1)
        11.7
        """
        expression = self.expression
        if expression is None:
            return 0.0
        bits = math.log2(len(LABELS)) + len(expression.f0) * math.log2(len(LEVELS))
        if expression.strongest:
            bits += math.log2(min(PLACES, max(self.word_count, 1)))
        return bits + (math.log2(len(FINALS)) if expression.final else 0.0)


@dataclass(frozen=True)
class SymbolRecording:
    """The sentences of a recording, and what its pseudo-speaker depends on.

    Parameters
    ----------
    name : where the spoken recording is written, relative to the output folder.
    speaker : who shares a pseudo-speaker; with the key, it decides which one.
    gender : f or m, of the pseudo-speaker; empty: any.
    rate_hz : sample rate of the result.
    """

    name: str
    speaker: str
    gender: str
    rate_hz: int
    sentences: tuple[SymbolSentence, ...]

    @property
    def script(self) -> Script:
        """What a pseudo-speaker is given to speak."""
        phrases = tuple(sentence.segments for sentence in self.sentences)
        return Script(phrases, tuple(rendered_as(sentence.expression) for sentence in self.sentences))


def sentences_of(script: Script) -> tuple[SymbolSentence, ...]:
    """Write a script as sentences; what is on a time axis is left behind."""
    prosody = [one.expression for one in script.prosody] or [None] * len(script.phrases)
    return tuple(_sentence(phrase, one) for phrase, one in zip(script.phrases, prosody, strict=True))


def _sentence(phrase: Sequence[Segment], expression: SentenceSymbols | None) -> SymbolSentence:
    words = " ".join(one.text if one.kind == "words" else f"[{one.kind}]" for one in phrase)
    language = next((one.language for one in phrase if one.kind == "words"), "en")
    return SymbolSentence(words, language, expression)


def write_symbols(recordings: Iterable[SymbolRecording]) -> str:
    """Write the text of a symbol file."""
    rows: list[dict[str, Any]] = [{"format": FORMAT, "version": VERSION}]
    for recording in recordings:
        values = (recording.name, recording.speaker, recording.gender, recording.rate_hz)
        rows.append(dict(zip(_RECORDING, values, strict=True)))
        rows += [_row(sentence) for sentence in recording.sentences]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _row(sentence: SymbolSentence) -> dict[str, Any]:
    row: dict[str, Any] = {"words": sentence.words, "language": sentence.language}
    expression = sentence.expression
    if expression is not None:
        optional = {"f0": expression.f0, "strongest": expression.strongest, "final": expression.final}
        row |= {"label": expression.label, **{name: value for name, value in optional.items() if value}}
    return row


def read_symbols(text: str, *, where: str) -> list[SymbolRecording]:
    """Read the text of a symbol file; a line that breaks a rule is an error that names it."""
    heads: list[dict[str, Any]] = []
    bodies: list[list[SymbolSentence]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        row = _parsed(line, place)
        if number == 1 or "format" in row:
            if row.get("format") != FORMAT or row.get("version") != VERSION:
                raise ConfigError(f'{place}: must be {{"format": "{FORMAT}", "version": {VERSION}}}')
        elif "recording" in row:
            heads.append(_head(row, place))
            bodies.append([])
        elif not heads:
            raise ConfigError(f'{place}: a sentence before any recording; put a line with "recording" before it')
        else:
            bodies[-1].append(_read_sentence(row, place))
    if not heads:
        raise ConfigError(f"{where}: holds no recording; make a symbol file with personare express encode")
    return [SymbolRecording(**head, sentences=tuple(body)) for head, body in zip(heads, bodies, strict=True)]


def _parsed(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"{place}: not JSON ({error})") from None
    if not isinstance(row, dict):
        raise ConfigError(f"{place}: must be a JSON object in braces, not {type(row).__name__}")
    return row


def _checked(row: dict[str, Any], known: Sequence[str], place: str) -> None:
    for name in row:
        if name not in known:
            raise ConfigError(f"{place}: no field '{name}'; {did_you_mean(name, known)}")


def _text(row: dict[str, Any], name: str, place: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if not isinstance(value, str):
        raise ConfigError(f"{place}: {name} must be a text, not {json.dumps(value)}")
    return value


def _head(row: dict[str, Any], place: str) -> dict[str, Any]:
    _checked(row, _RECORDING, place)
    name = _text(row, "recording", place)
    parts = name.replace("\\", "/").split("/")
    if not name or name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
        raise ConfigError(f"{place}: recording must be a path inside the output folder, not '{name}'")
    gender, rate_hz = _text(row, "gender", place, ""), row.get("rate_hz", 16_000)
    if gender not in ("", "f", "m"):
        raise ConfigError(f"{place}: gender must be f, m or empty, not '{gender}'")
    if not isinstance(rate_hz, int) or not _RATES_HZ[0] <= rate_hz <= _RATES_HZ[1]:
        raise ConfigError(f"{place}: rate_hz must be a number from {_RATES_HZ[0]} to {_RATES_HZ[1]}, not {rate_hz}")
    return {"name": name, "speaker": _text(row, "speaker", place, ""), "gender": gender, "rate_hz": rate_hz}


def _read_sentence(row: dict[str, Any], place: str) -> SymbolSentence:
    _checked(row, _SENTENCE, place)
    words, language = _text(row, "words", place), _text(row, "language", place, "en")
    if language not in LANGUAGES:
        raise ConfigError(f"{place}: no language '{language}'; {did_you_mean(language, LANGUAGES)}")
    expression = None
    if "label" in row or any(name in row for name in ("f0", "strongest", "final")):
        strongest = row.get("strongest", 0)
        if not isinstance(strongest, int) or isinstance(strongest, bool):
            raise ConfigError(f"{place}: strongest must be the number of a word, not {json.dumps(strongest)}")
        try:
            expression = SentenceSymbols(
                _text(row, "label", place, LABELS[-1]),
                _text(row, "f0", place, ""),
                strongest,
                _text(row, "final", place, ""),
            )
        except ConfigError as error:
            raise ConfigError(error_at(error, place)) from None
    sentence = SymbolSentence(words, language, expression)
    if not words.split():
        raise ConfigError(f"{place}: words must hold a word or a mark; delete the line to leave the sentence out")
    if expression is not None and expression.strongest > sentence.word_count:
        raise ConfigError(
            f"{place}: strongest is word {expression.strongest}, but there are {sentence.word_count} words"
        )
    return sentence


def error_at(error: ConfigError, place: str) -> str:
    """Put where it is before what is wrong."""
    return f"{place}: {error}"
