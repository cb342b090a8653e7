"""Pure numbers: privacy and utility, arrays in, Estimates out; no files, models or plots.

``from personare import metrics`` gives every metric as one call: ``metrics.eer(target_scores, nontarget_scores)``.
The functions are imported when they are first used. ``CARDS`` names every metric that can reach a report and where its
card lives; ``card`` and ``cards`` import them only when asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from personare.core.errors import MetricError, UnknownNameError, did_you_mean
from personare.core.findings import MetricCard

if TYPE_CHECKING:
    from personare.metrics.intervals import wilson as wilson
    from personare.metrics.scores import cllr as cllr
    from personare.metrics.scores import d_ece as d_ece
    from personare.metrics.scores import dsys as dsys
    from personare.metrics.scores import eer as eer
    from personare.metrics.scores import log10_l as log10_l
    from personare.metrics.scores import min_cllr as min_cllr
    from personare.metrics.scores import min_dcf as min_dcf
    from personare.metrics.scores import zebra_tag as zebra_tag
    from personare.metrics.utterances import ccc as ccc
    from personare.metrics.utterances import cer as cer
    from personare.metrics.utterances import f0_spearman as f0_spearman
    from personare.metrics.utterances import pitch_correlation as pitch_correlation
    from personare.metrics.utterances import uar as uar
    from personare.metrics.utterances import voicing_error as voicing_error
    from personare.metrics.utterances import wer as wer
    from personare.metrics.voices import deid as deid
    from personare.metrics.voices import g_vd as g_vd
    from personare.metrics.voices import linkability as linkability
    from personare.metrics.voices import population_linkability as population_linkability
    from personare.metrics.voices import ranks as ranks
    from personare.metrics.voices import sim as sim
    from personare.metrics.voices import singling_out as singling_out

FUNCTIONS: Mapping[str, str] = {
    "wilson": "personare.metrics.intervals",
    **dict.fromkeys(
        ("eer", "cllr", "min_cllr", "min_dcf", "d_ece", "log10_l", "zebra_tag", "dsys"), "personare.metrics.scores"
    ),
    **dict.fromkeys(
        ("linkability", "population_linkability", "singling_out", "ranks", "deid", "g_vd", "sim"),
        "personare.metrics.voices",
    ),
    **dict.fromkeys(
        ("wer", "cer", "ccc", "uar", "f0_spearman", "pitch_correlation", "voicing_error"),
        "personare.metrics.utterances",
    ),
}
"""Every metric as one call, and the file it lives in."""

CARDS: Mapping[str, str] = {
    # detection: can the attacker tell "same speaker" from "another speaker"?
    "eer": "personare.metrics.privacy.eer:CARD",
    "eer_kaldi": "personare.metrics.privacy.eer:KALDI_CARD",
    "cllr": "personare.metrics.privacy.cllr:CARD",
    "min_cllr": "personare.metrics.privacy.cllr:MIN_CARD",
    "calibration_loss": "personare.metrics.privacy.cllr:LOSS_CARD",
    "min_dcf": "personare.metrics.privacy.detection:CARD",
    # ZEBRA: what the scores tell an attacker whose prior belief is unknown
    "d_ece": "personare.metrics.privacy.zebra:CARD",
    "log10_l": "personare.metrics.privacy.zebra:WORST_CARD",
    # global linkability
    "dsys": "personare.metrics.privacy.dsys:CARD",
    "dsys_reference": "personare.metrics.privacy.dsys:REFERENCE_CARD",
    # voice similarity matrices
    "deid": "personare.metrics.privacy.similarity:CARD",
    "g_vd": "personare.metrics.privacy.similarity:GAIN_CARD",
    "deid_pooled": "personare.metrics.privacy.similarity:POOLED_CARD",
    "g_vd_pooled": "personare.metrics.privacy.similarity:POOLED_GAIN_CARD",
    # a voice and the recording it was made from
    "sim": "personare.metrics.privacy.source_similarity:CARD",
    # the legal criteria: can a recording be linked to a person, can a voice be isolated in a gallery?
    "linkability": "personare.metrics.privacy.linkability:CARD",
    "population_linkability": "personare.metrics.privacy.population:CARD",
    "singling_out": "personare.metrics.privacy.singling_out:CARD",
    # ranks: among how many people does a speaker vanish?
    "rank_link_p50": "personare.metrics.privacy.ranks:LINK_MEDIAN_CARD",
    "rank_link_p1": "personare.metrics.privacy.ranks:LINK_CARD",
    "rank_single_p50": "personare.metrics.privacy.ranks:SINGLE_MEDIAN_CARD",
    "rank_single_p1": "personare.metrics.privacy.ranks:SINGLE_CARD",
    "rank_single_reversed_p50": "personare.metrics.privacy.ranks:REVERSED_MEDIAN_CARD",
    "rank_single_reversed_p1": "personare.metrics.privacy.ranks:REVERSED_CARD",
    # relinking: who has the originals finds them again, without any voice
    "relink_duration": "personare.metrics.privacy.relink:DURATION_CARD",
    "relink_envelope": "personare.metrics.privacy.relink:ENVELOPE_CARD",
    "relink_transcript": "personare.metrics.privacy.relink:TRANSCRIPT_CARD",
    "relink_waveform": "personare.metrics.privacy.relink:WAVEFORM_CARD",
    # any attack with a success rate, against its control on other people
    "risk_over_control": "personare.metrics.privacy.control:CARD",
    # utility: what is left of words, pitch and emotion
    "wer": "personare.metrics.utility.wer:CARD",
    "cer": "personare.metrics.utility.wer:CHARACTER_CARD",
    "faithfulness": "personare.metrics.utility.faithfulness:CARD",
    "ccc": "personare.metrics.utility.concordance:CARD",
    "f0_spearman": "personare.metrics.utility.pitch:CARD",
    "pitch_correlation": "personare.metrics.utility.pitch:PEARSON_CARD",
    "uar": "personare.metrics.utility.recall:CARD",
    "recall": "personare.metrics.utility.recall:CLASS_CARD",
    "f0_shape": "personare.metrics.utility.shape:F0_CARD",
    "energy_shape": "personare.metrics.utility.shape:ENERGY_CARD",
    "voicing_error": "personare.metrics.utility.voicing:CARD",
    # utility: how it sounds
    "pesq": "personare.metrics.utility.quality:PESQ_CARD",
    "stoi": "personare.metrics.utility.quality:STOI_CARD",
    "estoi": "personare.metrics.utility.quality:ESTOI_CARD",
    "visqol": "personare.metrics.utility.quality:VISQOL_CARD",
    "dnsmos": "personare.metrics.utility.quality:DNSMOS_CARD",
    "dnsmos_speech": "personare.metrics.utility.quality:DNSMOS_SPEECH_CARD",
    "dnsmos_background": "personare.metrics.utility.quality:DNSMOS_BACKGROUND_CARD",
    # listening panels: people as attackers
    "abx": "personare.metrics.privacy.human_attack:ABX_CARD",
    "eer_people": "personare.metrics.privacy.human_attack:EER_CARD",
    "cllr_people": "personare.metrics.privacy.human_attack:CLLR_CARD",
    "min_cllr_people": "personare.metrics.privacy.human_attack:MIN_CLLR_CARD",
    "purity": "personare.metrics.privacy.clustering:PURITY_CARD",
    "clustering_f1": "personare.metrics.privacy.clustering:F1_CARD",
    "classification_change": "personare.metrics.privacy.clustering:CHANGE_CARD",
    "purity_difference": "personare.metrics.privacy.listener_groups:PURITY_CARD",
    "clustering_f1_difference": "personare.metrics.privacy.listener_groups:F1_CARD",
    "classification_change_difference": "personare.metrics.privacy.listener_groups:CHANGE_CARD",
    # listening panels: what people think of the speech
    "expression_found": "personare.metrics.utility.opinion:EXPRESSION_CARD",
    "naturalness": "personare.metrics.utility.opinion:NATURALNESS_CARD",
    "intelligibility": "personare.metrics.utility.opinion:INTELLIGIBILITY_CARD",
    "similarity": "personare.metrics.utility.opinion:SIMILARITY_CARD",
    "rated_above": "personare.metrics.utility.opinion:RATED_ABOVE_CARD",
    "mos_naturalness": "personare.metrics.utility.opinion:MOS_NATURALNESS_CARD",
    "mos_intelligibility": "personare.metrics.utility.opinion:MOS_INTELLIGIBILITY_CARD",
}


def card(name: str) -> MetricCard:
    """Import the card of one metric.

    >>> card("eer").title
    'EER (ROCCH)'
    """
    if name not in CARDS:
        raise UnknownNameError(f"no metric '{name}'; {did_you_mean(name, CARDS)}")
    module, _, attribute = CARDS[name].partition(":")
    metric_card = getattr(importlib.import_module(module), attribute)
    if not isinstance(metric_card, MetricCard) or metric_card.name != name:
        raise MetricError(f"metric '{name}' ({CARDS[name]}) is not a card of that name")
    return metric_card


def cards() -> list[MetricCard]:
    """Import every card, in the order of the table."""
    return [card(name) for name in CARDS]


def __getattr__(name: str) -> Any:
    if name in FUNCTIONS:
        return getattr(importlib.import_module(FUNCTIONS[name]), name)
    raise AttributeError(f"module 'personare.metrics' has no attribute '{name}'; {did_you_mean(name, FUNCTIONS)}")


def __dir__() -> list[str]:
    return sorted([*FUNCTIONS, *globals()])
