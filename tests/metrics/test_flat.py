"""The flat namespace: every metric as one call, typed, lazy, with any kind of numbers and seeds, the same values."""

from __future__ import annotations

import ast
import inspect
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from personare import metrics
from personare.core.errors import ConfigError, MetricError
from personare.core.findings import Estimate
from personare.metrics.privacy import cllr, detection, dsys, eer, zebra
from personare.metrics.privacy.legal import link_conversations, single_out_conversations
from personare.metrics.privacy.population import population_linkability
from personare.metrics.privacy.ranks import rank_test
from personare.metrics.privacy.similarity import similarity_estimates, voice_similarity
from personare.metrics.utility import concordance, pitch, recall, voicing
from personare.metrics.utility import wer as wer_file

RNG = np.random.default_rng
T, N = RNG(0).normal(1.5, 1, 60), RNG(1).normal(0, 1, 300)
WHO: dict[str, Any] = {"target_speakers": np.arange(60) % 12, "nontarget_speakers": np.arange(300) % 12}
SCORE_METRICS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "eer": (metrics.eer, eer.rocch_eer_estimate, {}),
    "cllr": (metrics.cllr, cllr.cllr_estimate, {}),
    "min_cllr": (metrics.min_cllr, cllr.min_cllr_estimate, {}),
    "min_dcf": (
        metrics.min_dcf,
        detection.min_dcf_estimate,
        {"prior": 0.1, "cost_miss": 10.0, "cost_false_alarm": 2.0},
    ),
    "d_ece": (metrics.d_ece, zebra.d_ece_estimate, {}),
    "log10_l": (metrics.log10_l, zebra.log10_l_estimate, {}),
    "dsys": (metrics.dsys, dsys.dsys_estimate, {"w": 2.0}),
}


def test_the_table_the_types_and_the_functions_agree() -> None:
    tree = ast.parse(Path(metrics.__file__).read_text(encoding="utf-8"))
    typed = {
        alias.asname: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == dict(metrics.FUNCTIONS)
    for name in metrics.FUNCTIONS:
        function = getattr(metrics, name)
        assert function.__name__ == name and name in dir(metrics) and function.__doc__
        for parameter in inspect.signature(function).parameters.values():
            assert parameter.default is inspect.Parameter.empty or parameter.kind is inspect.Parameter.KEYWORD_ONLY
    with pytest.raises(AttributeError, match="did you mean 'eer'"):
        metrics.eerr  # noqa: B018


def test_importing_the_namespace_loads_nothing_and_a_function_loads_no_scipy() -> None:
    code = (
        "import sys\nfrom personare import metrics\n"
        "assert not any(m.startswith('personare.metrics.') for m in sys.modules), 'a metric was loaded'\n"
        "metrics.wilson, metrics.linkability, metrics.eer, metrics.wer\n"
        "heavy = [m for m in ('scipy', 'jiwer', 'polars', 'onnxruntime') if m in sys.modules]\n"
        "sys.exit(','.join(heavy) or None)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", list(SCORE_METRICS))
def test_metrics_of_scores(name: str) -> None:
    flat, plain, options = SCORE_METRICS[name]
    drawn = {"rng": RNG(3)} if "rng" in inspect.signature(plain).parameters else {}
    expected = plain(T, N, **WHO, **drawn, level=0.8, **options)
    for seed in (3, RNG(3)):
        assert repr(flat(T, N, **WHO, rng=seed, level=0.8, **options)) == repr(expected)
    alone = flat(T, N, **options)
    assert isinstance(alone, Estimate) and alone.n == 360
    # D_sys takes out what chance gives, which another stream draws a little differently
    assert alone.value == pytest.approx(expected.value, abs=0.02 if name == "dsys" else 1e-12)
    if name == "log10_l":
        assert np.isnan([expected.low, expected.high, alone.low, alone.high]).all(), "it grows with the trials"
        return
    assert alone.low <= alone.value <= alone.high and alone.low < alone.high
    assert alone == flat(T, N, rng=0, **options), "the default is the seed 0"
    assert flat(T, N, rng=1, **options) != alone
    with pytest.raises(MetricError, match="give both or neither"):
        flat(T, N, target_speakers=WHO["target_speakers"], **options)


@pytest.mark.parametrize("kind", [list, np.float16, np.float32, np.float64, np.longdouble, np.int8, tuple])
def test_any_kind_of_numbers_is_taken(kind: Any) -> None:
    t, n = [2, 3, 4, 5], [0, 1, 2, 3]
    sides = [kind(side) if kind in (list, tuple) else np.array(side, dtype=kind) for side in (t, n)]
    assert metrics.eer(*sides).value == 0.25
    vectors = [[3.0, 1.0], [1.0, 3.0]] if kind in (list, tuple) else np.array([[3, 1], [1, 3]], dtype=kind)
    assert metrics.linkability(vectors, ["a", "b"], vectors, ["a", "b"]).estimate.value == 1.0


def test_definitions_and_estimators_by_name() -> None:
    assert metrics.eer(T, N, definition="kaldi").value == eer.kaldi_eer(T, N)
    assert metrics.dsys(T, N, estimator="reference").value == dsys.dsys_reference(T, N)
    assert metrics.zebra_tag(T, N) == zebra.tag(zebra.log10_l(T, N))
    with pytest.raises(MetricError, match="no definition 'roc'"):
        metrics.eer(T, N, definition="roc")  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="no estimator 'kde'"):
        metrics.dsys(T, N, estimator="kde")  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="no target scores"):
        metrics.eer([], N)
    assert metrics.wilson(8, 10).value == 0.8


@pytest.mark.parametrize("rng", [-1, 1.5, True, "7", None])
def test_a_seed_is_a_whole_number(rng: Any) -> None:
    with pytest.raises(ConfigError, match="rng must be a seed"):
        metrics.eer(T, N, rng=rng)


def voices(seed: int, *, people: int = 25, each: int = 6, noise: float = 1.0) -> tuple[Any, Any]:
    owner = np.repeat([f"p{i:02d}" for i in range(people)], each)
    voice = RNG(99).normal(size=(people, 10)).repeat(each, axis=0)
    return voice + noise * RNG(seed).normal(size=voice.shape), owner


def test_metrics_of_vectors() -> None:
    (test, tested), (enroll, enrolled) = voices(1), voices(2)
    sides = (test, tested, enroll, enrolled)
    flat = metrics.linkability(*sides, L=2, N=(5, 25), rng=4)
    plain = link_conversations(*sides, length=2, sizes=(5, 25), rng=RNG(4)).result
    assert flat.estimates == plain.estimates and flat.sizes == (5, 25) and flat.estimate == flat.estimates[1]
    assert metrics.linkability(*sides, N=20).sizes == (20,) and metrics.linkability(*sides).sizes == (20, 25)
    assert metrics.linkability(*sides, paper=True).drawn is not None
    raw = metrics.linkability(test * RNG(5).uniform(0.1, 9, (150, 1)), tested, enroll, enrolled, L=3, unit_first=False)
    assert raw.estimate.value != metrics.linkability(*sides, L=3).estimate.value
    assert "N = 5: " in str(flat) and "chance 0.2" in str(flat)
    larger = metrics.population_linkability(*sides, populations=(10**5,), rng=4)
    linked = RNG(4)
    base = link_conversations(*sides, length=1, rng=linked).result
    owners = base.speakers[base.owner]
    again = population_linkability(base.nontargets_above, owners, enrolled=25, populations=(10**5,), rng=linked)
    assert larger.estimates == again.estimates and "100,000" in str(larger) and "supported up to N = 25" in str(larger)
    single = metrics.singling_out(*sides, L=2, N=20, draws=2, folds=3, predicates=9, rng=4)
    reference = single_out_conversations(
        enroll, enrolled, test, tested, length=2, sizes=(20,), draws=2, folds=3, predicates=9, rng=RNG(4)
    )
    assert (single.isolated == reference.result.isolated).all() and single.isolated.shape == (9, 1, 2, 3)
    assert "N = 20: " in str(single) and single.estimate == single.estimates[0]
    few = metrics.singling_out(*sides, N=15, control=True, predicates=8, draws=1)
    assert len(few.speakers) == 8 and few.sizes == (15,)
    ranked = metrics.ranks(*sides, tests=3, rng=4, variant="singling_out")
    assert (ranked.mean_ranks == rank_test(*sides, variant="singling_out", tests=3, rng=RNG(4)).mean_ranks).all()
    assert "median rank among N = 25" in str(ranked) and "k-anonymity" in str(ranked)


def test_linkability_of_each_group_among_everybody() -> None:
    (test, tested), (enroll, enrolled) = voices(1, noise=2.0), voices(2, noise=2.0)
    linked = metrics.linkability(test, tested, enroll, enrolled, N=25)
    genders: dict[str, str | None] = {f"p{i:02d}": "f" if i < 10 else "m" for i in range(24)}
    parts = linked.by_group(genders)
    assert list(parts) == ["f", "m"] and parts["f"].enrolled == 25
    assert [len(part.speakers) for part in parts.values()] == [10, 14]
    hits = linked.nontargets_above == 0
    women = np.isin(linked.speakers[linked.owner], [f"p{i:02d}" for i in range(10)])
    assert parts["f"].estimate.value == pytest.approx(hits[women].mean())


def test_similarity_of_voices() -> None:
    (before, speakers), (after, _) = voices(1, people=5), voices(2, people=5, noise=4.0)
    for variant in ("paper", "vpc2020"):
        names = [str(i) for i in range(len(speakers))]
        matrices = voice_similarity(before, after, speakers=list(speakers), utterances=names, variant=variant)
        expected = similarity_estimates(matrices)
        how: dict[str, Any] = {"variant": variant}
        assert (metrics.deid(before, after, speakers, **how), metrics.g_vd(before, after, speakers, **how)) == expected


def test_metrics_of_utterances() -> None:
    references, hypotheses = ["the cat sat", "yes", "no way"], ["the bat", "yes yes", "no way"]
    who = ["ann", "bob", "ann"]
    errors = wer_file.word_errors(references, hypotheses)
    found = metrics.wer(references, hypotheses, speakers=who)
    assert found == wer_file.wer_estimate(errors, speakers=who) and found.n == 2
    assert metrics.wer(references, hypotheses).n == 3 and metrics.wer("a b", "a c").value == 0.5
    letters = wer_file.character_errors(references, hypotheses)
    assert metrics.cer(references, hypotheses).value == wer_file.wer(letters)
    x, y = RNG(1).normal(size=30), RNG(2).normal(size=30)
    speakers = np.arange(30) % 5
    assert metrics.ccc(x, y, speakers=speakers) == concordance.ccc_estimate(x, y, speakers=speakers)
    assert metrics.ccc(x, y).n == 30 and metrics.ccc(x, y).value == concordance.ccc(x, y)
    truth, guess = list("aabbab"), list("abbbaa")
    assert metrics.uar(truth, guess).value == recall.uar(truth, guess) and metrics.uar(truth, guess).n == 6
    by_speaker = metrics.uar(truth, guess, speakers=list("xxyyzz"))
    assert by_speaker == recall.uar_estimate(truth, guess, speakers=list("xxyyzz"))


def test_pitch_of_one_or_many_utterances() -> None:
    tracks = [RNG(i).uniform(80, 300, 40) for i in range(4)]
    others = [track + RNG(9).normal(0, 20, 40) for track in tracks]
    others[2][:10] = 0.0
    many = metrics.f0_spearman(tracks, others, speakers=["a", "a", "b", "c"])
    values = [pitch.f0_spearman(a, b) for a, b in zip(tracks, others, strict=True)]
    assert many.value == pytest.approx(np.mean(values)) and many.n == 3
    one = metrics.f0_spearman(tracks[0], others[0])
    assert (one.value, one.n) == (values[0], 1) and math.isnan(one.low)
    for frames in ("voiced", "all"):
        plain = [pitch.pitch_correlation(a, b, frames=frames) for a, b in zip(tracks, others, strict=True)]
        found = metrics.pitch_correlation(np.stack(tracks), np.stack(others), frames=frames)
        assert found.value == pytest.approx(np.mean(plain)) and found.n == 4
    assert metrics.pitch_correlation(tracks, others) == metrics.pitch_correlation(tracks, others, frames="voiced")
    wrong = [voicing.voicing_error(a, b) for a, b in zip(tracks, others, strict=True)]
    assert metrics.voicing_error(tracks, others).value == pytest.approx(np.mean(wrong)) == pytest.approx(10 / 160)
    assert metrics.voicing_error([100.0], [0.0]).value == 1.0, "one frame is one track"
    with pytest.raises(MetricError, match="4 original pitch tracks do not fit 3"):
        metrics.voicing_error(tracks, others[:3])
    with pytest.raises(MetricError):
        metrics.voicing_error([], [])


def test_an_estimate_as_plain_numbers() -> None:
    assert metrics.wilson(1, 2).to_dict().keys() == {"value", "low", "high", "n"}


def test_without_a_generator_every_metric_draws_from_seed_0() -> None:
    functions = [one for name in dir(metrics) if inspect.isfunction(one := getattr(metrics, name))]
    seeds = {f.__name__: p["rng"].default for f in functions if "rng" in (p := inspect.signature(f).parameters)}
    assert len(seeds) > 10 and set(seeds.values()) == {0}
