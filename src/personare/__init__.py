"""Anonymizes speech and proves how well it is anonymized. ``import personare as pn`` is the library's front page.

Names are imported when they are first used: importing personare starts nothing, loads nothing heavy and sends nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from personare.core import telemetry

telemetry.disable()  # before any other library is imported

__version__ = "0.2.0"

_NAMES = {
    **dict.fromkeys(
        (
            *("read_audio", "write_audio", "anonymize", "read_corpus", "anonymize_corpus"),
            *("evaluate", "infer", "listen", "run_study", "embed", "CorpusWarning", "strengths", "methods"),
            "measured",
        ),
        "personare.api",
    ),
    **dict.fromkeys(
        ("register_anonymizer", "register_embedder", "register_scorer", "register_listener", "register_metric"),
        "personare.api",
    ),
    **dict.fromkeys(("encode", "decode", "encode_corpus", "decode_corpus"), "personare.api"),
    **dict.fromkeys(("read_tokens", "write_tokens", "read_token_corpus"), "personare.api"),
    **dict.fromkeys(("make_panel", "analyze_panel", "export_panel"), "personare.api"),
    **dict.fromkeys(("AnonymizedCorpus", "Findings", "PanelResults", "Results"), "personare.api"),
    **dict.fromkeys(("Estimate", "Finding", "MetricCard"), "personare.core.findings"),
    "Audio": "personare.core.audio",
    "Corpus": "personare.core.tables",
    "Embeddings": "personare.core.tables",
    "Utterance": "personare.core.utterances",
    "Key": "personare.core.seeding",
    "PersonareError": "personare.core.errors",
    "Tokens": "personare.codecs.tokens",
}
_MODULES = ("metrics",)

if TYPE_CHECKING:
    from personare import metrics as metrics
    from personare.api import AnonymizedCorpus as AnonymizedCorpus
    from personare.api import CorpusWarning as CorpusWarning
    from personare.api import Findings as Findings
    from personare.api import PanelResults as PanelResults
    from personare.api import Results as Results
    from personare.api import analyze_panel as analyze_panel
    from personare.api import anonymize as anonymize
    from personare.api import anonymize_corpus as anonymize_corpus
    from personare.api import decode as decode
    from personare.api import decode_corpus as decode_corpus
    from personare.api import embed as embed
    from personare.api import encode as encode
    from personare.api import encode_corpus as encode_corpus
    from personare.api import evaluate as evaluate
    from personare.api import export_panel as export_panel
    from personare.api import infer as infer
    from personare.api import listen as listen
    from personare.api import make_panel as make_panel
    from personare.api import measured as measured
    from personare.api import methods as methods
    from personare.api import read_audio as read_audio
    from personare.api import read_corpus as read_corpus
    from personare.api import read_token_corpus as read_token_corpus
    from personare.api import read_tokens as read_tokens
    from personare.api import register_anonymizer as register_anonymizer
    from personare.api import register_embedder as register_embedder
    from personare.api import register_listener as register_listener
    from personare.api import register_metric as register_metric
    from personare.api import register_scorer as register_scorer
    from personare.api import run_study as run_study
    from personare.api import strengths as strengths
    from personare.api import write_audio as write_audio
    from personare.api import write_tokens as write_tokens
    from personare.codecs.tokens import Tokens as Tokens
    from personare.core.audio import Audio as Audio
    from personare.core.errors import PersonareError as PersonareError
    from personare.core.findings import Estimate as Estimate
    from personare.core.findings import Finding as Finding
    from personare.core.findings import MetricCard as MetricCard
    from personare.core.seeding import Key as Key
    from personare.core.tables import Corpus as Corpus
    from personare.core.tables import Embeddings as Embeddings
    from personare.core.utterances import Utterance as Utterance

__all__ = ["__version__", *_MODULES, *_NAMES]  # noqa: PLE0604 - names of a table


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"personare.{name}")
    raise AttributeError(f"module 'personare' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
