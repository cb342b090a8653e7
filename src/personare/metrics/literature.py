"""What the citation keys on metric cards stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping

REFERENCES: Mapping[str, str] = {
    "article2014anonymisation": "Article 29 Data Protection Working Party: Opinion 05/2014 on anonymisation "
    "techniques (WP216). 2014.",
    "brummer2006cllr": "Brümmer, du Preez: Application-independent evaluation of speaker detection. Computer "
    "Speech and Language 20, 2006.",
    "brummer2010thesis": "Brümmer: Measuring, refining and calibrating speaker and language information "
    "extracted from speech. PhD thesis, University of Stellenbosch, 2010.",
    "chinen2020visqol": "Chinen et al.: ViSQOL v3: an open source production ready objective speech and audio "
    "metric. QoMEX, 2020.",
    "donner2012mover": "Donner, Zou: Closed-form confidence intervals for functions of the normal mean and standard "
    "deviation. Statistical Methods in Medical Research 21, 2012.",
    "fisher1935": "Fisher: The logic of inductive inference. Journal of the Royal Statistical Society 98, 1935.",
    "giomi2023anonymeter": "Giomi et al.: A unified framework for quantifying privacy risk in synthetic data. "
    "PoPETs, 2023.",
    "gomezbarrero2018unlinkability": "Gomez-Barrero et al.: General framework to evaluate unlinkability in "
    "biometric template protection systems. IEEE TIFS 13, 2018.",
    "holm1979": "Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, "
    "1979.",
    "itu2007p862.2": "ITU-T Recommendation P.862.2: Wideband extension to P.862 (PESQ), 2007.",
    "jensen2016estoi": "Jensen, Taal: An algorithm for predicting the intelligibility of speech masked by "
    "modulated noise maskers. IEEE/ACM TASLP 24, 2016.",
    "lin1989concordance": "Lin: A concordance correlation coefficient to evaluate reproducibility. Biometrics "
    "45, 1989.",
    "mann1947test": "Mann, Whitney: On a test of whether one of two random variables is stochastically larger than "
    "the other. Annals of Mathematical Statistics 18, 1947.",
    "maouche2020linkability": "Maouche et al.: A comparative study of speech anonymization metrics. Interspeech, 2020.",
    "nakatani2008voicing": "Nakatani et al.: A method for fundamental frequency estimation and voicing "
    "decision. Speech Communication 50, 2008.",
    "nautsch2020zebra": "Nautsch et al.: The Privacy ZEBRA: Zero Evidence Biometric Recognition Assessment. "
    "Interspeech, 2020.",
    "nist2010sre": "NIST: The 2010 speaker recognition evaluation plan.",
    "noe2020similarity": "Noé et al.: Speech pseudonymisation assessment using voice similarity matrices. "
    "Interspeech, 2020.",
    "obrien2021clusters": "O'Brien et al.: Anonymous speaker clusters: making distinctions between anonymised speech "
    "recordings with clustering interface. Interspeech, 2021.",
    "povey2011kaldi": "Povey et al.: The Kaldi speech recognition toolkit. ASRU, 2011 (program compute-eer).",
    "reddy2022dnsmos": "Reddy et al.: DNSMOS P.835: a non-intrusive perceptual objective speech quality "
    "metric. ICASSP, 2022.",
    "rosenberg2017opinion": "Rosenberg, Ramabhadran: Bias and statistical significance in evaluating speech synthesis "
    "with mean opinion scores. Interspeech, 2017.",
    "schuller2009emotion": "Schuller et al.: The Interspeech 2009 emotion challenge. Interspeech, 2009.",
    "taal2011stoi": "Taal et al.: An algorithm for intelligibility prediction of time-frequency weighted "
    "noisy speech. IEEE TASLP 19, 2011.",
    "tomashenko2022plan": "Tomashenko et al.: The VoicePrivacy 2022 Challenge evaluation plan, 2022.",
    "tomashenko2022voiceprivacy": "Tomashenko et al.: The VoicePrivacy 2020 Challenge: results and findings. "
    "Computer Speech and Language 74, 2022.",
    "tomashenko2024plan": "Tomashenko et al.: The VoicePrivacy 2024 Challenge evaluation plan, 2024.",
    "turavecino2025usc": "Tura-Vecino et al.: Universal semantic disentangled privacy-preserving speech "
    "representation learning. 2025.",
    "vauquier2025legal": "Vauquier et al.: Legally validated evaluation framework for voice anonymization. 2025.",
    "wang2026rpgmm": "Wang et al.: Distinguishability-driven voice generation for speaker anonymization via "
    "random projection and GMM. 2026.",
}


def keys_in(cite: str) -> list[str]:
    """Find the citation keys in a card's ``cite``.

    >>> keys_in("brummer2010thesis; extends vauquier2025legal, eq. 3-4")
    ['brummer2010thesis', 'vauquier2025legal']
    """
    return re.findall(r"[a-z]+\d{4}[a-z0-9]+(?:\.\d+)?", cite)
