"""British spellings written the American way, so that a recognizer is not blamed for its spelling school.

Only differences that cannot be heard are mapped: "towards" and "toward" stay two words.
"""

from __future__ import annotations

import re
from functools import lru_cache

_OUR = (
    "arbour|ardour|armour|behaviour|candour|clamour|colour|demeanour|dishonour|endeavour|favour|fervour|flavour|"
    "harbour|honour|humour|labour|misdemeanour|neighbour|odour|parlour|rancour|rigour|rumour|saviour|savour|"
    "splendour|succour|tumour|valour|vapour|vigour"
)
_ISE = (
    "agonis|apologis|authoris|baptis|brutalis|capitalis|categoris|characteris|civilis|colonis|criticis|crystallis|"
    "dramatis|economis|emphasis|equalis|familiaris|fertilis|finalis|generalis|harmonis|hypnotis|idealis|"
    "immortalis|individualis|industrialis|legalis|localis|materialis|maximis|memoris|minimis|mobilis|modernis|"
    "monopolis|moralis|nationalis|naturalis|neutralis|normalis|organis|paralys|patronis|penalis|pulveris|"
    "rationalis|realis|recognis|reorganis|revolutionis|satiris|scandalis|scrutinis|sensitis|socialis|specialis|"
    "stabilis|standardis|sterilis|summaris|symbolis|sympathis|systematis|tantalis|terroris|theoris|tranquillis|"
    "tyrannis|utilis|vandalis|victimis|visualis|vocalis|analys|catalys|dialys"
)
_RE = (
    "calibre|centre|epicentre|fibre|goitre|litre|lustre|meagre|metre|centimetre|kilometre|millimetre|sabre|"
    "sceptre|sepulchre|sombre|spectre|theatre|amphitheatre"
)
_DOUBLED = (
    "apparell|barrell|bevell|cancell|channell|chisell|counsell|cudgell|dishevell|drivell|duell|enamell|equall|"
    "fuell|funnell|gravell|grovell|imperill|initiall|jewell|kennell|labell|levell|libell|marshall|marvell|medall|"
    "modell|panell|parcell|pedall|pencill|pummell|quarrell|ravell|revell|rivall|shovell|shrivell|signall|snivell|"
    "spirall|squirrell|stencill|swivell|tassell|totall|towell|trammell|travell|tunnell|unravell|yodell"
)
_WORDS = {
    "acknowledgement": "acknowledgment",
    "aeroplane": "airplane",
    "ageing": "aging",
    "alright": "all right",
    "aluminium": "aluminum",
    "anaemia": "anemia",
    "anaesthetic": "anesthetic",
    "carcase": "carcass",
    "cheque": "check",
    "cheques": "checks",
    "connexion": "connection",
    "cosy": "cozy",
    "defence": "defense",
    "defences": "defenses",
    "defenceless": "defenseless",
    "draught": "draft",
    "draughts": "drafts",
    "encyclopaedia": "encyclopedia",
    "enquire": "inquire",
    "enquired": "inquired",
    "enquiries": "inquiries",
    "enquiring": "inquiring",
    "enquiry": "inquiry",
    "enrol": "enroll",
    "enthral": "enthrall",
    "faeces": "feces",
    "fulfil": "fulfill",
    "fulfils": "fulfills",
    "fulfilment": "fulfillment",
    "gaol": "jail",
    "gaoler": "jailer",
    "grey": "gray",
    "greyer": "grayer",
    "greyish": "grayish",
    "greys": "grays",
    "instal": "install",
    "instalment": "installment",
    "jewellery": "jewelry",
    "judgement": "judgment",
    "judgements": "judgments",
    "kerb": "curb",
    "licence": "license",
    "licences": "licenses",
    "manoeuvre": "maneuver",
    "manoeuvred": "maneuvered",
    "manoeuvres": "maneuvers",
    "manoeuvring": "maneuvering",
    "marvellous": "marvelous",
    "mediaeval": "medieval",
    "mould": "mold",
    "moulded": "molded",
    "mouldering": "moldering",
    "moulding": "molding",
    "moulds": "molds",
    "mouldy": "moldy",
    "moult": "molt",
    "moustache": "mustache",
    "moustaches": "mustaches",
    "offence": "offense",
    "offences": "offenses",
    "ok": "okay",
    "paediatric": "pediatric",
    "plough": "plow",
    "ploughed": "plowed",
    "ploughing": "plowing",
    "ploughman": "plowman",
    "ploughs": "plows",
    "practise": "practice",
    "practised": "practiced",
    "practises": "practices",
    "practising": "practicing",
    "pretence": "pretense",
    "pretences": "pretenses",
    "programme": "program",
    "programmes": "programs",
    "pyjamas": "pajamas",
    "sceptic": "skeptic",
    "sceptical": "skeptical",
    "scepticism": "skepticism",
    "shew": "show",
    "shewed": "showed",
    "shewn": "shown",
    "skilful": "skillful",
    "skilfully": "skillfully",
    "smoulder": "smolder",
    "smouldered": "smoldered",
    "smouldering": "smoldering",
    "storey": "story",
    "storeys": "stories",
    "sulphur": "sulfur",
    "tyre": "tire",
    "tyres": "tires",
    "waggon": "wagon",
    "waggons": "wagons",
    "wilful": "willful",
    "wilfully": "willfully",
    "woollen": "woolen",
    "woolly": "wooly",
}
_STEM_OUR = re.compile(rf"(un|well)?({_OUR})([a-z]*)")
_STEM_ISE = re.compile(rf"(un|dis|re)?({_ISE})(e|ed|es|er|ers|ing|able|ation|ations)")
_STEM_RE = re.compile(rf"({_RE})(s|d)?")
_STEM_DOUBLED = re.compile(rf"({_DOUBLED})(ed|ing|ings|er|ers|or|ors|ous)")


@lru_cache(maxsize=20_000)
def american(word: str) -> str:
    """Spell one lower-case word the American way; a word without a British spelling comes back as it is.

    >>> american("neighbour's"), american("realising"), american("theatres"), american("travelled"), american("hour")
    ("neighbor's", 'realizing', 'theaters', 'traveled', 'hour')
    """
    stem, possessive = (word[:-2], "'s") if word.endswith("'s") else (word, "")
    return _american_stem(stem) + possessive


def _american_stem(word: str) -> str:
    if word in _WORDS:
        return _WORDS[word]
    if match := _STEM_OUR.fullmatch(word):
        return f"{match[1] or ''}{match[2][:-2]}r{match[3]}"
    if match := _STEM_ISE.fullmatch(word):
        return f"{match[1] or ''}{match[2][:-1]}z{match[3]}"
    if match := _STEM_RE.fullmatch(word):
        return match[1][:-2] + {"": "er", "s": "ers", "d": "ered"}[match[2] or ""]
    if match := _STEM_DOUBLED.fullmatch(word):
        return match[1][:-1] + match[2]
    return word
