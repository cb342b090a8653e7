"""Languages: one row per language with its recognizer, text rules, pronunciation, voices and figures.

>>> from personare.languages import language
>>> language("es").spoken("El 5 % de 21 km")
'El cinco por ciento de veintiún kilómetros'
"""

from __future__ import annotations

from personare.languages.table import LANGUAGES, RULES_VERSION, Language, bare_words, language

__all__ = ["LANGUAGES", "RULES_VERSION", "Language", "bare_words", "language"]
