"""Kaldi and VoicePrivacy data directories: wav.scp, utt2spk and the lists beside them.

Read where present: segments, spk2gender, text, utt2dur, utt2lang, and the lists of VoicePrivacy: enrolls with trials,
trials_f and trials_m; of VCTK enrolls_mic2 with trials_f_mic2 (different sentences), trials_f_common_mic2 (common ones)
and those of men. Where several microphones have lists, the second is used, as in the challenge. Relative paths are
taken from the data directory, else from the current folder. Shell pipes and archives are refused: nothing is executed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from personare.core.errors import CorpusError
from personare.core.tables import Trials
from personare.corpora.gathering import Reading, checked_trials, gather, idle_speakers
from personare.corpora.listing import located, pairs
from personare.corpora.problems import Problem, found, plain

TRIAL_LIST = re.compile(r"trials(_[fm])?(_common)?(?P<microphone>_mic\d)?")
ENROLMENT_LISTS = ("enrolls", "enrolls_mic2", "enrolls_mic1")
TRIAL_WORDS = {"target": True, "nontarget": False}
Pairs = list[tuple[str, str]]
_TEXT = {"utterance": pl.String(), "audio": pl.String()}
# what an entry of wav.scp looks like that is no file, and the line that refuses one or several of them
REFUSED = (
    (
        r"^\||\|$|^-$",
        "entry is a shell pipe (first: '{}'); run it yourself and list the resulting file",
        "entries are shell pipes (first: '{}'); run them yourself and list the resulting files",
    ),
    (
        r"\.(ark|scp):\d+(\[.*\])?$",
        "entry is a piece of an archive (first: '{}'); write it to a wav or flac file and list that",
        "entries are pieces of archives (first: '{}'); write them to wav or flac files and list those",
    ),
    (
        r"^$",
        "entry names no file (first: '{}'); write the path after the id",
        "entries name no file (first: '{}'); write the paths after the ids",
    ),
)


@dataclass(frozen=True)
class Kaldi:
    """A Kaldi data directory."""

    looks_for = "wav.scp and utt2spk"

    def detects(self, path: Path) -> str | None:
        """Say why this is a Kaldi data directory, or None."""
        names = [n for n in ("wav.scp", "utt2spk", "segments", "trials") if (path / n).is_file()]
        return " and ".join(names) if "wav.scp" in names else None

    def read(self, path: Path) -> Reading:
        """Read the data directory ``path``."""
        for name in ("wav.scp", "utt2spk"):
            if not (path / name).is_file():
                raise CorpusError(f"{path}: a Kaldi data directory needs {name}, which is not there")
        sounds, problems = _once(pairs(path / "wav.scp"), path / "wav.scp")
        refuse_commands(list(sounds.items()), path / "wav.scp")
        places = located(sounds.values(), path)
        frame, more = _cut(path, {key: places[written] for key, written in sounds.items()})
        speakers, again = _once(pairs(path / "utt2spk"), path / "utt2spk")
        problems += [*more, *again, *_unheard(speakers, frame, "utt2spk")]
        frame = _with(frame, "speaker", speakers)
        for column, name in (("text", "text"), ("duration_s", "utt2dur"), ("language", "utt2lang")):
            if (path / name).is_file():
                values, again = _once(pairs(path / name), path / name)
                problems += [*again, *_unheard(values, frame, name)]
                frame = _with(frame, column, values)
        frame, more = _genders(path, frame)
        trials, faults = _trials(path, frame)
        frame = _roles(path, frame, trials)
        if "duration_s" in frame.columns:
            frame = frame.with_columns(pl.col("duration_s").cast(pl.Float64, strict=False))
        return gather(
            frame,
            layout="kaldi",
            evidence=self.detects(path) or "",
            place=str(path),
            problems=[*problems, *more, *faults],
            trials=trials,
        )


def refuse_commands(sounds: Pairs, place: Path) -> None:
    """Refuse entries that are not files: shell pipes, standard input, pieces of an archive."""
    for pattern, one, many in REFUSED:
        keys = [key for key, written in sounds if re.search(pattern, written)]
        if keys:
            count = f"1 {one}" if len(keys) == 1 else f"{len(keys):,} {many}"
            raise CorpusError(f"{place}: {count.format(plain(keys[0]))}")


def _once(rows: Pairs, place: Path) -> tuple[dict[str, str], list[Problem]]:
    """Keep the first value of each key."""
    kept: dict[str, str] = {}
    again: dict[str, None] = {}
    for key, value in rows:
        if key in kept:
            again[key] = None
        else:
            kept[key] = value
    return kept, found("duplicate-utterance", place.name, again)


def _with(frame: pl.DataFrame, column: str, values: dict[str, str], *, by: str = "utterance") -> pl.DataFrame:
    looked_up = [values.get(key) for key in frame[by]]
    return frame.with_columns(pl.Series(column, looked_up, dtype=pl.String))


def _unheard(keys: dict[str, str], frame: pl.DataFrame, place: str) -> list[Problem]:
    heard = set(frame["utterance"])
    return found("orphan-entry", place, (k for k in keys if k not in heard))


def _cut(path: Path, sounds: dict[str, str]) -> tuple[pl.DataFrame, list[Problem]]:
    """Make one row per utterance: a whole file, or a segment of one where ``segments`` says so."""
    if not (path / "segments").is_file():
        return pl.DataFrame({"utterance": list(sounds), "audio": list(sounds.values())}, schema_overrides=_TEXT), []
    rows: list[tuple[str, str, float | None, float | None]] = []
    bad, silent, used = [], [], set()
    for utterance, rest in pairs(path / "segments"):
        parts = rest.split()
        try:
            start_s, end_s = float(parts[1]), float(parts[2])
        except (IndexError, ValueError):
            bad.append(utterance)
            continue
        if parts[0] not in sounds:
            silent.append(utterance)
            continue
        used.add(parts[0])
        until = None if end_s == -1 else end_s  # Kaldi writes -1 for the end of the file
        rows.append((utterance, sounds[parts[0]], None if until is None and start_s == 0 else start_s, until))
    problems = [
        *found("bad-line", "segments", bad),
        *found("orphan-entry", "segments", silent),
        *found("orphan-audio", "wav.scp", (key for key in sounds if key not in used)),
    ]
    schema = {**_TEXT, "start_s": pl.Float64(), "end_s": pl.Float64()}
    return pl.DataFrame(rows, schema=schema, orient="row"), problems


def _genders(path: Path, frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Problem]]:
    if not (path / "spk2gender").is_file():
        return frame, []
    genders, again = _once(pairs(path / "spk2gender"), path / "spk2gender")
    idle = idle_speakers(genders, [frame["speaker"]], place="spk2gender")
    return _with(frame, "gender", genders, by="speaker"), [*again, *idle]


def _trials(path: Path, frame: pl.DataFrame) -> tuple[Trials | None, list[Problem]]:
    """Read ``speaker utterance target|nontarget`` from every trial list."""
    rows: list[tuple[str, str, bool]] = []
    bad: list[str] = []
    listed_in: dict[tuple[str, str], str] = {}
    names = _trial_lists(path)
    for name in names:
        for enroll, rest in pairs(path / name):
            parts = rest.split()
            if len(parts) == 2 and parts[1] in TRIAL_WORDS:
                rows.append((enroll, parts[0], TRIAL_WORDS[parts[1]]))
                listed_in.setdefault((enroll, parts[0]), name)
            else:
                bad.append(f"{enroll} {rest}")
    trials, problems = checked_trials(rows, tests=set(frame["utterance"]), enrolls=None, bad=bad, place="trials")
    if trials is None or len(names) < 2:
        return trials, problems
    lists = [listed_in[pair] for pair in trials.frame.select("enroll", "test").iter_rows()]
    return Trials(trials.frame.with_columns(pl.Series("list", lists, dtype=pl.String))), problems


def _enrolment_list(path: Path) -> Path | None:
    return next((path / name for name in ENROLMENT_LISTS if (path / name).is_file()), None)


def _trial_lists(path: Path) -> list[str]:
    """Name the trial lists of a directory; of several microphones, those of the enrolment's."""
    matches = [match for file in sorted(path.glob("trials*")) if (match := TRIAL_LIST.fullmatch(file.name))]
    microphones = sorted({match["microphone"] for match in matches if match["microphone"]})
    enrolment = _enrolment_list(path)
    own = None if enrolment is None else re.search(r"_mic\d$", enrolment.name)
    chosen = own[0] if own else microphones[-1] if microphones else None
    return [match[0] for match in matches if match["microphone"] in (None, chosen)]


def _roles(path: Path, frame: pl.DataFrame, trials: Trials | None) -> pl.DataFrame:
    """Say in ``role`` which utterances VoicePrivacy sets apart: 'enroll' (listed in enrolls) or 'test' (in a trial)."""
    enrolment = _enrolment_list(path)
    if enrolment is None:
        return frame
    listed = {word for key, rest in pairs(enrolment) for word in (key, *rest.split())}
    tests = [] if trials is None else trials.frame["test"].unique().to_list()
    role = pl.when(pl.col("utterance").is_in(list(listed))).then(pl.lit("enroll"))
    return frame.with_columns(role=role.when(pl.col("utterance").is_in(tests)).then(pl.lit("test")))
