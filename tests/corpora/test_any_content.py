"""Whatever stands in a list, reading it gives a Reading or one clear line: never a traceback, never a shell."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personare.core.errors import PersonareError
from personare.corpora import read_corpus

KALDI = {"wav.scp": b"u1 u1.wav\n", "utt2spk": b"u1 a\n"}
LIBRI = {"1/2/1-2.trans.txt": b"1-2-0000 HI\n", "1/2/1-2-0000.flac": b""}
VCTK = {"wav48/p1/p1_001.wav": b"", "speaker-info.txt": b"ID AGE GENDER\np1 20 F\n"}
VOX = {"wav/id10001/v/1.wav": b""}
CLIPS = {"clips/a.mp3": b"", "validated.tsv": b"client_id\tpath\tsentence\nc\ta.mp3\thi\n"}
LHOTSE = {
    "recordings.jsonl": b'{"id": "r", "sources": [{"type": "file", "source": "u1.wav"}], "duration": 1}\n',
    "supervisions.jsonl": b'{"id": "s", "recording_id": "r", "start": 0, "duration": 1, "speaker": "a"}\n',
}
# layout, the good files, the file that holds anything
CASES = [
    ("manifest", {}, "manifest.tsv"),
    ("manifest", {}, "manifest.parquet"),
    ("manifest", {"manifest.tsv": b"utterance\tspeaker\taudio\nu1\ta\tu1.wav\n"}, "speakers.tsv"),
    ("manifest", {"manifest.tsv": b"utterance\tspeaker\taudio\nu1\ta\tu1.wav\n"}, "trials.parquet"),
    ("folders", {"a/u1.wav": b""}, "a/u1.txt"),
    ("folders", {"a/u1.wav": b""}, "speakers.tsv"),
    *(("kaldi", KALDI, n) for n in ("wav.scp", "utt2spk", "segments", "text", "spk2gender", "utt2dur", "trials")),
    ("librispeech", LIBRI, "1/2/1-2.trans.txt"),
    ("librispeech", LIBRI, "SPEAKERS.TXT"),
    ("vctk", VCTK, "speaker-info.txt"),
    ("commonvoice", CLIPS, "validated.tsv"),
    ("commonvoice", CLIPS, "clip_durations.tsv"),
    ("voxceleb", VOX, "vox1_meta.csv"),
    ("voxceleb", VOX, "veri_test.txt"),
    ("hub", {}, "metadata.csv"),
    ("hub", {}, "metadata.jsonl"),
    *(("lhotse", LHOTSE, n) for n in ("recordings.jsonl", "supervisions.jsonl")),
    ("lhotse", {}, "cuts.jsonl.gz"),
]
HEADS = {
    "manifest.tsv": b"utterance\tspeaker\taudio\tgender\tstart_s\n",
    "speakers.tsv": b"speaker\tgender\n",
    "validated.tsv": b"client_id\tpath\tsentence\tgender\n",
    "clip_durations.tsv": b"clip\tduration[ms]\n",
    "vox1_meta.csv": b"VoxCeleb1 ID\tVGGFace1 ID\tGender\tNationality\tSet\n",
    "metadata.csv": b"file_name,speaker_id,text\n",
}
WORDS = [
    "u1",
    "a",
    "u1.wav",
    "",
    " ",
    "\t",
    "\n",
    ",",
    '"',
    "|",
    "-",
    "../../x",
    "/etc/passwd",
    "F",
    "nan",
    "-1",
    "1e999",
]
SCRAPS = ['{"file_name": "u1.wav", "speaker": 1}', '{"id": "c", "start": 0}', "[]", "null", '{"id": []}', "target", "é"]
CONTENT = st.one_of(
    st.binary(max_size=40),
    st.lists(st.sampled_from([*WORDS, *SCRAPS]), max_size=20).map(lambda words: " ".join(words).encode()),
    st.lists(st.sampled_from([*WORDS, *SCRAPS]), max_size=20).map(lambda words: "\t".join(words).encode()),
    st.lists(st.sampled_from([*WORDS, *SCRAPS]), max_size=9).map(lambda words: "\n".join(words).encode()),
)


@pytest.mark.parametrize(("layout", "good", "target"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_any_content(
    layout: str, good: dict[str, bytes], target: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name, content in {"u1.wav": b"", **good}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    before = sorted(p for p in folder.rglob("*") if p.name != Path(target).name)

    @settings(max_examples=25, derandomize=True)
    @given(content=CONTENT, headed=st.booleans())
    def read_anything(content: bytes, headed: bool) -> None:
        content = HEADS.get(target, b"") + content if headed else content
        (folder / target).write_bytes(gzip.compress(content) if headed and target.endswith(".gz") else content)
        try:
            reading = read_corpus(folder, layout=layout)
        except PersonareError as error:
            assert len(str(error).splitlines()) == 1
        else:
            assert len(reading.corpus)
            assert all(len(p.line.splitlines()) == 1 for p in reading.problems)

    read_anything()
    assert sorted(p for p in folder.rglob("*") if p.name != Path(target).name) == before
