"""What the neural x-vector anonymizer keeps and hides on held-out speakers, beside the signal methods.

    python benchmarks/xvector.py [CORPUS] [--speakers N] [--utterances M] [--informed N] [--generators] [--jobs N]
                                 [--weights FOLDER] [--only PART-OF-A-TITLE]

Speakers of the part 'eval' are taken where the corpus has parts; the voice learnt from the part 'train'. One new voice
per speaker and side. The attacker listens with ECAPA, which is used nowhere inside the system (it has GE2E), on pairs
of single utterances of the same gender. ``--informed N`` refits the attacker's back-end (LDA, WCCN, PLDA) on N
anonymized training speakers. ``--generators`` shows every pseudo-speaker generator instead of the other methods, with
DeID and G_VD. WER by Moonshine, F0 correlation as in VPC 2022 (voiced frames, by the neural tracker SwiftF0, which the
neural voice has inside too), F0 SCC as USC has it (ranks; by DIO, which loses track in noise: the WORLD warp moves the
pitch by one factor and its swings by another, so that its true SCC is 1, and its row shows what DIO can tell here),
DNSMOS (overall); real-time factor is processor time of one process, models loaded.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core each, before numpy wakes up

import argparse
import functools
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from personare.anonymizers import anonymizer
from personare.attackers import embedder
from personare.attackers.attack import Attacker
from personare.attackers.knowledge import Knowledge, knowledge
from personare.attackers.split import Disguise, Heard, Split
from personare.core.audio import read_mono
from personare.core.fingerprint import SystemIdentity
from personare.core.seeding import Key, rng_for
from personare.core.tables import Embeddings
from personare.corpora import read_corpus
from personare.engine import engine_for
from personare.listeners.dnsmos import Dnsmos
from personare.listeners.moonshine import Moonshine
from personare.listeners.normalize import WhisperEnglish
from personare.listeners.pitch import WorldPitch
from personare.listeners.swift_pitch import SwiftPitch
from personare.metrics.privacy.eer import rocch_eer
from personare.metrics.privacy.similarity import deid, g_vd, voice_similarity
from personare.metrics.utility.pitch import f0_spearman, pitch_correlation
from personare.metrics.utility.wer import wer, word_errors
from personare.pseudospeakers import PSEUDOSPEAKERS

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
Floats = NDArray[np.float64]
KEY = Key.from_seed(1)


def methods(weights: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """The rows of the table: title, method, parameters."""
    voice: dict[str, Any] = {"weights": weights} if weights else {}
    return {
        "original": ("", {}),
        "xvector": ("xvector", voice),
        "xvector, masked content (M1c1)": ("xvector", {"mask": True, **voice}),
        "copy-synthesis (M1c2)": ("xvector", {"generator": "copy", "pitch": "keep", **voice}),
        "mcadams (B2)": ("mcadams", {}),
        "mcadams 0.5..0.9 (random B2)": ("mcadams", {"alpha": (0.5, 0.9)}),
        "WORLD warp": ("world", {}),
    }


def generators(weights: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """One row per pseudo-speaker generator, all with the same synthesis."""
    voice: dict[str, Any] = {"weights": weights} if weights else {}
    named = {f"xvector, {name}": ("xvector", {"generator": name, **voice}) for name in PSEUDOSPEAKERS.names()}
    return {"original": ("", {}), "mcadams (B2)": ("mcadams", {}), **named}


@dataclass(frozen=True)
class Work:
    """Hide one utterance twice and measure it; runs in any process."""

    method: str
    parameters: tuple[tuple[str, Any], ...]
    utility: bool = True

    def __call__(self, row: dict[str, str]) -> dict[str, Any]:
        """Measure one utterance."""
        original = read_mono(Path(row["audio"]))
        start = time.process_time()
        tested = _hidden(self, original, "tested", row["speaker"])
        spent_s = time.process_time() - start
        enrolled = _hidden(self, original, "enrolled", row["speaker"])
        vectors = embedder("ecapa")([original, tested, enrolled])
        found: dict[str, Any] = {"vectors": vectors, "rate": spent_s / original.duration_s}
        if self.utility:
            found["f0"] = pitch_correlation(*SwiftPitch()([original, tested]), frames="voiced")
            found["scc"] = f0_spearman(*WorldPitch()([original, tested]))
            found["mos"] = Dnsmos()([tested])[0].overall
            found["text"] = Moonshine()([tested])[0]
        return found


def _hidden(work: Work, audio: Any, side: str, speaker: str) -> Any:
    if not work.method:
        return audio
    return _method(work.method, work.parameters)(audio, rng=rng_for(KEY.child(side), speaker))


@functools.lru_cache(maxsize=2)
def _method(name: str, parameters: tuple[tuple[str, Any], ...]) -> Any:
    return anonymizer(name, **dict(parameters))


def pairs(scores: Floats, rows: Sequence[dict[str, str]]) -> tuple[Floats, Floats]:
    """Give target and nontarget scores over pairs of different utterances of one gender."""
    speakers, genders, names = (np.array([row[c] or "" for row in rows]) for c in ("speaker", "gender", "utterance"))
    same, gender = speakers[:, None] == speakers[None], genders[:, None] == genders[None]
    return scores[same & (names[:, None] != names[None])], scores[~same & gender]


def measured(rows: Sequence[dict[str, str]], work: Work, *, jobs: int) -> dict[str, Any]:
    """Run the work over all utterances: vectors [utterances, 3, size] of length 1, and what else was found."""
    found = list(engine_for(jobs).map(work, rows))
    failed = [result for result in found if not result.ok]
    if failed:
        sys.exit(f"{len(failed)} utterances failed; the first: {failed[0].item['utterance']}: {failed[0].error}")
    values: list[dict[str, Any]] = [result.value for result in found if result.value is not None]
    vectors = np.stack([value["vectors"] for value in values]).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    return {"vectors": vectors, **{k: [v[k] for v in values] for k in values[0] if k != "vectors"}}


def informed_eer(
    test: Sequence[dict[str, str]], found: Floats, teach: Sequence[dict[str, str]], lessons: Floats
) -> float:
    """Refit the back-end on anonymized training speakers and score pairs: enrolment by another key than the trials."""
    half = np.array([position % 2 == 0 for position in _positions(test)])

    def heard(rows: Sequence[dict[str, str]], vectors: Floats, mark: str) -> Heard:
        table = Embeddings(
            tuple(row["utterance"] for row in rows), tuple(row["speaker"] for row in rows), vectors.astype(np.float32)
        )
        return Heard(table, Disguise(SystemIdentity("benchmark"), mark))

    enrolled = [row for row, first in zip(test, half, strict=True) if first]
    tested = [row for row, first in zip(test, half, strict=True) if not first]
    split = Split(
        knowledge("informed"),
        heard(enrolled, found[half, 2], "enrolled"),
        heard(tested, found[~half, 1], "tested"),
        training=heard(teach, lessons[:, 1], "taught"),
    )
    scorer = Attacker(Knowledge.INFORMED).fit(split)
    scores = np.asarray(scorer(split.test.embeddings.vectors, split.enroll.embeddings.vectors), dtype=np.float64)
    speaker = [np.array([row["speaker"] for row in side]) for side in (tested, enrolled)]
    gender = [np.array([row["gender"] or "" for row in side]) for side in (tested, enrolled)]
    same = speaker[0][:, None] == speaker[1][None]
    return rocch_eer(scores[same], scores[~same & (gender[0][:, None] == gender[1][None])])


def _positions(rows: Sequence[dict[str, str]]) -> list[int]:
    seen: dict[str, int] = {}
    places = []
    for row in rows:
        places.append(seen.get(row["speaker"], 0))
        seen[row["speaker"]] = places[-1] + 1
    return places


def chosen(corpus: Path, part: str, *, speakers: int, utterances: int) -> list[dict[str, str]]:
    """Take the first utterances of evenly chosen speakers of a part."""
    frame = read_corpus(corpus).corpus.frame
    if "part" in frame.columns:
        frame = frame.filter(pl.col("part") == part)
    names = sorted(frame["speaker"].unique().to_list())
    names = [names[i] for i in np.unique(np.linspace(0, len(names) - 1, speakers).astype(int))]
    picked = frame.filter(pl.col("speaker").is_in(names)).sort("speaker", "utterance")
    return picked.group_by("speaker", maintain_order=True).head(utterances).to_dicts()


def line(title: str, rows: Sequence[dict[str, str]], found: dict[str, Any], informed: float | None) -> str:
    """Write one row of the Markdown table."""
    vectors: Floats = found["vectors"]
    original, tested, enrolled = (vectors[:, side] for side in range(3))
    rates = [rocch_eer(*pairs(side @ tested.T, rows)) for side in (original, enrolled)]
    shown = [f"{100 * rate:.1f}" for rate in rates] + ["-" if informed is None else f"{100 * informed:.1f}"]
    similarity = voice_similarity(
        original,
        tested,
        speakers=[row["speaker"] for row in rows],
        utterances=[row["utterance"] for row in rows],
        variant="vpc2020",
    )
    shown += [f"{deid(similarity.oa, similarity.oo):.2f}", f"{g_vd(similarity.aa, similarity.oo):.1f}"]
    if "text" in found:
        plain = WhisperEnglish()
        errors = wer(word_errors([plain(row["text"]) for row in rows], [plain(text) for text in found["text"]]))
        shown += [f"{100 * errors:.1f}", *(f"{np.nanmean(found[name]):.2f}" for name in ("f0", "scc", "mos"))]
    return f"| {title} | {' | '.join(shown)} | {np.median(found['rate']):.3f} |"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=40)
    parser.add_argument("--utterances", type=int, default=4)
    parser.add_argument("--informed", type=int, default=0)
    parser.add_argument("--generators", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--weights", default="")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    rows = chosen(words.corpus, "eval", speakers=words.speakers, utterances=words.utterances)
    teach = (
        chosen(words.corpus, "train", speakers=words.informed, utterances=words.utterances) if words.informed else []
    )
    print(f"{len({row['speaker'] for row in rows})} speakers, {len(rows)} utterances")
    utility = " | WER | F0 correlation | F0 SCC | DNSMOS" if not words.generators else ""
    print(f"| method | EER ignorant | lazy-informed | informed | DeID | G_VD, dB{utility} | real-time factor |")
    print("|---|" + "--:|" * (10 if utility else 6))
    table = generators(words.weights) if words.generators else methods(words.weights)
    for title, (method, parameters) in table.items():
        if words.only and words.only not in title and title != "original":
            continue
        settings = tuple(parameters.items())
        found = measured(rows, Work(method, settings, utility=not words.generators), jobs=words.jobs)
        informed = None
        if teach and method:
            lessons = measured(teach, Work(method, settings, utility=False), jobs=words.jobs)["vectors"]
            informed = informed_eer(rows, found["vectors"], teach, lessons)
        print(line(title, rows, found, informed), flush=True)


if __name__ == "__main__":
    main()
