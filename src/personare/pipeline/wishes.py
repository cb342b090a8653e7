"""Which metrics a study can measure, which family of measurements each belongs to, and which listeners give it."""

from __future__ import annotations

from personare.core.errors import ConfigError, UnknownNameError, did_you_mean
from personare.listeners import BUILTIN, listener_class
from personare.metrics import CARDS
from personare.pipeline.study import ListenerChoice, Study
from personare.pipeline.study_listener import StudyListener

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
    "utility": tuple(dict.fromkeys(metric for name in BUILTIN for metric in listener_class(name).gives)),
}
NEED_LLRS = ("cllr", "calibration_loss")


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
    for choice in study.listener_choices.values():
        given = given_by(choice)
        if not set(given) & set(expanded(study.metrics)):
            found |= dict.fromkeys(given)
    return list(found)


def of_family(study: Study, family: str) -> tuple[str, ...]:
    """List the metrics of a study that belong to a family."""
    return tuple(metric for metric in wanted(study) if metric in FAMILIES[family])


def given_by(choice: ListenerChoice) -> tuple[str, ...]:
    """List the metrics a listener of a study can give; one that is unknown gives none, and another check says so."""
    try:
        return StudyListener("", choice).declared.gives
    except ConfigError:
        return ()


def listeners_giving(metric: str) -> list[str]:
    """List the listeners of the table that can give a metric."""
    return [name for name in BUILTIN if metric in listener_class(name).gives]
