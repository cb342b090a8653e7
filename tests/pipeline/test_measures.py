"""What a study measures is what the metrics define: every family, every kind of attacker, golden values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from personare.core.findings import Estimate, Finding
from personare.core.tables import Corpus, Embeddings
from personare.engine import Serial
from personare.listeners.linear import Line
from personare.listeners.paralinguistics import NAMES
from personare.metrics import card
from personare.metrics.privacy.ranks import Variant
from personare.pipeline.measured import Measured, as_row, load
from personare.pipeline.measures.ranks import METRICS, Ranks
from personare.pipeline.measures.similarity import Similarity, _endless
from personare.pipeline.run import run_study
from personare.pipeline.study import read_study
from pipeline.tiny import write_corpus, write_study

EMBEDDER = {"embedder": "trained:net.onnx"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("measures")
    write_corpus(folder / "corpus", speakers=10, utterances=4, train=6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        yield folder


def found(place: Path, out: str, **changes: Any) -> pl.DataFrame:
    path = write_study(place, **{"listeners": None, "clips": 0, "gallery_sizes": [2, 4], **changes})
    ran = run_study(read_study(path), place / out, engine=Serial(), written="", home=place)
    assert not ran.outcome.failures, ran.outcome.failures
    return pl.read_parquet(place / out / "findings.parquet")


def test_every_kind_of_attacker_is_played_with_its_own_speech(place: Path) -> None:
    table = found(
        place,
        "attackers",
        anonymizers={
            "original": {},
            "b2": {"method": "mcadams", "alpha": 0.8},
            "older": {"method": "mcadams", "alpha": 0.9},
        },
        attackers={
            "oo": {"knowledge": "original", **EMBEDDER},
            "lazy": {"knowledge": "lazy-informed", "enroll_draws": 2, **EMBEDDER},
            "semi": {"knowledge": "semi-informed", "learns_from": "older", **EMBEDDER},
            "informed": {"knowledge": "informed", "scorer": "plda", **EMBEDDER},
            "aligned": {"knowledge": "aligned", **EMBEDDER},
        },
        metrics=["linkability", "inference"],
    )
    links = table.filter((pl.col("metric") == "linkability") & pl.col("gender").is_null() & (pl.col("N") == 4))
    pairs = set(links.select("anonymizer", "attacker", "knowledge").iter_rows())
    assert {("original", "oo", "original"), ("original", "informed", "original")} <= pairs
    assert {("b2", "semi", "semi-informed"), ("b2", "aligned", "aligned"), ("b2", "lazy", "lazy-informed")} <= pairs
    assert ("older", "semi", "semi-informed") not in pairs and ("b2", "oo", "original") not in pairs
    assert set(links.filter(pl.col("attacker") == "informed")["scorer"]) == {"plda"}
    guessed = table.filter(pl.col("metric") == "risk_over_control")
    assert {"informed", "semi", "aligned"} == set(guessed["attacker"])
    assert json.loads(guessed["other"][0])["attribute"] == "gender"


def test_the_other_families_and_calibrated_scores(place: Path) -> None:
    table = found(
        place,
        "families",
        corpora={"hums": {"path": "corpus", "parts": {"calibration": "train"}, "split": "count", "enrolment": 2}},
        attackers={
            "ignorant": {"knowledge": "ignorant", **EMBEDDER},
            "lazy": {"knowledge": "lazy-informed", **EMBEDDER},
        },
        metrics=["cllr", "min_cllr", "singling_out", "ranks", "similarity", "sim"],
        rank_tests=5,
        repetitions=2,
    )
    assert set(table["metric"]) == {
        *("cllr", "min_cllr", "singling_out", "deid", "g_vd", "sim"),
        *("rank_link_p50", "rank_link_p1", "rank_single_p50", "rank_single_p1"),
    }
    single = table.filter(pl.col("metric") == "rank_single_p50")
    assert set(single["attacker"]) == {"ignorant"} and set(single["anonymizer"]) == {"b2"}
    kinds = json.loads((place / "families" / "artefacts.json").read_text())
    scores = [pl.read_parquet(place / "families" / e["file"]) for e in kinds if e["kind"] == "scores"]
    assert all("llr" in one.columns for one in scores)
    matrix = next(pl.read_parquet(place / "families" / e["file"]) for e in kinds if e["kind"] == "similarity")
    assert set(matrix["side"]) == {"oo", "oa", "aa"} and len(matrix) == 3 * 2 * 2  # two speakers of each gender
    assert [set(table.filter(pl.col("metric") == name)["gender"]) for name in ("deid", "g_vd")] == [{"f", "m"}] * 2
    assert {None, "f", "m"} == set(table.filter(pl.col("metric") == "min_cllr")["gender"])
    assert {None, "f", "m"} == set(table.filter(pl.col("metric") == "cllr")["gender"])
    ranks = next(pl.read_parquet(place / "families" / e["file"]) for e in kinds if e["kind"] == "ranks")
    assert set(ranks.columns) == {"speaker", "utterance", "rank", "people"} and set(ranks["people"]) == {4}


def b1_vectors(folder: Path, kind: str) -> Embeddings:
    """The challenge's x-vectors of women and men, before (orig) or after B1 (anon)."""
    parts = [np.load(folder / f"xvectors_trial_{gender}_{kind}.npz") for gender in "fm"]
    ids, speakers = (tuple(str(x) for part in parts for x in part[name]) for name in ("utterance", "speaker"))
    return Embeddings(ids, speakers, np.concatenate([part["vector"] for part in parts]))


@pytest.mark.shared
def test_voiceprivacy_figure_14_within_each_gender_and_pooled_on_request(shared_folder: Path) -> None:
    """B1 on the challenge's x-vectors: the published numbers are those of each gender."""
    folder = shared_folder / "golden" / "vpc2020"
    before, after = b1_vectors(folder, "orig"), b1_vectors(folder, "anon")
    whose = {gender: set(np.load(folder / f"xvectors_trial_{gender}_orig.npz")["speaker"].tolist()) for gender in "fm"}
    genders = {str(who): gender for gender, speakers in whose.items() for who in speakers}
    rng = np.random.default_rng(0)
    found = Similarity(("deid", "g_vd"), genders).run((before, after), rng=rng)
    values = {(f.metric.name, f.conditions["gender"]): f.estimate.value for f in found.findings}
    assert values == {
        ("deid", "f"): pytest.approx(0.986, abs=5e-4),
        ("g_vd", "f"): pytest.approx(-8.71, abs=5e-3),
        ("deid", "m"): pytest.approx(0.9995, abs=5e-5),
        ("g_vd", "m"): pytest.approx(-7.09, abs=5e-3),
    }
    assert [artefact.conditions for artefact in found.artefacts] == [{"gender": "f"}, {"gender": "m"}]
    pooled = Similarity(("deid_pooled", "g_vd_pooled"), genders).run((before, after), rng=rng)
    assert {f.metric.name: f.estimate.value for f in pooled.findings} == {
        "deid_pooled": pytest.approx(0.890, abs=5e-4),
        "g_vd_pooled": pytest.approx(-3.45, abs=5e-3),
    }
    assert all("pooled" in f.metric.title and "gender" not in f.conditions for f in pooled.findings)


def test_similarity_of_unknown_and_of_lone_genders() -> None:
    rng = np.random.default_rng(0)
    speakers = np.repeat(list("abcde"), 4)
    before = (rng.normal(size=(5, 16)).repeat(4, axis=0) + 0.5 * rng.normal(size=(20, 16))).astype(np.float32)
    ids = tuple(f"{who}-{i:02d}" for i, who in enumerate(speakers))
    sides = (Embeddings(ids, tuple(speakers), before), Embeddings(ids, tuple(speakers), before[::-1].copy()))
    alone = Similarity(("deid",), {"a": "f", "b": "m", "c": "m", "d": None, "e": None}).run(sides, rng=rng)
    assert [f.conditions for f in alone.findings] == [{"gender": "m"}, {"gender": "unknown"}]
    assert any("gender f: not measured" in note for note in alone.notes)
    nobody, same = (Similarity(("deid",), genders).run(sides, rng=rng) for genders in ({}, dict.fromkeys("abcde", "f")))
    assert [f.conditions for f in (*nobody.findings, *same.findings)] == [{}, {}]
    assert nobody.findings[0].estimate == same.findings[0].estimate


def write_lists(place: Path) -> Path:
    """Write a VoicePrivacy data directory of the hummed voices: two lists of women's and one of men's trials."""
    folder, frame = place / "kaldi", Corpus.load(place / "corpus" / "manifest.parquet").frame
    folder.mkdir(exist_ok=True)
    women, men = (sorted(frame.filter(pl.col("gender") == g)["speaker"].unique())[:2] for g in "fm")
    columns = {"wav.scp": "audio", "utt2spk": "speaker", "text": "text"}
    for name, column in columns.items():
        (folder / name).write_text("".join(f"{u} {v}\n" for u, v in frame.select("utterance", column).iter_rows()))
    genders = frame.select("speaker", "gender").unique().sort("speaker").iter_rows()
    (folder / "spk2gender").write_text("".join(f"{who} {gender}\n" for who, gender in genders))
    (folder / "enrolls_mic2").write_text("".join(f"{who}-{n}\n" for who in (*women, *men) for n in (0, 1)))
    for name, people, number in (("f", women, 2), ("f_common", women, 3), ("m", men, 2)):
        rows = [f"{e} {t}-{number} {'target' if e == t else 'nontarget'}\n" for e in people for t in people]
        (folder / f"trials_{name}_mic2").write_text("".join(rows))
    return folder


def test_enrolment_and_trial_lists_are_used_where_there_are_some(place: Path) -> None:
    write_lists(place)
    how: dict[str, Any] = {
        "attackers": {"ignorant": {"knowledge": "ignorant", **EMBEDDER}},
        "anonymizers": {"b2": {"method": "mcadams", "alpha": 0.8}},
        "metrics": ["eer", "linkability"],
    }
    table = found(place, "lists", corpora={"vpc": {"path": "kaldi", "train": 4}}, **how)
    by_list = table.filter((pl.col("metric") == "eer") & pl.col("trial_list").is_not_null())
    assert sorted(by_list["trial_list"]) == ["trials_f_common_mic2", "trials_f_mic2", "trials_m_mic2"]
    counts = {(json.loads(row)["targets"], json.loads(row)["nontargets"]) for row in by_list["other"]}
    assert counts == {(2, 2)}
    notes = " ".join(json.loads((place / "lists" / "findings.json").read_text())["notes"])
    assert "lists of the corpus are used: trials_f_common_mic2 2 target and 2 impostor trials" in notes
    assert "nobody of the lists is set aside, although the study asks for it (train)" in notes
    halves = found(place, "halves", corpora={"vpc": {"path": "kaldi", "split": "halves", "train": 4}}, **how)
    assert halves["trial_list"].is_null().all()


def test_singling_out_compares_in_the_direction_of_the_equation_and_reversed_by_request() -> None:
    """USC, eq. 2: an original utterance x of D_e is ranked among anonymized references of D_r."""
    rng = np.random.default_rng(3)
    speakers = tuple("abcdef")
    original, hidden = (Embeddings(speakers, speakers, rng.normal(size=(6, 4)).astype(np.float32)) for _ in range(2))
    unit = [side.vectors / np.linalg.norm(side.vectors, axis=1)[:, None] for side in (original, hidden)]
    scores = unit[0] @ unit[1].T  # [original, anonymized]
    among_hidden, among_original = ((m >= np.diag(m)[:, None]).sum(axis=1) for m in (scores, scores.T))
    attack: Any = SimpleNamespace(attack=SimpleNamespace(by_cosine=True, trial=hidden, enroll=original))
    expected: dict[Variant, NDArray[np.int_]] = {"singling_out": among_hidden, "singling_out_reversed": among_original}
    for variant, ranks in expected.items():
        metrics = METRICS[variant]
        found = Ranks(metrics, variant, 1).run(attack, rng=np.random.default_rng(0))
        assert [f.metric.name for f in found.findings] == list(metrics)
        assert found.artefacts[0].frame["rank"].to_list() == ranks.tolist()
    assert among_hidden.tolist() != among_original.tolist()


def test_sets_swap_sides_for_singling_out(place: Path) -> None:
    table = found(
        place,
        "sets",
        corpora={"hums": {"path": "corpus", "parts": {"train": "train"}, "split": "sets", "min_speech": [2, 1]}},
        attackers={"ignorant": {"knowledge": "ignorant", **EMBEDDER}},
        metrics=["singling_out", "linkability"],
        repetitions=2,
    )
    assert set(table["metric"]) == {"singling_out", "linkability"}
    labels = [json.loads(p.read_text())["stage"] for p in (place / "sets" / "stages").glob("anonymize-*/done.json")]
    assert sorted(labels) == ["anonymize hums enrolment by b2 (owner)", "anonymize hums trial by b2 (owner)"]


def test_cut_utterances_are_heard_alone(place: Path) -> None:
    """An original that is a piece of a longer file is hidden, heard and listened to by itself."""
    frame = Corpus.load(place / "corpus" / "manifest.parquet").frame
    cut = frame.with_columns(start_s=pl.lit(0.05), end_s=pl.lit(0.45))
    Corpus(cut).save(place / "cut.parquet")
    table = found(
        place,
        "cuts",
        corpora={"hums": {"path": "cut.parquet", "parts": {"train": "train"}}},
        attackers={"ignorant": {"knowledge": "ignorant", **EMBEDDER}},
        listeners=["pitch"],
        metrics=["linkability"],
    )
    assert {"f0_spearman", "voicing_error", "linkability"} <= set(table["metric"])


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_invented_vectors_need_no_sound(place: Path) -> None:
    table = found(
        place,
        "vectors",
        anonymizers={"copy": {"generator": "copy"}, "random": {"generator": "random", "mix": 2}},
        attackers={
            "ignorant": {"knowledge": "ignorant", **EMBEDDER},
            "lazy": {"knowledge": "lazy-informed", **EMBEDDER},
        },
        metrics=["linkability", "similarity"],
    )
    link = table.filter((pl.col("metric") == "linkability") & (pl.col("N") == 4) & pl.col("gender").is_null())
    values = {(a, b): v for a, b, v in link.select("anonymizer", "attacker", "value").iter_rows()}
    assert values["copy", "ignorant"] == values["copy", "lazy"]  # a copy hides nothing: both hear the original
    assert values["random", "ignorant"] < values["copy", "ignorant"]
    assert table.filter(pl.col("metric") == "deid", pl.col("anonymizer") == "copy")["value"][0] == pytest.approx(0)
    assert not list((place / "vectors" / "stages").glob("anonymize-*"))
    gain = table.filter(pl.col("metric") == "g_vd")
    notes = json.loads((place / "vectors" / "findings.json").read_text())["notes"]
    endless = gain.filter(pl.col("value").is_infinite() | pl.col("low").is_nan())
    assert len([note for note in notes if "voices cannot be told apart at all" in note]) >= len(endless)
    assert "too few speakers for an interval" in _endless("G_VD", Estimate(-1.0, math.nan, math.nan, 4))
    assert not _endless("G_VD", Estimate(-1.0, -2.0, 0.5, 4))


# value, low, high, chance of the tiny study with seed 7, at N = 4 where there is an N
GOLDEN = {
    ("eer", "original", "ignorant"): (0.0, 0.0, 0.489891, 0.302455),
    ("eer", "original", "lazy"): (0.0, 0.0, 0.489891, 0.302455),
    ("eer", "b2", "ignorant"): (0.194444, 0.0, 0.5, 0.344635),
    ("eer", "b2", "lazy"): (0.09375, 0.0, 0.5, 0.322917),
    ("linkability", "original", "ignorant"): (0.75, 0.300642, 0.954413, 0.25),
    ("linkability", "original", "lazy"): (0.75, 0.300642, 0.954413, 0.25),
    ("linkability", "b2", "ignorant"): (0.75, 0.300642, 0.954413, 0.25),
    ("linkability", "b2", "lazy"): (0.5, 0.150039, 0.849961, 0.25),
}


def test_golden_findings_of_a_tiny_study(place: Path) -> None:
    """Numbers written down once, to 2e-6: a change of any of them is a change of what studies say.

    They come from this library; linkability and EER are counted again below, by other means.
    """
    table = found(place, "golden", metrics=["eer", "linkability"], seed=7)
    whole = table.filter(pl.col("gender").is_null() & (pl.col("N").is_null() | (pl.col("N") == 4)))
    rows = whole.select("metric", "anonymizer", "attacker", "value", "low", "high", "chance").rows()
    values = {row[:3]: row[3:] for row in rows}
    assert values.keys() == GOLDEN.keys()
    for name, wanted in GOLDEN.items():
        assert values[name] == pytest.approx(wanted, abs=2e-6), name
    for attacker, enrolment in (("ignorant", "by trained"), ("lazy", "by trained, anonymized by b2 (attacker)")):
        shares = counted(place / "golden" / "stages", enrolment)
        assert values["linkability", "b2", attacker][0] == pytest.approx(np.mean(shares))
        assert values["eer", "b2", attacker][0] == pytest.approx(
            minimax(*trials(place / "golden" / "stages", enrolment)), abs=2e-6
        )


def trials(stages: Path, enrolment: str) -> tuple[list[float], list[float]]:
    """Score by hand, within one gender (even and odd speakers): cosine to the mean of unit vectors."""
    enroll, trial = heard_by_hand(stages, enrolment)
    unit = {
        side: v["vectors"] / np.linalg.norm(v["vectors"].astype(float), axis=1)[:, None]
        for side, v in (("enroll", enroll), ("trial", trial))
    }
    same, other = list[float](), list[float]()
    for name in sorted(set(enroll["speakers"].tolist())):
        mean = unit["enroll"][enroll["speakers"] == name].mean(0)
        for who, vector in zip(trial["speakers"].tolist(), unit["trial"], strict=True):
            if int(who[1:]) % 2 == int(name[1:]) % 2:
                (same if who == name else other).append(float(mean @ vector / np.linalg.norm(mean)))
    return same, other


def minimax(same: list[float], other: list[float]) -> float:
    """EER of the hull as the game it is: max over w of min over thresholds t of w Pmiss(t) + (1 - w) Pfa(t)."""
    thresholds = [*same, *other, np.inf]
    errors = [(np.mean(np.array(same) < t), np.mean(np.array(other) >= t)) for t in thresholds]
    corners = {0.0, 1.0} | {
        (fb - fa) / (ma - fa - mb + fb) for ma, fa in errors for mb, fb in errors if ma - fa - mb + fb
    }
    return float(max(min(w * m + (1 - w) * f for m, f in errors) for w in corners if 0 <= w <= 1))


def heard_by_hand(stages: Path, enrolment: str) -> list[Any]:
    heard = {json.loads(p.read_text())["stage"]: p.parent / "vectors.npz" for p in stages.glob("embed-*/done.json")}
    wanted = (f"enrolment {enrolment}", "trial by trained, anonymized by b2 (owner)")
    return [np.load(heard[f"embed hums {what}"]) for what in wanted]


def counted(stages: Path, enrolment: str) -> list[bool]:
    """Count by hand who is linked: the nearest mean of unit vectors, by cosine, is the tested speaker's own."""
    enroll, trial = heard_by_hand(stages, enrolment)
    names = sorted(set(enroll["speakers"].tolist()))
    rows = enroll["vectors"] / np.linalg.norm(enroll["vectors"].astype(float), axis=1)[:, None]
    means = np.stack([rows[enroll["speakers"] == name].mean(0) for name in names])
    linked = []
    for speaker, vector in zip(trial["speakers"].tolist(), trial["vectors"].astype(float), strict=True):
        cosines = means @ vector / np.linalg.norm(means, axis=1)
        linked.append(names[int(cosines.argmax())] == speaker)
    return linked


def test_findings_survive_being_written(tmp_path: Path) -> None:
    odd = Finding(card("g_vd"), Estimate(float("-inf"), float("nan"), 0.5, 3), {"L": 1, "tag": "C"}, 2, 0.25)
    Measured((odd,), (), ("a note",)).save(tmp_path)
    again = load(tmp_path)
    assert json.dumps(as_row(again.findings[0])) == json.dumps(as_row(odd)) and again.notes == ("a note",)


def test_attackers_guess_any_attribute_that_is_noted(place: Path) -> None:
    accents = "\n".join(["speaker\taccent", *(f"s{s:02d}\t{'ab'[s % 2]}" for s in range(10))])
    (place / "corpus" / "speakers.tsv").write_text(accents + "\n", encoding="utf-8")
    table = found(
        place,
        "guessed",
        attackers={"informed": {"knowledge": "informed", **EMBEDDER}},
        metrics=["inference"],
        attributes=["gender", "accent"],
    )
    told = [json.loads(row) for row in table["other"]]
    assert [one["attribute"] for one in told] == ["gender", "accent"]
    assert {(one["attack"], one["baseline"]) for one in told} == {(told[0]["attack"], 0.5)}  # the same two groups here
    (place / "corpus" / "speakers.tsv").unlink()


def feeling(path: Path, kind: Literal["values", "classes"]) -> str:
    """Write a model of feeling: a line through the openly computed numbers of a voice."""
    rng, n = np.random.default_rng(5), len(NAMES)
    weights = tuple(tuple(row) for row in rng.normal(size=(2, n)).tolist())
    Line(kind, NAMES, ("calm", "tense"), (0.0,) * n, (100.0,) * n, weights, (0.0, 0.0), "nobody").save(path)
    return f"affect:{path.name}"


def test_feeling_is_heard_by_a_model_of_ones_own(place: Path) -> None:
    listeners = {kind: {"listener": feeling(place / f"{kind}.json", kind)} for kind in ("values", "classes")}
    table = found(place, "felt", attackers=None, listeners=listeners, metrics=["ccc", "uar"])
    rows = {(m, a, e) for m, a, e in table.select("metric", "anonymizer", "listener").iter_rows()}
    assert rows == {("ccc", "b2", "values"), ("uar", "b2", "classes")}  # original speech against itself says nothing
    assert sorted(json.loads(row)["of"] for row in table.filter(pl.col("metric") == "ccc")["other"]) == [
        "calm",
        "tense",
    ]
