"""Studies of several languages: a corpus that states more than one is measured language by language.

A language tells its speakers apart from those of another one, and a word error rate depends on the language: one number
over several languages would say neither how well voices are hidden nor how many words are lost. So every language is a
corpus of its own, named ``recordings (de)``, and no number pools them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from personare.core.language_codes import language_title
from personare.corpora import read_corpus
from personare.pipeline.jobs.spoken_languages import LANGUAGE, NOT_GIVEN, counts_text, stated_counts
from personare.pipeline.speech import in_languages
from personare.pipeline.study import CorpusChoice, Study

FEWEST_ATTACKED = 2


def per_language(study: Study, *, stages: Path) -> Study:
    """Give the study with one corpus per language; itself where no corpus states several languages.

    ``stages`` is where languages that were identified are kept.
    """
    corpora: dict[str, CorpusChoice] = {}
    notes: list[str] = []
    for label, choice in study.corpora.items():
        parts, said = _split(label, choice, attacks=bool(study.attackers), stages=stages)
        corpora |= parts
        notes += said
    if not notes:
        return study
    bounds = [
        replace(bound, corpus=name) if bound.corpus is not None else bound
        for bound in study.bounds
        for name in _names(bound.corpus, study, corpora)
    ]
    return replace(study, corpora=corpora, bounds=tuple(bounds), notes=" ".join((study.notes, *notes)).strip())


def _names(label: str | None, study: Study, corpora: dict[str, CorpusChoice]) -> list[str | None]:
    """Give the corpora that a bound is about."""
    if label is None or label in corpora or label not in study.corpora:
        return [label]
    return [name for name in corpora if name.rpartition(" (")[0] == label]


def _split(
    label: str, choice: CorpusChoice, *, attacks: bool, stages: Path
) -> tuple[dict[str, CorpusChoice], list[str]]:
    """Split one corpus into its languages, and say what is left out."""
    if choice.path is None or choice.spoken is not None or not choice.is_attacked or not choice.path.exists():
        return {label: choice}, []
    frame = read_corpus(choice.path, layout=choice.layout, person_channels=True).corpus.frame
    frame, _ = in_languages(frame, choice, stages)
    counts = stated_counts(frame)
    lacking = counts.pop(NOT_GIVEN, 0)
    if len(counts) < 2:
        return {label: choice}, []
    speakers = {code: frame.filter(pl.col(LANGUAGE) == code)["speaker"].n_unique() for code in counts}
    measured = [code for code in counts if speakers[code] >= FEWEST_ATTACKED or not attacks]
    if not measured:
        return {label: choice}, []
    notes = [f"{label} holds several languages, which are measured one by one: {counts_text(counts)}."]
    notes += [
        f"{label}: {language_title(code)} has {speakers[code]} speaker and is not attacked."
        for code in counts
        if code not in measured
    ]
    if lacking:
        notes.append(f"{label}: {lacking:,} utterances whose language is not given are left out; see --language auto.")
    return {f"{label} ({code})": replace(choice, spoken=code) for code in measured}, notes
