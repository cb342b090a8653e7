"""Italian pronunciation in Kokoro's symbols: letter-to-sound rules; stress by accent, by ending and by a word list.

Italian does not write stress inside words. Without an accent it is on the last syllable but one, except for the endings
and words listed here, where it is on the third from the end.
"""

from __future__ import annotations

import re
from functools import lru_cache

from personare.languages.letter_rules import LetterRules, fold, pronounce_clauses

ALPHABET = "abcdefghijklmnopqrstuvwxyzàèéìíòóùú"
_VOWEL = "[aeiouàèéìíòóùú]"
_FRONT = "[eièéìí]"
_RULES = LetterRules.of(
    ("", "'", "", ""),
    (_VOWEL, "gli", _VOWEL, "ʎ"),
    ("^|'", "gli", _VOWEL, "ʎ"),
    ("", "gli", "", "ʎi"),
    ("", "glì", "", "ʎi"),
    (_VOWEL, "gn", "", "ɲɲ"),
    ("", "gn", "", "ɲ"),
    ("", "sci", "[aouàòóù]", "ʃ"),
    ("", "scie", "", "ʃɛ"),
    ("", "sc", _FRONT, "ʃ"),
    ("", "cch", "", "kː"),
    ("", "ggh", "", "ɡː"),
    ("", "cci", "[aouàòóù]", "ʧː"),
    ("", "cc", _FRONT, "ʧː"),
    ("", "ggi", "[aouàòóù]", "ʤː"),
    ("", "gg", _FRONT, "ʤː"),
    ("", "cie", "", "ʧɛ"),
    ("", "gie", "", "ʤɛ"),
    ("", "ci", "[aouàòóù]", "ʧ"),
    ("", "gi", "[aouàòóù]", "ʤ"),
    ("", "ch", "", "k"),
    ("", "gh", "", "ɡ"),
    ("", "c", _FRONT, "ʧ"),
    ("", "g", _FRONT, "ʤ"),
    ("", "cqu", "", "kːw"),
    ("", "qu", "", "kw"),
    ("", "q", "", "k"),
    ("", "gu", _VOWEL, "ɡw"),
    *(("", 2 * a, "", b) for a, b in zip("bcdfgkpt", ("bː", "kː", "dː", "fː", "ɡː", "kː", "pː", "tː"), strict=True)),
    ("", "ss", "", "S"),
    ("", "rr", "", "rɾ"),
    ("", "zz", "", "ʦː"),
    ("^", "z", "", "ʣ"),
    ("[aeiou]", "z", "i[eo]nd|er[oaie]$", "ʣ"),
    ("", "z", "", "ʦ"),
    (_VOWEL, "s", _VOWEL, "z"),
    ("", "s", "[bdglmnrv]", "z"),
    ("", "c", "", "k"),
    ("", "g", "", "ɡ"),
    ("", "h", "", ""),
    ("", "j", "", "j"),
    ("", "x", "", "ks"),
    ("", "y", "", "i"),
    ("", "w", "", "w"),
    ("", "n", "[cg](?![eièéìí])|q", "ŋ"),
    ("^[mspv]|^st", "i", "[aoe]$", "i"),
    ("^[dst]", "u", "[aoe]$", "u"),
    ("", "i", "[aeoàèéòóuùú]", "j"),
    ("", "u", "[oòó]", "w"),
    ("", "u", "[aeiàèéìí]", "w"),
    *(("", a, "", b) for a, b in zip("àèéìíòóùú", "aɛeiiɔouu", strict=True)),
    *(("", letter, "", letter) for letter in "abdefiklmnoprstuv"),
)
_UNSTRESSED = frozenset(
    """a ad ai agli al all alle alla allo che chi ci coi col come con cui da dagli dai dal dall dalla dalle dallo de
    dei degli del dell della delle dello di dov e è ed gli ha ho i il in io l la le li lo ma mi ne negli nei nel
    nell nella nelle nello non o per quel quell quest questa queste questi questo se si sia siamo sono su sugli sui
    sul sull sulla sulle sullo hanno abbiamo era una uno quella quelle quello ti tra fra un vi mia mio mie miei sua
    suo sue suoi tua tuo più""".split()
)
_SECONDARY = frozenset(
    """agli alle alla allo degli della delle dello dagli dalla dalle dallo negli nella nelle nello sugli sulla sulle
    sullo questa queste questi questo siamo sono mia mio mie miei sua suo sue suoi tua tuo come hanno abbiamo era
    una uno sia quella quelle quello""".split()
)
# endings with the stress on the third syllable from the end
_SLIDING = re.compile(
    r"""(?:issim[oaie]|[aeiu]bil[ei]|evol[ei]|log[oa]|loghi|graf[oaie]|metr[oi]|ology|[ao]tic[oa]|[aeio]tic[iae]|atiche|
    [lmnrtd]ic[oaie]|[lmnrtd]ich[ei]|fic[oaie]|stic[oaie]|stich[ei]|gic[oaie]|gich[ei]|sic[oai]|odo|odi|udin[ei]|agin[ei]|igin[ei]|
    aggin[ei]|ettan[oa]|ol[aoei]rono|[aei]rono|[aei]vano|[aei]ssero|ebbero|[aei]ndolo|[aei]ndosi|arsi[mt]o|ul[oaie]|ifficil[ei]|
    [cg]ol[oaie]|ticol[oaie]|ev[oi]le|aneo|anea|anei|uolo|esim[oaie]|erl[oaie]mi|cin[oa]no|(?:nd|gg|tt|nc|lg|ng|rr)er(?:ci|lo|la|li|le|mi|ti|si|vi))$""",
    re.VERBOSE,
)
_PLAIN = re.compile(
    r"(?:(?:am|ant|nem|fat|mend|pud|lomb|antip|ombel|rubr|vesc|form)ic(?:[oaie]|h[ei])|ind[iì]c[oaie]|dic[oaie]|"
    r"fuc[oaie]|farfall[ae]|uol[oaie]|modo|modi|chiodo|chiodi|nodo|nodi|odo|sul[oaie]|mul[oaie]|sol[oaie]|gol[ae]|fil[oaie]|"
    r"(?<!ti)vol[oaie]|\bcol[ao]|scuol[ae]|piccino|cicogna|parol[ae]|spagnol[oaie]|regol[aio]re|are|ere|ire|grado|aprir[ei])$"
)
_THIRD = frozenset(
    """abita abitano abito albero alberi angelo angolo angoli anima animo arrivano asino attimo autobus bevono
    cantano camera camere carica celebre cellula chiedere chilometro chiudere compito compiti conoscere correre
    correggere corrispondere costano crescere credere cucinano debito decidere deboli debole dimenticano discutere
    dividere dodici edera esercito essere facile facili fabbrica fabbriche favola femmina fegato figurano funzionano
    genere genero generi giocano giovane giovani giudice giudici grandine iniziano incendere isola isole lampada
    lasciano lavorano leggere legano lettera lettere limite limiti macchina macchine mandano mangiano massimo medico
    mettere minimo minuscolo mobile mobili monaco movere muovere musica nascere nascondere numero numeri nuvola
    nuvole offrono opera opere ordine ordini origine ospite ospiti pagina pagine parlano partono passano pensano
    pentola perdere pericolo pesano piangere piovere popolo portano povero poveri prendere prendono principe
    proteggere prossimo prossima psicologo quindici raccogliere regola regole rendere rispondere ripetere ridere
    rompere sabato scegliere scendere scrivere sedici semplice semplici secolo sembrano simile simili sindaco
    sindaci sentono spendere spegnere stomaco studiano suonano tavola tavolo tavoli tecnica telefono telefona
    termine titolo tornano tredici ultimo ultima umido undici uomini utile utili vendere vengono vincere vivere
    vivono vogliono volgere zucchero debbono devono possono dicono leggono scrivono mettono chiedono credono
    rimangono salgono tengono dodicesimo crimine nomina chiamano trovano guardano aiutano aspettano diventano usano
    domenica camice codice codici indice pratica pratico zingaro bibita briciola candida clinica farmaco farmaci
    metodo metodi periodo liquido solido stupido rapido timido vedono credito merito napoli genova brindisi taranto
    bergamo padova""".split()
)
_OPEN_E = re.compile(
    r"ˈe(?=ll|nza|nt[e]$|st[aeior]|rn|rs|rt|tːr|mpr|bːr|nd|ʎ)|(?<=j)ˈe|(?<=^[dkrbt])ˈe(?=v)|(?<=r)ˈe(?=[dn]o$)"
)
_OPEN_O = re.compile(r"(?<=w)ˈo|ˈo(?=rt|st|rn|ʎ|kː|pːo|tːe|v[eao]$|za$|nno|po$|ro$)|(?<=^s)ˈo$")
_I_STRESSED = re.compile("(?:ia|ie|io)$")
_WORDS_IN_IA = re.compile(
    r"(?:[lmnr]og|ograf|omi|energ|allerg|pol[ii]z|farmac|polit|compagn|burocraz|democraz|malatt|fantas|bug|teor|batter|lotter|librer|trattor|pizzer|gioieller)i[ae]$|^(?:mar|per|foll)i[ae]$"
)

_SHORT_IA = re.compile("^(?:(?:m|p|s|st|v|z)i|[dst]u)[aoe]$")


@lru_cache(maxsize=4096)
def _word(word: str) -> str:
    letters = fold(word, ALPHABET)
    parts = [part for part in letters.split("'") if part]
    if not parts:
        return ""
    if letters == "è":
        return "e"
    return "".join(_part(part, elided=place < len(parts) - 1) for place, part in enumerate(parts))


def _part(part: str, *, elided: bool) -> str:
    if elided and part == "c":
        return "ʧ"
    if _WORDS_IN_IA.search(part):
        part = part[:-2] + "í" + part[-1]
    nuclei = _nuclei(part)
    if not nuclei or elided or (part in _UNSTRESSED and part not in _SECONDARY):
        return _reduced(_RULES.apply(part))
    stressed = _stressed(part, nuclei)
    mark = "ˌ" if part in _SECONDARY else "ˈ"
    spoken = _RULES.apply(part, stressed=stressed, mark=mark)
    if len(nuclei) > 2 and stressed == nuclei[-3]:
        spoken = spoken.replace("ˈe", "ˈɛ").replace("ˈo", "ˈɔ")
    return _reduced(_OPEN_O.sub("ˈɔ", _OPEN_E.sub("ˈɛ", spoken)))


def _reduced(spoken: str) -> str:
    """Write unstressed u and final i as espeak-ng does."""
    return re.sub("(?<=[^ˈˌ])i$", "ɪ", re.sub("(?<![ˈˌ])u", "ʊ", spoken))


def _nuclei(part: str) -> list[int]:
    """Give the position of the main vowel of each syllable; falling diphthongs count once."""
    places = []
    silent = re.sub("(?<=[qg])u(?=[aeioàèéìíòóù])", "_", part)
    silent = re.sub("(?<=[cg])i(?=[aouàòóù])", "_", silent)
    silent = re.sub("(?<=gl)i(?=[aeouàèéòóù])", "_", silent)
    if _WORDS_IN_IA.search(part) or _SHORT_IA.search(part):
        silent = silent[:-2] + "í" + silent[-1]
    for match in re.finditer("[iu]?[aeoàèéòóìíùú](?:[iu](?![aeoàèéòó]))?|i(?=u)u|[iu]", silent):
        strong = re.search("[aeoàèéòóìíùú]", match[0])
        places.append(match.start() + (strong.start() if strong else len(match[0]) - 1))
    return places


def _stressed(part: str, nuclei: list[int]) -> int:
    for place in nuclei:
        if part[place] in "àèéìíòóùú":
            return place
    if _WORDS_IN_IA.search(part) or _SHORT_IA.search(part):
        return len(part) - 2
    third = part in _THIRD or (_SLIDING.search(part) and not _PLAIN.search(part))
    if len(nuclei) > 2 and third:
        return nuclei[-3]
    if len(nuclei) > 1 and part[-1] in "aeiouns" and not re.search("rrei$", part):
        return nuclei[-2]
    return nuclei[-1]


def _clause(_: list[str], phonemes: list[str]) -> str:
    return " ".join(phonemes)


def pronounce(text: str) -> str:
    """Pronounce Italian words; digits must be spelt out before.

    >>> pronounce("Il medico arriva domani.")
    'il mˈɛdiko arɾˈiva domˈanɪ.'
    """
    return pronounce_clauses(text, word=_word, clause=_clause)
