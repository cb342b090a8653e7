from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personare.core.errors import CorpusError, OutputError
from personare.core.tables import Corpus, Trials
from personare.corpora import read_corpus
from personare.corpora.kaldi_writing import write_kaldi

Sound = Callable[..., Path]
Text = Callable[[str, str], Path]


def test_a_voiceprivacy_directory(tmp_path: Path, sound: Sound, text: Text) -> None:
    for name in ("e1", "t1", "t2"):
        sound(f"data/wav/{name}.wav")
    text("data/wav.scp", "e1 wav/e1.wav\nt1 wav/t1.wav\nt2 wav/t2.wav\n")
    text("data/utt2spk", "e1 a\nt1 a\nt2 b\n")
    text("data/spk2gender", "a f\nb m\n")
    text("data/text", "e1 ONE TWO\nt1 THREE\nt2 FOUR\n")
    text("data/utt2dur", "e1 0.05\nt1 0.05\nt2 0.05\n")
    text("data/enrolls", "e1\n")
    text("data/trials_f", "a t1 target\na t2 nontarget\n")
    reading = read_corpus(tmp_path / "data")
    assert (reading.layout, reading.evidence, reading.problems) == ("kaldi", "wav.scp and utt2spk", ())
    frame = reading.corpus.frame
    assert frame["audio"][0] == str(tmp_path / "data/wav/e1.wav")
    assert frame["gender"].to_list() == ["f", "f", "m"]
    assert frame["text"].to_list() == ["ONE TWO", "THREE", "FOUR"]
    assert frame["duration_s"].to_list() == [0.05] * 3
    assert frame["role"].to_list() == ["enroll", "test", "test"]
    assert reading.trials is not None
    assert reading.trials.frame.rows() == [("a", "t1", True), ("a", "t2", False)]


def test_paths_are_also_taken_from_the_current_folder(
    tmp_path: Path, sound: Sound, text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound("corpus/u1.wav")
    text("data/wav.scp", "u1 corpus/u1.wav\n")
    text("data/utt2spk", "u1 a\n")
    monkeypatch.chdir(tmp_path)
    assert read_corpus(Path("data")).corpus.frame["audio"].to_list() == [str(tmp_path / "corpus/u1.wav")]


@pytest.mark.parametrize(
    ("scp", "line"),
    [
        (
            "u1 a.wav\nu99 sph2pipe -f wav x.sph |\n",
            "1 entry is a shell pipe (first: 'u99'); run it yourself and list the resulting file",
        ),
        (
            "u1 cat a.wav|\nu2 touch owned |\n",
            "2 entries are shell pipes (first: 'u1'); run them yourself and list the resulting files",
        ),
        ("u1 -\n", "1 entry is a shell pipe (first: 'u1'); run it yourself and list the resulting file"),
        (
            "u1 feats.ark:345\n",
            "1 entry is a piece of an archive (first: 'u1'); write it to a wav or flac file and list that",
        ),
        ("u1\n", "1 entry names no file (first: 'u1'); write the path after the id"),
    ],
)
def test_what_is_not_a_file_is_refused(tmp_path: Path, text: Text, scp: str, line: str) -> None:
    text("wav.scp", scp)
    text("utt2spk", "u1 a\n")
    with pytest.raises(CorpusError) as caught:
        read_corpus(tmp_path)
    assert str(caught.value) == f"{tmp_path / 'wav.scp'}: {line}"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["utt2spk", "wav.scp"]


def test_segments_cut_a_long_recording(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("long.wav", duration_s=2.0)
    text("wav.scp", "r1 long.wav\nr2 unused.wav\n")
    text("segments", "u1 r1 0.0 0.5\nu2 r1 0.4 -1\nu3 r1 1.0 0.5\nu4 nowhere 0 1\nu5 r1 soon later\nu6 r1 0 -1\n")
    text("utt2spk", "u1 a\nu2 a\nu3 a\nu6 b\nu7 b\n")
    reading = read_corpus(tmp_path)
    assert reading.corpus.frame.select("utterance", "start_s", "end_s").rows() == [
        ("u1", 0.0, 0.5),
        ("u2", 0.4, None),
        ("u6", None, None),
    ]
    assert {(p.kind, p.place): p.names for p in reading.problems} == {
        ("bad-line", "segments"): ("u5",),
        ("orphan-entry", "segments"): ("u4",),
        ("orphan-audio", "wav.scp"): ("r2",),
        ("orphan-entry", "utt2spk"): ("u7",),
        ("bad-segment", str(tmp_path)): ("u3",),
        ("overlapping-segment", str(tmp_path)): ("u6", "u2"),
    }


def test_every_fault_of_the_lists_is_a_line(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("u1.wav")
    sound("u2.wav")
    text("wav.scp", "u1 u1.wav\nu1 u2.wav\nu2 u2.wav\nu3 gone.wav\nu4 u1.wav\n")
    text("utt2spk", "u1 a\nu2 b\nu3 a\n")
    text("text", "u1\nu2 hello\n")
    text("spk2gender", "a Female\nb alien\nzoe f\n")
    text("trials", "a u1 target\na u1 target\na u9 nontarget\na u2 maybe\n")
    reading = read_corpus(tmp_path)
    assert {(p.kind, p.place): p.names for p in reading.problems} == {
        ("duplicate-utterance", "wav.scp"): ("u1",),
        ("idle-speaker", "spk2gender"): ("zoe",),
        ("bad-line", "trials"): ("a u2 maybe",),
        ("bad-trial", "trials"): ("a u9",),
        ("duplicate-trial", "trials"): ("a u1",),
        ("no-speaker", str(tmp_path)): ("u4",),
        ("missing-audio", str(tmp_path)): (f"u3 -> {tmp_path / 'gone.wav'}",),
        ("empty-text", str(tmp_path)): ("u1",),
    }
    assert reading.notes == ("gender 'alien' (1 row) is not known as f, m or x and is left empty",)
    assert reading.trials is not None and len(reading.trials) == 1


def test_a_directory_without_utt2spk(tmp_path: Path, text: Text) -> None:
    text("wav.scp", "u1 u1.wav\n")
    with pytest.raises(CorpusError, match="needs utt2spk"):
        read_corpus(tmp_path)


NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).filter(
    lambda n: ".." not in n and n[0] not in "/\\"
)
WORDS = st.lists(NAMES, min_size=1, max_size=4).map(" ".join)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["anna", "bela", "ćora"]),
        st.integers(0, 2),
        st.none() | WORDS,
        st.none() | st.tuples(st.floats(0, 1e4), st.none() | st.floats(1e-3, 1e4)),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60)
@given(data=st.data())
def test_what_is_written_is_read_again(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("kaldi")
    rows = data.draw(ROWS)
    ids = data.draw(st.lists(NAMES, unique=True, min_size=len(rows), max_size=len(rows)))
    for number in range(3):
        (folder / f"a file {number}.wav").touch()
    columns = {
        "utterance": ids,
        "audio": [str(folder / f"a file {number}.wav") for _, number, _, _ in rows],
        "start_s": [None if cut is None or (not cut[0] and cut[1] is None) else cut[0] for *_, cut in rows],
        "end_s": [None if cut is None or cut[1] is None else cut[0] + cut[1] for *_, cut in rows],
        "speaker": [speaker for speaker, *_ in rows],
        "text": [words for *_, words, _ in rows],
        "gender": [{"anna": "f", "bela": None, "ćora": "x"}[speaker] for speaker, *_ in rows],
    }
    optional = {"text": pl.String, "gender": pl.String, "start_s": pl.Float64, "end_s": pl.Float64}
    frame = pl.DataFrame(columns, schema_overrides=optional)
    frame = frame.drop(c for c in optional if frame[c].null_count() == len(frame)).sort("utterance")
    trials = Trials(pl.DataFrame({"enroll": ["anna"], "test": [ids[0]], "target": [True]}))
    write_kaldi(Corpus(frame), folder / "out", trials=trials)
    reading = read_corpus(folder / "out")
    back = reading.corpus.frame
    assert back.select(frame.columns).equals(frame)
    assert set(back.columns) == set(frame.columns)
    assert reading.trials is not None and reading.trials.frame.equals(trials.frame)
    for name in ("wav.scp", "utt2spk", "spk2utt"):
        lines = (folder / "out" / name).read_bytes().splitlines()
        assert lines == sorted(lines)


def test_writing_refuses_what_kaldi_cannot_hold(tmp_path: Path) -> None:
    corpus = Corpus(pl.DataFrame({"utterance": ["u 1"], "speaker": ["a"], "audio": ["/x.wav"]}))
    with pytest.raises(CorpusError, match="Kaldi ids cannot hold blanks; 1 utterance ids do"):
        write_kaldi(corpus, tmp_path / "out")
    corpus = Corpus(pl.DataFrame({"utterance": ["u1"], "speaker": ["a"], "audio": ["rm x |"]}))
    with pytest.raises(CorpusError, match="cannot begin or end with a blank or"):
        write_kaldi(corpus, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_writing_refuses_a_full_folder(tmp_path: Path, text: Text) -> None:
    text("out/precious", "")
    corpus = Corpus(pl.DataFrame({"utterance": ["u1"], "speaker": ["a"], "audio": ["/x.wav"]}))
    with pytest.raises(OutputError, match="exists and is not an empty folder"):
        write_kaldi(corpus, tmp_path / "out")


# Table 2 of the VoicePrivacy 2020 paper: (target, impostor) trials of women and men
TABLE_2 = {
    ("libri_dev", "trials_f"): (704, 14_566),
    ("libri_dev", "trials_m"): (644, 12_796),
    ("vctk_dev", "trials_f_common_mic2"): (344, 4_810),
    ("vctk_dev", "trials_m_common_mic2"): (351, 4_911),
    ("vctk_dev", "trials_f_mic2"): (1_781, 13_219),
    ("vctk_dev", "trials_m_mic2"): (2_015, 12_985),
    ("libri_test", "trials_f"): (548, 11_196),
    ("libri_test", "trials_m"): (449, 9_457),
    ("vctk_test", "trials_f_common_mic2"): (346, 4_838),
    ("vctk_test", "trials_m_common_mic2"): (354, 4_952),
    ("vctk_test", "trials_f_mic2"): (1_944, 13_056),
    ("vctk_test", "trials_m_mic2"): (1_742, 13_258),
}
ENROLLED = 16


def write_challenge_directory(folder: Path, name: str, audio: Path) -> None:
    """Write a data directory of the challenge's shape: 16 women and 16 men enrolled, tests of them and of others."""
    owners: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    enrolled = {gender: [f"{gender}{n:02d}" for n in range(ENROLLED)] for gender in "fm"}
    enrols = {f"{who}-enroll": who for speakers in enrolled.values() for who in speakers}
    for (directory, trials), (targets, impostors) in TABLE_2.items():
        if directory != name:
            continue
        gender, rows = trials.split("_")[1], lists.setdefault(trials, [])
        left = impostors
        for n in range(targets + impostors // ENROLLED):
            known = n < targets
            owner = enrolled[gender][n % ENROLLED] if known else f"{gender}9{n}"
            utterance = f"{owner}-{trials}-{n:05d}"
            others = [who for who in enrolled[gender] if who != owner][:left]
            left -= len(others)
            if known or others:
                owners[utterance] = owner
            rows += [f"{owner} {utterance} target"] * known + [f"{who} {utterance} nontarget" for who in others]
    microphone = "_mic2" if name.startswith("vctk") else ""
    owners |= enrols
    folder.mkdir(parents=True)
    (folder / "wav.scp").write_text("".join(f"{u} {audio}\n" for u in sorted(owners)))
    (folder / "utt2spk").write_text("".join(f"{u} {owners[u]}\n" for u in sorted(owners)))
    (folder / "spk2gender").write_text("".join(f"{who} {who[0]}\n" for who in sorted(set(owners.values()))))
    (folder / f"enrolls{microphone}").write_text("".join(f"{u}\n" for u in sorted(enrols)))
    for trials, rows in lists.items():
        (folder / trials).write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize("name", ["libri_dev", "vctk_dev", "libri_test", "vctk_test"])
def test_voiceprivacy_2020_table_2(tmp_path: Path, sound: Sound, name: str) -> None:
    write_challenge_directory(tmp_path / name, name, sound("u.wav"))
    reading = read_corpus(tmp_path / name)
    assert reading.trials is not None
    counts = {
        (name, str(file)): (int(part["target"].sum()), int((~part["target"]).sum()))
        for (file,), part in reading.trials.frame.group_by(["list"])
    }
    assert counts == {key: value for key, value in TABLE_2.items() if key[0] == name}
    roles = dict(reading.corpus.frame["role"].value_counts().iter_rows())
    assert roles["enroll"] == 2 * ENROLLED and roles["test"] == reading.trials.frame["test"].n_unique()


def test_of_several_microphones_the_enrolments_is_read(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("data/u.wav")
    text("data/wav.scp", "".join(f"{u} u.wav\n" for u in ("e1", "e2", "t1", "t2")))
    text("data/utt2spk", "e1 a\ne2 a\nt1 a\nt2 a\n")
    for mic in "12":
        text(f"data/enrolls_mic{mic}", f"e{mic}\n")
        text(f"data/trials_f_mic{mic}", f"a t{mic} target\n")
        text(f"data/trials_f_all_mic{mic}", "a t1 target\na t2 target\n")
    reading = read_corpus(tmp_path / "data")
    assert reading.trials is not None and reading.trials.frame.rows() == [("a", "t2", True)]
    assert dict(reading.corpus.frame.select("utterance", "role").iter_rows()) == {
        **{"e1": None, "e2": "enroll"},
        **{"t1": None, "t2": "test"},
    }
