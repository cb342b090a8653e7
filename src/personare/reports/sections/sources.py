"""Where methods, ears and scorers come from: the papers a report names beside what it compares."""

from __future__ import annotations

from collections.abc import Mapping

VPC = "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022"
WORLD = "Morise et al., WORLD, 2016"
METHODS: Mapping[str, str] = {
    "mcadams": f"Patino et al., Speaker anonymisation using the McAdams coefficient, 2021; {VPC}, sec. 3.1 (B2)",
    "formants": f"Dubagunta et al., 2020; {VPC}, sec. 3.2.3 (I1); {WORLD}",
    "world": WORLD,
    "xvector": f"{VPC}, sec. 3.1 (B1)",
}
GENERATORS: Mapping[str, str] = {
    "b1": f"{VPC}, sec. 3.1",
    "copy": f"{VPC}, sec. 3.2.1 (M1c2)",
    **dict.fromkeys(("o1", "o1c1"), "Turner et al., 2020"),
    **dict.fromkeys(("rp_gmm", "rp_gmm_sc"), "Wang et al., RP + GMM, 2026"),
    **dict.fromkeys(("a1", "a2"), "Mawalim et al., 2020"),
    "k2": "Han et al., 2020",
    **dict.fromkeys(("s1", "s2", "s1c1", "s2c1"), "Espinoza-Cuadros et al., 2020"),
}
EARS: Mapping[str, str] = {
    "ecapa": "Desplanques et al., ECAPA-TDNN, 2020",
    "ge2e": "Wan et al., Generalized end-to-end loss, 2018",
}
SCORERS: Mapping[str, str] = {
    "wccn": "Hatch et al., Within-class covariance normalization, 2006",
    "plda": "Ioffe, Probabilistic linear discriminant analysis, 2006",
}
