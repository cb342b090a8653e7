"""German pronunciation in Kokoro's symbols: letter-to-sound rules, prefixes, compounds, stress.

A word is cut into its parts first (``auf-be-wahren``, ``Möbel-fabrik``), because vowel length, the hardening of b, d, g
and s, and stress depend on them. Native words are stressed on the first syllable of the stem, loans by their ending.
"""

from __future__ import annotations

import re
from functools import lru_cache

from personare.languages.letter_rules import LetterRules, fold, pronounce_clauses

ALPHABET = "abcdefghijklmnopqrstuvwxyzäöüßé"
_V = "[aeiouäöüyé]"
_CONS = "[bcdfghjklmnpqrstvwxzß]"
# after a vowel: one consonant and a vowel, or the end, makes it long
_OPEN = f"(?={_CONS}(?:[aeiouäöüy])|(?:[bdfgkpt][lr]|[bdg]n)[aeiouäöüy]|[ßhr]?$|ß|[bdg](?:$|s?t$|t[ae]|s$|st)|[lmnrgdts]$|qu|th[aeiou])"
_SHORT_BEFORE = "(?=ch|sch|ck|x|ng|nk|tz|pf|ss)"
_FRONTED = "[ieäöüylnr]"
_RULES = LetterRules.of(
    ("", "'", "", ""),
    # vowels
    ("", "aa", "", "ɑː"),
    ("", "ah", _CONS + "|$", "ɑː"),
    ("", "ai", "", "I"),
    ("", "ay", "", "I"),
    ("", "au", "", "W"),
    ("", "äu", "", "ɔø"),
    ("", "eu", "", "ɔø"),
    ("", "ei", "", "I"),
    ("", "ey", "", "I"),
    ("", "ee", "", "eː"),
    ("", "eh", "[lmnrt]|$|s?t$|st$", "eː"),
    ("", "ieh", "", "iː"),
    ("[lt]", "ien", "$|s$", "ɪən"),
    ("", "ie", "", "iː"),
    ("", "ih", "", "iː"),
    ("", "oo", "", "oː"),
    ("", "oh", _CONS + "|$", "oː"),
    ("", "öh", _CONS + "|$", "øː"),
    ("", "uh", _CONS + "|$", "uː"),
    ("", "üh", _CONS + "|$", "yː"),
    ("", "äh", _CONS + "|$", "ɛː"),
    *(("", letter, "(?=sch|ck|x|ng|nk|tz|pf|ss)", sound) for letter, sound in zip("aiouäöüy", "aɪɔʊɛœyy", strict=True)),
    ("^h|^spr|^br|^n|^l|^m|^st", "ä", "ch", "ɛ"),
    ("^(?:b|s|t|kl|fl|br_|verf|h_|ged)", "u", "ch", "uː"),
    ("^(?:h)", "o", "ch$|h", "oː"),
    ("^sp", "a", "ch", "ɑː"),
    *(("", letter, "ch", sound) for letter, sound in zip("aiouäöü", "aɪɔʊɛœy", strict=True)),
    *(("", letter, _OPEN, sound + "ː") for letter, sound in zip("aioäöüuy", "ɑioɛøyuy", strict=True)),
    *(("", letter, "", sound) for letter, sound in zip("aioäöüuy", "aɪɔɛœyʊy", strict=True)),
    # e: schwa after the stem's vowel, unless stressed
    (_V + ".*", "er", "(?:n|s|st|t|nd|nde[rnsm]?|te[rnsm]?)?$", "ɜ"),
    (_V + ".*", "er", "(?=[bdfgklmnpstvwz])", "ɜ"),
    (_V + ".*", "e", "(?:[lmnstr]|ln|st|nd|nde[rnsm]?|ns|ls|ts|te|ten|tes?t|lte|lten|nt|nte[rnsm]?|rs|st[a-z]?|m)?$", "ə"),
    (_V + ".*", "e", "(?:n[dtsk]|[nlr][aeiu]|[lnr]ung|lich|[ln]t?|r)", "ə"),
    ("", "e", "(?=sch|ck|x|ng|nk|tz|pf|ss|ch)", "ɛ"),
    ("", "e", _OPEN, "eː"),
    ("", "é", "", "eː"),
    ("", "e", "", "ɛ"),
    # consonants
    ("", "tsch", "", "ʧ"),
    ("", "sch", "", "ʃ"),
    ("", "dsch", "", "ʤ"),
    ("", "chs", "(?![tu])", "ks"),
    ("(?:^|[^aeiouäöü])(?:a|o|u)|au|oo|uh|aa", "ch", "", "x"),
    ("a|o|u", "ch", "", "x"),
    ("^", "ch", "[aolr]", "k"),
    ("", "ch", "", "ç"),
    ("", "ck", "", "k"),
    ("", "tz", "", "ʦ"),
    ("", "zz", "", "ʦ"),
    ("", "tion", "", "ʦjoːn"),
    ("", "ti", "e[nr]|al|ell", "ʦj"),
    ("", "th", "", "t"),
    ("", "ph", "", "f"),
    ("", "rh", "", "r"),
    ("", "pf", "", "pf"),
    ("", "qu", "", "kv"),
    ("", "ng", "(?![aou]|$_)", "ŋ"),
    ("", "nk", "", "ŋk"),
    ("", "ss", "", "s"),
    ("", "ß", "", "s"),
    ("^", "sp", "", "ʃp"),
    ("^", "st", "", "ʃt"),
    ("^|[aeiouäöüylmnr]", "s", _V, "z"),
    ("", "s", "", "s"),
    ("", "dt", "", "t"),
    *(("", 2 * letter, "", sound) for letter, sound in zip("bdfgklmnpt", "bdfɡklmnpt", strict=True)),
    ("", "rr", "(?=[aeiouäöü])", "r"),
    ("", "rr", "", "ɾ"),
    ("", "b", "(?=$|s|t|[fkp])", "p"),
    ("", "d", "(?=$|s|t|[fkp])", "t"),
    ("i", "g", "(?=$|s|t)", "ç"),
    ("", "g", "(?=$|s|t|[fkp])", "k"),
    ("", "v", "(?=$)", "f"),
    ("^(?:v|pri|uni|ner|akti|in|ka|no|kla|re|sil|e)", "v", _V, "v"),
    ("[aeiu]", "v", "[aeio]", "v"),
    ("^", "v", "[aiu](?:s|r[iu]|ge|de|l[iu]|ri|t[ae]|k)", "v"),
    ("", "v", "", "f"),
    ("", "w", "", "v"),
    ("", "z", "", "ʦ"),
    ("", "c", "[eiäy]", "ʦ"),
    ("", "c", "", "k"),
    ("", "x", "", "ks"),
    ("", "g", "", "ɡ"),
    ("", "h", "", "h"),
    ("", "j", "", "j"),
    ("^|[fh]|[aeiouäöüy]h?", "r", "(?=[aeiouäöüy])", "r"),
    ("", "r", "", "ɾ"),
    ("", "q", "", "k"),
    *(("", letter, "", letter) for letter in "bdfklmnpt"),
)
_WHOLE = {
    **{"der": "dɛɾ", "die": "diː", "das": "das", "den": "deːn", "dem": "deːm", "des": "dɛs", "ein": "In", "eine": "ˌInə"},
    **{"einen": "ˌInən", "einem": "ˌInəm", "einer": "ˌInɜ", "eines": "ˌInəs", "ich": "ɪç", "du": "duː", "er": "ɛɾ"},
    **{"sie": "ziː", "es": "ɛs", "wir": "viːɾ", "ihr": "iːɾ", "ihre": "ˌiːrə", "mein": "mIn", "meine": "mˌInə", "meines": "mˌInəs"},
    **{"und": "ʊnt", "oder": "ˌoːdɜ", "aber": "ˌɑːbɜ", "in": "ɪn", "im": "ɪm", "an": "an", "am": "am", "auf": "Wf"},
    **{"mit": "mɪt", "von": "fɔn", "vom": "fɔm", "vor": "foːɾ", "für": "fyːɾ", "zu": "ʦuː", "zum": "ʦʊm", "zur": "ʦʊɾ"},
    **{"bei": "bI", "beim": "bIm", "nach": "nɑːx", "aus": "Ws", "um": "ʊm", "bis": "bɪs", "seit": "zIt", "durch": "dʊɾç"},
    **{"ist": "ɪst", "sind": "zɪnt", "war": "vɑːɾ", "hat": "hat", "habe": "hɑːbə", "haben": "hɑːbən", "hatte": "hˌatə"},
    **{"nicht": "nˈɪçt", "noch": "nɔx", "was": "vˈas", "wo": "vˌoː", "wer": "vˈeːɾ", "wie": "viː", "als": "als", "so": "zoː"},
    **{"wenn": "vɛn", "dass": "das", "man": "man", "sich": "zɪç", "mich": "mɪç", "dich": "dɪç", "uns": "ʊns", "auch": "Wx"},
    **{"wird": "vˌɪɾt", "werde": "vˈeːɾdə", "werden": "vˈeːɾdən", "diese": "dˌiːzə", "dieses": "dˌiːzəs", "diesen": "dˌiːzən"},
    **{"dieser": "dˌiːzɜ", "unser": "ˌʊnzɜ", "unsere": "ˌʊnzərə", "unserer": "ˌʊnzərɜ", "über": "ˌyːbɜ", "unter": "ˌʊntɜ"},
    **{"arzt": "ˈaɾʦt", "termin": "tɛɾmˈiːn", "wieder": "vˈiːdɜ", "etwas": "ˈɛtvɑːs", "buch": "bˈuːx", "bücher": "bˈyːçɜ"},
    **{"nächsten": "nˈɛːçstən", "nächste": "nˈɛːçstə", "kaffee": "kˈafeː", "restaurant": "rɛstorˈɑ̃ː", "büro": "byːrˈoː"},
    **{"viel": "fˈiːl", "vielleicht": "fiːlˈIçt", "deshalb": "dɛshˈalp", "zurück": "ʦuːrˈyk", "firma": "fˈɪɾmɑː", "euro": "ˈɔøroː"},
    **{"heraus": "hɛrˈWs", "orange": "orˈɑ̃ːʒə", "orangen": "orˈɑ̃ːʒən", "mal": "mˈɑːl", "schon": "ʃoːn", "pinguin": "pˈɪŋɡuːˌiːn"},
    **{"chemie": "çeːmˈiː", "april": "aprˈɪl", "august": "Wɡˈʊst", "dezember": "deːʦˈɛmbɜ", "november": "noːvˈɛmbɜ"},
    **{"september": "zɛptˈɛmbɜ", "oktober": "ɔktˈoːbɜ", "juni": "jˈuːniː", "juli": "jˈuːliː", "computer": "kɔmpjˈuːtɜ"},
    **{"berlin": "bɛɾlˈiːn", "familie": "famˈiːlɪə", "zwei": "ʦvˈI", "drei": "dɾˈI", "jetzt": "jˈɛʦt", "sehr": "zˈeːɾ", "hier": "hˈiːɾ"},
    **{"software": "zˈɔftvɛːɾ", "telefon": "teːləfˈoːn", "hotel": "hoːtˈɛl", "hamburg": "hˈambʊɾk", "sabine": "zabˈiːnə"},
    **{"stadt": "ʃtˈat", "wahr": "vˈɑːɾ", "weg": "vˈeːk", "ob": "ɔp", "ab": "ap", "hin": "hɪn", "bin": "bɪn", "kann": "kan"},
    **{"muss": "mˈʊs", "soll": "zˌɔl", "will": "vɪl", "erst": "ˈeːɾst", "mond": "mˈoːnt", "montag": "mˈoːntɑːk", "pferd": "pfˈeːɾt"},
    **{"obst": "ˈoːpst", "jagd": "jˈɑːkt", "magd": "mˈɑːkt", "erde": "ˈeːɾdə", "wert": "vˈeːɾt", "herd": "hˈeːɾt", "bus": "bˈʊs"},
    **{"es-": "ɛs", "museum": "muːzˈeːʊm", "doktor": "dˈɔktoːɾ", "professor": "pɾoːfˈɛsoːɾ", "direktor": "diːrˈɛktoːɾ"},
    **{"ihren": "ˌiːrən", "ihrem": "ˌiːrəm", "keine": "kˌInə", "kein": "kIn", "keinen": "kˌInən", "dir": "diːɾ", "mir": "miːɾ"},
}
_STRESSED_PREFIX = "auf|aus|ab|an|bei|ein|mit|nach|vor|zurück|zu|um|her|hin|los|weg|fest|heraus|wieder|unter|über|voll|durch|entgegen|zusammen"
_UNSTRESSED_PREFIX = "be|ge|er|ver|zer|ent|emp"
_SUFFIX = "heit|keit|schaft|lich|los|bar|sam|haft|ung|chen|lein|nis|tum|wärts|zehn|zig|weise"
_PARTS = re.compile(
    rf"^(?:(?P<front>{_STRESSED_PREFIX})(?=(?:zu)?(?:{_UNSTRESSED_PREFIX})?[bcdfghjklmnpqrstvwzß]*[aeiouäöü].*[aeiouäöü]))?"
    rf"(?P<zu>zu(?=[a-zäöü]+en$))?(?:(?P<weak>{_UNSTRESSED_PREFIX})(?={_CONS}*{_V}{{1,2}}(?!$).*))?(?P<stem>.+)$"
)
_LOAN = re.compile(
    r"(?:tion(?:en)?|ität(?:en)?|ier(?:en|t|te|ten|ung|ungen)|ist(?:en)?|ant(?:en)?|ent(?:en)?|enz|anz|ur(?:en)?|ie|ik|"
    r"al|ell(?:e|en|er)?|iv(?:e|en|er)?|eur|age|ös(?:e|en|er)?|är|ment|graf|graph|loge|logie|thek|abel|isch)$"
)
_LOAN_STEM = re.compile(
    r"^(?:patient|student|präsident|dokument|instrument|medikament|musik|fabrik|politik|universität|qualität|funktion|"
    r"information|situation|station|nation|.*(?:tion|ität|ier(?:en|t|te|ten)|enz|eur|logie|graph|ell(?:e|en)?|thek)(?:en|s)?$|"
    r"interessant|elegant|moment|natur|kultur|literatur|normal|total|lokal|original|minut|papier|problem|system|programm|"
    r"person|kontakt|artikel|italien|polizei|bäckerei|melod|energ|industr|republik|partei|august|april|idee|armee)"
)
_COMMON_HEADS = re.compile(
    r"^(?P<first>.{3,}?(?:s|en|n)?)(?P<last>schwester|zimmer|schirm|tag|zeug|vater|mutter|qualität|fabrik|bahn|hof|haus|häuser|"
    r"meister|mittag|mittags|schmerz|schmerzen|stück|stunde|stunden|straße|arzt|ärztin|platz|schule|karte|karten|nummer|buch|bücher|zeit|"
    r"zeiten|woche|wochen|ende|jahr|jahre|jahren|gruppe|schutz|daten|stelle|stellen|raum|räume|weg|wagen|werk|wasser|land|länder|stadt|markt|"
    r"kind|kinder|frau|mann|männer|geld|amt|gericht|plan|gespräch|gespräche|versicherung|nahme|nahmen|aufnahme|aufnahmen|burg|seite|seiten|name|namen|adresse|termin)$"
)


@lru_cache(maxsize=4096)
def _word(word: str) -> str:
    letters = fold(word, ALPHABET).replace("'", "")
    if not letters:
        return ""
    return _WHOLE.get(letters) or _compound(letters)


def _compound(letters: str) -> str:
    """Cut a compound whose last part is a common noun; the first part is stressed, the last one less so."""
    match = _COMMON_HEADS.match(letters)
    if not match or not re.search(_V, match["first"]) or match["first"] in ("vor", "ver", "ent", "ges", "bes"):
        return _simple(letters)
    last = _WHOLE.get(match["last"]) or _simple(match["last"])
    return _cut(match["first"]) + last.replace("ˈ", "ˌ")


def _cut(first: str) -> str:
    if first in _WHOLE:
        whole = _WHOLE[first].replace("ˌ", "ˈ")
        return whole if "ˈ" in whole else re.sub("([aeiouɑɔɛɪʊyøœAIWY])", r"ˈ\1", whole, count=1)
    return _simple(first)


def _simple(letters: str) -> str:
    match = _PARTS.match(letters)
    assert match is not None
    front, linking, weak, stem = (match[name] or "" for name in ("front", "zu", "weak", "stem"))
    spoken = ""
    if front:
        spoken += {"zu": "ʦˈuː", "her": "hˈeːɾ", "hin": "hˈɪn", "über": "ˌyːbɜ", "unter": "ˌʊntɜ", "wieder": "vˈiːdɜ"}.get(
            front, _stem(front, "ˈ")
        )
    if linking:
        spoken += "ʦuː"
    if weak:
        spoken += {"be": "bə", "ge": "ɡə", "er": "ɛɾ", "ver": "fɛɾ", "zer": "ʦɛɾ", "ent": "ɛnt", "emp": "ɛmp"}[weak]
    return spoken + _stem(stem, "ˌ" if front and front not in ("über", "unter") else "ˈ")


def _stem(stem: str, mark: str) -> str:
    """Pronounce a stem and its native suffixes."""
    cut = re.match(rf"^(?P<body>.*{_V}.*?)(?P<suffix>(?:{_SUFFIX})+(?:e|en|er|es|em|s)?)$", stem)
    if cut and not _LOAN_STEM.match(stem):
        body = _stressed(cut["body"], mark, voiced=cut["suffix"].startswith(("ung", "ig")))
        suffix = re.sub("^z", "ʦ", _RULES.apply(cut["suffix"]))
        return body + suffix.replace("ʃt", "st") if cut["suffix"].startswith("st") else body + suffix
    return _stressed(stem, mark)


def _stressed(stem: str, mark: str, *, voiced: bool = False) -> str:
    places = [m.start() for m in re.finditer("ie|[aeoä][iuy]|aa|ee|oo|[aeiouäöüyé]", stem)]
    if not places:
        return _RULES.apply(stem)
    place = places[0]
    if _LOAN_STEM.match(stem):
        ending = re.search(r"(?:e|en|s|er|es|t|te|ten)$", stem)
        inner = [one for one in places if not ending or one < ending.start()]
        loan = re.search(r"tion|ität|ier|enz|eur|logie|ell|thek|ei$|ik|[ae]nt|ur|al$", stem)
        place = inner[-1] if inner else place
        if loan:
            place = loan.start() + (2 if loan[0] == "ität" else 3 if loan[0] == "tion" else 0)
            place = loan.start() + 2 if loan[0] == "tion" else place
        if stem.startswith(("artikel", "italien")):
            place = places[1]
    spoken = _RULES.apply(stem + "u" if voiced else stem, stressed=place, mark=mark)
    return re.sub("u?ː?$|ʊ$", "", spoken) if voiced else spoken


def _clause(_: list[str], phonemes: list[str]) -> str:
    return " ".join(phonemes)


def pronounce(text: str) -> str:
    """Pronounce German words; digits must be spelt out before.

    >>> pronounce("Die Kinder spielen im Garten.")
    'diː kˈɪndɜ ʃpˈiːlən ɪm ɡˈaɾtən.'
    """
    return pronounce_clauses(text, word=_word, clause=_clause)
