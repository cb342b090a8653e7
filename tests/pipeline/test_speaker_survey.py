"""One voice per person: what is decided per speaker is decided once, whoever does the work, and kept privately."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import hum
from personare.core.audio import Audio, read_channels, read_mono, resample, write
from personare.core.seeding import Key
from personare.core.spoken import SpeakerEvidence, SpeakerFacts, pool
from personare.core.tables import Corpus
from personare.core.utterances import Utterance
from personare.corpora import read_corpus, read_in_parts
from personare.engine import ProcessPool, Serial
from personare.pipeline.jobs.anonymize import anonymize, private_folder
from personare.pipeline.jobs.speaker_survey import MOST_RECORDINGS, SpeakerSurvey, survey_rank, surveyed, surveys
from personare.pipeline.stages.anonymize import AnonymizeJob
from personare.pipeline.store import Store
from personare.pipeline.system import System
from pipeline.plugins import Speaking
from pipeline.test_anonymize import content, run

SPEAKING = System("pipeline.plugins:Speaking")
FEMALE, MALE = 0.5, 0.25
# by its peak, each recording sounds like a woman (above 0.45) or a man; by all of them, anna is one and bela the other
PEAKS = {"anna": (0.8, 0.4, 0.7, 0.3), "bela": (0.5, 0.3, 0.3, 0.5), "cora": (0.5, 0.5)}


def sound(peak: float, *, duration_s: float = 0.4) -> Audio:
    samples = hum(1, duration_s=duration_s).samples
    return Audio(np.float32(peak) * samples / np.abs(samples).max(), 16_000)


def corpus_of(folder: Path, *, genders: dict[str, str] | None = None) -> Path:
    rows = []
    for speaker, peaks in PEAKS.items():
        for number, peak in enumerate(peaks):
            path = folder / speaker / f"{speaker}-{number}.wav"
            write(path, sound(peak))
            rows.append((f"{speaker}-{number}", speaker, str(path), (genders or {}).get(speaker)))
    frame = pl.DataFrame(
        rows, schema={n: pl.String() for n in ("utterance", "speaker", "audio", "gender")}, orient="row"
    )
    Corpus(frame if genders else frame.drop("gender")).save(folder / "manifest.parquet")
    return folder


@pytest.fixture
def contradicting(tmp_path: Path) -> Path:
    """Recordings of people whose guessed genders differ from one to the next."""
    return corpus_of(tmp_path / "people")


def voices(target: Path) -> dict[str, set[float]]:
    """The level that each person's recordings were spoken with, by their names kept."""
    frame = Corpus.load(target / "manifest.parquet").frame
    said: dict[str, set[float]] = {}
    for who, path in frame.select("speaker", "audio").iter_rows():
        said.setdefault(who, set()).add(round(float(read_mono(Path(path)).samples.max()), 2))
    return said


def test_two_recordings_of_one_person_get_one_gender(contradicting: Path, tmp_path: Path) -> None:
    run(contradicting, tmp_path / "out", SPEAKING, names="keep")
    assert voices(tmp_path / "out") == {"anna": {FEMALE}, "bela": {MALE}, "cora": {FEMALE}}


def test_the_gender_that_the_corpus_gives_counts(tmp_path: Path) -> None:
    people = corpus_of(tmp_path / "people", genders={"anna": "m", "bela": "f", "cora": "m"})
    run(people, tmp_path / "out", SPEAKING, names="keep")
    assert voices(tmp_path / "out") == {"anna": {MALE}, "bela": {FEMALE}, "cora": {MALE}}


def test_the_same_voices_on_two_workers_in_shards_and_after_an_interruption(
    contradicting: Path, tmp_path: Path
) -> None:
    key = tmp_path / "secret.key"
    run(contradicting, tmp_path / "whole", SPEAKING, key_file=key)
    whole = content(tmp_path / "whole")
    run(contradicting, tmp_path / "two", SPEAKING, key_file=key, engine=ProcessPool(2))
    assert content(tmp_path / "two") == whole
    for shard in ("2/3", "1/3", "3/3"):
        run(contradicting, tmp_path / "parts", SPEAKING, key_file=key, shard=shard)
        run(contradicting, tmp_path / f"machine {shard[0]}", SPEAKING, key_file=key, shard=shard)
    assert content(tmp_path / "parts") == whole
    apart = {k: v for n in "123" for k, v in content(tmp_path / f"machine {n}").items() if k.endswith(".flac")}
    assert apart == {k: v for k, v in whole.items() if k.endswith(".flac")}, "each machine surveys by itself"
    seen = []

    def stop(result: object) -> None:
        seen.append(result)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(contradicting, tmp_path / "resumed", SPEAKING, key_file=key, watch=stop)
    assert run(contradicting, tmp_path / "resumed", SPEAKING, key_file=key).kept == 4
    assert content(tmp_path / "resumed") == whole


def test_decisions_are_made_once_and_kept_privately(
    contradicting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    evidence = Speaking.evidence

    def counted(self: Speaking, audio: Audio) -> SpeakerEvidence:
        asked.append(audio.duration_s)
        return evidence(self, audio)

    monkeypatch.setattr(Speaking, "evidence", counted)
    run(contradicting, tmp_path / "out", SPEAKING)
    assert len(asked) == 10, "every recording once, whatever the number of items"
    kept = private_folder(tmp_path / "out") / "speakers"
    files = list(kept.iterdir())
    assert len(files) == 3 and stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}
    assert sorted(json.loads(one.read_text())["gender"] for one in files) == ["f", "f", "m"]
    assert not any(name in one.name for one in files for name in PEAKS), "names of people are hashed"
    for place in (tmp_path / "out").rglob("*.flac"):
        place.unlink()
    run(contradicting, tmp_path / "out", SPEAKING)
    assert len(asked) == 10, "a later run finds them"
    files[0].write_text('{"gender": ')
    for place in (tmp_path / "out").rglob("*.flac"):
        place.unlink()
    run(contradicting, tmp_path / "out", SPEAKING)
    assert len(asked) > 10 and json.loads(files[0].read_text())["gender"] in "fm", "a damaged one is decided again"


def test_what_cannot_be_read_is_skipped_in_the_survey_and_fails_by_itself(contradicting: Path, tmp_path: Path) -> None:
    (contradicting / "anna" / "anna-0.wav").write_bytes(b"RIFF not really")
    done = run(contradicting, tmp_path / "out", SPEAKING, names="keep")
    assert (done.done, done.failed) == (9, 1) and done.failures[0][0] == "anna-0"
    assert all(len(levels) == 1 for levels in voices(tmp_path / "out").values())


def test_a_study_decides_as_a_job_does(contradicting: Path, tmp_path: Path) -> None:
    frame = read_corpus(contradicting).corpus.frame.with_columns(digest="utterance")
    job = AnonymizeJob("anonymize", frame, SPEAKING, Key.from_seed(1))
    store = Store(tmp_path / "store")
    items = list(job.items(store))
    results = list(Serial().map(job.work(store), items))
    assert all(result.value is not None for result in results)
    said: dict[str, set[float]] = {}
    for item in items:
        level = float(read_mono(job.work(store).place_of(item)).samples.max())
        said.setdefault(item.speaker, set()).add(round(level, 2))
    assert said == {"anna": {FEMALE}, "bela": {MALE}, "cora": {FEMALE}}
    assert len(list((store.place(job.stage) / "speakers").iterdir())) == 3


def utterances(count: int, speaker: str = "anna") -> list[Utterance]:
    return [Utterance(f"{speaker}-{n}", speaker, Path(f"{speaker}-{n}.wav")) for n in range(count)]


def test_which_recordings_are_surveyed_depends_on_names_alone() -> None:
    many = [*utterances(100), *utterances(3, "bela")]
    chosen = surveyed(many)
    assert {who: len(own) for who, own in chosen.items()} == {"anna": MOST_RECORDINGS, "bela": 3}
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(many))
        assert surveyed([many[n] for n in order]) == chosen
    assert survey_rank("anna", "1") != survey_rank("bela", "1") and survey_rank("anna", "1") == survey_rank("anna", "1")
    ranks = [survey_rank("anna", str(n)) for n in range(1000)]
    assert min(ranks) >= 0 and max(ranks) < 2**63 and len(set(ranks)) == 1000, "fits a column of the list of work"
    first = [n for n in range(1000) if ranks[n] in sorted(ranks)[:MOST_RECORDINGS]]
    assert 300 < np.mean(first) < 700, "spread over all of them"


def test_a_job_surveys_no_more_than_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(MOST_RECORDINGS + 8):
        write(tmp_path / "in" / "anna" / f"{number}.wav", sound(0.3, duration_s=0.05))
    asked: list[float] = []

    def counted(_self: Speaking, audio: Audio) -> SpeakerEvidence:
        asked.append(audio.duration_s)
        return SpeakerEvidence(1.0, (), None, 1.0)

    monkeypatch.setattr(Speaking, "evidence", counted)
    done = run(tmp_path / "in", tmp_path / "out", SPEAKING, names="keep")
    assert done.done == MOST_RECORDINGS + 8 and len(asked) == MOST_RECORDINGS


def test_methods_that_decide_nothing_are_not_surveyed(contradicting: Path, tmp_path: Path) -> None:
    mcadams, chain = System("mcadams"), System("chain", {"steps": [{"name": "mcadams"}]})
    assert [surveys(one.build()) for one in (SPEAKING, mcadams, chain)] == [True, False, False]
    assert surveys(System("chain", {"steps": [{"name": "pipeline.plugins:Speaking"}, {"name": "mcadams"}]}).build())
    run(contradicting, tmp_path / "out", mcadams)
    assert not (private_folder(tmp_path / "out") / "speakers").exists()
    assert SpeakerSurvey(tmp_path / "s").facts(mcadams.build(), utterances(2), fingerprint="x") == SpeakerFacts()


def test_another_version_of_the_method_decides_again(contradicting: Path, tmp_path: Path) -> None:
    sample = surveyed(list(read_corpus(contradicting).corpus))["anna"]
    survey = SpeakerSurvey(tmp_path / "speakers")
    for version in ("v1", "v1", "v2"):
        assert survey.facts(Speaking(), sample, fingerprint=version).gender == "f"
    assert len(list((tmp_path / "speakers").iterdir())) == 2


def test_two_people_of_one_call_are_decided_one_by_one(tmp_path: Path) -> None:
    write(tmp_path / "in" / "call.wav", [sound(0.8), sound(0.3)])
    with read_in_parts(tmp_path / "in", speaker_from="channel") as reading:
        done = anonymize(reading.corpus, tmp_path / "out", SPEAKING, engine=Serial())
    assert (done.done, done.failed) == (1, 0)
    assert len(list((private_folder(tmp_path / "out") / "speakers").iterdir())) == 2
    (made,) = (tmp_path / "out").rglob("*.flac")
    assert [round(float(channel.samples.max()), 2) for channel in read_channels(made)] == [FEMALE, MALE]


@pytest.mark.models
@pytest.mark.shared
def test_no_speaker_of_speechocean762_gets_both_genders(shared_folder: Path, tmp_path: Path) -> None:
    """Guessed by single recordings, half of the speakers did."""
    table = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", quote_char=None)
    table = table.filter(corpus="speechocean762", part="eval").with_columns(
        pl.format("{}/{}", pl.lit(str(shared_folder / "corpus")), "audio").alias("audio")
    )
    method = System("xvector").build()
    both = 0
    for who in table["speaker"].unique().sort().to_list()[:6]:
        own = table.filter(speaker=who).head(10)
        sample = [Utterance(u, who, Path(a)) for u, a in own.select("utterance", "audio").iter_rows()]
        evidence = {one.utterance: method.evidence(resample(one.read(), 16_000)) for one in sample}  # type: ignore[attr-defined]
        both += len({pool([one]).gender for one in evidence.values()}) == 2
        survey = SpeakerSurvey(tmp_path / "speakers")
        facts = survey.facts(method, sample, fingerprint="x")
        assert facts.gender in ("f", "m")
        made = {
            method.voice_of(one.read(), rng=np.random.default_rng(3), speaker=facts)  # type: ignore[attr-defined]
            for one in sample
        }
        assert len(made) == 1, f"{who} has {len(made)} voices"
    assert both, "guessed one by one, some of them would have both"
