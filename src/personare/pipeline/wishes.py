"""Which metrics a study can measure, which family of measurements each belongs to, and which ear it needs."""

from __future__ import annotations

from personare.core.errors import UnknownNameError, did_you_mean
from personare.metrics import CARDS
from personare.pipeline.study import ListenerChoice, Study

# short names for what belongs together
GROUPS: dict[str, tuple[str, ...]] = {
    "zebra": ("d_ece", "log10_l"),
    "similarity": ("deid", "g_vd"),
    "ranks": ("rank_link_p50", "rank_link_p1", "rank_single_p50", "rank_single_p1"),
    "inference": ("risk_over_control",),
    "pitch": ("f0_spearman", "pitch_correlation", "voicing_error"),
}
FAMILIES: dict[str, tuple[str, ...]] = {
    "detection": (
        *("eer", "eer_kaldi", "cllr", "min_cllr", "calibration_loss", "min_dcf"),
        *("d_ece", "log10_l", "dsys", "dsys_reference"),
    ),
    "link": ("linkability", "population_linkability"),
    "single": ("singling_out",),
    "ranks": GROUPS["ranks"],
    "similarity": GROUPS["similarity"],
    "inference": GROUPS["inference"],
    "utility": (
        *("wer", "cer", "f0_spearman", "pitch_correlation", "voicing_error", "pesq", "stoi", "estoi", "visqol"),
        *("dnsmos", "dnsmos_speech", "dnsmos_background", "ccc", "uar"),
    ),
}
NEED_LLRS = ("cllr", "calibration_loss")
RECOGNIZERS = ("moonshine", "whisper")
# listener -> what it gives
GIVES: dict[str, tuple[str, ...]] = {
    "moonshine": ("wer",),
    "whisper": ("wer",),
    "ctc": ("cer",),
    "pitch": GROUPS["pitch"],
    "pitch-swift": GROUPS["pitch"],
    "pesq": ("pesq",),
    "stoi": ("stoi",),
    "estoi": ("estoi",),
    "visqol": ("visqol",),
    "dnsmos": ("dnsmos", "dnsmos_speech", "dnsmos_background"),
    "affect": ("ccc", "uar"),  # values, or categories
}


def expanded(names: tuple[str, ...]) -> list[str]:
    """Spell out groups; an unknown metric is an error with a suggestion.

    >>> expanded(("eer", "zebra"))
    ['eer', 'd_ece', 'log10_l']
    """
    known = [*GROUPS, *(metric for family in FAMILIES.values() for metric in family)]
    found: dict[str, None] = {}
    for name in names:
        if name not in known:
            why = "is not measured by studies" if name in CARDS else "does not exist"
            raise UnknownNameError(f"metrics: '{name}' {why}; {did_you_mean(name, known)}")
        found |= dict.fromkeys(GROUPS.get(name, (name,)))
    return list(found)


def wanted(study: Study) -> list[str]:
    """List every metric of a study: those named, and all that a listener gives where none of its metrics is named."""
    found = dict.fromkeys(expanded(study.metrics))
    for choice in study.ears.values():
        given = GIVES.get(kind_of(choice), ())
        if not set(given) & set(expanded(study.metrics)):
            found |= dict.fromkeys(given)
    return list(found)


def of_family(study: Study, family: str) -> tuple[str, ...]:
    """List the metrics of a study that belong to a family."""
    return tuple(metric for metric in wanted(study) if metric in FAMILIES[family])


def kind_of(choice: ListenerChoice) -> str:
    """Name the kind of a listener: ``ctc:FOLDER`` is a ctc."""
    return choice.listener.partition(":")[0]
