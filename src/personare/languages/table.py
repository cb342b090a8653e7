"""The table of languages: one row per language, with everything that depends on the language.

``status`` says how far a language is tested. *measured*: figures come from real recordings. *usable*: figures come from
synthetic speech that a recognizer transcribed. *experimental*: it runs, but nothing was measured, or words are lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from personare.core.errors import UnknownNameError, did_you_mean
from personare.languages import english, french, german, italian, locales, portuguese, spanish
from personare.languages.spoken import Locale, spoken

Status = Literal["measured", "usable", "experimental"]
RULES_VERSION = 1
"""Raise it when a normalizer writes a text differently: error rates by other rules are other numbers."""


@dataclass(frozen=True)
class Language:
    """A language: its models, its text rules, its voices and how well they work.

    ``figures`` are percentages. ``agreement``: phoneme symbols that agree with espeak-ng on the 60 sentences that the
    rules were written with. ``agreement_unseen``: the same on 20 further sentences, before the rules were corrected by
    them. ``wer``, ``cer``: errors of Whisper base on the five examples, spoken by the first voice; 54 to 66 words, so
    that they show that a language works, not which works better. ``wer_espeak``: the same with phonemes of espeak-ng.
    ``eer``: the lowest of all attackers by voice, L = 1, on real speakers (docs/reference/languages.md).
    """

    code: str
    name: str
    recognizer: str
    normalize: Callable[[str], str] = field(repr=False)
    """Bring a text into the form in which words are counted for the word error rate."""
    spoken: Callable[[str], str] = field(repr=False)
    """Write numbers, dates, times, money, units and abbreviations as words."""
    pronounce: Callable[[str], str] = field(repr=False)
    """Write a text in Kokoro's phoneme symbols."""
    voices: tuple[str, ...]
    """Kokoro voices, the best first."""
    examples: tuple[str, ...]
    status: Status
    entity_model: str = ""
    """Name of the spaCy model that finds names and places; nothing where none is offered."""
    figures: Mapping[str, float] = field(default_factory=dict)


def words_of(text: str, *, locale: Locale) -> str:
    """Lower-case words without punctuation, numbers as words, accents kept.

    >>> words_of("L'été, 21 °C !", locale=locales.FRENCH)
    'l été vingt et un degrés'
    """
    return bare_words(spoken(text, locale))


def bare_words(text: str) -> str:
    """Lower-case words of any language without punctuation, accents kept, numbers as they are.

    >>> bare_words("Ile to kosztuje? 21 ZŁ!")
    'ile to kosztuje 21 zł'
    """
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    kept = "".join(one if unicodedata.category(one)[0] in "LNM" else " " for one in plain)
    return " ".join(kept.split())


def _pronounced(text: str, *, locale: Locale, pronounce: Callable[[str], str], letters: str) -> str:
    names = letters.split()

    def spelt(match: re.Match[str]) -> str:
        return " ".join(names[ord(letter) - ord("A")] for letter in match[0])

    initials = re.sub(r"\b(?:[B-DF-HJ-NP-TV-XZ]{2,5}|USA|EU|UE|AI|IA|UK)\b", spelt, text)
    return pronounce(spoken(initials, locale))


def by_rule(
    code: str,
    name: str,
    locale: Locale,
    pronounce: Callable[[str], str],
    *,
    letters: str,
    voices: tuple[str, ...],
    examples: tuple[str, ...],
    status: Status = "usable",
    figures: Mapping[str, float] | None = None,
) -> Language:
    """Make a row of a language whose numbers are written by a ``Locale`` and whose pronunciation is by rule.

    ``letters`` are the names of A to Z, by which initials (``USB``) are spelt.
    """
    return Language(
        code,
        name,
        recognizer="whisper-small",
        normalize=partial(words_of, locale=locale),
        spoken=partial(spoken, locale=locale),
        pronounce=partial(_pronounced, locale=locale, pronounce=pronounce, letters=letters),
        voices=voices,
        examples=examples,
        status=status,
        figures=figures or {},
    )


_ENGLISH = Language(
    "en",
    "English",
    recognizer="moonshine",
    normalize=english.normalize,
    spoken=partial(spoken, locale=locales.ENGLISH),
    pronounce=lambda text: english.pronounce(spoken(text, locales.ENGLISH)),
    voices=("af_heart", "am_michael", "bf_emma", "bm_george"),
    examples=(
        "Could you send me the minutes of yesterday's meeting?",
        "The train to Manchester leaves at 7:45 from platform 3.",
        "Dr. Patel told her to take two tablets a day.",
        "We paid $12.50 for lunch, which was cheaper than I expected.",
        "My grandmother was born on March 3, 1931, in a small village.",
    ),
    status="measured",
    entity_model="en_core_web_sm",
    figures={"wer": 3.7, "cer": 0.4},
)

LANGUAGES: dict[str, Language] = {
    row.code: row
    for row in (
        _ENGLISH,
        by_rule(
            "de",
            "German",
            locales.GERMAN,
            german.pronounce,
            letters="a beh zeh deh eh eff geh hah ih jot kah ell emm enn oh peh kuh err ess teh uh "
            "fau weh iks üpsilon zett",
            voices=("if_sara", "bm_george"),
            examples=(
                "Könnten Sie mir bitte das Protokoll von gestern schicken?",
                "Der Zug nach München fährt um 7:45 Uhr von Gleis 3 ab.",
                "Frau Dr. Schneider hat mir zwei Tabletten am Tag verschrieben.",
                "Das Mittagessen kostete 12,50 €, also weniger als gedacht.",
                "Meine Großmutter wurde am 3.10.1931 in einem kleinen Dorf geboren.",
            ),
            status="measured",
            figures={
                **{"agreement": 95.8, "agreement_unseen": 93.6, "wer": 16.4, "cer": 4.7, "wer_espeak": 25.5},
                "eer": 40.6,
            },
        ),
        by_rule(
            "fr",
            "French",
            locales.FRENCH,
            french.pronounce,
            letters="a bé cé dé e effe gé ache i ji ka elle emme enne o pé qu erre esse té u "
            "vé doublevé ixe igrec zède",
            voices=("ff_siwis",),
            examples=(
                "Pourriez-vous m'envoyer le compte rendu de la réunion d'hier ?",
                "Le train pour Bordeaux part à 7h45 de la voie 3.",
                "Mme Lefèvre doit prendre deux comprimés par jour.",
                "Le déjeuner a coûté 12,50 €, c'est moins cher que prévu.",
                "Ma grand-mère est née le 3/10/1931 dans un petit village.",
            ),
            status="measured",
            figures={
                **{"agreement": 98.3, "agreement_unseen": 97.2, "wer": 18.2, "cer": 5.4, "wer_espeak": 19.7},
                "eer": 46.2,
            },
        ),
        by_rule(
            "es",
            "Spanish",
            locales.SPANISH,
            spanish.pronounce,
            letters="a be ce de e efe ge hache i jota ka ele eme ene o pe cu erre ese te u uve uvedoble equis ye zeta",
            voices=("ef_dora", "em_alex", "em_santa"),
            examples=(
                "¿Podría enviarme el acta de la reunión de ayer?",
                "El tren a Valencia sale a las 7:45 del andén 3.",
                "La Dra. Gómez le recetó dos pastillas al día.",
                "La comida costó 12,50 €, menos de lo que esperaba.",
                "Mi abuela nació el 3/10/1931 en un pueblo pequeño.",
            ),
            status="measured",
            figures={
                **{"agreement": 99.0, "agreement_unseen": 99.2, "wer": 7.9, "cer": 1.5, "wer_espeak": 11.1},
                "eer": 36.6,
            },
        ),
        by_rule(
            "it",
            "Italian",
            locales.ITALIAN,
            italian.pronounce,
            letters="a bi ci di e effe gi acca i ilunga cappa elle emme enne o pi cu erre esse ti u "
            "vu doppiavu ics ipsilon zeta",
            voices=("if_sara", "im_nicola"),
            examples=(
                "Potrebbe mandarmi il verbale della riunione di ieri?",
                "Il treno per Firenze parte alle 7:45 dal binario 3.",
                "La dott.ssa Ricci gli ha prescritto due pastiglie al giorno.",
                "Il pranzo è costato 12,50 €, meno di quanto pensassi.",
                "Mia nonna è nata il 3/10/1931 in un piccolo paese.",
            ),
            figures={"agreement": 96.1, "agreement_unseen": 93.6, "wer": 16.4, "cer": 4.2, "wer_espeak": 14.5},
        ),
        by_rule(
            "pt",
            "Portuguese",
            locales.PORTUGUESE,
            portuguese.pronounce,
            letters="á bê cê dê é efe gê agá í jota cá ele eme ene ó pê quê erre esse tê u vê dáblio xis ípsilon zê",
            voices=("pf_dora", "pm_alex", "pm_santa"),
            examples=(
                "Você poderia me enviar a ata da reunião de ontem?",
                "O trem para Curitiba sai às 7h45 da plataforma 3.",
                "A Dra. Souza receitou dois comprimidos por dia.",
                "O almoço custou R$ 12,50, menos do que eu esperava.",
                "Minha avó nasceu no dia 3/10/1931 em um pequeno povoado.",
            ),
            figures={"agreement": 97.3, "agreement_unseen": 96.2, "wer": 3.1, "cer": 0.9, "wer_espeak": 7.8},
        ),
    )
}


def language(code: str) -> Language:
    """Look up a language by its code (ISO 639-1).

    >>> language("de").name
    'German'
    """
    if code not in LANGUAGES:
        by_name = [row.code for row in LANGUAGES.values() if row.name.lower() == code.lower()]
        hint = f"did you mean '{by_name[0]}'? " if by_name else ""
        raise UnknownNameError(f"no language '{code}'; {hint}{did_you_mean(code, LANGUAGES)}")
    return LANGUAGES[code]
