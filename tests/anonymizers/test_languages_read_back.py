"""The shipped neural voice in each of its further languages: a recognizer that the voice was not trained with reads it.

The bound holds for the errors of voice and recognizer together, over a few sentences; a voice that mumbles, or that has
another language's sounds, has an error rate of 30 % and more.
"""

from __future__ import annotations

import jiwer
import numpy as np
import pytest

from personare.anonymizers.neural.cascade.anonymizer import Cascade
from personare.anonymizers.neural.words.transcript import Segment
from personare.anonymizers.neural.xvector.weights import open_weights, reader_languages
from personare.core.audio import Audio
from personare.core.spoken import SpeakerFacts
from personare.core.weights import missing
from personare.encoders.recognition import recognize
from personare.languages import LANGUAGES, language

SENTENCES = {
    "de": ("Der Gärtner schneidet die Hecke hinter dem Rathaus.", "Die Polizei sucht Zeugen des Überfalls."),
    "es": ("Pidió dos copas de vino y una botella de agua.", "La ley protege los datos de los ciudadanos."),
    "it": ("Il giardiniere taglia la siepe dietro il municipio.", "La legge protegge i dati dei cittadini."),
    "pt": ("Na escada havia um espelho quebrado.", "A lei protege os dados dos cidadãos."),
}
MOST_WRONG = {"de": 0.25, "es": 0.15, "it": 0.15, "pt": 0.15}  # of the characters; Whisper base errs most in German
FURTHER = [code for code in reader_languages() if code != "en"]


def spoken(code: str, text: str, *, gender: str, seed: int) -> Audio:
    """Let a pseudo-speaker of ``balanced`` say a text."""
    vector = tuple(open_weights().bank.vectors[3].tolist())
    rng = np.random.default_rng(seed)
    voice = Cascade(language=code).speaking
    speaker = voice.draw(SpeakerFacts(gender, vector, languages=(code,)), gender=gender, rng=rng, rate_hz=16_000)
    return Audio(speaker.speak([Segment("words", text, code)], place=0, rate=1.0), speaker.rate_hz)


@pytest.mark.models
@pytest.mark.parametrize("code", FURTHER)
def test_a_recognizer_reads_back_what_the_neural_voice_says(code: str) -> None:
    if missing("whisper-base"):
        pytest.skip("the model whisper-base is not fetched")
    normalize = language(code).normalize
    said, heard = [], []
    for number, text in enumerate(SENTENCES[code]):
        for gender in "fm":
            audio = spoken(code, text, gender=gender, seed=number)
            words = recognize(audio.samples, model="whisper-base", language=code)
            said.append(normalize(text))
            heard.append(normalize(" ".join(word.text for word in words)))
    assert jiwer.cer(said, heard) <= MOST_WRONG[code], list(zip(said, heard, strict=True))


@pytest.mark.parametrize("code", list(LANGUAGES))
def test_each_language_is_spoken_by_one_voice_and_the_method_says_which(code: str) -> None:
    method = Cascade()
    assert method.voice_by_language[code] == ("neural" if code in reader_languages() else "kokoro")
    assert ("kokoro" in Cascade(language=code).needed_models) == (code not in reader_languages())
