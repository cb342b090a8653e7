"""The library's functions: paths, arrays and corpora in, results out; the command line calls these too.

Everything here is importable as ``personare.NAME``; nothing heavy is loaded before it is used.
"""

from __future__ import annotations

from personare.api.proof import evaluate, infer, listen, run_study
from personare.api.registration import (
    register_anonymizer,
    register_embedder,
    register_listener,
    register_metric,
    register_scorer,
)
from personare.api.results import AnonymizedCorpus, Findings, Results
from personare.api.speech import (
    CorpusWarning,
    anonymize,
    anonymize_corpus,
    embed,
    read_audio,
    read_corpus,
    write_audio,
)

__all__ = [
    "AnonymizedCorpus",
    "CorpusWarning",
    "Findings",
    "Results",
    "anonymize",
    "anonymize_corpus",
    "embed",
    "evaluate",
    "infer",
    "listen",
    "read_audio",
    "read_corpus",
    "register_anonymizer",
    "register_embedder",
    "register_listener",
    "register_metric",
    "register_scorer",
    "run_study",
    "write_audio",
]
