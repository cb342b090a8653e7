"""A study reads every layout it is given: found by itself or by name, dealt into roles, free of problems."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from personare.core.audio import read_mono, write
from personare.pipeline.check import check_study
from personare.pipeline.speech import study_corpus
from personare.pipeline.study import read_study, with_corpus
from pipeline.tiny import voice, write_embedder, write_study

PEOPLE, UTTERANCES = 4, 3
Names = list[tuple[int, int]]
ALL: Names = [(s, u) for s in range(PEOPLE) for u in range(UTTERANCES)]


def sounds(folder: Path, name: Callable[[int, int], str]) -> None:
    for s, u in ALL:
        path = folder / name(s, u)
        write(path.with_suffix(".wav"), voice(s, u))
        path.with_suffix(".wav").rename(path)


def lines(path: Path, *rows: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def folders(home: Path) -> None:
    sounds(home, lambda s, u: f"p{s}/u{u}.wav")


def librispeech(home: Path) -> None:
    sounds(home, lambda s, u: f"{10 + s}/7/{10 + s}-7-{u:04d}.flac")
    for s in range(PEOPLE):
        lines(home / f"{10 + s}/7/{10 + s}-7.trans.txt", *(f"{10 + s}-7-{u:04d} SOME WORDS" for u in range(UTTERANCES)))


def vctk(home: Path) -> None:
    sounds(home, lambda s, u: f"wav48_silence_trimmed/p{225 + s}/p{225 + s}_{u + 1:03d}_mic1.flac")
    lines(home / "speaker-info.txt", "ID  AGE  GENDER", *(f"p{225 + s}  23  {'FM'[s % 2]}" for s in range(PEOPLE)))


def commonvoice(home: Path) -> None:
    sounds(home, lambda s, u: f"clips/cv_{s}_{u}.mp3")
    lines(home / "validated.tsv", "client_id\tpath\tsentence\tgender", *(f"c{s}\tcv_{s}_{u}.mp3\tHi\t" for s, u in ALL))


def voxceleb(home: Path) -> None:
    sounds(home, lambda s, u: f"wav/id1000{s}/video{u}/00001.wav")


def kaldi(home: Path) -> None:
    sounds(home, lambda s, u: f"wav/p{s}-u{u}.wav")
    lines(home / "wav.scp", *(f"p{s}-u{u} wav/p{s}-u{u}.wav" for s, u in ALL))
    lines(home / "utt2spk", *(f"p{s}-u{u} p{s}" for s, u in ALL))


def hub(home: Path) -> None:
    sounds(home, lambda s, u: f"audio/p{s}-u{u}.wav")
    lines(home / "metadata.csv", "file_name,speaker_id", *(f"audio/p{s}-u{u}.wav,p{s}" for s, u in ALL))


def lhotse(home: Path) -> None:
    sounds(home, lambda s, u: f"audio/p{s}-u{u}.wav")
    recordings, supervisions = list[str](), list[str]()
    for s, u in ALL:
        path = home / f"audio/p{s}-u{u}.wav"
        sound = voice(s, u)
        n, rate, name = len(sound.samples), sound.rate_hz, f"p{s}-u{u}"
        source = [{"type": "file", "channels": [0], "source": str(path)}]
        told = {"id": name, "sources": source, "sampling_rate": rate, "num_samples": n, "duration": n / rate}
        recordings.append(json.dumps(told))
        where = {"recording_id": name, "start": 0.0, "duration": n / rate, "channel": 0}
        supervisions.append(json.dumps({"id": name, "speaker": f"p{s}", **where}))
    lines(home / "recordings.jsonl", *recordings)
    lines(home / "supervisions.jsonl", *supervisions)


LAYOUTS = (librispeech, vctk, commonvoice, voxceleb, kaldi, hub, folders, lhotse)


@pytest.mark.parametrize("made", LAYOUTS, ids=lambda made: made.__name__)
@pytest.mark.parametrize("named", [False, True], ids=["corpus-option", "corpora-entry"])
def test_a_study_takes_the_layout(made: Callable[[Path], None], named: bool, tmp_path: Path) -> None:
    made(tmp_path / "speech")
    (tmp_path / "corpus").mkdir()
    write_embedder(tmp_path / "net.onnx")
    entry = {"path": "speech", "layout": made.__name__} if named else {"speakers": PEOPLE}
    study = read_study(
        write_study(
            tmp_path,
            corpora={"speech": entry},
            anonymizers={"original": {}},
            listeners=None,
            metrics=["eer", "linkability"],
        )
    )
    study = study if named else with_corpus(study, tmp_path / "speech")
    checked = check_study(study, tmp_path / "stages", home=tmp_path)
    assert not checked.problems
    speech = study_corpus("speech", study, stages=tmp_path / "stages")
    assert len(speech.frame) == len(ALL) and speech.frame["speaker"].n_unique() == PEOPLE
    for role, share in (("enrolment", 2), ("trial", 1)):
        assert len(speech.of(role)) == PEOPLE * share and speech.of(role)["speaker"].n_unique() == PEOPLE
    assert all(len(read_mono(Path(path)).samples) > 1000 for path in speech.frame["audio"])
    if made is commonvoice:
        assert any("not a person" in note for note in checked.notes), "the caveat reaches whoever runs the study"
        assert any("not a person" in note for note in speech.notes), "and whoever reads its report"
