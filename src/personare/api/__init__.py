"""The library's functions: paths, arrays and corpora in, results out; the command line calls these too.

Everything here is importable as ``personare.NAME``; nothing heavy is loaded before it is used.
"""

from __future__ import annotations

from personare.api.choices import methods, paper_systems, strengths
from personare.api.panels import PanelResults, analyze_panel, export_panel, make_panel
from personare.api.proof import evaluate, infer, listen, measured, run_study
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
from personare.api.tokens import (
    decode,
    decode_corpus,
    encode,
    encode_corpus,
    read_token_corpus,
    read_tokens,
    write_tokens,
)

__all__ = [
    "AnonymizedCorpus",
    "CorpusWarning",
    "Findings",
    "PanelResults",
    "Results",
    "analyze_panel",
    "anonymize",
    "anonymize_corpus",
    "decode",
    "decode_corpus",
    "embed",
    "encode",
    "encode_corpus",
    "evaluate",
    "export_panel",
    "infer",
    "listen",
    "make_panel",
    "measured",
    "methods",
    "paper_systems",
    "read_audio",
    "read_corpus",
    "read_token_corpus",
    "read_tokens",
    "register_anonymizer",
    "register_embedder",
    "register_listener",
    "register_metric",
    "register_scorer",
    "run_study",
    "strengths",
    "write_audio",
    "write_tokens",
]
