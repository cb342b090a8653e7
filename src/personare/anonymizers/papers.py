"""The systems of the papers by the names they have there: which method with which settings each one is here.

One row per system. A row is another name of a method with settings: ``--method M1c3`` and ``--method xvector`` with
``own: source`` are the same system and have the same fingerprint. Settings that are typed besides override a row's. A
row with ``missing`` cannot be built from the parts here; its name gives one line that says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

VPC = "Tomashenko et al., The VoicePrivacy 2020 Challenge: results and findings, 2022"
VPC_2024 = "Tomashenko et al., The VoicePrivacy 2024 Challenge evaluation plan, 2024"
RP = "Distinguishability-driven voice generation for speaker anonymization via random projection and GMM"
USC = "Tura-Vecino et al., Universal semantic disentangled privacy-preserving speech representation learning, 2025"
NOTHING: Mapping[str, Any] = MappingProxyType({})
SYNTHESIS = (
    "content from Moonshine instead of a TDNN-F, one network instead of the acoustic and NSF models, GE2E vectors "
    "compared by cosine, a pool of 1,000 synthetic voices instead of LibriTTS"
)
LIKE_B1 = "the synthesis and pool of B1 here"


@dataclass(frozen=True)
class PaperSystem:
    """A system of a paper.

    Parameters
    ----------
    name : as the paper writes it. paper, section : where it is described.
    method, settings : a method of the catalog with its settings; no method where it cannot be built here.
    deviations : what differs from the original.
    missing : which parts it would need that are not here.
    """

    name: str
    paper: str
    section: str
    method: str = ""
    settings: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    deviations: str = ""
    missing: str = ""

    @property
    def typed(self) -> str:
        """The method with its settings, as --method and --set take them.

        >>> PAPERS["D1"].typed
        'mcadams alpha=0.8 radius=0.975'
        """
        return " ".join([self.method, *(f"{name}={value}" for name, value in self.settings.items())])


def _generated(name: str, section: str, generator: str, deviations: str, paper: str = VPC) -> PaperSystem:
    """Make the row of a system that is B1 with another generator of pseudo-speakers."""
    return PaperSystem(name, paper, section, "xvector", {"generator": generator}, f"{LIKE_B1}; {deviations}")


_ROWS = (
    PaperSystem("B1", VPC, "3.1", "xvector", NOTHING, SYNTHESIS),
    PaperSystem("B2", VPC, "3.1", "mcadams", {"alpha": 0.8}, "the level of the recording is kept"),
    PaperSystem("D1", VPC, "3.2.2", "mcadams", {"alpha": 0.8, "radius": 0.975}, "the level of the recording is kept"),
    PaperSystem(
        "I1", VPC, "3.2.3", "formants", NOTHING, "F0 and speaking rate by WORLD instead of PSOLA; the length is kept"
    ),
    PaperSystem(
        *("M1", VPC, "3.2.1", "xvector", NOTHING),
        "the same system as B1 here, whose content is that of an end-to-end recognizer already",
    ),
    PaperSystem(
        *("M1c1", VPC, "3.2.1", "xvector", {"mask": True}),
        f"{LIKE_B1}; a head on the content trained against a speaker classifier, instead of the recognizer itself",
    ),
    PaperSystem("M1c2", VPC, "3.2.1", "xvector", {"generator": "copy"}, LIKE_B1),
    PaperSystem("M1c3", VPC, "3.2.1", "xvector", {"own": "source"}, f"{LIKE_B1}; the source part stands for the NSF"),
    PaperSystem(
        *("M1c4", VPC, "3.2.1", "xvector", {"own": "envelope"}),
        f"{LIKE_B1}; the envelope part stands for the acoustic model",
    ),
    _generated("O1", "3.2.1", "o1", "no VoxCeleb in the pool"),
    _generated("O1c1", "3.2.1", "o1c1", "the limit is the median cosine of the pool, the published one is unknown"),
    _generated("A1", "3.2.1", "a1", "regressions and training pairs are ours"),
    _generated("A2", "3.2.1", "a2", "one vector per speaker; the share of singular values is ours"),
    _generated("S1", "3.2.1", "s1", "layers and weights of the network are ours"),
    _generated("S1c1", "3.2.1", "s1c1", "layers and weights of the network are ours"),
    _generated("S2", "3.2.1", "s2", "layers and weights of the network are ours"),
    _generated("S2c1", "3.2.1", "s2c1", "layers and weights of the network are ours"),
    _generated(
        *("K2", "3.2.3", "k2"),
        "the list is blended from the pool instead of the test speakers; no ESPnet model with Griffin-Lim",
    ),
    _generated("RP+GMM", "4", "rp_gmm", "grid and constants are ours", RP),
    _generated("RP+GMM+SC", "4", "rp_gmm_sc", "grid, constants and limit are ours", RP),
    _generated("WGAN", "2", "wgan", "fully connected blocks; one network for each gender", RP),
    _generated("OHNN", "2", "ohnn", "losses of the abstract; turned around the mean of a gender", RP),
    _generated("SALT", "table 7", "salt", "speaker vectors are blended instead of WavLM frames", RP),
    PaperSystem(
        *("USC", USC, "table 2", "usc", {"voice": "none"}),
        "a smaller codec, trained on other speech; C0 alone is kept, and the voice is left open",
    ),
    PaperSystem(
        *("MUSA", RP, "table 7"),
        missing="a network trained to split speech into a global and a temporal part and to speak without the first",
    ),
    PaperSystem("Rano", RP, "table 7", missing="a public description: only its row of table 7 is known"),
    PaperSystem(
        *("B3", VPC_2024, "B3"),
        missing="a recognizer of phones and a synthesizer that takes the phones with the speaker's F0 and energy; the "
        "closest method is cascade with generator=wgan",
    ),
    PaperSystem("B4", VPC_2024, "B4", missing="a neural codec with a language model of its acoustic tokens"),
    PaperSystem(
        *("B5", VPC_2024, "B5"), missing="a wav2vec 2.0 recognizer with a quantized bottleneck and a HiFi-GAN for it"
    ),
    PaperSystem(
        *("B6", VPC_2024, "B6"), missing="a TDNN-F recognizer with a quantized bottleneck and a HiFi-GAN for it"
    ),
)
PAPERS: Mapping[str, PaperSystem] = {row.name: row for row in _ROWS}
