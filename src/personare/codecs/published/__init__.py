"""Other people's codecs with the same interface, from weights a user has: EnCodec, DAC, SpeechTokenizer, FaCodec."""
