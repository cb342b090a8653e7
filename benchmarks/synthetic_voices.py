"""How distinct invented speakers are: error rates and similarities of their original speech by a speaker embedder.

    python benchmarks/synthetic_voices.py [--source piper] [--speakers N] [--utterances M] [--seed S]
                                         [--embedder NAME] [--corpus FOLDER] [--jobs J]

Every utterance is compared with every other: EER over all pairs and over pairs of one (guessed) gender, mean cosines of
pairs of one and of two speakers, and how often the first utterance of a speaker finds one of their others before anyone
else's (rank 1). ``--corpus`` measures people of a corpus instead, for comparison: at most N speakers with M utterances.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from personare.attackers.scoring import score_all
from personare.core.tables import Corpus, Embeddings
from personare.core.utterances import utterances_in
from personare.core.vectors import cosine
from personare.corpora import read_corpus
from personare.corpora.voices.speakers import Source
from personare.engine import engine_for
from personare.metrics.privacy.eer import rocch_eer_estimate
from personare.pipeline.jobs.voices import Wanted, make_voices
from personare.pipeline.stages.embed import embed_all

RATE_HZ = 16_000


def rows_of(frame: pl.DataFrame, speakers: int, utterances: int) -> pl.DataFrame:
    """Keep some speakers, evenly spread, and the first utterances of each."""
    if "part" in frame.columns and (frame["part"] == "eval").any():
        frame = frame.filter(pl.col("part") == "eval")
    names = frame["speaker"].unique(maintain_order=True).to_list()
    chosen = names[:: max(1, len(names) // speakers)][:speakers]
    kept = frame.filter(pl.col("speaker").is_in(chosen)).group_by("speaker", maintain_order=True).head(utterances)
    return kept.select(frame.columns)


def eer_text(vectors: Embeddings, genders: Mapping[str, str | None] | None) -> str:
    """Give the EER of all pairs of utterances, with its interval over speakers."""
    scores = score_all(vectors, vectors, genders=genders)
    tested = scores.tested
    estimate = rocch_eer_estimate(
        scores.targets,
        scores.nontargets,
        target_speakers=tested[scores.target],
        nontarget_speakers=tested[~scores.target],
    )
    return estimate.text("%")


def report(vectors: Embeddings, genders: Mapping[str, str | None]) -> list[str]:
    """Give the lines that are printed."""
    who = np.array(vectors.speakers)
    matrix = np.asarray(cosine(vectors.vectors, vectors.vectors))
    np.fill_diagonal(matrix, -np.inf)
    own = who[:, None] == who
    first = np.unique(who, return_index=True)[1]
    found = who[matrix[first].argmax(axis=1)] == who[first]
    known = {name: gender for name, gender in genders.items() if gender}
    lines = [
        f"EER of all pairs: {eer_text(vectors, None)}",
        f"mean cosine: one speaker {matrix[own & np.isfinite(matrix)].mean():.3f}, two {matrix[~own].mean():.3f}",
    ]
    counts = Counter(known.values())
    if counts and max(counts.values()) > 1:
        rows = [i for i, name in enumerate(vectors.speakers) if counts[known.get(name, "")] > 1]
        within = eer_text(vectors.rows(rows), known)
        lines.append(f"EER within a gender ({len(known)} speakers of known gender): {within}")
    else:
        lines.append("EER within a gender: no two speakers are known to share one")
    same = np.array([[known.get(a) is not None and known.get(a) == known.get(b) for b in who] for a in who]) & ~own
    if same.any():
        lines.append(f"mean cosine of two speakers of one gender: {matrix[same].mean():.3f}")
    return [*lines, f"rank 1: {found.mean():.1%} of {len(first)} speakers, one utterance each, among all others"]


def main() -> None:
    """Make the voices, embed them, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", choices=["kokoro", "piper"], default="piper")
    parser.add_argument("--speakers", type=int, default=100)
    parser.add_argument("--utterances", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--embedder", default="ecapa")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    words = parser.parse_args()
    engine, source = engine_for(words.jobs), words.source
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        if words.corpus is None:
            invented: Source = "piper" if source == "piper" else "kokoro"
            wanted = Wanted(words.speakers, words.utterances, words.seed, RATE_HZ, invented)
            made = make_voices(Path(folder) / "voices", wanted, engine=engine)
            print(f"{source}: {made.done} utterances, {made.speech_s / 60:.1f} minutes, {made.failed} failed")
            frame = Corpus.load(Path(folder) / "voices" / "manifest.parquet").frame
        else:
            frame = rows_of(read_corpus(words.corpus).corpus.frame, words.speakers, words.utterances)
        vectors, _ = embed_all(list(utterances_in(frame)), words.embedder, engine=engine)
    genders = dict(frame.select("speaker", "gender").iter_rows()) if "gender" in frame.columns else {}
    seconds = float(np.mean(frame["duration_s"].to_numpy()))
    print(f"{len(set(vectors.speakers))} speakers, {len(vectors.ids)} utterances of {seconds:.1f} s in the mean")
    print("\n".join(report(vectors, genders)))


if __name__ == "__main__":
    main()
