"""German pronunciation in Kokoro's symbols: letter-to-sound rules, prefixes, compounds, stress.

A word is cut into its parts first (``auf-be-wahren``, ``Möbel-fabrik``), because vowel length, the hardening of b, d, g
and s, and stress depend on them. Native words are stressed on the first syllable of the stem, loans by their ending.
"""

from __future__ import annotations

import re
from functools import lru_cache

from personare.languages.letter_rules import LetterRules, fold, pronounce_clauses, with_stress

ALPHABET = "abcdefghijklmnopqrstuvwxyzäöüßé"
_V = "[aeiouäöüyé]"
_CONS = "[bcdfghjklmnpqrstvwxzß]"
_AFTER = "(?:[aeioäöüyé]|(?<!q)u).*"  # a syllable comes before
# after a vowel: one consonant and a vowel, or the end, makes it long
_OPEN = (
    f"(?={_CONS}(?:[aeiouäöüy])|(?:[bdfgkpt][lr]|[bdg]n)[aeiouäöüy]|[ßhr]?$|ß|[bdg](?:$|s?t$|t[ae]|s$|st)"
    "|[lmnrgdtsf]$|qu|th[aeiou])"
)
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
    ("^(?:b|s|t|kl|fl|verf|ged)", "u", "ch", "uː"),
    ("^h", "o", "ch(?!z)|h", "oː"),
    ("^sp", "a", "ch", "ɑː"),
    *(("", letter, "ch", sound) for letter, sound in zip("aiouäöü", "aɪɔʊɛœy", strict=True)),
    ("[^aeiouäöü]", "i", "g(?:$|e|s|t|k)", "ɪ"),
    (_AFTER, "innen", "$", "ɪnən"),
    (_AFTER, "in", "$", "ɪn"),
    ("n", "ieur", "", "jøːɾ"),
    *(("", letter, _OPEN, sound + "ː") for letter, sound in zip("aioäöüuy", "ɑioɛøyuy", strict=True)),
    *(("", letter, "", sound) for letter, sound in zip("aioäöüuy", "aɪɔɛœyʊy", strict=True)),
    # e: schwa after the stem's vowel, unless stressed
    (_AFTER, "er", "(?:n|s|st|t|nd|nde[rnsm]?|te[rnsm]?)?$", "ɜ"),
    (_AFTER, "er", "(?=[bdfgklmnpstvwz])", "ɜ"),
    (
        _AFTER,
        "e",
        "(?:[lmnstr]|ln|st|nd|nde[rnsm]?|ns|ls|ts|te|ten|tes?t|lte|lten|nt|nte[rnsm]?|rs|st[a-z]?|m)?$",
        "ə",
    ),
    (_AFTER, "e", "(?:n[dtsk]|[nlr][aeiu]|[lnr]ung|lich|[ln]t?|r)", "ə"),
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
    (_V, "h", "(?=[eiou])", ""),
    ("[aeä][iu]", "h", _CONS, ""),
    ("", "h", "", "h"),
    ("", "j", "", "j"),
    ("^|[fh]|[aeiouäöüy]h?", "r", "(?=[aeiouäöüy])", "r"),
    ("", "r", "", "ɾ"),
    ("", "q", "", "k"),
    *(("", letter, "", letter) for letter in "bdfklmnpt"),
)
_WHOLE = {
    **{
        "der": "dɛɾ",
        "die": "diː",
        "das": "das",
        "den": "deːn",
        "dem": "deːm",
        "des": "dɛs",
        "ein": "In",
        "eine": "ˌInə",
    },
    **{"einen": "ˌInən", "einem": "ˌInəm", "einer": "ˌInɜ", "eines": "ˌInəs", "ich": "ɪç", "du": "duː", "er": "ɛɾ"},
    **{
        "sie": "ziː",
        "es": "ɛs",
        "wir": "viːɾ",
        "ihr": "iːɾ",
        "ihre": "ˌiːrə",
        "mein": "mIn",
        "meine": "mˌInə",
        "meines": "mˌInəs",
    },
    **{"und": "ʊnt", "oder": "ˌoːdɜ", "aber": "ˌɑːbɜ", "in": "ɪn", "im": "ɪm", "an": "an", "am": "am", "auf": "Wf"},
    **{
        "mit": "mɪt",
        "von": "fɔn",
        "vom": "fɔm",
        "vor": "fˌoːɾ",
        "für": "fyːɾ",
        "zu": "ʦuː",
        "zum": "ʦʊm",
        "zur": "ʦʊɾ",
    },
    **{
        "bei": "bI",
        "beim": "bIm",
        "nach": "nɑːx",
        "aus": "Ws",
        "um": "ʊm",
        "bis": "bɪs",
        "seit": "zIt",
        "durch": "dʊɾç",
    },
    **{"ist": "ɪst", "sind": "zɪnt", "war": "vɑːɾ", "hat": "hat", "habe": "hɑːbə", "haben": "hɑːbən", "hatte": "hˌatə"},
    **{
        "nicht": "nˈɪçt",
        "noch": "nɔx",
        "was": "vˈas",
        "wo": "vˌoː",
        "wer": "vˈeːɾ",
        "wie": "viː",
        "als": "als",
        "so": "zoː",
    },
    **{
        "wenn": "vɛn",
        "dass": "das",
        "man": "man",
        "sich": "zɪç",
        "mich": "mɪç",
        "dich": "dɪç",
        "uns": "ʊns",
        "auch": "Wx",
    },
    **{
        "wird": "vˌɪɾt",
        "werde": "vˈeːɾdə",
        "werden": "vˈeːɾdən",
        "diese": "dˌiːzə",
        "dieses": "dˌiːzəs",
        "diesen": "dˌiːzən",
    },
    **{
        "dieser": "dˌiːzɜ",
        "unser": "ˌʊnzɜ",
        "unsere": "ˌʊnzərə",
        "unserer": "ˌʊnzərɜ",
        "über": "ˌyːbɜ",
        "unter": "ˌʊntɜ",
    },
    **{
        "arzt": "ˈaɾʦt",
        "termin": "tɛɾmˈiːn",
        "wieder": "vˈiːdɜ",
        "etwas": "ˈɛtvɑːs",
        "buch": "bˈuːx",
        "bücher": "bˈyːçɜ",
    },
    **{
        "nächsten": "nˈɛːçstən",
        "nächste": "nˈɛːçstə",
        "kaffee": "kˈafeː",
        "restaurant": "rɛstorˈɑ̃ː",
        "büro": "byːrˈoː",
    },
    **{
        "viel": "fˈiːl",
        "vielleicht": "fɪlˈIçt",
        "deshalb": "dɛshˈalp",
        "zurück": "ʦuːrˈyk",
        "firma": "fˈɪɾmɑː",
        "euro": "ˈɔøroː",
    },
    **{"orange": "orˈɑ̃ːʒə", "orangen": "orˈɑ̃ːʒən", "mal": "mˈɑːl", "schon": "ʃoːn", "pinguin": "pˈɪŋɡuːˌiːn"},
    **{"chemie": "çeːmˈiː", "april": "aprˈɪl", "august": "Wɡˈʊst", "dezember": "deːʦˈɛmbɜ", "november": "noːvˈɛmbɜ"},
    **{"september": "zɛptˈɛmbɜ", "oktober": "ɔktˈoːbɜ", "juni": "jˈuːniː", "juli": "jˈuːliː", "computer": "kɔmpjˈuːtɜ"},
    **{
        "berlin": "bɛɾlˈiːn",
        "familie": "famˈiːlɪə",
        "zwei": "ʦvˈI",
        "drei": "dɾˈI",
        "jetzt": "jˈɛʦt",
        "sehr": "zˈeːɾ",
        "hier": "hˈiːɾ",
    },
    **{
        "software": "zˈɔftvɛːɾ",
        "telefon": "teːləfˈoːn",
        "hotel": "hoːtˈɛl",
        "hamburg": "hˈambʊɾk",
        "sabine": "zabˈiːnə",
    },
    **{
        "cent": "sˈɛnt",
        "hochzeit": "hˈɔxʦIt",
        "mittag": "mˈɪtɑːk",
        "mittagessen": "mˈɪtɑːkˌɛsən",
        "münchen": "mˈynçən",
        "husten": "hˈuːstən",
        "datei": "dɑːtˈI",
        "nachbar": "nˈaxbɑːɾ",
        "medizin": "meːdiːʦˈiːn",
        "server": "zˈœɾvɜ",
        "benzin": "bɛnʦˈiːn",
        "ingenieur": "ɪnʒənjˈøːɾ",
        "stadt": "ʃtˈat",
        "wahr": "vˈɑːɾ",
        "weg": "vˈeːk",
        "ob": "ɔp",
        "ab": "ap",
        "hin": "hɪn",
        "bin": "bɪn",
        "kann": "kan",
    },
    **{
        "muss": "mˈʊs",
        "soll": "zˌɔl",
        "will": "vɪl",
        "erst": "ˈeːɾst",
        "mond": "mˈoːnt",
        "montag": "mˈoːntɑːk",
        "pferd": "pfˈeːɾt",
    },
    **{
        "obst": "ˈoːpst",
        "jagd": "jˈɑːkt",
        "magd": "mˈɑːkt",
        "erde": "ˈeːɾdə",
        "wert": "vˈeːɾt",
        "herd": "hˈeːɾt",
        "bus": "bˈʊs",
    },
    **{"museum": "muːzˈeːʊm", "doktor": "dˈɔktoːɾ", "professor": "pɾoːfˈɛsoːɾ", "direktor": "diːrˈɛktoːɾ"},
    **{
        "ihren": "ˌiːrən",
        "ihrem": "ˌiːrəm",
        "keine": "kˌInə",
        "kein": "kIn",
        "keinen": "kˌInən",
        "dir": "diːɾ",
        "mir": "miːɾ",
    },
}
_STRESSED_PREFIX = (
    "herein|heraus|herunter|hinaus|hinein|auf|aus|ab|an|bei|ein|mit|nach|vor|zurück|zusammen|zu|um|her|hin|"
    "los|weg|fest|wieder|unter|über|durch|entgegen"
)
_UNSTRESSED_PREFIX = "be|ge|er|ver|zer|ent|emp"
_ONSET = (
    "(?:[bcdfghjklmnpqrtvwz]|[bfgkp]l|[bdfgkpt]r|[gk]n|qu|zw|pf|pfl|sch[lmnrw]?|st|str|sp|spr|spl|s(?=[aeiouäöü]))?"
)
_NO_PREFIX = re.compile(
    r"(?:bei(?!r|nh)|berg|best(?:e|en|er|es)$|bes(?:en|ser)|bet(?:en|t)|becher|bel?len|gest(?:ern|e|en)$|gern|gel[bdt]|gegen|geh(?:e|en|st|t|end)$|geb(?:en|e|t)?$|"
    r"gei|gen(?:au)?(?:$|f)|ger(?:ade)|erd|ern|erst|erb|ente|enk|end|eng|vers(?:e|en)?$|bein|beere|becken|geo)"
)
_FRONT_SOUNDS = {
    **{"zu": "ʦˈuː", "her": "hˈeːɾ", "hin": "hˈɪn", "über": "ˌyːbɜ", "unter": "ˌʊntɜ", "wieder": "vˈiːdɜ", "an": "ˈan"},
    **{
        "ab": "ˈap",
        "um": "ˈʊm",
        "mit": "mˈɪt",
        "weg": "vˈɛk",
        "heraus": "hɛrˈWs",
        "herein": "hɛrˈIn",
        "hinaus": "hɪnˈWs",
    },
    **{"hinein": "hɪnˈIn", "herunter": "hɛrˈʊntɜ", "zurück": "ʦuːrˈyk", "zusammen": "ʦuːzˈamən", "nach": "nˈɑːx"},
}
_SUFFIX = "heit|keit|schaft|lich|los|bar|sam|haft|ung|(?<=[dlmnst])chen|lein|nis|tum|wärts|zehn|zig|weise"
_SUFFIX_SOUNDS = {
    **{"heit": "hIt", "keit": "kIt", "schaft": "ʃaft", "lich": "lɪç", "los": "loːs", "bar": "bɑːɾ", "sam": "zɑːm"},
    **{"haft": "haft", "ung": "ʊŋ", "chen": "çən", "lein": "lIn", "nis": "nɪs", "tum": "tuːm", "wärts": "vɛɾʦ"},
    **{"zehn": "ʦeːn", "zig": "ʦɪç", "weise": "vIzə"},
}
_NUMBER_SOUNDS = {
    **{
        "null": "nʊl",
        "eins": "Ins",
        "ein": "In",
        "zwei": "ʦvI",
        "drei": "dɾI",
        "vier": "fiːɾ",
        "fünf": "fynf",
        "sechs": "zɛks",
    },
    **{
        "sieben": "ziːbən",
        "acht": "axt",
        "neun": "nɔøn",
        "zehn": "ʦeːn",
        "elf": "ɛlf",
        "zwölf": "ʦvœlf",
        "sechzehn": "zɛçʦeːn",
    },
    **{"siebzehn": "ziːpʦeːn", "vierzehn": "fɪɾʦeːn", "zwanzig": "ʦvanʦɪç", "dreißig": "dɾIsɪç", "vierzig": "fɪɾʦɪç"},
    **{"fünfzig": "fynfʦɪç", "sechzig": "zɛçʦɪç", "siebzig": "ziːpʦɪç", "achtzig": "axʦɪç", "neunzig": "nɔønʦɪç"},
    **{"hundert": "hʊndɜt", "tausend": "tWzənt", "und": "ʊnt", "ste": "stə", "sten": "stən", "ster": "stɜ", "te": "tə"},
    **{"ten": "tən", "ter": "tɜ", "dritte": "dɾɪtə", "dritten": "dɾɪtən", "erste": "eːɾstə", "ersten": "eːɾstən"},
}
_NUMERAL = "|".join(sorted(_NUMBER_SOUNDS, key=len, reverse=True))
_PARTS = re.compile(
    rf"^(?:(?P<front>{_STRESSED_PREFIX})(?=(?:zu)?(?:{_UNSTRESSED_PREFIX})?[bcdfghjklmnpqrstvwzß]*[aeiouäöü].*[aeiouäöü]))?"
    rf"(?P<zu>zu(?=[a-zäöü]+en$))?(?:(?P<weak>{_UNSTRESSED_PREFIX})(?={_ONSET}{_V}{{1,2}}(?!$).*))?(?P<stem>.+)$"
)
_LOAN_STEM = re.compile(
    r"^(?:patient|student|präsident|dokument|instrument|medikament|musik|fabrik|politik|universität|qualität|funktion|"
    r"information|situation|station|nation|.*(?:tion|ität|ier(?:en|t|te|ten)|enz|eur|logie|graph|ell(?:e|en)?|thek|[aeiou].*[^z]ei|[aeio].*isch|alist(?:in|en|innen)?|loge?(?:n|in|innen)?)(?:en|e|er|es|em|s)?$|apothek|"
    r"interessant|elegant|moment|natur|kultur|literatur|normal|total|lokal|original|minut|papier|problem|system|programm|"
    r"person|persön|protokoll|tablett|adress|regier|kontakt|artikel|italien|polizei|bäckerei|melod|energ|industr|republik|partei|august|april|idee|armee)"
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
    if letters not in _WHOLE and re.fullmatch(f"(?:{_NUMERAL})+", letters):
        return _number(letters)
    return _WHOLE.get(letters) or _compound(letters)


def _number(letters: str) -> str:
    """Pronounce a number written as one word: its last part is stressed, the others less so."""
    parts = re.findall(_NUMERAL, letters)
    main = max(place for place, part in enumerate(parts) if place == 0 or part[0] not in "su" or len(part) > 4)
    return "".join(
        _NUMBER_SOUNDS[part]
        if part[:2] in ("un", "st", "te") and place
        else with_stress(_NUMBER_SOUNDS[part], "ˈ" if place == main else "ˌ", last=False)
        for place, part in enumerate(parts)
    )


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
    if match is None or _NO_PREFIX.match(letters):
        return _stem(letters, "ˈ")
    front, linking, weak, stem = (match[name] or "" for name in ("front", "zu", "weak", "stem"))
    spoken = ""
    if front:
        spoken += _FRONT_SOUNDS.get(front) or _stem(front, "ˈ")
    if linking:
        spoken += "ʦuː"
    if weak:
        spoken += {"be": "bə", "ge": "ɡə", "er": "ɛɾ", "ver": "fɛɾ", "zer": "ʦɛɾ", "ent": "ɛnt", "emp": "ɛmp"}[weak]
    return spoken + _stem(stem, "ˌ" if front and front not in ("über", "unter") else "ˈ")


def _stem(stem: str, mark: str) -> str:
    """Pronounce a stem and its native suffixes."""
    cut = re.match(rf"^(?P<body>.*?{_V}.*?)(?P<suffix>(?:{_SUFFIX})+(?:e|en|er|es|em|s)?)$", stem)
    if cut and not _LOAN_STEM.match(stem):
        body = _stressed(cut["body"], mark, voiced=cut["suffix"].startswith(("ung", "ig")))
        return body + _suffixes(cut["suffix"])
    return _stressed(stem, mark)


def _suffixes(letters: str) -> str:
    """Pronounce native suffixes and the inflection after them."""
    spoken = ""
    for suffix in re.findall(_SUFFIX.replace("(?<=[dlmnst])", ""), letters):
        spoken += _SUFFIX_SOUNDS[suffix]
        letters = letters[len(suffix) :]
    if letters and suffix == "los" and letters[0] == "e":
        spoken = spoken[:-1] + "z"
    return spoken + {"": "", "e": "ə", "en": "ən", "er": "ɜ", "es": "əs", "em": "əm", "s": "s"}[letters]


def _stressed(stem: str, mark: str, *, voiced: bool = False) -> str:
    places = [m.start() for m in re.finditer("ie|[aeoä][iuy]|aa|ee|oo|(?<!q)u|[aeioäöüyé]", stem)]
    if not places:
        return _RULES.apply(stem)
    place = places[0]
    if _LOAN_STEM.match(stem):
        ending = re.search(r"(?:e|en|s|er|es|t|te|ten)$", stem)
        inner = [one for one in places if not ending or one < ending.start()]
        endings = list(
            re.finditer(
                r"tion|ität|ier|enz|eur|logie|ell|thek|ei(?:en)?$|ik|[ae]nt|ur|al$|ist|log|[aeiouäöü](?=[^aeiouäöü]*isch)",
                stem,
            )
        )
        loan = endings[-1] if endings else None
        place = inner[-1] if inner else place
        if loan:
            place = loan.start() + {"ität": 2, "tion": 2, "logie": 3, "thek": 2, "log": 1}.get(loan[0], 0)
        if stem.startswith(("artikel", "italien", "regier", "persön")):
            place = places[1]
    spoken = _RULES.apply(stem + "u" if voiced else stem, stressed=place, mark=mark)
    spoken = spoken.replace(f"{mark}ə", f"{mark}ɛ").replace(f"{mark}ɜ", f"{mark}ɛɾ")
    return re.sub("(?:uː|ʊ)$", "", spoken) if voiced else spoken


def _clause(_: list[str], phonemes: list[str]) -> str:
    return " ".join(phonemes)


def pronounce(text: str) -> str:
    """Pronounce German words; digits must be spelt out before.

    >>> pronounce("Die Kinder spielen im Garten.")
    'diː kˈɪndɜ ʃpˈiːlən ɪm ɡˈaɾtən.'
    """
    return pronounce_clauses(text, word=_word, clause=_clause)
