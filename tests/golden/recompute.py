"""Computes the reference values again, by packages and plain loops that share no code with personare.

Run in an environment of its own (README.md); personare is not imported. Without arguments expected.json is written anew
from inputs.json; ``--inputs`` draws inputs.json anew from its seed first.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SEED = 20_261_116
OWN = "a plain loop in recompute.py"
CURVES = ("tied", "noise")  # whole curves would fill the file; two of the sets are enough
Row = dict[str, Any]
Scores = list[float]


def draw_inputs(seed: int) -> dict[str, Any]:
    """Draw small sets of every kind of input; rounded, so that ties occur and the file stays readable."""
    chance = random.Random(seed)  # noqa: S311 - test inputs, not secrets

    def normal(n: int, mean: float, spread: float, digits: int = 3) -> Scores:
        return [round(chance.gauss(mean, spread), digits) for _ in range(n)]

    def voices(people: int, each: int, noise: float, seeds: list[Scores]) -> list[Scores]:
        rows = [seeds[p] for p in range(people) for _ in range(each)]
        return [[round(x + chance.gauss(0, noise), 3) for x in row] for row in rows]

    centres = [normal(6, 0.0, 1.0) for _ in range(10)]
    loudness = [round(math.exp(chance.gauss(0, 0.7)), 3) for _ in range(40)]
    words = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while", "two", "cats", "sleep"]
    references = [" ".join(chance.choice(words) for _ in range(chance.randint(1, 9))) for _ in range(12)]
    hypotheses = [" ".join(w for w in _misheard(text.split(), words, chance)) for text in references]
    pitch = [round(max(0.0, 120 + 40 * math.sin(i / 7) + chance.gauss(0, 8)), 1) * (i % 11 > 2) for i in range(80)]
    moved = [round(1.4 * f * math.exp(chance.gauss(0, 0.1)), 1) * (chance.random() > 0.08) for f in pitch[:-3]]
    ratings = normal(40, 0.5, 0.2)
    classes = [chance.choice("abcc") for _ in range(60)]
    return {
        "seed": seed,
        "scores": {
            "overlapping": {"targets": normal(60, 1.5, 1.0), "nontargets": normal(400, -0.5, 1.0)},
            "tied": {"targets": normal(50, 1.0, 1.0, 0), "nontargets": normal(150, 0.0, 1.0, 0)},
            "separated": {"targets": normal(25, 9.0, 1.0), "nontargets": normal(80, -9.0, 1.0)},
            "noise": {"targets": normal(40, 0.0, 1.0, 2), "nontargets": normal(300, 0.0, 1.0, 2)},
            "inverted": {"targets": normal(30, -2.0, 1.0), "nontargets": normal(90, 2.0, 1.0)},
        },
        "vectors": {
            "test": voices(10, 4, 1.0, centres),
            "enroll": [
                [round(g * x, 3) for x in v] for g, v in zip(loudness, voices(10, 4, 1.0, centres), strict=True)
            ],
            "anonymized": voices(10, 4, 1.5, [normal(6, 0.0, 0.6) for _ in range(10)]),
            "speakers": [f"s{p}" for p in range(10) for _ in range(4)],
            "draws": [
                {
                    "order": chance.sample(range(10), 10),
                    "place": [(i + s) % 4 for s in _shifts(chance) for i in range(4)],
                }
                for _ in range(3)
            ],
        },
        "rates": [[0, 1], [0, 20], [3, 20], [10, 20], [20, 20], [415, 449]],
        "risks": [[0.5, 0.1, 0.2, 0.05], [0.9, 0.05, 0.1, 0.08], [0.35, 0.1, 0.3, 0.1]],
        "texts": {"references": references, "hypotheses": hypotheses},
        "ratings": {"before": ratings, "after": [round(0.8 * r + chance.gauss(0.1, 0.1), 3) for r in ratings]},
        "classes": {
            "truth": classes,
            "predicted": [c if chance.random() < 0.6 else chance.choice("abc") for c in classes],
        },
        "pitch": {"original": pitch, "anonymized": moved},
    }


def _misheard(said: list[str], words: list[str], chance: random.Random) -> Iterator[str]:
    for word in said:
        event = chance.random()
        if event > 0.15:
            yield word if event > 0.3 else chance.choice(words)
        if event > 0.92:
            yield chance.choice(words)


def _shifts(chance: random.Random) -> list[int]:
    return [chance.randrange(4) for _ in range(10)]


def of_scores(name: str, targets: Scores, nontargets: Scores) -> Iterator[Row]:
    """Detection, ZEBRA and D_sys of one list of scores."""
    import audmetric
    import lir.metrics
    import numpy as np
    from lir.data.models import LLRData
    from llreval.cllr import cllr, min_cllr
    from llreval.pav_rocch import PAV, ROCCH
    from sklearn.metrics import roc_curve

    t, n = np.array(targets), np.array(nontargets)
    labels, scores = np.append(np.ones(len(t), int), np.zeros(len(n), int)), np.append(t, n)
    pav = PAV(scores, labels)
    data = LLRData(features=scores.reshape(-1, 1) / math.log(10), labels=labels)  # lir reads decimal logarithms
    yield row("eer", name, ROCCH(pav).EER(), "llreval", "ROCCH(PAV).EER", 1e-6)
    yield row("eer_kaldi", name, kaldi_walk(targets, nontargets), OWN)
    yield row("cllr", name, cllr(t, n), "llreval", "cllr")
    yield row("cllr", name, lir.metrics.cllr(data), "lir", "metrics.cllr")
    yield row("min_cllr", name, min_cllr(pav), "llreval", "min_cllr(PAV)")
    yield row("min_cllr", name, lir.metrics.cllr_min(data), "lir", "metrics.cllr_min", 1e-7)
    for prior, miss, alarm in ((0.5, 1.0, 1.0), (0.01, 1.0, 1.0), (0.05, 10.0, 1.0)):
        odds = prior * miss / ((1 - prior) * alarm)
        share = odds / (1 + odds)
        least = ROCCH(pav).Bayes_error_rate(math.log(odds)) / min(share, 1 - share)
        given = {"prior": prior, "cost_miss": miss, "cost_false_alarm": alarm}
        yield {**row("min_dcf", name, least, "llreval", "ROCCH.Bayes_error_rate"), "options": given}
    if name in CURVES:
        false_alarm, hits, thresholds = roc_curve(labels, scores, drop_intermediate=False)
        points = [[float(s), float(1 - h), float(f)] for s, h, f in zip(thresholds, hits, false_alarm, strict=True)]
        yield row("error_curve", name, points[:0:-1], "scikit-learn", "roc_curve")
        yield row("oracle_llrs", name, isotonic_llrs(targets, nontargets), "scikit-learn", "IsotonicRegression")
    yield row("d_ece", name, ece_area(targets, nontargets), OWN + " over scikit-learn and scipy.integrate", "", 1e-7)
    yield row("log10_l", name, strongest(targets, nontargets), OWN + " over scikit-learn's IsotonicRegression")
    if len(t) >= 20:
        yield row("dsys_reference", name, audmetric.linkability(labels, scores), "audmetric", "linkability")


def row(metric: str, name: str, value: Any, by: str, function: str = "", tolerance: float = 1e-9) -> Row:
    """One reference value, and who computed it."""
    try:
        source = f"{by} {version(by)}, {function}"
    except Exception:  # not the name of a package: our own loop
        source = by
    return {"metric": metric, "set": name, "by": source, "tolerance": tolerance, "value": value}


def kaldi_walk(targets: Scores, nontargets: Scores) -> float:
    """Kaldi's compute-eer, step by step."""
    t, n = sorted(targets), sorted(nontargets)
    for place in range(len(t)):
        mirror = max(0, len(n) - 1 - int(len(n) * place / len(t)))
        if n[mirror] < t[place] or place == len(t) - 1:
            return place / len(t)
    raise AssertionError


def posteriors(scores: Scores, labels: list[int]) -> Any:
    """The best rising map of scores to labels, equal scores pooled first."""
    import numpy as np
    from sklearn.isotonic import IsotonicRegression

    levels = sorted(set(scores))
    hits = [sum(lab for s, lab in zip(scores, labels, strict=True) if s == level) for level in levels]
    counts = [scores.count(level) for level in levels]
    shares = np.array(hits) / counts
    fitted = IsotonicRegression(y_min=0, y_max=1).fit_transform(levels, shares, sample_weight=counts)
    return [float(fitted[levels.index(s)]) for s in scores]


def isotonic_llrs(targets: Scores, nontargets: Scores, *, laplace: bool = False) -> list[float | str]:
    """Log-likelihood ratio of every trial, targets first; infinite ones as words."""
    scores, labels = [*targets, *nontargets], [1] * len(targets) + [0] * len(nontargets)
    if laplace:
        low, high = min(scores) - 1, max(scores) + 1
        scores, labels = [*scores, low, low, high, high], [*labels, 1, 0, 1, 0]
    prior = len(targets) / len(nontargets)
    kept = posteriors(scores, labels)[: len(targets) + len(nontargets)]
    return [_llr(p, prior) for p in kept]


def _llr(p: float, prior: float) -> float | str:
    if p < 1e-12 or p > 1 - 1e-12:
        return "-inf" if p < 0.5 else "inf"
    return math.log(p / (1 - p) / prior)


def ece_area(targets: Scores, nontargets: Scores) -> float:
    """D_ECE as what it is: the area between the ECE of zero evidence and of the calibrated scores over all priors."""
    from scipy.integrate import quad

    llrs = [float(x) for x in isotonic_llrs(targets, nontargets)]
    t, n = llrs[: len(targets)], llrs[len(targets) :]

    def ece(pi: float, mine: Scores, others: Scores) -> float:
        odds = math.log(pi / (1 - pi))
        miss = sum(_softplus(-x - odds) for x in mine) / len(mine)
        alarm = sum(_softplus(x + odds) for x in others) / len(others)
        return (pi * miss + (1 - pi) * alarm) / math.log(2)

    found: float = quad(lambda pi: ece(pi, [0.0], [0.0]) - ece(pi, t, n), 0, 1, epsabs=1e-11, limit=400)[0]
    return found


def _softplus(x: float) -> float:
    return 0.0 if x == -math.inf else max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def strongest(targets: Scores, nontargets: Scores) -> float:
    """log10(l) with Laplace's rule; 0 where the plain calibration has one block only."""
    if len(set(isotonic_llrs(targets, nontargets))) == 1:
        return 0.0
    return max(abs(float(x)) for x in isotonic_llrs(targets, nontargets, laplace=True)) / math.log(10)


def unit(vector: Scores) -> Scores:
    """Scale to length 1."""
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector]


def mean(rows: list[Scores], *, unit_first: bool) -> Scores:
    """Average vectors, each scaled to length 1 before or not."""
    scaled = [unit(row) for row in rows] if unit_first else rows
    return [sum(column) / len(rows) for column in zip(*scaled, strict=True)]


def cosine(a: Scores, b: Scores) -> float:
    """The cosine of two vectors."""
    return sum(x * y for x, y in zip(unit(a), unit(b), strict=True))


def of_vectors(given: dict[str, Any]) -> Iterator[Row]:
    """EER of all trials, linkability by listing every gallery, Singling Out fold by fold, ranks, similarity."""
    people = sorted(set(given["speakers"]))
    rows = {p: [i for i, who in enumerate(given["speakers"]) if who == p] for p in people}
    import numpy as np
    from llreval.pav_rocch import PAV, ROCCH

    for unit_first in (True, False):
        enrolled = {p: mean([given["enroll"][i] for i in rows[p]], unit_first=unit_first) for p in people}
        for length in (1, 4):
            tests = [(p, [given["test"][i] for i in part]) for p in people for part in _parts(rows[p], length)]
            scored = [
                (p, {q: cosine(mean(test, unit_first=unit_first), enrolled[q]) for q in people}) for p, test in tests
            ]
            if length == 1:
                pairs = [(score, int(p == q)) for p, scores in scored for q, score in scores.items()]
                pav = PAV(*(np.array(column) for column in zip(*pairs, strict=True)))
                found = row("eer", "vectors", ROCCH(pav).EER(), "llreval", "ROCCH(PAV).EER of means and cosines", 1e-6)
                yield {**found, "options": {"unit_first": unit_first}}
            for size in (1, 2, 5, 10):
                shares = [_linked(p, scores, size) for p, scores in scored]
                options = {"L": length, "N": size, "unit_first": unit_first}
                found = row("linkability", "vectors", sum(shares) / len(shares), OWN)
                yield {**found, "options": options}
    yield row("singling_out", "vectors", [isolation(given, draw) for draw in given["draws"]], OWN)
    first = [rows[p][0] for p in people]
    scores = [[cosine(given["test"][i], given["enroll"][j]) for j in first] for i in first]
    ranks = [1 + sum(s >= line[i] for j, s in enumerate(line) if j != i) for i, line in enumerate(scores)]
    yield row("ranks", "vectors", ranks, OWN)
    for variant in ("paper", "vpc2020"):
        for name, value in similarity(given, variant).items():
            found = row(name, "vectors", value, OWN + " over scikit-learn's IsotonicRegression")
            yield {**found, "options": {"variant": variant}}


def _parts(rows: list[int], length: int) -> list[list[int]]:
    return [rows[i : i + length] for i in range(0, len(rows), length)]


def _linked(speaker: str, scores: dict[str, float], size: int) -> float:
    """Share of all galleries of this size with the speaker in which nobody else reaches their score."""
    others = [q for q in scores if q != speaker]
    galleries = list(itertools.combinations(others, size - 1))
    return sum(all(scores[q] < scores[speaker] for q in some) for some in galleries) / len(galleries)


def isolation(given: dict[str, Any], draw: dict[str, Any]) -> list[list[list[bool]]]:
    """Singling Out of everybody in galleries of 3, 7 and 10 people, in each of four folds; r = K - 1 = 3."""
    speakers = [f"s{p}" for p in range(10)]
    owner = [int(who[1:]) for who in given["speakers"]]
    outcomes = []
    for own, name in enumerate(speakers):
        voice = mean([given["enroll"][i] for i, who in enumerate(given["speakers"]) if who == name], unit_first=True)
        scores = [cosine(voice, x) for x in given["test"]]
        lines = []
        for size in (3, 7, 10):
            members = {own, *[p for p in draw["order"] if p != own][: size - 1]}
            folds = []
            for fold in range(4):
                inside = [i for i in range(len(scores)) if owner[i] in members]
                calibration = sorted((scores[i] for i in inside if draw["place"][i] != fold), reverse=True)
                threshold = (calibration[2] + calibration[3]) / 2
                folds.append(sum(scores[i] > threshold for i in inside if draw["place"][i] == fold) == 1)
            lines.append(folds)
        outcomes.append(lines)
    return outcomes


def similarity(given: dict[str, Any], variant: str) -> dict[str, float]:
    """DeID and G_VD from three similarity matrices, pair of utterances by pair of utterances."""
    sides = {"o": given["test"], "a": given["anonymized"]}
    dominance = {}
    for pair in ("oo", "oa", "aa"):
        left, right = sides[pair[0]], sides[pair[1]]
        pairs = [(k, m) for k in range(40) for m in range(40) if k != m and (variant == "paper" or m > k)]
        scores = {p: cosine(left[p[0]], right[p[1]]) for p in pairs}
        same = [p for p in pairs if p[0] // 4 == p[1] // 4]
        other = [p for p in pairs if p[0] // 4 != p[1] // 4]
        llrs = isotonic_llrs([scores[p] for p in same], [scores[p] for p in other], laplace=True)
        of = dict(zip([*same, *other], (float(x) for x in llrs), strict=True))
        cells = {
            (i, j): [of[p] for p in pairs if (p[0] // 4, p[1] // 4) == (i, j)] for i in range(10) for j in range(10)
        }
        count = {key: 16 if variant == "paper" else len(cell) for key, cell in cells.items()}
        matrix = {key: 1 / (1 + math.exp(-sum(cell) / count[key])) for key, cell in cells.items() if cell}
        if variant == "vpc2020":
            matrix |= {(j, i): value for (i, j), value in list(matrix.items())}
        inside = [matrix[i, i] for i in range(10)]
        outside = [matrix[i, j] for i in range(10) for j in range(10) if i != j]
        dominance[pair] = abs(sum(inside) / 10 - sum(outside) / 90)
    return {
        "deid": 1 - dominance["oa"] / dominance["oo"],
        "g_vd": 10 * math.log10(dominance["aa"] / dominance["oo"]),
    }


def of_the_rest(given: dict[str, Any]) -> Iterator[Row]:
    """Intervals, risk over control, words, emotion and pitch."""
    import audmetric
    import numpy as np
    import werpy
    from anonymeter.stats.confidence import SuccessRate, residual_success
    from scipy.stats import pearsonr, spearmanr
    from sklearn.metrics import recall_score, zero_one_loss
    from statsmodels.stats.proportion import proportion_confint

    for hits, n in given["rates"]:
        for level in (0.9, 0.95):
            ends = [float(x) for x in proportion_confint(hits, n, alpha=1 - level, method="wilson")]
            found = row("wilson", "rates", ends, "statsmodels", "proportion_confint")
            yield {**found, "options": {"successes": hits, "n": n, "level": level}}
    for attack, attack_error, control, control_error in given["risks"]:
        risk = residual_success(SuccessRate(attack, attack_error), SuccessRate(control, control_error))
        ends = [risk.value, max(0.0, risk.value - risk.error), min(1.0, risk.value + risk.error)]
        found = row("risk_over_control", "risks", ends, "anonymeter", "residual_success")
        yield {**found, "options": {"attack": [attack, attack_error], "control": [control, control_error]}}
    said, heard = given["texts"]["references"], given["texts"]["hypotheses"]
    yield row("wer", "texts", werpy.wer(said, heard), "werpy", "wer")
    letters = [(list(a), list(b)) for a, b in zip(said, heard, strict=True)]
    edits = sum(audmetric.edit_distance(a, b) for a, b in letters)
    yield row("cer", "texts", edits / sum(len(a) for a, _ in letters), "audmetric", "edit_distance")
    before, after = given["ratings"]["before"], given["ratings"]["after"]
    yield row("ccc", "ratings", audmetric.concordance_cc(before, after), "audmetric", "concordance_cc")
    truth, guess = given["classes"]["truth"], given["classes"]["predicted"]
    yield row("uar", "classes", recall_score(truth, guess, average="macro"), "scikit-learn", "recall_score")
    yield row(
        "uar", "classes", audmetric.unweighted_average_recall(truth, guess), "audmetric", "unweighted_average_recall"
    )
    a, b = np.array(given["pitch"]["original"]), np.array(given["pitch"]["anonymized"])
    cut = a[: len(b)]
    both = (cut > 0) & (b > 0)
    yield row("f0_spearman", "pitch", float(spearmanr(cut[both], b[both]).statistic), "scipy", "stats.spearmanr")
    yield row("voicing_error", "pitch", float(zero_one_loss(cut > 0, b > 0)), "scikit-learn", "zero_one_loss")
    stretched = np.interp(np.linspace(0, len(b) - 1, len(a)), range(len(b)), b)
    a, b = (np.where((x < 75) | (x > 500), 0.0, x) for x in (a, stretched))
    b = np.roll(b, int(np.correlate(a, b, "full").argmax()) - (len(a) - 1))
    kept = (a > 0) & (b > 0)
    for frames, x, y in (("all", a, b), ("voiced", a[kept], b[kept])):
        found = row("pitch_correlation", "pitch", float(pearsonr(x, y).statistic), "scipy", "stats.pearsonr")
        yield {**found, "options": {"frames": frames}}


def main() -> None:
    """Write inputs.json where asked, and expected.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", action="store_true", help="draw inputs.json anew from its seed first")
    if parser.parse_args().inputs:
        (FOLDER / "inputs.json").write_text(_lines(draw_inputs(SEED)), encoding="utf-8")
    given = json.loads((FOLDER / "inputs.json").read_text(encoding="utf-8"))
    rows = [row for name, both in given["scores"].items() for row in of_scores(name, **both)]
    rows += [*of_vectors(given["vectors"]), *of_the_rest(given)]
    text = ",\n".join(json.dumps(found) for found in rows)
    (FOLDER / "expected.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")
    print(f"{len(rows)} reference values")


def _lines(given: dict[str, Any]) -> str:
    """One line per list, so that a change can be read."""
    text = json.dumps(given, indent=1)
    return text.replace(",\n    ", ", ").replace("[\n    ", "[").replace("\n   ]", "]") + "\n"


if __name__ == "__main__":
    main()
