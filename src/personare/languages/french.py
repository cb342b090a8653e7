"""French pronunciation in Kokoro's symbols: letter-to-sound rules, silent endings, liaison, final stress."""

from __future__ import annotations

import re
from functools import lru_cache

from personare.languages.letter_rules import LetterRules, fold, pronounce_clauses

ALPHABET = "abcdefghijklmnopqrstuvwxyzàâæçéèêëîïôœùûüÿ"
_V = "[aeiouyàâéèêëîïôœùûü]"
_FRONT = "[eiyéèêëîï]"
_NASAL = "(?![aeiouyhàâéèêëîïôœùûünm])"  # after n or m: the vowel before it is nasal
_C = "[bcdfgjklmnpqrstvwxz]"
_SOUNDED = "(?=[bcdfgjklmnpqrtv]+e|[flrc](?:s?$)|[rlcf][bcdfgjklmnpqrtv]|v|pl|bl|il|ill)"
_RULES = LetterRules.of(
    ("", "'", "", ""),
    ("", "oment", "s?$", "omɑ̃"),
    # vowels with glides
    ("", "œu", "fs$", "ø"),
    ("", "œu", "", "œ"),
    ("", "œ", "", "e"),
    ("", "æ", "", "e"),
    ("u", "eil", "(?=l|s?$)", "œj"),
    ("", "ueill", "", "œj"),
    ("", "ueil", "", "œj"),
    ("", "euill", "", "œj"),
    ("", "euil", "", "œj"),
    ("", "eill", "", "ɛj"),
    ("", "eil", "s?$", "ɛj"),
    ("", "aill", "", "aj"),
    ("", "ail", "s?$", "aj"),
    ("", "ouill", "", "uj"),
    ("^v|^m|tranqu|^dist|^os", "ill", "", "il"),
    ("[^aeou]|gu|qu", "ill", "", "ij"),
    ("", "eau", "", "o"),
    ("", "au", "", "o"),
    ("", "aou", "t|l", "u"),
    ("", "aoû", "t", "u"),
    ("", "oin", "(?![aeiouy])", "wɛ̃"),
    ("", "oy", _V, "waj"),
    ("", "oi", "", "wa"),
    ("", "oî", "", "wa"),
    ("", "ou", "[ieéaè](?!nt$|s?$)", "w"),
    ("", "ou", "", "u"),
    ("", "où", "", "u"),
    ("", "oû", "", "u"),
    ("", "ay", "s$|san", "ei"),
    ("", "ay", _V, "ɛj"),
    ("", "ey", "", "ɛ"),
    ("", "uy", _V, "yij"),
    ("", "aient", "$", "ɛ"),
    ("[er]r", "ai", "$", "e"),
    ("^", "ai", "$", "e"),
    ("f", "ai", "s(?=on|an|i)", "ə"),
    *(("", vowels + n, _NASAL, "ɛ̃") for vowels in ("ai", "ei", "aî") for n in "nm"),
    ("", "ai", "", "ɛ"),
    ("", "aî", "", "ɛ"),
    ("", "ei", "", "ɛ"),
    ("[vt]", "ient", "$", "jɛ̃"),
    ("[iyé]", "en", "(?:s|t|dr.*)?$", "ɛ̃"),
    # nasal vowels
    *(("", vowel + n, _NASAL, "ɛ̃") for vowel in "iyïî" for n in "nm"),
    ("", "un", _NASAL, "œ̃"),
    ("", "um", "$|[pb]", "œ̃"),
    ("", "enn", "u", "ɑ̃n"),
    ("", "emm", "e?n", "ɑ̃m"),
    ("", "emment", "$", "amɑ̃"),
    ("^f", "emm", "e", "am"),
    *(("", vowel + n, _NASAL, "ɑ̃") for vowel in "aeâ" for n in "nm"),
    *(("", vowel + n, _NASAL, "ɔ̃") for vowel in "oô" for n in "nm"),
    # e
    ("", "eût", "", "y"),
    ("^", "eu", "", "ø"),
    ("", "eu", "(?:x|s|t|)$|s|tr|d|t[ei]|v[^e]|bl|n[^e]", "ø"),
    ("", "eu", "", "œ"),
    ("", "eû", "", "ø"),
    ("^(?:[cfhmtv]|[cf]i|ch|hi)", "er", "s?$", "ɛʁ"),
    ("^hiv|^am|^enf|^canc|^lead|^coll|^superm|^div|^univ|^intern|^inf", "er", "s?$", "ɛʁ"),
    ("", "er", "s?$", "e"),
    ("^(?:ch|n|ass|r)", "ez", "$", "e"),
    ("", "ez", "$", "e"),
    ("^[cdlmst]", "es", "$", "e"),
    ("", "et", "s?$", "ɛ"),
    ("", "ed", "s?$", "e"),
    ("", "ef", "s?$", "ɛf"),
    ("^[jlmntscd]|^qu", "e", "$", "ə"),
    ("[gq]u|[^aeiou]|[éiuy]", "e", "s?$", ""),
    ("[éiuyïoa]", "e", "s?$", ""),
    ("g", "e", "[aoâôu]", ""),
    ("^(?:d|r)", "e", "ss", "ə"),
    (
        "",
        "e",
        "(?:bb|cc|dd|ff|gg|ll|mm|nn|pp|rr|ss|tt|x|sc|st|sp|ct|pt|cz|l[^aeiouyhléè]|r[^aeiouyhrêéè])",
        "ɛ",
    ),
    ("", "e", "(?:[cflr]|l[st]|ls|t)$", "ɛ"),
    (
        "[aeiouyéè][^aeiouyéè]|[aeiouyéè](?:ch|qu|ss|tt|ll|nn|gn|ff)|[aeo]n[tcsd]|^sauv",
        "e",
        "gard|ment|r(?:ai|as|a|ons|ez|ont)|t[eé]r?$",
        "",
    ),
    ("i", "e", "r(?:ai|as|a|ons|ez|ont)", ""),
    ("", "e", "", "ə"),
    *(("", a, "", b) for a, b in zip("éèêëàâîïôûùüÿ", "eɛɛɛaaiioyyyi", strict=True)),
    # o
    ("", "o", "s[eé]|t?s?$|x$|ss|tion|cs$|ps$|ts$", "o"),
    ("", "o", _SOUNDED, "ɔ"),
    ("", "o", "(?:mm|nn|ll|tt|r[^aeiouyéèê]|l[^aeiouyéèê]|ct|x)", "ɔ"),
    ("", "o", "", "o"),
    # u, i
    ("[gq]", "u", "[eiéèêîy]", ""),
    ("", "ui", "", "yi"),
    ("", "u", "", "y"),
    ("[^aeiouy](?<![bcdfgpt][lr])", "i", "[aeoéèêàâ](?!s?$|nt$)|on|er$|ez$|eu|er|é|ai", "j"),
    ("(?<![a-zé])", "i", "(?:e|o)(?:r|n)", "j"),
    ("", "i", "", "i"),
    ("^", "y", _V, "j"),
    (_V, "y", _V, "j"),
    ("l", "y", "on", "j"),
    ("", "y", "", "i"),
    ("", "a", "", "a"),
    # consonants
    ("", "ç", "", "s"),
    ("", "cch", "", "k"),
    ("", "ch", "r|l|œ|est", "k"),
    ("psy", "ch", "[oi]", "k"),
    ("", "ch", "", "ʃ"),
    ("", "cc", _FRONT, "ks"),
    ("", "cc", "", "k"),
    ("", "cqu", "", "k"),
    ("", "sc", _FRONT, "s"),
    ("", "c", _FRONT, "s"),
    ("se", "c", "on", "ɡ"),
    ("[anb]|blan|ban|tron|taba|estoma", "c", "s?$", ""),
    ("", "ct", "s?$", ""),
    ("", "ck", "", "k"),
    ("", "c", "", "k"),
    ("", "qu", "", "k"),
    ("", "q", "", "k"),
    ("", "gn", "", "ɲ"),
    ("", "gg", "[eé]", "ɡʒ"),
    ("", "gg", "", "ɡ"),
    ("", "g", _FRONT, "ʒ"),
    ("[nr]", "g", "s?$", ""),
    ("", "gt", "s?$", ""),
    ("", "g", "", "ɡ"),
    ("", "ph", "", "f"),
    ("", "th", "", "t"),
    ("", "sch", "", "ʃ"),
    ("", "sh", "", "ʃ"),
    ("", "h", "", ""),
    ("m", "pt", "", "t"),
    ("^se", "pt", "", "t"),
    ("[mo]", "p", "s?$|t", ""),
    ("u", "p", "s?$", ""),
    ("m", "b", "s?$", ""),
    ("s", "ti", "on|e", "tj"),
    ("[aeiouyéècnrp]", "ti", "on|el|eux|eu[rs]?|aire|al|en(?:t|ce)s?$", "sj"),
    ("[^s]", "ti", "e(?:l|ux|nt|nce)", "sj"),
    ("œu", "fs", "$", ""),
    ("cle", "f", "s?$", ""),
    ("autobu|viru|campu|bonu|tenni|cactu|^fil|^mar|^our|terminu|^bu", "s", "$", "s"),
    (_V, "s", _V, "z"),
    ("", "ss", "", "s"),
    ("", "s", "$", ""),
    ("", "s", "", "s"),
    ("oues|^bru", "t", "$", "t"),
    ("", "tt", "", "t"),
    ("", "ts", "$", ""),
    ("", "t", "$", ""),
    ("", "ds", "$", ""),
    ("", "d", "$", ""),
    ("^e|^ine|^he", "x", _V, "ɡz"),
    ("^e", "x", "c[eéi]", "k"),
    ("", "x", "$", ""),
    ("^di|^si|deu", "x", "i", "z"),
    ("", "x", "", "ks"),
    ("", "z", "$", ""),
    ("", "rs", "$", "ʁ"),
    ("", "rr", "", "ʁ"),
    ("", "r", "", "ʁ"),
    *(("", 2 * letter, "", letter) for letter in "bdflmnpvz"),
    ("genti|outi|fusi|sourci|persi", "l", "s?$", ""),
    ("", "w", "", "w"),
    ("", "j", "", "ʒ"),
    *(("", letter, "", letter) for letter in "bdfklmnptvz"),
)
_WHOLE = {
    **{"est": "ɛ", "et": "e", "les": "le", "des": "de", "ces": "se", "mes": "me", "tes": "te", "ses": "se", "un": "œ̃"},
    **{"monsieur": "məsjˈø", "messieurs": "mesjˈø", "femme": "fˈam", "femmes": "fˈam", "dix": "dˈis", "six": "sˈis"},
    **{"huit": "yˈit", "neuf": "nˈœf", "sept": "sˈɛt", "cinq": "sˈɛ̃k", "vingt": "vˈɛ̃", "cent": "sˈɑ̃", "août": "ˈut"},
    **{"ville": "vˈil", "villes": "vˈil", "mille": "mˈil", "fils": "fˈis", "plus": "ply", "tous": "tˈus", "eu": "ˈy"},
    **{
        "œufs": "ˈø",
        "œuf": "ˈœf",
        "aujourd": "oʒuʁd",
        "hui": "yˈi",
        "beaucoup": "bokˌu",
        "depuis": "dəpyˌi",
        "jus": "ʒˈy",
    },
    **{
        "patient": "pasjˈɑ̃",
        "patients": "pasjˈɑ̃",
        "client": "klijˈɑ̃",
        "clients": "klijˈɑ̃",
        "pays": "peˈi",
        "temps": "tˈɑ̃",
        "corps": "kˈɔʁ",
        "longtemps": "lɔ̃tˈɑ̃",
        "second": "səɡˈɔ̃",
        "seconde": "səɡˈɔ̃d",
    },
    **{"secondes": "səɡˈɔ̃d", "ai": "e", "as": "a", "a": "a", "à": "a", "y": "i", "ou": "u", "où": "u", "quoi": "kwˌa"},
    **{
        "jouent": "ʒˈu",
        "aboie": "abwˈa",
        "cet": "sɛt",
        "vers": "vɛʁ",
        "fier": "fjˈɛʁ",
        "hier": "jˈɛʁ",
        "mer": "mˈɛʁ",
        "cher": "ʃˈɛʁ",
        "hiver": "ivˈɛʁ",
    },
    **{
        "oui": "wˈi",
        "non": "nˈɔ̃",
        "ouest": "wˈɛst",
        "est-ce": "ɛs",
        "qu": "k",
        "jusqu": "ʒysk",
        "lorsqu": "lɔʁsk",
        "nuit": "nyˈi",
    },
    **{
        "lille": "lˈil",
        "bientôt": "bjɛ̃tˈo",
        "esse": "ɛs",
        "eux": "ˈø",
        "yeux": "jˈø",
        "monsieurs": "məsjˈø",
        "examen": "ɛɡzamˈɛ̃",
        "examens": "ɛɡzamˈɛ̃",
        "clef": "klˈe",
        "onze": "ˈɔ̃z",
    },
    **{
        "sud": "sˈyd",
        "net": "nˈɛt",
        "mars": "mˈaʁs",
        "tabac": "tabˈa",
        "gentil": "ʒɑ̃tˈi",
        "faim": "fˈɛ̃",
        "pied": "pjˈe",
    },
    **{
        "automne": "otˈɔn",
        "compte": "kˈɔ̃t",
        "gens": "ʒˈɑ̃",
        "sens": "sˈɑ̃s",
        "sœur": "sˈœʁ",
        "cœur": "kˈœʁ",
        "bœuf": "bˈœf",
    },
}
_ELIDED = {"c": "s", "d": "d", "j": "ʒ", "l": "l", "m": "m", "n": "n", "s": "s", "t": "t", "qu": "k", "puisqu": "pyisk"}
_UNSTRESSED = frozenset(
    """le la les un une des du de au aux ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos leur
    leurs je tu il elle on nous vous ils elles me te se lui y en ne pas que qui et ou où mais si à a ai as est es
    sont ont dans sur sous par pour avec sans chez vers très plus sommes êtes près j l d n s t m c qu peu faut quand
    trop vaut tout toute toutes chaque quel quelle quels quelles""".split()
)
_ENT_NOUN = re.compile(
    r"(?:ment|(?:^|.*[^a-zé])(?:souv|v|d|c|l|arg|pati|cli|abs|prés|acc|réc|cont|évid|différ|excell|urg|ag|couv|par|tal|"
    r"viol|précéd|accid|présid|incid|pourc|fréqu|perman|innoc|référ|régim|conséqu|efficac|équival|consci|adolesc|"
    r"compét|import|suffis|dilig|intellig|absorb|concurr|torr|serp|inconv|résid|conval|orient|ascend))ents?$|ments?$"
)
_ASPIRATED = re.compile(
    r"^(?:hont|héros|haut|huit|hasard|hain|hors|hall|hand|haric|hock|holl|homard|hongr|hibou|onz|oui|yaourt|week)"
)
_LIAISON = {
    **dict.fromkeys(
        """les des ces mes tes ses nos vos leurs nous vous ils elles aux dans chez très sans sous plus sommes trois
        deux six dix dois avons voulons toujours allons avez quelques plusieurs certains autres petits
        grands""".split(),
        "z",
    ),
    **dict.fromkeys("est sont ont quand petit grand tout vingt cent était".split(), "t"),
    **dict.fromkeys("un on en mon ton son aucun bien rien".split(), "n"),
}
_VOWEL_START = re.compile("[ˈˌ]?[aeiouyɑɔɛœøə]")


@lru_cache(maxsize=4096)
def _word(word: str) -> str:
    parts = [part for part in fold(word, ALPHABET).split("'") if part]
    return "".join(_part(part, elided=place < len(parts) - 1) for place, part in enumerate(parts))


def _part(part: str, *, elided: bool) -> str:
    if part in _WHOLE:
        return _WHOLE[part]
    if elided:
        return _ELIDED.get(part) or _RULES.apply(part)
    verb = part.endswith("ent") and len(part) > 4 and not _ENT_NOUN.search(part) and not part.endswith("ient")
    spoken = _RULES.apply(part[:-2] if verb else part)
    if part in _UNSTRESSED:
        return spoken
    vowels = [match.start() for match in re.finditer("[aeiouyɑɔɛœø]", spoken)] or [
        place for place, symbol in enumerate(spoken) if symbol == "ə"
    ]
    return spoken[: vowels[-1]] + "ˈ" + spoken[vowels[-1] :] if vowels else spoken


def _clause(written: list[str], phonemes: list[str]) -> str:
    spoken = list(phonemes)
    for place in range(len(written) - 1):
        this, following = written[place].lower().split("'")[-1], fold(written[place + 1], ALPHABET)
        if this not in _LIAISON or not _VOWEL_START.match(phonemes[place + 1]) or _ASPIRATED.match(following):
            continue
        if this in ("six", "dix"):
            spoken[place] = spoken[place][:-1]
        spoken[place] += _LIAISON[this]
    for place in range(len(written) - 1):
        if written[place].lower() == "tous" and written[place + 1].lower() in (
            "les",
            "ces",
            "mes",
            "tes",
            "ses",
            "nos",
            "vos",
        ):
            spoken[place] = "tu"
        if written[place].lower() == "neuf" and fold(written[place + 1], ALPHABET) in ("heures", "ans"):
            spoken[place] = "nˈœv"
    return " ".join(spoken)


def pronounce(text: str) -> str:
    """Pronounce French words; digits must be spelt out before.

    >>> pronounce("Les enfants jouent dans le jardin.")
    'lez ɑ̃fˈɑ̃ ʒˈu dɑ̃ lə ʒaʁdˈɛ̃.'
    """
    text = re.sub(r"\best-ce\b", "esse", text, flags=re.IGNORECASE)
    return pronounce_clauses(text, word=_word, clause=_clause)
