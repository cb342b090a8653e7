"""Both vocabularies lead to the right level, and the trap between them is handled."""

from __future__ import annotations

import pytest

from personare.attackers.knowledge import Knowledge, knowledge
from personare.core.errors import UnknownNameError


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("original", Knowledge.ORIGINAL),
        ("Unprotected", Knowledge.ORIGINAL),
        ("oo", Knowledge.ORIGINAL),
        ("ignorant", Knowledge.IGNORANT),
        ("oa", Knowledge.IGNORANT),
        ("lazy_informed", Knowledge.LAZY_INFORMED),
        ("Lazy informed", Knowledge.LAZY_INFORMED),
        ("aa", Knowledge.LAZY_INFORMED),
        ("semi-informed", Knowledge.SEMI_INFORMED),
        ("legal:semi-informed", Knowledge.SEMI_INFORMED),
        ("vpc:semi-informed", Knowledge.INFORMED),
        ("informed", Knowledge.INFORMED),
        ("legal:Informed", Knowledge.INFORMED),
    ],
)
def test_names_of_both_traditions(name: str, level: Knowledge) -> None:
    assert knowledge(name) is level


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("ignorent", "no attacker 'ignorent'; did you mean 'ignorant'?"),
        ("vpc:informed", "no attacker 'vpc:informed'"),
        ("legal:lazy-informed", "no attacker 'legal:lazy-informed'"),
        ("vcp:ignorant", "did you mean 'vpc'"),
    ],
)
def test_unknown_names(name: str, line: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        knowledge(name)
    assert line in str(caught.value)


def test_the_table_of_attack_models() -> None:
    facts = [(k.value, k.vpc_name, k.trained_on, k.enroll, k.trial) for k in Knowledge]
    assert facts == [
        ("original", "unprotected", "original", "original", "original"),
        ("ignorant", "ignorant", "original", "original", "anonymized"),
        ("lazy-informed", "lazy-informed", "original", "anonymized", "anonymized"),
        ("semi-informed", None, "similar system", "anonymized", "anonymized"),
        ("informed", "semi-informed", "same system", "anonymized", "anonymized"),
        ("aligned", None, "same system", "original", "anonymized"),
        ("inverting", None, "same system", "original", "anonymized"),
    ]
    assert [k for k in Knowledge if k.needs_training] == [
        Knowledge.SEMI_INFORMED,
        Knowledge.INFORMED,
        Knowledge.ALIGNED,
        Knowledge.INVERTING,
    ]
