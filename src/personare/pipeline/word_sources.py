"""The words that a text attacker reads: the column ``text`` of a corpus, or what a recognizer of the study hears.

The attacker has the words of the release. Where the study recognizes the anonymized trial speech anyway, these are read
on the test side; else the corpus' own texts, which are what a recognizer without errors would hear. Enrolment texts are
the corpus' own, or recognized in the original speech where the corpus has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from personare.listeners.words import TEXT, Recognizer
from personare.pipeline.measures.utility import study_listeners
from personare.pipeline.roles import ENROLMENT, TRAIN, TRIAL
from personare.pipeline.stages.embed import only_reads
from personare.pipeline.stages.listen import ListenJob
from personare.pipeline.study_listener import StudyListener

if TYPE_CHECKING:
    from collections.abc import Mapping

    from personare.pipeline.graph import Graph
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.stages.anonymize import AnonymizedSpeech
    from personare.pipeline.study import ListenerChoice

FEWEST_TEXTS = 0.9  # the share of the attacked utterances that must have a text: with fewer, a low risk says nothing
NEXT = "give the corpus a column text, or the study a recognizer (listeners: moonshine)"


def with_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep the utterances whose words are written down."""
    return frame.filter(pl.col(TEXT).fill_null("").str.strip_chars() != "") if TEXT in frame.columns else frame.clear()


def has_recognizer(listeners: Mapping[str, ListenerChoice]) -> bool:
    """Whether one of these listeners writes down what it hears."""
    return any(issubclass(StudyListener(*one).declared, Recognizer) for one in listeners.items())


def no_words(frame: pl.DataFrame) -> str:
    """Say why nobody can read what was said in the attacked speech; nothing where they can."""
    attacked = frame.filter(pl.col("role").is_in([ENROLMENT, TRIAL]))
    written = len(with_text(attacked))
    if attacked.is_empty() or written >= FEWEST_TEXTS * len(attacked):
        return ""
    if not written:
        return f"the corpus has no texts and no recognizer listened; {NEXT}"
    return f"only {written:,} of {len(attacked):,} attacked utterances have a text; {NEXT}"


def readers_to_train_on(frame: pl.DataFrame, *, least: int = 2) -> int:
    """Count the training speakers with ``least`` texts or more."""
    counts = with_text(frame.filter(pl.col("role") == TRAIN))["speaker"].value_counts()["count"]
    return int((counts >= least).sum())


def recognized_words(
    graph: Graph, corpus: StudyCorpus, role: str, embedder: str, speech: AnonymizedSpeech | None, name: str
) -> ListenJob | None:
    """Give the stage in which the study's first recognizer hears this speech; None where the corpus' texts are read.

    ``name`` is what the speech was anonymized by. Enrolment speech is recognized as it was before anonymization.
    """
    enrolment = role == ENROLMENT
    if not only_reads(embedder) or role not in (ENROLMENT, TRIAL) or (enrolment and not no_words(corpus.frame)):
        return None
    for listener in study_listeners(graph, corpus):
        if issubclass(listener.declared, Recognizer):
            label = f"listen {corpus.label} {ENROLMENT if enrolment else name} by {listener.label}"
            return ListenJob(label, corpus.of(role), listener, None if enrolment else speech)
    return None


def readable(frame: pl.DataFrame, role: str, embedder: str) -> pl.DataFrame:
    """Leave out training speech without a text where it is to be read."""
    return with_text(frame) if role == TRAIN and only_reads(embedder) else frame
