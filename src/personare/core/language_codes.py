"""Language codes (ISO 639): the many ways corpora and people write a language, brought to one code.

``de``, ``de-DE``, ``deu``, ``ger`` and ``German`` are all ``de``. A corpus may hold any language, so that other codes
of two or three letters are kept as they are; ``--language`` takes those of ``NAMES``, which recognizers know.
"""

from __future__ import annotations

import difflib
import re

from personare.core.errors import UnknownNameError

AUTO = "auto"
"""Identify the language instead of stating it."""
_NAMES = """
af Afrikaans, am Amharic, ar Arabic, as Assamese, az Azerbaijani, ba Bashkir, be Belarusian, bg Bulgarian, bn Bengali,
bo Tibetan, br Breton, bs Bosnian, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el Greek, en English,
es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fo Faroese, fr French, gl Galician, gu Gujarati, ha Hausa,
haw Hawaiian, he Hebrew, hi Hindi, hr Croatian, ht Haitian Creole, hu Hungarian, hy Armenian, id Indonesian,
is Icelandic, it Italian, ja Japanese, jw Javanese, ka Georgian, kk Kazakh, km Khmer, kn Kannada, ko Korean, la Latin,
lb Luxembourgish, ln Lingala, lo Lao, lt Lithuanian, lv Latvian, mg Malagasy, mi Maori, mk Macedonian, ml Malayalam,
mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, ne Nepali, nl Dutch, nn Nynorsk, no Norwegian, oc Occitan,
pa Punjabi, pl Polish, ps Pashto, pt Portuguese, ro Romanian, ru Russian, sa Sanskrit, sd Sindhi, si Sinhala, sk Slovak,
sl Slovenian, sn Shona, so Somali, sq Albanian, sr Serbian, su Sundanese, sv Swedish, sw Swahili, ta Tamil, te Telugu,
tg Tajik, th Thai, tk Turkmen, tl Tagalog, tr Turkish, tt Tatar, uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese,
yi Yiddish, yo Yoruba, zh Chinese
"""
NAMES: dict[str, str] = {
    code: name for code, _, name in (entry.strip().partition(" ") for entry in _NAMES.replace("\n", " ").split(","))
}
# other codes (ISO 639-2, 639-3, older ones) and names, in lower case
_SAME = """
eng=en deu=de ger=de fra=fr fre=fr spa=es castilian=es castellano=es español=es ita=it italiano=it por=pt português=pt
deutsch=de français=fr nld=nl dut=nl flemish=nl pol=pl ces=cs cze=cs ukr=uk rus=ru ron=ro rum=ro moldavian=ro tur=tr
swe=sv dan=da fin=fi nor=no nob=no nb=no nno=nn hun=hu ell=el gre=el ara=ar heb=he iw=he hin=hi jpn=ja kor=ko zho=zh
chi=zh cmn=zh mandarin=zh cat=ca eus=eu baq=eu glg=gl bul=bg hrv=hr srp=sr slk=sk slo=sk slv=sl lit=lt lav=lv est=et
isl=is ice=is gle=ga cym=cy wel=cy fas=fa per=fa farsi=fa urd=ur ben=bn tam=ta tel=te mal=ml kan=kn mar=mr guj=gu
pan=pa vie=vi tha=th ind=id in=id msa=ms may=ms tgl=tl fil=tl swa=sw afr=af sqi=sq alb=sq hye=hy arm=hy kat=ka geo=ka
kaz=kk uzb=uz aze=az mkd=mk mac=mk mlt=mt jv=jw jav=jw mya=my bur=my
"""
_SPELLINGS = {
    **{name.lower(): code for code, name in NAMES.items()},
    **dict(entry.split("=") for entry in _SAME.split()),
}
# said to be unknown: no note needed
_BLANK = frozenset(
    {"", "und", "unk", "unknown", "none", "null", "na", "n/a", "nan", "-", "?", "mul", "mis", "zxx", AUTO}
)
_CODE = re.compile(r"[a-z]{2,3}")


def is_blank(written: str) -> bool:
    """Whether a text says that the language is not known.

    >>> is_blank(" und "), is_blank("de")
    (True, False)
    """
    return written.strip().lower() in _BLANK


def language_code(written: str) -> str | None:
    """Give the code of a language, however it is written; None where the text is no language.

    >>> [language_code(text) for text in ("de", "de_DE", "deu", "German", "pt-BR", "nds", "Germn")]
    ['de', 'de', 'de', 'de', 'pt', 'nds', None]
    """
    plain = written.strip().lower()
    if plain in _SPELLINGS:
        return _SPELLINGS[plain]
    base = re.split(r"[-_]", plain, maxsplit=1)[0]
    if base in _SPELLINGS:
        return _SPELLINGS[base]
    return base if _CODE.fullmatch(base) and base not in _BLANK else None


def checked_language(written: str, *, where: str = "--language") -> str:
    """Give the code that somebody typed, or ``auto``; a language nobody knows is an error with a suggestion.

    >>> checked_language("German"), checked_language("auto")
    ('de', 'auto')
    """
    if written.strip().lower() == AUTO:
        return AUTO
    code = language_code(written)
    if code is None or code not in NAMES:
        near = difflib.get_close_matches(written.strip().lower(), [*_SPELLINGS, *NAMES], n=1, cutoff=0.6)
        nearest = _SPELLINGS.get(near[0], near[0]) if near else ""
        hint = f"did you mean '{nearest}' ({NAMES[nearest]})? " if nearest in NAMES else ""
        rule = f"{'Write' if hint else 'write'} a code such as de, or auto"
        listed = "personare languages lists those that can be spoken"
        raise UnknownNameError(f"{where}: no language '{written}'; {hint}{rule}; {listed}")
    return code


def language_title(code: str) -> str:
    """Write a language for people.

    >>> language_title("de"), language_title("nds")
    ('German (de)', 'nds')
    """
    return f"{NAMES[code]} ({code})" if code in NAMES else code
