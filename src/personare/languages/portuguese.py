"""Brazilian Portuguese pronunciation in Kokoro's symbols: letter-to-sound rules, stress by accent and ending."""

from __future__ import annotations

import re
from functools import lru_cache

from personare.languages.letter_rules import LetterRules, fold, pronounce_clauses

ALPHABET = "abcdefghijklmnopqrstuvwxyzáâãàéêíóôõúüç"
_VOWEL = "[aeiouáâãàéêíóôõúü]"
_FRONT = "[eiéêí]"
_END = "s?$"
_CODA = "(?![aeiouáâãàéêíóôõúüh])"
_RULES = LetterRules.of(
    ("", "'", "", ""),
    # nasal vowels
    ("", "ão", "", "ɐ̃ʊ̃"),
    ("", "ãe", "", "ɐ̃ɪ̃"),
    ("", "õe", "", "õj"),
    ("", "am", "$", "ɐ̃ʊ̃"),
    ("", "ã", "", "ɐ̃"),
    ("", "õ", "", "õ"),
    *(("", vowel + n, "[pb]", sound + "m") for vowel, sound in (("a", "ɐ̃"), ("â", "ɐ̃")) for n in "mn"),
    *(("", vowel + n, "[pb]", sound + "m") for vowel, sound in (("e", "A"), ("ê", "A"), ("i", "i")) for n in "mn"),
    *(("", vowel + n, "[pb]", sound + "m") for vowel, sound in (("í", "i"), ("o", "o"), ("ô", "o")) for n in "mn"),
    *(("", vowel + n, _CODA, "ɐ̃ŋ") for vowel in "aâá" for n in "mn"),
    *(("", vowel + n, _CODA, "Aŋ") for vowel in "eêé" for n in "mn"),
    *(("", vowel + n, _CODA, "iŋ") for vowel in "ií" for n in "mn"),
    *(("", vowel + n, _CODA, "oŋ") for vowel in "oôó" for n in "mn"),
    *(("", vowel + n, _CODA, "ũŋ") for vowel in "uú" for n in "mn"),
    # consonants
    ("", "ch", "", "ʃ"),
    ("", "lh", "", "lj"),
    ("", "nh", "", "ɲ"),
    ("", "rr", "", "x"),
    ("", "ss", "", "s"),
    ("", "sc", _FRONT, "s"),
    ("", "sç", "", "s"),
    ("", "xc", _FRONT, "s"),
    ("", "ç", "", "s"),
    ("", "cc", _FRONT, "ks"),
    ("", "c", _FRONT, "s"),
    ("pin|lin", "gu", "i", "ɡw"),
    ("", "gu", _FRONT, "ɡ"),
    ("", "gü", "", "ɡw"),
    ("", "gu", "[aoáâãó]", "ɡw"),
    ("", "g", _FRONT, "ʒ"),
    ("", "qu", _FRONT, "k"),
    ("", "qu", "[aoáâãó]", "kw"),
    ("", "qü", "", "kw"),
    ("", "q", "", "k"),
    ("", "j", "", "ʒ"),
    ("", "ph", "", "f"),
    ("", "th", "", "t"),
    ("", "h", "", ""),
    ("^|[nls]", "r", "", "x"),
    (_VOWEL, "r", _VOWEL, "ɾ"),
    (_VOWEL, "r", "$", "r"),
    (_VOWEL, "r", "", "ɾə"),
    ("", "r", "", "r"),
    (_VOWEL, "s", _VOWEL, "z"),
    ("", "s", "[bdgjlmnrvz]", "z"),
    ("", "s", "", "s"),
    ("^e|^ine", "x", _VOWEL, "z"),
    ("^pró|^má|^au", "x", "", "s"),
    ("", "x", "[cpqt]", "s"),
    ("^tá|^có|^fi|^fle|^comple|^ane|^sintá|^cone", "x", "", "ks"),
    ("", "x", "$", "ks"),
    ("", "x", "", "ʃ"),
    ("", "z", "$", "s"),
    ("", "t", f"i|í|e{_END}", "ʧ"),
    ("", "d", f"i|í|e{_END}", "ʤ"),
    (_VOWEL, "l", "$", "ʊ"),
    (_VOWEL, "l", _CODA, "w"),
    # vowels
    ("", "ei", "", "A"),
    ("", "éi", "", "ɛɪ"),
    ("", "ai", "(?!nh|nd|r$|l$|z$|m$)", "I"),
    ("", "ái", "", "I"),
    ("", "al", _CODA, "W"),
    ("", "au", "", "W"),
    ("", "áu", "", "W"),
    ("", "ao", _END, "W"),
    ("", "oi", "", "oɪ"),
    ("", "ói", "", "ɔɪ"),
    ("", "eu", "", "eʊ"),
    ("", "éu", "", "ɛʊ"),
    ("", "iu", "", "iʊ"),
    ("", "ou", "", "ow"),
    ("", "ui", "", "ui"),
    ("", "a", "m[aeiouáâãéêíóôõú]|n[aeiouáâãéêíóôõú]|nh", "a"),
    ("[^aeiou]", "ia", _END, "iæ"),
    (_VOWEL + ".*", "a", _END, "æ"),
    (_VOWEL + ".*", "e", _END, "y"),
    (_VOWEL + ".*", "o", _END, "ʊ"),
    *(("", a, "", b) for a, b in zip("áâàéêíóôúü", ("a", "ɐ̃", "aː", "ɛ", "e", "i", "ɔ", "o", "u", "u"), strict=True)),
    ("", "c", "", "k"),
    ("", "g", "", "ɡ"),
    ("", "y", "", "i"),
    *(("", letter, "", letter) for letter in "abdefiklmnoptuvwz"),
)
_WHOLE = {
    **{"o": "ʊ", "a": "a", "e": "i", "é": "ɛ", "os": "ʊs", "as": "as", "que": "ky", "de": "ʤy", "se": "sy", "me": "my"},
    **{"te": "ʧy", "lhe": "ljy", "do": "dʊ", "da": "da", "no": "nʊ", "na": "na", "dos": "dʊs", "das": "das"},
    **{
        "nos": "nʊs",
        "nas": "nas",
        "ao": "W",
        "aos": "Ws",
        "à": "aː",
        "às": "aːs",
        "em": "ˈAŋ",
        "com": "koŋ",
        "um": "ũŋ",
    },
    **{"uma": "ˌumæ", "por": "por", "para": "pˌaɾæ", "não": "nˌɐ̃ʊ̃", "muito": "mwˈiŋtʊ", "muita": "mwˈiŋtæ"},
    **{
        "muitos": "mwˈiŋtʊs",
        "muitas": "mwˈiŋtæs",
        "há": "a",
        "está": "estˌa",
        "você": "vosˌe",
        "são": "sɐ̃ʊ̃",
        "quem": "kˈAŋ",
    },
    **{
        "ele": "ˌely",
        "ela": "ˌɛlæ",
        "eu": "eʊ",
        "meu": "meʊ",
        "mas": "mas",
        "mais": "mˈIs",
        "hoje": "ˈoʒy",
        "este": "ˌesʧy",
        "esta": "ˌɛstæ",
        "esse": "ˌesy",
        "essa": "ˌɛsæ",
    },
    **{
        "dez": "dˈɛs",
        "voz": "vˈɔs",
        "melhor": "meljˈɔr",
        "desde": "dˌezʤy",
        "onde": "ˌoŋʤy",
        "foi": "foɪ",
        "vai": "vI",
    },
    **{"vou": "vow", "era": "ˌɛɾæ", "até": "atˌɛ", "minha": "mˌiɲæ", "tenho": "tˌeɲʊ", "sobre": "sˈobri"},
    **{"uns": "ũŋs", "umas": "ˌumæs", "num": "nũŋ", "numa": "nˌumæ", "sem": "sAŋ", "ou": "ow", "porque": "poɾəkˈe"},
}
_OPEN = re.compile(
    r"(?:er[tnv]|er[tnv]o|ec[ao]|ela|ol[ao]|or[ao]|ov[ae]|ov[oe]s|est[ae]|ort[ae]|ost[ao]|osso|erd[ae]|ert[ao]|edr[ao]|etr[ao]|ebre|ece|erme|orme|evo|olto|ogo|ero|obre|erra|oca|oga|ope|osse|otam|ocam)s?$"
)


@lru_cache(maxsize=4096)
def _word(word: str) -> str:
    letters = fold(word, ALPHABET).replace("'", "")
    if not letters:
        return ""
    if letters in _WHOLE:
        return _WHOLE[letters]
    nuclei = _nuclei(letters)
    if not nuclei:
        return _RULES.apply(letters)
    count = _stress(letters, nuclei)
    after = len(nuclei) - 1 - count
    second = nuclei[0] if count > 1 or (count == 1 and after) else -1
    spoken = _RULES.apply(letters, stressed=nuclei[count], second=second)
    if _OPEN.search(letters) and after == 1:
        spoken = spoken.replace("ˈe", "ˈɛ").replace("ˈo", "ˈɔ")
    spoken = re.sub("ˈa(?=[mnɲ][^ptkbdɡ]|ɲ)", "ˈɐ̃", spoken)
    return re.sub("(?<=[^ˈˌ])i(?=[æʊ]s?$)", "j", spoken) if re.search("[áâéêíóôú]", letters) else spoken


def _nuclei(word: str) -> list[int]:
    silent = re.sub("(?<=[qg])u(?=[eiaoéêíáâãó])", "_", word)
    found = re.finditer(
        "ão|ãe|õe|[aeoáâãéêóô][iu](?![rlzmn](?![aeiou])|n[hd])|[aáo]o(?=s?$)|iu(?=s?$)|[aeiouáâãàéêíóôõúüy]", silent
    )
    return [match.start() for match in found]


def _stress(word: str, nuclei: list[int]) -> int:
    accents = [count for count, place in enumerate(nuclei) if re.search("[áâéêíóôú]", word[place : place + 2])]
    for count in accents:
        if word[nuclei[count]] in "áâéêíóôú":
            return count
    for count, place in enumerate(nuclei):
        if word[place] in "ãõ":
            return count
    last = len(nuclei) - 1
    if re.search("(?:[aeo]s?|am|em|ens)$", word) and not re.search("[aeo][iu]s?$", word):
        return max(last - 1, 0)
    return last


def _clause(_: list[str], phonemes: list[str]) -> str:
    spoken = " ".join(phonemes)
    spoken = re.sub(r"s(?= [ˈˌ]?[aeiouæɐɛɔʊyAIWYbdɡʤʒlmnɲvz])", "z", spoken)
    spoken = re.sub(r"(?<=[^ˈˌ ][^ ])y(?= [ˈˌ]?[aeiouɐɛɔʊAIW])", "j", spoken)
    return re.sub(r"(?<=[^ ][^ˈˌ aeiouɛɔ̃W])ʊ(?= [ˈˌ]?[aeiɐɛAIW])", "w", spoken)


def pronounce(text: str) -> str:
    """Pronounce Brazilian Portuguese words; digits must be spelt out before.

    >>> pronounce("Quanto custa este livro?")
    'kwˈɐ̃ŋtʊ kˈustæ ˌesʧy lˈivrʊ?'
    """
    return pronounce_clauses(text, word=_word, clause=_clause)
